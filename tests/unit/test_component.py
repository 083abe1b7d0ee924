import asyncio
import os
import subprocess
import sys
import threading
from contextvars import ContextVar
from typing import Literal

import pytest
from pydantic import BaseModel, Field, ValidationError

import hopweave.catalogue  # noqa: F401 - so that there is something to choose from
from hopweave.component import Component, Embedder, Fuser, Source, Stage, fetched, register, registered
from hopweave.fusion.reciprocal_rank import ReciprocalRank
from hopweave.hit import Hit
from hopweave.knowledge import Knowledge
from hopweave.query import Query
from hopweave.recipe import Recipe
from hopweave.recipe import register as register_for_recipes
from hopweave.sources.bm25 import BM25
from hopweave.vector.embedders import Cascade, StaticEmbedder


class Echo(Source):
    kind: Literal["echo"] = "echo"
    word: str = Field(default="sea", description="What comes back.")

    def search(self, query, knowledge, upstream=None):
        return [Hit(f"{self.word}-{query.text}", 1.0)]


class Reverse(Stage):
    kind: Literal["reverse"] = "reverse"

    def apply(self, hits, query, knowledge=None):
        return list(hits)[::-1]


class Lengths(Embedder):
    kind: Literal["lengths"] = "lengths"

    @property
    def model_name(self):
        return "lengths"

    def embed(self, texts):
        return [[len(text)] for text in texts]


class Comparing(Stage):
    kind: Literal["comparing"] = "comparing"
    embedder: Embedder = Field(default_factory=StaticEmbedder)

    def apply(self, hits, query, knowledge=None):
        return list(hits)


class Holder(BaseModel):
    source: Source


def test_every_role_knows_its_components_by_kind():
    assert registered(Source)["bm25"] is BM25
    assert registered(Fuser)["reciprocal_rank"] is ReciprocalRank
    assert registered(Embedder)["static"] is StaticEmbedder
    assert list(registered(Stage)) == sorted(registered(Stage))
    assert "bm25" not in registered(Stage)


def test_what_registered_gives_is_a_copy():
    registered(Source).clear()
    assert "bm25" in registered(Source)


def test_a_field_of_a_role_takes_any_of_its_components_by_kind():
    assert Holder(source={"kind": "bm25", "analyzer": "code"}).source == BM25(analyzer="code")


def test_a_ready_made_component_passes_as_it_is_registered_or_not():
    ready = Echo(word="ebb")
    recipe = Recipe(name="r", sources={"echo": ready})
    assert recipe.sources["echo"] is ready
    assert recipe.as_dict()["sources"] == {"echo": {"kind": "echo", "word": "ebb"}}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"kind": "bm26"}, ["bm26", "bm25"]),
        ({}, ["kind"]),
        ({"kind": "bm25", "topk": 3}, ["topk"]),
        ({"kind": "bm25", "top_k": 0}, ["top_k", "greater than or equal to 1"]),
        (Reverse(), ["'reverse'", "bm25"]),
        ("bm25", ["dict"]),
    ],
)
def test_what_does_not_fit_is_named(data, words):
    with pytest.raises(ValidationError) as caught:
        Holder(source=data)
    assert all(word in str(caught.value) for word in words)


def test_parameters_are_frozen_finite_and_known():
    with pytest.raises(ValidationError):
        BM25().top_k = 3
    with pytest.raises(ValidationError, match="finite"):
        BM25(keyword_weight=float("inf"))
    with pytest.raises(ValidationError, match="deadline_seconds"):
        BM25(deadline_seconds=0)


def test_a_registered_component_can_be_used_in_recipes_at_once(registry):
    with pytest.raises(ValidationError, match="echo"):
        Recipe.model_validate({"name": "r", "sources": {"s": {"kind": "echo"}}})
    register_for_recipes(Echo)
    recipe = Recipe.model_validate({"name": "r", "sources": {"s": {"kind": "echo", "word": "ebb"}}})
    assert recipe.sources["s"] == Echo(word="ebb")
    assert Recipe.from_yaml(recipe.to_yaml()) == recipe


def test_registering_reaches_components_inside_components(registry):
    register_for_recipes(Comparing)
    register_for_recipes(Lengths)
    assert Cascade.model_validate({"embedders": [{"kind": "lengths"}]}).embedders == (Lengths(),)
    recipe = Recipe.model_validate(
        {
            "name": "r",
            "sources": {"s": {"kind": "bm25"}},
            "stages": [{"kind": "comparing", "embedder": {"kind": "cascade", "embedders": [{"kind": "lengths"}]}}],
        }
    )
    assert recipe.stages[0].embedder.embedders == (Lengths(),)
    assert Recipe.from_yaml(recipe.to_yaml()) == recipe


def test_a_kind_belongs_to_one_component(registry):
    class Other(Source):
        kind: Literal["bm25"] = "bm25"

        def search(self, query, knowledge, upstream=None):
            return []

    register(BM25)  # again: no harm
    with pytest.raises(ValueError, match=r"kind 'bm25' is taken by hopweave\.sources\.bm25\.BM25"):
        register(Other)
    assert registered(Source)["bm25"] is BM25


def test_the_same_kind_may_serve_in_two_roles(registry):
    class BM25Stage(Reverse):
        kind: Literal["bm25"] = "bm25"

    register(BM25Stage)
    assert (registered(Source)["bm25"], registered(Stage)["bm25"]) == (BM25, BM25Stage)


@pytest.mark.parametrize("thing", [Component, Source])
def test_only_components_of_a_role_with_a_kind_can_be_registered(thing):
    with pytest.raises(TypeError, match=f"{thing.__name__} must derive from one of Source, Fuser, Stage, Embedder"):
        register(thing)


def test_a_component_is_written_with_its_kind_wherever_it_stands():
    class Box(BaseModel):
        inside: Comparing = Comparing()

    assert Box().model_dump() == {
        "inside": {"kind": "comparing", "optional": False, "embedder": {"kind": "static", "max_characters": 20_000}}
    }
    assert Comparing(embedder=Lengths()).model_dump(exclude_defaults=True) == {
        "kind": "comparing",
        "embedder": {"kind": "lengths"},
    }


class Shelf(Knowledge):
    version = 1

    def get(self, ids, *, tenant=None):
        return {key: Hit(key, text=f"text of {key}") for key in ids if key != "gone"}


def test_fetched_makes_hits_of_a_ranking():
    ranking = [("a", 2.5), ("gone", 2.0), ("b", 1.0)]
    hits = fetched(ranking, Shelf(), Query("?"), "shelf", "positive", {"b": {"own": 7}}, common=True)
    assert [(hit.id, hit.score, hit.scale, hit.text) for hit in hits] == [
        ("a", 2.5, "positive", "text of a"),
        ("b", 1.0, "positive", "text of b"),
    ]
    assert [hit.receipts[0].details for hit in hits] == [
        {"rank": 1, "common": True, "missing": 1},
        {"rank": 3, "common": True, "missing": 1, "own": 7},
    ]
    assert hits.missing == 1
    whole = fetched([("a", 2.5)], Shelf(), Query("?"), "shelf", "positive")
    assert (whole.missing, whole[0].receipts[0].details) == (0, {"rank": 1})
    assert fetched([], Shelf(), Query("?"), "shelf", "positive") == []


def test_the_async_forms_answer_the_same_beside_the_event_loop_and_in_its_context():
    tenant = ContextVar("tenant", default="nobody")
    seen = []

    class Watching(Echo):
        def search(self, query, knowledge, upstream=None):
            seen.append((threading.current_thread() is threading.main_thread(), tenant.get()))
            return super().search(query, knowledge, upstream)

    async def ask():
        tenant.set("somebody")
        found = await Watching().search_async(Query("?"), Shelf())
        return found, await Reverse().apply_async([Hit("a"), Hit("b")], Query("?"))

    found, turned = asyncio.run(ask())
    assert found == Echo().search(Query("?"), Shelf())
    assert [hit.id for hit in turned] == ["b", "a"]
    assert seen == [(False, "somebody")]


def test_an_error_comes_through_the_async_form():
    class Failing(Echo):
        def search(self, query, knowledge, upstream=None):
            raise LookupError("nothing there")

    with pytest.raises(LookupError, match="nothing there"):
        asyncio.run(Failing().search_async(Query("?"), Shelf()))


PLUGIN = """
from typing import Literal
from hopweave.component import Source
class Tides(Source):
    kind: Literal["tides"] = "tides"
    def search(self, query, knowledge, upstream=None):
        return []
"""


def test_other_packages_bring_components_by_entry_point_and_a_broken_one_does_no_harm(tmp_path):
    (tmp_path / "tides.py").write_text(PLUGIN)
    info = tmp_path / "tides-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tides\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[hopweave.components]\ntides = tides:Tides\nbroken = no_such_module:X\n")
    program = (
        "from hopweave.recipe import Recipe\n"
        "print(Recipe.from_yaml('{name: r, sources: {t: {kind: tides}}}').sources['t'].kind)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == "tides\n"
    assert "hopweave goes on without no_such_module:X: ModuleNotFoundError" in ran.stderr


def test_a_changed_component_is_checked_and_keeps_the_rest():
    fuser = ReciprocalRank(k=10, weights={"text": 2})
    assert fuser.changed() is fuser
    assert fuser.changed(k=1) == ReciprocalRank(k=1, weights={"text": 2})
    assert BM25(optional=True).changed(optional=False).optional is False
    with pytest.raises(ValidationError, match="k"):
        fuser.changed(k=0)
    with pytest.raises(ValidationError, match="unknown"):
        fuser.changed(unknown=1)


def test_what_upstream_sources_found_is_not_fetched_again():
    asked = []

    class Shelf(Knowledge):
        version = 1

        def get(self, ids, *, tenant=None):
            asked.extend(ids)
            return {key: Hit(key, text="from the shelf") for key in ids}

    upstream = {
        "text": [Hit("a", 7.0, "as found", {"type": "notice"}).rescored(7.0, "bm25")],
        "vector": [Hit("b", 0.5)],  # without a text, so there is more to know of it
    }
    first, second = fetched([("b", 0.9), ("a", 0.4)], Shelf(), Query("?"), "pagerank", "unit", upstream=upstream)
    assert asked == ["b"]
    assert (first.id, first.text, second.id, second.text) == ("b", "from the shelf", "a", "as found")
    assert (second.score, second.scale, second.metadata) == (0.4, "unit", {"type": "notice"})
    assert [(receipt.stage, receipt.before, receipt.details) for receipt in second.receipts] == [
        ("pagerank", None, {"rank": 2})
    ]
    assert upstream["text"][0].score == 7.0
