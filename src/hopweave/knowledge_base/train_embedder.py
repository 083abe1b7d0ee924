"""Training an embedder on the graph of a knowledge base, and embedding its documents anew."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from hopweave.errors import KnowledgeBaseError
from hopweave.graph.storage.table_graph import TableGraph
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.vector.contextual.contextual_model import ContextualModel, Start
from hopweave.vector.contextual.training import Edges, Progress, Trained, Training, train
from hopweave.vector.graph_embedder import GraphEmbedder

MIN_EDGES = 10


def train_embedder(
    kb: KnowledgeBase,
    training: Training | None = None,
    *,
    start: Start = "random",
    progress: Progress | None = None,
) -> Trained:
    """Train an embedder on the graph of a knowledge base, keep it in the file, and embed all documents anew.

    What is connected in the graph, such as passages and the entities they name, shall have similar vectors; no other
    model is needed. `start` is what word vectors are at first: random numbers, or those of WordLlama (`static`).
    Documents that are added later are embedded by it as it is; call this again to train on them too.

    >>> from hopweave import Document, KnowledgeBase
    >>> ferries = [Document(f"d{n}", f"The Skua calls at Hallow at {n}.", {"title": "MV Skua"}) for n in range(9)]
    >>> with KnowledgeBase.open() as kb:
    ...     _ = kb.add(ferries)
    ...     losses = train_embedder(kb).losses
    ...     kb.settings.model.startswith("graph-"), len(kb.search("Hallow").hits)
    (True, 9)
    """
    graph = kb.graph
    texts = _node_texts(kb, graph)
    edges = _edges(graph)
    if len(edges) < MIN_EDGES:
        raise KnowledgeBaseError(
            f"{kb.path}: its graph has {len(edges)} edges, too few to train on; at least {MIN_EDGES} are needed"
        )
    model = ContextualModel.untrained(texts, start=start)
    trained = train(model.parameters, model.tokens(texts), edges, training, progress)
    kb.embed_with(GraphEmbedder.of(replace(model, parameters=trained.parameters)))
    return trained


def load_embedder(path: str | Path) -> GraphEmbedder:
    """The embedder that was trained on a file, for use elsewhere; a file without one is an error."""
    with KnowledgeBase.open(path, read_only=True) as kb:
        embedder = kb.settings.embedder
    if not isinstance(embedder, GraphEmbedder):
        raise KnowledgeBaseError(f"{path}: has no embedder of its own; run: hopweave train-embedder --kb {path}")
    return embedder


def _node_texts(kb: KnowledgeBase, graph: TableGraph) -> list[str]:
    """The text of each node: of a passage its document's, of an entity its name."""
    texts = {document.id: document.searchable for document in kb.documents()}
    nodes = graph.nodes(np.arange(graph.size))
    return [texts.get(node.document_id, "") if node.document_id else node.name for node in nodes]


def _edges(graph: TableGraph) -> Edges:
    found = graph.neighbours(np.arange(graph.size), "out")
    sources = np.repeat(np.arange(graph.size), np.diff(found.offsets))
    edges: Edges = np.stack([sources, found.targets.astype(np.int64)], axis=1)[sources != found.targets]
    return edges
