"""What ten of our components add to a Haystack pipeline, beyond the copies that Haystack itself makes.

A pipeline of ten rankers over 200 documents with 384-d embeddings, against one of ten components that hand on what
they get. overhead = (ours - theirs) / theirs; below 0.15 is the aim. Processor time; runs alternate, and the medians
count. The overhead is negative where the copies that our documents spare Haystack (of embeddings and receipts, which
copies share) outweigh our own work; own_work = our rankers without any pipeline / theirs.

    python benchmarks/haystack.py            a table
    python benchmarks/haystack.py --json     {"overhead": 0.08, ...}
"""

import argparse
import json
import os
import random
import statistics
import sys
import time
from itertools import pairwise

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
sys.path.pop(0)  # this folder: the script has the name of the package it measures

from haystack import Document, Pipeline, component

from haystack_integrations.components.rankers.hopweave import (
    CommunitySpreadRanker,
    CorpusBoostRanker,
    DeferralRanker,
    FreshnessRanker,
    ImportanceRanker,
    LengthRanker,
    MMRRanker,
    NoiseRanker,
    ScoreThresholdRanker,
    TimeDecayRanker,
)

OURS = (
    FreshnessRanker,
    TimeDecayRanker,
    ImportanceRanker,
    LengthRanker,
    CorpusBoostRanker,
    CommunitySpreadRanker,
    NoiseRanker,
    MMRRanker,
    DeferralRanker,
    lambda: ScoreThresholdRanker(min_score=0.0),
)
WORDS = ("ferry", "tide", "gate", "harbour", "engine", "winter", "crew", "chart", "rope", "lamp", "pump", "signal")


@component
class HandOn:
    """A ranker that does nothing: what is left is Haystack's own cost."""

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document], query: str = "") -> dict[str, list[Document]]:  # noqa: ARG002 - as rankers have it
        return {"documents": documents}


def chain(makers):
    pipeline = Pipeline()
    names = [f"step_{number:02d}" for number in range(len(makers))]
    for name, make in zip(names, makers, strict=True):
        pipeline.add_component(name, make())
    for sender, receiver in pairwise(names):
        pipeline.connect(f"{sender}.documents", f"{receiver}.documents")
    return pipeline


def documents(count, dimension, seed=7):
    chance = random.Random(seed)
    return [
        Document(
            id=f"d{number}",
            content=" ".join(chance.choices(WORDS, k=120)),
            score=1 - number / (2 * count),
            embedding=[chance.gauss(0, 1) for _ in range(dimension)],
            meta={
                "corpus_type": chance.choice(["CONVO_SLACK", "DOC_RUNBOOK", "CODE_DEPLOY"]),
                "timestamp": f"2026-0{chance.randint(1, 9)}-01",
                "importance": chance.random(),
                "community": chance.choice("abcdef"),
            },
        )
        for number in range(count)
    ]


def seconds(pipeline, found):
    started = time.process_time()  # what others do on the machine at the same time is not our cost
    pipeline.run({"documents": found, "query": "how to restart the pump"})
    return time.process_time() - started


def seconds_alone(found):
    """The ten rankers one after the other, without a pipeline."""
    rankers = [make() for make in OURS]
    started = time.process_time()
    for ranker in rankers:
        found = ranker.run(documents=found, query="how to restart the pump")["documents"]
    return time.process_time() - started


def measure(count, dimension, repeats):
    found = documents(count, dimension)
    ours, theirs = chain(OURS), chain([HandOn] * len(OURS))
    for pipeline in (ours, theirs):
        seconds(pipeline, found)
    times = [(seconds(ours, found), seconds(theirs, found), seconds_alone(found)) for _ in range(repeats)]
    with_ours, without, alone = (statistics.median(column) for column in zip(*times, strict=True))
    return {
        "overhead": (with_ours - without) / without,
        "own_work": alone / without,
        "seconds_with_ours": with_ours,
        "seconds_handing_on": without,
        "components": len(OURS),
        "documents": count,
        "dimension": dimension,
        "repeats": repeats,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--documents", type=int, default=200)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args()
    result = measure(options.documents, options.dimension, options.repeats)
    if options.json:
        print(json.dumps(result))
        return
    print(f"{result['components']} components, {options.documents} documents, {options.dimension}-d embeddings")
    print(f"  handing on   {result['seconds_handing_on'] * 1000:8.1f} ms")
    print(f"  hopweave     {result['seconds_with_ours'] * 1000:8.1f} ms")
    print(f"  overhead     {result['overhead']:8.1%}")
    print(f"  own work     {result['own_work']:8.1%}   of what handing on costs")


if __name__ == "__main__":
    main()
