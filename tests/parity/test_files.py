"""The same folder through the command line, Haystack and LlamaIndex: the same passages and links."""

import pytest
from haystack.core.serialization import component_from_dict, component_to_dict
from haystack.dataclasses import ByteStream
from llama_index.hopweave.nodes import to_document
from llama_index.readers.hopweave import FileReader

from haystack_integrations.common.hopweave.documents import to_passage
from haystack_integrations.components.converters.hopweave import FileConverter
from hopweave.cli import main
from hopweave.document import Document
from hopweave.graph.build.builders.links import LinksBuilder
from hopweave.graph.build.resolve import resolve
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.readers.files import read_documents


@pytest.fixture
def folder(tmp_path):
    docs = tmp_path / "docs"
    (docs / "sub").mkdir(parents=True)
    (docs / "a.md").write_text("---\naliases: [/old]\n---\n# A\n\nSee [b](sub/b/#two) and `code`." + "\n\nMore. " * 300)
    (docs / "sub" / "b.rst").write_text("B\n=\n\nTo `a <../a.md>`_.\n\nTwo\n---\n\n" + "Text. " * 400)
    (docs / "c.html").write_text("<h1>C</h1><p>To <a href=/old>a</a>.")
    (docs / "d.pdf").write_bytes(b"%PDF")
    return docs


def as_seen(documents):
    """Ids, texts, titles, links and the edges they make."""
    builder = LinksBuilder()
    edges = resolve(builder.contribute(one) for one in documents).edges()
    shown = [(one.id, one.text, one.title, one.metadata.get("links")) for one in documents]
    return shown, [(edge.source, edge.type, edge.target) for edge in edges]


def test_the_same_passages_and_links(folder, tmp_path):
    wanted = as_seen(list(read_documents(folder)))
    sources = sorted(path for path in folder.rglob("*.*") if path.suffix != ".pdf")
    converted = FileConverter().run(sources=sources)["documents"]
    assert as_seen([to_passage(one) for one in converted]) == wanted
    assert as_seen([to_document(one) for one in FileReader().load_data(folder)]) == wanted
    kb = tmp_path / "kb.db"
    assert main(["index", str(folder), "--kb", str(kb), "--embedder", "none", "--quiet"]) == 0
    with KnowledgeBase.open(kb, embedder=None, read_only=True) as opened:
        stored = opened.get([one[0] for one in wanted[0]])
    found = [Document(hit.id, hit.text, hit.metadata) for hit in (stored[one[0]] for one in wanted[0])]
    assert as_seen(found) == wanted
    assert ("passage:a.md", "links_to", "passage:sub/b.rst#two") in wanted[1]
    assert ("passage:c.html", "links_to", "passage:a.md") in wanted[1]


def test_streams_and_metadata_in_haystack(folder, caplog):
    stream = ByteStream(b"# Skua\n\nA ferry.", meta={"file_name": "skua.md"})
    (document,) = FileConverter().run(sources=[stream], meta=[{"team": "harbour"}])["documents"]
    assert (document.id, document.meta["title"], document.meta["team"]) == ("skua.md", "Skua", "harbour")
    assert FileConverter().run(sources=[folder / "d.pdf"]) == {"documents": []}
    assert "d.pdf: unknown kind of file" in caplog.text
    with pytest.raises(ValueError, match="stream number 0 needs a file_name in its meta"):
        FileConverter().run(sources=[ByteStream(b"x")])
    with pytest.raises(ValueError, match="meta: must be as many as sources, 1, but got 2"):
        FileConverter().run(sources=[stream], meta=[{}, {}])


def test_serialisation():
    converter = FileConverter(root="docs", max_characters=500, site_url="https://example.org")
    described = component_to_dict(converter, "converter")
    again = component_from_dict(FileConverter, described, "converter")
    assert component_to_dict(again, "converter") == described
    assert (again.root, again.max_characters, again.site_url) == ("docs", 500, "https://example.org")
    reader = FileReader(max_characters=500, site_url="https://example.org")
    assert FileReader.from_dict(reader.to_dict()) == reader
