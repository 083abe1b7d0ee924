"""Several knowledge bases searched as one: the same hits, scores and receipts in core, Haystack and LlamaIndex."""

import asyncio

import pytest
from haystack import Document as HaystackDocument
from haystack import Pipeline as HaystackPipeline
from llama_index.core.schema import TextNode
from llama_index.core.vector_stores import MetadataFilter, MetadataFilters
from llama_index.hopweave import to_document
from llama_index.query_engine.hopweave import RecipeQueryEngine
from llama_index.retrievers.hopweave import RecipeRetriever as InLlamaIndex

from haystack_integrations.components.retrievers.hopweave import HybridGraphRetriever
from haystack_integrations.components.retrievers.hopweave import RecipeRetriever as InHaystack
from haystack_integrations.document_stores.hopweave import HopweaveDocumentStore
from hopweave import Document, Hit, KnowledgeBase, Query, Recipe, load_recipe, read_documents
from hopweave.errors import RecipeError
from hopweave.search.federated import FederatedPipeline

from .conftest import CORPUS
from .test_rankings import same

QUESTION = "Where was the designer of MV Skua born?"
WEIGHTED = {"kind": "reciprocal_rank", "k": 1, "weights": {"sea": 2.0}}


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """The corpus in two files that have every third document in common, each with a team of its own."""
    folder, documents = tmp_path_factory.mktemp("several"), list(read_documents(CORPUS))
    for name, left_out in (("sea", 1), ("land", 2)):
        with KnowledgeBase.open(folder / f"{name}.db", analyzers=("nlp", "code")) as kb:
            for place, one in enumerate(documents):
                if place % 3 != left_out:
                    kb.add([Document(one.id, one.text, {**one.metadata, "team": ("red", "blue")[place % 2]})])
    return {name: str(folder / f"{name}.db") for name in ("sea", "land")}


@pytest.fixture(scope="module")
def bases(paths):
    with (
        KnowledgeBase.open(paths["sea"], read_only=True) as sea,
        KnowledgeBase.open(paths["land"], read_only=True) as land,
    ):
        yield {"sea": sea, "land": land}


def several(name, **more):
    return Recipe(**{**dict(load_recipe(name)), "fuse_knowledge_bases": WEIGHTED, **more})


def pairs(hits):
    return [(hit.id, hit.score) for hit in hits]


def in_haystack(documents):
    return [(one.id, one.score) for one in documents["documents"]]


def in_llama_index(nodes):
    return [(one.node_id, one.score) for one in nodes]


@pytest.mark.parametrize("name", ["hybrid", "multihop", "knowledge", "operations", "service"])
@pytest.mark.parametrize("tenant", [None, {"team": "red"}])
def test_recipes(name, tenant, paths, bases):
    recipe = several(name, knowledge_bases=["sea", "land"])
    expected = FederatedPipeline(recipe, bases).run(Query(QUESTION, tenant=tenant)).hits
    assert {hit.id.partition("/")[0] for hit in expected} == {"sea", "land"}
    assert len({hit.id.partition("/")[2] for hit in expected}) < len(expected)  # some are in both
    assert tenant is None or {hit.metadata["team"] for hit in expected} == {"red"}
    haystack = InHaystack(knowledge_base=paths, recipe=recipe, tenant=tenant)
    same(in_haystack(haystack.run(query=QUESTION)), pairs(expected))
    same(in_haystack(asyncio.run(haystack.run_async(query=QUESTION))), pairs(expected))
    llama_index = InLlamaIndex(paths, recipe=recipe, tenant=tenant)
    same(in_llama_index(llama_index.retrieve(QUESTION)), pairs(expected))
    same(in_llama_index(asyncio.run(llama_index.aretrieve(QUESTION))), pairs(expected))
    same(in_llama_index(InLlamaIndex(bases, recipe=recipe, tenant=tenant).retrieve(QUESTION)), pairs(expected))


def named(receipts):
    return next(one["details"] for one in receipts if one["stage"] == "knowledge_base")


def test_receipts_name_the_knowledge_base(paths):
    for document in InHaystack(knowledge_base=paths, recipe="multihop").run(query=QUESTION)["documents"]:
        said = named(document.meta["hopweave"]["receipts"])
        assert f"{said['name']}/{said['id']}" == document.id
    for node in InLlamaIndex(paths, recipe="multihop").retrieve(QUESTION):
        said = named(node.metadata["hopweave"]["receipts"])
        assert f"{said['name']}/{said['id']}" == node.node_id


def test_an_id_that_was_returned_can_be_filtered_by(paths):
    retriever = InHaystack(knowledge_base=paths)
    last = retriever.run(query=QUESTION)["documents"][-1].id
    filters = {"field": "id", "operator": "==", "value": last}
    assert [one.id for one in retriever.run(query=QUESTION, filters=filters)["documents"]] == [last]


def test_filters_hold_in_each(paths, bases):
    expected = FederatedPipeline("multihop", bases).run(Query(QUESTION, filters={"team": "blue"})).hits
    filters = {"field": "meta.team", "operator": "==", "value": "blue"}
    found = InHaystack(knowledge_base=paths).run(query=QUESTION, filters=filters)
    same(in_haystack(found), pairs(expected))
    filters = MetadataFilters(filters=[MetadataFilter(key="team", value="blue")])
    same(in_llama_index(InLlamaIndex(paths, filters=filters).retrieve(QUESTION)), pairs(expected))


def test_what_a_framework_has_stored_under_one_id_stays_two(tmp_path):
    texts = {"a": "The tide gate opens at six.", "b": "The tide gate is stuck."}
    for name, text in texts.items():
        HopweaveDocumentStore(str(tmp_path / f"h{name}.db")).write_documents([HaystackDocument(id="1", content=text)])
        with KnowledgeBase.open(tmp_path / f"l{name}.db") as kb:
            kb.add([to_document(TextNode(id_="1", text=text))])
    documents = InHaystack(knowledge_base={name: tmp_path / f"h{name}.db" for name in texts}).run(query="tide gate")
    assert {one.id: one.content for one in documents["documents"]} == {f"{name}/1": texts[name] for name in texts}
    nodes = InLlamaIndex({name: tmp_path / f"l{name}.db" for name in texts}).retrieve("tide gate")
    assert {one.node_id: one.text for one in nodes} == {f"{name}/1": texts[name] for name in texts}


def test_haystack_pipelines_with_several_survive_yaml(paths):
    pipeline = HaystackPipeline()
    pipeline.add_component("retriever", InHaystack(knowledge_base=paths, recipe="hybrid"))
    again = HaystackPipeline.loads(pipeline.dumps())
    expected = pipeline.run({"retriever": {"query": QUESTION}})["retriever"]
    same(in_haystack(again.run({"retriever": {"query": QUESTION}})["retriever"]), in_haystack(expected))
    assert again.get_component("retriever").knowledge_base == paths
    again.get_component("retriever").warm_up()
    again.get_component("retriever").close()


def test_what_does_not_go_with_several_is_refused(paths, bases):
    recipe = several("hybrid", knowledge_bases=["sea", "land"])
    with pytest.raises(RecipeError, match="searches the knowledge bases sea, land: give each by its name"):
        InHaystack(knowledge_base=paths["sea"], recipe=recipe)
    with pytest.raises(RecipeError, match="searches the knowledge bases sea, land: give each by its name"):
        HybridGraphRetriever(knowledge_base=paths["sea"], recipe=recipe)
    with pytest.raises(RecipeError, match="searches the knowledge bases sea, land: give each by its name"):
        InLlamaIndex(paths["sea"], recipe=recipe)
    with pytest.raises(RecipeError, match="searches the knowledge bases sea, land: give each by its name"):
        RecipeQueryEngine(recipe, bases["sea"])
    with pytest.raises(TypeError, match="must be an open knowledge base"):
        RecipeQueryEngine("hybrid", bases)
    with pytest.raises(ValueError, match="several are not allowed with document_store, graph or upstream"):
        InHaystack(knowledge_base=paths, upstream=["text"])
    with pytest.raises(ValueError, match="retrievers: are not allowed with several knowledge bases"):
        InLlamaIndex(paths, retrievers={"text": None})
    for make in (lambda given: InHaystack(knowledge_base=given), InLlamaIndex):
        for given in ({}, {"a/b": paths["sea"]}):
            with pytest.raises(ValueError, match="knowledge_bases: "):
                make(given)


def test_a_node_keeps_its_id_where_nothing_names_another():
    from llama_index.hopweave import to_hit, to_node

    node = to_node(Hit("1", 0.5, "text"))
    assert to_node(to_hit(node)).node_id == "1"
