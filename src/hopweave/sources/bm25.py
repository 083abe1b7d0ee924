"""BM25: lexical search with term frequency, inverse document frequency and length normalisation.

S. Robertson, H. Zaragoza (2009): The Probabilistic Relevance Framework: BM25 and Beyond. The scores are those of
Lucene's variant; `bm25_index.py` holds the index.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from hopweave.component import Rankings, Source, fetched
from hopweave.hit import Hit
from hopweave.knowledge import Capability, Knowledge, above_chance
from hopweave.query import Query
from hopweave.text.analyzers import analyzer, check_analyzer, stem_of, tokenize


class BM25(Source):
    """Documents by BM25 over the terms of the question.

    Terms that are keywords of the intent of the question are weighted by `keyword_weight`. Two BM25 sources with
    different analyzers give a dual index, for example for prose and for code.

    >>> BM25(analyzer="code").terms(Query("maxLevel maxLevel"))
    {'maxlevel': 2.0, 'max': 2.0, 'level': 2.0}
    """

    requires: ClassVar[frozenset[Capability]] = frozenset({Capability.WORDS})
    in_memory: ClassVar[bool] = True
    reads_documents: ClassVar[bool] = False
    pointwise: ClassVar[bool] = True

    kind: Literal["bm25"] = "bm25"
    analyzer: Annotated[str, AfterValidator(check_analyzer)] = Field(
        default="nlp", description="How text becomes terms: nlp, nlp:<language>, code or light."
    )
    keyword_weight: float = Field(default=5.0, ge=0, description="Weight of a keyword of the intent.")

    def search(self, query: Query, knowledge: Knowledge, upstream: Rankings | None = None) -> list[Hit]:  # noqa: ARG002
        """Find hits for a question, best first."""
        self.check_capabilities(knowledge)
        ranking = knowledge.rank_text(self.terms(query), analyzer=self.analyzer, top_k=self.top_k, tenant=query.tenant)
        said = above_chance(ranking, tail="exponential")
        return fetched(ranking, knowledge, query, "bm25", "positive", analyzer=self.analyzer, **said)

    def terms(self, query: Query) -> dict[str, float]:
        """The terms of the question and their weights."""
        counts = Counter(analyzer(self.analyzer)(query.text))
        heavy = self._keyword_terms(query, counts) if query.intent and query.intent.keywords else ()
        return {term: count * (self.keyword_weight if term in heavy else 1.0) for term, count in counts.items()}

    def _keyword_terms(self, query: Query, terms: Iterable[str]) -> set[str]:
        analyse, stem = analyzer(self.analyzer), stem_of(self.analyzer)
        keywords = query.intent.keywords if query.intent else ()
        stems = {stem(keyword) for keyword in keywords}
        # stemmers differ, so a long stem also matches as a prefix: compar, comparison
        beginnings = tuple(keyword for keyword in keywords if len(keyword) >= 5)
        matching = (
            word for word in {*tokenize(query.text), *terms} if stem(word) in stems or word.startswith(beginnings)
        )
        return {term for word in matching for term in analyse(word)}
