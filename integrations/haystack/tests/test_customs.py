"""What users of Haystack expect of any integration."""

import logging
from pathlib import Path
from time import process_time

import numpy as np
import pytest
from haystack import Document, Pipeline
from haystack.components.preprocessors import DocumentSplitter
from haystack.document_stores.types import FilterPolicy
from haystack.tools import ComponentTool

import haystack_integrations.components.retrievers.hopweave as retrievers
from haystack_integrations.components.builders.hopweave import FlowPruningBuilder
from haystack_integrations.components.rankers.hopweave import DeferralRanker, MMRRanker
from haystack_integrations.components.retrievers.hopweave import (
    BM25Retriever,
    PageRankRetriever,
    RecipeRetriever,
    VectorSearchRetriever,
)
from haystack_integrations.components.routers.hopweave import IntentRouter
from haystack_integrations.components.writers.hopweave import KnowledgeBaseWriter
from haystack_integrations.document_stores.hopweave import HopweaveDocumentStore
from hopweave import KnowledgeBase, load_recipe
from hopweave.errors import KnowledgeBaseError
from hopweave.graph.link.linker import Linker
from hopweave.vector import embedders

TYPE = {"field": "meta.type", "operator": "==", "value": "vessel"}
YEAR = {"field": "meta.year", "operator": ">", "value": 1980}


def ids(result):
    return [document.id for document in result["documents"]]


# stores and paths


@pytest.mark.parametrize("name", sorted(set(retrievers.__all__) - {"EmbeddingRetriever"}))
def test_a_retriever_takes_a_document_store(name, file):
    store = HopweaveDocumentStore(file)
    retriever = getattr(retrievers, name)(document_store=store)
    beside = getattr(retrievers, name)(knowledge_base=Path(file))
    assert ids(retriever.run(query="Who built MV Skua?")) == ids(beside.run(query="Who built MV Skua?"))
    pipeline = Pipeline()
    pipeline.add_component("part", retriever)
    again = Pipeline.loads(pipeline.dumps()).get_component("part")
    assert (again.knowledge_base, again.document_store.path) == (None, file)
    store.close()
    with pytest.raises(ValueError, match="knowledge_base: the path of a file is needed"):
        getattr(retrievers, name)()
    with pytest.raises(ValueError, match="give it as document_store"):
        getattr(retrievers, name)(knowledge_base=":memory:")


def test_a_store_in_memory_and_paths_in_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    store = HopweaveDocumentStore(":memory:")
    store.write_documents([Document(id="a", content="A ferry.")])
    assert ids(BM25Retriever(document_store=store).run(query="ferry")) == ["a"]
    KnowledgeBaseWriter(knowledge_base="~/kb.db").run(documents=[Document(id="b", content="A ferry.")])
    assert ids(BM25Retriever(knowledge_base=Path("~/kb.db")).run(query="ferry")) == ["b"]
    assert HopweaveDocumentStore("~/kb.db").count_documents() == 1
    assert [path.name for path in tmp_path.glob("*.db")] == ["kb.db"]
    pipeline = Pipeline()
    pipeline.add_component("paths", FlowPruningBuilder(knowledge_base=Path("~/kb.db")))
    assert Pipeline.loads(pipeline.dumps()).get_component("paths").knowledge_base == "~/kb.db"


def test_a_file_that_was_replaced_is_noticed(tmp_path):
    path = tmp_path / "kb.db"
    KnowledgeBaseWriter(knowledge_base=path).run(documents=[Document(id="old", content="A ferry.")])
    retriever = BM25Retriever(knowledge_base=path)
    assert ids(retriever.run(query="ferry")) == ["old"]
    KnowledgeBaseWriter(knowledge_base=tmp_path / "new.db").run(documents=[Document(id="new", content="A ferry.")])
    (tmp_path / "new.db").replace(path)
    assert ids(retriever.run(query="ferry")) == ["new"]


# filters


def test_the_store_looks_up_ids_and_simple_conditions(file, monkeypatch):
    store = HopweaveDocumentStore(file)
    everything = store.filter_documents()
    is_in = {"field": "id", "operator": "in", "value": ["yard", "skua", "nobody"]}
    monkeypatch.setattr(KnowledgeBase, "documents", lambda _: pytest.fail("all documents were read"))
    assert [one.id for one in store.filter_documents(is_in)] == ["yard", "skua"]
    assert [one.id for one in store.filter_documents(TYPE)] == ["skua", "plover"]
    both = {"operator": "AND", "conditions": [TYPE, YEAR]}
    assert [one.id for one in store.filter_documents(both)] == ["plover"]
    assert store.filter_documents({"operator": "AND", "conditions": [is_in, TYPE]}) == everything[:1]
    assert store.filter_documents({"field": "meta.year", "operator": "==", "value": 1974.0}) == everything[:1]
    monkeypatch.undo()
    either = {"operator": "OR", "conditions": [TYPE, {"field": "id", "operator": "==", "value": "gate"}]}
    assert [one.id for one in store.filter_documents(either)] == ["skua", "gate", "plover"]
    store.close()


def test_a_store_can_only_read(file, tmp_path):
    path = tmp_path / "kb.db"
    path.write_bytes(Path(file).read_bytes())
    store = HopweaveDocumentStore(path, read_only=True)
    assert len(store.filter_documents(TYPE)) == 2
    with pytest.raises(KnowledgeBaseError, match="was opened read-only"):
        store.write_documents([Document(content="x")])
    store.close()
    assert HopweaveDocumentStore.from_dict(store.to_dict()).read_only


@pytest.mark.parametrize("retriever", [BM25Retriever, RecipeRetriever])
def test_filters_of_a_run_replace_or_are_merged(retriever, file):
    asked = {"query": "ferry engine Skua Plover gate", "filters": YEAR}
    replaced = retriever(knowledge_base=file, filters=TYPE).run(**asked)
    assert {"crash", "plover"} <= set(ids(replaced))
    merged = retriever(knowledge_base=file, filters=TYPE, filter_policy="merge")
    assert ids(merged.run(**asked)) == ["plover"]
    pipeline = Pipeline()
    pipeline.add_component("part", merged)
    assert Pipeline.loads(pipeline.dumps()).get_component("part").filter_policy is FilterPolicy.MERGE
    with pytest.raises(ValueError, match="filter_policy: 'both' is not allowed; allowed are replace, merge"):
        retriever(knowledge_base=file, filter_policy="both")


def test_filters_can_be_left_to_a_later_component(file):
    place = {"field": "meta.type", "operator": "==", "value": "place"}
    asked = {"query": "MV Skua ferry Sørvåg yard", "filters": place, "top_k": 2}
    plain = ids(BM25Retriever(knowledge_base=file, top_k=2).run(query=asked["query"]))
    deferred = ids(BM25Retriever(knowledge_base=file, filter_policy="defer").run(**asked))
    assert deferred[:2] == plain == ["skua", "plover"]
    assert deferred[2:] == ["yard"]  # the only one that passes
    with pytest.raises(ValueError, match="filter_policy: 'defer' is not allowed; allowed are replace, merge"):
        RecipeRetriever(knowledge_base=file, filter_policy="defer")


# models, logs, tools


@pytest.mark.parametrize("retriever", [VectorSearchRetriever, RecipeRetriever])
def test_warming_up_loads_the_model(retriever, file, tmp_path, monkeypatch):
    path = tmp_path / "kb.db"
    path.write_bytes(Path(file).read_bytes())
    loaded = []
    monkeypatch.setattr(embedders.StaticEmbedder, "embed", lambda self, texts: loaded.append(texts) or _rows(texts))
    retriever(knowledge_base=path).warm_up()
    assert loaded
    BM25Retriever(knowledge_base=path).warm_up()
    assert len(loaded) == 1


def _rows(texts):
    import numpy as np

    return np.ones((len(texts), 256), np.float32)


def test_parts_of_a_document_without_a_title_are_about_what_its_first_part_defines(tmp_path):
    path = str(tmp_path / "kb.db")
    text = "Lunn Tide Barrier is a barrier of gates. " + " ".join(f"Gate {n} opens at {n}." for n in range(30))
    parts = DocumentSplitter(split_by="word", split_length=20).run(documents=[Document(content=text)])["documents"]
    KnowledgeBaseWriter(knowledge_base=path).run(documents=parts)
    with KnowledgeBase.open(path) as kb:
        (link,) = Linker().link("When does the last gate of the Lunn Tide Barrier open?", kb.graph).links
        passages = kb.graph.nodes(np.array(link.about))
    assert len(parts) > 5
    assert {one.document_id for one in passages} == {part.id for part in parts}


def test_indexing_logs_how_far_it_is(tmp_path, caplog):
    documents = [Document(content=f"Text {number}.") for number in range(5)]
    with caplog.at_level(logging.INFO):
        KnowledgeBaseWriter(knowledge_base=tmp_path / "kb.db", batch_size=2).run(documents=documents)
    assert "2 of 5 documents" in caplog.text
    assert "5 of 5 documents" in caplog.text


@pytest.mark.parametrize("name", sorted(set(retrievers.__all__) - {"HybridGraphRetriever"}))
def test_a_tool_has_few_parameters_and_all_are_described(name, file):
    tool = ComponentTool(component=getattr(retrievers, name)(knowledge_base=file), name="search")
    parameters = tool.parameters["properties"]
    assert len(parameters) <= 8
    assert len(str(parameters)) < 2_500
    assert not any("Input '" in one["description"] for key, one in parameters.items() if key not in ("text", "vector"))


def test_intents_in_no_group_can_share_an_output():
    router = IntentRouter(groups={"trouble": ["debugging"]}, catch_all="rest")
    assert router.run(query="How do I fix the crash?")["trouble"]
    assert router.run(query="What is a tide gate?")["rest"] == "What is a tide gate?"
    assert set(router.__haystack_output__._sockets_dict) == {"trouble", "rest", "intent"}
    pipeline = Pipeline()
    pipeline.add_component("router", router)
    assert Pipeline.loads(pipeline.dumps()).get_component("router").catch_all == "rest"


def test_the_graph_retriever_walks_as_the_recipe_does():
    own, recipe = PageRankRetriever(knowledge_base="kb.db").source, load_recipe("multihop").sources["graph"]
    assert own.changed(top_k=30) == recipe.changed(top_k=30)


@pytest.mark.parametrize("ranker", [MMRRanker(top_k=10), DeferralRanker(top_k=10)])
def test_diversity_over_many_documents_takes_less_than_a_second(ranker):
    import numpy as np

    vectors = np.random.default_rng(3).normal(size=(10_000, 128)).astype(np.float32)
    documents = [
        Document(id=str(number), content="x", score=1 - number / 10_000, embedding=vector.tolist())
        for number, vector in enumerate(vectors)
    ]
    times = []
    for _ in range(3):
        started = process_time()
        ranker.run(documents=documents)
        times.append(process_time() - started)
    assert min(times) < 1
