from pathlib import Path

import pytest

from hopweave.document import Document
from hopweave.graph.build.builders.links import LinksBuilder
from hopweave.graph.build.resolve import resolve
from hopweave.markup.page import Link
from hopweave.readers.files import read_documents
from hopweave.readers.link_check import check_links
from hopweave.readers.tree import Tree

NAMES = ["index.md", "docs/_index.md", "docs/skua.md", "docs/crew/falk.mdx", "docs/Port of Harris.md", "b/skua.rst"]


@pytest.mark.parametrize(
    ("target", "base", "address"),
    [
        ("skua.md", "docs/_index.md", "/docs/skua"),
        ("skua", "docs/_index.md", "/docs/skua"),
        ("./skua.html#the-Crew", "docs/_index.md", "/docs/skua#the-crew"),
        ("../skua/", "docs/crew/falk.mdx", "/docs/skua"),
        ("../skua/", "docs/other/index.md", "/docs/skua"),
        ("crew/falk", "docs/skua.md", "/docs/crew/falk"),
        ("../crew/falk/", "docs/skua.md", "/docs/crew/falk"),
        ("/docs/skua/", "b/skua.rst", "/docs/skua"),
        ("/docs/?all=true#x", "b/skua.rst", "/docs#x"),
        ("/", "b/skua.rst", "/."),
        ("#crew", "docs/skua.md", "/docs/skua#crew"),
        ("Port_of_Harris", "docs/skua.md", "/docs/port-of-harris"),
        ("Port%20of%20Harris.md", "docs/skua.md", "/docs/port-of-harris"),
        ("title:Port of Harris", "b/skua.rst", "/docs/port-of-harris"),
        ("title:MV Tern", "b/skua.rst", "MV Tern"),
        ("id:pod", "b/skua.rst", "id:pod"),
        ("pep:0008#x", "b/skua.rst", "pep:8#x"),
        ("https://example.org/a/", "b/skua.rst", "https://example.org/a"),
        ("mailto:a@b.org", "b/skua.rst", ""),
        ("missing.md", "docs/skua.md", "/docs/missing"),
    ],
)
def test_where_links_lead(target, base, address):
    assert Tree(NAMES).resolve(Link.to(target), base) == address


def test_pages_of_antora():
    tree = Tree(["a/modules/ROOT/pages/sub/one.adoc", "a/modules/x/pages/two.adoc", "b/modules/x/pages/three.adoc"])
    base = "a/modules/ROOT/pages/sub/one.adoc"
    assert tree.resolve(Link.to("sub/one.adoc"), base) == "/a/modules/root/pages/sub/one"
    assert tree.resolve(Link.to("xref:x:two.adoc#y"), base) == "/a/modules/x/pages/two#y"
    assert tree.resolve(Link.to("xref:b:x:three.adoc"), base) == "/b/modules/x/pages/three"


def write(folder, **files):
    for name, text in files.items():
        file = folder / name.replace("__", "/").replace("_md", ".md").replace("_html", ".html")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def edges(folder, **options):
    """The edges that links become, from and to ids."""
    graph = resolve(LinksBuilder().contribute(one) for one in read_documents(folder, **options))
    return {
        (edge.source.removeprefix("passage:"), edge.target.removeprefix("passage:"))
        for edge in graph.edges()
        if edge.type == "links_to"
    }


def test_the_own_site_is_inferred_or_stated(tmp_path):
    write(tmp_path, **{f"wiki__page{number}_md": f"# Page {number}\n\n" for number in range(5)})
    links = "".join(f"https://wiki.org/w/page{number} " for number in range(5))
    write(tmp_path, start_md=f"{links} <https://other.org/w/page1>")
    wanted = {("start.md", f"wiki/page{number}.md") for number in range(5)}
    assert edges(tmp_path) == wanted
    tree = Tree(["start.md", *(f"wiki/page{number}.md" for number in range(5))])
    tree.infer_sites([tmp_path / "start.md"])
    assert tree.inferred == {"https://wiki.org/w": 5}
    write(tmp_path, start_md="https://example.org/docs/wiki/page1")
    assert edges(tmp_path) == set()
    assert edges(tmp_path, site_url="https://example.org/docs") == {("start.md", "wiki/page1.md")}


def test_a_link_with_an_anchor_leads_to_the_passage_and_one_without_to_the_first(tmp_path):
    long = "".join(f"## {name}\n\n{'word ' * 300}\n\n" for name in ("One", "Two", "Three"))
    write(tmp_path, a_md="[x](b.md#two) [y](b.md)", b_md=f"# B\n\n{long}")
    assert edges(tmp_path) == {("a.md", "b.md#two"), ("a.md", "b.md")}


def test_what_a_page_calls_itself(tmp_path):
    write(
        tmp_path,
        sub__a_md="---\naliases: [/old/a, Grey Lady]\nslug: lady\nid: skua\npermalink: /ships/skua/\n---\nText",
        b_md="[x](/old/a/)",
        c_md="[[Grey Lady]]",
        d_md='See <Ship slug="lady"/>',
        e_md='{{< glossary_tooltip text="x" term_id="skua" >}}',
        f_md="[x](/ships/skua)",
        g_md="[x](sub/lady)",
    )
    assert edges(tmp_path) == {(f"{name}.md", "sub/a.md") for name in "bcdefg"}


def test_two_files_that_fit_equally_are_no_edge_and_counted(tmp_path):
    write(tmp_path, a_md="[x](b) [y](c)", b_md="One", b_html="<p>Two", c_md="Three")
    assert edges(tmp_path) == {("a.md", "c.md")}
    links, _ = check_links({file.name: file for file in tmp_path.iterdir()})
    assert str(links) == "links: 2 within the folder, 1 joined, 0 dead, 1 fit two files equally"


def test_a_link_field_of_a_document_counts_from_its_folder():
    document = Document("start", "", {"path": "sub/start.md", "links": ["setup.md", "skua", "https://a.org/b"]})
    targets = [edge.target for edge in LinksBuilder().contribute(document).edges]
    assert targets == ["address:sub/setup.md", "address:skua", "address:https://a.org/b"]


def test_dead_links_are_listed_by_file_and_line(tmp_path):
    write(tmp_path, a_md="# A\n\n[x](b.md#no)\n[y](c.md) [z](https://example.org)", b_md="# B")
    links, dead = check_links({name: Path(tmp_path, name) for name in ("a.md", "b.md", "gone.md")})
    assert [tuple(one) for one in dead] == [("a.md", 3, "b.md#no"), ("a.md", 4, "c.md")]
    assert links.counts() == {"within": 2, "joined": 0, "dead": 2, "ambiguous": 0}
