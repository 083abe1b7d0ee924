"""What people get wrong most often: errors name component or file, parameter, value and what is allowed."""

import re

import pytest

from hopweave import Document, KnowledgeBase, Pipeline, Query, Recipe
from hopweave.errors import KnowledgeBaseError, RecipeError
from hopweave.fusion.reciprocal_rank import ReciprocalRank
from hopweave.stages.adjust.freshness import Freshness
from hopweave.stages.rerank.remote_rerank import RemoteRerank

TOP_K = "top_k: must be a whole number of at least 1, but got '5'"
NO_NAME = "recipe: must be the name of a shipped recipe, the path of a YAML file or a Recipe, but got"
NO_RECIPE = "there is no recipe 'hybird' and no such file; shipped are hybrid, .*multihop"
FOLDER = "folder: cannot be opened: is a folder, not a file, such as .*my.db"
TENANT = "tenant: must be a mapping of metadata fields to values, but got 'acme'"
WEIGHTS = r"ReciprocalRank\nweights\n.*valid dictionary.*input_value=\[1, 2\]"
HALF_LIFE = r"(?s)half_life.*allowed are .*half_life_days"
BOUNDS = r"(?s)Freshness.*half_life_days.*greater than 0.*input_value=-3"
RECIPE = "{name: r, sources: {t: {kind: bm25}}, fuse: {kind: FUSER}}"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A working folder with a knowledge base, a text file and a folder in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "text.txt").write_text("A text and no database. " * 50)
    with KnowledgeBase.open("kb.db", embedder=None) as kb:
        kb.add([Document("a", "The ferry.")])
        yield kb


CORE = {
    "unknown fuser": (
        lambda _: Recipe.from_yaml(RECIPE.replace("FUSER", "rrf")),
        RecipeError,
        "fuse.kind: 'rrf' is not allowed: there are 'confirmatory', .*'reciprocal_rank'",
    ),
    "unknown source": (
        lambda _: Recipe.from_yaml("{name: r, sources: {t: {kind: bm52}}}"),
        RecipeError,
        "sources.t.kind: 'bm52' is not allowed: there are 'bm25'",
    ),
    "a list of sources": (
        lambda _: Recipe.from_yaml("{name: r, sources: [{kind: bm25}]}"),
        RecipeError,
        r"sources: \[\{'kind': 'bm25'\}\] is not allowed: input should be a valid dictionary",
    ),
    "a source that is not there": (
        lambda _: Recipe.from_yaml("{name: r, sources: {g: {kind: pagerank}}}"),
        RecipeError,
        "^recipe: source 'g' needs source 'text'; there are no others$",
    ),
    "a weight for nobody": (
        lambda _: Recipe.from_yaml(RECIPE.replace("FUSER", "reciprocal_rank, weights: {x: 1}")),
        RecipeError,
        "^recipe: reciprocal_rank: there is a weight for 'x', but the sources are t$",
    ),
    "an unknown key": (
        lambda _: Recipe.from_yaml("{name: r, sources: {t: {kind: bm25, topk: 3}}}"),
        RecipeError,
        "sources.t.bm25.topk: unknown key; allowed are top_k, ",
    ),
    "a list of weights": (lambda _: ReciprocalRank(weights=[1, 2]), ValueError, WEIGHTS),
    "a wrong keyword": (lambda _: Freshness(half_life=3), ValueError, HALF_LIFE),
    "out of bounds": (lambda _: Freshness(half_life_days=-3), ValueError, BOUNDS),
    "an unknown provider": (
        lambda _: RemoteRerank(provider="coher"),
        ValueError,
        "(?s)RemoteRerank.*provider.*'coher' is unknown; allowed are cohere, ",
    ),
    "a misspelt recipe": (lambda kb: kb.search("x", recipe="hybird"), RecipeError, NO_RECIPE),
    "no recipe at all": (lambda kb: kb.search("x", recipe=None), TypeError, NO_NAME),
    "top_k as a string": (lambda kb: kb.search("x", top_k="5"), ValueError, TOP_K),
    "top_k as a fraction": (lambda kb: kb.search("x", top_k=2.5), ValueError, "top_k: .* at least 1, but got 2.5"),
    "a folder as a file": (lambda _: KnowledgeBase.open("folder"), KnowledgeBaseError, FOLDER),
    "a text as a file": (lambda _: KnowledgeBase.open("text.txt"), KnowledgeBaseError, "text.txt: is not a hopweave"),
    "no file": (lambda _: KnowledgeBase.open("no.db", read_only=True), KnowledgeBaseError, "no.db: does not exist"),
    "a path as knowledge base": (
        lambda _: Pipeline("hybrid", "kb.db"),
        TypeError,
        r"knowledge: must be an open knowledge base, such as KnowledgeBase.open\('my.db'\), but got 'kb.db'",
    ),
    "strings as documents": (
        lambda kb: kb.add(["x"]),
        TypeError,
        "documents: must be Documents, but number 0 is a str",
    ),
    "a policy that is none": (
        lambda kb: kb.add([], on_conflict="overwrite"),
        ValueError,
        "on_conflict must be replace, skip or fail, but got 'overwrite'",
    ),
    "an embedder by name": (
        lambda _: KnowledgeBase.open("new.db", embedder="static"),
        TypeError,
        r"embedder: must have a method embed\(list\[str\]\) or be a function, but got 'static'",
    ),
    "a builder by name": (
        lambda _: KnowledgeBase.open("new.db", builders=["mentions"]),
        TypeError,
        "builders: must be graph builders, .* but number 0 is 'mentions'",
    ),
    "an unknown analyzer": (
        lambda _: KnowledgeBase.open("new.db", analyzers=["english"]),
        ValueError,
        "analyzer 'english' is unknown; allowed are code, light, nlp",
    ),
    "filters as a list": (
        lambda kb: kb.search("x", filters=["a"]),
        ValueError,
        r"filters: must be a mapping of metadata fields, or a function, but got \['a'\]",
    ),
    "an unknown operator": (
        lambda kb: kb.search("x", filters={"a": {"$eq": 1}}),
        ValueError,
        r"filters.a: unknown operator '\$eq'; allowed are eq, ne",
    ),
    "a tenant as a string": (lambda kb: kb.search("x", tenant="acme"), TypeError, TENANT),
    "no question": (lambda kb: kb.search(None), TypeError, "query: must be a string, but got None"),
    "a list as question": (lambda _: Query(["x"]), TypeError, r"query: must be a string, but got \['x'\]"),
}


@pytest.mark.parametrize("mistake", CORE)
def test_in_the_core(mistake, place):
    make, kind, message = CORE[mistake]
    with pytest.raises(kind, match=message):
        make(place)


def haystack_mistakes():
    from haystack import Document as HaystackDocument
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    from haystack_integrations.common.hopweave.recipe_pipeline import to_pipeline
    from haystack_integrations.components.joiners.hopweave import ReciprocalRankJoiner
    from haystack_integrations.components.rankers.hopweave import FreshnessRanker, LengthRanker, RemoteRerankRanker
    from haystack_integrations.components.retrievers.hopweave import (
        BM25Retriever,
        HybridGraphRetriever,
        PageRankRetriever,
        RecipeRetriever,
    )
    from haystack_integrations.components.writers.hopweave import KnowledgeBaseWriter
    from haystack_integrations.document_stores.hopweave import HopweaveDocumentStore

    file, one = {"knowledge_base": "kb.db"}, [HaystackDocument(content="x")]
    strings = "documents: must be a list of Documents, but number 0 is a str"
    return {
        "a misspelt recipe": (lambda: RecipeRetriever(**file, recipe="hybird"), NO_RECIPE),
        "a misspelt recipe as a pipeline": (lambda: to_pipeline("hybird", "kb.db"), NO_RECIPE),
        "a store as knowledge base": (
            lambda: RecipeRetriever(knowledge_base=HopweaveDocumentStore("kb.db")),
            "knowledge_base: must be the path of a file, but got .*; a store is given as document_store",
        ),
        "a store without a graph": (
            lambda: RecipeRetriever(document_store=InMemoryDocumentStore()),
            "knowledge_base: the path of a file is needed, unless document_store is a HopweaveDocumentStore",
        ),
        "a folder as a file": (lambda: BM25Retriever(knowledge_base="folder").run(query="x"), FOLDER),
        "a folder as a store": (lambda: HopweaveDocumentStore("folder").count_documents(), FOLDER),
        "top_k of a recipe": (lambda: RecipeRetriever(**file, top_k="5"), TOP_K),
        "top_k of a run": (lambda: RecipeRetriever(**file).run(query="x", top_k="5"), TOP_K),
        "top_k of a super component": (lambda: HybridGraphRetriever(**file, top_k="5"), TOP_K),
        "top_k of a ranker": (lambda: LengthRanker(top_k="5"), TOP_K),
        "top_k of a joiner": (lambda: ReciprocalRankJoiner(sources=["a"]).run(a=[], top_k="5"), TOP_K),
        "top_k in words": (
            lambda: BM25Retriever(**file, top_k="ten"),
            "^top_k: 'ten' is not allowed: input should be a valid integer",
        ),
        "strings to the writer": (lambda: KnowledgeBaseWriter(**file).run(documents=["x"]), strings),
        "strings to the store": (lambda: HopweaveDocumentStore().write_documents(["x"]), strings),
        "strings to a ranker": (lambda: LengthRanker().run(documents=["x"]), strings),
        "strings to a joiner": (
            lambda: ReciprocalRankJoiner(sources=["a"]).run(a=["x"]),
            "a: must be a list of Documents, but number 0 is a str",
        ),
        "a policy by name": (
            lambda: HopweaveDocumentStore().write_documents(one, policy="skip"),
            "policy: 'skip' is not allowed; allowed are DuplicatePolicy.NONE, .*SKIP",
        ),
        "a wrong keyword": (
            lambda: FreshnessRanker(half_life=3),
            "FreshnessRanker: no parameter 'half_life'; allowed are half_life_days, weight, ",
        ),
        "a wrong keyword of a retriever": (
            lambda: RecipeRetriever(kb="kb.db"),
            "RecipeRetriever: no parameter 'kb'; allowed are knowledge_base, ",
        ),
        "out of bounds": (lambda: FreshnessRanker(half_life_days=-3), "^half_life_days: -3 is not allowed: .* than 0"),
        "a list of weights": (
            lambda: ReciprocalRankJoiner(sources=["a", "b"], weights=[1, 2]),
            r"^weights: \[1, 2\] is not allowed: ",
        ),
        "an unknown embedder": (
            lambda: KnowledgeBaseWriter(knowledge_base="new.db", embedder="openai").run(documents=one),
            "embedder: 'openai' is not allowed; allowed are .*static",
        ),
        "an unknown builder": (
            lambda: KnowledgeBaseWriter(knowledge_base="new.db", builders=["spacy"]).run(documents=one),
            "builders: 'spacy' is not allowed; allowed are links, mentions",
        ),
        "filters of another kind": (
            lambda: RecipeRetriever(**file).run(query="x", filters={"a": 1}),
            r"filters: \{'a': 1\} are not Haystack filters: 'operator' key missing",
        ),
        "an unknown filter policy": (
            lambda: BM25Retriever(**file, filter_policy="both"),
            "filter_policy: 'both' is not allowed; allowed are replace, merge, defer",
        ),
        "a tenant as a string": (lambda: BM25Retriever(**file, tenant="acme").run(query="x"), TENANT),
        "seeds as a string": (
            lambda: PageRankRetriever(**file, seeds_from="text"),
            "^seeds_from: 'text' is not allowed: input should be a valid tuple",
        ),
        "a key as a string": (
            lambda: RemoteRerankRanker(api_key="hidden-key"),
            r"api_key: must be a Secret, as Secret.from_env_var\('JINA_API_KEY'\)",
        ),
        "no question": (lambda: BM25Retriever(**file).run(query=None), "query: must be a string, but got None"),
    }


@pytest.mark.parametrize("mistake", haystack_mistakes())
def test_in_haystack(mistake, place):
    make, message = haystack_mistakes()[mistake]
    with pytest.raises((ValueError, TypeError, KnowledgeBaseError), match=message) as raised:
        make()
    assert not re.search("hidden-key", str(raised.value))


def llama_index_mistakes(kb):
    from llama_index.core import MockEmbedding, VectorStoreIndex
    from llama_index.core.schema import TextNode
    from llama_index.ingestion.hopweave import KnowledgeBaseWriter
    from llama_index.postprocessor.hopweave import FreshnessPostprocessor, LengthPostprocessor
    from llama_index.query_engine.hopweave import load_query_engine
    from llama_index.retrievers.hopweave import BM25Retriever, FusionRetriever, PageRankRetriever, RecipeRetriever

    index = VectorStoreIndex([TextNode(text="x")], embed_model=MockEmbedding(4))
    no_knowledge = "knowledge: must be an open knowledge base, .* but got .*VectorStoreIndex"
    retrievers = {"a": index.as_retriever()}
    return {
        "a misspelt recipe": (lambda: RecipeRetriever(kb, recipe="hybird"), NO_RECIPE),
        "a knowledge base as recipe": (lambda: load_query_engine(kb), NO_NAME),
        "no knowledge base": (load_query_engine, "knowledge_base: must be an open knowledge base, .* but got None"),
        "none for a retriever": (
            lambda: RecipeRetriever(None),
            "knowledge: must be an open knowledge base, .* got None",
        ),
        "an index as knowledge base": (lambda: RecipeRetriever(index), no_knowledge),
        "an index under a graph retriever": (lambda: PageRankRetriever(index), no_knowledge),
        "a folder as a file": (lambda: BM25Retriever("folder"), FOLDER),
        "no file": (lambda: BM25Retriever("no.db"), "no.db: does not exist"),
        "top_k as a string": (lambda: RecipeRetriever(kb, similarity_top_k="5").retrieve("x"), TOP_K),
        "top_k in words": (lambda: BM25Retriever(kb, similarity_top_k="ten"), "(?s)BM25.*top_k.*valid integer.*'ten'"),
        "an unknown fuser": (
            lambda: FusionRetriever(retrievers, fuse="rrf"),
            "fuse: 'rrf' is not allowed; it must be a fuser, or one of confirmatory, .*reciprocal_rank",
        ),
        "a list of weights": (lambda: FusionRetriever(retrievers, weights=[1, 2]), WEIGHTS),
        "nobody is optional": (
            lambda: FusionRetriever(retrievers, optional=["b"]),
            "optional: there is no retriever 'b'; there are a",
        ),
        "a wrong keyword": (lambda: FreshnessPostprocessor(half_life=3), HALF_LIFE),
        "a wrong keyword of a retriever": (
            lambda: BM25Retriever(kb, topk=3),
            "(?s)BM25.*topk.*No such parameter; allowed are top_k",
        ),
        "out of bounds": (lambda: FreshnessPostprocessor(half_life_days=-3), BOUNDS),
        "a tenant as a string": (lambda: BM25Retriever(kb, tenant="acme").retrieve("x"), TENANT),
        "a list of retrievers": (
            lambda: FusionRetriever([index.as_retriever()]),
            r"retrievers: must be a mapping of names to retrievers, .* but got \[<llama_index",
        ),
        "a list of retrievers in a recipe": (
            lambda: RecipeRetriever(kb, retrievers=[index.as_retriever()]),
            "retrievers: must be a mapping of names to retrievers",
        ),
        "an index as retriever": (
            lambda: RecipeRetriever(kb, retrievers={"vector": index}),
            r"retrievers.vector: must be a retriever, as index.as_retriever\(\), but got .*VectorStoreIndex",
        ),
        "a model by name": (
            lambda: RecipeRetriever("kb.db", embed_model="openai"),
            "embed_model: must be an embedding model of LlamaIndex, but got 'openai'",
        ),
        "strings to the writer": (
            lambda: KnowledgeBaseWriter(knowledge_base=kb)(["x"]),
            "nodes: must be nodes, as TextNode.*, but number 0 is a str",
        ),
        "strings to a postprocessor": (
            lambda: LengthPostprocessor().postprocess_nodes(["x"], query_str="x"),
            "nodes: must be NodeWithScore objects, but number 0 is a str",
        ),
    }


def test_in_llama_index(place):
    for mistake, (make, message) in llama_index_mistakes(place).items():
        with pytest.raises((ValueError, TypeError, KnowledgeBaseError)) as raised:
            make()
        assert re.search(message, str(raised.value)), f"{mistake}: {raised.value}"


def test_the_tables_are_large_enough(place):
    assert min(len(CORE), len(haystack_mistakes()), len(llama_index_mistakes(place))) >= 15
