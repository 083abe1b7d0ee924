"""Any adding and deleting leaves the index that a fresh build would, to the last digit of every score."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hopweave.document import Document
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.text.analyzers import term_counts
from hopweave.text.bm25_index import BM25Index

WORDS = st.sampled_from(["tide", "gate", "ferry", "skua", "hallow", "isle", "storm", "quay", "rope", "mast"])


@given(st.data())
def test_any_adding_and_deleting_equals_a_fresh_build(data):
    index, truth, row = BM25Index(), {}, 0
    for _ in range(data.draw(st.integers(1, 6), label="steps")):
        texts = data.draw(st.lists(st.lists(WORDS, max_size=6), max_size=4), label="added")
        added = {row + 1 + number: text for number, text in enumerate(texts)}
        row += len(added)
        removed = data.draw(st.lists(st.sampled_from(sorted(truth)), unique=True), label="removed") if truth else []
        index = index.changed(
            [(number, *term_counts(text)) for number, text in added.items()], np.array(removed, np.int64)
        )
        truth = {number: text for number, text in {**truth, **added}.items() if number not in removed}
        if data.draw(st.booleans(), label="search in between"):
            index.search({"tide": 1.0}, 3)
    fresh = BM25Index().changed([(number, *term_counts(text)) for number, text in truth.items()])
    terms = data.draw(st.dictionaries(WORDS, st.sampled_from([1.0, 2.0, 5.0]), max_size=4), label="question")
    for one, other in zip(index.search(terms, 99), fresh.search(terms, 99), strict=True):
        assert np.array_equal(one, other)  # to the last digit


@settings(max_examples=25)
@given(st.data())
def test_a_knowledge_base_that_was_changed_equals_one_that_was_not(data):
    names = st.sampled_from("abcdef")
    with KnowledgeBase.open(builders=[]) as changed, KnowledgeBase.open(builders=[]) as fresh:
        truth = {}
        for _ in range(data.draw(st.integers(1, 5), label="steps")):
            added = data.draw(
                st.dictionaries(names, st.lists(WORDS, min_size=1, max_size=5), max_size=4), label="added"
            )
            changed.add(Document(name, " ".join(text)) for name, text in added.items())
            removed = data.draw(st.lists(names, max_size=3), label="removed")
            changed.delete(removed)
            truth = {name: text for name, text in {**truth, **added}.items() if name not in removed}
            if data.draw(st.booleans(), label="search in between"):
                changed.search("tide gate")
            if data.draw(st.booleans(), label="compact in between"):
                changed.compact()
        fresh.add(Document(name, " ".join(text)) for name, text in truth.items())
        for question in ("tide gate", "storm over the isle", "ferry"):
            assert changed.search(question, recipe="hybrid").hits == fresh.search(question, recipe="hybrid").hits
            full_text = [kb.rank_full_text(f'"{question.split()[0]}"', top_k=9) for kb in (changed, fresh)]
            assert full_text[0] == full_text[1]
        assert changed.check() == []
