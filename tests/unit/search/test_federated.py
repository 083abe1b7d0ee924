"""Several knowledge bases searched as one."""

import asyncio
from fractions import Fraction

import pytest

from hopweave import Document, KnowledgeBase, Pipeline, Query, QueryCache, Recipe, load_recipe
from hopweave.errors import MissingCapability, RecipeError, SourceFailed
from hopweave.graph.build.builders.services import ServicesBuilder
from hopweave.knowledge import Capability
from hopweave.search.federated import FederatedPipeline

WORDS = "name: words\nsources: {text: {kind: bm25}}\n"


def recipe(more=""):
    return Recipe.from_yaml(WORDS + more)


@pytest.fixture
def bases():
    with KnowledgeBase.open() as handbook, KnowledgeBase.open() as tickets:
        handbook.add(
            [
                Document("1", "The tide gate opens at six.", {"team": "sea", "type": "manual"}),
                Document("2", "The tide gate of the north harbour is closed in winter.", {"team": "land"}),
            ]
        )
        tickets.add(
            [
                Document("1", "The tide gate is stuck.", {"team": "land", "type": "ticket"}),
                Document("9", "The bilge pump of the Skua leaks.", {"team": "sea", "type": "ticket"}),
            ]
        )
        yield {"handbook": handbook, "tickets": tickets}


def ids(result):
    return [hit.id for hit in result.hits]


def test_the_same_id_in_two_knowledge_bases_is_two_hits(bases):
    hits = FederatedPipeline(recipe(), bases).run("tide gate").hits
    assert {hit.id: hit.text for hit in hits} == {
        "handbook/1": "The tide gate opens at six.",
        "tickets/1": "The tide gate is stuck.",
        "handbook/2": "The tide gate of the north harbour is closed in winter.",
    }


def test_each_hit_has_the_score_of_its_rank_and_a_receipt_that_names_its_knowledge_base(bases):
    result = FederatedPipeline(recipe(), bases).run("tide gate")
    alone = {name: Pipeline(recipe(), one).run("tide gate").hits for name, one in bases.items()}
    for name, hits in alone.items():
        for rank, hit in enumerate(hits, start=1):
            found = next(one for one in result.hits if one.id == f"{name}/{hit.id}")
            assert found.score == pytest.approx(float(Fraction(1, 1 + rank)))
            said = next(one for one in found.receipts if one.stage == "knowledge_base")
            assert (said.before, said.after, said.details) == (hit.score, hit.score, {"name": name, "id": hit.id})
            assert found.receipts[: len(hit.receipts)] == hit.receipts
            assert found.scores["knowledge_base_score"] == hit.score


@pytest.mark.parametrize(
    "kind", ["reciprocal_rank, k: 1", "weighted", "weighted, normalisation: max", "trust_weighted"]
)
def test_weights_go_by_name(bases, kind):
    def first(**weights):
        chosen = ", ".join(f"{name}: {weight}" for name, weight in weights.items())
        own = recipe(f"fuse_knowledge_bases: {{kind: {kind}, weights: {{{chosen}}}}}")
        return ids(FederatedPipeline(own, bases).run("tide gate pump"))[0].partition("/")[0]

    assert first(tickets=3, handbook=1) == "tickets"
    assert first(tickets=1, handbook=3) == "handbook"


def test_weights_share_out_the_places():
    with KnowledgeBase.open(embedder=None) as one, KnowledgeBase.open(embedder=None) as other:
        for kb in (one, other):
            kb.add(Document(str(number), "A tide gate." + " And a pier." * number) for number in range(6))
        own = recipe("fuse_knowledge_bases: {kind: reciprocal_rank, k: 0.01, weights: {one: 2}}\ntop_k: 6")
        found = ids(FederatedPipeline(own, {"one": one, "other": other}).run("tide gate"))
    assert [key.partition("/")[0] for key in found].count("one") == 4


def test_the_recipe_names_those_to_search(bases):
    assert set(ids(FederatedPipeline(recipe("knowledge_bases: [tickets]"), bases).run("tide gate"))) == {"tickets/1"}
    with pytest.raises(RecipeError, match="recipe 'words': knowledge base 'wiki' is missing; given are handbook, tick"):
        FederatedPipeline(recipe("knowledge_bases: [tickets, wiki]"), bases)


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ("knowledge_bases: [a, a]", "knowledge_bases: a name occurs twice in a, a"),
        ("knowledge_bases: [a/b]", "knowledge_bases.0: 'a/b' is not allowed"),
        (
            "knowledge_bases: [a]\nfuse_knowledge_bases: {kind: reciprocal_rank, weights: {b: 2}}",
            "there is a weight for 'b', but the sources are a",
        ),
    ],
)
def test_wrong_recipes(more, reason):
    with pytest.raises(RecipeError, match=reason):
        recipe(more)


def test_weights_of_knowledge_bases_that_are_not_given(bases):
    with pytest.raises(RecipeError, match="there is a weight for 'wiki', but the sources are handbook, tickets"):
        FederatedPipeline(recipe("fuse_knowledge_bases: {kind: reciprocal_rank, weights: {wiki: 2}}"), bases)


@pytest.mark.parametrize("given", [{}, None, {"a/b": None}, {"": None}, {"a\n": None}])
def test_wrong_names(given):
    with pytest.raises(ValueError, match="knowledge_bases: "):
        FederatedPipeline(recipe(), given)


def test_one_knowledge_base_does_not_do_for_a_recipe_of_several(bases):
    with pytest.raises(RecipeError, match="'words' searches the knowledge bases a, b: give each by its name"):
        Pipeline(recipe("knowledge_bases: [a, b]"), bases["tickets"])


def test_the_recipe_survives_yaml():
    one = recipe("knowledge_bases: [a, b]\nfuse_knowledge_bases: {kind: weighted, weights: {a: 2, b: 1}}")
    assert Recipe.from_yaml(one.to_yaml()) == one


def test_functions_that_filter_see_the_ids_that_are_returned(bases):
    pipeline = FederatedPipeline("hybrid", bases)
    seen = set()

    def passes(hit):
        seen.add(hit.id)
        return hit.id == "handbook/1"

    question = Query("tide gate", filters=passes)
    found = [pipeline.run(question), pipeline.find(question)]
    found += [asyncio.run(pipeline.run_async(question)), asyncio.run(pipeline.find_async(question))]
    for one in found:
        assert ids(one) == ["handbook/1"]
        assert one.query.filters is passes
    assert {key.partition("/")[0] for key in seen} == set(bases)


def test_tenants_and_filters_hold_in_each(bases):
    pipeline = FederatedPipeline("multihop", bases)
    assert set(ids(pipeline.run(Query("tide gate pump", tenant={"team": "sea"})))) == {"handbook/1", "tickets/9"}
    assert set(ids(pipeline.run(Query("tide gate pump", tenant={"team": "land"})))) == {"handbook/2", "tickets/1"}
    assert ids(pipeline.run(Query("tide gate pump", tenant={"team": "air"}))) == []
    assert set(ids(pipeline.run(Query("tide gate", filters={"type": "manual"})))) == {"handbook/1"}


def test_a_place_without_tenants_is_named(bases, monkeypatch):
    monkeypatch.setattr(KnowledgeBase, "capabilities", frozenset({Capability.WORDS}))
    with pytest.raises(MissingCapability, match="knowledge base 'handbook': a query with a tenant needs tenants"):
        FederatedPipeline(recipe(), bases).run(Query("tide gate", tenant={"team": "sea"}))


def run_async(pipeline, question):
    return asyncio.run(pipeline.run_async(question))


@pytest.mark.parametrize("run", [FederatedPipeline.run, run_async])
def test_a_failure_names_the_knowledge_base(bases, run):
    both = Recipe.from_yaml("name: both\nsources: {text: {kind: bm25}, vector: {kind: vector}}")
    reason = pytest.raises(SourceFailed, match="knowledge base 'bare': source 'vector' failed")
    with KnowledgeBase.open(embedder=None) as bare, reason:
        run(FederatedPipeline(both, {"bare": bare, **bases}), "tide gate")


def test_failures_of_optional_sources_begin_with_the_name(bases):
    with KnowledgeBase.open(embedder=None) as bare:
        bare.add([Document("1", "The tide gate is old.")])
        optional = Recipe.from_yaml("name: both\nsources: {text: {kind: bm25}, vector: {kind: vector, optional: true}}")
        result = FederatedPipeline(optional, {**bases, "bare": bare}).run("tide gate")
    assert list(result.failures) == ["bare/vector"]
    assert "bare/1" in ids(result)
    assert {"handbook/text", "bare/text", "fuse_knowledge_bases", "total"} <= result.timings.keys()


def test_top_k_is_that_of_the_whole(bases):
    pipeline = FederatedPipeline(recipe("top_k: 2"), bases)
    assert len(pipeline.run("tide gate").hits) == 2
    assert len(pipeline.run("tide gate", top_k=1).hits) == 1
    assert len(pipeline.find("tide gate", top_k=1).hits) >= 2
    with pytest.raises(ValueError, match="top_k"):
        pipeline.run("tide gate", top_k=0)


@pytest.mark.parametrize("name", ["hybrid", "multihop", "memory", "operations"])
def test_asynchronous_runs_find_the_same(bases, name):
    pipeline, question = FederatedPipeline(name, bases), Query("When does the tide gate open?")
    expected = pipeline.run(question)
    found = asyncio.run(pipeline.run_async(question))
    assert (found.hits, found.context, found.plan) == (expected.hits, expected.context, expected.plan)
    assert asyncio.run(pipeline.find_async(question)).hits == pipeline.find(question).hits


def test_the_order_in_which_they_are_given_makes_no_difference(bases):
    turned = dict(reversed(bases.items()))
    assert (
        FederatedPipeline(recipe(), turned).run("tide gate").hits
        == FederatedPipeline(recipe(), bases).run("tide gate").hits
    )


def test_confidence_is_the_highest(bases):
    each = [Pipeline("hybrid", one).run("bilge pump of the Skua").confidence for one in bases.values()]
    assert FederatedPipeline("hybrid", bases).run("bilge pump of the Skua").confidence == max(each)


def test_a_gate_that_stays_shut_finds_nothing(bases):
    result = FederatedPipeline("memory", bases).run("hello")
    assert (result.hits, result.gate.retrieve, result.confidence) == ((), False, None)


def test_context_and_paths_are_of_the_hits_that_are_left():
    with KnowledgeBase.open() as ships, KnowledgeBase.open() as people:
        ships.add(
            [
                Document("skua", "MV Skua was designed by Ingrid Falk.", {"title": "MV Skua"}),
                Document("falk", "Ingrid Falk was born in Lunn.", {"title": "Ingrid Falk"}),
            ]
        )
        people.add([Document("falk", "Ingrid Falk likes herring.", {"title": "Ingrid Falk"})])
        own = Recipe(**{**dict(load_recipe("multihop")), "paths": {"min_hits": 2}, "context": {}})
        pipeline = FederatedPipeline(own, {"ships": ships, "people": people})
        result = pipeline.run("Where was the designer of MV Skua born?")
        assert set(ids(result)) == {"ships/skua", "ships/falk", "people/falk"}
        assert set(result.paths.document_ids) <= set(ids(result))
        assert "ships/falk" in result.paths.document_ids
        assert all(hit.text in result.context.text for hit in result.hits)
        assert all(line in result.context.text for line in result.paths.lines)


def test_services_of_two_knowledge_bases_stay_apart():
    with (
        KnowledgeBase.open(builders=[ServicesBuilder()]) as east,
        KnowledgeBase.open(builders=[ServicesBuilder()]) as west,
    ):
        east.add([Document("d", "POST /orders", {"service": "shop", "calls_out": ["till"]})])
        west.add([Document("d", "POST /orders", {"service": "shop", "calls_out": ["stock"]})])
        own = Recipe(**{**dict(recipe()), "neighbourhood": {}})
        around = FederatedPipeline(own, {"east": east, "west": west}).run("orders").neighbourhood
    assert set(around.lines) == {"east/shop —calls→ till", "west/shop —calls→ stock"}


def test_a_cache_follows_each_knowledge_base(bases):
    pipeline = FederatedPipeline(recipe(), bases, cache=QueryCache())
    before = pipeline.run("tide gate")
    assert pipeline.run("tide gate").hits == before.hits
    bases["tickets"].add([Document("10", "Another tide gate.")])
    assert "tickets/10" in ids(pipeline.run("tide gate"))


def test_inputs_stay_as_they_are(bases):
    given = dict(bases)
    FederatedPipeline(recipe("knowledge_bases: [tickets]"), given).run("tide gate")
    assert given == bases
