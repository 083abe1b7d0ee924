"""Judged sets: passages, questions with their gold passages, perhaps triples; and how good rankings are."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from hopweave import Document
from hopweave.evaluate.metrics import score_each
from hopweave.evaluate.queries import EvaluationQuery, read_queries

SETS = {
    "2wiki51": ("2wiki_corpus.jsonl", "2wiki51_queries.jsonl", None),
    "musique100": ("musique100_corpus.jsonl", "musique100_queries.jsonl", "musique100_triples.jsonl"),
}
MEASURES = ("all_gold@8", "recall@2", "recall@5", "recall@8", "mrr@10", "ndcg@10")


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """Passages, questions with the ids of their gold passages, and the triples of each passage, if there are any."""

    documents: list[Document]
    questions: list[EvaluationQuery]
    triples: dict[str, list]

    @classmethod
    def read(cls, corpus: Path, queries: Path, triples: Path | None = None) -> "JudgedSet":
        """Read corpus (id, title, text), queries (question, gold) and triples (doc_id, triples), all JSON Lines."""
        return cls(
            [Document(line["id"], line["text"], {"title": line["title"]}) for line in _lines(corpus)],
            read_queries(queries),
            {line["doc_id"]: line["triples"] for line in _lines(triples)} if triples else {},
        )


def quality(found: Sequence[Sequence[str]], questions: Sequence[EvaluationQuery]) -> dict[str, float]:
    """The mean of every measure over ranked ids, one ranking per question, to four digits."""
    return {name: round(fmean(values), 4) for name, values in score_each(questions, found, MEASURES).items()}


def _lines(file: Path) -> Iterator[dict]:
    with file.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)
