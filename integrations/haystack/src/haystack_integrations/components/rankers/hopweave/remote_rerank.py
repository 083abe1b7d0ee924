"""Reranking by a service on the network, which may be slow, wrong or away."""

from typing import Any

from haystack.utils import Secret

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.common.hopweave.inputs import QUERY_EMBEDDING
from haystack_integrations.common.hopweave.settings import api_key
from haystack_integrations.components.rankers.hopweave.stage_ranker import KnowledgeRanker
from hopweave import KnowledgeBase, Query
from hopweave.component import Stage
from hopweave.stages.rerank.remote_rerank import RemoteRerank


@derived(RemoteRerank, without=("api_key", "api_key_env"))
class RemoteRerankRanker(KnowledgeRanker):
    """
    Asks a rerank service and blends its scores with the original ones; without an answer, carries on.

    score = blend * reranked + (1 - blend) * original, with originals on [0, 1]. Documents the service did not return,
    or was not asked about, get `unreturned_factor` * original. If the service fails or misses the deadline:
    (1 - cosine_share) * original + cosine_share * cosine(question, document), as far as there are vectors, else the
    order and scores as they were. A document without an original score takes what there is. Receipts say what happened
    and why. Needs the extra `hopweave[remote]`.

    The key is never written, logged or shown.

    ```python
    from haystack import Document
    from haystack_integrations.components.rankers.hopweave import RemoteRerankRanker

    ranker = RemoteRerankRanker(provider="jina")
    documents = [Document(content="The Skua sails hourly.", score=0.8)]
    result = ranker.run(documents=documents, query="Why is the ferry down?")["documents"]
    ```
    """

    reads_vectors = True
    settings = (*KnowledgeRanker.settings, api_key("JINA_API_KEY"))
    inputs = (*KnowledgeRanker.inputs, QUERY_EMBEDDING)

    api_key: Secret | None

    def _prepare(
        self, query: str, top_k: int | None, overrides: dict[str, Any] | None, **question: Any
    ) -> tuple[Stage, Query, KnowledgeBase | None, int | None]:
        # the key is looked up when it is needed, so that a pipeline loads without it
        key = {"api_key": self.api_key.resolve_value()} if self.api_key else {}
        return KnowledgeRanker._prepare(self, query, top_k, {**key, **(overrides or {})}, **question)
