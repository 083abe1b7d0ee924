"""Documents become hits and documents again."""

import json
import pickle
from copy import copy, deepcopy
from dataclasses import replace

import numpy as np
import pytest
import yaml
from haystack import Document
from haystack.components.joiners import DocumentJoiner
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.tools import ComponentTool

from haystack_integrations.common.hopweave import receipts, to_document, to_hit
from haystack_integrations.common.hopweave.documents import from_passage, to_passage
from haystack_integrations.components.retrievers.hopweave import RecipeRetriever
from hopweave import Document as Passage


def test_a_document_keeps_everything_on_the_way_there_and_back():
    document = Document(id="a", content="text", meta={"title": "A"}, score=0.5, embedding=[1.0, 0.0])
    before = deepcopy(document)
    hit = to_hit(document).rescored(0.25, "halve", factor=0.5)
    after = to_document(hit)
    assert document == before
    assert (after.id, after.content, after.score, after.embedding) == ("a", "text", 0.25, [1.0, 0.0])
    assert after.meta["title"] == "A"
    assert after.meta["hopweave"]["receipts"][0]["details"] == {"factor": 0.5}


def test_receipts_go_on_where_they_stopped():
    hit = to_hit(to_document(to_hit(Document(id="a", content="x")).rescored(1.0, "first", scale="logit")))
    assert [receipt.stage for receipt in hit.receipts] == ["first"]
    assert hit.scale == "logit"
    assert "hopweave" not in hit.metadata


def test_a_document_without_content_score_or_embedding():
    hit = to_hit(Document(id="a"))
    assert (hit.text, hit.score, hit.vector) == ("", None, None)
    assert to_document(hit).content is None


def handed_on(**parts):
    return to_document(to_hit(Document(id="a", content="x", **parts)).rescored(0.5, "first", n=1))


def test_copies_share_receipts_and_embedding_because_neither_can_change():
    document = handed_on(embedding=[1.0, 0.1])
    again = deepcopy(document)
    assert again == document
    assert again.meta is not document.meta
    assert again.embedding is document.embedding
    assert again.meta.receipts is document.meta.receipts
    with pytest.raises(TypeError, match="replace it instead of changing it"):
        document.embedding[0] = 2.0
    with pytest.raises(TypeError, match="replace it instead of changing it"):
        document.embedding.append(2.0)
    assert replace(document, embedding=[2.0]).embedding == [2.0]


def test_a_handed_on_document_is_plain_to_everybody_else():
    document = handed_on(embedding=[1.0, 0.1])
    assert document.embedding == [1.0, 0.1]
    assert isinstance(document.embedding, list)
    assert copy(document) == document == pickle.loads(pickle.dumps(document))
    assert receipts(copy(document)) == receipts(pickle.loads(pickle.dumps(document))) == receipts(document) != []
    assert Document.from_dict(json.loads(json.dumps(document.to_dict()))) == document
    assert Document.from_dict(yaml.safe_load(yaml.safe_dump(document.to_dict()))) == document
    store = InMemoryDocumentStore()
    store.write_documents([document])
    assert store.filter_documents() == [document]


def test_receipts_change_neither_equality_nor_what_others_see():
    """So that stock joiners, caches and evaluators take our documents and theirs for the same."""
    plain = Document(id="a", content="x", meta={"title": "A"}, score=0.5, embedding=[1.0, 0.1])
    document = to_document(to_hit(plain).rescored(0.5, "first", n=1))
    assert document == plain
    assert document.to_dict() == plain.to_dict()
    assert Document(content="x", meta=document.meta).id == Document(content="x", meta=plain.meta).id
    assert "first" not in repr(document) + json.dumps(document.to_dict())
    assert receipts(document) == document.meta["hopweave"]["receipts"]
    assert receipts(plain) == []
    assert [one["stage"] for one in receipts(replace(document, score=0.1))] == ["first"]
    joined = DocumentJoiner(join_mode="concatenate").run(documents=[[plain], [document]])["documents"]
    assert joined == [plain]


def test_a_tool_hands_lean_documents_to_a_model(file):
    tool = ComponentTool(component=RecipeRetriever(knowledge_base=file, recipe="multihop"), name="search")
    agent_sees = str(tool.invoke(query="Who founded the yard that built MV Skua?"))
    assert "receipts" not in agent_sees
    assert len(agent_sees) < 2_000


@pytest.mark.parametrize("own", ["mine", {"receipts": "mine"}, None, 0])
def test_fields_of_the_users_that_are_called_like_ours_stay(own):
    meta = {"hopweave": own, "_haystack": own, "title": "A"}
    for embedding in (None, [0.1, 0.2]):
        document = Document(id="a", content=None, meta=meta, embedding=embedding)
        handed = to_document(to_hit(document).rescored(0.5, "first"))
        assert handed.meta == meta
        assert handed.meta["hopweave"] == own
        assert [one["stage"] for one in receipts(handed)] == ["first"]
        vector = None if embedding is None else np.array(embedding, np.float32)
        assert from_passage(to_passage(handed), vector) == replace(document, score=None)
        assert from_passage(Passage("a", "x", meta)).meta == meta


def test_an_embedding_that_was_replaced_is_read_anew():
    document = replace(handed_on(embedding=[1.0, 0.0]), embedding=[0.0, 1.0])
    assert np.array_equal(to_hit(document).vector, np.array([0.0, 1.0], np.float32))
    assert to_hit(document, vector=False).vector is None


def test_what_one_source_lacks_another_gives():
    hit = to_hit(Document(id="a"))._replace(text="A ferry.", vector=np.array([1.0], np.float32))
    document = to_document(hit)
    assert (document.content, document.embedding) == ("A ferry.", [1.0])
