"""Extractive answers: the best sentences of the sources, without a language model."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from pydantic import Field

from hopweave.component import Component
from hopweave.context.cite import Citation, cited_numbers
from hopweave.language.sentences import sentences
from hopweave.language.terms import content_terms

Embed = Callable[[list[str]], Any]
"""A function from texts to one row of numbers per text."""

_FUNCTION_WORD_LIST = (
    "a an and are as at be been by can could did do does for from had has have he her his how i if in into is it its "
    "many me much my of on or our she should so than that the their them then there these they this those to was we "
    "were what when where which who whom whose why will with would you your"
)
_FUNCTION_WORDS = frozenset(_FUNCTION_WORD_LIST.split())


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence of a source, the number and id of the source, and the gain of the sentence."""

    sentence: str
    number: int
    id: str
    gain: float


@dataclass(frozen=True, slots=True)
class Answer:
    """Quotes in the order of their sources, and the answer as text with a number after each sentence."""

    text: str
    quotes: tuple[Quote, ...]


class ExtractiveAnswer(Component):
    """Selects the sentences that cover most of the terms of the question, weighted by idf.

    gain of a sentence = sum over its question terms of idf * 0.5^(times quoted before), divided by the idf of all
    question terms in the sources; idf over the given sources. With an embedder, the gain is
    (1 - vector_share) * that + vector_share * cosine(question, sentence). Sentences with a number in
    brackets are not quoted, because it would look like a citation.

    >>> from hopweave.context.cite import numbered
    >>> from hopweave.hit import Hit
    >>> sources = numbered([Hit("skua", text="The Skua is red. The Skua sails hourly."), Hit("tern", text="It rests.")])
    >>> ExtractiveAnswer(max_sentences=1).answer("When does the Skua sail?", sources).text
    'The Skua sails hourly. [1]'
    """

    kind: Literal["extractive_answer"] = "extractive_answer"
    max_sentences: int = Field(default=3, ge=1, description="Maximum number of sentences in the answer.")
    min_gain: float = Field(default=0.1, ge=0, le=1, description="Sentences with a lower gain are left out.")
    max_characters: int = Field(default=600, ge=1, description="Longer sentences (tables, code) are not quoted.")
    vector_share: float = Field(default=0.5, ge=0, le=1, description="Share of the cosine when an embedder is given.")

    def answer(self, question: str, citations: Sequence[Citation], embed: Embed | None = None) -> Answer:
        """The best sentences, each with the number of its source; an empty answer if none fits the question."""
        candidates = self._candidates(citations)
        asked = content_terms(question, _FUNCTION_WORDS) or content_terms(question, frozenset())
        idf = _idf(asked, [content_terms(found.text, frozenset()) for found in citations])
        known = sum(idf.values())
        contents = [content_terms(sentence, frozenset()) & idf.keys() for sentence, _ in candidates]
        closeness = self._closeness(question, [sentence for sentence, _ in candidates], embed)
        lexical_share = 1.0 if embed is None else 1 - self.vector_share
        covered: Counter[str] = Counter()
        picked: dict[int, float] = {}
        while len(picked) < min(self.max_sentences, len(candidates)):
            gains = {
                place: lexical_share * _coverage(content, idf, covered, known) + closeness[place]
                for place, content in enumerate(contents)
                if place not in picked
            }
            best = max(gains, key=lambda place: (gains[place], -place))
            if gains[best] < self.min_gain or gains[best] <= 0:
                break
            picked[best] = gains[best]
            covered.update(contents[best])
        quotes = tuple(
            Quote(candidates[place][0], candidates[place][1].number, candidates[place][1].id, picked[place])
            for place in sorted(picked)
        )
        return Answer(" ".join(f"{quote.sentence} [{quote.number}]" for quote in quotes), quotes)

    def _candidates(self, citations: Sequence[Citation]) -> list[tuple[str, Citation]]:
        """Each sentence once, with the first source that has it."""
        found: dict[str, Citation] = {}
        for source in sorted(citations, key=lambda source: source.number):
            for sentence in sentences(source.text):
                if len(sentence) <= self.max_characters and not cited_numbers(sentence):
                    found.setdefault(sentence, source)
        return list(found.items())

    def _closeness(self, question: str, texts: list[str], embed: Embed | None) -> list[float]:
        if embed is None or not texts:
            return [0.0] * len(texts)
        rows = np.asarray(embed([question, *texts]), np.float64)
        lengths = np.linalg.norm(rows, axis=1)
        cosines = rows[1:] @ rows[0] / np.maximum(lengths[1:] * lengths[0], 1e-12)
        return [self.vector_share * float(cosine) for cosine in np.clip(cosines, 0, 1)]


def _coverage(content: AbstractSet[str], idf: dict[str, float], covered: Counter[str], known: float) -> float:
    # sorted, because the order of a set is not defined
    return sum(idf[term] * 0.5 ** covered[term] for term in sorted(content)) / known if known else 0.0


def _idf(asked: AbstractSet[str], documents: Sequence[AbstractSet[str]]) -> dict[str, float]:
    found = {term: sum(term in document for document in documents) for term in sorted(asked)}
    total = len(documents)
    return {term: math.log(1 + (total - df + 0.5) / (df + 0.5)) for term, df in found.items() if df}
