"""Every class of the adapter once, as a user writes it. Never run: type checkers read it."""

from haystack import Document, Pipeline
from haystack.tools import ComponentTool
from haystack.utils import Secret

from haystack_integrations.common.hopweave import to_document, to_hit
from haystack_integrations.common.hopweave.recipe_pipeline import to_pipeline, to_yaml
from haystack_integrations.components.builders import hopweave as builders
from haystack_integrations.components.converters.hopweave import FileConverter
from haystack_integrations.components.embedders.hopweave import (
    GraphDocumentEmbedder,
    GraphTextEmbedder,
    OnnxDocumentEmbedder,
    OnnxTextEmbedder,
    RemoteDocumentEmbedder,
    RemoteTextEmbedder,
    StaticDocumentEmbedder,
    StaticTextEmbedder,
)
from haystack_integrations.components.joiners import hopweave as joiners
from haystack_integrations.components.rankers import hopweave as rankers
from haystack_integrations.components.retrievers import hopweave as retrievers
from haystack_integrations.components.routers.hopweave import (
    GateRouter,
    IntentRouter,
    LimitsRouter,
    PlanRouter,
    UpstreamRouter,
)
from haystack_integrations.components.writers.hopweave import GraphWriter, KnowledgeBaseWriter
from haystack_integrations.document_stores.hopweave import HopweaveDocumentStore


def main() -> None:
    store = HopweaveDocumentStore("documents.db", embedder={"kind": "static"}, builders=["mentions"])
    store.write_documents(StaticDocumentEmbedder().run(documents=[Document(content="…")])["documents"])
    KnowledgeBaseWriter(knowledge_base="hopweave.db", analyzers=["nlp", "code"]).run(documents=[], on_conflict="skip")
    read: list[Document] = FileConverter(root="docs").run(sources=["docs/skua.md"])["documents"]
    GraphWriter(graph="graph.db", source_field="file_path").run(documents=read, complete=True)
    embedding: list[float] = StaticTextEmbedder(max_characters=500).run(text="Who?")["embedding"]
    embedding = OnnxTextEmbedder(model="models/e5", query_prompt="query: ").run(text="Who?")["embedding"]
    key = Secret.from_env_var("KEY", strict=False)
    embedding = RemoteTextEmbedder(provider="gemini", api_key=key).run(text="Who?")["embedding"]
    RemoteDocumentEmbedder(url="http://localhost:8000/v1/embeddings").run(documents=[Document(content="…")])
    embedding = GraphTextEmbedder(knowledge_base="trained.db").run(text="Who?")["embedding"]
    GraphDocumentEmbedder(knowledge_base="trained.db").run(documents=[Document(content="…")])
    OnnxDocumentEmbedder(model="models/e5", pooling="cls", batch_size=8).run(documents=[Document(content="…")])

    pipeline = Pipeline()
    pipeline.add_component("gate", GateRouter(languages=["en"]))
    pipeline.add_component("intent", IntentRouter(groups={"trouble": ["debugging"]}))
    pipeline.add_component("plan", PlanRouter(sources=["text", "graph"], restart=0.4))
    pipeline.add_component("limits", LimitsRouter(depths={"text": 30, "graph": 30}))
    text = retrievers.BM25Retriever(knowledge_base="hopweave.db", analyzer="nlp", tenant={"owner": "a"})
    pipeline.add_component("text", text)
    pipeline.add_component("words", retrievers.FullTextRetriever(knowledge_base="hopweave.db"))
    pipeline.add_component("keyword", retrievers.KeywordRetriever(knowledge_base="hopweave.db", keyword_weight=2.0))
    pipeline.add_component("vector", retrievers.VectorSearchRetriever(knowledge_base="hopweave.db", top_k=20))
    pipeline.add_component("edges", retrievers.IntentEdgesRetriever(knowledge_base="hopweave.db", seeds_from=["text"]))
    pipeline.add_component("boost", retrievers.GraphBoostRetriever(knowledge_base="hopweave.db", document_store=store))
    pipeline.add_component("evidence", retrievers.EvidenceSumRetriever(knowledge_base="hopweave.db", by_words=100))
    graph = retrievers.PageRankRetriever(knowledge_base="hopweave.db", seeds_from=("text",), restart=0.3)
    pipeline.add_component("graph", graph)
    pipeline.connect("text.documents", "graph.text")
    retrievers.RecipeRetriever(knowledge_base="a.db", document_store=store, upstream=["vector"]).run("Who?", vector=[])
    found: list[Document] = graph.run(query="Who?", text=[Document(id="a")], restart=0.5)["documents"]
    found = retrievers.EmbeddingRetriever(knowledge_base="a.db").run(query_embedding=embedding, top_k=3)["documents"]
    found = retrievers.RecipeRetriever(knowledge_base="a.db", recipe="hybrid").run(query="Who?", now="2026-05-01")[
        "documents"
    ]
    found = retrievers.HybridGraphRetriever(knowledge_base="a.db", tenant={"owner": "a"}).run(query="Who?")["documents"]
    secret = Secret.from_env_var("GRAPH_URL")
    retrievers.HybridGraphRetriever(graph=secret, document_store=store, upstream=["text"]).run("Who?", text=found)
    retrievers.PageRankRetriever(graph=secret, graph_schema="ships", document_store=store).run("Who?", text=found)
    found = UpstreamRouter(tenant={"owner": "a"}).run(query="Who?", documents=found)["documents"]
    ComponentTool(component=retrievers.RecipeRetriever(knowledge_base="a.db"), name="search")

    found = joiners.ReciprocalRankJoiner(sources=["a", "b"], k=10).run(a=found, b=found, weights={"a": 2})["documents"]
    found = joiners.WeightedJoiner(sources=["a", "b"], weights={"a": 0.7}).run(a=found, b=None)["documents"]
    found = joiners.TrustWeightedJoiner(sources=["a", "b"], depth=5).run(a=found, b=found)["documents"]
    found = joiners.PassthroughJoiner(sources=["a", "b"], source="a").run(a=found)["documents"]
    found = joiners.ConfirmatoryJoiner(sources=["vector", "text"], bonus=0.2).run(vector=found, top_k=5)["documents"]

    found = rankers.ConfidenceThresholdRanker(min_confidence=0.3).run(documents=found, query="Who?")["documents"]
    found = rankers.ScoreThresholdRanker(min_score=0.3).run(documents=found, overrides={"min_score": 0.1})["documents"]
    found = rankers.FreshnessRanker(half_life_days=30, corpus_types=["CONVO_*"]).run(found, now="2026-05-01")[
        "documents"
    ]
    found = rankers.RecencyBoostRanker(weight=0.2).run(documents=found, query="Who?")["documents"]
    found = rankers.TimeDecayRanker(half_life_days=60).run(documents=found)["documents"]
    found = rankers.ImportanceRanker().run(documents=found)["documents"]
    found = rankers.LengthRanker(top_k=5).run(documents=found)["documents"]
    found = rankers.CorpusBoostRanker().run(documents=found)["documents"]
    found = rankers.MMRRanker(relevance_weight=0.5, knowledge_base="a.db").run(documents=found)["documents"]
    found = rankers.DeferralRanker(max_similarity=0.9).run(documents=found)["documents"]
    found = rankers.CommunitySpreadRanker().run(documents=found)["documents"]
    found = rankers.NoiseRanker().run(documents=found)["documents"]
    found = rankers.MetadataFilterRanker(types=["notice"], where={"year": 1974}).run(documents=found)["documents"]
    found = rankers.CrossEncoderRanker(candidates=20).run(documents=found, query="Who?")["documents"]
    remote = rankers.RemoteRerankRanker(provider="jina", api_key=Secret.from_env_var("KEY", strict=False))
    found = rankers.CosineRerankRanker(blend=0.5).run(documents=found, query_embedding=embedding)["documents"]
    found = remote.run(documents=found, query="Who?", query_embedding=embedding)["documents"]

    paths: list[str] = builders.FlowPruningBuilder(knowledge_base="a.db", min_hits=2).run(documents=found)["paths"]
    around = builders.ServiceNeighbourhoodBuilder(knowledge_base="a.db").run(documents=found)["lines"]
    context: str = builders.ContextBuilder(budget_tokens=500).run(found, "Who?", paths, around)["context"]
    answer: str = builders.ExtractiveAnswerBuilder(max_sentences=1).run(query="Who?", documents=found)["answer"]
    builders.NeighbourhoodBuilder(knowledge_base="a.db", edge_types=["about"]).run(documents=found)
    to_pipeline("multihop", "a.db").run({"query": context + answer + to_yaml("hybrid")})
    to_document(to_hit(found[0]))
