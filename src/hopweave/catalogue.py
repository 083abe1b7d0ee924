"""Every component that recipes can name. One line here enrols a component in recipes, schema and law tests."""

import warnings
from importlib.metadata import entry_points

from hopweave.component import Component, rebuild, register
from hopweave.context.context_builder import ContextBuilder
from hopweave.context.extractive_answer import ExtractiveAnswer
from hopweave.fusion.confirmatory import Confirmatory
from hopweave.fusion.passthrough import Passthrough
from hopweave.fusion.reciprocal_rank import ReciprocalRank
from hopweave.fusion.trust_weighted import TrustWeighted
from hopweave.fusion.weighted import Weighted
from hopweave.graph.build.builders.links import LinksBuilder
from hopweave.graph.build.builders.mentions import MentionsBuilder
from hopweave.graph.build.builders.metadata import MetadataBuilder
from hopweave.graph.build.builders.parts import PartsBuilder
from hopweave.graph.build.builders.services import ServicesBuilder
from hopweave.graph.build.builders.triples import TriplesBuilder
from hopweave.graph.flow_pruning import FlowPruning
from hopweave.graph.service_neighbourhood import ServiceNeighbourhood
from hopweave.routing.gate import Gate
from hopweave.routing.intent import IntentClassifier
from hopweave.routing.plan import Planner
from hopweave.sources.bm25 import BM25
from hopweave.sources.evidence_sum import EvidenceSum
from hopweave.sources.full_text import FullText
from hopweave.sources.graph_boost import GraphBoost
from hopweave.sources.intent_edges import IntentEdges
from hopweave.sources.keyword import Keyword
from hopweave.sources.pagerank import PageRank
from hopweave.sources.vector_search import VectorSearch
from hopweave.stages.adjust.corpus_boost import CorpusBoost
from hopweave.stages.adjust.freshness import Freshness
from hopweave.stages.adjust.importance import Importance
from hopweave.stages.adjust.length import Length
from hopweave.stages.adjust.recency_boost import RecencyBoost
from hopweave.stages.adjust.time_decay import TimeDecay
from hopweave.stages.diversify.community_spread import CommunitySpread
from hopweave.stages.diversify.deferral import Deferral
from hopweave.stages.diversify.mmr import MMR
from hopweave.stages.filter.confidence_threshold import ConfidenceThreshold
from hopweave.stages.filter.metadata_filter import MetadataFilter
from hopweave.stages.filter.noise import Noise
from hopweave.stages.filter.score_threshold import ScoreThreshold
from hopweave.stages.rerank.cosine_rerank import CosineRerank
from hopweave.stages.rerank.cross_encoder import CrossEncoder
from hopweave.stages.rerank.remote_rerank import RemoteRerank
from hopweave.vector.embedders import Cascade, SentenceTransformerEmbedder, StaticEmbedder
from hopweave.vector.graph_embedder import GraphEmbedder
from hopweave.vector.onnx import OnnxEmbedder
from hopweave.vector.remote_embedder import RemoteEmbedder

CATALOGUE: tuple[type[Component], ...] = (
    # sources
    BM25,
    EvidenceSum,
    FullText,
    GraphBoost,
    IntentEdges,
    Keyword,
    VectorSearch,
    PageRank,
    # fusers
    Confirmatory,
    Passthrough,
    ReciprocalRank,
    TrustWeighted,
    Weighted,
    # stages
    CommunitySpread,
    ConfidenceThreshold,
    CorpusBoost,
    CosineRerank,
    CrossEncoder,
    Deferral,
    Freshness,
    Importance,
    Length,
    MetadataFilter,
    ScoreThreshold,
    MMR,
    Noise,
    RecencyBoost,
    RemoteRerank,
    TimeDecay,
    # graph builders
    LinksBuilder,
    MentionsBuilder,
    MetadataBuilder,
    PartsBuilder,
    ServicesBuilder,
    TriplesBuilder,
    # embedders
    StaticEmbedder,
    SentenceTransformerEmbedder,
    OnnxEmbedder,
    GraphEmbedder,
    RemoteEmbedder,
    Cascade,
)

PARTS: tuple[type[Component], ...] = (
    Gate,
    IntentClassifier,
    Planner,
    FlowPruning,
    ServiceNeighbourhood,
    ContextBuilder,
    ExtractiveAnswer,
)
"""Components that a recipe has at most one of, each under a key of its own."""

for _component in CATALOGUE:
    register(_component)
for _entry_point in entry_points(group="hopweave.components"):
    try:
        register(_entry_point.load())
    except Exception as error:  # somebody else's package must not take ours down
        warnings.warn(f"hopweave goes on without {_entry_point.value}: {type(error).__name__}: {error}", stacklevel=2)
rebuild()
