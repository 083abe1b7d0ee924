"""Documents come and go with what they are parts of."""

import numpy as np
import pytest

from hopweave.cli import main
from hopweave.document import Document
from hopweave.errors import KnowledgeBaseError
from hopweave.graph.model import Contribution, Edge, Mention, Node
from hopweave.knowledge_base.store import KnowledgeBase


@pytest.fixture
def fleet():
    with KnowledgeBase.open(embedder=None) as kb:
        kb.add(
            [
                Document("skua", "The Skua is a ferry.", {"type": "ship", "year": 1974, "ports": ["Hallow", ["Tern"]]}),
                Document("petrel", "The Petrel is a tug.", {"type": "ship", "year": 1990, "owner": {"name": "acme"}}),
                Document("gate", "The gate opens at six.", {"type": "place", "note": 'a "ship"'}),
                Document("bare", "Nothing is known."),
            ]
        )
        yield kb


@pytest.mark.parametrize(
    ("where", "gone"),
    [
        ({"type": "ship"}, {"skua", "petrel"}),
        ({"type": ["place", "notice"]}, {"gate"}),
        ({"year": {"gte": 1980}}, {"petrel"}),
        ({"year": 1974, "type": "ship"}, {"skua"}),
        ({"year": 1974, "type": "place"}, set()),
        ({"owner.name": "acme"}, {"petrel"}),
        ({"ports": "Hallow"}, {"skua"}),
        ({"ports": "Tern"}, {"skua"}),
        ({"note": 'a "ship"'}, {"gate"}),
        ({"type": {"ne": "ship"}}, {"gate", "bare"}),
    ],
)
def test_delete_by_metadata(fleet, where, gone):
    before = set(fleet.ids())
    assert fleet.delete(where=where) == len(gone)
    assert set(fleet.ids()) == before - gone
    assert fleet.check() == []


@pytest.mark.parametrize(
    "arguments", [{}, {"ids": ["skua"], "where": {"type": "ship"}}, {"where": {}}, {"where": "type"}]
)
def test_what_delete_does_not_guess(fleet, arguments):
    with pytest.raises(ValueError, match=r"delete needs either ids or where|where must name at least one"):
        fleet.delete(**arguments)
    assert fleet.count() == 4


def test_replace_is_one_change_to_all_documents_of_a_source(fleet):
    first = [Document(f"part {n}", f"part {n} of the log") for n in range(3)]
    assert fleet.replace("log.md", first).added == 3
    version = fleet.version
    done = fleet.replace("log.md", [first[0], Document("part 1", "rewritten"), Document("part 9", "new")])
    assert (done.added, done.updated, done.unchanged, done.removed) == (1, 1, 1, 1)
    assert fleet.version == version + 1
    assert fleet.sources() == {"log.md": 3}
    assert set(fleet.ids()) == {"skua", "petrel", "gate", "bare", "part 0", "part 1", "part 9"}
    assert [key for key, _ in fleet.rank_words("rewritten", analyzer="nlp", top_k=5)] == ["part 1"]
    assert fleet.replace("log.md", []).removed == 3
    assert fleet.sources() == {}
    assert fleet.count() == 4
    assert fleet.check() == []


def test_replace_that_fails_changes_nothing(fleet):
    fleet.replace("log.md", [Document("one", "first")])
    with pytest.raises(KnowledgeBaseError, match="text must be a string"):
        fleet.replace("log.md", [Document("two", "second"), Document("three", None)])
    with pytest.raises(ValueError, match="source must be a non-empty string"):
        fleet.replace("", [])
    assert fleet.sources() == {"log.md": 1}


def test_a_document_may_move_to_another_source(fleet):
    fleet.replace("a.md", [Document("one", "first")])
    assert fleet.replace("b.md", [Document("one", "first")]).updated == 1
    assert fleet.replace("a.md", []).removed == 0
    assert fleet.sources() == {"b.md": 1}
    assert next(one for one in fleet.documents() if one.id == "one").source == "b.md"


# From the command line


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    docs = tmp_path / "docs"
    docs.mkdir()
    write_ships(docs, "Skua", "Petrel", "Tern")
    (docs / "gate.md").write_text("The gate opens at six.")
    return docs


def write_ships(folder, *ships):
    """A file with a section for each ship, long enough for a passage of its own."""
    (folder / "ships.md").write_text("".join(f"# {ship}\n\n{'She sails every day. ' * 60}\n\n" for ship in ships))


def index(*arguments):
    assert main(["index", *map(str, arguments), "--embedder", "none", "--quiet"]) == 0
    with KnowledgeBase.open("hopweave.db", embedder=None, read_only=True) as kb:
        assert kb.check() == []
        return sorted(kb.ids())


def test_indexing_again_removes_parts_that_are_gone(folder, tmp_path, capsys):
    assert index(folder) == ["gate.md", "ships.md", "ships.md#petrel", "ships.md#tern"]
    write_ships(folder, "Skua", "Petrel")
    assert index(folder) == ["gate.md", "ships.md", "ships.md#petrel"]
    (folder / "gate.md").unlink()
    assert index(folder) == ["gate.md", "ships.md", "ships.md#petrel"]  # of a file that is gone, only with --sync
    assert index(folder, "--sync") == ["ships.md", "ships.md#petrel"]


def test_indexing_the_same_again_makes_no_version(folder):
    def version():
        with KnowledgeBase.open("hopweave.db", embedder=None, read_only=True) as kb:
            return kb.version

    index(folder)
    before = version()
    index(folder)
    index(folder, "--sync")
    assert version() == before


def test_an_empty_folder_does_not_empty_the_knowledge_base(folder, tmp_path, capsys):
    everything = index(folder)
    (tmp_path / "unmounted").mkdir()
    assert main(["index", "unmounted", "--sync", "--embedder", "none"]) != 0
    assert "--sync: there are no documents in unmounted, so all 4 that came from files" in capsys.readouterr().err
    assert main(["index", str(tmp_path / "unmounted"), "--embedder", "none", "--quiet"]) == 1  # nothing was read
    with KnowledgeBase.open("hopweave.db", embedder=None, read_only=True) as kb:
        assert sorted(kb.ids()) == everything


def test_lines_that_are_gone_and_lines_that_cannot_be_read(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lines = ['{"id": "a", "text": "one"}', '{"id": "b", "text": "two"}', '{"id": "c", "text": "three"}']
    (tmp_path / "x.jsonl").write_text("\n".join(lines))
    assert index("x.jsonl") == ["a", "b", "c"]
    (tmp_path / "x.jsonl").write_text("\n".join([lines[0], "{broken"]))
    assert index("x.jsonl", "--skip-bad") == ["a", "b", "c"]
    (tmp_path / "x.jsonl").write_text(lines[2])
    assert index("x.jsonl") == ["c"]
    (tmp_path / "x.jsonl").write_text("")
    assert index("x.jsonl") == []


def test_documents_of_other_files_and_of_programs_stay(folder, tmp_path):
    (tmp_path / "other.md").write_text("Another file.")
    with KnowledgeBase.open("hopweave.db", embedder=None) as kb:
        kb.add([Document("mine", "added by a program")])
    index("other.md")
    assert {"mine", "other.md", "gate.md"} <= set(index(folder))
    assert index(folder, "--sync") == ["gate.md", "mine", "ships.md", "ships.md#petrel", "ships.md#tern"]


# What cannot be read back is not stored


def nested(depth):
    value = "x"
    for _ in range(depth):
        value = {"a": value} if depth % 2 else [value]
    return value


@pytest.mark.parametrize("depth", [64, 100, 2500, 100_000])
def test_metadata_nested_too_deeply_is_refused(fleet, depth):
    with pytest.raises(
        KnowledgeBaseError, match="'deep' cannot be stored: its metadata is nested deeper than 64 levels"
    ):
        fleet.add([Document("deep", "text", {"deep": nested(depth)})])
    assert fleet.add([Document("flat", "text", {"deep": nested(62)})]).added == 1


# A heading is indexed instead of the title


def test_a_heading_is_found_kept_and_checked(tmp_path):
    headed = Document("skua", "A ferry.", {"title": "MV Skua"}, heading="title: MV Skua\nowner: harbour")
    with KnowledgeBase.open(tmp_path / "a.db", embedder=None) as kb:
        kb.add([headed, Document("tern", "A tug.", {"title": "Tern"}, heading="Tern")])
        assert [key for key, _ in kb.rank_words("harbour", analyzer="nlp", top_k=2)] == ["skua"]
        assert [key for key, _ in kb.rank_full_text("harbour", top_k=2)] == ["skua"]
        assert [one.heading for one in kb.documents()] == [headed.heading, ""]
        assert kb.get(["skua"])["skua"].text == "A ferry."
        assert kb.add([*kb.documents()]).unchanged == 2
        kb.compact(rebuild=True)
        assert [key for key, _ in kb.rank_words("harbour", analyzer="nlp", top_k=2)] == ["skua"]
        assert kb.check() == []
        assert kb.add([Document("skua", "A ferry.", {"title": "MV Skua"})]).updated == 1
        assert kb.rank_words("harbour", analyzer="nlp", top_k=2) == []
        with pytest.raises(KnowledgeBaseError, match="its heading must be a string, but got 5"):
            kb.add([Document("skua", "A ferry.", heading=5)])


# What others do meanwhile


def test_update_does_not_bring_back_what_was_deleted_meanwhile(tmp_path):
    path = tmp_path / "a.db"
    with KnowledgeBase.open(path, embedder=lambda texts: [embed(text) for text in texts]) as kb:

        def embed(text):
            if "late" in text:  # another process deletes it while the new text is prepared
                with KnowledgeBase.open(path) as other:
                    other.delete(["skua"])
            return [1.0, 2.0]

        kb.add([Document("skua", "A ferry."), Document("tern", "A tug.")])
        with pytest.raises(KnowledgeBaseError, match="cannot update what is not there: 'skua'"):
            kb.update([Document("tern", "A big tug."), Document("skua", "A late ferry.")])
        assert {document.id: document.text for document in kb.documents()} == {"tern": "A tug."}


def test_what_is_contributed_under_the_id_of_a_document_stands_beside_what_it_says_itself():
    said = Contribution("skua", (Node.entity("Rota"),), (Edge("passage:skua", "entity:rota", "planned_by"),))

    def names(kb):
        found = kb.graph.neighbours(np.array(list(kb.graph.find(["passage:skua"]).values())), "both").targets
        return {node.name for node in kb.graph.nodes(found)}

    for order in ((0, 1), (1, 0)):
        with KnowledgeBase.open(embedder=None) as kb:
            steps = (
                lambda kb=kb: kb.add([Document("skua", "MV Skua calls at Great Hallow.", {"title": "MV Skua"})]),
                lambda kb=kb: kb.contribute([said]),
            )
            for number in order:
                steps[number]()
            assert {"Rota", "Great Hallow"} <= names(kb)
            assert kb.check() == []
            kb.add([Document("skua", "MV Skua calls at Little Hallow.", {"title": "MV Skua"})])
            assert {"Rota", "Little Hallow"} <= names(kb)
            kb.delete(["skua"])
            assert not kb.graph.find(["passage:skua", "entity:rota"])


def test_mentions_cannot_be_contributed_in_the_name_of_a_document():
    with KnowledgeBase.open(embedder=None) as kb:
        kb.add([Document("skua", "MV Skua is a ferry.")])
        with pytest.raises(KnowledgeBaseError, match="under the id of a document, which has its own: 'skua'"):
            kb.contribute([Contribution("skua", mentions=(Mention("Rota"),))])
