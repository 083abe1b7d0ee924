"""A recipe over a store of the user with a graph in a file or on a server, in core, Haystack and LlamaIndex."""

import pickle

import pytest
from haystack import Document as HaystackDocument
from haystack import Pipeline as HaystackPipeline
from haystack import default_from_dict
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.utils import Secret
from llama_index.core.bridge.pydantic import SecretStr
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeRelationship, NodeWithScore, RelatedNodeInfo, TextNode
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.hopweave import documents_in
from llama_index.ingestion.hopweave import GraphWriter
from llama_index.retrievers.hopweave import RecipeRetriever

from haystack_integrations.components.retrievers.hopweave import RecipeRetriever as HaystackRecipeRetriever
from haystack_integrations.components.writers.hopweave import GraphWriter as HaystackGraphWriter
from hopweave import Document, GraphStore, Pipeline, Query, Recipe
from hopweave.graph.external_documents import ExternalDocuments
from hopweave.hit import Hit
from hopweave.sources.pagerank import PageRank

PASSAGES = [
    Document("skua", "MV Skua is a ferry built at Sørvåg yard.", {"title": "MV Skua"}),
    Document("yard", "Sørvåg yard was founded by Ingrid Falk.", {"title": "Sørvåg yard"}),
    Document("falk", "Ingrid Falk was born in Lunn.", {"title": "Ingrid Falk"}),
    Document("gate", "The tide gate opens at six.", {"title": "Tide gate"}),
]
QUESTION = "Where was the founder of the yard that built MV Skua born?"


@pytest.fixture(params=["file", "server"])
def home(request, tmp_path):
    """The path of a new graph file, or the URL of a database."""
    return str(tmp_path / "graph.db") if request.param == "file" else request.getfixturevalue("postgres_url")


def in_haystack(passages):
    return [HaystackDocument(id=one.id, content=one.text, meta=dict(one.metadata)) for one in passages]


def in_llama_index(passages):
    source = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id="ships.md")}
    return [TextNode(id_=one.id, text=one.text, metadata=dict(one.metadata), relationships=source) for one in passages]


@pytest.fixture
def recipe(tmp_path):
    path = tmp_path / "walk.yaml"
    path.write_text(
        "name: walk\nsources:\n  text: {kind: bm25}\n"
        "  graph: {kind: pagerank, seeds_from: [text]}\nfuse: {kind: reciprocal_rank}\ntop_k: 4\n"
    )
    return str(path)


class Fixed(BaseRetriever):
    """A retriever that always finds the same nodes."""

    def __init__(self, nodes):
        super().__init__()
        self._nodes = nodes

    def _retrieve(self, query_bundle):
        return self._nodes


def test_a_recipe_over_a_store_of_ones_own(home, recipe):
    secret = Secret.from_token(home)
    shelf = {one.id: one for one in PASSAGES}
    documents = in_haystack(PASSAGES)
    written = HaystackGraphWriter(graph=secret).run(documents=documents)
    assert written == {"documents_written": 4, "unchanged": 0, "deleted": 0}
    store = InMemoryDocumentStore()
    store.write_documents(documents)

    with GraphStore.open(home) as graph:
        core = ExternalDocuments(graph, lambda ids: [Hit(key, text=shelf[key].text) for key in ids if key in shelf])
        alone = PageRank(seeds_from=()).search(Query(QUESTION), core)
        assert {hit.id for hit in alone[:3]} == {"skua", "yard", "falk"}
        over_graph = Recipe.of_source(PageRank(seeds_from=()))
        expected = [hit.id for hit in Pipeline(over_graph, core).run(Query(QUESTION)).hits]

        docstore = SimpleDocumentStore()
        docstore.add_documents(in_llama_index(PASSAGES))
        found = RecipeRetriever(documents_in(docstore, graph), recipe=over_graph).retrieve(QUESTION)
        assert [one.node.node_id for one in found] == expected

    pipeline = HaystackPipeline()
    pipeline.add_component("words", InMemoryBM25Retriever(store))
    retriever = HaystackRecipeRetriever(graph=secret, document_store=store, recipe=recipe, upstream=["text"])
    pipeline.add_component("recipe", retriever)
    pipeline.connect("words.documents", "recipe.text")
    asked = {"words": {"query": QUESTION}, "recipe": {"query": QUESTION}}
    found = [one.id for one in pipeline.run(asked)["recipe"]["documents"]]
    assert "falk" in found  # two hops away

    words = [one.id for one in store.bm25_retrieval(QUESTION)]
    found_by_words = [node for node in in_llama_index(PASSAGES) if node.node_id in words]
    upstream = Fixed([NodeWithScore(node=node, score=1.0) for node in found_by_words])
    nodes = RecipeRetriever(
        documents_in(docstore, SecretStr(home)), recipe=recipe, retrievers={"text": upstream}
    ).retrieve(QUESTION)
    assert {one.node.node_id for one in nodes} == set(found)
    retriever.close()


def test_writers_delete_by_document_and_source(home):
    writer = HaystackGraphWriter(graph=Secret.from_token(home), source_field="file")
    documents = in_haystack(PASSAGES)
    for document in documents[:2]:
        document.meta["file"] = "ships.md"
    writer.run(documents=documents)
    assert writer.run(documents=documents[:1]) == {"documents_written": 0, "unchanged": 1, "deleted": 1}
    assert writer.delete_documents(["falk"]) == 1
    assert writer.delete_documents(source="ships.md") == 1
    with GraphStore.open(home) as graph:
        assert graph.ids() == ["gate"]
        transformation = GraphWriter(graph=graph)
        nodes = IngestionPipeline(transformations=[transformation]).run(nodes=in_llama_index(PASSAGES[:2]))
        assert [node.node_id for node in nodes] == ["skua", "yard"]
        assert graph.ids() == ["gate", "skua", "yard"]
        assert transformation.delete("ships.md") == 2
        assert transformation.delete_nodes(["gate"]) == 1
    writer.close()


def test_a_password_is_a_secret():
    url = "postgresql://anna:sesame@127.0.0.1/kb"
    with pytest.raises(ValueError, match="must be a secret"):
        HaystackGraphWriter(graph=url)
    with pytest.raises(ValueError, match="must be a secret"):
        documents_in(SimpleDocumentStore(), url)
    writer = HaystackGraphWriter(graph=Secret.from_env_var("GRAPH_URL"))
    assert default_from_dict(HaystackGraphWriter, writer.to_dict()).graph == Secret.from_env_var("GRAPH_URL")
    assert pickle.loads(pickle.dumps(writer)).graph == Secret.from_env_var("GRAPH_URL")
    assert HaystackGraphWriter(graph="postgresql://anna@127.0.0.1/kb").graph == "postgresql://anna@127.0.0.1/kb"


def test_a_graph_needs_a_place_for_its_documents():
    with pytest.raises(ValueError, match="graph: document_store is needed"):
        HaystackRecipeRetriever(graph="graph.db")
