import pytest

from hopweave.markup.markdown import read_markdown, read_text
from hopweave.markup.page import Link, anchors_of


def said(text):
    return [(block.kind, block.text, block.plain) for block in read_markdown(text).blocks]


def links(text):
    return [(link.text, link.target, link.anchor) for link in read_markdown(text).links]


def test_kinds_of_blocks():
    text = "# A\n\nb\nc\n\n- d\n- e\n\n> f\n\n| g | h |\n| - | - |\n| i | j |\n\n```sh\n# k\n```\n\n    l\n"
    assert [kind for kind, *_ in said(text)] == ["heading", "paragraph", "list", "quote", "table", "code", "code"]
    assert [plain for *_, plain in said(text)] == ["A", "b c", "d\ne", "f", "g\nh\ni\nj", "", ""]


@pytest.mark.parametrize(
    ("text", "shown", "plain"),
    [
        ("A `b` *c* [d](e.md)", "A `b` *c* [d](e.md)", "A b c d"),
        ("a <!-- b --> c", "a  c", "a  c"),
        ('{{< note title="Mind" >}}\na\n{{< /note >}}', "Mind\na\n", "Mind a"),
        ("`{{< note >}}` and `<!-- a -->`", "`{{< note >}}` and `<!-- a -->`", "{{< note >}} and <!-- a -->"),
        ('<Tabs>\n\n<Tab label="Linux" {...props}>a</Tab>\n\n</Tabs>', "Linuxa", "Linuxa"),
        ("import A from './a'\nexport const b = 1\n\na {/* b */}c", "a c", "a c"),
        (":::tip Mind\na\n:::", "Mind\na\n", "Mind a"),
        ("a<br>b <span class='x'>c</span><sup>2</sup>", "a b c2", "a b c2"),
        ("{{% heading %}}a{.class}", "a", "a"),
    ],
)
def test_invisible_markup_disappears_and_the_rest_stays(text, shown, plain):
    ((_, found, words), *rest) = said(text)
    assert (found.strip(), " ".join(words.split())) == (shown.strip(), " ".join(plain.split()))
    assert rest == []


def test_code_is_left_alone():
    text = "```\n{{< note >}} <!-- a --> <Tab/> {#id}\n```\n\n~~~~\n```\n~~~~"
    assert [shown for _, shown, _ in said(text)] == text.split("\n\n")


def test_admonitions_of_mkdocs_are_no_code():
    assert said('!!! note "Mind"\n\n    A ferry.\n\n        code\n') == [
        ("paragraph", "Mind", "Mind"),
        ("paragraph", "A ferry.", "A ferry."),
        ("code", "    code", ""),
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[a *b*](c.md#d 'e')", [("a b", "c.md", "d")]),
        ("[a][b]\n\n[b]: c.md", [("a", "c.md", "")]),
        ("[a](#b)", [("a", "", "b")]),
        ("[[a b#c|d]] [[e]]", [("d", "title:a b", "c"), ("e", "title:e", "")]),
        ("`[a](b.md)` and\n\n    [c](d.md)\n\n```\n[e](f.md)\n```", []),
        ('<a href="b.html">c</a>', [("c", "b.html", "")]),
        ('{{< glossary_tooltip\n  text="Pods" term_id="pod" >}}', [("Pods", "id:pod", "")]),
        ('[a]({{< ref "b.md#c" >}})', [("a", "b.md", "c")]),
        ('See <Team slug="x"/>.', [("", "slug:x", "")]),
        ('<Card title="A" href="/b#c">text</Card>', [("A", "/b", "c")]),
        ("{doc}`a <b/c>` and {pep}`8`", [("a", "b/c", ""), ("PEP 8", "pep:8", "")]),
        ("see https://a.org/b.", [("", "https://a.org/b", "")]),
        ("<https://a.org/b#c>", [("https://a.org/b#c", "https://a.org/b", "c")]),
        ('<div>\n<a href="a.md">b</a>\n</div>', [("b", "a.md", "")]),
    ],
)
def test_links(text, found):
    assert links(text) == found


def test_anchors():
    page = read_markdown('# A {#b .c}\n\n## What\'s new?\n\n<a id="d"></a>\n\nText <span id="e">f</span>')
    assert [block.anchors for block in page.blocks] == [("b", "a"), ("whats-new", "what-s-new"), ("d",), ("e",)]
    assert page.headings == ["A", "What's new?"]
    assert anchors_of("???") == ()


def test_names_are_not_looked_for_in_inline_code():
    block = read_markdown("The `kubelet Agent` runs").blocks[0]
    assert (block.plain, block.prose) == ("The kubelet Agent runs", "The\nruns")


def test_the_items_of_a_long_list_are_blocks():
    items = [f"- {'word ' * 60}{number}" for number in range(5)]
    assert [text for _, text, _ in said("\n".join(items))] == items


def test_html_inside_is_read_as_html():
    table = '<table>\n<tr><th>Pod</th><th>Node</th></tr>\n<tr><td>a</td><td><a href="b.md">b</a></td></tr>\n</table>'
    ((kind, shown, _),) = said(table)
    assert (kind, shown) == ("table", "| Pod | Node |\n| --- | --- |\n| a | b |")
    assert links(table) == [("b", "b.md", "")]


def test_text_without_markdown_is_one_paragraph_as_it_is():
    text = "``All You Need'' *is*\nlove_ & <so on>.\n\n    Indented."
    assert read_text(text).prose == text
    assert read_text("[a](b.md)").links == [Link("a", "b.md")]


@pytest.mark.parametrize("part", ["[", "`a", "<!-- ", "{{< ", "<A ", "> ", "![](", "**", "{#a} ", ":::a\n", "[[a"])
def test_hostile_text_costs_little(part):
    read_markdown(part * 20_000)  # minutes, if it were not linear
