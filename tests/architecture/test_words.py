"""The words of the code are those of the field: names that were replaced do not come back."""

import re
import tokenize
from pathlib import Path

ROOT = Path(__file__).parents[2]
REPLACED = {  # by the word of information retrieval, of networkx or of a framework
    "about_pull": "topic_boost",
    "Agreed": "EntityResolution",
    "Agreement": "EntityResolution",
    "AsFound": "Passthrough",
    "asked_at": "now",
    "asked_on_this_loop": "bind_event_loop",
    "asked_once": "can_fetch_more",
    "Background": "StationaryDistribution",
    "Beside": "Cooccurrence",
    "beside_loop": "run_in_thread",
    "Bm25": "BM25",
    "by_itself": "without_upstream",
    "Carried": "ReceiptsInMeta",
    "check_place": "check_capabilities",
    "Company": "Cooccurrence",
    "company_pull": "cooccurrence_boost",
    "DocumentsElsewhere": "ExternalDocuments",
    "doubts": "warnings",
    "drawn_to": "boosted_by",
    "_family": "stem group",
    "fts": "full_text",
    "further_part_share": "same_document_decay",
    "glancing": "an autocommit read",
    "is_asked_on_a_loop": "can_run_on_loop",
    "JudgedQuery": "a judged query with qrels",
    "kin": "stem group",
    "leaks": "stationary distribution",
    "masses": "stationary distribution",
    "Memory": "RankingCache",
    "Minimum": "ScoreThreshold",
    "Mmr": "MMR",
    "NearestVectors": "VectorSearch",
    "PageRankPassages": "PageRank",
    "pull": "node bias",
    "ranks_by_itself": "pointwise",
    "Readings": "mention table",
    "Recent": "LRUCache",
    "remembered": "RankingCache",
    "RowsOnly": "FilteredRankings",
    "settles": "stationary distribution",
    "_speak": "_visible_documents",
    "steering": "node bias",
    "surety": "confidence",
    "telling": "content words",
    "Terms": "WalkOptions, TermSet",
    "Things": "surface forms",
    "told": "describe",
    "undisturbed": "file_state",
    "Walk": "weight_matrix",
    "waves": "dependency levels",
}
CODED = {  # of these, names that are no words of plain English: they do not stand in texts, comments and YAML either
    name for name in REPLACED if re.search(r"\w_\w|^_|[a-z][A-Z]|\d|^kin$|^fts$|^Mmr$", name)
}
FILES = sorted(
    path
    for folder in ("src", "integrations", "tests", "examples", "docs", "benchmarks")
    for path in (ROOT / folder).rglob("*.py")
)
PROSE = sorted(
    path
    for folder in ("src", "integrations", "examples", "docs", "benchmarks")
    for kind in ("md", "yaml", "yml", "toml", "svg", "ipynb")
    for path in (ROOT / folder).rglob(f"*.{kind}")
) + [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "pyproject.toml", "mkdocs.yml")]


def test_no_name_is_one_that_was_replaced():
    found = {}
    for path in FILES:
        with path.open("rb") as source:
            names = {token.string for token in tokenize.tokenize(source.readline) if token.type == tokenize.NAME}
        parts = {part for name in names for part in (name, *name.split("_"))}
        found |= {(str(path.relative_to(ROOT)), name): REPLACED[name] for name in parts & REPLACED.keys()}
    assert not found


def test_no_text_has_a_name_that_was_replaced():
    found = {}
    for path in {*FILES, *PROSE} - {Path(__file__)}:
        written = set(re.findall(r"\w+", path.read_text(encoding="utf-8")))
        found |= {(str(path.relative_to(ROOT)), name): REPLACED[name] for name in written & CODED}
    assert not found
