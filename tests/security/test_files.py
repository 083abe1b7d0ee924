"""Files from anybody: front matter and recipes, links, and what reaches a terminal."""

import json
import logging
import os
import time

import pytest

from hopweave.cli import main
from hopweave.document import Document
from hopweave.errors import RecipeError, UnreadableInput
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.readers.files import read_documents
from hopweave.readers.limited_yaml import limited_yaml
from hopweave.recipe import Recipe

SECRET = "sk-hunter2"
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefg", "bcdefgh", strict=True)
)
CHAIN = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 200))
BAD = {
    "alias bomb": BOMB,
    "alias chain": CHAIN,
    "alias loop": "a: &a\n  b: *a",
    "deep lists": "[" * 5000,
    "deep mappings": "{a: " * 5000,
    "deep dashes": "- " * 5000,
    "many values": f"a: [{'1,' * 30_000}]",
    "much text": "a: " + "b" * 300_000,
    "month 13": "published: 2024-13-01",
    "hour 99": "published: 2024-01-01 99:00:00",
    "large number": f"a: {'9' * 5000}",
    "unclosed quote": f"api_key: '{SECRET}",
    "colon": f"a: b: {SECRET}",
    "undefined alias": f"api_key: *{SECRET}",
    "unknown tag": f"api_key: !{SECRET} x",
    "wrong Boolean": f"api_key: !!bool {SECRET}",
    "wrong number": f"api_key: !!float {SECRET}",
    "wrong date": f"api_key: !!timestamp {SECRET}",
    "NUL": f"api_key: {SECRET}\x00",
}
every_bad = pytest.mark.parametrize("text", BAD.values(), ids=BAD.keys())


@every_bad
def test_front_matter_that_cannot_be_used_is_named_and_costs_little_and_the_text_is_read(text, tmp_path, caplog):
    (tmp_path / "bad.md").write_text(f"---\n{text}\n---\nThe Skua is a ferry.")
    (tmp_path / "good.md").write_text("The Tern is a tug.")
    started = time.process_time()
    bad = []
    read = [document.id for document in read_documents(tmp_path, on_bad=bad.append)]
    if "\0" in text:
        assert [str(error) for error in bad] == [f"{tmp_path / 'bad.md'}: is binary, not text"]
    else:
        assert f"{tmp_path / 'bad.md'}: its front matter is not usable and left out: " in caplog.text
        assert read == ["bad.md", "good.md"]
    assert SECRET not in caplog.text
    assert time.process_time() - started < 60  # an alias bomb would take minutes, and gigabytes


@every_bad
def test_a_recipe_that_cannot_be_used_is_an_error_that_quotes_nothing(text):
    with pytest.raises(RecipeError, match="is not usable YAML: ") as caught:
        Recipe.from_yaml(text)
    assert SECRET not in f"{caught.value!r} {caught.value.__cause__!r}"
    assert not caught.value.__cause__.__context__ or caught.value.__cause__.__suppress_context__


def test_aliases_and_merges_within_the_limits_mean_what_they_mean():
    assert limited_yaml("a: &a {x: 1}\nb: {<<: *a, y: 2}\nc: *a") == {
        "a": {"x": 1},
        "b": {"x": 1, "y": 2},
        "c": {"x": 1},
    }
    assert limited_yaml("") is None


def test_front_matter_that_cannot_be_stored_names_the_file(tmp_path):
    (tmp_path / "bad.md").write_text("---\na: .nan\n---\nThe Skua is a ferry.")
    with pytest.raises(UnreadableInput, match=r"bad\.md: .*cannot be stored"):
        list(read_documents(tmp_path))


@pytest.fixture
def linked(tmp_path):
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    (outside / "deep").mkdir(parents=True)
    (inside / "sub").mkdir(parents=True)
    (outside / "secret.txt").write_text("The password is hunter2.")
    (outside / "deep" / "more.txt").write_text("The other password.")
    (inside / "own.txt").write_text("The Skua is a ferry.")
    (inside / "alias.txt").symlink_to(inside / "own.txt")
    (inside / "out.txt").symlink_to(outside / "secret.txt")
    (inside / "sub" / "up.txt").symlink_to("../../outside/secret.txt")
    (inside / "folder").symlink_to(outside / "deep", target_is_directory=True)
    (inside / "circle").symlink_to(inside, target_is_directory=True)
    return inside


def test_links_that_leave_the_folder_are_skipped_and_named(linked, caplog):
    with caplog.at_level(logging.WARNING):
        assert [document.id for document in read_documents(linked)] == ["alias.txt", "own.txt"]
    assert sorted(os.path.basename(record.args[0].strip("'")) for record in caplog.records) == [
        "folder",
        "out.txt",
        "up.txt",
    ]


def test_links_are_followed_if_asked_and_circles_end(linked):
    found = [document.id for document in read_documents(linked, follow_links=True)]
    assert found == ["alias.txt", "folder/more.txt", "out.txt", "own.txt", "sub/up.txt"]


CONTROL = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp.exe\x7f\r"


@pytest.fixture
def hostile(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with KnowledgeBase.open("hopweave.db") as kb:
        kb.add(
            [Document(f"ferry{CONTROL}\n  2  fake", f"The ferry {CONTROL} sails.", {"title": f"Skua{CONTROL}\nfake"})]
        )
    return tmp_path


@pytest.mark.parametrize("options", [[], ["--explain"], ["--json"]], ids=["plain", "explain", "json"])
def test_no_control_character_of_a_document_reaches_the_terminal(hostile, options, capsys):
    assert main(["query", "ferry", *options]) == 0
    out = capsys.readouterr().out
    assert "owned" in out
    assert not set(out) & set(CONTROL) - set("]0;owned[2J31mgnp.exe")
    if options == ["--json"]:
        assert json.loads(out)["hits"][0]["metadata"]["title"] == f"Skua{CONTROL}\nfake"
    else:
        assert not [line for line in out.splitlines() if line.strip().startswith(("2  fake", "fake"))]


def test_no_control_character_of_a_file_name_or_an_error_reaches_the_terminal(hostile, capsys):
    name = f"a{CONTROL.replace('/', '')}.jsonl"
    (hostile / name).write_text("{broken\n", encoding="utf-8")
    assert main(["index", name]) == 1
    assert main(["query", f"ferry{CONTROL}", "--recipe", f"none{CONTROL}"]) == 1
    printed = capsys.readouterr()
    assert not set(printed.out + printed.err) & {"\x1b", "\x07", "\x9b", "\u202e", "\x7f", "\r"}
