from pathlib import Path

import pytest

from hopweave.cli import main
from hopweave.document import Document
from hopweave.knowledge_base.store import KnowledgeBase

SHIPS = [
    Document("skua", "A ferry.", {"year": 1974, "type": "ferry"}, source="ships/a.md"),
    Document("tern", "A tug.", {"year": 1990, "type": "tug"}, source="ships/b.md"),
    Document("gull", "A tug, too.", {"year": 1974, "type": "tug"}, source="ships.md"),
    Document("gate", "It opens at six."),
]


@pytest.fixture
def delete(tmp_path, monkeypatch, capsys):
    """Delete from k.db: exit code, output, complaints and what is left."""
    monkeypatch.chdir(tmp_path)
    with KnowledgeBase.open("k.db", embedder=None) as kb:
        kb.add(SHIPS)

    def delete(*arguments):
        capsys.readouterr()
        code = main(["delete", *arguments, "--kb", "k.db"])
        written = capsys.readouterr()
        with KnowledgeBase.open("k.db", read_only=True) as kb:
            return code, written.out, written.err, kb.ids()

    return delete


@pytest.mark.parametrize(
    ("arguments", "gone"),
    [
        (["tern", "gate"], ["tern", "gate"]),
        (["--source", "ships/a.md"], ["skua"]),
        (["--source", "ships/", "--source", "ships.md"], ["skua", "tern", "gull"]),
        (["--filter", "year=1974"], ["skua", "gull"]),
        (["--filter", "year=1974", "--filter", "type=tug"], ["gull"]),
        (["--filter", "type=tug", "--filter", "type=ferry"], ["skua", "tern", "gull"]),
    ],
)
def test_by_id_source_or_filter_with_a_count_and_first_without_doing_it(delete, arguments, gone):
    code, out, err, ids = delete(*arguments, "--dry-run")
    assert (code, err, len(ids)) == (0, "", 4)
    assert out == "".join(f"{key}\n" for key in gone) + f"k.db: {len(gone)} would be removed; 4 documents\n"
    left = [ship.id for ship in SHIPS if ship.id not in gone]
    assert delete(*arguments) == (0, f"k.db: {len(gone)} removed; {len(left)} documents\n", "", left)
    with KnowledgeBase.open("k.db", read_only=True) as kb:
        assert kb.check() == []


def test_what_there_is_not_is_named(delete):
    code, out, err, ids = delete("skua", "ships.md", "typo")
    assert (code, out, ids) == (1, "k.db: 1 removed; 3 documents\n", ["tern", "gull", "gate"])
    assert err == (
        "hopweave: k.db: there is no document 'ships.md', but 1 in the source of that name: "
        "hopweave delete --source ships.md\n"
        "hopweave: k.db: there is no document 'typo'\n"
    )
    assert delete("--source", "ships") == (
        1,
        "k.db: 0 removed; 3 documents\n",
        "hopweave: k.db: there is no source 'ships'\n",
        ["tern", "gull", "gate"],
    )


@pytest.mark.parametrize("arguments", [[], ["skua", "--source", "ships.md"], ["--source", "a", "--filter", "a=b"]])
def test_one_way_of_choosing_is_needed(delete, arguments):
    code, _, err, ids = delete(*arguments)
    assert (code, err, len(ids)) == (2, "hopweave: give one of: ids, --source, --filter\n", 4)


def test_no_file_is_made_to_delete_from(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["delete", "skua"]) == 1
    assert capsys.readouterr().err == "hopweave: hopweave.db: does not exist\n"
    assert not Path("hopweave.db").exists()
