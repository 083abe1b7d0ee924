"""What a server says of a tenant along with edges is what it says when it is asked for every document by itself."""

import numpy as np
import pytest

from hopweave.document import Document
from hopweave.graph.documents import graph_of
from hopweave.graph.external_documents import ExternalDocuments
from hopweave.graph.model import IMPORTED, Contribution, Edge, Mention, Node
from hopweave.graph.tenant_view import TenantView
from hopweave.graph_store.store import GraphStore
from hopweave.graph_store.written import Written
from hopweave.hit import Hit
from hopweave.query import Query
from hopweave.sources.pagerank import PageRank

pytest.importorskip("psycopg")
TENANTS = ({"customer": "acme"}, {"customer": "zeta"}, {"customer": ["acme", "zeta"]}, {"customer": "none"}, {})
NAMES = ("MV Skua", "Harris", "Ingrid Falk", "Lunn", "Tide Gate", "Sørvåg")
OWNERS = ("acme", "zeta", ["acme", "zeta"], None)


def contribution(rng, number):
    """What a document says at random: its passage, somebody else's, nodes and edges outright, and mentions."""
    key = f"d{number}"
    entities = [Node.entity(str(name)) for name in rng.choice(NAMES, 3, replace=False)]
    other = f"passage:d{rng.integers(12)}"
    nodes = [Node.passage(key)] if rng.random() < 0.8 else []
    nodes += [entities[0]] if rng.random() < 0.6 else []
    nodes += [Node(f"passage:alias{number}", "passage", "Alias", f"d{rng.integers(12)}")] if rng.random() < 0.3 else []
    edges = [Edge(entities[0].id, entities[1].id, "depends_on"), Edge(f"passage:{key}", entities[1].id, "mentions")]
    edges += [Edge(other, entities[2].id, "relates_to"), Edge(entities[1].id, other, "part_of")]
    kept = [edge for edge in edges if rng.random() < 0.6]
    mentions = [Mention(str(rng.choice(NAMES)), str(rng.choice(["about", "mentions"])))]
    imported = IMPORTED if rng.random() < 0.2 else ""
    return Contribution(imported + key, tuple(nodes), tuple(kept), tuple(mentions))


def seen(view, size):
    """Everything that a view shows of a graph."""
    numbers = np.arange(size)
    edges = []
    for direction in ("out", "in", "both"):
        found = view.neighbours(numbers, direction)
        edges.append([column.tolist() for column in (found.offsets, found.targets, found.types)])
    ids = [f"passage:d{one}" for one in range(12)] + [f"passage:alias{one}" for one in range(12)]
    return (
        view.shown(numbers).tolist(),
        edges,
        view.find(ids),
        view.lookup([name.casefold() for name in NAMES]),
        [node.id for node in view.nodes(numbers)],
        view.nearest_names([["ingrid", "flak"], ["haris"], ["mv", "skuaa"]], 0.5),
    )


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("order", [1, -1])
def test_facts_read_along_with_edges_are_those_asked_for(postgres_url, seed, order):
    rng = np.random.default_rng(seed)
    written = []
    for number in range(12):
        owner = OWNERS[rng.integers(len(OWNERS))]
        metadata = {} if owner is None else {"customer": owner}
        written.append(Written(contribution(rng, number), metadata=metadata))
    shown = set()
    with GraphStore.open(postgres_url) as store:
        store.write(written)
        for tenant in TENANTS:
            views = (
                graph_of(ExternalDocuments(store, lambda ids: []), "test", tenant),
                TenantView(store.graph, lambda ids, tenant=tenant: store.visible(tenant, ids)),
            )
            for view in views:  # whatever is asked first
                for node in range(view.size)[::order]:
                    view.shown(np.array([node]))
            read_along, asked = (seen(view, view.size) for view in views)
            assert read_along == asked
            shown.add(sum(read_along[0]))
    assert len(shown) > 1  # tenants do not all see the same


def test_what_nobody_may_see_is_not_read_into_the_view_of_another(postgres_url):
    with GraphStore.open(postgres_url) as store:
        mine = Contribution("mine", (Node.passage("mine"),), (), (Mention("MV Skua", "about"),))
        skua, falk = Node.entity("MV Skua"), Node.entity("Ingrid Falk")
        theirs = Contribution("theirs", (Node.passage("theirs"), falk), (Edge(skua.id, falk.id, "depends_on"),))
        store.write([Written(mine, metadata={"c": "a"}), Written(theirs, metadata={"c": "b"})])
        place = ExternalDocuments(store, lambda ids: [])
        view = graph_of(place, "test", {"c": "a"})
        assert view.lookup(["mv skua", "ingrid falk"]).keys() == {"mv skua"}
        assert view.find(["passage:theirs", "passage:mine", falk.id]).keys() == {"passage:mine"}
        assert graph_of(place, "test", {"c": "b"}).lookup(["mv skua", "ingrid falk"]).keys() == {
            "mv skua",
            "ingrid falk",
        }


def test_a_question_with_a_tenant_takes_few_round_trips(postgres_url):
    rng = np.random.default_rng(3)
    people = [f"{first} {last}" for first in ("Ingrid", "Olav", "Sunniva") for last in ("Falk", "Berg", "Lund", "Dahl")]
    documents = []
    for number in range(400):
        one, two, three = rng.choice(people, 3, replace=False)
        title = f"Letter {number}" if number % 4 else str(one)
        owner = "acme" if number % 3 else "zeta"
        text = f"{one} met {two} at the Yard {number % 40} before {three} came."
        documents.append(Document(str(number), text, {"title": title, "customer": owner}))
    shelf = {one.id: Hit(one.id, text=one.text, metadata=one.metadata) for one in documents}
    upstream = {"text": [Hit(one.id, score=1.0, metadata=one.metadata) for one in documents[1:20:3]]}
    with GraphStore.open(postgres_url) as store:
        store.build(documents)
        place = ExternalDocuments(store, lambda ids: [shelf[key] for key in ids])
        for question in ("Who met Ingrid Falk at the Yard 7?", "Where did Olav Berg meet Sunniva Dahl?"):
            before = store.round_trips
            hits = PageRank(seeds_from=("text",)).search(Query(question, tenant={"customer": "acme"}), place, upstream)
            assert store.round_trips - before <= 15
            assert hits
            assert {hit.metadata["customer"] for hit in hits} == {"acme"}


def hiding(count):
    """Letters of two customers; what one of them names is nearly what the other names."""
    theirs = ["Ingrid Falk", "Olav Berg", "Sunniva Dahl", "Kittiwake Harbour", "Petrel Yard"]
    ours = ["Ingrid Falks", "Olav Bergh", "Sunniwa Dahl", "Kittiwakes Harbour", "Petrell Yard"]
    for number in range(count):
        owner, names = ("acme", ours) if number % 2 else ("zeta", theirs)
        one, two = names[number % 5], names[(number // 5) % 5]
        text = f"{one} wrote to {two} about the ferry {number % 7}."
        yield Document(str(number), text, {"title": one if number < 20 else f"Letter {number}", "customer": owner})


def test_a_name_that_is_hidden_stands_for_similar_ones_that_are_not_and_takes_few_round_trips(postgres_url, tmp_path):
    documents = list(hiding(200))
    shelf = {one.id: Hit(one.id, text=one.text, metadata=one.metadata) for one in documents}
    upstream = {"text": [Hit(one.id, score=1.0, metadata=one.metadata) for one in documents[1:20:4]]}
    questions = [
        "What did Ingrid Falk write to Olav Berg about the Petrel Yard?",
        "Did Sunniva Dahl see Kittiwake Harbour with Olav Berg?",
        "Where is Petrel Yard?",
    ]
    with GraphStore.open(postgres_url) as server, GraphStore.open(tmp_path / "graph.db") as file:
        for store in (server, file):
            store.build(documents)
        for question in questions:
            found, query = [], Query(question, tenant={"customer": "acme"})
            for store in (server, file):
                place = ExternalDocuments(store, lambda ids: [shelf[key] for key in ids])
                before = getattr(store, "round_trips", 0)
                hits = PageRank(seeds_from=("text",)).search(query, place, upstream)
                assert getattr(store, "round_trips", 0) - before <= 14
                assert {hit.metadata["customer"] for hit in hits} == {"acme"}
                found.append(hits[0].receipts[-1].details["seeds"])
            assert sorted(found[0]) == sorted(found[1])
            assert found[0]


class Stricter(ExternalDocuments):
    def visible(self, tenant, ids=None):
        return super().visible(tenant, ids) - {"mine"}


def test_a_subclass_that_allows_less_is_heard(postgres_url):
    with GraphStore.open(postgres_url) as store:
        store.add([Document("mine", "MV Skua sails."), Document("yours", "MV Skua sails.")])
        view = graph_of(Stricter(store, lambda ids: []), "test", {})
        assert view.find(["passage:mine", "passage:yours"]).keys() == {"passage:yours"}
