"""Mistakes as users make them: type checkers refuse every line that ends in a comment, and so does running it.

The comment is what the message of the run-time error names.
"""

from haystack import Document

from haystack_integrations.components.builders.hopweave import (
    ContextBuilder,
    ExtractiveAnswerBuilder,
    FlowPruningBuilder,
)
from haystack_integrations.components.embedders.hopweave import OnnxTextEmbedder, RemoteTextEmbedder, StaticTextEmbedder
from haystack_integrations.components.joiners.hopweave import ConfirmatoryJoiner, ReciprocalRankJoiner, WeightedJoiner
from haystack_integrations.components.rankers.hopweave import (
    CrossEncoderRanker,
    FreshnessRanker,
    LengthRanker,
    MetadataFilterRanker,
    MMRRanker,
    NoiseRanker,
    RemoteRerankRanker,
    ScoreThresholdRanker,
    TimeDecayRanker,
)
from haystack_integrations.components.retrievers.hopweave import (
    BM25Retriever,
    EmbeddingRetriever,
    HybridGraphRetriever,
    PageRankRetriever,
    RecipeRetriever,
)
from haystack_integrations.components.routers.hopweave import GateRouter, IntentRouter, PlanRouter
from haystack_integrations.components.writers.hopweave import GraphWriter, KnowledgeBaseWriter

found = [Document(id="a", content="MV Skua is a ferry.", score=0.9)]

LengthRanker(slop=1)  # slop
LengthRanker(slope="steep")  # slope
LengthRanker(0.5)  # LengthRanker
LengthRanker().run(documents=found, qury="Who?")  # qury
LengthRanker().run(query="Who?")  # documents
LengthRanker().run(documents="found")  # documents
FreshnessRanker(decay="linear")  # decay
FreshnessRanker(corpus_types="CONVO_*", weigth=0.2)  # weigth
TimeDecayRanker(half_life_days=[30])  # half_life_days
MMRRanker(strategy="maximal")  # strategy
MMRRanker(knowledge_base=3)  # knowledge_base
ScoreThresholdRanker(min_score=None)  # min_score
NoiseRanker(rules=5)  # rules
MetadataFilterRanker(types=7)  # types
CrossEncoderRanker(output="sigmoid")  # output
RemoteRerankRanker(api_key="sk-123")  # api_key
PageRankRetriever(knowledge_base="a.db", restrat=0.3)  # restrat
PageRankRetriever(knowledge_base="a.db", linker="exact")  # linker
BM25Retriever(knowledge_base="a.db", top_k="ten")  # top_k
EmbeddingRetriever(knowledge_base="a.db").run(query="Who?")  # query_embedding
RecipeRetriever(knowledge_base="a.db", recipes="hybrid")  # recipes
RecipeRetriever(knowledge_base="a.db").run(query=["Who?"])  # query
HybridGraphRetriever(knowledge_base="a.db").run()  # query
ReciprocalRankJoiner(k=60)  # sources
WeightedJoiner(sources=["a", "b"], normalisation="minmax")  # normalisation
ConfirmatoryJoiner(sources=["vector", "text"]).run(vector="found")  # vector
GateRouter(languages="en", enabled="perhaps")  # enabled
IntentRouter(taxonomy="coarse")  # taxonomy
PlanRouter(sources=["text"]).run()  # query
ContextBuilder(budget=500)  # budget
ExtractiveAnswerBuilder().run(documents=found)  # query
FlowPruningBuilder(knowledge_base="a.db").run(found, plan="all")  # plan
StaticTextEmbedder().run(texts=["Who?"])  # text
OnnxTextEmbedder(pooling="mean")  # model
RemoteTextEmbedder(provider="cohere")  # provider
KnowledgeBaseWriter()  # knowledge_base
GraphWriter(graph="graph.db").run(documents=found, complete="all", source="a")  # source
