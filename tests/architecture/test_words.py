"""The words of the code are those of the field: names that were replaced do not come back."""

import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
REPLACED = {  # by the word of information retrieval, of networkx or of a framework
    "about_pull": "topic_boost",
    "Agreed": "EntityResolution",
    "Agreement": "EntityResolution",
    "AsFound": "Passthrough",
    "asked_at": "now",
    "Background": "StationaryDistribution",
    "Beside": "Cooccurrence",
    "Bm25": "BM25",
    "Carried": "ReceiptsInMeta",
    "Company": "Cooccurrence",
    "company_pull": "cooccurrence_boost",
    "DocumentsElsewhere": "ExternalDocuments",
    "doubts": "warnings",
    "drawn_to": "boosted_by",
    "glancing": "an autocommit read",
    "JudgedQuery": "a judged query with qrels",
    "kin": "stem group",
    "leaks": "stationary distribution",
    "masses": "stationary distribution",
    "Minimum": "ScoreThreshold",
    "Mmr": "MMR",
    "NearestVectors": "VectorSearch",
    "PageRankPassages": "PageRank",
    "pull": "node bias",
    "Readings": "mention table",
    "remembered": "RankingCache",
    "settles": "stationary distribution",
    "steering": "node bias",
    "surety": "confidence",
    "Things": "surface forms",
    "told": "describe",
    "waves": "dependency levels",
}
FILES = sorted(
    path
    for folder in ("src", "integrations", "tests", "examples", "docs", "benchmarks")
    for path in (ROOT / folder).rglob("*.py")
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_name_is_one_that_was_replaced(path):
    with path.open("rb") as source:
        names = {token.string for token in tokenize.tokenize(source.readline) if token.type == tokenize.NAME}
    parts = {part for name in names for part in (name, *name.split("_"))}
    assert {name: REPLACED[name] for name in sorted(parts & REPLACED.keys())} == {}
