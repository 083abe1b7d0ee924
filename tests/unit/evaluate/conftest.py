"""A source that returns fixed rankings, so that every figure can be worked out by hand."""

from string import ascii_lowercase
from typing import Literal

import pytest
from pydantic import Field

from hopweave.component import Source
from hopweave.document import Document
from hopweave.evaluate.queries import EvaluationQuery
from hopweave.hit import Hit
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.recipe import Recipe

KINDS = ("consonant", "vowel")


class FixedRanking(Source):
    """Finds the documents named in `found`, by question; `searched` counts how often it was asked."""

    kind: Literal["fixed"] = "fixed"
    found: dict[str, tuple[str, ...]]
    builds_on: tuple[str, ...] = ()
    searched: list[str] = Field(default_factory=list, repr=False, exclude=True)

    @property
    def needs(self):
        return self.builds_on

    def search(self, query, knowledge, upstream=None):
        self.searched.append(query.text)
        ids = self.found.get(query.text, ())[: self.top_k]
        known = knowledge.get(ids)
        return [known[key].rescored(1 / rank, "fixed", scale="unit") for rank, key in enumerate(ids, 1) if key in known]


@pytest.fixture
def fixed():
    """A recipe of sources that find the ids given for each question, as strings of one letter per id."""

    def fixed(name="fixed", fuse=None, stages=(), **sources):
        made = {
            key: FixedRanking(found={question: tuple(ids) for question, ids in found.items()})
            for key, found in sources.items()
        }
        return Recipe(name=name, sources=made, stages=stages, **({"fuse": fuse} if fuse else {}))

    return fixed


@pytest.fixture
def letters():
    """Documents a to z, without vectors and without a graph."""
    with KnowledgeBase.open(embedder=None, builders=[]) as kb:
        kb.add(Document(letter, f"About {letter}.", {"type": KINDS[letter in "aeiou"]}) for letter in ascii_lowercase)
        yield kb


def judged(**gold):
    """Queries whose question is their id, with gold as strings of one letter per id or as lists of classes."""
    return [EvaluationQuery.read({"id": key, "question": key, "gold": list(ids)}) for key, ids in gold.items()]


def hits(text):
    """Hits with one-letter ids."""
    return [Hit(key) for key in text]
