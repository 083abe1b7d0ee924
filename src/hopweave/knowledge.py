"""Knowledge: the interface to documents, wherever they are kept, and its capabilities.

Knowledge declares its capabilities. A component that needs one asks for it with `require`, so that an error names the
component, what it needs and what there is, and nothing is read to find that out.
"""

# ruff: noqa: ARG002 - a method of a missing capability raises, whatever the arguments

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from hopweave.errors import MissingCapability
from hopweave.hit import Hit, Vector
from hopweave.scores import ScoreDistribution, Tail

if TYPE_CHECKING:
    from hopweave.graph.port import GraphPort
    from hopweave.metadata.filters import Filters

Ranking = list[tuple[str, float]]
"""Ids and scores, best first."""


class ScoredRanking(list[tuple[str, float]]):
    """A ranking by knowledge that has scored all its documents: `distribution` says how their scores lie.

    Knowledge may return it wherever a ranking is asked for; fusion then trusts a source more if its best hit stands out
    from all documents.

    >>> ScoredRanking([("a", 2.0)], ScoreDistribution(documents=4, mean=0.5, deviation=0.9)).distribution.documents
    4
    """

    def __init__(self, pairs: Iterable[tuple[str, float]], distribution: ScoreDistribution) -> None:
        super().__init__(pairs)
        self.distribution = distribution


def above_chance(ranking: Ranking, *, tail: Tail) -> dict[str, Any]:
    """What a source should say of its ranking in its receipts: how far the best hit is above what chance gives.

    With it come mean and deviation of the scores of all documents. Nothing if the ranking has no distribution of
    scores; without the ratio if there is none (`ScoreDistribution.above_chance`).

    >>> scores = ScoreDistribution(documents=20, mean=0.5, deviation=0.5)
    >>> above_chance(ScoredRanking([("a", 2.0)], scores), tail="exponential")
    {'above_chance': 1.001, 'mean': 0.5, 'deviation': 0.5}
    >>> above_chance([("a", 2.0)], tail="exponential")
    {}
    """
    if not ranking or not isinstance(ranking, ScoredRanking):
        return {}
    _, mean, deviation = lies = ranking.distribution
    ratio = lies.above_chance(ranking[0][1], tail=tail)
    known = {} if ratio is None else {"above_chance": round(ratio, 3)}
    return {**known, "mean": mean, "deviation": deviation}


class Evidence(NamedTuple):
    """What one kind of evidence says of candidates: their scores by id, and how the scores of all lie.

    `share` is how much it may say in this corpus, in [0, 1].
    """

    scores: Mapping[str, float]
    distribution: ScoreDistribution
    share: float = 1.0


class Capability(StrEnum):
    """Something that knowledge may be able to do.

    >>> Capability.FULL_TEXT.value
    'full_text'
    """

    WORDS = "words"
    """Ranks documents by BM25 over words: `rank_text`, `rank_words`."""
    FULL_TEXT = "full_text"
    """Ranks documents by a full-text expression: `rank_full_text`."""
    VECTORS = "vectors"
    """Ranks documents by their vectors: `rank_vectors`."""
    SMOOTHED_VECTORS = "smoothed_vectors"
    """Ranks documents by vectors blended with those of neighbours in the graph: `rank_smoothed`."""
    SCORES = "scores"
    """Scores candidates that others have found: `score_text`, `score_vectors`, `score_documents`."""
    EMBEDDER = "embedder"
    """Makes the vector of a question: `embed`."""
    TEXT_EMBEDDER = "text_embedder"
    """Makes vectors for hits that have none: `embed_texts`."""
    WORD_VECTORS = "word_vectors"
    """Wants hits without a vector to be compared by their words."""
    GRAPH = "graph"
    """Has a graph of its documents: `graph`."""
    COMMUNITIES = "communities"
    """Knows the community that a document belongs to: `communities`."""
    TENANTS = "tenants"
    """Shows a tenant its own documents only: `tenant` in every method, `visible`."""
    FILTERS = "filters"
    """Ranks those documents only that pass filters: `within`."""
    ONE_VERSION = "one_version"
    """Answers all that is asked within `one_version` from one version, whatever is written meanwhile, documents too;
    and `version` says when any of it has changed."""


class Unseen(NamedTuple):
    """Of documents from elsewhere: those that the knowledge does not have, and those whose text it has otherwise.

    >>> Unseen(frozenset("a"), frozenset("b")).ids == {"a", "b"}
    True
    """

    unknown: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()

    @property
    def ids(self) -> frozenset[str]:
        """All of them: what the knowledge says of them does not hold."""
        return self.unknown | self.changed


ALL_SEEN = Unseen()


class Knowledge(Protocol):
    """What sources and stages may ask of documents, wherever they are kept.

    Derive from it, declare `capabilities`, and write the methods that belong to them; all others raise. `tenant` holds
    metadata values a document must have to be seen; None sees everything. Rankings never hold a document with score 0
    or one that is not visible.

    >>> class Shelf(Knowledge):
    ...     version = 1
    ...     def get(self, ids, *, tenant=None):
    ...         return {key: Hit(key, text="…") for key in ids}
    >>> Shelf().rank_full_text("ferry", top_k=3)
    Traceback (most recent call last):
        ...
    hopweave.errors.MissingCapability: rank_full_text needs full_text, which Shelf does not have; it has no capabilities
    """

    has_all: bool = True
    """Whether a document that cannot be had is missing; not where documents that do not pass filters are held back."""

    versions_documents: bool = True
    """Whether `version` grows with every change of a document; not if a store without versions has the documents."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The capabilities of this knowledge; reading them costs nothing."""
        return frozenset()

    @property
    @abstractmethod
    def version(self) -> int:
        """Grows with every write; equal versions mean equal contents."""

    @abstractmethod
    def get(self, ids: Iterable[str], *, tenant: Mapping[str, Any] | None = None) -> dict[str, Hit]:
        """The documents with these ids as hits without a score; ids that do not exist are left out."""

    def one_version(self) -> AbstractContextManager[None]:
        """Within it, all that is asked belongs to one version, whatever is written meanwhile, if it can do that.

        It holds for this thread, or task, and for threads that take over its context.
        """
        return nullcontext()

    def unseen(self, hits: Sequence[Hit]) -> Unseen:
        """Return which hits of another retriever it does not have, or has with another text."""
        return ALL_SEEN

    def vectors(self, ids: Iterable[str], *, model: str | None = None) -> dict[str, Vector]:
        """The stored vectors of these documents, of a model, or of the one it uses itself, as far as there are any."""
        return {}

    def rank_text(
        self, terms: Mapping[str, float], *, analyzer: str, top_k: int, tenant: Mapping[str, Any] | None = None
    ) -> Ranking:
        """Documents by BM25 over weighted, analysed query terms."""
        raise _missing(self, Capability.WORDS, "rank_text")

    def rank_words(self, text: str, *, analyzer: str, top_k: int, tenant: Mapping[str, Any] | None = None) -> Ranking:
        """Documents by BM25 over the words of a text."""
        raise _missing(self, Capability.WORDS, "rank_words")

    def rank_full_text(self, expression: str, *, top_k: int, tenant: Mapping[str, Any] | None = None) -> Ranking:
        """Documents that match an FTS5 expression, by SQLite's own BM25, larger is better."""
        raise _missing(self, Capability.FULL_TEXT, "rank_full_text")

    def rank_vectors(
        self, vector: Vector, *, model: str | None = None, top_k: int, tenant: Mapping[str, Any] | None = None
    ) -> Ranking:
        """Documents by cosine to a vector of the named embedding model."""
        raise _missing(self, Capability.VECTORS, "rank_vectors")

    def score_text(
        self,
        terms: Mapping[str, float],
        ids: Collection[str],
        *,
        analyzer: str,
        tenant: Mapping[str, Any] | None = None,
        best: int = 0,
    ) -> Mapping[str, float]:
        """The BM25 scores of these documents, 0 without a term, and of the `best` of all; hidden ones are left out."""
        raise _missing(self, Capability.SCORES, "score_text")

    def score_vectors(
        self,
        vector: Vector,
        ids: Collection[str],
        *,
        model: str | None = None,
        tenant: Mapping[str, Any] | None = None,
    ) -> Mapping[str, float]:
        """The cosines of these documents to a vector of the named model; those without a vector are left out."""
        raise _missing(self, Capability.SCORES, "score_vectors")

    def score_documents(
        self,
        terms: Mapping[str, float],
        ids: Collection[str],
        *,
        analyzer: str,
        tenant: Mapping[str, Any] | None = None,
    ) -> Mapping[str, Evidence]:
        """What the documents that these passages are parts of, and the corpus, say of them, by kind of evidence.

        `document` is BM25 of the whole document; `latent` and `latent_document` are cosines of passage and document in
        a latent space of the corpus. A passage that is no part of a larger document has none of them.
        """
        raise _missing(self, Capability.SCORES, "score_documents")

    @property
    def own_share(self) -> float:
        """The share of a document's own vector in vector search, if the source does not say; 1 does not smooth."""
        return 1.0

    def rank_smoothed(
        self,
        vector: Vector,
        *,
        own_share: float,
        model: str | None = None,
        top_k: int,
        tenant: Mapping[str, Any] | None = None,
    ) -> Ranking:
        """Documents by cosine to own_share · own vector + (1 - own_share) · mean of the neighbours in the graph."""
        raise _missing(self, Capability.SMOOTHED_VECTORS, "rank_smoothed")

    def embed(self, text: str) -> tuple[str, Vector]:
        """The vector of a question and the name of the embedding model that made it."""
        raise _missing(self, Capability.EMBEDDER, "embed")

    def embed_texts(self, texts: Sequence[str]) -> list[Vector]:
        """One vector per text, made in one call."""
        raise _missing(self, Capability.TEXT_EMBEDDER, "embed_texts")

    @property
    def graph(self) -> "GraphPort":
        """The graph of the documents as it is now."""
        raise _missing(self, Capability.GRAPH, "graph")

    def graph_for(self, tenant: Mapping[str, Any]) -> "GraphPort":
        """The graph as it is now, for a question of a tenant: a server may read what it may see along with edges."""
        return self.graph

    def visible(self, tenant: Mapping[str, Any], ids: Iterable[str] | None = None) -> Collection[str]:
        """The ids of the documents that a tenant may see: all of them, or those among the ids given."""
        raise _missing(self, Capability.TENANTS, "visible")

    def communities(self, ids: Iterable[str], *, tenant: Mapping[str, Any] | None = None) -> Mapping[str, str]:
        """The community of each of these documents, as far as known."""
        raise _missing(self, Capability.COMMUNITIES, "communities")

    def check_tenant(self, tenant: Mapping[str, Any] | None) -> None:
        """Raise `TenantRequired` if a question of this tenant has to say whose documents it means and does not."""
        return

    def within(self, filters: "Filters", *, tenant: Mapping[str, Any] | None = None) -> "Within":
        """The documents that pass filters and that a tenant may see."""
        raise _missing(self, Capability.FILTERS, "within")

    def passing(self, filters: "Filters", admits: Callable[[Hit], bool], count: int) -> "Knowledge | None":
        """For knowledge without `within`: itself, but it hands out only documents that pass, up to about `count`.

        `admits` decides; `filters` are for a store that filters by itself. None if it cannot do that.
        """
        return None


class Within(NamedTuple):
    """The documents that pass filters: how many there are, and knowledge that ranks no others."""

    size: int
    knowledge: Knowledge


def require(knowledge: Knowledge, needed: Capability, component: str) -> None:
    """Raise if knowledge lacks what a component needs.

    >>> from hopweave.stages.similarity.vector_finder import VectorFinder
    >>> require(VectorFinder(lexical=True), Capability.GRAPH, "pagerank")
    Traceback (most recent call last):
        ...
    hopweave.errors.MissingCapability: pagerank needs graph, which VectorFinder does not have; it has word_vectors
    """
    if needed not in knowledge.capabilities:
        raise _missing(knowledge, needed, component)


def _missing(knowledge: Knowledge, needed: Capability, component: str) -> MissingCapability:
    name = type(knowledge).__name__
    there = ", ".join(sorted(knowledge.capabilities)) or "no capabilities"
    return MissingCapability(f"{component} needs {needed.value}, which {name} does not have; it has {there}")
