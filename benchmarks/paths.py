"""Flow pruning: how long eight endpoints take, what a deadline does, and whether the hash seed matters.

    python benchmarks/paths.py --data DIRECTORY [--json]

DIRECTORY (or the environment variable HOPWEAVE_DATA) holds musique100_triples.jsonl. Two kinds of endpoints are
tried, the best eight of a PageRank from two entities and eight of the forty nodes with most edges; the slower counts.
The clique has 5,000 nodes, no branch is ever too thin, and the deadline is 100 ms.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

import numpy as np

from hopweave.graph.model import Edge, Node
from hopweave.graph.paths.flow import prune_paths
from hopweave.graph.storage.table_graph import TableGraph
from hopweave.graph.walk.personalised_pagerank import personalised_pagerank
from hopweave.testing.graphs import graph_from_arrays, graph_from_edges

ENDPOINTS = 8
QUESTIONS = 50
TIME_BUDGET_SECONDS = 0.1


def graph_of_triples(file: Path) -> TableGraph:
    """Entities and relations of a file of triples."""
    nodes, edges = set(), []
    for line in file.read_text(encoding="utf-8").splitlines():
        for triple in json.loads(line)["triples"]:
            if len(triple) == 3 and all(isinstance(part, str) and part.strip() for part in triple):
                source, target = Node.entity(triple[0]), Node.entity(triple[2])
                nodes |= {(source.id, source.name), (target.id, target.name)}
                edges.append(Edge(source.id, target.id, triple[1]))
    return graph_from_edges((Node(id_, "entity", name) for id_, name in sorted(nodes)), edges)


def questions(graph: TableGraph) -> dict[str, list[dict[int, float]]]:
    """Scores of nodes, as an answer would have them."""
    rng = np.random.default_rng(3)
    edges = graph.edge_counts(np.arange(graph.size))
    busiest, known = np.argsort(-edges, kind="stable")[:40], np.flatnonzero(edges >= 5)
    answers = [
        personalised_pagerank(graph, {int(node): 1.0 for node in rng.choice(known, 2, replace=False)}, top_k=50)
        for _ in range(QUESTIONS)
    ]
    return {
        "pagerank": [dict(zip(one.nodes.tolist(), one.scores.tolist(), strict=True)) for one in answers],
        "hubs": [
            {int(node): 1 / (1 + place) for place, node in enumerate(rng.choice(busiest, ENDPOINTS, replace=False))}
            for _ in range(QUESTIONS)
        ],
    }


def measure_triples(graph: TableGraph) -> dict[str, float]:
    medians, counts = [], []
    for scores in questions(graph).values():
        times = []
        for question in scores:
            start = time.perf_counter()
            found = prune_paths(graph, question, max_endpoints=ENDPOINTS)
            times.append(time.perf_counter() - start)
            counts.append(len(found.paths))
        medians.append(median(times))
    return {
        "nodes": graph.size,
        "edges": graph.edge_count,
        "median_ms": max(medians) * 1e3,
        "mean_paths": sum(counts) / len(counts),
    }


def measure_clique(size: int) -> dict[str, float | bool]:
    sources, targets = np.triu_indices(size, 1)
    graph = graph_from_arrays(sources, targets, size=size)
    start = time.perf_counter()
    found = prune_paths(
        graph, dict.fromkeys(range(ENDPOINTS), 1.0), threshold=0.0, time_budget_seconds=TIME_BUDGET_SECONDS
    )
    elapsed = time.perf_counter() - start
    return {"nodes": size, "elapsed_ms": elapsed * 1e3, "finished": found.finished, "paths": len(found.paths)}


def same_for_every_hash_seed(file: Path) -> bool:
    """The text of all paths, from processes that hash differently."""
    outputs = {
        subprocess.run(
            [sys.executable, __file__, "--data", str(file), "--text"],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "12345")
    }
    return len(outputs) == 1


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", default=os.environ.get("HOPWEAVE_DATA"), help="where musique100_triples.jsonl is")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    parser.add_argument("--text", action="store_true", help="print the paths themselves")
    options = parser.parse_args()
    if options.data is None:
        parser.error("say where the data is, with --data or HOPWEAVE_DATA")
    file = Path(options.data)
    file = file / "musique100_triples.jsonl" if file.is_dir() else file
    graph = graph_of_triples(file)
    if options.text:
        for scores in questions(graph).values():
            for question in scores[:10]:
                print(prune_paths(graph, question, max_endpoints=ENDPOINTS).text)
        return
    results = {
        "triples": measure_triples(graph),
        "clique": measure_clique(5000),
        "same_for_every_hash_seed": same_for_every_hash_seed(file),
    }
    if options.json:
        print(json.dumps(results))
        return
    triples, clique = results["triples"], results["clique"]
    print(f"{triples['nodes']:,} nodes, {triples['edges']:,} edges, {ENDPOINTS} endpoints:", end=" ")
    print(f"{triples['median_ms']:.1f} ms median, {triples['mean_paths']:.1f} paths")
    print(f"clique of {clique['nodes']:,} nodes, {TIME_BUDGET_SECONDS * 1e3:.0f} ms deadline:", end=" ")
    print(f"{clique['elapsed_ms']:.0f} ms, finished: {clique['finished']}, {clique['paths']} paths")
    print(f"the same for every hash seed: {results['same_for_every_hash_seed']}")


if __name__ == "__main__":
    main()
