"""Both homes of a graph obey the same laws: any history of writes gives the graph of what is left, edge for edge."""

import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hopweave.document import Document
from hopweave.graph.build.builders.builder import contribute_all
from hopweave.graph.build.builders.links import LinksBuilder
from hopweave.graph.build.builders.mentions import MentionsBuilder
from hopweave.graph.build.builders.metadata import MetadataBuilder
from hopweave.graph.build.builders.parts import PartsBuilder
from hopweave.graph.build.builders.services import ServicesBuilder
from hopweave.graph.build.builders.triples import TriplesBuilder
from hopweave.graph.build.resolve import resolve
from hopweave.graph_store.store import GraphStore

BUILDERS = (MentionsBuilder(), TriplesBuilder(), MetadataBuilder(), LinksBuilder(), PartsBuilder(), ServicesBuilder())
NAMES = ("MV Skua", "Harris", "St. Louis", "St Louis", "the Harris", "北京", "Łódź", "Lodz", "film", "C++", "한국")
IDS = ("a", "b", "c", "d")
TABLES = ("documents", "words", "nodes", "name_words", "spellings", "declared", "stated", "edges", "near")

name = st.sampled_from(NAMES)
phrase = st.lists(
    st.one_of(
        name,
        st.sampled_from(
            [
                "sails to",
                ".",
                "is a film",
                "[x](b.md)",
                "[[Harris]]",
                "Later",
                "北京大学在北京。北京大学",
                "访问北京大学",
            ]
        ),
    ),
    max_size=6,
)
documents = st.builds(
    lambda id_, words, title, triples, tags, parent, path, source, part: Document(
        id_,
        " ".join(words),
        {"title": title, "triples": triples, "tags": tags, "parent": parent, "path": path, "service": title, **part},
        source=source,
    ),
    st.sampled_from(IDS),
    phrase,
    st.one_of(st.just(""), name),
    st.lists(st.tuples(name, st.sampled_from(["is", "Sails to", "首都"]), name), max_size=3),
    st.lists(name, max_size=2),
    st.one_of(st.none(), st.sampled_from([*IDS, "Harris", "b.md"])),
    st.sampled_from(["", "b.md", "docs/c.md"]),
    st.sampled_from(["", "one.md", "two.md"]),
    st.sampled_from([{}, {"source_id": "w", "split_id": 0}, {"source_id": "w", "split_id": 1}]),
)
added = st.lists(documents, max_size=3, unique_by=lambda one: one.id)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("add"), added),
        st.tuples(st.just("delete"), st.lists(st.sampled_from(IDS), max_size=2)),
        st.tuples(st.just("replace"), st.tuples(st.sampled_from(["one.md", "two.md"]), added)),
        st.tuples(st.just("delete source"), st.sampled_from(["one.md", "two.md"])),
    ),
    max_size=6,
)


def take(store, left, step, argument):
    """One step in the store and in a dictionary of the documents that are left."""
    if step == "add":
        store.add(argument, batch_size=2)
        left.update({one.id: one for one in argument})
    elif step == "delete":
        store.delete(argument)
        for id_ in argument:
            left.pop(id_, None)
    else:
        source, new = (argument, []) if step == "delete source" else argument
        for id_ in [id_ for id_, one in left.items() if one.source == source]:
            del left[id_]
        if step == "replace":
            store.replace(source, new)
            left.update({one.id: Document(one.id, one.text, one.metadata, source=source) for one in new})
        else:
            store.delete(source=source)


def cooccurring(graph):
    found = {}
    for word in ("film", "sails", "later"):
        nodes, closeness = graph.cooccurring([word])
        ids = [node.id for node in graph.nodes(nodes)]
        found |= {(word, id_): round(value, 12) for id_, value in zip(ids, closeness.tolist(), strict=True)}
    return found


def check(store, left):
    fresh = resolve(contribute_all(BUILDERS, left.values()))
    assert store.nodes() == fresh.nodes
    assert store.edges() == fresh.edges()
    assert store.ids() == sorted(left)
    graph, expected = store.graph, fresh.graph()
    assert cooccurring(graph) == cooccurring(expected)
    ids = [node.id for node in fresh.nodes]
    numbers, theirs = graph.find(ids), expected.find(ids)
    assert numbers.keys() == theirs.keys()
    for direction in ("out", "in", "both"):
        assert edges(graph, numbers, direction) == edges(expected, theirs, direction)
    assert {key: named(graph, nodes) for key, nodes in graph.lookup(["mv skua", "harris", "lodz"]).items()} == {
        key: named(expected, nodes) for key, nodes in expected.lookup(["mv skua", "harris", "lodz"]).items()
    }
    assert graph.topic_share() == pytest.approx(expected.topic_share())


def named(graph, nodes):
    return sorted(node.id for node in graph.nodes(np.array(nodes)))


def edges(graph, numbers, direction):
    """All edges by ids, with rounded weights and the flags of their ends."""
    order = sorted(numbers)
    nodes = np.array([numbers[id_] for id_ in order], np.int64)
    found = graph.neighbours(nodes, direction)
    sources = np.repeat(np.arange(len(order)), np.diff(found.offsets)).tolist()
    targets = [node.id for node in graph.nodes(found.targets)]
    flags = zip(
        graph.nodes_of_kind("passage")[found.targets].tolist(),
        graph.targets_of_type("about")[found.targets].tolist(),
        strict=True,
    )
    types = [graph.edge_types[code] for code in found.types.tolist()]
    weights = [round(weight, 9) for weight in found.weights.tolist()]
    return sorted(zip([order[one] for one in sources], targets, types, weights, flags, strict=True))


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(history=steps)
def test_any_history_in_a_file_equals_building_what_is_left(history):
    with tempfile.TemporaryDirectory() as folder, GraphStore.open(Path(folder, "graph.db"), builders=BUILDERS) as store:
        left = {}
        for step, argument in history:
            take(store, left, step, argument)
        check(store, left)
        assert store.check() == []


def test_any_history_on_a_server_equals_building_what_is_left(postgres_url):
    import psycopg

    @settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(history=steps)
    def law(history):
        left = {}
        for step, argument in history:
            take(store, left, step, argument)
            check(store, left)
        store.delete(store.ids())
        with psycopg.connect(postgres_url) as connection:
            for table in TABLES:  # nothing may be left of documents that are gone
                assert connection.execute(f"SELECT count(*) FROM hopweave.{table}").fetchone() == (0,), table
            counts = connection.execute("SELECT documents, names, passages FROM hopweave.state").fetchone()
            assert counts == (0, 0, 0)

    with GraphStore.open(postgres_url, builders=BUILDERS) as store:
        law()


def test_indexing_again_changes_nothing(postgres_url, isles, tmp_path):
    for where in (postgres_url, tmp_path / "graph.db"):
        with GraphStore.open(where) as store:
            store.add(isles)
            version = store.version
            assert store.add(isles).unchanged == len(isles)
            assert store.version == version


def test_metadata_alone_may_change(postgres_url, tmp_path):
    for where in (postgres_url, tmp_path / "graph.db"):
        with GraphStore.open(where) as store:
            store.add([Document("a", "MV Skua", {"customer": "acme"})])
            assert store.add([Document("a", "MV Skua", {"customer": ["zeta", "acme"]})]).updated == 1
            assert store.visible({"customer": "zeta"}) == {"a"}
            assert json.loads(json.dumps(store.delete(where={"customer": "zeta"}))) == 1
            assert store.ids() == []
