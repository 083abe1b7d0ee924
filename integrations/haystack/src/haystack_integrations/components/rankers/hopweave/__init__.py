"""hopweave's rankers for Haystack: each rescores, reorders or drops documents."""

from haystack_integrations.components.rankers.hopweave.community_spread import CommunitySpreadRanker
from haystack_integrations.components.rankers.hopweave.confidence_threshold import ConfidenceThresholdRanker
from haystack_integrations.components.rankers.hopweave.corpus_boost import CorpusBoostRanker
from haystack_integrations.components.rankers.hopweave.cosine_rerank import CosineRerankRanker
from haystack_integrations.components.rankers.hopweave.cross_encoder import CrossEncoderRanker
from haystack_integrations.components.rankers.hopweave.deferral import DeferralRanker
from haystack_integrations.components.rankers.hopweave.freshness import FreshnessRanker
from haystack_integrations.components.rankers.hopweave.importance import ImportanceRanker
from haystack_integrations.components.rankers.hopweave.length import LengthRanker
from haystack_integrations.components.rankers.hopweave.metadata_filter import MetadataFilterRanker
from haystack_integrations.components.rankers.hopweave.mmr import MMRRanker
from haystack_integrations.components.rankers.hopweave.noise import NoiseRanker
from haystack_integrations.components.rankers.hopweave.recency_boost import RecencyBoostRanker
from haystack_integrations.components.rankers.hopweave.remote_rerank import RemoteRerankRanker
from haystack_integrations.components.rankers.hopweave.score_threshold import ScoreThresholdRanker
from haystack_integrations.components.rankers.hopweave.time_decay import TimeDecayRanker

__all__ = [
    "CommunitySpreadRanker",
    "ConfidenceThresholdRanker",
    "CorpusBoostRanker",
    "CosineRerankRanker",
    "CrossEncoderRanker",
    "DeferralRanker",
    "FreshnessRanker",
    "ImportanceRanker",
    "LengthRanker",
    "MMRRanker",
    "MetadataFilterRanker",
    "NoiseRanker",
    "RecencyBoostRanker",
    "RemoteRerankRanker",
    "ScoreThresholdRanker",
    "TimeDecayRanker",
]
