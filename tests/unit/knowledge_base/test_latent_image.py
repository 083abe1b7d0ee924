"""The latent space as a part of the file: the same for the same contents, rebuilt when damaged, gone with its texts."""

import random

import numpy as np
import pytest

from hopweave import Document, KnowledgeBase
from hopweave.query import Query
from hopweave.storage.strings import string_hash

SEA = "tide gate moon ferry harbour pilot lantern anchor rope sail keel mast oar buoy quay dock crane winch"
WORDS = SEA.split()
QUESTIONS = ["Which pilot lights the lantern?", "Where is the anchor of the ferry?", "tide and moon"]


def parts(count=320):
    """Parts of documents with a subject each, more than are always learned from."""
    chance = random.Random(5)
    made = []
    for number in range(count):
        document = number % 40
        subject = [WORDS[(document + step) % len(WORDS)] for step in range(6)]
        text = " ".join(chance.choices(subject, k=12)) + f" part {number} of text{document}"
        made.append(Document(f"d{document}#{number}", text, {"source_id": f"d{document}"}))
    return made


def rankings(kb):
    return [
        [(hit.id, round(hit.score, 6)) for hit in kb.search(Query(question), top_k=30).hits] for question in QUESTIONS
    ]


def latent_images(path):
    return sorted(path.parent.glob(f"{path.name}-index/latent-*.image"))


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    with KnowledgeBase.open(tmp_path_factory.mktemp("straight") / "kb.db") as kb:
        kb.add(parts())
        kb.compact()
        return rankings(kb)


@pytest.mark.parametrize("seed", range(5))
def test_any_history_of_the_same_contents_ranks_the_same_after_a_compaction(tmp_path, seed, expected):
    shuffled = parts()
    random.Random(seed).shuffle(shuffled)
    with KnowledgeBase.open(tmp_path / "kb.db") as kb:
        kb.add(shuffled[:200])
        rankings(kb)  # so that there is something to follow
        kb.add(shuffled[200:])
        gone = [document.id for document in shuffled[::3]]
        rankings(kb)
        kb.delete(gone)
        rankings(kb)
        kb.add([document for document in shuffled if document.id in set(gone)])
        kb.compact()
        assert rankings(kb) == expected
    with KnowledgeBase.open(tmp_path / "kb.db", read_only=True) as again:
        assert rankings(again) == expected


def test_an_added_passage_is_found_at_once_and_has_a_place_in_the_space(tmp_path):
    with KnowledgeBase.open(tmp_path / "kb.db") as kb:
        kb.add(parts())
        kb.compact()
        kb.add([Document("d1#new", "A submarine surfaces beside the moon gate", {"source_id": "d1"})])
        hits = kb.search("submarine surfaces by the moon gate").hits
        assert hits[0].id == "d1#new"
        addends = next(one for one in hits[0].receipts if one.stage == "evidence_sum").details["addends"]
        assert addends.keys() >= {"document", "latent", "latent_document"}


def test_a_damaged_image_is_reported_and_made_again(tmp_path, expected):
    path = tmp_path / "kb.db"
    with KnowledgeBase.open(path) as kb:
        kb.add(parts())
        kb.compact()
        assert kb.check() == []
    (image,) = latent_images(path)
    content = bytearray(image.read_bytes())
    content[-100] ^= 0xFF
    image.write_bytes(content)
    with KnowledgeBase.open(path) as kb:
        assert any("latent" in problem for problem in kb.check())
        assert rankings(kb) == expected
        kb.compact()
        assert kb.check() == []
        assert rankings(kb) == expected


def test_a_file_without_the_image_needs_none(tmp_path, expected):
    path = tmp_path / "kb.db"
    with KnowledgeBase.open(path) as kb:
        kb.add(parts())
        kb.compact()
        with kb._connections.writing(same_content=True) as connection:
            connection.execute("DELETE FROM images WHERE name LIKE 'latent:%'")
    for image in latent_images(path):
        image.unlink()
    with KnowledgeBase.open(path, read_only=True) as kb:
        assert kb.check() == []
        assert rankings(kb) == expected


def test_nothing_of_deleted_texts_stays_in_the_image(tmp_path):
    path = tmp_path / "kb.db"
    secret = [Document(f"s#{n}", "zeppelin hangar", {"source_id": "s"}) for n in range(3)]
    key = np.uint64(string_hash("zeppelin")).tobytes()
    with KnowledgeBase.open(path) as kb:
        kb.add([*parts(), *secret])
        kb.compact()
        assert any(key in image.read_bytes() for image in latent_images(path))
        kb.delete([one.id for one in secret])
        kb.compact()
    assert not any(key in image.read_bytes() for image in latent_images(path))


def test_a_corpus_without_parts_has_an_empty_space(tmp_path):
    path = tmp_path / "kb.db"
    with KnowledgeBase.open(path) as kb:
        kb.add([Document(f"flat{n}", f"text {n} of the tide gate") for n in range(30)])
        kb.compact()
        hits = kb.search("tide gate").hits
        addends = next(one for one in hits[0].receipts if one.stage == "evidence_sum").details["addends"]
        assert addends.keys() <= {"text", "vector"}
    (image,) = latent_images(path)
    assert image.stat().st_size < 5_000
