"""Training an embedder on the graph of a knowledge base, and embedding its documents anew."""

import sqlite3
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from hopweave.component import Embedder
from hopweave.errors import KnowledgeBaseError
from hopweave.graph.storage.table_graph import TableGraph
from hopweave.knowledge_base.connections import Connections
from hopweave.knowledge_base.file.digest import vector_columns
from hopweave.knowledge_base.file.stored_settings import write_settings
from hopweave.vector.contextual.contextual_model import ContextualModel, Start
from hopweave.vector.contextual.training import Edges, Progress, Trained, Training, train
from hopweave.vector.graph_embedder import GraphEmbedder

if TYPE_CHECKING:
    from pathlib import Path

    from hopweave.knowledge_base.store import KnowledgeBase

MIN_EDGES = 10
_AT_ONCE = 1000
_WEIGHTS = "CREATE TABLE IF NOT EXISTS weights (model TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID"


def train_embedder(
    kb: "KnowledgeBase",
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


def load_embedder(path: "str | Path") -> GraphEmbedder:
    """The embedder that was trained on a file, for use elsewhere; a file without one is an error."""
    from hopweave.knowledge_base.store import KnowledgeBase

    with KnowledgeBase.open(path, read_only=True) as kb:
        embedder = kb.settings.embedder
    if not isinstance(embedder, GraphEmbedder):
        raise KnowledgeBaseError(f"{path}: has no embedder of its own; run: hopweave train-embedder --kb {path}")
    return embedder


def embed_anew(connections: Connections, kb: "KnowledgeBase", embedder: GraphEmbedder) -> None:
    """Keep an embedder in the file and put its vectors in place of those there are, in one transaction."""
    with connections.writing() as connection:
        connection.execute("DELETE FROM vectors")
        connection.execute("DELETE FROM images WHERE name LIKE 'vectors:%'")
        connection.execute(_WEIGHTS)
        connection.execute("DELETE FROM weights")
        connection.execute("INSERT INTO weights VALUES (?, ?)", (embedder.name, embedder.weights))
        write_settings(connection, {"embedder": embedder.model_dump(mode="json"), "model": embedder.name})
        rows = dict(connection.execute("SELECT id, row FROM documents"))
        pending = [(rows[document.id], document.searchable) for document in kb.documents() if document.id in rows]
        for first in range(0, len(pending), _AT_ONCE):
            some = pending[first : first + _AT_ONCE]
            vectors = embedder.embed([text for _, text in some])
            connection.executemany(
                "INSERT INTO vectors VALUES (?, ?, ?, ?)",
                [
                    vector_columns(row, embedder.name, vector.tobytes())
                    for (row, _), vector in zip(some, vectors, strict=True)
                ],
            )


def with_stored_weights(embedder: Embedder, connections: Connections) -> Embedder:
    """The same embedder; one that was trained on this file gets its weights from it."""
    if not isinstance(embedder, GraphEmbedder):
        return embedder
    with connections.reading() as connection:
        try:
            found = connection.execute("SELECT data FROM weights WHERE model = ?", (embedder.name,)).fetchone()
        except sqlite3.OperationalError:
            found = None
    if not found:
        raise KnowledgeBaseError(f"{connections.path}: the weights of its embedder {embedder.name!r} are missing")
    return embedder.model_copy(update={"weights": bytes(found[0])})


def _node_texts(kb: "KnowledgeBase", graph: TableGraph) -> list[str]:
    """The text of each node: of a passage its document's, of an entity its name."""
    texts = {document.id: document.searchable for document in kb.documents()}
    nodes = graph.nodes(np.arange(graph.size))
    return [texts.get(node.document_id, "") if node.document_id else node.name for node in nodes]


def _edges(graph: TableGraph) -> Edges:
    found = graph.neighbours(np.arange(graph.size), "out")
    sources = np.repeat(np.arange(graph.size), np.diff(found.offsets))
    edges: Edges = np.stack([sources, found.targets.astype(np.int64)], axis=1)[sources != found.targets]
    return edges
