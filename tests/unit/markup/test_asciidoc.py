from hopweave.markup.asciidoc import read_asciidoc

TEXT = """\
= Ferries
:author: Falk
:page-aliases: old/a.adoc, old/b.adoc
:skua: MV Skua

A ferry called {skua}, see xref:harris.adoc#port[the port], xref:ROOT:lewis.adoc[],
link:https://example.org/x[outside^], <<crew,her crew>> and https://a.org/b[this].

// a comment
include::other.adoc[]

[#crew]
== Crew of `skua`

NOTE: Mind the *gap*.

* one
* two `code`
continued

Term:: What it means

[source,python]
----
= no heading
----

.Ships
|===
| Ship | Built

| Skua
| 1974
|===
"""


def test_a_document():
    page = read_asciidoc(TEXT)
    assert page.title == "Ferries"
    assert page.front == {"author": "Falk", "aliases": ["old/a.adoc", "old/b.adoc"]}
    assert [(block.kind, block.text) for block in page.blocks] == [
        ("heading", "# Ferries"),
        (
            "paragraph",
            "A ferry called MV Skua, see the port, xref:ROOT:lewis.adoc, outside, her crew and this.".replace(
                "xref:ROOT:lewis.adoc", "ROOT:lewis.adoc"
            ),
        ),
        ("heading", "## Crew of `skua`"),
        ("admonition", "Mind the gap."),
        ("list", "- one"),
        ("list", "- two `code` continued"),
        ("list", "- Term: What it means"),
        ("code", "```python\n= no heading\n```"),
        ("paragraph", "Ships"),
        ("table", "| Ship | Built |\n| --- | --- |\n| Skua | 1974 |"),
    ]
    assert {"crew", "_crew-of-skua"} <= set(page.blocks[2].anchors)


def test_links():
    assert [(link.target, link.anchor) for link in read_asciidoc(TEXT).links] == [
        ("harris.adoc", "port"),
        ("xref:ROOT:lewis.adoc", ""),
        ("https://example.org/x", ""),
        ("", "crew"),
        ("https://a.org/b", ""),
    ]
