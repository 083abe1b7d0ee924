"""Judged questions over a corpus, and how good rankings are against them; the measures are those of ir-measures."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import ir_measures
from ir_measures import RR, R, nDCG

from hopweave import Document

SETS = {
    "2wiki51": ("2wiki_corpus.jsonl", "2wiki51_queries.jsonl", None),
    "musique100": ("musique100_corpus.jsonl", "musique100_queries.jsonl", "musique100_triples.jsonl"),
}
MEASURES = {"recall@2": R @ 2, "recall@5": R @ 5, "recall@8": R @ 8, "mrr": RR, "ndcg@10": nDCG @ 10}


@dataclass(frozen=True, slots=True)
class Judged:
    """Passages, questions with the ids of their gold passages, and the triples of each passage, if there are any."""

    documents: list[Document]
    questions: list[dict]
    triples: dict[str, list]

    @classmethod
    def read(cls, corpus: Path, queries: Path, triples: Path | None = None) -> "Judged":
        """Read corpus (id, title, text), queries (question, gold) and triples (doc_id, triples), all JSON Lines."""
        return cls(
            [Document(line["id"], line["text"], {"title": line["title"]}) for line in _lines(corpus)],
            list(_lines(queries)),
            {line["doc_id"]: line["triples"] for line in _lines(triples)} if triples else {},
        )


def quality(found: Sequence[Sequence[str]], questions: Sequence[Mapping]) -> dict[str, float]:
    """all_gold@8, recall@2, @5, @8, MRR and nDCG@10 of ranked ids, one ranking per question, to four digits.

    >>> quality([["a", "x", "b"]], [{"gold": ["a", "b"]}])["recall@2"]
    0.5
    """
    gold = [
        ir_measures.Qrel(str(number), key, 1) for number, line in enumerate(questions) for key in sorted(line["gold"])
    ]
    run = [
        ir_measures.ScoredDoc(str(number), key, -float(rank))
        for number, ids in enumerate(found)
        for rank, key in enumerate(ids)
    ]
    complete = [set(line["gold"]) <= set(ids[:8]) for ids, line in zip(found, questions, strict=True)]
    means = ir_measures.calc_aggregate(list(MEASURES.values()), gold, run)
    return {
        "all_gold@8": round(sum(complete) / len(complete), 4),
        **{name: round(means[measure], 4) for name, measure in MEASURES.items()},
    }


def _lines(file: Path) -> Iterator[dict]:
    with file.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)
