"""Reranking by a service on the network, which may be slow, wrong or away."""

from pathlib import Path
from typing import Any, ClassVar

from haystack import component
from haystack.utils import Secret

from haystack_integrations.common.hopweave.parameters import written
from haystack_integrations.components.rankers.hopweave.question_vector_ranker import QuestionVectorRanker
from haystack_integrations.components.rankers.hopweave.stage_ranker import StageRanker
from hopweave import KnowledgeBase, Query
from hopweave.component import Stage
from hopweave.stages.rerank.remote_rerank import RemoteRerank

_CORE = RemoteRerank()


@component
class RemoteRerankRanker(QuestionVectorRanker):
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

    reads_vectors: ClassVar[bool] = True

    def __init__(
        self,
        *,
        provider: str = _CORE.provider,
        model: str | None = _CORE.model,
        url: str | None = _CORE.url,
        api_key: Secret | None = None,
        deadline_seconds: float = _CORE.deadline_seconds,
        max_retries: int = _CORE.max_retries,
        candidates: int = _CORE.candidates,
        blend: float = _CORE.blend,
        unreturned_factor: float = _CORE.unreturned_factor,
        cosine_share: float = _CORE.cosine_share,
        include_title: bool = _CORE.include_title,
        reply_scale: str | None = _CORE.reply_scale,
        parameters: dict[str, Any] = _CORE.parameters,
        optional: bool = False,
        top_k: int | None = None,
        knowledge_base: str | Path | None = None,
    ) -> None:
        """
        Create the ranker.

        :param provider: Format of request and reply: cohere, jina, pinecone, siliconflow, tei, vllm, voyage, one that
            was registered, or generic, the common /rerank format.
        :param model: Model name; the provider's default if not given.
        :param url: URL of the endpoint; the provider's own if not given.
        :param api_key: The key; read from the provider's usual environment variable if neither this nor `url` is
            given.
        :param deadline_seconds: Hard limit for all attempts together.
        :param max_retries: Further attempts after 429, 5xx or a broken connection.
        :param candidates: How many documents, from the top, are sent.
        :param blend: Share of the service's score; the rest is the original score.
        :param unreturned_factor: Factor for documents that the service did not return.
        :param cosine_share: Share of the cosine when the service fails.
        :param include_title: Whether to send the title in the metadata, too.
        :param reply_scale: Scale of the scores (unit or logit); by default that of the provider.
        :param parameters: Additional fields of the request body.
        :param optional: Go on with the documents as they were if this stage fails.
        :param top_k: How many documents to return, all of them when not given.
        :param knowledge_base: Path of a knowledge base file, for what the documents do not carry themselves.
        """
        stage = RemoteRerank(
            optional=optional,
            provider=provider,
            model=model,
            url=url,
            deadline_seconds=deadline_seconds,
            max_retries=max_retries,
            candidates=candidates,
            blend=blend,
            unreturned_factor=unreturned_factor,
            cosine_share=cosine_share,
            include_title=include_title,
            reply_scale=reply_scale,
            parameters=parameters,
        )
        if api_key is not None and not isinstance(api_key, Secret):
            raise ValueError("api_key: must be a Secret, as Secret.from_env_var('JINA_API_KEY'), but got another type")
        StageRanker.__init__(self, stage, top_k=top_k, knowledge_base=knowledge_base)
        self.api_key = api_key

    def to_dict(self) -> dict[str, Any]:
        """
        The component as serialised data, with the name of the key's variable but never the key.

        :returns: Its type and the parameters of its constructor.
        """
        return written(self, self.stage, api_key=self.api_key, top_k=self.top_k, knowledge_base=self.knowledge_base)

    def _prepare(
        self, query: str, top_k: int | None, overrides: dict[str, Any] | None, **question: Any
    ) -> tuple[Stage, Query, KnowledgeBase | None, int | None]:
        # the key is looked up when it is needed, so that a pipeline loads without it
        key = {"api_key": self.api_key.resolve_value()} if self.api_key else {}
        return StageRanker._prepare(self, query, top_k, {**key, **(overrides or {})}, **question)
