# Written by `make fix`.
from llama_index.postprocessor.hopweave.community_spread import CommunitySpreadPostprocessor
from llama_index.postprocessor.hopweave.confidence_threshold import ConfidenceThresholdPostprocessor
from llama_index.postprocessor.hopweave.corpus_boost import CorpusBoostPostprocessor
from llama_index.postprocessor.hopweave.cosine_rerank import CosineRerankPostprocessor
from llama_index.postprocessor.hopweave.cross_encoder import CrossEncoderPostprocessor
from llama_index.postprocessor.hopweave.deferral import DeferralPostprocessor
from llama_index.postprocessor.hopweave.flow_pruning import FlowPruningPostprocessor
from llama_index.postprocessor.hopweave.freshness import FreshnessPostprocessor
from llama_index.postprocessor.hopweave.importance import ImportancePostprocessor
from llama_index.postprocessor.hopweave.length import LengthPostprocessor
from llama_index.postprocessor.hopweave.metadata_filter import MetadataFilterPostprocessor
from llama_index.postprocessor.hopweave.mmr import MMRPostprocessor
from llama_index.postprocessor.hopweave.noise import NoisePostprocessor
from llama_index.postprocessor.hopweave.recency_boost import RecencyBoostPostprocessor
from llama_index.postprocessor.hopweave.recipe import postprocessor_for
from llama_index.postprocessor.hopweave.remote_rerank import RemoteRerankPostprocessor
from llama_index.postprocessor.hopweave.score_threshold import ScoreThresholdPostprocessor
from llama_index.postprocessor.hopweave.service_neighbourhood import ServiceNeighbourhoodPostprocessor
from llama_index.postprocessor.hopweave.time_decay import TimeDecayPostprocessor

__all__ = [
    "CommunitySpreadPostprocessor",
    "ConfidenceThresholdPostprocessor",
    "CorpusBoostPostprocessor",
    "CosineRerankPostprocessor",
    "CrossEncoderPostprocessor",
    "DeferralPostprocessor",
    "FlowPruningPostprocessor",
    "FreshnessPostprocessor",
    "ImportancePostprocessor",
    "LengthPostprocessor",
    "MMRPostprocessor",
    "MetadataFilterPostprocessor",
    "NoisePostprocessor",
    "RecencyBoostPostprocessor",
    "RemoteRerankPostprocessor",
    "ScoreThresholdPostprocessor",
    "ServiceNeighbourhoodPostprocessor",
    "TimeDecayPostprocessor",
    "postprocessor_for",
]
