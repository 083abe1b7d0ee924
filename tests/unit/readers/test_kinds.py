import json
import zipfile
from email.message import EmailMessage

import pytest

from hopweave.document import Document
from hopweave.errors import UnreadableInput
from hopweave.readers import files
from hopweave.readers.files import read_documents, register_reader


def read(path, **options):
    return list(read_documents(path, **options))


def message(number, text, **headers):
    made = EmailMessage()
    made["From"], made["To"], made["Subject"] = "Ingrid <i@example.org>", "m@example.org", f"Skua {number}"
    made["Message-ID"], made["Date"] = f"<{number}@example.org>", "Thu, 02 Jan 2025 10:00:00 +0100"
    for name, value in headers.items():
        made[name.replace("_", "-")] = value
    made.set_content(text)
    return made


def test_a_message(tmp_path):
    made = message(1, "The Skua sails at six.\n\n> When does she sail?\n\n-- \nIngrid\nHarbour office\n")
    made.add_attachment("# Timetable\n\nSix and nine.", filename="times.md", subtype="markdown")
    made.add_attachment(b"\x89PNG", maintype="image", subtype="png", filename="skua.png")
    (tmp_path / "a.eml").write_bytes(made.as_bytes())
    (tmp_path / "b.eml").write_bytes(message(2, "Thanks.", In_Reply_To="<1@example.org>").as_bytes())
    first, attached, answer = read(tmp_path)
    assert (first.id, first.title) == ("a.eml", "Skua 1")
    assert first.text == "The Skua sails at six.\n\n> When does she sail?\n\nIngrid\nHarbour office"
    assert first.metadata["author"] == "Ingrid <i@example.org>"
    assert first.metadata["date"] == "2025-01-02T10:00:00+01:00"
    assert (attached.id, attached.title, attached.source) == ("a.eml/times.md", "Timetable", "a.eml")
    assert answer.metadata["links"] == ["id:1@example.org"]
    assert "id:1@example.org" in first.metadata["addresses"]


def test_a_mailbox(tmp_path):
    lines = [f"From i@example.org Thu Jan  2 10:00:00 2025\n{message(n, f'Text {n}.').as_string()}\n" for n in (1, 2)]
    (tmp_path / "all.mbox").write_text("".join(lines))
    assert [(one.id, one.text) for one in read(tmp_path / "all.mbox")] == [
        ("all.mbox#message-1", "Text 1."),
        ("all.mbox#message-2", "Text 2."),
    ]


def test_messages_in_messages_without_end_are_refused(tmp_path):
    text = "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(1000)) + "\n\ntext"
    (tmp_path / "a.eml").write_text(text)
    bad = []
    assert read(tmp_path, on_bad=bad.append) == [] or not bad


PACKAGE = """<package><metadata><dc:title>Ferries</dc:title></metadata><manifest><item id="b" href="b.xhtml"/>
<item id="a" href="a.xhtml"/></manifest><spine><itemref idref="a"/><itemref idref="b"/></spine></package>"""
CONTAINER = '<container><rootfiles><rootfile full-path="OEBPS/content.opf"/></rootfiles></container>'


def book(path, **entries):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("META-INF/container.xml", CONTAINER)
        made.writestr("OEBPS/content.opf", PACKAGE)
        for name, text in entries.items():
            made.writestr(f"OEBPS/{name}.xhtml", text)


def test_a_book(tmp_path):
    book(
        tmp_path / "book.epub",
        a=f"<h1>Skua</h1><p>{'She sails. ' * 150}See <a href='b.xhtml#port'>Harris</a>.</p>",
        b=f"<h1 id='port'>Harris</h1><p>{'A port. ' * 150}</p>",
    )
    first, second = read(tmp_path)
    assert (first.id, first.title, second.title) == ("book.epub", "Ferries", "Ferries")
    assert first.metadata["links"] == ["/book.epub#port"]
    assert "/book.epub#port" in second.metadata["addresses"]


def test_a_book_that_unpacks_to_too_much_is_refused(tmp_path):
    book(tmp_path / "bomb.epub", a="<p>" + "a" * (64 << 20), b="")
    (tmp_path / "a.md").write_text("fine")
    (tmp_path / "no.epub").write_text("no zip")
    bad = []
    assert [one.id for one in read(tmp_path, on_bad=bad.append)] == ["a.md"]
    assert [str(one) for one in bad] == [
        f"{tmp_path}/bomb.epub: unpacks to more than 32 MB",
        f"{tmp_path}/no.epub: is no readable EPUB: File is not a zip file",
    ]


def test_data(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps({"name": "Skua", "port": {"at": "Harris"}, "crew": ["Falk", "Moe"]}))
    (tmp_path / "b.yaml").write_text("ship:\n  name: Tern\n")
    (tmp_path / "c.json").write_text("{")
    (tmp_path / "d.json").write_text("[" * 5000 + "]" * 5000)
    (tmp_path / "e.yml").write_text("a: &a [*a]")
    bad = []
    first, second = read(tmp_path, on_bad=bad.append)
    assert (first.title, first.text) == ("Skua", "name: Skua\n\nport.at: Harris\n\ncrew: Falk\ncrew: Moe")
    assert second.text == "ship.name: Tern"
    assert [str(one).partition(": ")[0].rpartition("/")[2] for one in bad] == ["c.json", "d.json", "e.yml"]


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setattr(files, "_READERS", dict(files._READERS))


def test_a_reader_of_ones_own(tmp_path, registered):
    register_reader(".log", lambda file: f"# Log\n\nSee [a](a.md). {file.read_text()}")
    register_reader(".db", lambda file: [Document("one", file.read_text())])
    register_reader(".bad", lambda file: 1 / 0)
    for name in ("a.md", "b.log", "c.db", "d.bad"):
        (tmp_path / name).write_text(f"text of {name}")
    bad = []
    _, log, one = read(tmp_path, on_bad=bad.append)
    assert (log.id, log.title, log.metadata["links"]) == ("b.log", "Log", ["/a"])
    assert (one.id, one.text, one.source) == ("one", "text of c.db", "c.db")
    assert [str(error) for error in bad] == [
        f"{tmp_path}/d.bad: its reader failed: ZeroDivisionError: division by zero"
    ]


def test_a_suffix_begins_with_a_dot():
    with pytest.raises(ValueError, match=r"suffix: must begin with a dot and be in small letters, but got 'LOG'"):
        register_reader("LOG", lambda file: "")


def test_what_cannot_be_parsed_costs_only_itself(tmp_path):
    (tmp_path / "a.html").write_text("<div>" * 5000)
    (tmp_path / "b.ipynb").write_text("{}")
    with pytest.raises(UnreadableInput, match=r"a\.html: cannot be parsed: HTML elements are nested more than 1000"):
        read(tmp_path)
    bad = []
    read(tmp_path, on_bad=bad.append)
    assert len(bad) == 2
