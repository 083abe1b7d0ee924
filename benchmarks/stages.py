"""MMR and reciprocal rank fusion, timed against the peers that do the same, interleaved in one run.

    python benchmarks/stages.py            a table
    python benchmarks/stages.py --json     one JSON object: the peer's time divided by ours

MMR: 1,000 hits with 384 dimensions, 50 picked. Fusion: three rankings of 1,000 hits each over 2,000 documents of 300
characters without metadata. Every contestant starts from what its own users hold (hits, arrays, lists of
floats, documents, nodes). LlamaIndex changes the scores of the nodes it is given, so it gets fresh ones each time, made
outside the clock.
"""

import argparse
import json
import os
import statistics
import sys
import time

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")
sys.path.pop(0)  # this folder: one of its scripts has the name of a package

import numpy as np
import pyversity
from haystack import Document
from haystack.components.joiners import DocumentJoiner
from llama_index.core.indices.query.embedding_utils import get_top_k_mmr_embeddings
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.schema import NodeWithScore, TextNode

from hopweave.fusion.reciprocal_rank import ReciprocalRank
from hopweave.hit import Hit
from hopweave.query import Query
from hopweave.stages.diversify.mmr import MMR

CANDIDATES, DIMENSIONS, PICKED = 1_000, 384, 50
RANKINGS, RANKED, DOCUMENTS = 3, 1_000, 2_000
WEIGHT = 0.5
MMR_ROUNDS, FUSION_ROUNDS = 9, 41  # LlamaIndex takes seconds for the one, nobody does for the other


def median_times(contestants, rounds):
    """Median seconds of each contestant, all of them in turn in every round, after one round to warm up.

    A contestant is a function and, if it needs one, a function that prepares its argument outside the clock.
    """
    times = {name: [] for name in contestants}
    for turn in range(rounds + 1):
        for name, (run, prepare) in contestants.items():
            argument = prepare()
            begun = time.perf_counter()
            run(argument)
            if turn:
                times[name].append(time.perf_counter() - begun)
    return {name: statistics.median(taken) for name, taken in times.items()}


def mmr_contestants():
    generator = np.random.default_rng(7)
    question = generator.normal(size=DIMENSIONS)
    question /= np.linalg.norm(question)
    vectors = generator.normal(size=(CANDIDATES, DIMENSIONS)) + 2 * generator.random((CANDIDATES, 1)) * question
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    scores = vectors @ question
    hits = [Hit(str(n), float(scores[n]), vector=vectors[n], scale="unit") for n in np.argsort(-scores)]
    asked, lists = question.tolist(), vectors.tolist()
    stage, query = MMR(relevance_weight=WEIGHT, top_k=PICKED), Query("q")

    picked = [int(hit.id) for hit in stage.apply(hits, query)]
    theirs = pyversity.mmr(vectors, np.clip(scores, 0, 1), PICKED, diversity=1 - WEIGHT).indices.tolist()
    if picked != theirs:
        raise SystemExit("hopweave and pyversity disagree about the order, so their times mean nothing")
    return {
        "hopweave": (lambda _: stage.apply(hits, query), lambda: None),
        "pyversity": (lambda _: pyversity.mmr(vectors, scores, PICKED, diversity=1 - WEIGHT), lambda: None),
        "llamaindex": (
            lambda _: get_top_k_mmr_embeddings(asked, lists, similarity_top_k=PICKED, mmr_threshold=WEIGHT),
            lambda: None,
        ),
    }


class Silent(BaseRetriever):
    """The fusion is called directly, so nothing is retrieved."""

    def _retrieve(self, query_bundle):  # noqa: ARG002 - the framework passes it by name
        return []


def fusion_contestants():
    generator = np.random.default_rng(11)
    text = ("The ferry sails between the islands, in winter as in summer. " * 5)[:300]
    # short texts without metadata are what favours the peers, who hash or copy them
    metadata: list[dict[str, str]] = [{} for _ in range(DOCUMENTS)]
    rankings = {
        f"source {n}": [
            (int(place), float(score))
            for place, score in zip(
                generator.permutation(DOCUMENTS)[:RANKED], -np.sort(-generator.random(RANKED)), strict=True
            )
        ]
        for n in range(RANKINGS)
    }
    hits = {
        name: [Hit(str(n), score, f"{n} {text}", metadata[n]) for n, score in ranking]
        for name, ranking in rankings.items()
    }
    documents = [
        [Document(id=str(n), content=f"{n} {text}", meta=metadata[n], score=score) for n, score in ranking]
        for ranking in rankings.values()
    ]
    nodes = {n: TextNode(id_=str(n), text=f"{n} {text}", metadata=metadata[n]) for n in range(DOCUMENTS)}

    def fresh_nodes():
        return {
            (name, place): [NodeWithScore(node=nodes[n], score=score) for n, score in ranking]
            for place, (name, ranking) in enumerate(rankings.items())
        }

    fuser, query = ReciprocalRank(), Query("q")
    joiner = DocumentJoiner(join_mode="reciprocal_rank_fusion")
    retriever = QueryFusionRetriever([Silent()] * RANKINGS, llm=MockLLM(), mode="reciprocal_rerank", num_queries=1)

    def order(found, key):
        return [key(one) for one in found]

    ours = order(fuser.fuse(hits, query), lambda hit: hit.id)
    if set(ours) != set(order(joiner.run(documents)["documents"], lambda document: document.id)):
        raise SystemExit("hopweave and Haystack fuse different documents, so their times mean nothing")
    if set(ours) != set(order(retriever._reciprocal_rerank_fusion(fresh_nodes()), lambda node: node.node.node_id)):
        raise SystemExit("hopweave and LlamaIndex fuse different documents, so their times mean nothing")
    return {
        "hopweave": (lambda _: fuser.fuse(hits, query), lambda: None),
        "haystack": (lambda _: joiner.run(documents), lambda: None),
        "llamaindex": (retriever._reciprocal_rerank_fusion, fresh_nodes),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    arguments = parser.parse_args()
    mmr = median_times(mmr_contestants(), MMR_ROUNDS)
    fusion = median_times(fusion_contestants(), FUSION_ROUNDS)
    ratios = {
        "mmr_vs_pyversity": mmr["pyversity"] / mmr["hopweave"],
        "mmr_vs_llamaindex": mmr["llamaindex"] / mmr["hopweave"],
        "rrf_vs_haystack": fusion["haystack"] / fusion["hopweave"],
        "rrf_vs_llamaindex": fusion["llamaindex"] / fusion["hopweave"],
    }
    if arguments.json:
        print(json.dumps({name: round(ratio, 3) for name, ratio in ratios.items()}))
        return
    print(f"{'':26} {'':>11} {'median ms':>10} {'peer / ours':>12}")
    for title, times in (("MMR 1,000 x 384, 50 picked", mmr), ("RRF of 3 x 1,000", fusion)):
        for name, seconds in times.items():
            print(f"{title:26} {name:>11} {1000 * seconds:10.2f} {seconds / times['hopweave']:12.2f}")


if __name__ == "__main__":
    main()
