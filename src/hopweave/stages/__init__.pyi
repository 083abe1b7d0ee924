# Written by `python -m hopweave.exports` from the catalogue.
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

__all__ = [
    "MMR",
    "CommunitySpread",
    "ConfidenceThreshold",
    "CorpusBoost",
    "CosineRerank",
    "CrossEncoder",
    "Deferral",
    "Freshness",
    "Importance",
    "Length",
    "MetadataFilter",
    "Noise",
    "RecencyBoost",
    "RemoteRerank",
    "ScoreThreshold",
    "TimeDecay",
]
