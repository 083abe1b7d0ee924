"""Faults that used to give wrong results without a word."""

import asyncio
import logging

import numpy as np
import pytest
from haystack import Document, Pipeline, tracing
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_integrations.components.embedders.hopweave import StaticDocumentEmbedder
from haystack_integrations.components.joiners.hopweave import (
    ConfirmatoryJoiner,
    ReciprocalRankJoiner,
    WeightedJoiner,
)
from haystack_integrations.components.rankers.hopweave import ConfidenceThresholdRanker, MetadataFilterRanker
from haystack_integrations.components.retrievers.hopweave import (
    EmbeddingRetriever,
    RecipeRetriever,
    VectorSearchRetriever,
)
from haystack_integrations.components.routers.hopweave import PlanRouter
from haystack_integrations.components.writers.hopweave import KnowledgeBaseWriter
from haystack_integrations.document_stores.hopweave import HopweaveDocumentStore
from hopweave import KnowledgeBase

TEXTS = {"skua": "MV Skua is a ferry.", "gate": "The tide gate opens at six."}


def foreign(dimension=256):
    """Documents with embeddings of a model that is not ours."""
    random = np.random.default_rng(5)
    return [
        Document(id=key, content=text, embedding=random.normal(size=dimension).tolist()) for key, text in TEXTS.items()
    ]


# whose vectors a file holds


@pytest.mark.parametrize("dimension", [4, 256])
def test_embeddings_of_another_model_are_kept_as_given_and_not_compared_with_our_own(tmp_path, dimension, caplog):
    path, documents = str(tmp_path / "kb.db"), foreign(dimension)
    KnowledgeBaseWriter(knowledge_base=path).run(documents=documents)
    with KnowledgeBase.open(path) as kb:
        assert (kb.settings.model, kb.settings.embedder) == ("given", None)
    with pytest.raises(Exception, match="has no embedder; give the question a vector"):
        VectorSearchRetriever(knowledge_base=path).run(query="ferry")
    with caplog.at_level(logging.WARNING):
        answer = RecipeRetriever(knowledge_base=path).run(query="ferry")
    assert "has no embedder" in answer["failures"]["vector"]
    found = EmbeddingRetriever(knowledge_base=path).run(query_embedding=documents[1].embedding)["documents"]
    assert found[0].id == "gate"
    found = RecipeRetriever(knowledge_base=path).run(query="", query_embedding=documents[1].embedding)
    assert found["documents"][0].id == "gate"
    assert "failures" not in found


@pytest.mark.parametrize("dimension", [4, 256])
def test_embeddings_of_another_model_do_not_enter_a_file_of_ours(tmp_path, dimension):
    path = str(tmp_path / "kb.db")
    writer = KnowledgeBaseWriter(knowledge_base=path)
    writer.run(documents=[Document(id="plain", content="A plain text.")])
    with pytest.raises(ValueError, match=r"documents: their embeddings are not those of 'wordllama.*embedder=None"):
        writer.run(documents=foreign(dimension))
    store = HopweaveDocumentStore(path)
    with pytest.raises(ValueError, match="documents: their embeddings are not those of 'wordllama"):
        store.write_documents(foreign(dimension))
    assert store.count_documents() == 1
    store.close()


def test_embeddings_of_our_own_model_are_known_as_such(tmp_path):
    path = str(tmp_path / "kb.db")
    documents = StaticDocumentEmbedder().run(documents=[Document(content=text) for text in TEXTS.values()])["documents"]
    KnowledgeBaseWriter(knowledge_base=path).run(documents=documents)
    found = VectorSearchRetriever(knowledge_base=path).run(query="When does the gate open?")["documents"]
    assert found[0].content == TEXTS["gate"]


def test_embeddings_of_our_own_model_enter_a_file_that_exists(tmp_path):
    path = str(tmp_path / "kb.db")
    KnowledgeBaseWriter(knowledge_base=path).run(documents=[Document(id="plain", content="A plain text.")])
    own = StaticDocumentEmbedder().run(documents=[Document(id="gate", content=TEXTS["gate"])])["documents"]
    assert KnowledgeBaseWriter(knowledge_base=path).run(documents=own)["documents_written"] == 1
    store = HopweaveDocumentStore(path)
    condition = {"field": "id", "operator": "==", "value": "gate"}
    assert store.update_by_filter(condition, {"seen": True}) == 1
    assert store.filter_documents(condition)[0].meta == {"seen": True}
    store.close()


# what a source no longer has


def test_parts_of_a_changed_file_do_not_stay(tmp_path):
    path = str(tmp_path / "kb.db")
    pipeline = Pipeline()
    pipeline.add_component("writer", KnowledgeBaseWriter(knowledge_base=path, source_field="file_path"))
    writer = Pipeline.loads(pipeline.dumps()).get_component("writer")

    def parts(file, *texts):
        return [Document(content=text, meta={"file_path": file}) for text in texts]

    writer.run(documents=[*parts("docs/a.md", "Old ferry.", "Same gate."), *parts("docs/b.md", "Other yard.")])
    again = [*parts("docs/a.md", "New ferry.", "Same gate."), Document(id="loose", content="Loose.")]
    done = writer.run(documents=again)
    assert done == {"documents_written": 2, "unchanged": 1, "deleted": 1}
    with KnowledgeBase.open(path) as kb:
        assert {one.text for one in kb.documents()} == {"New ferry.", "Same gate.", "Other yard.", "Loose."}


def test_a_file_is_brought_in_line_with_a_store(tmp_path):
    store = InMemoryDocumentStore()
    store.write_documents([Document(id=key, content=text) for key, text in TEXTS.items()])
    writer = KnowledgeBaseWriter(knowledge_base=tmp_path / "kb.db")
    writer.mirror(store)
    store.delete_documents(["skua"])
    assert writer.mirror(store)["deleted"] == 1
    with KnowledgeBase.open(tmp_path / "kb.db") as kb:
        assert kb.ids() == ["gate"]


# native filters

NOTICE = [Document(id="a", content="x", meta={"type": "notice"}), Document(id="b", content="y", meta={"type": "log"})]
IS_NOTICE = {"field": "meta.type", "operator": "==", "value": "notice"}


def test_native_filters_work_and_are_not_taken_for_fields():
    ranker = MetadataFilterRanker(filters=IS_NOTICE)
    pipeline = Pipeline()
    pipeline.add_component("filter", ranker)
    for one in (pipeline, Pipeline.loads(pipeline.dumps())):
        found = one.run({"filter": {"documents": NOTICE}})["filter"]["documents"]
        assert [document.id for document in found] == ["a"]
    for where in (IS_NOTICE, {"operator": "AND", "conditions": [IS_NOTICE]}):
        with pytest.raises(ValueError, match=r"where: .* is a Haystack filter, which goes into `filters`"):
            MetadataFilterRanker(where=where)
        with pytest.raises(ValueError, match=r"where: .* is a Haystack filter, which goes into `filters`"):
            MetadataFilterRanker().run(documents=NOTICE, overrides={"where": where})


# what is given to a run is checked like what is given at construction


@pytest.mark.parametrize(
    ("joiner", "given"),
    [
        (ReciprocalRankJoiner(sources=["text", "vector"]), {"weights": {"txt": 5}}),
        (WeightedJoiner(sources=["text", "vector"], weights={"text": 1, "vector": 1}), {"weights": {"txt": 5}}),
        (ConfirmatoryJoiner(sources=["text", "vector"]), {"overrides": {"confirming": ["txt"]}}),
        (ReciprocalRankJoiner(sources=["text", "vector"]), {"txt": NOTICE}),
        (ReciprocalRankJoiner(sources=["text", "vector"]), {"overrides": {"kk": 5}}),
        (ReciprocalRankJoiner(sources=["text", "vector"]), {"overrides": ["k"]}),
    ],
)
def test_a_misspelt_name_given_to_a_joiner_is_named(joiner, given):
    with pytest.raises(ValueError, match=r"txt|text|kk|overrides"):
        joiner.run(text=NOTICE, **given)


@pytest.mark.parametrize("make", [ReciprocalRankJoiner, WeightedJoiner, ConfirmatoryJoiner, PlanRouter])
@pytest.mark.parametrize("sources", [[], ["text", "text"], "text", [1], None])
def test_names_of_sources_are_checked(make, sources):
    with pytest.raises(
        ValueError, match=r"sources: (must be a list of names|at least one|'text' is there more than once)"
    ):
        make(sources=sources)


# failures of optional sources


def test_a_failing_optional_source_shows_in_log_output_and_trace(tmp_path, caplog, monkeypatch):
    path = str(tmp_path / "kb.db")
    KnowledgeBaseWriter(knowledge_base=path, embedder=None).run(documents=[Document(content="A ferry.")])
    pipeline = Pipeline()
    pipeline.add_component("vector", VectorSearchRetriever(knowledge_base=path, optional=True))
    pipeline.add_component("joiner", ReciprocalRankJoiner(sources=["vector"]))
    pipeline.connect("vector.documents", "joiner.vector")
    tags = {}
    monkeypatch.setattr(tracing.tracer.actual_tracer, "current_span", lambda: Span(tags))
    monkeypatch.setattr("haystack_integrations.common.hopweave.tracing.is_tracing_enabled", lambda: True)
    with caplog.at_level(logging.WARNING):
        result = pipeline.run({"vector": {"query": "ferry"}})
    assert "has no embedder" in result["vector"]["failures"]["vector"]
    assert "VectorSearchRetriever goes on without 'vector'" in caplog.text
    assert "has no embedder" in tags["hopweave.failed.vector"]
    tags.clear()
    assert "vector" in RecipeRetriever(knowledge_base=path).run(query="ferry")["failures"]
    assert "has no embedder" in tags["hopweave.failed.vector"]


class Span(tracing.Span):
    def __init__(self, tags):
        self.tags = tags

    def set_tag(self, key, value):
        self.tags[key] = value


# an answer that is not there


def test_confidence_is_an_output(file):
    retriever = RecipeRetriever(knowledge_base=file)
    sure, unsure = (retriever.run(query=text) for text in ("When was the tide gate fixed?", "Capital of Mongolia"))
    assert unsure["confidence"] < 0.15 < sure["confidence"]
    ranker = ConfidenceThresholdRanker()
    assert ranker.run(documents=unsure["documents"], query="Capital of Mongolia") == {
        "documents": [],
        "confidence": pytest.approx(unsure["confidence"], abs=0.02),
    }
    kept = ranker.run(documents=sure["documents"], query="When was the tide gate fixed?")
    assert len(kept["documents"]) == len(sure["documents"])
    receipt = kept["documents"][0].meta["hopweave"]["receipts"][-1]
    assert receipt["details"]["confidence"] == pytest.approx(kept["confidence"], abs=1e-3)
    again = asyncio.run(ranker.run_async(documents=sure["documents"], query="When was the tide gate fixed?"))
    assert again["confidence"] == kept["confidence"]


def test_a_writer_that_skips_noise_says_what_and_why(tmp_path, caplog):
    path = tmp_path / "kb.db"
    documents = [Document(id="a", content="hello!"), Document(id="b", content="The tide gate opens at six.")]
    KnowledgeBaseWriter(knowledge_base=path).run(documents=documents)
    writer = KnowledgeBaseWriter(knowledge_base=path, skip_noise=True)
    assert writer.to_dict()["init_parameters"]["skip_noise"] is True
    with caplog.at_level("WARNING"):
        done = writer.run(documents=documents)
    assert done == {"documents_written": 0, "unchanged": 1, "deleted": 1, "skipped": {"a": "greeting"}}
    assert "document 'a' is not written: it is noise (greeting)" in caplog.text
    again = [Document(id="b", content="Do you remember?")]
    assert writer.run(documents=again, on_conflict="skip") == {
        "documents_written": 0,
        "unchanged": 0,
        "deleted": 0,
        "skipped": {"b": "question_about_memory"},
    }
    with KnowledgeBase.open(path) as kb:
        assert kb.ids() == ["b"]
