"""What all rankers share: documents in, one stage of the core, documents out."""

from pathlib import Path
from typing import Any, ClassVar

from haystack import Document

from haystack_integrations.common.hopweave.derived import CoreComponent
from haystack_integrations.common.hopweave.documents import check_documents, to_document, to_hit
from haystack_integrations.common.hopweave.failures import report_failures
from haystack_integrations.common.hopweave.inputs import DOCUMENTS, OVERRIDES, QUERY_IF_ANY, SKIP, TOP_K, Input
from haystack_integrations.common.hopweave.knowledge_file import KnowledgeFile
from haystack_integrations.common.hopweave.parameters import overridden
from haystack_integrations.common.hopweave.questions import to_query
from haystack_integrations.common.hopweave.tracing import tag
from hopweave import Hit, KnowledgeBase, Query
from hopweave.component import Stage, Staged
from hopweave.scores import first


class StageRanker(CoreComponent):
    """Base class of rankers."""

    reads_vectors: ClassVar[bool] = False
    inputs: ClassVar[tuple[Input, ...]] = (DOCUMENTS, QUERY_IF_ANY, TOP_K, OVERRIDES, SKIP)
    outputs: ClassVar[dict[str, Any]] = {"documents": list[Document], "failures": dict[str, str]}

    stage: Stage
    top_k: int | None
    _file: KnowledgeFile | None = None

    def _hold(self, stage: Stage, *, top_k: int | None = None) -> None:
        """
        Create the ranker.

        :param stage: The stage of the core.
        :param top_k: How many documents to return, all of them when not given.
        """
        first([], top_k)
        self.stage = stage
        self.top_k = top_k

    def warm_up(self) -> None:
        """Open the knowledge base, if there is one."""
        if self._file:
            self._file.open()

    def close(self) -> None:
        """Let go of the knowledge base."""
        if self._file:
            self._file.close()

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
        tag(self.stage.kind, hits, **{f"failed.{name}": why for name, why in failures.items()})
        found = {"documents": [to_document(hit) for hit in hits]}
        return {**found, "failures": report_failures(self, failures)} if failures else found


class KnowledgeRanker(StageRanker):
    """Base class of rankers that ask a knowledge base for what documents do not carry themselves."""

    knowledge_base: str | None

    def _hold(self, stage: Stage, *, top_k: int | None = None, knowledge_base: str | Path | None = None) -> None:
        """
        Create the ranker.

        :param stage: The stage of the core.
        :param top_k: How many documents to return, all of them when not given.
        :param knowledge_base: Path of a knowledge base file, for what the documents do not carry themselves.
        """
        super()._hold(stage, top_k=top_k)
        self.knowledge_base = None if knowledge_base is None else str(knowledge_base)
        self._file = KnowledgeFile(knowledge_base) if knowledge_base else None
