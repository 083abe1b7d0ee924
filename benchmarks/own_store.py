"""Graph retrieval added to a pipeline over a store that a user already runs, beside the recipe over a file of its own.

    python benchmarks/own_store.py --framework haystack --store qdrant [--embedder static|minilm] [--json]

Takes --corpus and --queries, or musique100 in the folder HOPWEAVE_DATA. Stores: Qdrant in memory, a real PostgreSQL
with pgvector (started from the wheel `pgserver`), the framework's own store in memory.

stock       the framework's own retriever over the store, as its documentation sets it up
with graph  the same pipeline with the lines of the guide added; added_lines counts them, imports included
own file    recipe multihop over a knowledge base that holds documents and vectors itself

median_ms is one question with its vector given: the median over the first 40 questions of the best of three wall-clock
times, as a store may be another process and other work must not count. Stock and added pipeline take turns. Vectors are
the same for all three.
"""

import argparse
import asyncio
import inspect
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from math import inf
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from uuid import NAMESPACE_URL, uuid5

sys.path.sort(key=str(Path(__file__).parent).__eq__)  # this folder last: one of its scripts is called haystack
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")
os.environ.setdefault("TQDM_DISABLE", "1")

import numpy as np
from judging import SETS, JudgedSet, quality
from peers import RETURNED, Ask
from postgres_server import postgres_server
from vectors import EMBEDDERS, RememberedVectors

from hopweave import KnowledgeBase, Pipeline, Query

TIMED, REPETITIONS = 40, 3
STORES = ("memory", "pgvector", "qdrant")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--framework", choices=sorted(FRAMEWORKS), action="append", help="all when not given")
    parser.add_argument("--store", choices=STORES, action="append", help="all when not given")
    parser.add_argument("--embedder", choices=sorted(EMBEDDERS), default="static")
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--queries", type=Path)
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    options = parser.parse_args()
    files: Sequence[Path] = (options.corpus, options.queries)
    if None in files:
        if "HOPWEAVE_DATA" not in os.environ:
            parser.error("give --corpus and --queries, or set HOPWEAVE_DATA")
        files = [Path(os.environ["HOPWEAVE_DATA"], file) for file in SETS["musique100"][:2]]
    judged, embedder = JudgedSet.read(*files), RememberedVectors(EMBEDDERS[options.embedder]())
    vectors = embedder.embed([document.searchable for document in judged.documents])
    questions = [question.query.text for question in judged.questions]
    asked = list(zip(questions, embedder.embed(questions), strict=True))
    results = {"own file": measured([own_file(judged, vectors, embedder)], asked, judged)[0]}
    for framework in options.framework or sorted(FRAMEWORKS):
        for store in options.store or STORES:
            results[f"{framework}, {store}"] = added(FRAMEWORKS[framework], store, judged, vectors, asked)
    print(json.dumps(results) if options.json else table(results))


def added(framework, store: str, judged: JudgedSet, vectors: np.ndarray, asked) -> dict:
    """A stock pipeline, and the same with the graph."""
    with TemporaryDirectory() as folder, framework(store, judged, vectors, folder) as (stock, with_graph, addition):
        before, after = measured([stock, with_graph], asked, judged)
    return {
        "stock": before,
        "with graph": after,
        "added_ms": round(after["median_ms"] - before["median_ms"], 2),
        "added_lines": len([line for line in inspect.getsource(addition).splitlines()[2:] if line.strip()]),
    }


def measured(ways: Sequence[Ask], asked, judged: JudgedSet) -> list[dict[str, float]]:
    """Quality and time of ways to ask, in turns, so that they meet the same machine."""
    found = [[ask(*question)[:RETURNED] for question in asked] for ask in ways]  # loads what is loaded once, too
    best = [[inf] * TIMED for _ in ways]
    for place, question in enumerate(asked[:TIMED]):
        for way, ask in [*enumerate(ways)] * REPETITIONS:
            started = perf_counter()
            ask(*question)
            best[way][place] = min(best[way][place], perf_counter() - started)
    return [
        {**quality(ranked, judged.questions), "median_ms": round(1000 * median(seconds), 2)}
        for ranked, seconds in zip(found, best, strict=True)
    ]


def own_file(judged: JudgedSet, vectors: np.ndarray, embedder: RememberedVectors) -> Ask:
    """The recipe over a knowledge base that holds everything."""
    kb = KnowledgeBase.open(embedder=embedder)
    kb.add(replace(one, vector=vector) for one, vector in zip(judged.documents, vectors, strict=True))
    pipeline = Pipeline("multihop", kb)
    return lambda question, vector: [hit.id for hit in pipeline.run(Query(question, vector), top_k=RETURNED).hits]


# Haystack


@contextmanager
def haystack(store: str, judged: JudgedSet, vectors: np.ndarray, folder: str) -> Iterator[tuple[Ask, Ask, Callable]]:
    """An embedding retriever over the store, without and with the graph."""
    from haystack import Document, Pipeline

    documents = [
        Document(id=one.id, content=one.text, meta=dict(one.metadata), embedding=vector.tolist())
        for one, vector in zip(judged.documents, vectors, strict=True)
    ]
    with HAYSTACK_STORES[store](vectors.shape[1]) as (document_store, retriever):
        document_store.write_documents(documents)

        def pipeline() -> Pipeline:
            made = Pipeline()
            made.add_component("retriever", retriever(document_store=document_store))
            return made

        stock, with_graph = pipeline(), pipeline()
        os.chdir(folder)
        haystack_addition(with_graph, document_store)

        def ask_stock(_question: str, vector: np.ndarray) -> list[str]:
            found = stock.run({"retriever": {"query_embedding": vector.tolist()}})
            return [document.id for document in found["retriever"]["documents"]]

        def ask_with_graph(question: str, vector: np.ndarray) -> list[str]:
            found = with_graph.run({"retriever": {"query_embedding": vector.tolist()}, "graph": {"query": question}})
            return [document.id for document in found["graph"]["documents"]]

        yield ask_stock, ask_with_graph, haystack_addition


def haystack_addition(pipeline, store) -> None:
    """The lines that docs/guides/haystack.md adds."""
    from haystack_integrations.components.retrievers.hopweave import RecipeRetriever
    from haystack_integrations.components.writers.hopweave import KnowledgeBaseWriter

    KnowledgeBaseWriter(knowledge_base="graph.db").mirror(store)
    recipe = RecipeRetriever(knowledge_base="graph.db", document_store=store, recipe="multihop", upstream=["vector"])
    pipeline.add_component("graph", recipe)
    pipeline.connect("retriever.documents", "graph.vector")


@contextmanager
def _haystack_memory(_dimension: int) -> Iterator[tuple]:
    from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    yield InMemoryDocumentStore(embedding_similarity_function="cosine"), InMemoryEmbeddingRetriever


@contextmanager
def _haystack_qdrant(dimension: int) -> Iterator[tuple]:
    from haystack_integrations.components.retrievers.qdrant import QdrantEmbeddingRetriever
    from haystack_integrations.document_stores.qdrant import QdrantDocumentStore

    store = QdrantDocumentStore(location=":memory:", embedding_dim=dimension, progress_bar=False)
    yield store, QdrantEmbeddingRetriever


@contextmanager
def _haystack_pgvector(dimension: int) -> Iterator[tuple]:
    from haystack.utils import Secret

    from haystack_integrations.components.retrievers.pgvector import PgvectorEmbeddingRetriever
    from haystack_integrations.document_stores.pgvector import PgvectorDocumentStore

    with postgres_server() as url:
        store = PgvectorDocumentStore(connection_string=Secret.from_token(url), embedding_dimension=dimension)
        yield store, PgvectorEmbeddingRetriever
        store.close()


HAYSTACK_STORES: dict[str, Callable[[int], AbstractContextManager[tuple]]] = {
    "memory": _haystack_memory,
    "pgvector": _haystack_pgvector,
    "qdrant": _haystack_qdrant,
}

# LlamaIndex


@contextmanager
def llama_index(store: str, judged: JudgedSet, vectors: np.ndarray, folder: str) -> Iterator[tuple[Ask, Ask, Callable]]:
    """The retriever of a VectorStoreIndex over the store, without and with the graph."""
    from llama_index.core import MockEmbedding, StorageContext, VectorStoreIndex
    from llama_index.core.schema import QueryBundle, TextNode

    ids = {str(uuid5(NAMESPACE_URL, one.id)): one.id for one in judged.documents}  # Qdrant takes no others
    nodes = [
        TextNode(id_=key, text=one.text, metadata=dict(one.metadata), embedding=vector.tolist())
        for key, one, vector in zip(ids, judged.documents, vectors, strict=True)
    ]
    with LLAMA_INDEX_STORES[store](vectors.shape[1]) as vector_store:
        storage = StorageContext.from_defaults(vector_store=vector_store)
        index = VectorStoreIndex(nodes, storage_context=storage, embed_model=MockEmbedding(vectors.shape[1]))
        os.chdir(folder)

        def asking(retriever) -> Ask:
            def ask(question: str, vector: np.ndarray) -> list[str]:
                found = retriever.retrieve(QueryBundle(question, embedding=vector.tolist()))
                return [ids[node.node_id] for node in found]

            return ask

        stock = index.as_retriever(similarity_top_k=RETURNED)
        yield asking(stock), asking(llama_index_addition(index)), llama_index_addition


def llama_index_addition(index):
    """The lines that docs/guides/llama-index.md adds."""
    from llama_index.hopweave import documents_in
    from llama_index.ingestion.hopweave import KnowledgeBaseWriter
    from llama_index.retrievers.hopweave import RecipeRetriever

    from hopweave import KnowledgeBase

    kb = KnowledgeBase.open("graph.db", embedder=None)
    KnowledgeBaseWriter(knowledge_base=kb).mirror(index)
    return RecipeRetriever(
        documents_in(index, kb), recipe="multihop", retrievers={"vector": index.as_retriever(similarity_top_k=30)}
    )


@contextmanager
def _llama_index_memory(_dimension: int) -> Iterator:
    from llama_index.core.vector_stores import SimpleVectorStore

    yield SimpleVectorStore()


@contextmanager
def _llama_index_qdrant(_dimension: int) -> Iterator:
    from llama_index.vector_stores.qdrant import QdrantVectorStore
    from qdrant_client import QdrantClient

    yield QdrantVectorStore("passages", client=QdrantClient(":memory:"))


@contextmanager
def _llama_index_pgvector(dimension: int) -> Iterator:
    from llama_index.vector_stores.postgres import PGVectorStore

    with postgres_server() as url:
        store = PGVectorStore.from_params(
            connection_string=url.replace("postgresql:", "postgresql+psycopg2:"),
            async_connection_string=url.replace("postgresql:", "postgresql+asyncpg:"),
            embed_dim=dimension,
        )
        yield store
        asyncio.run(store.close())


LLAMA_INDEX_STORES: dict[str, Callable[[int], AbstractContextManager]] = {
    "memory": _llama_index_memory,
    "pgvector": _llama_index_pgvector,
    "qdrant": _llama_index_qdrant,
}

FRAMEWORKS = {"haystack": haystack, "llama_index": llama_index}
"""By framework: from a store's name, judged set, vectors and a folder to two ways to ask and the addition between."""


def table(results) -> str:
    """One line for each way to ask."""
    rows = {"own file": results["own file"]}
    for name, result in results.items():
        if name != "own file":
            rows[f"{name}: stock"] = result["stock"]
            rows[f"{name}: + {result['added_lines']} lines"] = result["with graph"]
    columns = list(results["own file"])
    lines = [" " * 30 + "".join(f"{column:>12}" for column in columns)]
    lines += [f"{label:<30}" + "".join(f"{row[one]:>12}" for one in columns) for label, row in rows.items()]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
