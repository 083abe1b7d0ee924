"""The real loading and scoring code, on a model small enough to be made on the spot."""

import asyncio
import copy
import importlib.util
import math
import os
import pickle
import threading

import pytest
from pydantic import ValidationError

from hopweave.errors import HopweaveError, InvalidScore
from hopweave.hit import Hit
from hopweave.query import Query
from hopweave.stages.rerank import cross_encoder
from hopweave.stages.rerank.cross_encoder import CrossEncoder

os.environ["HF_HUB_OFFLINE"] = "1"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("sentence_transformers") is None, reason="needs sentence-transformers"),
]

QUERY = Query("which ferry sails in winter ?")
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
TEXTS = ["the skua sails in winter", "a gull is a bird", "the old ferry", "ship ship ship", "in winter the skua"]
WORDS = [*SPECIAL, *sorted({word for text in [QUERY.text, *TEXTS] for word in text.split()})]


def save_model(folder, labels=1):
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    words = Tokenizer(models.WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]"))
    words.normalizer = normalizers.Lowercase()
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_max_length=64,
    )
    torch.manual_seed(5)
    config = BertConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        num_labels=labels,
        initializer_range=0.5,  # wide, so that the logits differ visibly
    )
    BertForSequenceClassification(config).eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return save_model(tmp_path_factory.mktemp("cross-encoder"))


@pytest.fixture(scope="module")
def logits(model):
    """What transformers alone makes of each pair, one at a time."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer, network = AutoTokenizer.from_pretrained(model), AutoModelForSequenceClassification.from_pretrained(model)
    network.eval()
    with torch.no_grad():
        return {text: float(network(**tokenizer(QUERY.text, text, return_tensors="pt")).logits[0, 0]) for text in TEXTS}


@pytest.fixture
def hits():
    return [Hit(str(place), 0.9 - place / 10, text) for place, text in enumerate(TEXTS)]


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def test_probabilities(model, logits, hits):
    reranked = CrossEncoder(model=model, device="cpu").apply(hits, QUERY)
    expected = sorted(TEXTS, key=lambda text: -logits[text])
    assert [hit.text for hit in reranked] == expected
    assert len({round(hit.score, 3) for hit in reranked}) == 5
    for hit in reranked:
        assert hit.score == pytest.approx(sigmoid(logits[hit.text]), abs=1e-5)
        assert hit.scale == "unit"
        assert hit.receipts[-1].details["logit"] == pytest.approx(logits[hit.text], abs=1e-4)
        assert hit.receipts[-1].details["original"] == pytest.approx(0.9 - int(hit.id) / 10)
    assert any(logit < 0 for logit in logits.values())


def test_raw_logits(model, logits, hits):
    reranked = CrossEncoder(model=model, output="logit").apply(hits, QUERY)
    assert {hit.scale for hit in reranked} == {"logit"}
    assert [hit.score for hit in reranked] == pytest.approx(sorted(logits.values(), reverse=True), abs=1e-4)


def test_blend(model, logits, hits):
    reranked = CrossEncoder(model=model, blend=0.25).apply([*hits[:1], Hit("none", None, TEXTS[1])], QUERY)
    scores = {hit.id: hit.score for hit in reranked}
    assert scores["0"] == pytest.approx(0.25 * sigmoid(logits[TEXTS[0]]) + 0.75 * 0.9, abs=1e-5)
    assert scores["none"] == pytest.approx(sigmoid(logits[TEXTS[1]]), abs=1e-5)  # nothing to blend with


def test_small_batches_change_nothing(model, hits):
    one, many = (CrossEncoder(model=model, batch_size=size).apply(hits, QUERY) for size in (1, 32))
    assert [hit.id for hit in one] == [hit.id for hit in many]
    assert [hit.score for hit in one] == pytest.approx([hit.score for hit in many], abs=1e-5)


@pytest.mark.parametrize("output", ["unit", "logit"])
def test_the_rest_stays_behind(output, model, hits):
    more = [*hits[:2], Hit("x", 1.0, "the skua"), Hit("y", None, "the skua"), Hit("z", 0.0, "the skua")]
    reranked = CrossEncoder(model=model, candidates=2, output=output).apply(more, QUERY)
    assert [hit.id for hit in reranked[2:]] == ["x", "y", "z"]
    assert reranked[2].score == reranked[1].score  # 1.0, held below the lowest that was read
    assert reranked[3].score is None
    assert reranked[4].score <= reranked[1].score
    assert reranked[2].receipts[-1].details["reason"] == "not among the first 2"
    assert {hit.scale for hit in reranked} == {output}


def test_the_title_is_read_unless_it_should_not(model):
    hits = [Hit("a", 0.5, "the skua sails", {"title": "ferry"}), Hit("b", 0.5, "ferry\nthe skua sails")]
    together = CrossEncoder(model=model).apply(hits, QUERY)
    assert together[0].score == pytest.approx(together[1].score, abs=1e-6)
    apart = CrossEncoder(model=model, include_title=False).apply(hits, QUERY)
    assert abs(apart[0].score - apart[1].score) > 1e-3


def test_empty_in_empty_out_without_a_model():
    assert CrossEncoder(model="no/such-model").apply([], QUERY) == []


def test_empty_text_and_empty_question(model):
    assert len(CrossEncoder(model=model).apply([Hit("a", 0.5, ""), Hit("b", 0.5, "the skua")], Query(""))) == 2


def test_loaded_once_by_many_threads(model, hits, monkeypatch):
    import sentence_transformers

    monkeypatch.setattr(cross_encoder, "_loaded", {})
    loads = []
    real = sentence_transformers.CrossEncoder

    def counted(*arguments, **named):
        loads.append(arguments)
        return real(*arguments, **named)

    monkeypatch.setattr(sentence_transformers, "CrossEncoder", counted)
    answers = []

    def work():
        answers.append([hit.id for hit in CrossEncoder(model=model).apply(hits, QUERY)])

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loads) == 1
    assert len(answers) == 6
    assert len({tuple(answer) for answer in answers}) == 1


def test_async_is_the_same(model, hits):
    stage = CrossEncoder(model=model)
    assert asyncio.run(stage.apply_async(hits, QUERY)) == stage.apply(hits, QUERY)


def test_copy_and_pickle_after_use(model, hits):
    stage = CrossEncoder(model=model)
    expected = stage.apply(hits, QUERY)
    for other in (copy.deepcopy(stage), pickle.loads(pickle.dumps(stage))):
        assert other == stage
        assert other.apply(hits, QUERY) == expected


def test_nothing_is_mutated_and_duplicates_count_once(model, hits):
    before = copy.deepcopy(hits)
    assert len(CrossEncoder(model=model).apply([*hits, hits[0]], QUERY)) == 5
    assert hits == before


def test_a_model_with_several_labels_cannot_rank(tmp_path):
    with pytest.raises(HopweaveError, match="has 3 labels"):
        CrossEncoder(model=save_model(tmp_path, labels=3)).apply([Hit("a", 0.5, "x")], QUERY)


def test_bad_scores_and_parameters():
    with pytest.raises(InvalidScore, match="'a'"):
        CrossEncoder().apply([Hit("a", float("nan"))], QUERY)
    for wrong in ({"candidates": 0}, {"batch_size": 0}, {"blend": 2}, {"output": "percent"}, {"model": ""}):
        with pytest.raises(ValidationError, match=next(iter(wrong))):
            CrossEncoder(**wrong)
    with pytest.raises(ValidationError, match="logits do not blend"):
        CrossEncoder(output="logit", blend=0.5)
