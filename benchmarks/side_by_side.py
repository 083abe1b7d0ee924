"""What a user would pick instead: our recipes beside stock pipelines, on the same passages, vectors and triples.

    python benchmarks/side_by_side.py --corpus FILE --queries FILE [--triples FILE] [--embedder minilm|static] [--json]

Without --corpus and --queries it runs the sets in the folder HOPWEAVE_DATA (--set for one). Nobody calls an LLM.

hopweave hybrid, multihop   our recipes; multihop+triples has the triples in its graph
Haystack hybrid             InMemoryBM25Retriever and InMemoryEmbeddingRetriever, DocumentJoiner by reciprocal rank
LlamaIndex fusion           QueryFusionRetriever (reciprocal_rerank, num_queries=1): BM25Retriever, VectorStoreIndex
LlamaIndex property graph   PropertyGraphIndex of the triples, VectorContextRetriever; passages by their source ids
HippoRAG 2, our rendering   hipporag.py, re-implemented from its description, without its LLM filter of facts

Three of these need triples, and are left out without. all_gold@8 is the share of questions with every gold passage
among the first 8; ndcg@10 has binary gains. median_ms is one question with its vector given; index_seconds is
everything from passages, vectors and triples to the first question, without embedding: the vectors are the same for
all, and cached between runs. Both are processor time on one thread, so that other work on the machine does not
count. Hash seeds decide which triples LlamaIndex's graph store returns, so the script runs itself with seed 0.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import process_time

sys.path.sort(key=str(Path(__file__).parent).__eq__)  # this folder last: one of its scripts is called haystack
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")
os.environ.setdefault("TQDM_DISABLE", "1")

import numpy as np
from hipporag import HippoRag
from judging import SETS, JudgedSet, quality
from peers import FETCHED, RETURNED, Ask, haystack_hybrid, llamaindex_fusion, llamaindex_property_graph
from vectors import EMBEDDERS, RememberedVectors

from hopweave import KnowledgeBase, Pipeline, Query
from hopweave.graph.build.builders.builder import GraphBuilder
from hopweave.graph.build.builders.links import LinksBuilder
from hopweave.graph.build.builders.mentions import MentionsBuilder
from hopweave.graph.build.builders.triples import TriplesBuilder

ALIKE = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # in every run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--queries", type=Path)
    parser.add_argument("--triples", type=Path)
    parser.add_argument("--set", choices=sorted(SETS), help="one set of the folder HOPWEAVE_DATA")
    parser.add_argument("--embedder", choices=sorted(EMBEDDERS))
    parser.add_argument("--only", nargs="+", choices=[*CONTENDERS, *WITH_TRIPLES], help="these contenders alone")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    options = parser.parse_args()
    if any(os.environ.get(name) != value for name, value in ALIKE.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **ALIKE})
    embedders = [options.embedder] if options.embedder else sorted(EMBEDDERS)
    if options.corpus and options.queries:
        sets = {options.corpus.stem: JudgedSet.read(options.corpus, options.queries, options.triples)}
    else:
        folder = os.environ.get("HOPWEAVE_DATA")
        if folder is None:
            parser.error("give --corpus and --queries, or set HOPWEAVE_DATA")
        wanted = [options.set] if options.set else sorted(SETS)
        sets = {name: JudgedSet.read(*(file and Path(folder, file) for file in SETS[name])) for name in wanted}
    results = {
        name: {
            embedder: compare(judged, RememberedVectors(EMBEDDERS[embedder]()), options.only) for embedder in embedders
        }
        for name, judged in sets.items()
    }
    print(json.dumps(results) if options.json else table(results))


def compare(judged: JudgedSet, embedder: RememberedVectors, only: Sequence[str] | None) -> dict[str, dict[str, float]]:
    """One row for each contender."""
    vectors = embedder.embed([document.searchable for document in judged.documents])
    asked = [question.query.text for question in judged.questions]
    questions = list(zip(asked, embedder.embed(asked), strict=True))
    few = replace(judged, documents=judged.documents[:FETCHED])
    contenders = CONTENDERS | (WITH_TRIPLES if judged.triples else {})
    rows = {}
    for name, build in ((name, build) for name, build in contenders.items() if only is None or name in only):
        build(few, vectors[:FETCHED], embedder)(*questions[0])  # what is imported and loaded once does not count
        embedding, started = embedder.seconds, process_time()
        ask = build(judged, vectors, embedder)
        ask(*questions[0])
        index_seconds = process_time() - started - (embedder.seconds - embedding)
        found, seconds = [], []
        for question, vector in questions:
            started = process_time()
            ids = ask(question, vector)
            seconds.append(process_time() - started)
            found.append(ids[:RETURNED])
        rows[name] = {
            **quality(found, judged.questions),
            "median_ms": round(1000 * median(seconds), 2),
            "index_seconds": round(index_seconds, 2),
        }
    return rows


def recipe(name: str, *builders: GraphBuilder):
    """One of our own recipes over a knowledge base whose graph these builders make."""

    def build(judged: JudgedSet, vectors: np.ndarray, embedder) -> Ask:
        kb = KnowledgeBase.open(embedder=embedder, builders=builders)
        kb.add(
            replace(one, vector=vector, metadata={**one.metadata, "triples": judged.triples.get(one.id, [])})
            for one, vector in zip(judged.documents, vectors, strict=True)
        )
        pipeline = Pipeline(name, kb)
        return lambda question, vector: [hit.id for hit in pipeline.run(Query(question, vector), top_k=RETURNED).hits]

    return build


def hipporag(judged: JudgedSet, vectors: np.ndarray, embedder) -> Ask:
    """HippoRAG 2 as described, without its filter."""
    ids = [one.id for one in judged.documents]
    graph = HippoRag(ids, vectors, judged.triples, embedder.embed)
    return lambda _question, vector: [key for key, _ in graph.rank(vector, RETURNED)]


TEXT = (MentionsBuilder(), LinksBuilder())
CONTENDERS = {
    "hopweave hybrid": recipe("hybrid"),
    "hopweave multihop": recipe("multihop", *TEXT),
    "Haystack hybrid": haystack_hybrid,
    "LlamaIndex fusion": llamaindex_fusion,
}
WITH_TRIPLES = {
    "hopweave multihop+triples": recipe("multihop", *TEXT, TriplesBuilder()),
    "LlamaIndex property graph": llamaindex_property_graph,
    "HippoRAG 2, our rendering": hipporag,
}


def table(results) -> str:
    lines = []
    for name, by_embedder in results.items():
        for embedder, rows in by_embedder.items():
            columns = list(next(iter(rows.values())))
            lines += [f"{f'{name}, {embedder}':<28}" + "".join(f"{column:>14}" for column in columns)]
            lines += [f"  {label:<26}" + "".join(f"{row[one]:>14}" for one in columns) for label, row in rows.items()]
            missing = [label for label in (*CONTENDERS, *WITH_TRIPLES) if label not in rows]
            lines += [f"  left out: {', '.join(missing)}"] * bool(missing) + [""]
    return "\n".join(lines).rstrip()


if __name__ == "__main__":
    main()
