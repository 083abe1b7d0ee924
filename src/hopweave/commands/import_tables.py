"""`hopweave import`: nodes, edges and embeddings from the tables of another program."""

import argparse
from typing import Any

from hopweave.commands.arguments import command
from hopweave.commands.terminal import show

_EXAMPLES = """\
examples:
  hopweave import sqlite graph.db --kb corpus.db
  hopweave import sqlite graph.db --kb corpus.db --keep-vectors

Each row of the table nodes (or entities) becomes a document, each row of edges (or relationships) an edge of the graph.
With --keep-vectors, the embeddings (embeddings, node_embeddings or vec_embeddings) are kept as given, and a question
must bring a vector of the same model; without, documents are embedded as usual.
"""


def add_to(commands: Any) -> None:
    """Declare the command and its arguments."""
    parser = command(commands, "import", run, "read nodes, edges and embeddings of another program", _EXAMPLES)
    parser.add_argument("format", choices=["sqlite"], help="what kind of file it is")
    parser.add_argument("path", help="the file to read")
    parser.add_argument("--keep-vectors", action="store_true", help="keep the embeddings instead of making new ones")


def run(options: argparse.Namespace) -> int:
    """Import and say what became of it."""
    from dataclasses import replace

    from hopweave.knowledge_base.settings import UNSET
    from hopweave.knowledge_base.store import KnowledgeBase
    from hopweave.readers.sqlite_tables import read_sqlite_tables

    tables = read_sqlite_tables(options.path)
    documents = tables.documents if options.keep_vectors else [replace(one, vector=None) for one in tables.documents]
    with KnowledgeBase.open(options.kb, embedder=None if options.keep_vectors else UNSET) as kb:
        done = kb.add(documents)
        kb.contribute(tables.contributions)
        edges = sum(len(one.edges) for one in tables.contributions)
        show(f"{options.kb}: {done.added} added, {done.updated} updated, {done.unchanged} unchanged; {edges} edges")
    return 0
