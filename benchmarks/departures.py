"""The figures of docs/departures.md: what the five documents describe against what hopweave does.

    python benchmarks/departures.py [--data FOLDER] [--json]

Recall@5 where a judged set is named. The corpora of the recipes are in examples/; musique100 and 2wiki51 are measured
if their folder is given or HOPWEAVE_DATA names it.
"""

import argparse
import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from unittest.mock import patch

import networkx as nx
import numpy as np

from hopweave import KnowledgeBase, Recipe, load_recipe, read_documents
from hopweave.evaluate.diagnose import diagnose
from hopweave.evaluate.evaluate import evaluate
from hopweave.evaluate.metrics import score_each
from hopweave.evaluate.queries import EvaluationQuery, read_queries
from hopweave.fusion.diagnostics import SubsetReport
from hopweave.fusion.reciprocal_rank import ReciprocalRank
from hopweave.graph.build.builders.metadata import MetadataBuilder
from hopweave.graph.flow_pruning import FlowPruning
from hopweave.graph.walk.personalisation import restart_vector
from hopweave.graph.walk.personalised_pagerank import personalised_pagerank
from hopweave.knowledge_base.train_embedder import train_embedder
from hopweave.language.phrases import PhraseMatcher
from hopweave.routing.intent import IntentClassifier
from hopweave.routing.plan import Planner
from hopweave.scores import sigmoid
from hopweave.sources.full_text import FullText
from hopweave.stages.adjust.corpus_boost import CORPUS_RULES
from hopweave.testing.graphs import graph_from_arrays
from hopweave.vector.embedders import StaticEmbedder

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
JUDGED = {"musique100": "musique100_corpus.jsonl", "2wiki51": "2wiki_corpus.jsonl"}
WORDS_OF_THE_DOCUMENT = ("deploy", "k8s", "pod", "container", "helm", "incident", "broke", "down", "outage", "alert")
Figures = dict[str, float | str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("HOPWEAVE_DATA"), help="folder of the judged sets")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    options = parser.parse_args()
    result: dict[str, Figures] = {
        "restart": restart(),
        "decay": {"exp(-age / half-life) at one half-life": round(math.exp(-1), 3), "hopweave": 0.5},
        "logits": {"-2 x 1.3": -2 * 1.3, "sigmoid(-2)": round(sigmoid(-2), 3), "x 1.3": round(1.3 * sigmoid(-2), 3)},
        "passage mass": passage_mass(),
        "substrings": substrings(),
        "fusing by source": by_source(),
        "intents": intents(),
        "mixed models": mixed_models(),
        "reliability": reliability(),
        "subsets of knowledge": subsets(),
        "full text on knowledge": full_text(_corpus("knowledge"), _queries("knowledge"), "knowledge"),
    }
    for name, corpus in JUDGED.items() if options.data else ():
        result[f"recipe on {name}"] = multihop(Path(options.data), corpus, name)
        files = Path(options.data) / corpus, Path(options.data) / f"{name}_queries.jsonl"
        result[f"full text on {name}"] = full_text(*files)
    print(json.dumps(result) if options.json else table(result))


def restart() -> Figures:
    """Mean distance from the seed on a path of 101 nodes, by networkx's alpha and by hopweave's restart."""
    path = nx.path_graph(101)
    found: Figures = {}
    for alpha in (0.5, 0.9):
        ranks = nx.pagerank(path, alpha=alpha, personalization={50: 1.0}, tol=1e-10, max_iter=1000)
        found[f"alpha {alpha}"] = round(sum(rank * abs(node - 50) for node, rank in ranks.items()), 2)
    ends = np.array(list(path.edges))
    graph = graph_from_arrays(ends[:, 0], ends[:, 1])
    for value in (0.5, 0.1):
        scores = personalised_pagerank(graph, {50: 1.0}, restart=value, top_k=101, tolerance=1e-6)
        pairs = zip(scores.nodes.tolist(), scores.scores.tolist(), strict=True)
        found[f"restart {value}"] = round(sum(score * abs(node - 50) for node, score in pairs), 2)
    return found


def passage_mass() -> Figures:
    """The share of restarts that passages have beside five entities of weight 1, by weight 0.05 each and as a share."""
    found: Figures = {}
    for count in (100, 6000):
        found[f"0.05 each, {count} passages"] = round(0.05 * count / (0.05 * count + 5), 2)
        vector = restart_vector(dict.fromkeys(range(5), 1.0), dict.fromkeys(range(5, 5 + count), 1.0), 0.05)
        found[f"hopweave, {count} passages"] = round(sum(share for node, share in vector.items() if node >= 5), 2)
    return found


def substrings() -> Figures:
    """How many passages of all example corpora the words of the rules occur in, as substrings and as whole words."""
    texts = [one.text for folder in ("knowledge", "skills", "operations") for one in read_documents(_corpus(folder))]
    phrases = [phrase for rule in CORPUS_RULES[:2] for phrase in rule.phrases]
    as_substring = [any(word in text.lower() for word in WORDS_OF_THE_DOCUMENT) for text in texts]
    as_words = [any(PhraseMatcher(text).contains(phrase) for phrase in phrases) for text in texts]
    only = sum(one and not other for one, other in zip(as_substring, as_words, strict=True))
    return {
        "passages": len(texts),
        "substring": sum(as_substring),
        "whole words": sum(as_words),
        "substring only": only,
    }


def by_source() -> Figures:
    """Recall@5 on the corpus of `operations` if hits of one repository are merged, and if they go by their ids."""
    judged = read_queries(_queries("operations"))
    with KnowledgeBase.open(analyzers=["nlp", "code"]) as kb:
        kb.add(read_documents(_corpus("operations")))
        results = [kb.search(one.query, recipe="operations", top_k=20).hits for one in judged]
    merged = [
        list({hit.metadata.get("repo") or hit.id: hit.id for hit in reversed(hits)}.values())[::-1] for hits in results
    ]
    return {
        "one hit per repo": _recall(judged, merged),
        "hopweave": _recall(judged, [[h.id for h in hits] for hits in results]),
    }


def intents() -> Figures:
    """Recall@5 on the corpus of `knowledge` with intents, without, and with every question goal_based."""
    recipe = load_recipe("knowledge")
    other = {
        "intents": recipe,
        "no intents": recipe.model_copy(update={"intent": IntentClassifier(enabled=False)}),
        "own_share 0.5": recipe.model_copy(
            update={"sources": {**recipe.sources, "vector": recipe.sources["vector"].changed(own_share=0.5)}}
        ),
    }
    with _knowledge() as (kb, judged):
        return {name: _measured(kb, one, judged) for name, one in other.items()}


def mixed_models() -> Figures:
    """Recall@5 of vectors on the corpus of `knowledge` if questions are embedded by another model of the same size."""
    documents, judged = (
        list(read_documents(_corpus("knowledge"))),
        read_queries(_queries("knowledge")),
    )
    texts, questions = [one.searchable for one in documents], [one.query.text for one in judged]
    with KnowledgeBase.open(embedder=None, builders=[MetadataBuilder()]) as kb:
        kb.add(documents)
        train_embedder(kb)
        trained = kb.settings.embedder
    static = StaticEmbedder()

    def recall(of_documents, of_questions) -> float:
        found, asked = (_unit(rows) for rows in (of_documents.embed(texts), of_questions.embed(questions)))
        best = [[documents[place].id for place in np.argsort(-row, kind="stable")[:5]] for row in asked @ found.T]
        return _recall(judged, best)

    return {"static for both": recall(static, static), "questions by another model": recall(static, trained)}


def reliability() -> Figures:
    """On the corpus of `skills`: questions with paths, and those with another best path if flow is a constant."""
    different, questions = 0, 0
    with KnowledgeBase.open(builders=[MetadataBuilder()]) as kb:
        kb.add(read_documents(_corpus("skills")))
        for one in read_queries(_queries("skills")):
            paths = FlowPruning(top_k=1000).paths(kb.search(one.query, recipe="skills").hits, kb).paths
            if len(paths) > 1:
                most = max(path.flow for path in paths)
                constant = max(paths, key=lambda path: path.reliability - 0.4 * path.flow / most)
                questions, different = questions + 1, different + (constant is not paths[0])
    return {"questions with paths": questions, "another best path": different}


def subsets() -> Figures:
    """Recall@5 of the best subset of each size of the sources of `knowledge`, and of words and vectors."""
    with _knowledge() as (kb, judged):
        signals = diagnose(kb, "knowledge", judged, top_k=5).signals
    best: dict[int, SubsetReport] = {}
    for one in signals.subsets if signals else ():
        size = len(one.sources)
        best[size] = max(best.get(size, one), one, key=lambda two: two.recall)
    both = [one for one in signals.subsets if one.sources == ("text", "vector")] if signals else []
    return {" + ".join(one.sources): round(one.recall, 3) for one in (*best.values(), *both)}


def full_text(corpus: Path, queries: Path, recipe: str | None = None) -> Figures:
    """Recall@5 of full-text search, and of a recipe, with words as they are written and with English stems."""
    judged, found = read_queries(queries), {}
    as_written = patch("hopweave.knowledge_base.settings.stem_full_text", lambda _: None)
    for label, setting in (("as written", as_written), ("stems", nullcontext())):
        with setting, KnowledgeBase.open(builders=[MetadataBuilder()] if recipe else []) as kb:
            kb.add(read_documents(corpus))
            found[f"full_text, {label}"] = _measured(kb, Recipe.of_source(FullText()), judged)
            if recipe:
                found[f"{recipe}, {label}"] = _measured(kb, load_recipe(recipe), judged)
    return found


def multihop(folder: Path, corpus: str, name: str) -> Figures:
    """The recipe `multihop` as it is, and with what the documents describe in place of one part of it."""
    recipe, judged = load_recipe("multihop"), read_queries(folder / f"{name}_queries.jsonl")
    graph = recipe.sources["graph"]
    pruned = {**recipe.sources, "graph": graph.changed(prune=FlowPruning())}
    others = {
        "hopweave": recipe,
        "simple questions skip the graph": recipe.model_copy(update={"plan": Planner(skip_graph_when_simple=True)}),
        "reciprocal rank fusion": recipe.model_copy(update={"fuse": ReciprocalRank()}),
        "flow pruning drops hits": recipe.model_copy(update={"sources": pruned}),
        "adaptive restart": recipe.model_copy(
            update={"sources": {**recipe.sources, "graph": graph.changed(adaptive_restart=True)}}
        ),
    }
    with KnowledgeBase.open() as kb:
        kb.add(read_documents(folder / corpus))
        found: Figures = {label: _measured(kb, one, judged) for label, one in others.items()}
        return found | lazy_fusion(kb, judged)


def lazy_fusion(kb: KnowledgeBase, judged: list[EvaluationQuery]) -> Figures:
    """The recipe `hybrid` as it is, and if what words found counts only where it is among the 20 nearest vectors."""
    vectors = Recipe.of_source(load_recipe("hybrid").sources["vector"].changed(top_k=20))
    kept = [[hit.id for hit in kb.search(one.query, recipe="hybrid", top_k=60).hits] for one in judged]
    nearest = [{hit.id for hit in kb.search(one.query, recipe=vectors, top_k=20).hits} for one in judged]
    lazy = [[key for key in ids if key in found] for ids, found in zip(kept, nearest, strict=True)]
    return {"hybrid": _recall(judged, kept), "hybrid among the nearest vectors": _recall(judged, lazy)}


@contextmanager
def _knowledge() -> Iterator[tuple[KnowledgeBase, list[EvaluationQuery]]]:
    with KnowledgeBase.open(builders=[MetadataBuilder()]) as kb:
        kb.add(read_documents(_corpus("knowledge")))
        yield kb, read_queries(_queries("knowledge"))


def _corpus(name: str) -> Path:
    return EXAMPLES / name / "corpus.jsonl"


def _queries(name: str) -> Path:
    return EXAMPLES / name / "queries.jsonl"


def _measured(kb: KnowledgeBase, recipe: Recipe, judged: list[EvaluationQuery]) -> float:
    (found,) = evaluate(kb, [recipe], judged, measures=["recall@5"]).evaluations
    return round(found.mean("recall@5"), 3)


def _recall(judged: list[EvaluationQuery], found: list[list[str]]) -> float:
    return round(float(np.mean(score_each(judged, found, ["recall@5"])["recall@5"])), 3)


def _unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def table(result: dict[str, Figures]) -> str:
    return "\n".join(
        f"{name}: " + ", ".join(f"{label} {figure}" for label, figure in figures.items())
        for name, figures in result.items()
    )


if __name__ == "__main__":
    main()
