"""What all rankers share: documents in, one stage of the core, documents out."""

from dataclasses import replace
from typing import Any, ClassVar

from haystack import Document

from haystack_integrations.common.hopweave.documents import check_documents, to_document, to_hit
from haystack_integrations.common.hopweave.inputs import DOCUMENTS, OVERRIDES, QUERY_IF_ANY, SKIP, TOP_K, Input
from haystack_integrations.common.hopweave.knowledge_file import OverKnowledge
from haystack_integrations.common.hopweave.parameters import overridden
from haystack_integrations.common.hopweave.questions import to_query
from haystack_integrations.common.hopweave.settings import KNOWLEDGE_BASE, OWN_TOP_K, Setting
from haystack_integrations.common.hopweave.tracing import report
from hopweave import Hit, KnowledgeBase, Query
from hopweave.component import Stage, Staged
from hopweave.scores import first


class StageRanker(OverKnowledge):
    """Base class of rankers."""

    reads_vectors: ClassVar[bool] = False
    inputs: ClassVar[tuple[Input, ...]] = (DOCUMENTS, QUERY_IF_ANY, TOP_K, OVERRIDES, SKIP)
    outputs: ClassVar[dict[str, Any]] = {"documents": list[Document], "failures": dict[str, str]}

    settings: ClassVar[tuple[Setting, ...]] = (OWN_TOP_K,)

    stage: Stage
    top_k: int | None

    def _hold(self, stage: Stage) -> None:
        """Create the ranker; a knowledge base is opened on first use."""
        self.stage = stage
        if self.knowledge_base:
            self._file = self._located()

    def _run(self, documents: list[Document], **inputs: Any) -> dict[str, Any]:
        """
        Rescore, reorder or drop documents.

        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and, if the stage failed and is
            optional or has something to fall back on, `failures` with the reason.
        """
        stage, asked, knowledge, top_k = self._prepare(**inputs)
        return self._finish(stage.attempt(self._hits(documents), asked, knowledge), top_k)

    async def _run_async(self, documents: list[Document], **inputs: Any) -> dict[str, Any]:
        stage, asked, knowledge, top_k = self._prepare(**inputs)
        return self._finish(await stage.attempt_async(self._hits(documents), asked, knowledge), top_k)

    def _hits(self, documents: list[Document]) -> list[Hit]:
        check_documents(documents)
        return [to_hit(one, vector=self.reads_vectors) for one in documents]

    def _prepare(
        self, query: str, top_k: int | None, overrides: dict[str, Any] | None, **question: Any
    ) -> tuple[Stage, Query, KnowledgeBase | None, int | None]:
        own = {"top_k": top_k} if "top_k" in type(self.stage).model_fields else {}
        knowledge = self._file.open() if self._file else None
        return overridden(self.stage, overrides, **own), to_query(query, **question), knowledge, top_k

    def _finish(self, staged: Staged, top_k: int | None) -> dict[str, Any]:
        hits = first(staged.hits, self.top_k if top_k is None else top_k)
        failures = {} if staged.failure is None else {self.stage.kind: staged.failure}
        failed = report(self, self.stage.kind, hits, failures)
        return {"documents": [to_document(hit) for hit in hits], **failed}


class KnowledgeRanker(StageRanker):
    """Base class of rankers that ask a knowledge base for what documents do not carry themselves."""

    settings: ClassVar[tuple[Setting, ...]] = (
        replace(
            KNOWLEDGE_BASE, description="Path of a knowledge base file, for what the documents do not carry themselves."
        ),
        *StageRanker.settings,
    )
