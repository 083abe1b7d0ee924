"""A file replaced by another while it is open (blue/green): never an answer that mixes the two."""

import os
import shutil

import pytest

from hopweave import Document, KnowledgeBase, Pipeline, QueryCache
from hopweave.errors import KnowledgeBaseError
from hopweave.knowledge_base.shared import open_shared


def filled(path, colour):
    with KnowledgeBase.open(path) as kb:
        # equal ids, versions and numbers of rows: nothing but the file itself tells them apart
        kb.add([Document(f"d{n}", f"The {colour} ferry {n} calls at Hallow.") for n in range(20)])
        kb.compact()
    return path


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("images", [False, True])
def test_a_file_replaced_by_rename_is_noticed(tmp_path, read_only, images):
    blue, green = filled(tmp_path / "kb.db", "blue"), filled(tmp_path / "new.db", "green")
    with KnowledgeBase.open(blue, read_only=read_only) as kb:
        pipeline = Pipeline("hybrid", kb, cache=QueryCache())
        assert "blue" in pipeline.run("ferry 3").hits[0].text
        if images:
            shutil.rmtree(f"{blue}-index")
            os.replace(f"{green}-index", f"{blue}-index")
        os.replace(green, blue)
        for ask in (
            lambda: pipeline.run("ferry 3"),
            lambda: pipeline.run("ferry 4"),
            lambda: kb.search("ferry 3", recipe="multihop"),
            lambda: kb.get(["d3"]),
            lambda: kb.vectors(["d3"]),
            lambda: kb.graph,
            lambda: kb.version,
            kb.count,
            kb.check,
            lambda: kb.add([Document("d3", "The blue ferry 3 is late.")]),
        ):
            with pytest.raises(KnowledgeBaseError, match=r"was (replaced|opened read-only)"):
                ask()
        with open_shared(blue) as again:
            assert all("green" in hit.text for hit in again.search("ferry 3").hits)
            assert again.check() == []


def test_a_search_under_way_ends_on_the_file_it_began_with(tmp_path):
    blue, green = filled(tmp_path / "kb.db", "blue"), filled(tmp_path / "new.db", "green")
    with KnowledgeBase.open(blue) as kb:
        with kb.one_version():
            os.replace(green, blue)
            assert all("blue" in hit.text for hit in kb.search("ferry", recipe="multihop").hits)
        with pytest.raises(KnowledgeBaseError, match="was replaced"):
            kb.search("ferry")


def test_a_file_that_is_gone_is_noticed(tmp_path):
    path = filled(tmp_path / "kb.db", "blue")
    with KnowledgeBase.open(path) as kb:
        path.unlink()
        with pytest.raises(KnowledgeBaseError, match="replaced or deleted"):
            kb.add([Document("lost", "Nobody would find it again.")])
