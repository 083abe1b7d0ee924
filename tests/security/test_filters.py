"""Filters that match little cost no more than others, and give what asking for more and more would give."""

import os
import random
from datetime import date

import pytest

from hopweave.document import Document
from hopweave.hit import Hit
from hopweave.knowledge import Capability
from hopweave.knowledge_base import snapshot
from hopweave.knowledge_base.conditions import passing_rows
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.metadata.filters import as_predicate
from hopweave.pipeline import Pipeline
from hopweave.query import Query
from hopweave.recipe import Recipe, load_recipe, recipe_names

LONG = os.environ.get("HOPWEAVE_ATTACK") == "long"
COUNT = 2000 if LONG else 300
NAMES = [f"Ship{number}" for number in range(40)]
QUESTIONS = ["Which ferry is near Ship3?", 'How do I fix the "ferry" Ship7 after an outage?', "w1 w2 w3"]
FILTERS = {
    "common": {"type": "notice"},
    "list": {"type": ["log", "guide"]},
    "rare": {"owner": "o7"},
    "one": {"id": "d17"},
    "nothing": {"type": "none at all"},
    "no such field": {"colour": "red"},
    "nested": {"team.name": "t3"},
    "dotted": {"a.b": "x"},
    "range": {"year": {"gte": 2020}},
    "dates": {"date": {"lt": date(2020, 3, 1)}},
    "not": {"type": {"ne": "notice"}, "owner": {"nin": [f"o{n}" for n in range(60)]}},
    "several": {"type": "log", "year": {"lt": 1950}},
    "list in metadata": {"tags": "tag5"},
    "quotes": {"odd": 'a "quoted" ü\n'},
    "number": {"year": 1999},
    "nothing in the list": {"type": []},
    "function": lambda hit: "Ship9" in hit.text,
}
every_filter = pytest.mark.parametrize("filters", FILTERS.values(), ids=FILTERS.keys())


def documents():
    chooser = random.Random(5)
    for number in range(COUNT):
        words = " ".join(f"w{chooser.randrange(300)}" for _ in range(12))
        metadata = {
            "id": f"d{number}",
            "type": chooser.choice(["notice", "log", "guide"]),
            "year": chooser.randint(1900, 2026),
            "owner": f"o{number % 70}",
            "team": {"name": f"t{number % 50}"},
            "tags": [f"tag{number % 90}", 3],
            "date": f"2020-{number % 12 + 1:02}-01",
        }
        if number % 100 == 3:
            metadata |= {"odd": 'a "quoted" ü\n', "a.b": "x"}
        text = f"{chooser.choice(NAMES)} is a ferry near {chooser.choice(NAMES)}, see {chooser.choice(NAMES)}. {words}"
        yield Document(f"d{number}", text, metadata)


@pytest.fixture(scope="module")
def kb():
    with KnowledgeBase.open() as kb:
        kb.add(documents())
        yield kb


def asked_for_more(monkeypatch):
    """A knowledge base that does not know which documents pass, so that sources are asked for more and more."""
    without = property(lambda self: frozenset(Capability) - {Capability.FILTERS})
    monkeypatch.setattr(KnowledgeBase, "capabilities", without)


@every_filter
@pytest.mark.parametrize("recipe", recipe_names() if LONG else ["knowledge", "multihop"])
def test_filters_in_the_sources_change_no_result(kb, filters, recipe, monkeypatch):
    queries = [Query(question, filters=filters) for question in QUESTIONS]
    found = [Pipeline(recipe, kb).run(query).hits for query in queries]
    asked_for_more(monkeypatch)
    wanted = [Pipeline(recipe, kb).run(query).hits for query in queries]
    assert [[hit.id for hit in hits] for hits in found] == [[hit.id for hit in hits] for hits in wanted]
    for hits, others in zip(found, wanted, strict=True):
        assert [hit.score for hit in hits] == pytest.approx([hit.score for hit in others], abs=1e-5)


@every_filter
def test_the_rows_that_pass_are_those_that_pass_one_by_one(kb, filters):
    passes = as_predicate(filters)
    wanted = [hit.id for hit in kb.get(kb.ids()).values() if passes(hit)]
    with kb._connections.reading() as connection:
        rows = passing_rows(connection, filters).tolist()
        found = [connection.execute("SELECT id FROM documents WHERE row = ?", (row,)).fetchone()[0] for row in rows]
    assert found == wanted
    assert kb.within(filters).size == len(wanted)


def test_a_tenant_narrows_what_passes(kb):
    assert kb.within({"type": "log"}, tenant={"owner": "o7"}).size < kb.within({"owner": "o7"}).size
    found = kb.search("ferry near Ship3", filters={"type": "log"}, tenant={"owner": ["o7", "o8"]}, top_k=100).hits
    assert found
    assert {(hit.metadata["type"], hit.metadata["owner"]) for hit in found} <= {("log", "o7"), ("log", "o8")}


@pytest.mark.parametrize("recipe", recipe_names())
@pytest.mark.parametrize("name", ["nothing", "no such field"])
def test_a_filter_that_nothing_passes_does_not_read_the_corpus(kb, name, recipe, monkeypatch):
    fetched = []
    get = KnowledgeBase.get

    def counted(self, ids, **options):
        fetched.extend(ids := list(ids))
        return get(self, ids, **options)

    monkeypatch.setattr(KnowledgeBase, "get", counted)
    small = Recipe.model_validate({**_small(recipe), "top_k": 5})
    assert not Pipeline(small, kb).run(Query(QUESTIONS[0], filters=FILTERS[name]), top_k=5).hits
    assert len(fetched) <= 4 * 10 * len(small.sources)  # each source for its ten, and three times as many


def _small(recipe):
    data = load_recipe(recipe).as_dict()
    for source in data["sources"].values():
        source["top_k"] = 10
    return data


def test_rows_are_found_once_for_each_version_and_filter(kb, monkeypatch):
    found = []
    find = snapshot.passing_rows
    monkeypatch.setattr(snapshot, "passing_rows", lambda *arguments: found.append(1) or find(*arguments))
    for _ in range(3):
        kb.search("ferry near Ship3", filters={"owner": "o11"}, recipe="service")
    assert len(found) == 1
    with KnowledgeBase.open() as other:
        other.add([Document("a", "A ferry.", {"type": "log"})])
        assert other.within({"type": "log"}).size == 1
        other.add([Document("b", "A ferry.", {"type": "log"})])
        assert other.within({"type": "log"}).size == 2


def test_places_behind_the_first_have_a_rank_of_their_own(kb):
    hits = Pipeline(Recipe.model_validate({"name": "r", "sources": {"text": {"kind": "bm25", "top_k": 5}}}), kb).find(
        Query("ferry", filters={"owner": "o7"}), top_k=5, filtered=False
    )
    ranks = [hit.receipts[0].details["rank"] for hit in sorted(hits.hits, key=lambda hit: -hit.receipts[0].after)]
    assert sorted(ranks) == list(range(1, len(ranks) + 1))
    assert isinstance(hits.hits[0], Hit)
