"""Which Haystack component stands for which part of a recipe."""

from collections.abc import Mapping
from inspect import signature
from typing import Any

from haystack.utils import Secret

from haystack_integrations.components.builders.hopweave.assemble import CitedContextBuilder
from haystack_integrations.components.builders.hopweave.paths import FlowPruner
from haystack_integrations.components.builders.hopweave.service_neighbourhood import ServiceNeighbourhoodBuilder
from haystack_integrations.components.joiners.hopweave.confirmatory import ConfirmatoryJoiner
from haystack_integrations.components.joiners.hopweave.reciprocal_rank import ReciprocalRankJoiner
from haystack_integrations.components.joiners.hopweave.weighted import WeightedJoiner
from haystack_integrations.components.rankers.hopweave.community_spread import CommunitySpreadRanker
from haystack_integrations.components.rankers.hopweave.corpus_boost import CorpusBoostRanker
from haystack_integrations.components.rankers.hopweave.cross_encoder import CrossEncoderRanker
from haystack_integrations.components.rankers.hopweave.decay import TimeDecayRanker
from haystack_integrations.components.rankers.hopweave.deferral import DeferralRanker
from haystack_integrations.components.rankers.hopweave.freshness import FreshnessRanker
from haystack_integrations.components.rankers.hopweave.importance import ImportanceRanker
from haystack_integrations.components.rankers.hopweave.length import LengthRanker
from haystack_integrations.components.rankers.hopweave.metadata_filter import MetadataFilterRanker
from haystack_integrations.components.rankers.hopweave.minimum import MinimumRanker
from haystack_integrations.components.rankers.hopweave.mmr import MmrRanker
from haystack_integrations.components.rankers.hopweave.noise import NoiseRanker
from haystack_integrations.components.rankers.hopweave.recency_boost import RecencyBoostRanker
from haystack_integrations.components.rankers.hopweave.remote_rerank import RemoteRerankRanker
from haystack_integrations.components.retrievers.hopweave.bm25 import Bm25Retriever
from haystack_integrations.components.retrievers.hopweave.fts import FullTextRetriever
from haystack_integrations.components.retrievers.hopweave.keyword import KeywordRetriever
from haystack_integrations.components.retrievers.hopweave.neighbours import GraphBoostRetriever, IntentEdgesRetriever
from haystack_integrations.components.retrievers.hopweave.passages import PageRankRetriever
from haystack_integrations.components.retrievers.hopweave.vector import VectorRetriever
from haystack_integrations.components.routers.hopweave.gate import RetrievalGate
from haystack_integrations.components.routers.hopweave.intent import IntentRouter
from haystack_integrations.components.routers.hopweave.plan import RetrievalPlanner
from hopweave.component import Component
from hopweave.errors import RecipeError
from hopweave.stages.remote_rerank import RemoteRerank

NATIVE: Mapping[str, type] = {
    # routing
    "gate": RetrievalGate,
    "intent": IntentRouter,
    "plan": RetrievalPlanner,
    # sources
    "bm25": Bm25Retriever,
    "boost": GraphBoostRetriever,
    "full_text": FullTextRetriever,
    "intent_edges": IntentEdgesRetriever,
    "keyword": KeywordRetriever,
    "pagerank": PageRankRetriever,
    "vector": VectorRetriever,
    # fusers
    "confirmatory": ConfirmatoryJoiner,
    "reciprocal_rank": ReciprocalRankJoiner,
    "weighted": WeightedJoiner,
    # stages
    "community_spread": CommunitySpreadRanker,
    "corpus_boost": CorpusBoostRanker,
    "cross_encoder": CrossEncoderRanker,
    "deferral": DeferralRanker,
    "filter": MetadataFilterRanker,
    "freshness": FreshnessRanker,
    "importance": ImportanceRanker,
    "length": LengthRanker,
    "minimum": MinimumRanker,
    "mmr": MmrRanker,
    "noise": NoiseRanker,
    "recency_boost": RecencyBoostRanker,
    "remote_rerank": RemoteRerankRanker,
    "time_decay": TimeDecayRanker,
    # context
    "context": CitedContextBuilder,
    "flow_pruning": FlowPruner,
    "service_neighbourhood": ServiceNeighbourhoodBuilder,
}
"""Haystack components by the kind that recipes know them under."""


def to_component(part: Component, **others: Any) -> Any:
    """
    The Haystack component that does what a part of a recipe does.

    :param part: A source, fuser, stage, gate, classifier, planner, path pruner, neighbourhood or context builder of
        the core.
    :param others: What the component takes beside the part's own parameters, as far as it does: a knowledge base,
        names of sources, a number of documents.
    :returns: A new component.
    :raises RecipeError: If there is none.
    """
    if part.kind not in NATIVE:
        raise RecipeError(f"no Haystack component for kind {part.kind!r}; there are {', '.join(sorted(NATIVE))}")
    kind = NATIVE[part.kind]
    taken = signature(kind.__init__).parameters
    values = {name: value for name, value in part if name in taken and name != "api_key"}
    plain = {
        name: value.model_dump(mode="json") if isinstance(value, Component) else value for name, value in values.items()
    }
    if isinstance(part, RemoteRerank):
        plain["api_key"] = _secret(part)
    return kind(**plain | {name: value for name, value in others.items() if name in taken})


def _secret(part: RemoteRerank) -> Secret | None:
    if part.api_key is not None:
        return Secret.from_token(part.api_key.get_secret_value())
    return Secret.from_env_var(part.api_key_env, strict=False) if part.api_key_env else None
