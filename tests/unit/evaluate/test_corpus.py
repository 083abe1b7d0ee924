import json
from zlib import crc32

import numpy as np
import pytest

from hopweave.document import Document
from hopweave.evaluate.corpus import diagnose_corpus
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.knowledge_base.train_embedder import train_embedder
from hopweave.vector.contextual.training import Training
from hopweave.vector.embedders import CallableEmbedder


def bag_of_words(texts):
    """Texts with the same words are near each other."""
    rows = np.zeros((len(texts), 4096), np.float32)
    for row, text in zip(rows, texts, strict=True):
        for word in text.lower().replace(".", " ").split():
            row[crc32(word.encode()) % 4096] += 1
    return rows


def noise(texts):
    """Near each other are texts only if they are equal."""
    return np.stack([np.random.default_rng(crc32(text.encode())).normal(size=64) for text in texts]).astype(np.float32)


def passages(count):
    """Passages of two sentences that share words which no other passage has."""
    return [Document(f"d{n}", f"A{n} b{n} c{n} d{n} e{n}. F{n} b{n} c{n} d{n} g{n}.") for n in range(count)]


def report_of(documents, embedder=None, **options):
    with KnowledgeBase.open(embedder=embedder) as kb:
        kb.add(documents)
        return diagnose_corpus(kb, **options)


@pytest.mark.parametrize(
    ("function", "recall", "advice"),
    [(bag_of_words, (0.9, 1.0), "The embedder knows the language"), (noise, (0.0, 0.2), "far below BM25")],
)
def test_an_embedder_that_knows_the_text_and_one_that_does_not(function, recall, advice):
    found = report_of(passages(120), CallableEmbedder(name="words", function=function), sample=40)
    assert (found.questions, found.skipped, found.bm25, found.embedder) == (40, 0, 1.0, "words")
    assert recall[0] <= found.vector <= recall[1]
    assert found.ratio == found.vector
    assert [line for line in found.advice if "embedder" in line and advice in line]
    assert f"{found.ratio:>8.3f}  is the ratio of vectors to BM25" in str(found)


def test_titles_parts_and_lengths():
    documents = [
        Document("a", "One two three.", {"title": "Ships"}),
        Document("b", "One two three four five.", {"source_id": "whole", "split_id": 1}),
        Document("c", "One.", {"source": "file.md", "part": 2}),
        Document("d", "One two.", {"source": "a source of unnumbered passages"}),
    ]
    found = report_of(documents)
    assert (found.documents, found.passages, found.titled, found.parts, found.words) == (4, 4, 0.25, 0.5, 2.5)
    assert "Most passages have no title." in found.advice[0]
    titled = report_of([Document("a", "One two three.", {"title": "Ships"})])
    assert not [line for line in titled.advice if "no title" in line]


def test_names_that_passages_share():
    documents = [
        Document("skua", "A ferry to Hallow Island.", {"title": "MV Skua"}),
        Document("crew", "The crew of MV Skua lives on Hallow Island.", {"title": "Crew list"}),
        Document("soup", "boil it slowly.", {"title": "Soup"}),
        Document("bread", "bake it slowly.", {"source_id": "cookbook"}),
        Document("cake", "bake it quickly.", {"source_id": "cookbook"}),  # the same document is not a name
    ]
    found = report_of(documents)
    assert found.named == pytest.approx(2 / 5)
    assert found.names == pytest.approx(4 / 5)  # both have both names
    with KnowledgeBase.open(embedder=None, builders=[]) as kb:
        kb.add(documents)
        without_graph = diagnose_corpus(kb)
    assert (without_graph.named, without_graph.names) == (0.0, 0.0)
    assert [line for line in without_graph.advice if "Few passages share a name" in line]


def test_passages_without_two_sentences_are_skipped_and_counted():
    short = [Document("one", "The only sentence that there is."), Document("two", "A sentence with some words. Short.")]
    heading = Document("three", "It says this twice today. And something else besides.", {"title": "T"})
    found = report_of([*short, heading])
    assert (found.questions, found.skipped) == (1, 2)
    assert found.ratio is None
    assert [line for line in found.advice if "Too little to judge the embedder" in line]
    none = report_of(short)
    assert (none.questions, none.skipped, none.bm25, none.vector) == (0, 2, None, None)


def test_a_sentence_of_the_heading_is_not_asked_for():
    text = "It says this twice today. And something else besides."
    title = {"title": "It says this twice today. And something else besides, with more."}
    assert report_of([Document("a", text, title)]).bm25 == 1.0
    whole = {"title": text}
    assert report_of([Document("a", text, whole)]).skipped == 1


def test_overlapping_parts_do_not_hide_each_other():
    # each passage comes six times: some of the five others still have the hidden sentence
    documents = [
        Document(f"d{n}-{copy}", f"Boat kw{n}x sails at dawn. Boat kw{n}x carries mail today. Copy {copy}.")
        for n in range(20)
        for copy in range(6)
    ]
    assert report_of(documents, sample=20).bm25 > 0.9


def test_the_seed_decides_and_the_file_stays_as_it_is(tmp_path):
    file = tmp_path / "kb.db"
    with KnowledgeBase.open(file, embedder=None) as kb:
        kb.add(
            Document(f"d{n}", "\n\n".join(f"Boat {n % 7} sails {k % 3} times." for k in range(n))) for n in range(60)
        )
        kb.compact()
    before = {path: path.read_bytes() for path in sorted(tmp_path.rglob("*")) if path.is_file()}
    with KnowledgeBase.open(file, read_only=True) as kb:
        reports = [diagnose_corpus(kb, sample=20, seed=seed) for seed in (1, 1, 2)]
    assert reports[0] == reports[1] != reports[2]
    assert {path: path.read_bytes() for path in sorted(tmp_path.rglob("*")) if path.is_file()} == before


def test_without_an_embedder_or_documents():
    found = report_of(passages(120))
    assert (found.embedder, found.vector, found.ratio, found.bm25) == (None, None, None, 1.0)
    assert "Embedder: none; not tested: the file cannot embed texts" in str(found)
    empty = report_of([])
    assert (empty.documents, empty.titled, empty.words, empty.named, empty.questions) == (0, None, None, None, 0)
    assert "The file holds no documents" in empty.advice[0]
    assert "–" in str(empty)
    assert json.loads(json.dumps(empty.as_dict()))["ratio"] is None


def test_an_embedder_trained_on_the_corpus_is_not_tested_on_it(kb):
    kb.add(passages(3))
    train_embedder(kb, Training(epochs=1, batch_size=16))
    found = diagnose_corpus(kb)
    assert (found.embedder, found.vector, found.ratio) == (kb.settings.model, None, None)
    assert "not tested: it was trained on these passages" in str(found)
    assert found.bm25 is not None


def test_bad_sample(letters):
    with pytest.raises(ValueError, match="sample: 0 is not allowed"):
        diagnose_corpus(letters, sample=0)
