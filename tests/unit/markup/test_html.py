import pytest

from hopweave.markup.html import read_html


def test_blocks_and_reading_order():
    page = read_html(
        "<head><title>Skua – fleet</title><meta name=author content=Falk><style>a{}</style></head>"
        "<nav><a href=/>Home</a></nav><main><h1 id=top>MV <b>Skua</b></h1><p>A <code>ferry</code><br>to Harris.</p>"
        "<pre># no heading</pre><ul><li>one<li>two</ul><table><tr><th>a<th>b<tr><td>1<td>2</table></main>"
        "<script>x</script>"
    )
    assert (page.title, page.front) == ("MV Skua", {"author": "Falk"})
    assert [(block.kind, block.text) for block in page.blocks] == [
        ("heading", "# MV Skua"),
        ("paragraph", "A `ferry`\nto Harris."),
        ("code", "```\n# no heading\n```"),
        ("list", "- one"),
        ("list", "- two"),
        ("table", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
        ("paragraph", "Home"),
    ]
    assert page.blocks[0].anchors == ("top", "mv-skua")
    assert [(link.text, link.target) for link in page.links] == [("Home", "/")]


def test_a_title_without_a_heading():
    assert read_html("<title>Skua</title><p>A ferry.").title == "Skua"


def test_deeply_nested_elements_are_refused():
    with pytest.raises(ValueError, match="more than 1000 levels"):
        read_html("<div>" * 100_000 + "deep")
    assert read_html("<p>before</p>" + "<div>" * 900 + "deep").blocks[-1].text == "deep"
