"""Late materialisation: sources rank documents by their ids, and only those that are returned are read."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from hopweave.component import Source
from hopweave.errors import KnowledgeBaseError
from hopweave.hit import Hit, Vector
from hopweave.knowledge import Capability, Knowledge, Ranking


def can_materialise_late(knowledge: Knowledge, sources: Iterable[Source]) -> bool:
    """Whether none of the sources reads what it ranks, and the knowledge still has the documents that were ranked."""
    return {Capability.ONE_VERSION, Capability.TENANTS} <= knowledge.capabilities and not any(
        source.reads_documents for source in sources
    )


def without_text(knowledge: Knowledge) -> Knowledge:
    """The same place, except that `get` returns hits without text and metadata."""
    return cast(Knowledge, _WithoutText(knowledge))


def materialise(hits: Sequence[Hit], knowledge: Knowledge, tenant: Mapping[str, Any] | None) -> list[Hit]:
    """Hits with the texts and metadata of their documents.

    >>> from hopweave import Document, KnowledgeBase
    >>> with KnowledgeBase.open() as kb:
    ...     _ = kb.add([Document("skua", "The Skua is a ferry.")])
    ...     hits = list(without_text(kb).get(["skua", "lost"]).values())
    ...     [(hit.id, hit.text) for hit in hits], materialise(hits, kb, None)[0].text
    ([('skua', '')], 'The Skua is a ferry.')
    """
    documents = knowledge.get([hit.id for hit in hits], tenant=tenant)
    if lost := [hit.id for hit in hits if hit.id not in documents]:
        raise KnowledgeBaseError(f"document {lost[0]!r} was ranked and is not there; hopweave check tells more")
    return [hit._replace(text=documents[hit.id].text, metadata=documents[hit.id].metadata) for hit in hits]


class _WithoutText:
    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self._there: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._knowledge, name)

    def rank_text(self, terms: Mapping[str, float], **options: Any) -> Ranking:
        return self._noted(self._knowledge.rank_text(terms, **options))

    def rank_vectors(self, vector: Vector, **options: Any) -> Ranking:
        return self._noted(self._knowledge.rank_vectors(vector, **options))

    def get(self, ids: Iterable[str], *, tenant: Mapping[str, Any] | None = None) -> dict[str, Hit]:
        wanted, there = list(ids), self._there
        if unknown := [key for key in wanted if key not in there]:
            there.update(self._knowledge.visible(tenant or {}, unknown))
        return {key: Hit(key) for key in wanted if key in there}

    def _noted(self, ranking: Ranking) -> Ranking:
        """What the knowledge itself ranks is there, and visible."""
        self._there.update(key for key, _ in ranking)
        return ranking
