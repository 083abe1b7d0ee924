"""Documents become hits and documents again."""

import json
import pickle
from copy import copy, deepcopy
from dataclasses import replace

import numpy as np
import pytest
from haystack import Document
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_integrations.common.hopweave import to_document, to_hit


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
    assert again.meta["hopweave"] is document.meta["hopweave"]
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
    assert Document.from_dict(json.loads(json.dumps(document.to_dict()))) == document
    store = InMemoryDocumentStore()
    store.write_documents([document])
    assert store.filter_documents() == [document]


def test_receipts_survive_json():
    document = Document.from_dict(json.loads(json.dumps(handed_on().to_dict())))
    after = to_document(to_hit(document).rescored(0.25, "second"))
    assert [receipt["stage"] for receipt in after.meta["hopweave"]["receipts"]] == ["first", "second"]


def test_an_embedding_that_was_replaced_is_read_anew():
    document = replace(handed_on(embedding=[1.0, 0.0]), embedding=[0.0, 1.0])
    assert np.array_equal(to_hit(document).vector, np.array([0.0, 1.0], np.float32))
    assert to_hit(document, vector=False).vector is None


def test_what_one_source_lacks_another_gives():
    hit = to_hit(Document(id="a"))._replace(text="A ferry.", vector=np.array([1.0], np.float32))
    document = to_document(hit)
    assert (document.content, document.embedding) == ("A ferry.", [1.0])
