"""Mistakes as users make them: type checkers refuse every line that ends in a comment, and so does running it.

The comment is what the message of the run-time error names.
"""

from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.embeddings.hopweave import OnnxEmbedding, RemoteEmbedding, StaticEmbedding
from llama_index.hopweave import documents_in
from llama_index.ingestion.hopweave import GraphWriter, KnowledgeBaseWriter
from llama_index.postprocessor.hopweave import (
    CommunitySpreadPostprocessor,
    CrossEncoderPostprocessor,
    FlowPruningPostprocessor,
    FreshnessPostprocessor,
    LengthPostprocessor,
    MetadataFilterPostprocessor,
    MMRPostprocessor,
    NoisePostprocessor,
    RemoteRerankPostprocessor,
    ScoreThresholdPostprocessor,
)
from llama_index.query_engine.hopweave import RecipeQueryEngine, load_query_engine
from llama_index.retrievers.hopweave import (
    BM25Retriever,
    FullTextRetriever,
    FusionRetriever,
    GraphBoostRetriever,
    IntentEdgesRetriever,
    KeywordRetriever,
    PageRankPGRetriever,
    PageRankRetriever,
    RecipeRetriever,
    VectorSearchRetriever,
)
from llama_index.selectors.hopweave import IntentSelector

from hopweave import Document, KnowledgeBase

kb = KnowledgeBase.open()
kb.add([Document("skua", "MV Skua is a ferry.")])
node = NodeWithScore(node=TextNode(text="MV Skua is a ferry."), score=0.9)

PageRankRetriever(kb, restrat=0.3)  # restrat
PageRankRetriever(kb, restart="often")  # restart
PageRankRetriever(kb, similarity_top_k="ten")  # top_k
PageRankRetriever()  # knowledge_base
BM25Retriever(kb, analyser="nlp")  # analyser
BM25Retriever(kb, keyword_weight="heavy")  # keyword_weight
FullTextRetriever(kb, top=3)  # top
KeywordRetriever(kb, tenant="acme")  # tenant
VectorSearchRetriever(kb, own_share="half")  # own_share
GraphBoostRetriever(kb, seeds_per_source=[3])  # seeds_per_source
IntentEdgesRetriever(kb, seed_per_source=3)  # seed_per_source
FusionRetriever({"text": BM25Retriever(kb)}, fuse="weighted", normalisation="minmax")  # normalisation
FusionRetriever({"text": BM25Retriever(kb)}, wieghts={"text": 2.0})  # wieghts
FusionRetriever([BM25Retriever(kb)])  # retrievers
RecipeRetriever(kb, recipes="hybrid")  # recipes
RecipeRetriever(kb, recipe=5)  # recipe
RecipeRetriever(kb, cache_seconds="long")  # cache_seconds
PageRankPGRetriever(restart=0.3)  # graph_store
RecipeQueryEngine("hybrid", kb, similarity_topk=5)  # similarity_topk
load_query_engine("hybrid", kb, streeming=True)  # streeming
load_query_engine("hybrid", knowledge=kb)  # knowledge
documents_in(3, kb)  # store
LengthPostprocessor(slop=1)  # slop
LengthPostprocessor(slope="steep")  # slope
FreshnessPostprocessor(decay="linear")  # decay
FreshnessPostprocessor(now="yesterday")  # now
MMRPostprocessor(strategy="maximal")  # strategy
ScoreThresholdPostprocessor(min_score="high")  # min_score
NoisePostprocessor(min_characters="few")  # min_characters
CrossEncoderPostprocessor(output="sigmoid")  # output
MetadataFilterPostprocessor(typ=["notice"])  # typ
RemoteRerankPostprocessor(top_n="three")  # top_n
CommunitySpreadPostprocessor(multiplier=None)  # multiplier
FlowPruningPostprocessor(knowledge_base=kb, min_hit=2)  # min_hit
StaticEmbedding(max_character=5)  # max_character
OnnxEmbedding(pooling="mean")  # model
RemoteEmbedding(provider="cohere")  # provider
KnowledgeBaseWriter(knowledge=kb)  # knowledge
GraphWriter(graph=kb, graph_stores=kb)  # graph_stores
IntentSelector({"debugging": "runbooks"}, defualt="guide")  # defualt
