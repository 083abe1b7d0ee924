import json
import os

import numpy as np
import pytest

from hopweave.errors import UnreadableInput
from hopweave.readers.files import read_documents


def read(path, **how):
    return list(read_documents(path, **how))


def texts(path, **how):
    return {document.id: document.text for document in read(path, **how)}


def with_bad(path):
    bad = []
    return read(path, on_bad=bad.append), [str(error) for error in bad]


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    return write


# Markdown and text


def test_markdown_with_front_matter_headings_and_links(write):
    file = write(
        "skua.md",
        "---\ntype: ship\nbuilt: 1974-05-01\ntags: [ferry, old]\n---\n"
        "# MV Skua ##\n\nA ferry to [Hallow](hallow.md) and [Hallow](hallow.md).\n\n"
        "## Crew\n\nSee [crew](crew.md#now).\n",
    )
    first, second = read(file, max_characters=80)
    assert (first.id, first.title, first.text) == (
        "skua.md",
        "MV Skua",
        "# MV Skua ##\n\nA ferry to [Hallow](hallow.md) and [Hallow](hallow.md).",
    )
    assert first.metadata["links"] == ["/hallow"]
    assert (first.metadata["type"], first.metadata["tags"]) == ("ship", ["ferry", "old"])
    assert (first.metadata["source"], first.metadata["next_id"]) == ("skua.md", second.id)
    assert (second.id, second.title, second.metadata["heading_path"]) == ("skua.md#crew", "MV Skua", ["Crew"])
    assert second.metadata["links"] == ["/crew#now"]
    assert second.metadata["addresses"] == ["MV Skua#crew", "/skua#crew"]


def test_a_short_page_is_one_document_under_its_own_name(write):
    (document,) = read(write("note.md", "Just text."))
    assert (document.id, document.title) == ("note.md", "note")
    assert "next_id" not in document.metadata


def test_a_title_in_the_front_matter_comes_first(write):
    assert read(write("a.md", "---\ntitle: Real\n---\n# Other\n\nText."))[0].title == "Real"
    assert read(write("b.md", "# C#\n\nText."))[0].title == "C#"


@pytest.mark.parametrize("fence", ["```", "~~~~"])
def test_what_looks_like_a_heading_inside_code_is_code(write, fence):
    file = write("code.md", f"# Install\n\n{fence}bash\n# first\npip install x\n{fence}\n\n# Use\n\nRun it.\n")
    first, second = read(file, max_characters=60)
    assert (first.metadata["source_id"], second.metadata["heading"]) == ("code.md", "Use")


def test_a_fence_is_closed_by_its_own_kind_only(write):
    file = write("code.md", "````\n```\n# not a heading\n~~~\n````\n# Heading\n\nText\n")
    first, second = read(file, max_characters=40)
    assert "heading" not in first.metadata
    assert second.id == "code.md#heading"


def test_long_sections_are_cut_at_paragraphs_and_nothing_is_lost(write):
    paragraphs = [f"Paragraph {n}. " + "word " * 60 for n in range(20)]
    parts = read(write("long.txt", "\n\n".join(paragraphs)), max_characters=1000)
    assert [document.id for document in parts] == ["long.txt", *(f"long.txt#{n}" for n in range(2, len(parts) + 1))]
    assert all(len(document.text) <= 1000 for document in parts)
    assert " ".join(document.text for document in parts).split() == " ".join(paragraphs).split()


@pytest.mark.parametrize("content", ["", "\n\n  \n", "---\ntype: x\n---\n"])
def test_an_empty_page_is_no_document(write, content):
    assert read(write("empty.md", content)) == []
    assert read(write("empty.txt", content.replace("---", ""))) == [] or "type" in content


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.md", "---\nwhen: .nan\n---\nText", "a.md: document 'a.md' cannot be stored"),
        (
            "a.md",
            "---\nkey: !!binary aGk=\n---\nText",
            "a.md: document 'a.md' cannot be stored: metadata of type bytes",
        ),
        ("a.md", b"\xff\xfe\x00", "a.md: cannot be read: 'utf-16-le' codec"),
        ("a.txt", b"fine\n\0", "a.txt: is binary, not text"),
        ("a.pdf", b"%PDF", "a.pdf: unknown kind of file; allowed are .md"),
    ],
)
def test_files_that_cannot_be_read_are_named_or_skipped(write, tmp_path, name, content, message):
    file = write(name, content)
    with pytest.raises(UnreadableInput, match=message.replace(".", r"\.")):
        read(file)
    good, bad = with_bad(file)
    assert good == []
    assert len(bad) == 1
    assert message in bad[0]


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="needs a file that exists but cannot be read")
def test_a_file_that_refuses_to_be_read_is_named(tmp_path):
    (tmp_path / "memory.txt").symlink_to("/proc/self/mem")
    with pytest.raises(UnreadableInput, match=r"memory\.txt: cannot be read: .*Input/output error"):
        read(tmp_path / "memory.txt")


def test_what_does_not_exist_is_named(tmp_path):
    with pytest.raises(UnreadableInput, match=r"nothing: does not exist"):
        read(tmp_path / "nothing")
    assert with_bad(tmp_path / "nothing.md") == ([], [f"{tmp_path}/nothing.md: does not exist"])


def test_a_folder_is_read_in_order_with_paths_as_ids(write, tmp_path):
    for name in ("b.md", "a/z.txt", "a/b.MD", "image.png", ".hidden.md", ".git/config.txt", "a/.venv/lib.md"):
        write(name, f"text of {name}")
    assert list(texts(tmp_path)) == ["a/b.MD", "a/z.txt", "b.md"]
    assert texts(tmp_path)["a/z.txt"] == "text of a/z.txt"


def test_a_bad_file_in_a_folder_costs_only_itself(write, tmp_path):
    write("a.md", "first")
    write("b.md", b"\0")
    write("c.jsonl", '{"text": "third"}')
    good, bad = with_bad(tmp_path)
    assert [document.text for document in good] == ["first", "third"]
    assert len(bad) == 1


@pytest.mark.parametrize("between", ["The reactor code is 7719.", "# Reactor", "- 7719\n- 7720", "7719"])
def test_text_between_two_rules_is_no_front_matter(write, between):
    file = write("a.md", f"---\n{between}\n---\nrest")
    assert " ".join(document.text for document in read(file)).split() == file.read_text().split()


@pytest.mark.parametrize(
    ("front", "problem"),
    [
        ("title: One\nyear: 1974\ntitle: Two", "the key 'title' comes twice in one mapping at line 3, column 1"),
        ("title:\t[unclosed", "found character at line 1, column 7"),
    ],
)
def test_front_matter_that_cannot_be_used_is_named_and_the_text_is_read(write, caplog, front, problem):
    (document,) = read(write("a.md", f"---\n{front}\n---\nText"))
    assert (document.text, document.title) == ("Text", "a")
    assert f"a.md: its front matter is not usable and left out: {problem}" in caplog.text


# JSON Lines


def test_json_lines(write):
    file = write(
        "c.jsonl",
        "\ufeff"
        + "\n".join(
            [
                json.dumps({"id": "a", "text": "one", "title": "A", "metadata": {"x": 1, "title": "inner"}}),
                "",
                json.dumps({"id": 7, "content": "two", "embedding": [1, 2.5]}),
                json.dumps({"text": "three", "id": None, "meta": "kept as it is", "vector": None}),
                json.dumps({"text": "four \u2028 still four"}, ensure_ascii=False),
            ]
        ),
    )
    one, two, three, four = read(file)
    assert (one.id, one.text, one.metadata) == ("a", "one", {"x": 1, "title": "A"})
    assert (two.id, two.text, two.vector.tolist(), two.vector.dtype) == ("7", "two", [1, 2.5], np.float32)
    assert (three.id, three.metadata, three.vector) == ("c.jsonl:4", {"meta": "kept as it is", "vector": None}, None)
    assert (four.id, four.text) == ("c.jsonl:5", "four \u2028 still four")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"text": "unclosed', "line 2: is not JSON: Unterminated string starting at at column 10"),
        (b"[1, 2]", "is not a JSON object"),
        (b"null", "is not a JSON object"),
        (b'{"id": "x"}', "needs a string under text or content, but found 'id'"),
        (b"{}", "needs a string under text or content, but found nothing"),
        (b'{"text": 5}', "needs a string under text, but got 5"),
        (b'{"text": "x", "id": ["x"]}', "its id must be a string or a whole number, but got ['x']"),
        (b'{"text": "x", "id": true}', "its id must be a string or a whole number, but got True"),
        (b'{"text": "x", "id": ""}', "a document's id must be a non-empty string"),
        (b'{"text": "x", "n": NaN}', "cannot be stored: Out of range float values"),
        (b'{"text": "x", "vector": [1, "a"]}', "could not convert string to float"),
        (b'{"text": "x", "vector": [[1, 2]]}', "its vector must be a row of finite numbers"),
        (b'{"text": "x", "vector": []}', "its vector must be a row of finite numbers"),
        (b'{"text": "x", "vector": [1' + b"0" * 400 + b"]}", "line 2"),
        (b'{"text": "\xff\xfe"}', "is not valid Unicode"),
        (b'{"text": "\\ud800"}', "is not valid Unicode"),
        (b"[" * 100_000, "recursion"),
        (b'{"text": "x", "deep": ' + b"[" * 100_000, "recursion"),
    ],
)
def test_a_broken_line_is_named_and_costs_only_itself(write, line, message):
    file = write("c.jsonl", b'{"text": "first"}\n' + line + b'\n{"text": "third"}\n')
    with pytest.raises(UnreadableInput) as caught:
        read(file)
    assert f"{file} line 2: " in str(caught.value)
    assert message in str(caught.value)
    good, bad = with_bad(file)
    assert [document.text for document in good] == ["first", "third"]
    assert len(bad) == 1


@pytest.mark.parametrize(
    ("content", "what", "program"),
    [
        ('[{"text": "one"},\n {"text": "two"}]', "one JSON array", ".[]"),
        ('\n[\n  {"text": "one"}\n]', "one JSON array", ".[]"),
        ('{\n  "text": "one"\n}', "an object over several lines", "."),
    ],
)
def test_json_that_is_not_made_of_lines_is_said_once(write, content, what, program):
    file = write("c.jsonl", content)
    complaint = f"{file}: holds {what}, but JSON Lines are one object on each line; to convert it: jq -c '{program}' "
    assert with_bad(file) == ([], [complaint + "FILE > NEW.jsonl"])


# CSV


def test_csv(write):
    file = write(
        "c.csv",
        'id,text,title,year,vector\na,"one, with\na second line",A,1974,"[1, 0.5]"\n,two,,,\n',
    )
    one, two = read(file)
    assert (one.id, one.text, one.metadata) == ("a", "one, with\na second line", {"title": "A", "year": "1974"})
    assert one.vector.tolist() == [1, 0.5]
    assert (two.id, two.text, two.metadata, two.vector) == ("c.csv:4", "two", {}, None)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (b"a,too,many,columns", "line 3: has more than the 2 columns of its header"),
        (b"a,", "line 3: needs a string under text or content, but found 'id'"),
        (b"a", "line 3: needs a string under text or content"),
        (b"a,\xff\xfe", "line 3: document 'a' cannot be stored: it is not valid Unicode"),
        (b"a," + b"x" * 200_000, "line 3: field larger than field limit"),
    ],
)
def test_a_broken_row_is_named_and_costs_only_itself(write, row, message):
    file = write("c.csv", b"id,text\nfirst,one\n" + row + b"\nlast,three\n")
    with pytest.raises(UnreadableInput) as caught:
        read(file)
    assert message in str(caught.value)
    good, bad = with_bad(file)
    assert [document.id for document in good] == ["first", "last"]
    assert len(bad) == 1


@pytest.mark.parametrize("content", ["", "id,text\n"])
def test_a_table_without_rows_is_no_document(write, content):
    assert read(write("c.csv", content)) == []


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_a_table_without_a_column_of_text_is_read_as_its_columns(write, separator):
    file = write("c.csv", "Name,Built,Port\nSkua,1974,\n,,\nTern,1980,Harris\n".replace(",", separator))
    one, two = read(file)
    assert (one.id, one.title, one.text) == ("c.csv:2", "Skua", "Name: Skua\nBuilt: 1974")
    assert (two.id, two.text, two.metadata["Port"]) == ("c.csv:4", "Name: Tern\nBuilt: 1980\nPort: Harris", "Harris")


# Passages


def sections(*names, words=60):
    return "".join(f"## {name}\n\n{f'Of the {name}. ' * words}\n\n" for name in names)


def test_a_section_inserted_at_the_top_changes_only_its_neighbours(write):
    names = [f"Ship {number}" for number in range(100)]
    for words in (10, 60):
        before = texts(write("a.md", "# Fleet\n\n" + sections(*names, words=words)).parent)
        after = texts(write("a.md", "# Fleet\n\n" + sections("New", *names, words=words)).parent)
        assert sum(after.get(key) != text for key, text in before.items()) <= 2
        assert len(after.keys() - before.keys()) <= 2


def test_small_sections_share_a_passage_and_a_bare_heading_stays_with_what_follows(write):
    (document,) = read(write("a.md", "# A\n\n## B\n\nb\n\n## C\n\nc"))
    assert document.metadata["addresses"] == ["A", "a.md", "/a", "A#a", "/a#a", "A#b", "/a#b", "A#c", "/a#c"]
    first, second = read(write("a.md", sections("One") + "## Two\n\n" + sections("Three").replace("## ", "### ")))
    assert second.text.startswith("## Two\n\n### Three")
    assert (second.id, second.metadata["heading_path"]) == ("a.md#two", ["Two"])
    assert first.metadata["next_id"] == second.id


def test_the_headings_above_a_passage_are_searched_with_it(write):
    deep = f"## Crew\n\n{'Many. ' * 300}\n\n### Masters\n\n{'Falk. ' * 300}"
    *_, last = read(write("a.md", f"# Skua\n\n{deep}"))
    assert last.metadata["heading_path"] == ["Crew", "Masters"]
    assert last.searchable.startswith("Skua\nCrew\n### Masters")


def test_a_long_paragraph_is_split_at_sentences(write):
    text = "One sentence of the text. " * 1000
    parts = read(write("a.txt", text))
    assert all(len(one.text) <= 2000 and one.text.endswith("text.") for one in parts)
    assert " ".join(one.text for one in parts) == text.strip()
    assert max(len(one.text) for one in read(write("b.txt", "x" * 100_000))) == 2000


def test_a_long_table_repeats_its_header_and_code_its_fences(write):
    rows = "\n".join(f"| {number} | {'word ' * 10}|" for number in range(100))
    parts = read(write("a.md", f"| n | text |\n| - | - |\n{rows}"))
    assert len(parts) > 2
    assert all(one.text.startswith("| n | text |\n| - | - |\n| ") for one in parts)
    lines = "\n".join(f"line {number} = 1" for number in range(500))
    parts = read(write("a.md", f"```python\n{lines}\n```"))
    assert len(parts) > 2
    assert all(one.text.startswith("```python\nline ") and one.text.endswith("1\n```") for one in parts)


# Encodings


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32", "latin-1", "shift_jis"])
def test_encodings(write, caplog, encoding):
    japanese, german = "フェリーは毎日ハリスへ行きます。", "Die Fähre fährt täglich über den Sund. "
    text = (japanese if encoding == "shift_jis" else german) * 20
    (document,) = read(write("a.txt", text.encode(encoding)))
    assert document.text == text.strip()
    assert ("as it is not UTF-8" in caplog.text) == (encoding in ("latin-1", "shift_jis"))
