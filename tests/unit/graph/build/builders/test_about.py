import time

import pytest

from hopweave.document import Document
from hopweave.graph.build.builders.about import (
    about_names,
    defined_names,
    file_title,
    headings,
    title_line,
    title_names,
    without_suffix,
)
from hopweave.graph.build.builders.mentions import MentionsBuilder
from hopweave.markup.markdown import read_text


@pytest.mark.parametrize(
    ("title", "names"),
    [
        ("", []),
        ("MV Skua", ["MV Skua"]),
        ("Dark River (2017 film)", ["Dark River (2017 film)", "Dark River"]),
        ("  MV \n Skua ", ["MV Skua"]),
        ("(500) Days", ["(500) Days"]),
        ("[draft]", ["[draft]"]),
        ("東京（曖昧さ回避）", ["東京（曖昧さ回避）", "東京"]),
    ],
)
def test_title_names(title, names):
    assert title_names(title) == names


def test_without_suffix_takes_one_bracket_off():
    assert without_suffix("A (b) (c)") == "A (b)"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("no heading # here", []),
        ("# One\ntext\n### Two ###\n#hashtag", ["One", "Two"]),
        ("## **Bold**", ["Bold"]),
    ],
)
def test_headings(text, found):
    assert headings(read_text(text)) == found


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("", ""),
        ("docs/getting-started.md", "getting started"),
        ("C:\\docs\\FerryTimetable.docx", "Ferry Timetable"),
        ("docs/ports/README.md", "ports"),
        ("https://example.org/ships/skua.html?lang=en#crew", "skua"),
        ("https://example.org/", ""),
        ("scans/0001.pdf", "scans"),
        ("v1.2", "v1"),
    ],
)
def test_file_title(path, title):
    assert file_title(path) == title


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", []),
        ("Teutberga( died 11 November 875) was a queen of Lotharingia.", ["Teutberga"]),
        ("Lambert, Margrave of Tuscany (died 938), was a son.", ["Lambert, Margrave of Tuscany"]),
        ('" All Over Me" is a song.', ["All Over Me"]),
        ("The Harris Line is a ferry company.", ["The Harris Line"]),
        ("The film is set in Harris.", []),
        ("It is a ferry.", []),
        ("This is a test.", []),
        ("ferries are ships.", []),
        ("Josip Babich (born 1895)", ["Josip Babich"]),
        ("Oei Hui-lan, known as Madame Koo, was a socialite.", ["Oei Hui-lan", "Madame Koo"]),
        ("John Adams was an American- born Canadian merchant.", ["John Adams"]),
        ("Ann Lee( born April 18, 1995) is an actress.", ["Ann Lee"]),
        ("International Business Machines, abbreviated IBM, is a company.", ["International Business Machines", "IBM"]),
        ("Die Elbe ist ein Fluss.", ["Die Elbe"]),
        ("Hamburg ist eine Stadt.", ["Hamburg"]),
        ("Los Angeles is a city.", ["Los Angeles"]),
        ("Le chat est noir.", []),
        ("All is well.", []),
        ("北京市是中华人民共和国的首都。", ["北京市"]),
        ("富士山（ふじさん）は、日本の山である。", ["富士山"]),
        (", is a thing", []),
        ("Acme Corp. is a maker of anvils.", ["Acme Corp."]),
        ("Roger Dean Miller Sr. (1936 – 1992) was a singer.", ["Roger Dean Miller Sr."]),
    ],
)
def test_defined_names(text, names):
    assert defined_names(text) == names


@pytest.mark.parametrize(
    ("text", "others"),
    [
        (
            "Clarence Leon Brown (May 10, 1890 – August 17, 1987) was a director.",
            ["Clarence Brown", "Leon Brown", "Clarence L. Brown"],
        ),
        ("Roger Dean Miller Sr. (1936 – 1992) was a singer.", ["Roger Miller", "Dean Miller", "Roger D. Miller"]),
        ("Sir Felix Otto Schuster (1854–1936) was a banker.", ["Felix Schuster", "Otto Schuster", "Felix O. Schuster"]),
        ("Dame Ann Lee (born 1950) is an actress.", ["Ann Lee"]),
        ("Alexander B. H. Cox (born 15 December 1954) is a director.", ["Alexander Cox"]),
        ("Ann Lee (born 1950) is an actress.", []),  # nothing is shorter
        ("Ludwig van Beethoven (1770–1827) was a composer.", []),  # "Ludwig Beethoven" is not what he is called
        ("The Great Northern Railway (1846–1922) was a railway.", []),
        ("Dark River Blues (1990) is a film.", []),  # one year is no life
        ("Dark River Blues is a film.", []),
    ],
)
def test_short_forms_of_persons(text, others):
    name, *found = defined_names(text, short_forms=True)
    assert found == others
    assert defined_names(text) == [name]


def test_a_text_without_a_title_is_also_about_the_short_forms():
    text = "Clarence Leon Brown (1890–1987) was a director."
    names = {
        title: [mention.name for mention in MentionsBuilder().contribute(Document("d", text, metadata)).mentions]
        for title, metadata in (("none", {}), ("Clarence Brown", {"title": "Clarence Brown"}))
    }
    assert names["none"][:4] == ["Clarence Leon Brown", "Clarence Brown", "Leon Brown", "Clarence L. Brown"]
    assert names["Clarence Brown"][:2] == ["Clarence Brown", "Clarence Leon Brown"]
    assert "Clarence L. Brown" not in names["Clarence Brown"]


@pytest.mark.parametrize(
    "text", ["a" * 100_000, "A " * 50_000, "(" * 100_000, '"' * 100_000, "A, " * 33_000, "known as " * 12_000]
)
def test_hostile_text_takes_no_time(text):
    started = time.process_time()
    defined_names(text, short_forms=True)
    defined_names(f"Skua {text}", short_forms=True)
    defined_names(f"Skua ({text}", short_forms=True)
    title_line(text)
    title_line(f"{text}\n{text}")
    assert time.process_time() - started < 2


def test_about_names_from_title_heading_path_and_definition():
    document = Document(
        "d",
        "# Ferries of Harris\n\nSkua is a ferry.",
        {"title": "MV Skua (ship)", "path": "ships/mv_skua.md", "url": 7},
    )
    found = list(
        about_names(
            document, read_text(document.text), path_fields=("path", "url"), title_weight=4.0, inferred_weight=2.0
        )
    )
    assert [(mention.name, mention.weight) for mention in found] == [
        ("MV Skua (ship)", 4.0),
        ("MV Skua", 4.0),
        ("Ferries of Harris", 2.0),
        ("mv skua", 2.0),
        ("Skua", 2.0),
    ]
    assert all(mention.is_about for mention in found)


def test_the_definition_is_looked_for_below_the_headings():
    document = Document("d", "# Overview\n\nSkua is a ferry.", {})
    found = about_names(document, read_text(document.text), path_fields=(), title_weight=4.0, inferred_weight=2.0)
    assert [mention.name for mention in found] == ["Overview", "Skua"]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("MV Skua (ship)\nSkua is a ferry.", "MV Skua (ship)"),
        ("\n  Journal of Ferries\r\n\r\nA quarterly.", "Journal of Ferries"),
        ("富士山\n富士山は、日本の山である。", "富士山"),
        ("MV Skua", ""),
        ("MV Skua\n", ""),
        ("Skua is a ferry.\nIt sails to Harris.", ""),
        ("Orders:\nAspirin, once a day", ""),
        ("def skua(ferry):\n    return ferry", ""),
        ("and so the Skua\nsailed to Harris.", ""),
        ("The Skua left Harris late and\ncame back early.", ""),
        ("It\nwas late.", ""),
    ],
)
def test_a_first_line_that_reads_like_a_title(text, title):
    assert title_line(text) == title


def test_a_first_line_like_a_title_is_what_a_document_is_about():
    document = Document("d", "MV Skua (ship)\nThe Skua, a ferry, is also known as Grey Lady.")
    found = about_names(document, read_text(document.text), path_fields=(), title_weight=4.0, inferred_weight=2.0)
    assert [(mention.name, mention.weight) for mention in found] == [
        ("MV Skua (ship)", 2.0),
        ("MV Skua", 2.0),
        ("The Skua", 2.0),
        ("Grey Lady", 2.0),
    ]


def test_a_source_that_is_no_path_says_nothing():
    for source, names in (("wiki", []), ("skua.md", ["skua"]), ("ships/skua", ["skua"])):
        found = about_names(
            Document("d", "", {"source": source}),
            read_text(""),
            path_fields=("source",),
            title_weight=4,
            inferred_weight=2,
        )
        assert [mention.name for mention in found] == names
