"""Every component that recipes can name. One line here enrols a component in recipes, schema and law tests."""

import warnings
from importlib.metadata import entry_points

from hopweave.component import Component, rebuild, register
from hopweave.fusion.confirmatory import Confirmatory
from hopweave.fusion.reciprocal_rank import ReciprocalRank
from hopweave.fusion.weighted import Weighted
from hopweave.graph.build.links import LinksBuilder
from hopweave.graph.build.mentions import MentionsBuilder
from hopweave.graph.build.metadata import MetadataBuilder
from hopweave.graph.build.services import ServicesBuilder
from hopweave.graph.build.triples import TriplesBuilder
from hopweave.graph.neighbours import GraphBoost, IntentEdges
from hopweave.graph.passages import PageRankPassages
from hopweave.stages.community_spread import CommunitySpread
from hopweave.stages.corpus_boost import CorpusBoost
from hopweave.stages.cross_encoder import CrossEncoder
from hopweave.stages.decay import TimeDecay
from hopweave.stages.deferral import Deferral
from hopweave.stages.freshness import Freshness
from hopweave.stages.importance import Importance
from hopweave.stages.length import Length
from hopweave.stages.metadata_filter import MetadataFilter
from hopweave.stages.minimum import Minimum
from hopweave.stages.mmr import Mmr
from hopweave.stages.noise import Noise
from hopweave.stages.recency_boost import RecencyBoost
from hopweave.stages.remote_rerank import RemoteRerank
from hopweave.text.bm25 import Bm25
from hopweave.text.fts import FullText
from hopweave.text.keyword import Keyword
from hopweave.vector.embedders import Cascade, SentenceTransformerEmbedder, StaticEmbedder
from hopweave.vector.index import NearestVectors

CATALOGUE: tuple[type[Component], ...] = (
    # sources
    Bm25,
    FullText,
    GraphBoost,
    IntentEdges,
    Keyword,
    NearestVectors,
    PageRankPassages,
    # fusers
    Confirmatory,
    ReciprocalRank,
    Weighted,
    # stages
    CommunitySpread,
    CorpusBoost,
    CrossEncoder,
    Deferral,
    Freshness,
    Importance,
    Length,
    MetadataFilter,
    Minimum,
    Mmr,
    Noise,
    RecencyBoost,
    RemoteRerank,
    TimeDecay,
    # graph builders
    LinksBuilder,
    MentionsBuilder,
    MetadataBuilder,
    ServicesBuilder,
    TriplesBuilder,
    # embedders
    StaticEmbedder,
    SentenceTransformerEmbedder,
    Cascade,
)

for _component in CATALOGUE:
    register(_component)
for _entry_point in entry_points(group="hopweave.components"):
    try:
        register(_entry_point.load())
    except Exception as error:  # somebody else's package must not take ours down
        warnings.warn(f"hopweave goes on without {_entry_point.value}: {type(error).__name__}: {error}", stacklevel=2)
rebuild()
