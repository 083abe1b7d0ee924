"""The tests that every graph store must pass, as `haystack.testing.document_store` has them for document stores."""

import gc
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hopweave.document import Document
from hopweave.errors import KnowledgeBaseError
from hopweave.graph.build.builders.builder import contribute_all
from hopweave.graph.build.builders.links import LinksBuilder
from hopweave.graph.build.builders.mentions import MentionsBuilder
from hopweave.graph.build.builders.metadata import MetadataBuilder
from hopweave.graph.build.builders.parts import PartsBuilder
from hopweave.graph.build.builders.services import ServicesBuilder
from hopweave.graph.build.builders.triples import TriplesBuilder
from hopweave.graph.build.resolve import resolve
from hopweave.graph.model import Contribution, Edge, Node
from hopweave.graph.port import Direction, GraphPort
from hopweave.graph_store.location import GraphLocation
from hopweave.graph_store.store import GraphStore
from hopweave.metadata.tenants import in_tenant

BUILDERS = (MentionsBuilder(), TriplesBuilder(), MetadataBuilder(), LinksBuilder(), PartsBuilder(), ServicesBuilder())

_NAMES = ("MV Skua", "Harris", "St. Louis", "St Louis", "the Harris", "北京", "Łódź", "Lodz", "film", "C++", "한국")
_PHRASES = (
    "sails to",
    ".",
    "is a film",
    "[x](b.md)",
    "[[Harris]]",
    "Later",
    "北京大学在北京。北京大学",
    "访问北京大学",
    "访问北京大学",
)
_IDS = ("a", "b", "c", "d")
_SOURCES = ("one.md", "two.md")
_PARTS: tuple[dict[str, Any], ...] = ({}, {"source_id": "w", "split_id": 0}, {"source_id": "w", "split_id": 1})
_SHIP = Document("ship", "MV Skua sails to Harris.", {"title": "MV Skua", "owner": "a"})
_ISLE = Document("isle", "Ingrid Falk lives there.", {"title": "Ingrid Falk", "owner": "b"})
_TENANT_VALUES = {"one": 1, "float": 1.0, "yes": True, "no": False, "zero": 0, "text": "1", "list": [True, 7]}

_name = st.sampled_from(_NAMES)
_documents = st.builds(
    lambda id_, words, source, part, metadata: Document(
        id_, " ".join(words), {**metadata, "service": metadata["title"], **part}, source=source
    ),
    st.sampled_from(_IDS),
    st.lists(st.one_of(_name, st.sampled_from(_PHRASES)), max_size=6),
    st.sampled_from(["", *_SOURCES]),
    st.sampled_from(_PARTS),
    st.fixed_dictionaries(
        {
            "title": st.one_of(st.just(""), _name),
            "triples": st.lists(st.tuples(_name, st.sampled_from(["is", "Sails to", "首都"]), _name), max_size=3),
            "tags": st.lists(_name, max_size=2),
            "parent": st.one_of(st.none(), st.sampled_from([*_IDS, "Harris", "b.md"])),
            "path": st.sampled_from(["", "b.md", "docs/c.md"]),
        }
    ),
)
_added = st.lists(_documents, max_size=3, unique_by=lambda one: one.id)
_histories = st.lists(
    st.one_of(
        st.tuples(st.just("add"), _added),
        st.tuples(st.just("delete"), st.lists(st.sampled_from(_IDS), max_size=2)),
        st.tuples(st.just("replace"), st.tuples(st.sampled_from(_SOURCES), _added)),
        st.tuples(st.just("delete source"), st.sampled_from(_SOURCES)),
    ),
    max_size=6,
)


class GraphStoreTests:
    """The tests of one graph store: subclass it in a test module, and override the fixture `place`.

        class TestMyStore(GraphStoreTests):
            @pytest.fixture
            def place(self):
                yield create_database()  # a path or URL that `GraphStore.open` opens, and where no graph is yet

    The tests go by what `GraphStore` promises, and compare the graph with one that is built in memory.
    """

    @pytest.fixture
    def place(self) -> Any:
        """Where a new graph may be made: the path of a file, or a URL."""
        raise NotImplementedError("override the fixture `place`")

    @pytest.fixture
    def store(self, place: str | Path) -> Iterator[GraphStore]:
        """An empty graph of all builders."""
        with GraphStore.open(place, builders=BUILDERS) as opened:
            yield opened

    def check_storage(self, store: GraphStore, place: str | Path) -> None:
        """Look at what the store keeps besides, after all documents were deleted; there is nothing to look at here."""

    def test_any_history_equals_building_what_is_left(self, store: GraphStore, place: str | Path) -> None:
        """Nodes, edges, names and co-occurrence follow from the documents there are, whatever was done before."""

        @settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
        @given(history=_histories)
        def law(history: list[tuple[str, Any]]) -> None:
            left: dict[str, Document] = {}
            for step, argument in history:
                _take(store, left, step, argument)
                _check(store, left)
            store.delete(store.ids())
            _check(store, {})
            self.check_storage(store, place)

        law()

    @pytest.mark.parametrize("workers", [1, 2])
    def test_building_in_bulk_equals_adding(self, store: GraphStore, workers: int) -> None:
        """Worker processes make the same graph; what is there already is not written again."""
        texts = [f"{_NAMES[one % 5]} is known in {_NAMES[one * 2 % 5]}." for one in range(30)]
        documents = [Document(str(one), text, {"title": _NAMES[one % 5]}) for one, text in enumerate(texts)]
        assert store.build(documents, workers=workers).added == 30
        _check(store, {one.id: one for one in documents})
        version = store.version
        assert store.build(documents[:5]).unchanged == 5
        assert store.version == version
        with pytest.raises(ValueError, match="workers: 0 is not allowed"):
            store.build(documents, workers=0)

    def test_indexing_again_changes_nothing(self, store: GraphStore) -> None:
        """Neither the graph nor its version."""
        store.add([_SHIP, _ISLE])
        version = store.version
        assert store.add([_SHIP, _ISLE]).unchanged == 2
        assert store.version == version

    def test_contributions_are_taken_as_they_are(self, store: GraphStore) -> None:
        """One replaces the earlier one of its document, although no text or metadata tell them apart."""
        skua, harris, lunn = map(Node.entity, ("MV Skua", "Harris", "Lunn"))
        for target in (harris, lunn):
            one = Contribution("ship", (skua, target), (Edge(skua.id, target.id, "sails_to"),))
            assert store.contribute([one]).unchanged == 0
            assert store.contribute([one]).unchanged == 1
            assert [(edge.source, edge.target) for edge in store.edges()] == [(skua.id, target.id)]
        assert store.delete(["ship"]) == 1
        assert store.edges() == []

    def test_a_write_that_changes_nothing_makes_no_version(self, store: GraphStore) -> None:
        """A version stands for a change."""
        store.add([_SHIP, _ISLE])
        version = store.version
        store.delete(["unknown"])
        store.delete(source="unknown.md")
        store.delete(where={"year": 1974})
        store.replace("none", [])
        assert store.version == version
        store.delete(["ship"])
        assert store.version > version

    def test_metadata_alone_may_change(self, store: GraphStore) -> None:
        """What tenants go by follows it, and documents can be deleted by it."""
        store.add([Document("a", "MV Skua", {"customer": "acme"})])
        assert store.add([Document("a", "MV Skua", {"customer": ["zeta", "acme"]})]).updated == 1
        assert store.visible({"customer": "zeta"}) == {"a"}
        assert store.delete(where={"customer": "zeta"}) == 1
        assert store.ids() == []

    @pytest.mark.parametrize("wanted", [1, 1.0, True, 0, False, "1", 7, [1, False]], ids=repr)
    def test_tenants_see_what_their_values_allow(self, store: GraphStore, wanted: Any) -> None:
        """Numbers, truth values and texts are kept apart; one value of a list is enough."""
        store.add(Document(key, "Quay.", {"t": value}) for key, value in _TENANT_VALUES.items())
        expected = {key for key, value in _TENANT_VALUES.items() if in_tenant({"t": value}, {"t": wanted})}
        assert store.visible({"t": wanted}) == expected
        assert store.visible({"t": wanted}, ["one", "yes", "unknown"]) == expected & {"one", "yes"}

    def test_a_value_too_long_to_be_kept_is_refused_of_a_tenant(self, store: GraphStore) -> None:
        """A tenant that cannot be looked up must not see nothing, or all."""
        store.add([Document("a", "Quay.", {"t": "x" * 5000}), Document("b", "Quay.", {"t": "x" * 1000})])
        assert store.visible({"t": "x" * 1000}) == {"b"}
        with pytest.raises(ValueError, match="longer than 1,000 characters"):
            store.visible({"t": "x" * 5000})

    def test_a_single_id_in_place_of_a_list_is_an_error(self, store: GraphStore) -> None:
        """The characters of a text are not taken for ids."""
        store.add([_SHIP, _ISLE])
        asked: tuple[Callable[[Any], Any], ...] = (store.delete, lambda ids: store.visible({}, ids))
        for ask in asked:
            with pytest.raises(TypeError, match=r"ids: must be a list of ids, but got '12'; for a single one, write"):
                ask("12")
        with pytest.raises(TypeError, match=r"source: must be a string, but got \['a.md'\]"):
            store.delete(source=["a.md"])  # type: ignore[arg-type]
        assert store.ids() == ["isle", "ship"]

    @pytest.mark.parametrize("documents", [_ISLE, "a", [_ISLE, "b"]], ids=["document", "text", "text in a list"])
    def test_what_is_no_list_of_documents_is_an_error(self, store: GraphStore, documents: Any) -> None:
        """And nothing of it is written."""
        store.add([_SHIP])
        writes: tuple[Callable[[Any], Any], ...] = (store.add, store.build, lambda some: store.replace("a.md", some))
        for write in writes:
            with pytest.raises(TypeError, match="documents: must be"):
                write(documents)
        assert store.ids() == ["ship"]

    def test_builders_are_settled(self, place: str | Path) -> None:
        """A graph goes on with the builders that it was begun with."""
        GraphStore.open(place, builders=[MentionsBuilder()]).close()
        with GraphStore.open(place) as store:
            assert store.builders == (MentionsBuilder(),)
        with pytest.raises(KnowledgeBaseError, match="mentions"):
            GraphStore.open(place, builders=[LinksBuilder()])

    def test_readers_make_no_graph_and_write_none(self, place: str | Path) -> None:
        """They see what others write."""
        reader = GraphLocation(_Secret(place))
        with pytest.raises(KnowledgeBaseError, match=r"does not exist|open it once for writing"):
            reader.open()
        writer = GraphLocation(_Secret(place), writable=True)
        writer.open().add([_SHIP])
        assert "harris" in reader.graph.lookup(["harris"])
        with pytest.raises(KnowledgeBaseError, match="read-only"):
            reader.open().add([_ISLE])
        version = reader.version
        writer.open().add([_ISLE])
        assert reader.version > version
        assert reader.visible({"owner": "b"}) == {"isle"}
        assert reader.graph.lookup(["ingrid falk"])
        writer.close()
        reader.close()

    def test_one_process_shares_what_is_open_and_the_last_closes(self, place: str | Path) -> None:
        """And what was closed is opened anew."""
        GraphStore.open(place).close()
        one, other = GraphLocation(_Secret(place)), pickle.loads(pickle.dumps(GraphLocation(_Secret(place))))  # noqa: S301
        store = one.open()
        assert store is one.open() is other.open()
        assert store is not GraphLocation(_Secret(place), writable=True).open()
        one.close()
        assert store.count() == 0
        other.close()
        gc.collect()
        with pytest.raises(Exception, match="closed"):
            store.count()
        assert one.open().count() == 0
        one.close()


class _Secret:
    """Gives a path or a URL, which may hold a password."""

    def __init__(self, place: str | Path) -> None:
        self.place = str(place)

    def __call__(self) -> str:
        return self.place


def _take(store: GraphStore, left: dict[str, Document], step: str, argument: Any) -> None:
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


def _check(store: GraphStore, left: Mapping[str, Document]) -> None:
    """The store holds the graph of these documents."""
    fresh = resolve(contribute_all(store.builders, left.values()))
    assert store.nodes() == fresh.nodes
    assert store.edges() == fresh.edges()
    assert store.ids() == sorted(left)
    assert store.count() == len(left)
    assert store.sources() == sorted({one.source for one in left.values()} - {""})
    graph: Any
    expected: Any
    graph, expected = store.graph, fresh.graph()
    assert _cooccurring(graph) == _cooccurring(expected)
    ids = [node.id for node in fresh.nodes]
    numbers, theirs = graph.find(ids), expected.find(ids)
    assert numbers.keys() == theirs.keys()
    directions: tuple[Direction, ...] = ("out", "in", "both")
    for direction in directions:
        assert _edges(graph, numbers, direction) == _edges(expected, theirs, direction)
    assert _named(graph, ["mv skua", "harris", "lodz"]) == _named(expected, ["mv skua", "harris", "lodz"])
    assert graph.topic_share() == pytest.approx(expected.topic_share())


def _cooccurring(graph: Any) -> dict[tuple[str, str], float]:
    found: dict[tuple[str, str], float] = {}
    for word in ("film", "sails", "later"):
        nodes, closeness = graph.cooccurring([word])
        ids = [node.id for node in graph.nodes(nodes)]
        found |= {(word, id_): round(value, 12) for id_, value in zip(ids, closeness.tolist(), strict=True)}
    return found


def _named(graph: GraphPort, keys: Iterable[str]) -> dict[str, list[str]]:
    found = graph.lookup(list(keys))
    return {key: sorted(node.id for node in graph.nodes(np.array(nodes))) for key, nodes in found.items()}


def _edges(graph: Any, numbers: Mapping[str, int], direction: Direction) -> list[Any]:
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
