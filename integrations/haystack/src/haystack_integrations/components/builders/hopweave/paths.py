"""The most reliable paths between the best documents, for a prompt."""

from inspect import signature
from typing import Any

from haystack import Document, component

from haystack_integrations.common.hopweave.documents import to_hit
from haystack_integrations.common.hopweave.knowledge_file import KnowledgeFile
from haystack_integrations.common.hopweave.tracing import tag
from hopweave.graph.csr import Graph
from hopweave.graph.documents import passage_numbers
from hopweave.graph.paths import prune_paths
from hopweave.stages.unit_scores import unit_scores

_CORE = {name: parameter.default for name, parameter in signature(prune_paths).parameters.items()}


@component
class FlowPruner:
    """
    Finds the paths through the graph that connect the best documents, and keeps the most reliable ones.

    flow = product over the edges of decay · share of the edge. reliability = 0.6 · mean score of the nodes + 0.4 ·
    flow. Its output `paths` fits the input of that name of `CitedContextBuilder`.

    ```python
    from haystack import Document
    from haystack_integrations.components.builders.hopweave import FlowPruner

    pruner = FlowPruner(knowledge_base="hopweave.db", min_documents=2)
    documents = [Document(id="skua", score=1.0), Document(id="yard", score=0.5)]
    paths = pruner.run(documents=documents)["paths"]
    ```
    """

    def __init__(
        self,
        *,
        knowledge_base: str,
        min_documents: int = 5,
        max_endpoints: int = _CORE["max_endpoints"],
        max_hops: int = _CORE["max_hops"],
        threshold: float = _CORE["threshold"],
        decay: float = _CORE["decay"],
        top_k: int = _CORE["top_k"],
        deadline_seconds: float | None = _CORE["deadline_seconds"],
    ) -> None:
        """
        Create the pruner; the file is opened on first use.

        :param knowledge_base: Path of the knowledge base file that has the graph.
        :param min_documents: With fewer documents than this there are no paths.
        :param max_endpoints: How many of the best documents paths may begin and end at.
        :param max_hops: How long a path may be.
        :param threshold: A branch with less flow than this ends.
        :param decay: What is left of the flow at each hop.
        :param top_k: How many paths to keep.
        :param deadline_seconds: Best so far after this time.
        """
        self.knowledge_base = knowledge_base
        self.min_documents = min_documents
        self.max_endpoints = max_endpoints
        self.max_hops = max_hops
        self.threshold = threshold
        self.decay = decay
        self.top_k = top_k
        self.deadline_seconds = deadline_seconds
        self._file = KnowledgeFile(knowledge_base)
        prune_paths(Graph.build([], []), {}, **self._limits())  # the core checks its parameters

    def warm_up(self) -> None:
        """Open the knowledge base."""
        self._file.open()

    def close(self) -> None:
        """Let go of the knowledge base."""
        self._file.close()

    @component.output_types(paths=list[str], details=list[dict[str, Any]], document_ids=list[str], finished=bool)
    def run(
        self, documents: list[Document], min_documents: int | None = None, top_k: int | None = None
    ) -> dict[str, Any]:
        """
        Find the paths between documents.

        :param documents: What was retrieved, with scores.
        :param min_documents: With fewer documents than this there are no paths, instead of what was given at
            construction.
        :param top_k: How many paths to keep, instead of the number given at construction.
        :returns: `paths` as lines of text, best last; the same as `details`, best first; the `document_ids` on them;
            and whether the search `finished` in time.
        """
        hits = [to_hit(one) for one in documents]
        enough = len(hits) >= (self.min_documents if min_documents is None else min_documents)
        graph = self._file.open().graph
        numbers = passage_numbers(graph, [hit.id for hit in hits] if enough else [])
        scores = dict(zip((hit.id for hit in hits), unit_scores(hits), strict=True))
        limits = self._limits() | ({} if top_k is None else {"top_k": top_k})
        found = prune_paths(graph, {number: scores[key] or 0.0 for key, number in numbers.items()}, **limits)
        tag("flow_pruner", (), paths=len(found.paths), finished=found.finished)
        return {
            "paths": [path.words for path in reversed(found.paths)],
            "details": [
                {
                    "nodes": [node.name for node in path.nodes],
                    "edge_types": list(path.edge_types),
                    "flow": path.flow,
                    "reliability": path.reliability,
                }
                for path in found.paths
            ],
            "document_ids": list(found.document_ids),
            "finished": found.finished,
        }

    def _limits(self) -> dict[str, Any]:
        names = ("max_endpoints", "max_hops", "threshold", "decay", "top_k", "deadline_seconds")
        return {name: getattr(self, name) for name in names}
