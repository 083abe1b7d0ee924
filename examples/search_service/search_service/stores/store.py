"""What the service asks of a place of documents."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from hopweave import Document, Hit, Query
from hopweave.knowledge import Knowledge
from hopweave.knowledge_base.documents import Added
from hopweave.query import Intent
from search_service.messages import Method, Part


class Answer(NamedTuple):
    """What a store found: hits, the probability that the answer is among them, and seconds and failures by source."""

    hits: Sequence[Hit]
    confidence: float | None
    intent: Intent | None
    timings: Mapping[str, float]
    failures: Mapping[str, str]


class Store(Protocol):
    """One knowledge base. All methods may be called by several threads and processes at once."""

    @property
    def version(self) -> int:
        """Grows with every write, whichever process made it."""
        ...

    @property
    def absent(self) -> Collection[str]:
        """Sources that there is nothing to search for: `text` or `vector`."""
        ...

    @property
    def knowledge(self) -> Knowledge | None:
        """What stages may ask, if it can be asked."""
        ...

    def search(
        self, query: Query, method: Method, *, expand_graph: bool, top_k: int, stopped: Callable[[], bool]
    ) -> Answer:
        """Run the recipe."""
        ...

    def put(self, documents: Sequence[Document]) -> Added:
        """Add documents, or replace those that differ; when it returns, every search finds them."""
        ...

    def delete(self, ids: Sequence[str], tenant: Mapping[str, Any]) -> int:
        """Remove those of the documents that a tenant may see; says how many there were."""
        ...

    def delete_source(self, source: str, tenant: Mapping[str, Any]) -> int:
        """Remove all documents of a source that a tenant may see; says how many there were."""
        ...

    def hidden(self, ids: Sequence[str], tenant: Mapping[str, Any]) -> set[str]:
        """Those of the ids that documents have which a tenant may not see."""
        ...

    def count(self) -> int:
        """How many documents there are."""
        ...

    def compact(self) -> None:
        """Write index images if there are none, or if much has changed."""
        ...

    def changed_share(self) -> float:
        """The share of the index that has changed since it was last compacted."""
        ...

    def health(self) -> dict[str, Part]:
        """The parts of the store, one by one."""
        ...

    def close(self) -> None:
        """Let go of files and connections."""
        ...
