"""hopweave's stages as node postprocessors for LlamaIndex."""

from llama_index.postprocessor.hopweave.community_spread import CommunitySpreadPostprocessor
from llama_index.postprocessor.hopweave.corpus_boost import CorpusBoostPostprocessor
from llama_index.postprocessor.hopweave.cross_encoder import CrossEncoderPostprocessor
from llama_index.postprocessor.hopweave.decay import TimeDecayPostprocessor
from llama_index.postprocessor.hopweave.deferral import DeferralPostprocessor
from llama_index.postprocessor.hopweave.freshness import FreshnessPostprocessor
from llama_index.postprocessor.hopweave.importance import ImportancePostprocessor
from llama_index.postprocessor.hopweave.length import LengthPostprocessor
from llama_index.postprocessor.hopweave.metadata_filter import MetadataFilterPostprocessor
from llama_index.postprocessor.hopweave.minimum import MinimumPostprocessor
from llama_index.postprocessor.hopweave.mmr import MmrPostprocessor
from llama_index.postprocessor.hopweave.noise import NoisePostprocessor
from llama_index.postprocessor.hopweave.recency_boost import RecencyBoostPostprocessor
from llama_index.postprocessor.hopweave.recipe import postprocessor_for
from llama_index.postprocessor.hopweave.remote_rerank import RemoteRerankPostprocessor

__all__ = [
    "CommunitySpreadPostprocessor",
    "CorpusBoostPostprocessor",
    "CrossEncoderPostprocessor",
    "DeferralPostprocessor",
    "FreshnessPostprocessor",
    "ImportancePostprocessor",
    "LengthPostprocessor",
    "MetadataFilterPostprocessor",
    "MinimumPostprocessor",
    "MmrPostprocessor",
    "NoisePostprocessor",
    "RecencyBoostPostprocessor",
    "RemoteRerankPostprocessor",
    "TimeDecayPostprocessor",
    "postprocessor_for",
]
