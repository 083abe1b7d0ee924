"""What all rankers share: documents in, one stage of the core, documents out."""

from pathlib import Path
from typing import Any, ClassVar

from haystack import Document, component

from haystack_integrations.common.hopweave.documents import check_documents, to_document, to_hit
from haystack_integrations.common.hopweave.failures import report_failures
from haystack_integrations.common.hopweave.knowledge_file import KnowledgeFile
from haystack_integrations.common.hopweave.parameters import NamedParameters, overridden, written
from haystack_integrations.common.hopweave.questions import Skip, to_query
from haystack_integrations.common.hopweave.tracing import tag
from hopweave import Hit, KnowledgeBase, Query
from hopweave.component import Stage, Staged
from hopweave.scores import first


class StageRanker(NamedParameters):
    """Base class of rankers; a component derives from it and adds its constructor."""

    reads_vectors: ClassVar[bool] = False

    def __init__(self, stage: Stage, *, top_k: int | None = None, knowledge_base: str | Path | None = None) -> None:
        """
        Hold a stage.

        :param stage: The stage of the core.
        :param top_k: How many documents to return, all of them when not given.
        :param knowledge_base: Path of a knowledge base file that the stage may ask.
        """
        first([], top_k)
        self.stage = stage
        self.top_k = top_k
        self.knowledge_base = None if knowledge_base is None else str(knowledge_base)
        self._file = KnowledgeFile(knowledge_base) if knowledge_base else None

    def warm_up(self) -> None:
        """Open the knowledge base, if there is one."""
        if self._file:
            self._file.open()

    def close(self) -> None:
        """Let go of the knowledge base."""
        if self._file:
            self._file.close()

    def to_dict(self) -> dict[str, Any]:
        """
        The component as serialised data.

        :returns: Its type and the parameters of its constructor.
        """
        return written(self, self.stage, top_k=self.top_k, knowledge_base=self.knowledge_base)

    @component.output_types(documents=list[Document], failures=dict[str, str])
    def run(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: Skip = None,
    ) -> dict[str, Any]:
        """
        Rescore, reorder or drop documents.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and, if the stage failed and is
            optional or has something to fall back on, `failures` with the reason.
        """
        return self._rank(documents, query, top_k, overrides, skip=skip)

    @component.output_types(documents=list[Document], failures=dict[str, str])
    async def run_async(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: Skip = None,
    ) -> dict[str, Any]:
        """
        Rescore, reorder or drop documents without blocking the event loop.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and, if the stage failed and is
            optional or has something to fall back on, `failures` with the reason.
        """
        return await self._rank_async(documents, query, top_k, overrides, skip=skip)

    def _rank(self, documents: list[Document], *arguments: Any, **question: Any) -> dict[str, Any]:
        stage, asked, knowledge, top_k = self._prepare(*arguments, **question)
        return self._finish(stage.attempt(self._hits(documents), asked, knowledge), top_k)

    async def _rank_async(self, documents: list[Document], *arguments: Any, **question: Any) -> dict[str, Any]:
        stage, asked, knowledge, top_k = self._prepare(*arguments, **question)
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
