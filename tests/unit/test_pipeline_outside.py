"""A recipe in which somebody else's retriever takes the place of a source, over documents seen only in part."""

import asyncio
import logging
from typing import Any, Literal

import pytest
from pydantic import Field

from hopweave import Document, Hit, KnowledgeBase, Pipeline, load_recipe
from hopweave.component import Source

TEXTS = {"skua": "The Skua is a ferry.", "gate": "The tide gate opens at six.", "oram": "Oram keeps the tide gate."}
OWN = [Hit(key, 0.9 - rank / 10, TEXTS[key]) for rank, key in enumerate(("oram", "skua", "gate"))]


class Own(Source):
    kind: Literal["own"] = "own"
    hits: tuple[Any, ...] = Field(default=tuple(OWN), exclude=True)

    @property
    def from_outside(self):
        return True

    def search(self, query, knowledge, upstream=None):
        return list(self.hits)


def over(kb, recipe="multihop", **own):
    shipped = load_recipe(recipe)
    return Pipeline(shipped.model_copy(update={"sources": {**shipped.sources, "vector": Own(**own)}}), kb)


@pytest.fixture
def partial():
    """A knowledge base that has not seen the keeper."""
    with KnowledgeBase.open(embedder=None) as kb:
        kb.add([Document(key, TEXTS[key]) for key in ("skua", "gate")])
        yield kb


def test_a_document_that_was_not_seen_keeps_its_place(partial):
    result = over(partial).run("When does the tide gate open?")
    assert [hit.id for hit in result.hits] == ["oram", "gate", "skua"]
    assert (result.unseen.unknown, result.unseen.changed) == ({"oram"}, frozenset())
    assert result.hits[0].receipts[-1].details == {"place": 1, "reason": "not in the graph"}
    assert result.as_dict()["unseen"] == {"unknown": 1, "changed": 0}


def test_so_does_one_whose_text_has_changed(partial):
    partial.add([Document("oram", "Oram keeps the tide gate and opens it.")])
    assert over(partial).run("When does the tide gate open?").unseen.changed == {"oram"}


def test_asynchronously_it_is_the_same(partial):
    pipeline = over(partial)
    found = asyncio.run(pipeline.run_async("When does the tide gate open?"))
    assert found.hits == pipeline.run(found.query).hits


def test_it_is_said_once(partial, caplog):
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            over(partial).run("When does the tide gate open?")
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 1
    assert said[0].startswith("1 of 3 documents that came from outside are not in the index")


def test_with_every_document_seen_nothing_is_said_and_nothing_kept(partial, caplog):
    partial.add([Document("oram", TEXTS["oram"])])
    result = over(partial).run("When does the tide gate open?")
    assert not result.unseen.ids
    assert result.hits[0].id == "gate"
    assert not caplog.records


@pytest.mark.parametrize("recipe", ["multihop", "hybrid", "weighted"])
def test_with_nothing_seen_the_ranking_is_the_users_own(recipe):
    with KnowledgeBase.open(embedder=None) as kb:
        hits = over(kb, recipe).run("When does the tide gate open?").hits
        assert [hit.id for hit in hits] == ["oram", "skua", "gate"]
