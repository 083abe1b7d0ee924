"""Whatever was added, changed and deleted, and in which order: the graph is that of the documents that are left."""

import json
import sqlite3
import unicodedata

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hopweave.document import Document
from hopweave.graph.build.builders.builder import contribute_all
from hopweave.graph.build.builders.links import LinksBuilder
from hopweave.graph.build.builders.mentions import MentionsBuilder
from hopweave.graph.build.builders.metadata import MetadataBuilder
from hopweave.graph.build.builders.parts import PartsBuilder
from hopweave.graph.build.builders.services import ServicesBuilder
from hopweave.graph.build.builders.triples import TriplesBuilder
from hopweave.graph.build.changes import apply
from hopweave.graph.build.resolve import Resolved, resolve
from hopweave.graph.model import Node
from hopweave.graph.storage import ledger as sql
from hopweave.graph.storage.tables import GraphTables

BUILDERS = (MentionsBuilder(), TriplesBuilder(), MetadataBuilder(), LinksBuilder(), PartsBuilder(), ServicesBuilder())
NAMES = (
    "MV Skua",
    "Harris",
    "St. Louis",
    "St Louis",
    "the Harris",
    "北京",
    "東京",
    "Łódź",
    "Lodz",
    "film",
    "C++",
    "C",
    "القاهرة",
    "한국",
)
IDS = ("a", "b", "c", "d")

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
    lambda id_, words, title, triples, tags, parent, path, part: Document(
        id_,
        " ".join(words),
        {
            "title": title,
            "triples": triples,
            "tags": tags,
            "parent": parent,
            "path": path,
            "service": title,
            "calls_out": tags,
            **part,
        },
    ),
    st.sampled_from(IDS),
    phrase,
    st.one_of(st.just(""), name),
    st.lists(st.tuples(name, st.sampled_from(["is", "Sails to", "首都"]), name), max_size=3),
    st.lists(name, max_size=2),
    st.one_of(st.none(), st.sampled_from([*IDS, "Harris", "b.md"])),
    st.sampled_from(["", "b.md", "docs/c.md"]),
    st.sampled_from([{}, {"source_id": "w", "split_id": 0}, {"source_id": "w", "split_id": 1}]),
)
steps = st.lists(st.one_of(documents, st.sampled_from(IDS)), max_size=12)


def contributions(documents):
    return list(contribute_all(BUILDERS, documents))


def graph_of(entries):
    return parts(resolve(entries))


def parts(resolved):
    return resolved.nodes, resolved.edges()


def cooccurrence(tables):
    """How closely some words occur next to names, by the id of the node."""
    graph = Resolved(tables).graph()
    found = {}
    for word in ("film", "sails", "later"):
        nodes, closeness = graph.cooccurring([word])
        found |= {(word, graph.ids[node]): value for node, value in zip(nodes, closeness.tolist(), strict=True)}
    return found


@settings(max_examples=150, deadline=None)
@given(steps)
def test_any_history_equals_building_what_is_left(history):
    connection = sqlite3.connect(":memory:")
    sql.create_tables(connection)
    left = {}
    for step in history:
        if isinstance(step, str):
            left.pop(step, None)
            sql.forget(connection, [step])
        else:
            left[step.id] = step
            sql.record(connection, contributions([step]))
    assert graph_of(sql.read(connection)) == graph_of(contributions(left.values()))
    connection.close()


batches = st.lists(
    st.tuples(st.lists(st.one_of(documents, st.sampled_from(IDS)), max_size=3), st.booleans()), max_size=8
)


@settings(max_examples=200, deadline=None)
@given(batches)
def test_following_every_change_equals_building_from_nothing(history):
    """Edge for edge and bit for bit, whether the tables live on or are stored and opened in between."""
    tables, left = GraphTables(), {}
    for batch, stored in history:
        present = {}
        for step in batch:
            present.pop(step if isinstance(step, str) else step.id, None)
            if isinstance(step, str):
                left.pop(step, None)
            else:
                left[step.id] = present[step.id] = step
        gone = [step for step in batch if isinstance(step, str) and step not in present]
        apply(tables, contributions(present.values()), gone)
        if stored:
            header, arrays = tables.image()
            tables = GraphTables(json.loads(json.dumps(header)), {name: array.copy() for name, array in arrays.items()})
        fresh = resolve(contributions(left.values()))
        assert parts(Resolved(tables)) == parts(fresh)
        assert cooccurrence(tables) == cooccurrence(fresh.tables)


@settings(max_examples=60, deadline=None)
@given(st.lists(documents, min_size=1, max_size=4, unique_by=lambda document: document.id), documents)
def test_a_graph_that_was_handed_out_does_not_change(corpus, extra):
    tables = GraphTables()
    apply(tables, contributions(corpus))
    graph = Resolved(tables).graph()
    before = edges_of(graph)
    apply(tables, contributions([extra]), [corpus[0].id] if corpus[0].id != extra.id else [])
    assert edges_of(graph) == before


def edges_of(graph):
    found = graph.neighbours(np.arange(graph.size), "out")
    return [column.tolist() for column in (found.offsets, found.targets, found.types, found.weights)]


@settings(max_examples=100, deadline=None)
@given(st.lists(documents, max_size=5, unique_by=lambda document: document.id), documents)
def test_adding_and_deleting_leaves_no_trace(before, extra):
    before = [document for document in before if document.id != extra.id]
    connection = sqlite3.connect(":memory:")
    sql.create_tables(connection)
    sql.record(connection, contributions(before))
    expected = graph_of(sql.read(connection))
    sql.record(connection, contributions([extra]))
    sql.forget(connection, [extra.id])
    assert graph_of(sql.read(connection)) == expected
    connection.close()


@settings(max_examples=100, deadline=None)
@given(st.lists(documents, max_size=5, unique_by=lambda document: document.id))
def test_indexing_again_changes_nothing(corpus):
    connection = sqlite3.connect(":memory:")
    sql.create_tables(connection)
    sql.record(connection, contributions(corpus))
    expected, writes = graph_of(sql.read(connection)), connection.total_changes
    assert sql.record(connection, contributions(reversed(corpus))) == []
    assert connection.total_changes == writes
    assert graph_of(sql.read(connection)) == expected
    connection.close()


@given(st.text(min_size=1), st.text(min_size=1))
def test_a_name_is_never_folded_away(one, other):
    """Names become one node only if they are equal once case and compatibility forms are folded."""
    same = Node.entity(one).id == Node.entity(other).id
    folded = [" ".join(unicodedata.normalize("NFKC", text).casefold().split()) for text in (one, other)]
    assert same == (folded[0] == folded[1])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.text(alphabet="北東京都市大阪하한서울กขค", min_size=1, max_size=4), min_size=1, max_size=6, unique=True)
)
def test_non_latin_titles_stay_distinct(titles):
    corpus = [Document(str(number), "", {"title": title}) for number, title in enumerate(titles)]
    nodes, edges = graph_of(contributions(corpus))
    entities = [node for node in nodes if node.kind == "entity"]
    assert sorted(node.name for node in entities) == sorted(titles)
    about = [edge for edge in edges if edge.type == "about" and edge.target.startswith("entity:")]
    assert len(about) == len(titles)
