"""Edges from hyperlinks, in the text and in the metadata."""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from hopweave.document import Document
from hopweave.graph.build.builders.addresses import (
    ADDRESSES,
    PATH_FIELDS,
    address_of,
    addresses_of,
    is_relative_path,
    named_in,
    path_of,
)
from hopweave.graph.build.builders.builder import GraphBuilder
from hopweave.graph.model import ADDRESS, Contribution, Edge, Node
from hopweave.markup.markdown import read_text
from hopweave.notices import warn_once

_NAME_ALONE = (
    "links: %r links to files in other folders, but its metadata has only the name of its own, %r, so these links lead "
    "nowhere; keep paths when files are converted (Haystack's converters: store_full_path=True)"
)


def links_in(text: str, base: str = "") -> list[str]:
    """The addresses that Markdown, HTML and wiki links in a text lead to, each once.

    >>> links_in("See [the ferry](skua.md#crew), [[Harris|the island]] and <https://example.org/>.", "docs/index.md")
    ['docs/skua.md', 'Harris', 'https://example.org']
    """
    found = (
        link.target.removeprefix("title:") if link.target.startswith("title:") else address_of(link.target, base)
        for link in read_text(text).links
    )
    return list(dict.fromkeys(filter(None, found)))


class LinksBuilder(GraphBuilder):
    """Connects a passage with the documents it links to.

    A link finds its document by id, title, path or URL. A page that is not among the documents connects those that
    link to it.

    >>> found = LinksBuilder().contribute(Document("d", "See [Skua](skua.md).", {"path": "docs/index.md"}))
    >>> [(edge.source, edge.type, edge.target) for edge in found.edges]
    [('passage:d', 'links_to', 'address:docs/skua.md')]
    """

    kind: Literal["links"] = "links"
    fields: tuple[str, ...] = Field(
        default=("links", "link"), description="Metadata fields that hold ids, paths or URLs."
    )
    path_fields: tuple[str, ...] = Field(
        default=PATH_FIELDS, description="Metadata fields that hold the document's own path."
    )
    weight: float = Field(default=1.0, gt=0, description="Weight of an edge.")

    def contribute(self, document: Document) -> Contribution:
        """The passage, what it is called, and an edge for each link."""
        passage = Node.passage(document.id, document.title)
        targets = dict.fromkeys(self._targets(document))
        return Contribution(
            document.id,
            nodes=(passage,),
            edges=tuple(Edge(passage.id, ADDRESS + target, "links_to", self.weight) for target in targets),
            addresses=addresses_of(document, self.path_fields),
        )

    def _targets(self, document: Document) -> Iterator[str]:
        named = [name for field in self.fields for name in named_in(document.metadata.get(field))]
        if ADDRESSES in document.metadata:
            yield from named
            return
        base = path_of(document, self.path_fields)
        yield from (address_of(name, base) if base and is_relative_path(name) else name for name in named)
        if (
            base
            and "/" not in base.replace("\\", "/")
            and any(link.target.startswith("../") for link in read_text(document.text).links)
        ):
            warn_once(type(self), "name alone", _NAME_ALONE, document.id, base)
        yield from links_in(document.text, base)
