"""Graph sources as retrievers: they build on what words and vectors find."""

from collections.abc import Mapping
from typing import Any, ClassVar

from llama_index.core.retrievers import BaseRetriever
from llama_index.retrievers.hopweave.source import SourceRetriever

from hopweave.component import Source
from hopweave.sources.bm25 import BM25
from hopweave.sources.vector_search import VectorSearch

_OWN: Mapping[str, Source] = {"text": BM25(), "vector": VectorSearch()}


class GraphRetriever(SourceRetriever):
    """
    A retriever that walks a graph. Derive from it and name the source.

    Takes what `SourceRetriever` takes. Without `upstream`, the walk starts from what the knowledge base itself finds by
    words and vectors. With it, from what those retrievers find, wherever their nodes live: then the place of the
    knowledge base may be taken by `documents_in(store, graph)`.
    """

    named_in: ClassVar[str] = "seeds_from"
    """The parameter that names the upstream retrievers."""

    def __init__(
        self, knowledge_base: Any, *, upstream: Mapping[str, BaseRetriever] | None = None, **options: Any
    ) -> None:
        """Set the source up; with upstream retrievers, `seeds_from` are their names."""
        if upstream is not None and self.named_in not in options:
            options[self.named_in] = tuple(upstream)
        super().__init__(knowledge_base, upstream=upstream, **options)

    def _upstream(self, source: Source, upstream: Mapping[str, BaseRetriever] | None) -> dict[str, Source]:
        own = {name: _OWN[name] for name in source.needs if name in _OWN}
        return {**own, **super()._upstream(source, upstream)}
