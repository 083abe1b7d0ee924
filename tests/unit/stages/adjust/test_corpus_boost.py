import pytest
import yaml
from pydantic import ValidationError

from hopweave.hit import Hit
from hopweave.query import Query
from hopweave.scores import sigmoid
from hopweave.stages.adjust.corpus_boost import CorpusBoost, CorpusRule


def of(name, score, corpus_type, **kwargs):
    return Hit(name, score, metadata={"corpus_type": corpus_type}, **kwargs)


@pytest.mark.parametrize(
    ("question", "corpus_type", "multiplier"),
    [
        ("k8s deployment", "CODE_DEPLOY", 1.3),
        ("how is the Helm chart made", "DOC_RUNBOOK", 1.3),
        ("deploy it", "CONVO_SLACK", 1),
        ("incident response", "CONVO_SLACK", 1.3),
        ("is the site DOWN?", "DOC_RUNBOOK", 1.3),
        ("guide for new staff", "DOC_README", 1.2),
        ("how  to sail", "DOC_RUNBOOK", 1.2),
        ("how does auth work", "DOC_RUNBOOK", 1),
        ("", "DOC_RUNBOOK", 1),
        # both rules speak for runbooks
        ("steps for an outage", "DOC_RUNBOOK", 1.3 * 1.2),
        ("deploy during an outage: how to", "DOC_RUNBOOK", 1.3 * 1.3 * 1.2),
        # section 12: whole words, not substrings
        ("download the manual", "CONVO_SLACK", 1),
        ("a podcast on sailing", "CODE_DEPLOY", 1),
        # inflections
        ("deployment of the gateway", "CODE_DEPLOY", 1.3),
        ("which pods restart?", "CODE_DEPLOY", 1.3),
        ("containers", "DOC_RUNBOOK", 1.3),
        ("alerts of last night", "CONVO_SLACK", 1.3),
        ("incidents in May", "CONVO_SLACK", 1.3),
        ("helmet", "CODE_DEPLOY", 1),
        ("alerting rules", "CONVO_SLACK", 1),
        ("somehow together", "DOC_README", 1),
    ],
)
def test_rules(question, corpus_type, multiplier):
    result = CorpusBoost().apply([of("a", 0.5, corpus_type)], Query(question))
    assert result[0].score == pytest.approx(0.5 * multiplier)
    assert bool(result[0].receipts) == (multiplier != 1)


def test_the_receipt_says_what_was_said():
    receipt = CorpusBoost().apply([of("a", 0.5, "DOC_RUNBOOK")], Query("steps: pod down"))[0].receipts[-1]
    assert receipt.details == {"multiplier": pytest.approx(1.3 * 1.3 * 1.2), "phrases": ["pod", "down", "steps"]}


def test_a_boost_raises_a_negative_logit():
    # section 12: −4 · 1.3 = −5.2 would have lowered it
    hits = [of("other", -3.9, "CODE_LOGIC", scale="logit"), of("chat", -4.0, "CONVO_SLACK", scale="logit")]
    result = CorpusBoost().apply(hits, Query("outage"))
    assert [hit.id for hit in result] == ["chat", "other"]
    assert result[0].score == pytest.approx(1.3 * sigmoid(-4))
    assert result[0].score > sigmoid(-4)


def test_negative_scores_of_unknown_scale_are_shares_of_their_range():
    hits = [of("a", 0.5, "CONVO_SLACK"), of("b", -0.5, "CONVO_SLACK"), of("c", -1.5, "CONVO_SLACK")]
    assert [hit.score for hit in CorpusBoost().apply(hits, Query("outage"))] == [1.3, pytest.approx(1.3 * 0.5), 0.0]


def test_reorders_only_when_something_changed():
    hits = [of("a", 0.5, "CODE_LOGIC"), of("b", 0.6, "CODE_LOGIC")]
    assert [hit.id for hit in CorpusBoost().apply(hits, Query("outage"))] == ["a", "b"]
    hits = [of("a", 0.5, "CODE_LOGIC"), of("b", 0.4, "CONVO_SLACK")]
    assert [hit.id for hit in CorpusBoost().apply(hits, Query("outage"))] == ["b", "a"]


def test_clamp_where_asked():
    assert CorpusBoost().apply([of("a", 0.9, "CONVO_SLACK")], Query("outage"))[0].score == pytest.approx(1.17)
    assert CorpusBoost(clamp=True).apply([of("a", 0.9, "CONVO_SLACK")], Query("outage"))[0].score == 1.0


def test_empty_none_and_missing_corpus():
    assert CorpusBoost().apply([], Query("outage")) == []
    result = CorpusBoost().apply([of("a", None, "CONVO_SLACK"), Hit("b", 0.5)], Query("outage"))
    assert [(hit.id, hit.score) for hit in result] == [("a", None), ("b", 0.5)]


def test_own_rules_from_yaml_also_in_chinese():
    text = """
    kind: corpus_boost
    corpus_type_field: type
    rules:
      - {phrases: [ferr*, 渡轮], corpus_types: [notice], multiplier: 2}
      - {phrases: [rumour], corpus_types: [gossip], multiplier: 0.5}
    """
    stage = CorpusBoost.model_validate(yaml.safe_load(text))
    hit = Hit("a", 0.25, metadata={"type": "notice"})
    assert stage.apply([hit], Query("the ferries"))[0].score == 0.5
    assert stage.apply([hit], Query("今天的渡轮几点开"))[0].score == 0.5
    assert stage.apply([Hit("a", 0.5, metadata={"type": "gossip"})], Query("rumour"))[0].score == 0.25
    assert CorpusBoost.model_validate(yaml.safe_load(yaml.safe_dump(stage.model_dump(mode="json")))) == stage


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"phrases": [], "corpus_types": ["x"], "multiplier": 1}, "phrases"),
        ({"phrases": ["x"], "corpus_types": [], "multiplier": 1}, "corpus_types"),
        ({"phrases": ["x"], "corpus_types": ["x"], "multiplier": 0}, "multiplier"),
        ({"phrases": ["x"], "corpus_types": ["x"], "multiplier": float("inf")}, "multiplier"),
        ({"phrases": ["x"], "corpus_types": ["x"]}, "multiplier"),
    ],
)
def test_bad_configuration(rule, message):
    with pytest.raises(ValidationError, match=message):
        CorpusRule(**rule)
