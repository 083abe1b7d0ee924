"""What `hopweave index` reads, what it calls it, and what it never replaces or removes by itself."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from hopweave.cli import main
from hopweave.document import Document
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.readers.files import read_documents

FEW_RIGHTS = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def index(capsys):
    """Index into k.db: exit code, output and complaints."""

    def index(*arguments):
        capsys.readouterr()
        code = main(["index", *map(str, arguments), "--kb", "k.db", "--embedder", "none"])
        written = capsys.readouterr()
        return code, written.out, written.err

    return index


def write(**files):
    """Files by path, with __ for a slash and _ for the dot."""
    for name, text in files.items():
        path = Path(name.replace("__", "/"))
        path = path.with_name(path.name.replace("_", "."))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def texts():
    with KnowledgeBase.open("k.db", read_only=True) as kb:
        return {document.id: document.text for document in kb.documents()}


def sources():
    with KnowledgeBase.open("k.db", read_only=True) as kb:
        return kb.sources()


# Two places


def test_a_file_of_another_folder_does_not_take_the_place_of_one_of_the_same_name(index, folder):
    write(a__readme_md="of a", b__readme_md="of b", b__other_md="other")
    assert index("a")[0] == 0
    code, out, err = index("b")
    assert (code, out) == (1, "")
    assert err == (
        f"hopweave: {folder}/b/readme.md: would replace 'readme.md', which k.db has from {folder}/a/readme.md; "
        f"to keep both, use --prefix b; if that has moved here, use --moved-from {folder}/a\n"
    )
    assert texts() == {"readme.md": "of a"}  # and nothing of b is half there
    assert index("b", "--sync")[0] == 1
    assert texts() == {"readme.md": "of a"}


def test_a_prefix_keeps_both_and_need_not_be_given_again(index):
    write(a__readme_md="of a", b__readme_md="of b")
    index("a")
    assert index("b", "--prefix", "b")[1] == "k.db: 1 added, 0 updated, 0 unchanged; 2 documents\n"
    write(b__readme_md="of b, changed", b__sub__new_md="new")
    assert index("b")[0] == 0
    assert texts() == {"readme.md": "of a", "b/readme.md": "of b, changed", "b/sub/new.md": "new"}
    assert index("b", "--prefix", "b/")[1] == "k.db: 0 added, 0 updated, 2 unchanged; 3 documents\n"
    code, _, err = index("a", "--prefix", "a")
    assert code == 1
    assert "/a/readme.md is called 'readme.md' in k.db" in err
    assert len(texts()) == 3


def test_a_prefix_stands_before_all_ids_and_links_still_lead_to_their_pages(index):
    write(
        b__ships_jsonl='{"id": "skua", "text": "A ferry."}\n{"text": "A tug."}\n',
        b__log_md="# One\n\nSee [two](two.md).\n\n# Two\n\nEnd.",
        b__two_md="Page two.",
    )
    assert index("b", "--prefix", "fleet/b")[0] == 0
    prefixed = {"ships.jsonl:2", "skua", "log.md", "two.md"}
    assert set(texts()) == {f"fleet/b/{key}" for key in prefixed}
    assert sources() == {"fleet/b/log.md": 1, "fleet/b/ships.jsonl": 2, "fleet/b/two.md": 1}
    with KnowledgeBase.open("k.db", read_only=True) as kb:
        assert kb.get(["fleet/b/two.md"])["fleet/b/two.md"].metadata["source"] == "fleet/b/two.md"
        start, end = kb.graph.find(["passage:fleet/b/log.md", "passage:fleet/b/two.md"]).values()
        assert end in kb.graph.neighbours(np.array([start])).targets


def test_ids_in_a_table_are_not_taken_over_by_another_table(index, folder):
    write(one_csv="id,text\n1,first\n2,second\n", two_csv="id,text\n2,other\n3,third\n")
    index("one.csv")
    code, _, err = index("two.csv")
    assert code == 1
    assert f"two.csv: would replace document '2', which k.db has from {folder}/one.csv; " in err
    assert "--prefix two; if that has moved here, use --moved-from" in err
    assert texts() == {"1": "first", "2": "second"}
    assert index("two.csv", "--skip-bad")[1] == "k.db: 1 added, 0 updated, 0 unchanged, 1 skipped; 3 documents\n"
    assert texts() == {"1": "first", "2": "second", "3": "third"}


def test_a_document_that_a_program_added_is_not_replaced(index):
    with KnowledgeBase.open("k.db", embedder=None) as kb:
        kb.add([Document("1", "by a program")])
        kb.replace("notes.md", [Document("notes.md", "read by a program")])
    write(one_csv="id,text\n1,first\n", notes_md="read again")
    code, _, err = index("one.csv")
    assert code == 1
    assert "would replace document '1', which k.db has from no file; to keep both, use --prefix one\n" in err
    assert index("notes.md")[0] == 0  # a source of this name that is from no place yet is this file
    assert texts() == {"1": "by a program", "notes.md": "read again"}


# One place


@pytest.mark.parametrize("again", ["docs/", "./docs", "{folder}/docs", "other/../docs", "link"])
def test_the_same_folder_by_another_path_is_the_same(index, folder, again):
    write(docs__x_md="x", docs__sub__y_md="y", other__z_md="z")
    os.symlink("docs", "link")
    index("docs")
    assert index(again.format(folder=folder))[1] == "k.db: 0 added, 0 updated, 2 unchanged; 2 documents\n"


def test_the_same_folder_from_another_place(index, folder, monkeypatch):
    write(docs__x_md="x", docs__sub__y_md="y")
    index("docs")
    monkeypatch.chdir("docs")
    assert main(["index", ".", "--kb", "../k.db", "--sync"]) == 0
    monkeypatch.chdir("sub")
    assert main(["index", "y.md", "--kb", "../../k.db"]) == 0
    monkeypatch.chdir(folder)
    assert set(texts()) == {"x.md", "sub/y.md"}


def test_a_part_of_a_known_folder_keeps_its_names(index):
    write(a__note_md="a", a__sub__note_md="sub")
    index("a")
    write(a__sub__note_md="sub, changed", a__sub__new_md="new")
    assert index("a/sub/note.md")[1] == "k.db: 0 added, 1 updated, 0 unchanged; 2 documents\n"
    assert index("a/sub")[1] == "k.db: 1 added, 0 updated, 1 unchanged; 3 documents\n"
    assert texts() == {"note.md": "a", "sub/note.md": "sub, changed", "sub/new.md": "new"}


def test_a_file_that_is_known_by_itself_is_not_stored_twice(index):
    write(a__x_md="a", a__sub__note_txt="note")
    index("a/sub/note.txt")
    assert index("a")[1] == "k.db: 1 added, 0 updated, 1 unchanged; 2 documents\n"
    assert index("a", "a/x.md", "a")[1] == "k.db: 0 added, 0 updated, 2 unchanged; 2 documents\n"
    assert texts() == {"note.txt": "note", "x.md": "a"}


def test_files_of_one_name_are_distinct_if_indexed_by_themselves(index):
    write(d__x_md="outer", d__sub__x_md="inner")
    index("d/x.md")
    assert index("d/sub/x.md")[0] == 1
    assert index("d")[0] == 0
    assert texts() == {"x.md": "outer", "sub/x.md": "inner"}


# A place that has moved


def test_a_folder_that_has_moved_keeps_its_documents_and_its_prefix(index, folder):
    write(docs__x_md="x", docs__sub__y_md="y", own__x_md="own")
    index("docs", "--prefix", "d")
    index("own")
    shutil.move("docs", "manuals")
    write(manuals__x_md="x, changed", manuals__new_md="new")
    assert index("manuals", "--moved-from", "docs")[1] == "k.db: 1 added, 1 updated, 1 unchanged; 4 documents\n"
    assert texts() == {"d/x.md": "x, changed", "d/sub/y.md": "y", "d/new.md": "new", "x.md": "own"}
    assert index("manuals")[1] == "k.db: 0 added, 0 updated, 3 unchanged; 4 documents\n"
    shutil.rmtree("own")
    write(docs__x_md="another folder of the old name")
    code, _, err = index("docs")
    assert code == 1  # as x.md is that of own
    assert f"which k.db has from {folder}/own/x.md" in err


def test_a_file_that_has_moved(index):
    write(one_csv="id,text\n1,first\n")
    index("one.csv")
    shutil.move("one.csv", "two.csv")
    assert index("two.csv")[0] == 1
    assert index("two.csv", "--moved-from", "one.csv")[0] == 0
    assert sources() == {"one.csv": 1}


def test_where_a_folder_has_moved_from_must_be_known(index, folder):
    write(docs__x_md="x", other__y_md="y")
    index("docs")
    code, _, err = index("other", "--moved-from", "typo")
    assert (code, err) == (1, f"hopweave: --moved-from typo: nothing in k.db is from there, but from {folder}/docs\n")
    with pytest.raises(SystemExit):
        index("docs", "other", "--moved-from", "docs")
    index("other", "--prefix", "o")
    write(other__x_md="would be there twice")
    index("other")
    code, _, err = index("other", "--moved-from", "docs")
    assert code == 1
    assert f"k.db has {folder}/other/x.md already, as 'o/x.md' beside 'x.md'" in err


def test_a_file_may_change_its_name_within_a_folder_that_is_indexed(index):
    write(f__x_csv="id,text\n1,first\n2,second\n", f__y_md="y")
    index("f")
    shutil.move("f/x.csv", "f/a.csv")
    assert index("f")[1] == "k.db: 0 added, 2 updated, 1 unchanged; 3 documents\n"
    assert sources() == {"a.csv": 2, "y.md": 1}


def test_what_was_deleted_is_not_known_any_more(index):
    write(a__readme_md="of a", b__readme_md="of b")
    index("a")
    with KnowledgeBase.open("k.db") as kb:
        kb.delete(["readme.md"])
        assert kb.source_files() == {}
    with closing(sqlite3.connect("k.db")) as connection:  # not even its name is left
        assert connection.execute("SELECT * FROM source_files").fetchall() == []
    assert index("b")[0] == 0
    assert texts() == {"readme.md": "of b"}


# What is gone, and what is not


def test_a_file_that_has_become_empty_loses_its_documents(index):
    write(f__s_txt="secret", f__t_txt="other", f__u_md="third")
    index("f")
    write(f__s_txt="", f__u_md="---\ntitle: Only this\n---\n")
    code, out, err = index("f")
    assert (code, out) == (0, "k.db: 0 added, 0 updated, 1 unchanged, 2 removed; 1 documents\n")
    assert err == "hopweave: no document in f/s.txt, f/u.md\n"
    assert texts() == {"t.txt": "other"}


@pytest.mark.skipif(os.geteuid() == 0 and not shutil.which("setpriv"), reason="root can read everything")
@pytest.mark.parametrize("mode", [0o000, 0o400])
@pytest.mark.parametrize("sync", [[], ["--sync"]])
def test_a_folder_that_cannot_be_read_is_said_and_nothing_under_it_removed(index, mode, sync):
    write(f__a_md="a", f__sub__b_md="b", g__c_md="c", f__sub__x_csv="id,text\n1,first\n")
    index("f", "g")
    write(f__y_csv="id,text\n1,other\n")
    Path("f/sub").chmod(mode)
    shutil.rmtree("g")
    Path("g").mkdir()
    command = [sys.executable, "-m", "hopweave", "index", "f", "g", "--kb", "k.db", *sync]
    rights = FEW_RIGHTS if os.geteuid() == 0 else []
    try:
        ran = subprocess.run([*rights, *command], capture_output=True, text=True, check=False)
        skipped = subprocess.run([*rights, *command, "--skip-bad"], capture_output=True, text=True, check=False)
    finally:
        Path("f/sub").chmod(0o755)
    assert ran.returncode == 1
    assert "f/sub" in ran.stderr
    assert ": cannot be read: Permission denied" in ran.stderr
    assert skipped.returncode == 0
    assert "f/y.csv: would replace document '1', which k.db has from" in skipped.stderr
    assert texts() == {"a.md": "a", "sub/b.md": "b", "c.md": "c", "1": "first"}


@pytest.mark.parametrize("prefix", ["", "p/", None])
def test_sync_does_not_remove_what_lies_behind_a_link_that_is_not_followed(index, folder, prefix):
    write(f__a_md="a", f__b_md="b", f__sub__c_md="c", f__d_md="d", out__b_md="outside")
    if prefix is None:  # by a program, which does not note where files are
        prefix = ""
        with KnowledgeBase.open("k.db", embedder=None) as kb:
            kb.add(read_documents("f"))
    else:
        index("f", *(["--prefix", prefix] if prefix else []))
    Path("f/b.md").unlink()
    Path("f/b.md").symlink_to(folder / "out/b.md")
    shutil.rmtree("f/sub")
    Path("f/sub").symlink_to("nowhere")
    Path("f/d.md").unlink()
    code, out, err = index("f", "--sync")
    assert (code, out) == (0, "k.db: 0 added, 0 updated, 1 unchanged, 1 removed; 3 documents\n")
    assert err.splitlines() == [
        "hopweave: f/b.md is a link that leads out of the folder and is skipped",
        "hopweave: f/sub is a link that leads to nothing and is skipped",
        f"hopweave: --sync: kept {prefix}b.md, {prefix}sub/c.md, as links are not followed there",
    ]
    assert set(texts()) == {f"{prefix}a.md", f"{prefix}b.md", f"{prefix}sub/c.md"}
    assert index("f", "--follow-links")[2] == "hopweave: f/sub is a link that leads to nothing and is skipped\n"
    assert texts()[f"{prefix}b.md"] == "outside"


def test_an_id_does_not_pass_to_another_file_from_one_behind_a_link_that_is_not_followed(index, folder):
    write(f__x_csv="id,text\n1,first\n", out__x_csv="id,text\n1,first\n")
    index("f")
    Path("f/x.csv").unlink()
    Path("f/x.csv").symlink_to(folder / "out/x.csv")
    write(f__y_csv="id,text\n1,other\n")
    code, _, err = index("f")
    assert code == 1
    assert "f/y.csv: would replace document '1', which k.db has from" in err
    assert texts() == {"1": "first"}


def test_files_of_other_kinds_are_counted(index):
    write(f__a_md="a", f__b_png="b")
    assert index("f")[1] == "k.db: 1 added, 0 updated, 0 unchanged, 1 file of another kind skipped; 1 documents\n"
    write(f__c_gif="c", f__LICENSE="d", f__sub__e_pdf="e")
    Path("f/.hidden.png").touch()
    assert ", 4 files of other kinds skipped; 1 documents" in index("f")[1]


def test_a_folder_whose_path_is_not_unicode(index, folder):
    strange = os.fsdecode(b"caf\xe9")
    Path(strange).mkdir()
    Path(strange, "x.md").write_text("x")
    assert index(strange)[0] == 0
    assert index(strange)[1] == "k.db: 0 added, 0 updated, 1 unchanged; 1 documents\n"
    write(b__x_md="of b")
    assert index("b")[0] == 1
    assert texts() == {"x.md": "x"}


def test_info_says_which_folders_were_read(index, folder, capsys):
    write(a__x_md="x", a__y_md="y", one_txt="one")
    index("a", "one.txt")
    main(["info", "--kb", "k.db", "--json"])
    assert json.loads(capsys.readouterr().out)["read_from"] == {f"{folder}/a": 2, f"{folder}/one.txt": 1}
    main(["info", "--kb", "k.db"])
    assert (
        f"read from\n           2 files  {folder}/a\n           1 file   {folder}/one.txt\n" in capsys.readouterr().out
    )


def test_a_bad_file_does_not_stop_the_others_and_is_said(index):
    write(f__a_md="a", f__c_md="c")
    Path("f/b.txt").write_bytes(b"text\0")
    code, out, err = index("f")
    assert (code, set(texts())) == (1, {"a.md", "c.md"})
    assert "k.db: 2 added, 0 updated, 0 unchanged, 1 skipped; 2 documents" in out
    assert err == "hopweave: skipped: f/b.txt: is binary, not text\n"
    assert index("f", "--skip-bad")[0] == 0


def test_a_folder_without_a_file_that_can_be_read_is_an_error(index):
    write(f__a_pdf="a", f__b_pdf="b", f__LICENSE="c")
    code, _, err = index("f")
    assert code == 1
    assert "f: holds no file that can be read: 2 .pdf, 1 without a suffix" in err


def test_links_are_summed_up_and_dead_ones_listed(index, capsys):
    write(f__a_md="[b](b.md) [c](c.md)", f__b_md="# B\n\nText")
    assert index("f")[1].endswith("2 documents\nlinks: 2 within the folder, 1 joined, 1 dead\n")
    assert main(["check", "--links", "--kb", "k.db"]) == 1
    assert capsys.readouterr().out == "a.md:1: c.md\nlinks: 2 within the folder, 1 joined, 1 dead\n"
    assert main(["check", "--links", "--json", "--kb", "k.db"]) == 1
    assert json.loads(capsys.readouterr().out) == {
        "within": 2,
        "joined": 1,
        "dead": 1,
        "ambiguous": 0,
        "dead_links": [{"file": "a.md", "line": 1, "target": "c.md"}],
    }
