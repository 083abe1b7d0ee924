"""The recipe of those who name none: one and the same in Python, on the command line, in Haystack and in LlamaIndex."""

import json

import pytest
import yaml
from haystack import Pipeline as HaystackPipeline
from llama_index.core.schema import QueryBundle
from llama_index.query_engine.hopweave import RecipeQueryEngine, load_query_engine
from llama_index.retrievers.hopweave import RecipeRetriever as LlamaIndexRetriever

from haystack_integrations.common.hopweave.recipe_pipeline import to_pipeline, to_yaml
from haystack_integrations.components.retrievers.hopweave import HybridGraphRetriever, RecipeRetriever
from hopweave import Document, KnowledgeBase
from hopweave.cli import main
from hopweave.recipe import load_recipe
from hopweave.recipes import DEFAULT_RECIPE

from .conftest import pairs
from .test_rankings import same

QUESTION = "How did people make a living in the place where the designer of MV Skua was born?"


def from_yaml(cls, kb):
    """What a component finds in YAML that was written by hand, without a recipe."""
    name = f"{cls.__module__}.{cls.__qualname__}"
    parts = {"retriever": {"type": name, "init_parameters": {"knowledge_base": str(kb.path)}}}
    pipeline = HaystackPipeline.loads(yaml.safe_dump({"components": parts, "connections": []}))
    return pipeline.run({"query": QUESTION})["retriever"]


def on_the_command_line(kb, capsys):
    assert main(["query", QUESTION, "--kb", str(kb.path), "--json"]) == 0
    return [(hit["id"], hit["score"]) for hit in json.loads(capsys.readouterr().out)["hits"]]


HAYSTACK = {
    "RecipeRetriever": lambda kb: RecipeRetriever(knowledge_base=str(kb.path)).run(query=QUESTION),
    "HybridGraphRetriever": lambda kb: HybridGraphRetriever(knowledge_base=str(kb.path)).run(query=QUESTION),
    "RecipeRetriever in YAML": lambda kb: from_yaml(RecipeRetriever, kb),
    "HybridGraphRetriever in YAML": lambda kb: from_yaml(HybridGraphRetriever, kb),
    "to_pipeline": lambda kb: to_pipeline(knowledge_base=kb.path).run({"query": QUESTION})["fuse"],
    "to_yaml": lambda kb: HaystackPipeline.loads(to_yaml(knowledge_base=kb.path)).run(
        {"query": QUESTION}, include_outputs_from={"fuse"}
    )["fuse"],
}
LLAMA_INDEX = {
    "RecipeRetriever": lambda kb: LlamaIndexRetriever(kb).retrieve(QUESTION),
    "RecipeQueryEngine": lambda kb: RecipeQueryEngine(knowledge_base=kb).retrieve(QueryBundle(QUESTION)),
    "load_query_engine": lambda kb: load_query_engine(knowledge_base=kb).retrieve(QueryBundle(QUESTION)),
}


def test_the_core_and_the_command_line(core, kb, capsys):
    expected = pairs(kb.search(QUESTION, recipe=DEFAULT_RECIPE).hits)
    assert expected != pairs(kb.search(QUESTION, recipe="hybrid").hits)  # or nothing below could fail
    same(pairs(kb.search(QUESTION).hits), expected)
    same(on_the_command_line(kb, capsys), expected)


@pytest.mark.parametrize("how", HAYSTACK)
def test_haystack(how, kb):
    found = [(document.id, document.score) for document in HAYSTACK[how](kb)["documents"]]
    same(found, pairs(kb.search(QUESTION, recipe=DEFAULT_RECIPE).hits))


@pytest.mark.parametrize("how", LLAMA_INDEX)
def test_llama_index(how, kb):
    found = [(node.node_id, node.score) for node in LLAMA_INDEX[how](kb)]
    same(found, pairs(kb.search(QUESTION, recipe=DEFAULT_RECIPE).hits))


def test_a_component_writes_down_the_recipe_it_has():
    written = RecipeRetriever(knowledge_base="a.db").to_dict()["init_parameters"]
    assert written["recipe"] == DEFAULT_RECIPE
    assert yaml.safe_load(to_yaml())["components"].keys() >= load_recipe(DEFAULT_RECIPE).sources.keys()


@pytest.fixture(params=[{"builders": []}, {"builders": [], "embedder": None}], ids=["no graph", "words alone"])
def without_graph(request, isles, tmp_path):
    with KnowledgeBase.open(tmp_path / "isles.db", **request.param) as kb:
        kb.add(isles)
        yield kb


@pytest.fixture
def isles():
    return [
        Document("skua", "MV Skua is a car ferry. Ingrid Falk designed her.", {"title": "MV Skua"}),
        Document("falk", "Ingrid Falk was born in Lunn, a fishing village.", {"title": "Ingrid Falk"}),
        Document("gate", "The tide gate opens at six.", {"title": "Tide gate"}),
    ]


def test_without_a_graph_it_ranks_as_hybrid_does_and_the_receipt_says_so(without_graph):
    question = "Where was the designer of MV Skua born?"
    plain, found = without_graph.search(question, recipe="hybrid"), without_graph.search(question)
    same(pairs(found.hits), pairs(plain.hits))
    assert (found.failures, found.confidence) == (plain.failures, plain.confidence)
    stated = found.hits[0].receipts[-1].details
    assert stated["evidence"]["graph"] == {"hits": 0}
    assert stated["weights"]["graph"] == 0.0
    path = str(without_graph.path)
    documents = RecipeRetriever(knowledge_base=path).run(query=question)["documents"]
    same([(one.id, one.score) for one in documents], pairs(plain.hits))
    same([(one.node_id, one.score) for one in LlamaIndexRetriever(path).retrieve(question)], pairs(plain.hits))


def test_without_an_embedder_words_and_graph_answer_and_the_failure_is_stated(isles):
    with KnowledgeBase.open(embedder=None) as kb:
        kb.add(isles)
        found = kb.search("Where was the designer of MV Skua born?")
    assert [hit.id for hit in found.hits] == ["falk", "skua"]
    assert "has no embedder" in found.failures["vector"]
