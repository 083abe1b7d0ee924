"""Every class of the adapter once, as a user writes it. Never run: type checkers read it."""

from datetime import UTC, datetime

from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.graph_stores import SimplePropertyGraphStore
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.llms import MockLLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.embeddings.hopweave import GraphEmbedding, OnnxEmbedding, RemoteEmbedding, StaticEmbedding
from llama_index.graph_stores.hopweave import import_property_graph
from llama_index.hopweave import documents_in, to_embedder
from llama_index.ingestion.hopweave import KnowledgeBaseWriter
from llama_index.postprocessor import hopweave as stages
from llama_index.query_engine.hopweave import GateQueryEngine, RecipeQueryEngine, load_query_engine
from llama_index.response_synthesizers.hopweave import ContextBuilderSynthesizer, ExtractiveAnswerSynthesizer
from llama_index.retrievers import hopweave as sources
from llama_index.selectors.hopweave import IntentSelector, PlanSelector
from llama_index.vector_stores.hopweave import HopweaveVectorStore

from hopweave import KnowledgeBase
from hopweave.routing.intent import IntentClassifier
from hopweave.routing.plan import Planner
from hopweave.stages.adjust.freshness import Freshness


def main() -> None:
    model = StaticEmbedding()
    kb = KnowledgeBase.open("hopweave.db", embedder=to_embedder(model))
    graph_model = GraphEmbedding(knowledge_base="trained.db")
    remote_model = RemoteEmbedding(provider="gemini", dimensions=768)
    onnx = OnnxEmbedding(model="models/e5", pooling="mean", query_prompt="query: ", embed_batch_size=64)
    KnowledgeBase.open("onnx.db", embedder=to_embedder(onnx))
    store = HopweaveVectorStore.open("other.db", embed_model=model)
    storage = StorageContext.from_defaults(vector_store=store)
    index = VectorStoreIndex([TextNode(text="The gate opens at six.")], storage_context=storage, embed_model=model)
    IngestionPipeline(transformations=[KnowledgeBaseWriter(knowledge_base=kb)]).run(nodes=[TextNode(text="…")])
    import_property_graph(SimplePropertyGraphStore(), kb)
    there = documents_in(index, kb)

    retrievers: dict[str, BaseRetriever] = {
        "text": sources.BM25Retriever(kb, similarity_top_k=5, tenant={"owner": "a"}),
        "full_text": sources.FullTextRetriever("hopweave.db"),
        "keyword": sources.KeywordRetriever(kb, analyzer="nlp"),
        "vector": sources.VectorSearchRetriever(kb),
        "boost": sources.GraphBoostRetriever(kb, seeds_per_source=3),
        "evidence": sources.EvidenceSumRetriever(kb, by_words=100),
        "edges": sources.IntentEdgesRetriever(kb, intent=IntentClassifier()),
        "graph": sources.PageRankRetriever(there, upstream={"vector": index.as_retriever()}, restart=0.5),
        "pg": sources.PageRankPGRetriever(SimplePropertyGraphStore(), similarity_top_k=3),
        "recipe": sources.RecipeRetriever(kb, recipe="multihop", retrievers={"vector": index.as_retriever()}),
    }
    planner = PlanSelector(Planner(skip_graph_when_simple=True), knowledge_base=kb)
    fused = sources.FusionRetriever(retrievers, fuse="weighted", weights={"text": 2.0}, optional=["pg"], plan=Planner())
    nodes: list[NodeWithScore] = sources.GateRetriever(fused).retrieve("When does the tide gate open?")

    postprocessors: list[BaseNodePostprocessor] = [
        stages.CommunitySpreadPostprocessor(multiplier=1.5),
        stages.ConfidenceThresholdPostprocessor(min_confidence=0.3),
        stages.CorpusBoostPostprocessor(clamp=True),
        stages.CrossEncoderPostprocessor(model="cross-encoder/ms-marco-MiniLM-L6-v2", top_n=5),
        stages.DeferralPostprocessor(max_similarity=0.9, knowledge_base=kb),
        stages.FlowPruningPostprocessor(knowledge_base=kb, min_hits=2),
        stages.ServiceNeighbourhoodPostprocessor(knowledge_base="hopweave.db", tenant={"owner": "a"}),
        stages.FreshnessPostprocessor(half_life_days=30, now=datetime.now(UTC)),
        stages.ImportancePostprocessor(),
        stages.LengthPostprocessor(slope=0.5),
        stages.MetadataFilterPostprocessor(where={"year": {"gte": 1974}}),
        stages.MMRPostprocessor(relevance_weight=0.7, vector_store=index, embed_model=model),
        stages.NoisePostprocessor(min_characters=20),
        stages.RecencyBoostPostprocessor(weight=0.2),
        stages.RemoteRerankPostprocessor(provider="jina", top_n=5),
        stages.ScoreThresholdPostprocessor(min_score=0.3),
        stages.TimeDecayPostprocessor(half_life_days=10),
        stages.postprocessor_for(Freshness(half_life_days=30), now=datetime.now(UTC)),
    ]
    engine = RetrieverQueryEngine(fused, ContextBuilderSynthesizer(MockLLM()), postprocessors)
    extractive = RetrieverQueryEngine.from_args(fused, response_synthesizer=ExtractiveAnswerSynthesizer())
    answer: str = str(GateQueryEngine(engine, llm=MockLLM()).query("When does the tide gate open?"))
    recipes = [RecipeQueryEngine("hybrid", kb, similarity_top_k=5), load_query_engine("multihop", kb, streaming=True)]
    selector = IntentSelector({"debugging": "runbooks"}, default="guide", classifier=IntentClassifier())
