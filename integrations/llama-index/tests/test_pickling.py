"""Components in other processes: pickled, and in the workers of an ingestion pipeline."""

import pickle

from llama_index.core import MockEmbedding
from llama_index.core.graph_stores import SimplePropertyGraphStore
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.schema import NodeRelationship, QueryBundle, RelatedNodeInfo, TextNode
from llama_index.hopweave import to_embedder
from llama_index.ingestion.hopweave import KnowledgeBaseWriter
from llama_index.postprocessor.hopweave import FlowPruningPostprocessor, MMRPostprocessor
from llama_index.query_engine.hopweave import load_query_engine
from llama_index.response_synthesizers.hopweave import ContextBuilderSynthesizer
from llama_index.retrievers.hopweave import (
    FusionRetriever,
    PageRankPGRetriever,
    PageRankRetriever,
    RecipeRetriever,
)
from llama_index.vector_stores.hopweave import HopweaveVectorStore

from hopweave import KnowledgeBase
from hopweave.knowledge_base.shared import open_shared

QUESTION = "How do I restart the ferry pump after an outage?"


def copied(value):
    return pickle.loads(pickle.dumps(value))


def test_a_knowledge_base_is_opened_again(kb):
    with copied(kb) as copy, open_shared(kb.path) as shared, copied(shared) as other:
        assert copy.ids() == kb.ids() == other.ids()
        assert copy.settings == kb.settings
        assert copy.search(QUESTION).hits == kb.search(QUESTION).hits
        assert other.graph is shared.graph


def test_an_embedding_model_goes_along(tmp_path):
    model = MockEmbedding(4)
    with KnowledgeBase.open(tmp_path / "a.db", embedder=to_embedder(model)) as kb, copied(kb) as copy:
        assert copy.embed("?")[1].tolist() == kb.embed("?")[1].tolist()
        assert copy.settings.model == kb.settings.model


def test_retrievers_engines_and_postprocessors(kb, llm):
    retrievers = [
        RecipeRetriever(kb, recipe="multihop"),
        RecipeRetriever(kb.path),
        PageRankRetriever(kb),
        FusionRetriever({"one": RecipeRetriever(kb), "two": PageRankRetriever(kb)}, fuse="reciprocal_rank"),
    ]
    for retriever in retrievers:
        before, after = retriever.retrieve(QUESTION), copied(retriever).retrieve(QUESTION)
        assert [(one.node_id, one.score) for one in after] == [(one.node_id, one.score) for one in before]
    nodes = retrievers[0].retrieve(QUESTION)
    for stage in (MMRPostprocessor(knowledge_base=kb), FlowPruningPostprocessor(knowledge_base=kb, min_hits=2)):
        found = copied(stage).postprocess_nodes(nodes, query_bundle=QueryBundle(QUESTION))
        assert [one.text for one in found] == [
            one.text for one in stage.postprocess_nodes(nodes, query_bundle=QueryBundle(QUESTION))
        ]
    assert str(copied(load_query_engine("multihop", kb)).query(QUESTION)) == str(
        load_query_engine("multihop", kb).query(QUESTION)
    )
    assert copied(ContextBuilderSynthesizer(llm)).synthesize(QUESTION, nodes).metadata["hopweave"]["citations"]
    assert copied(PageRankPGRetriever(SimplePropertyGraphStore())).retrieve(QUESTION) == []


def test_a_vector_store(kb):
    store = copied(HopweaveVectorStore(knowledge_base=kb))
    assert [node.node_id for node in store.get_nodes(["gate"])] == ["gate"]


def test_the_workers_of_an_ingestion_pipeline_write_into_one_file(tmp_path):
    nodes = [
        TextNode(
            id_=f"ferry-{number}",
            text=f"Ferry number {number} sails.",
            relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=f"file-{number}")},
        )
        for number in range(6)
    ]
    with KnowledgeBase.open(tmp_path / "kb.db") as kb:
        pipeline = IngestionPipeline(transformations=[KnowledgeBaseWriter(knowledge_base=kb)], disable_cache=True)
        pipeline.run(nodes=nodes, num_workers=2)
        assert sorted(kb.ids()) == [node.node_id for node in nodes]
        assert set(kb.sources()) == {node.ref_doc_id for node in nodes}
        assert kb.check() == []
