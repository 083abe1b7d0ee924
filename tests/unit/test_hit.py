import copy
import json
import pickle

import numpy as np
import pytest

from hopweave.hit import Hit, Receipt, same_vector


def vector(*numbers):
    return np.array(numbers, np.float32)


def test_a_rescored_hit_is_new_and_tells_both_scores():
    hit = Hit("a", score=0.5, text="t", metadata={"x": 1}, vector=vector(1, 2), scale="unit", origin=object())
    changed = hit.rescored(0.65, "boost", multiplier=1.3)
    assert (hit.score, hit.receipts) == (0.5, ())
    assert changed.receipts == (Receipt("boost", 0.5, 0.65, {"multiplier": 1.3}),)
    assert changed.score == 0.65
    assert (changed.id, changed.text, changed.metadata, changed.scale) == (hit.id, hit.text, hit.metadata, "unit")
    assert changed.origin is hit.origin
    assert changed.vector is hit.vector


def test_scale_changes_only_when_given():
    hit = Hit("a", score=-2.0, scale="logit")
    assert hit.rescored(-1.0, "stage").scale == "logit"
    assert hit.rescored(0.1, "sigmoid", scale="unit").scale == "unit"


def test_an_unknown_score_is_not_zero():
    assert Hit("a").score is None
    assert Hit("a", score=0.0) != Hit("a")
    assert Hit("a", score=3.0).rescored(None, "forget").score is None


def test_details_may_be_called_score_and_stage():
    assert Hit("a").rescored(1.0, "x", stage="late", score=2).receipts[0].details == {"stage": "late", "score": 2}


def test_receipts_pile_up_in_order():
    hit = Hit("a", score=1.0).rescored(2.0, "first").rescored(3.0, "second")
    assert [(r.stage, r.before, r.after) for r in hit.receipts] == [("first", 1.0, 2.0), ("second", 2.0, 3.0)]


@pytest.mark.parametrize("field", ["id", "score", "receipts"])
def test_a_hit_cannot_be_changed(field):
    with pytest.raises(AttributeError):
        setattr(Hit("a"), field, None)


def test_equality_compares_vectors_by_their_numbers():
    assert Hit("a", vector=vector(1, 2)) == Hit("a", vector=vector(1, 2))
    assert not Hit("a", vector=vector(1, 2)) != Hit("a", vector=vector(1, 2))  # noqa: SIM202 - the operator is tested
    assert Hit("a", vector=vector(1, 2)) != Hit("a", vector=vector(1, 3))
    assert Hit("a", vector=vector(1, 2)) != Hit("a")
    assert Hit("a") != ("a", None)
    assert same_vector(None, None)
    assert not same_vector(vector(1), vector(1, 1))


@pytest.mark.parametrize(
    "other",
    [
        Hit("b", 1.0, "t", {"x": 1}),
        Hit("a", 2.0, "t", {"x": 1}),
        Hit("a", 1.0, "u", {"x": 1}),
        Hit("a", 1.0, "t", {"x": 2}),
        Hit("a", 1.0, "t", {"x": 1}, scale="unit"),
        Hit("a", 1.0, "t", {"x": 1}, origin="o"),
        Hit("a", 1.0, "t", {"x": 1}, receipts=(Receipt("r", None, 1.0),)),
    ],
)
def test_hits_differ_in_any_part(other):
    assert Hit("a", 1.0, "t", {"x": 1}) != other


def test_hits_can_be_put_into_sets_and_copied():
    hit = Hit("a", 1.0, metadata={"tags": ["x"]}, vector=vector(1, 2)).rescored(2.0, "s", n=1)
    assert len({hit, copy.deepcopy(hit), pickle.loads(pickle.dumps(hit))}) == 1


def test_as_dict_is_json_and_reads_back():
    hit = Hit("a", 1.0, "text", {"n": 1}, vector(1, 2), origin=object()).rescored(
        2.0, "s", ranks={"text": 1}, none=None
    )
    data = json.loads(json.dumps(hit.as_dict()))
    assert data == {
        "id": "a",
        "score": 2.0,
        "text": "text",
        "metadata": {"n": 1},
        "receipts": [{"stage": "s", "before": 1.0, "after": 2.0, "details": {"ranks": {"text": 1}, "none": None}}],
    }
    assert tuple(Receipt.from_dict(one) for one in data["receipts"]) == hit.receipts


def test_what_as_dict_gives_is_the_callers_own():
    hit = Hit("a", metadata={"n": 1}).rescored(1.0, "s", n=1)
    data = hit.as_dict()
    data["metadata"]["n"] = 2
    data["receipts"][0]["details"]["n"] = 2
    assert hit.metadata == {"n": 1}
    assert hit.receipts[0].details == {"n": 1}


def test_the_path_is_that_of_the_best_graph_source():
    weak = Receipt("pagerank", None, 0.2, {"path": "A —links_to→ B"})
    strong = Receipt("pagerank", None, 0.9, {"path": "C —mentions→ B"})
    assert Hit("b", receipts=(weak, Receipt("bm25", None, 7.0), strong)).path == "C —mentions→ B"
    assert Hit("b", receipts=(Receipt("pagerank", None, None, {"path": "A —links_to→ B"}),)).path == "A —links_to→ B"
    assert Hit("b", receipts=(Receipt("reader", None, 1.0, {"path": 7}),)).path is None
    assert Hit("b").path is None


def test_a_hit_is_text_in_a_notebook_until_reports_are_loaded(monkeypatch):
    monkeypatch.setattr("hopweave.hit._picture", None)
    assert Hit("a")._repr_html_() is None
    monkeypatch.setattr("hopweave.hit._picture", lambda hit: f"<b>{hit.id}</b>")
    assert Hit("a")._repr_html_() == "<b>a</b>"
