"""Deleting deletes: after `compact(vacuum=True)`, no byte of what was deleted is in the file, its log or its images."""

import random
import threading

import numpy as np
import pytest

from hopweave import Document, KnowledgeBase
from hopweave.graph.model import Contribution, Edge, Node
from hopweave.storage.strings import string_hash
from hopweave.text.analyzers import analyzer

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def word(chance):
    return "".join(chance.choices(LETTERS, k=11))


def document(key, chance):
    """A document in which every word is one of its own, and what these words are."""
    own = [word(chance) for _ in range(10)]
    text = (
        f"MV {own[0].title()} met {own[1].title()} at {own[2]}. See [[{own[3]}]] and https://{own[4]}.example/{own[5]}."
    )
    metadata = {"title": own[6].title(), "tags": [own[7]], "note": {"by": own[8]}}
    return Document(f"{key}-{own[9]}", text, metadata, source=f"{own[9]}.md"), own


def traces(folder, words, vectors):
    """Which of the words, their keys in the index, and the vectors are in any file."""
    found = set()
    contents = [file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()]
    lower = [content.lower() for content in contents]
    for one in words:
        stem = analyzer("nlp")(one)[0]
        wanted = (one.encode(), one[2:9].encode())  # FTS5 leaves out what a word shares with the one before it
        if any(part in content for content in lower for part in wanted):
            found.add(one)
        if any(string_hash(stem).to_bytes(8, "little") in content for content in contents):
            found.add(f"key of {one}")
    for number, vector in enumerate(vectors):
        if any(part in content for content in contents for part in (vector[:48], vector[-48:])):
            found.add(f"vector {number}")
    return found


@pytest.mark.parametrize("approximate_above", [100_000, 20])
def test_no_byte_of_what_is_gone_is_left(tmp_path, attempts, approximate_above):
    for seed in range(attempts(1, 40)):
        chance, path = random.Random(seed), tmp_path / str(seed) / "a.db"
        path.parent.mkdir()
        gone_words, gone_vectors, there = [], [], {}
        with KnowledgeBase.open(path, approximate_above=approximate_above) as kb, KnowledgeBase.open(path) as reader:
            for _ in range(4):
                for key in chance.sample(range(40), 12):
                    for old in [old for old in there if old.startswith(f"{key}-")] if chance.random() < 0.5 else []:
                        vector = kb.vectors([old])[old]
                        unit = (vector / np.linalg.norm(vector.astype(np.float64))).astype(np.float32)
                        gone_vectors += [vector.tobytes(), unit.tobytes()]
                        gone_words += there.pop(old)
                        kb.delete([old])
                    new, words = document(key, chance)
                    kb.add([new])
                    there[new.id] = words
                    if chance.random() < 0.2:  # replaced under its id, of which nothing may be left but the id
                        kb.contribute([Contribution(new.id, (Node.entity(words[0]),), ())])
                        other, more = document(key, chance)
                        kb.add([Document(new.id, other.text, other.metadata)])
                        gone_words += [one for one in words if one != words[9] and one != words[0]]
                        there[new.id] = [words[0], words[9], *more]
                if chance.random() < 0.5:
                    threading.Thread(target=lambda kb=reader: kb.search("MV", recipe="multihop")).run()
                kb.compact(vacuum=True)
                assert traces(path.parent, gone_words, gone_vectors) == set(), seed
                assert traces(path.parent, [words[0] for words in there.values()], [])  # it does look
            assert kb.check() == []
            assert set(kb.ids()) == set(there)
        assert traces(path.parent, gone_words, gone_vectors) == set(), seed


def test_memory_returns_after_churn(tmp_path):
    """Names of documents that are gone are not kept, by the writer or by a reader that follows."""
    with (
        KnowledgeBase.open(tmp_path / "a.db", embedder=None) as kb,
        KnowledgeBase.open(tmp_path / "a.db", embedder=None, read_only=True) as reader,
    ):
        kb.contribute([Contribution("kept", edges=(Edge("entity:a", "entity:b", "knows"),))])
        for round_ in range(25):
            kb.add([Document(f"d{n}", f"MV Ship{round_}x{n} met Captain Name{round_}y{n}.") for n in range(100)])
            assert kb.graph.node_count == reader.graph.node_count
        kb.compact()
        kb.add([Document("last", "A last change, after which a reader looks for a new image.")])
        for graph in (kb.graph, reader.graph):
            assert graph.node_count < 600
            assert len(graph.tables.node_keys) < 700  # of 7,500 there were
            assert len(graph.tables.word_strings) < 1000
