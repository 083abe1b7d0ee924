"""Documents become hits and documents again."""

from copy import deepcopy

from haystack import Document

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
