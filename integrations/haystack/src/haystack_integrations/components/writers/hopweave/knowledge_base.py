"""Indexing: documents into a knowledge base file, with everything that is needed to find them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from haystack import Document, component, logging
from haystack.dataclasses import ByteStream
from haystack.document_stores.types import DocumentStore

from haystack_integrations.common.hopweave.derived import CoreComponent, derived
from haystack_integrations.common.hopweave.documents import check_documents, to_passage
from haystack_integrations.common.hopweave.indexing_run import sources_named, whole_store, with_source
from haystack_integrations.common.hopweave.knowledge_settings import (
    ANALYZERS,
    BATCH_SIZE,
    BUILDERS,
    EMBEDDER,
    MAX_DELETED,
    OWN_SHARE,
    SOURCE_FIELD,
    Described,
    open_for_writing,
)
from haystack_integrations.common.hopweave.settings import KNOWLEDGE_BASE_FILE, OWN_TENANT, Setting
from hopweave.knowledge_base.file_path import FilePath
from hopweave.knowledge_base.indexing_run import write_run
from hopweave.stages.filter.noise import without_noise

logger = logging.getLogger(__name__)

OnConflict = Literal["replace", "skip", "fail"]
"""What to do about ids that are taken."""


@derived()
class KnowledgeBaseWriter(CoreComponent):
    """
    Writes documents, their vectors, terms and graph to a knowledge base file.

    Writing what has not changed costs next to nothing, and writing a document again replaces all that was derived from
    it. Who finds the entities in a text can be exchanged: register spaCy, GLiNER, an LLM or any function with
    `hopweave.graph.build.builders.mentions.register_extractor` and name it in `builders`, as in
    `builders=[{"kind": "mentions", "extractor": "my extractor"}]`. What an extractor in front of this component puts
    into a document's meta becomes nodes and edges through the builder `metadata`.

    ```python
    from haystack import Document
    from haystack_integrations.components.writers.hopweave import KnowledgeBaseWriter

    writer = KnowledgeBaseWriter(knowledge_base="hopweave.db")
    writer.run(documents=[Document(content="The Skua was built at Sørvåg.", meta={"title": "MV Skua"})])
    ```
    """

    settings = (
        KNOWLEDGE_BASE_FILE,
        replace(
            EMBEDDER,
            description=f'{EMBEDDER.description} "auto" is "static", or None if the first documents bring '
            "embeddings of another model.",
            default="auto",
        ),
        ANALYZERS,
        BUILDERS,
        OWN_SHARE,
        Setting("on_conflict", OnConflict, "What to do about ids that are taken: replace, skip or fail.", "replace"),
        SOURCE_FIELD,
        Setting(
            "skip_noise",
            bool,
            "Whether to leave out greetings, denials, questions about memory and session messages, as the stage "
            "`noise` knows them. What was written under their ids before is deleted if `on_conflict` is replace.",
            False,
        ),
        BATCH_SIZE,
        replace(
            OWN_TENANT,
            description="Metadata values that all documents written here have, where tenants share a file. Then only "
            "those of the tenant are replaced or deleted; without, a source replaces one of the same name of another "
            "tenant.",
        ),
        MAX_DELETED,
        Setting(
            "embedding_model",
            str | None,
            "The name of the model that made the embeddings of the documents, which a file that keeps them as given "
            "remembers. Without it, some are made again, and those of another model are refused as far as that shows.",
            None,
        ),
    )

    knowledge_base: str
    embedder: Described | None
    analyzers: list[str] | None
    builders: list[Described] | None
    own_share: float | None
    on_conflict: OnConflict
    source_field: str | None
    skip_noise: bool
    batch_size: int
    tenant: dict[str, Any] | None
    max_deleted_share: float
    embedding_model: str | None

    def _hold(self, _core: Any) -> None:
        """Create the writer; the file is opened when documents are written."""
        self._file = FilePath(self.knowledge_base)

    @component.output_types(documents_written=int, unchanged=int, deleted=int, skipped=dict[str, str])
    def run(
        self,
        documents: list[Document],
        on_conflict: OnConflict | None = None,
        complete: bool = False,
        sources: list[str | Path | ByteStream] | None = None,
        max_deleted_share: float | None = None,
    ) -> dict[str, Any]:
        """
        Write documents.

        :param documents: The documents.
        :param on_conflict: What to do about ids that are taken, instead of what was given at construction. Documents
            with a source always replace what is there.
        :param complete: Whether these are all the documents there are, or all of the tenant; any other is deleted then.
            Nothing is written or deleted if that were all, or more than `max_deleted_share`.
        :param sources: Sources that were read, as the converter got them, with `source_field`: what one had before is
            deleted if no document comes from it any more, as from a file that is empty now.
        :param max_deleted_share: Instead of what was given at construction.
        :returns: `documents_written`, those added or replaced, `unchanged`, and `deleted`; and `skipped`, the ids of
            documents that are noise with the reasons, if these are left out.
        :raises ValueError: If it is not a list of documents.
        """
        check_documents(documents)
        policy = self.on_conflict if on_conflict is None else on_conflict
        skipped: dict[str, str] = {}
        passages = [with_source(to_passage(one), self.source_field) for one in documents]
        if self.skip_noise:
            passages = list(without_noise(passages, skipped))
        with open_for_writing(
            self._file.absolute(), self.embedder, self.analyzers, self.builders, passages, self.own_share
        ) as file:
            done = write_run(
                file,
                passages,
                source_field=self.source_field or "",
                empty_sources=sources_named(sources, self.source_field),
                complete=complete,
                max_deleted_share=self.max_deleted_share if max_deleted_share is None else max_deleted_share,
                on_conflict=policy,
                batch_size=self.batch_size,
                progress=self._progress(len(passages)),
                vectors_of=self.embedding_model,
                scope={"tenant": self.tenant},
            )
            gone = file.delete(skipped, tenant=self.tenant) if skipped and policy == "replace" else 0
        for key, rule in skipped.items():
            logger.warning("document '{key}' is not written: it is noise ({rule})", key=key, rule=rule)
        return {
            "documents_written": done.added + done.updated,
            "unchanged": done.unchanged,
            "deleted": done.removed + gone,
            **({"skipped": skipped} if self.skip_noise else {}),
        }

    def mirror(self, document_store: DocumentStore) -> dict[str, Any]:
        """
        Bring the file in line with a store that you already have.

        All documents are read, but what has not changed is not written again. A store that lists fewer documents than
        it counts is refused, and nothing is written or deleted.

        :param document_store: The document store.
        :returns: What `run` returns.
        """
        return self.run(**whole_store(document_store, self.max_deleted_share))

    def _progress(self, total: int) -> Callable[[int], None]:
        """A function that logs how far the writing has come, batch by batch."""
        done = 0

        def progress(batch: int) -> None:
            nonlocal done
            done += batch
            logger.info("{done} of {total} documents in {path}", done=done, total=total, path=self.knowledge_base)

        return progress
