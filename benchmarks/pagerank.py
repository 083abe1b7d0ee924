"""Personalised PageRank against networkx and igraph (PRPACK): time, and how many of the true top 50 are found.

Ours is the graph and the rows that a knowledge base walks (`TableGraph`, `LocalRows`): passages and
the entities that they mention, and edges that triples state; all are followed both ways. Five weighted seeds per
question, restart 0.15 and 0.5; of the two, the less favourable figure is printed. The tolerance is such that at least
.99 of the true top 50 are found. `recipe` is the same at the tolerance
of the source `pagerank`, which is coarser, as the order of passages needs less. Everything runs on one core, and times
are CPU times, so that other work on the machine does not count. Building a graph is not timed, nor is what is computed
once per graph version.

    python benchmarks/pagerank.py [--large] [--json]

igraph is GPL and only needed here: pip install igraph.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"

import argparse
import gc
import json
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from statistics import mean, median

import igraph
import networkx as nx
import numpy as np
from scipy.sparse import csr_array

from hopweave.graph.walk.personalised_pagerank import personalised_pagerank
from hopweave.sources.pagerank import PageRank
from hopweave.testing.graphs import graph_from_arrays

RESTARTS = (0.15, 0.5)
TOP = 50

Edges = tuple[np.ndarray, np.ndarray, np.ndarray]


def stated(size: int, edges: int) -> Edges:
    """Edges between random nodes, as triples state them; few nodes have many, in both directions."""
    rng = np.random.default_rng(size)
    leaving = _popularity(size, 0.6)[rng.permutation(size)]
    arriving = _popularity(size, 0.8)[rng.permutation(size)]
    return _distinct(rng, size, edges, _draw(rng, leaving, edges), _draw(rng, arriving, edges))


def passage_entity(size: int, edges: int) -> Edges:
    """A third of the nodes are passages; each mentions entities, and a few entities are mentioned everywhere."""
    rng = np.random.default_rng(size)
    passages = size // 3
    lengths = rng.lognormal(0, 0.5, passages)
    mentions = _popularity(size - passages, 0.9)[rng.permutation(size - passages)]
    found = _draw(rng, lengths / lengths.sum(), edges), passages + _draw(rng, mentions, edges)
    return _distinct(rng, size, edges, *found)


def _popularity(size: int, exponent: float) -> np.ndarray:
    weights = (np.arange(size) + 10.0) ** -exponent
    return weights / weights.sum()


def _draw(rng: np.random.Generator, shares: np.ndarray, edges: int) -> np.ndarray:
    return rng.choice(len(shares), 2 * edges, p=shares)


def _distinct(rng: np.random.Generator, size: int, edges: int, sources: np.ndarray, targets: np.ndarray) -> Edges:
    pairs = np.sort(sources * size + targets)
    pairs = rng.permutation(pairs[np.flatnonzero(np.diff(pairs, prepend=-1))])[:edges]
    return pairs // size, pairs % size, rng.uniform(0.5, 2, len(pairs))


@dataclass(frozen=True)
class Setting:
    """A graph, how many questions each contender answers per restart, and our tolerance."""

    size: int
    edges: int
    make: Callable[[int, int], Edges]
    questions: int
    networkx_questions: int
    igraph_questions: int
    tolerance: float

    @property
    def are_mentions(self) -> bool:
        """Whether these are the edges of passages to what they mention, and not edges that documents state."""
        return self.make is passage_entity


SETTINGS = {
    "stated_10k": Setting(10_000, 60_000, stated, 40, 5, 20, 0.02),
    "passage_entity_10k": Setting(10_000, 85_000, passage_entity, 40, 5, 20, 0.0125),
    "passage_entity_100k": Setting(103_000, 875_000, passage_entity, 40, 2, 10, 0.005),
}
LARGE = {"passage_entity_1m": Setting(1_000_000, 8_500_000, passage_entity, 20, 0, 3, 0.005)}


def exact(forward: csr_array, starts: np.ndarray, restart: float) -> np.ndarray:
    """Plain power iteration in double precision, one column per question."""
    degrees = np.asarray(forward.sum(axis=1)).ravel()
    pace = np.divide(1 - restart, degrees, out=np.zeros(len(degrees)), where=degrees > 0)[:, None]
    backward, scores = forward.T.tocsr(), starts
    while True:
        moved = backward @ (scores * pace)
        moved += (1 - moved.sum(axis=0)) * starts
        change = np.abs(moved - scores).sum(axis=0).max()
        scores = moved
        if change < 1e-9:
            return scores


def measure(setting: Setting) -> dict[str, float | None]:
    """One row of the table."""
    sources, targets, weights = setting.make(setting.size, setting.edges)
    tracemalloc.start()
    graph = graph_from_arrays(sources, targets, weights, size=setting.size, are_mentions=setting.are_mentions)
    personalised_pagerank(graph, {int(sources[0]): 1.0}, top_k=TOP)
    peak_mb = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    forward = csr_array((weights, (sources, targets)), shape=(setting.size, setting.size))
    forward = (forward + forward.T).tocsr()
    peer = igraph.Graph(n=setting.size, edges=np.stack([sources, targets], axis=1), directed=False)
    peer.es["weight"] = weights
    other = nx.Graph()
    if setting.networkx_questions:
        other.add_nodes_from(range(setting.size))
        other.add_weighted_edges_from(zip(sources.tolist(), targets.tolist(), weights.tolist(), strict=True))

    rng = np.random.default_rng(11)
    rows = []
    for restart in RESTARTS:

        def ours(question, _starts, restart=restart):
            return personalised_pagerank(graph, question, restart=restart, top_k=TOP, tolerance=setting.tolerance)

        def recipe(question, _starts, restart=restart):
            return personalised_pagerank(graph, question, restart=restart, top_k=TOP, tolerance=PageRank().tolerance)

        def networkx(question, _starts, restart=restart):
            return nx.pagerank(other, 1 - restart, question)

        def prpack(_question, starts, restart=restart):
            return peer.personalized_pagerank(
                damping=1 - restart, reset=starts, weights="weight", implementation="prpack"
            )

        times = {ours: [], networkx: [], prpack: [], recipe: []}
        overlaps, of_recipe = [], []
        for number in range(setting.questions):
            seeds, shares = rng.choice(sources, 5, replace=False).tolist(), rng.uniform(0.2, 1, 5).tolist()
            question = dict(zip(seeds, shares, strict=True))
            starts = np.zeros((setting.size, 1))
            starts[list(question), 0] = np.array(list(question.values())) / sum(question.values())
            best = np.argsort(-exact(forward, starts, restart)[:, 0], kind="stable")[:TOP]
            overlaps.append(len(set(best.tolist()) & set(ours(question, starts).nodes.tolist())) / TOP)
            of_recipe.append(len(set(best.tolist()) & set(recipe(question, starts).nodes.tolist())) / TOP)
            contenders = {
                ours: 3,
                recipe: 3,
                networkx: number < setting.networkx_questions,
                prpack: number < setting.igraph_questions,
            }
            for contender, repeats in contenders.items():
                times[contender] += [timed(contender, question, starts[:, 0].tolist()) for _ in range(repeats)]
        rows.append(
            (*(median(seconds) if seconds else None for seconds in times.values()), mean(overlaps), mean(of_recipe))
        )
    return {
        "vs_networkx": min(row[1] / row[0] for row in rows) if setting.networkx_questions else None,
        "vs_igraph": min(row[2] / row[0] for row in rows),
        "overlap50": min(row[4] for row in rows),
        "median_ms": max(row[0] for row in rows) * 1e3,
        "recipe_overlap50": min(row[5] for row in rows),
        "recipe_ms": max(row[3] for row in rows) * 1e3,
        "peak_mb": peak_mb,
    }


def timed(call: Callable[..., object], *arguments: object) -> float:
    """CPU seconds of one call."""
    gc.disable()
    start = time.process_time()
    call(*arguments)
    elapsed = time.process_time() - start
    gc.enable()
    return elapsed


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--large", action="store_true", help="also measure a graph of a million nodes")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    results = {}
    if not options.json:
        print(
            f"{'graph':20} {'vs networkx':>12} {'vs igraph':>10} {'overlap@50':>11} {'median ms':>10} "
            f"{'recipe: overlap@50':>19} {'ms':>5} {'peak MB':>8}"
        )
    for name, setting in {**SETTINGS, **(LARGE if options.large else {})}.items():
        row = results[name] = measure(setting)
        if not options.json:
            versus = "–" if row["vs_networkx"] is None else f"{row['vs_networkx']:.0f}×"
            print(
                f"{name:20} {versus:>12} {row['vs_igraph']:>9.1f}× {row['overlap50']:>11.3f} "
                f"{row['median_ms']:>10.2f} {row['recipe_overlap50']:>19.3f} {row['recipe_ms']:>5.2f} "
                f"{row['peak_mb']:>8.0f}",
                flush=True,
            )
    if options.json:
        json.dump(results, sys.stdout)
        print()


if __name__ == "__main__":
    main()
