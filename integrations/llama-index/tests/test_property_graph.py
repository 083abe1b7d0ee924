"""Property graphs: imported whole, and walked as a sub-retriever of PropertyGraphIndex."""

import asyncio
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from llama_index.core import MockEmbedding, PropertyGraphIndex, StorageContext, VectorStoreIndex
from llama_index.core.graph_stores.types import KG_NODES_KEY, KG_RELATIONS_KEY, ChunkNode, EntityNode, Relation
from llama_index.core.indices.property_graph import PGRetriever
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode, TransformComponent
from llama_index.graph_stores.hopweave import contributions_of, import_property_graph, triplets_of
from llama_index.hopweave import documents_in
from llama_index.ingestion.hopweave import KnowledgeBaseWriter
from llama_index.retrievers.hopweave import PageRankPGRetriever, PageRankRetriever, RecipeRetriever
from llama_index.vector_stores.hopweave import HopweaveVectorStore
from pydantic import ValidationError

from hopweave import KnowledgeBase
from hopweave.graph.build.builders.metadata import MetadataBuilder
from hopweave.graph.build.builders.triples import TriplesBuilder
from hopweave.graph.build.resolve import resolve

QUESTION = "Where was the designer of MV Skua born?"
TRIPLES = {
    "c1": [("MV Skua", "designed by", "Ingrid Falk")],
    "c2": [("Ingrid Falk", "born in", "Lunn")],
    "c3": [("Tide gate", "stands in", "Sørvåg")],
}


class FixedTriples(TransformComponent):
    """An extractor that knows the triples beforehand."""

    def __call__(self, nodes, **_):
        for node in nodes:
            triples = TRIPLES[node.node_id]
            node.metadata[KG_NODES_KEY] = [EntityNode(name=name) for s, _, o in triples for name in (s, o)]
            node.metadata[KG_RELATIONS_KEY] = [Relation(label=r, source_id=s, target_id=o) for s, r, o in triples]
        return nodes


def make_nodes():
    return [TextNode(id_=key, text=f"{triples[0][0]} {triples[0][2]}") for key, triples in TRIPLES.items()]


@pytest.fixture
def graph_index(llm):
    return PropertyGraphIndex(
        make_nodes(), llm=llm, kg_extractors=[FixedTriples()], embed_model=MockEmbedding(4), use_async=False
    )


def edges(contributions):
    return {(edge.source, edge.type, edge.target) for one in contributions for edge in one.edges}


def test_provenance_comes_from_the_relation(graph_index):
    found = {one.document_id: one for one in contributions_of(graph_index.property_graph_store)}
    assert list(found) == ["property_graph:c1", "property_graph:c2", "property_graph:c3"]
    assert edges([found["property_graph:c2"]]) == {
        ("entity:ingrid falk", "born_in", "entity:lunn"),
        ("passage:c2", "mentions", "entity:ingrid falk"),
        ("passage:c2", "mentions", "entity:lunn"),
    }


class Doubling:
    """What the servers do: everything twice, once from each end; chunks are nodes that mention entities."""

    def __init__(self, store):
        self.store = store
        chunk, entity = ChunkNode(text="A note.", id_="c9"), EntityNode(name="Lunn")
        self.extra = (chunk, Relation(label="MENTIONS", source_id="c9", target_id="Lunn"), entity)

    def get(self, properties=None, ids=None):
        return self.store.get(properties, ids)

    def get_triplets(self, entity_names=None, relation_names=None, properties=None, ids=None):
        found = [*self.store.graph.get_triplets(), self.extra]
        return [*found, *((target, relation, subject) for subject, relation, target in found)]


def test_stores_that_give_everything_twice(graph_index):
    store = graph_index.property_graph_store
    found = triplets_of(Doubling(store))
    assert len(found) == 4
    plain = edges(contributions_of(store))
    assert edges(contributions_of(Doubling(store))) == plain | {("passage:c9", "mentions", "entity:lunn")}
    assert len(contributions_of(store, load=lambda _: [])) == 0


def test_imported_beside_the_documents(graph_index, tmp_path):
    with KnowledgeBase.open(tmp_path / "kb.db", builders=[]) as kb:
        KnowledgeBaseWriter(knowledge_base=kb)(make_nodes())
        assert import_property_graph(graph_index.property_graph_store, kb) == 3
        size = kb.graph.size
        import_property_graph(graph_index.property_graph_store, kb)
        assert kb.graph.size == size
        found = PageRankRetriever(kb, similarity_top_k=2, seeds_from=()).retrieve(QUESTION)
        assert [node.node_id for node in found] == ["c1", "c2"]
        kb.delete(["property_graph:c2"])
        assert not kb.graph.lookup(["lunn"])


def test_a_sub_retriever_finds_the_second_hop(graph_index, llm, embed_model):
    ours = PageRankPGRetriever(graph_index.property_graph_store, similarity_top_k=2, time_budget_seconds=60)
    found = ours.retrieve(QUESTION)
    assert [node.node_id for node in found] == ["c1", "c2"]
    assert found[1].text == (
        "Here are some facts extracted from the provided text:\n\n"
        "MV Skua —designed_by→ Ingrid Falk\nIngrid Falk -> born in -> Lunn\n\nIngrid Falk Lunn"
    )
    assert found[1].metadata["hopweave"]["receipts"][-1]["stage"] == "pagerank"
    assert asyncio.run(ours.aretrieve(QUESTION)) == found
    combined = graph_index.as_retriever(sub_retrievers=[ours])
    assert isinstance(combined, PGRetriever)
    assert {node.node_id for node in combined.retrieve(QUESTION)} == {"c1", "c2"}
    engine = RetrieverQueryEngine.from_args(combined, llm=llm)
    assert "Ingrid Falk Lunn" in str(engine.query(QUESTION))

    async def all_at_once():
        return await asyncio.gather(*(ours.aretrieve(QUESTION) for _ in range(50)))

    assert asyncio.run(all_at_once()) == [found] * 50


def test_what_an_index_takes_in_is_found(graph_index):
    ours = PageRankPGRetriever(graph_index.property_graph_store)
    assert "c4" not in [node.node_id for node in ours.retrieve("Who rests in Hallow?")]
    TRIPLES["c4"] = [("SS Dunlin", "rests in", "Hallow")]
    graph_index.insert_nodes([TextNode(id_="c4", text="SS Dunlin Hallow")])
    del TRIPLES["c4"]
    assert ours.retrieve("Who rests in Hallow?")[0].node_id == "c4"
    assert ours.refresh().retrieve("Who rests in Hallow?")[0].node_id == "c4"


def test_bad_values_are_refused_at_construction(graph_index):
    with pytest.raises(ValidationError):
        PageRankPGRetriever(graph_index.property_graph_store, restart=2)


def test_nodes_by_id_from_whatever_holds_them(embed_model, graph_index):
    simple = VectorStoreIndex(make_nodes(), embed_model=embed_model)
    ours = HopweaveVectorStore.open(embed_model=embed_model)
    context = StorageContext.from_defaults(vector_store=ours)
    with_text = VectorStoreIndex(make_nodes(), storage_context=context, embed_model=embed_model)
    graph = resolve(contributions_of(graph_index.property_graph_store)).graph()
    for store in (simple, simple.docstore, with_text, ours, graph_index, graph_index.property_graph_store):
        there = documents_in(store, graph)
        assert {key: hit.text for key, hit in there.get(["c1", "nobody"]).items()} == {"c1": "MV Skua Ingrid Falk"}
        assert there.get([]) == {}


def test_nodes_of_another_store_under_our_graph(embed_model, tmp_path, llm):
    nodes = make_nodes()
    index = VectorStoreIndex(nodes, embed_model=embed_model)
    with KnowledgeBase.open(tmp_path / "kb.db", builders=[TriplesBuilder()]) as kb:
        IngestionPipeline(transformations=[FixedTriples(), KnowledgeBaseWriter(knowledge_base=kb)]).run(
            nodes=make_nodes()
        )
        there = documents_in(index, kb.graph)
    retriever = PageRankRetriever(there, upstream={"vector": index.as_retriever()}, similarity_top_k=2)
    found = retriever.retrieve(QUESTION)
    assert [node.node_id for node in found] == ["c1", "c2"]
    assert found[0].node.hash == nodes[0].hash  # receipts do not make it another node
    assert found[0].metadata["hopweave"]["receipts"]
    assert "hopweave" not in index.docstore.get_node("c1").metadata
    assert asyncio.run(retriever.aretrieve(QUESTION)) == found


def test_a_recipe_over_nodes_and_retrievers_of_another_store(embed_model):
    index = VectorStoreIndex(make_nodes(), embed_model=embed_model)
    own = {"text": index.as_retriever(similarity_top_k=1), "vector": index.as_retriever(similarity_top_k=1)}
    with KnowledgeBase.open(builders=[TriplesBuilder()]) as kb:
        IngestionPipeline(transformations=[FixedTriples(), KnowledgeBaseWriter(knowledge_base=kb)]).run(
            nodes=make_nodes()
        )
        there = documents_in(index, kb.graph)
    found = RecipeRetriever(there, recipe="multihop", retrievers=own, similarity_top_k=2).retrieve(QUESTION)
    assert [node.node_id for node in found] == ["c1", "c2"]
    assert [receipt["stage"] for receipt in found[1].metadata["hopweave"]["receipts"]] == ["pagerank", "trust_weighted"]


def test_neighbouring_nodes_are_edges():
    first, second = TextNode(id_="a", text="one"), TextNode(id_="b", text="two")
    first.relationships[NodeRelationship.NEXT] = RelatedNodeInfo(node_id="b")
    second.relationships[NodeRelationship.PARENT] = RelatedNodeInfo(node_id="book")
    with KnowledgeBase.open(builders=[MetadataBuilder()], embedder=None) as kb:
        KnowledgeBaseWriter(knowledge_base=kb)([first, second, TextNode(id_="book", text="whole")])
        graph = kb.graph
        numbers = graph.find(["passage:a", "passage:b", "passage:book"])
        found = graph.neighbours(np.array([numbers["passage:a"], numbers["passage:b"]]))
        assert [graph.edge_types[code] for code in found.types] == ["followed_by", "part_of"]
        assert found.targets.tolist() == [numbers["passage:b"], numbers["passage:book"]]


def test_the_order_does_not_depend_on_the_hash_seed(graph_index, tmp_path):
    file = tmp_path / "graph.json"
    graph_index.property_graph_store.persist(str(file))
    script = (
        "import json, sys\n"
        "from llama_index.core.graph_stores import SimplePropertyGraphStore\n"
        "from llama_index.graph_stores.hopweave import contributions_of\n"
        "store = SimplePropertyGraphStore.from_persist_path(sys.argv[1])\n"
        "print(json.dumps([repr(one) for one in contributions_of(store)]))\n"
    )
    rankings = [
        json.loads(
            subprocess.run(
                [sys.executable, "-c", script, str(file)],
                env={**os.environ, "PYTHONHASHSEED": seed},
                capture_output=True,
                check=True,
                text=True,
            ).stdout
        )
        for seed in ("1", "2")
    ]
    assert rankings[0] == rankings[1]


def test_facts_alone_and_chunks_alone(graph_index):
    store = graph_index.property_graph_store
    facts = PageRankPGRetriever(store, similarity_top_k=2, include_text=False, time_budget_seconds=60)
    found = facts.retrieve(QUESTION)
    assert [node.text for node in found] == [
        "MV Skua -> designed by -> Ingrid Falk",
        "MV Skua —designed_by→ Ingrid Falk\nIngrid Falk -> born in -> Lunn",
    ]
    assert [node.node.ref_doc_id for node in found] == ["c1", "c2"]
    assert [node.text for node in asyncio.run(facts.aretrieve(QUESTION))] == [node.text for node in found]
    chunks = PageRankPGRetriever(store, similarity_top_k=2, include_facts=False, time_budget_seconds=60)
    assert [node.text for node in chunks.retrieve(QUESTION)] == ["MV Skua Ingrid Falk", "Ingrid Falk Lunn"]
    bare = PageRankPGRetriever(store, similarity_top_k=1, include_text_preamble=None, time_budget_seconds=60)
    assert bare.retrieve(QUESTION)[0].text == "MV Skua -> designed by -> Ingrid Falk\n\nMV Skua Ingrid Falk"
    with pytest.raises(ValueError, match="include_facts: False is not allowed with include_text=False"):
        PageRankPGRetriever(store, include_text=False, include_facts=False)
    with pytest.raises(ValueError, match="refresh_seconds: -1 is not allowed"):
        PageRankPGRetriever(store, refresh_seconds=-1)


def test_a_store_in_memory_is_read_again_when_it_has_changed(graph_index):
    store = graph_index.property_graph_store
    retriever = PageRankPGRetriever(store, time_budget_seconds=60)
    question = "Who keeps the tide gate?"
    assert [node.node_id for node in retriever.retrieve(question)] == ["c3"]
    read = retriever._graph
    retriever.retrieve(question)
    assert retriever._graph is read
    chunk = TextNode(id_="c4", text="Per Moe keeps the Tide gate.")
    store.upsert_llama_nodes([chunk])
    store.upsert_nodes([EntityNode(name="Per Moe")])
    store.upsert_relations(
        [Relation(label="keeps", source_id="Per Moe", target_id="Tide gate", properties={"triplet_source_id": "c4"})]
    )
    assert {node.node_id for node in retriever.retrieve(question)} == {"c3", "c4"}
    store.delete(entity_names=["Per Moe"])
    assert "c4" not in [node.node_id for node in retriever.retrieve(question)]


def test_other_stores_are_read_again_after_a_while(graph_index):
    time, reads = [0.0], []

    class Remote(Doubling):
        def get_triplets(self, *args, **kwargs):
            reads.append(time[0])
            return super().get_triplets(*args, **kwargs)

        def get_llama_nodes(self, ids):
            return self.store.get_llama_nodes(ids)

    def reads_at(retriever, *times):
        reads.clear()
        for time[0] in times:
            retriever.retrieve(QUESTION)
        return sorted(set(reads))

    store = Remote(graph_index.property_graph_store)
    options = {"clock": lambda: time[0], "time_budget_seconds": 60}
    assert reads_at(PageRankPGRetriever(store, refresh_seconds=60, **options), 0, 30, 61, 62) == [0, 61]
    assert reads_at(PageRankPGRetriever(store, refresh_seconds=0, **options), 0, 1) == [0, 1]
    assert reads_at(PageRankPGRetriever(store, refresh_seconds=None, **options), 0, 10_000) == [0]
