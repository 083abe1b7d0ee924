"""Text search against the BM25 retrievers that LlamaIndex and Haystack users have today, on 6,119 passages.

    HOPWEAVE_DATA=folder python benchmarks/text.py [--json]

Queries are timed in turn within one run; a ratio is the peer's median time divided by ours (above 1 we win).
`index_seconds` is the whole `hopweave index` command with text and static vectors; `add_one_ms` runs from handing in
one document until a text search finds it.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")
sys.path.pop(0)  # this folder: one of its scripts has the name of a package

from hopweave import Document, KnowledgeBase, Query
from hopweave.sources.bm25 import BM25

TOP_K = 10
LABELS = {
    "ours": "hopweave bm25",
    "llamaindex": "LlamaIndex BM25Retriever",
    "haystack": "Haystack InMemoryBM25Retriever",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("HOPWEAVE_DATA"), help="folder with the data sets")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    options = parser.parse_args()
    if options.data is None:
        parser.error("give --data or set HOPWEAVE_DATA")
    corpus = Path(options.data) / "2wiki_corpus.jsonl"
    passages = [json.loads(line) for line in corpus.open(encoding="utf-8")]
    queries = [json.loads(line)["question"] for line in (Path(options.data) / "2wiki51_queries.jsonl").open("rb")]

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kb.db"
        started = perf_counter()
        subprocess.run(
            [sys.executable, "-m", "hopweave", "index", str(corpus), "--kb", str(file), "--quiet"], check=True
        )
        index_seconds = perf_counter() - started
        with KnowledgeBase.open(file) as kb:
            times = race(
                queries, {"ours": ours(kb), "llamaindex": llamaindex(passages), "haystack": haystack(passages)}
            )
            add_one_ms = 1000 * median(add_one(kb, number) for number in range(20))

    result = {
        "vs_llamaindex_bm25": round(times["llamaindex"] / times["ours"], 2),
        "vs_haystack_bm25": round(times["haystack"] / times["ours"], 2),
        "index_seconds": round(index_seconds, 2),
        "add_one_ms": round(add_one_ms, 2),
    }
    if options.json:
        print(json.dumps(result))
        return
    print(f"{len(passages)} passages, {len(queries)} questions, top {TOP_K}\n")
    print(f"{'text query':<34}{'median ms':>10}{'ratio':>8}")
    for name, label in LABELS.items():
        print(f"{label:<34}{1000 * times[name]:>10.2f}{times[name] / times['ours']:>8.1f}")
    print(f"\nhopweave index (text, vectors)  {index_seconds:>10.1f} s")
    print(f"add one document until found    {add_one_ms:>10.1f} ms")


def ours(kb):
    source = BM25(top_k=TOP_K)
    return lambda question: source.search(Query(question), kb)


def llamaindex(passages):
    from llama_index.core.schema import TextNode
    from llama_index.retrievers.bm25 import BM25Retriever

    nodes = [
        TextNode(
            id_=passage["id"], text=passage["title"] + "\n" + passage["text"], metadata={"title": passage["title"]}
        )
        for passage in passages
    ]
    return BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=TOP_K).retrieve


def haystack(passages):
    from haystack import Document as HaystackDocument
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    store = InMemoryDocumentStore()
    store.write_documents(
        [
            HaystackDocument(
                id=passage["id"], content=passage["title"] + "\n" + passage["text"], meta={"title": passage["title"]}
            )
            for passage in passages
        ]
    )
    retriever = InMemoryBM25Retriever(store, top_k=TOP_K)
    return lambda question: retriever.run(query=question)


def race(queries, searches):
    """Median seconds per query, every question asked of each in turn."""
    seconds = {name: [] for name in searches}
    for search in searches.values():
        search(queries[0])
    for question in queries:
        for name, search in searches.items():
            started = perf_counter()
            search(question)
            seconds[name].append(perf_counter() - started)
    return {name: median(taken) for name, taken in seconds.items()}


def add_one(kb, number):
    word = f"quetzalcoatlus{number}"
    started = perf_counter()
    kb.add([Document(word, f"A passage about the {word}.")])
    found = BM25(top_k=1).search(Query(word), kb)
    seconds = perf_counter() - started
    if [hit.id for hit in found] != [word]:
        raise RuntimeError(f"{word} was added but not found")
    return seconds


if __name__ == "__main__":
    main()
