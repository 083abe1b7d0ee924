"""Measure every recipe on its example corpus against each of its sources alone, and write the table into the guide.

    python docs/recipe_table.py

An example's corpus is indexed as its README says. `make docs` does this, so the table is always that of the code.
"""

import io
import re
import shlex
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

from hopweave import KnowledgeBase
from hopweave.cli import main as hopweave
from hopweave.evaluate.evaluate import evaluate
from hopweave.evaluate.queries import read_queries

ROOT = Path(__file__).parents[1]
GUIDE = ROOT / "docs" / "guides" / "choose-a-recipe.md"
TABLE = re.compile(r"(<!-- table: .* -->\n).*?(<!-- end of table -->)", re.S)
MEASURE = "recall@5"
EXAMPLES = {
    "hybrid": "tern_isles",
    "multihop": "tern_isles",
    "weighted": "tern_isles",
    "skills": "skills",
    "knowledge": "knowledge",
    "memory": "memory",
    "operations": "operations",
    "service": "search_service",
}


class Row(NamedTuple):
    """How good a recipe is on its corpus, and the best of its sources alone."""

    recipe: str
    example: str
    documents: int
    queries: int
    mean: float
    best_source: str
    best_mean: float
    led_mean: float | None


def measured(recipe: str, example: str, folder: Path) -> Row:
    """Index the corpus and ask all judged queries."""
    file = folder / f"{example}.db"
    if not file.exists():
        index(ROOT / "examples" / example, file)
    judged = read_queries(ROOT / "examples" / example / "queries.jsonl")
    with KnowledgeBase.open(file, read_only=True) as kb:
        whole, *single = evaluate(kb, [recipe], judged, measures=[MEASURE], sources=True).evaluations
        means = {one.name.removeprefix(f"{recipe}: "): one.mean(MEASURE) for one in single}
        best = max((name for name in means if name.endswith(" alone")), key=lambda name: means[name])
        led = max((mean for name, mean in means.items() if " led by " in name), default=None)
        source = best.removesuffix(" alone")
        return Row(recipe, example, kb.count(), len(judged), whole.mean(MEASURE), source, means[best], led)


def index(example: Path, file: Path) -> None:
    """Run the `hopweave index` command of the example's README, or the plain one if it has none."""
    readme = example / "README.md"
    text = readme.read_text(encoding="utf-8") if readme.exists() else ""
    found = re.search(r"hopweave index (examples/\S+.*)", text)
    words = shlex.split(found[1]) if found else [f"examples/{example.name}/corpus.jsonl"]
    options = [word for place, word in enumerate(words) if word != "--kb" and (not place or words[place - 1] != "--kb")]
    output = io.StringIO()
    with redirect_stdout(output), redirect_stderr(output):
        code = hopweave(["index", *[str(ROOT / one) if one.startswith("examples/") else one for one in options],
                         "--kb", str(file)])  # fmt: skip
    if code:
        raise SystemExit(output.getvalue())


def table(rows: list[Row]) -> str:
    """The rows in Markdown."""
    lines = [
        f"| recipe | corpus | documents | questions | {MEASURE} | best alone | its {MEASURE} | best led by others |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| `{row.recipe}` | {row.example} | {row.documents} | {row.queries} | {row.mean:.2f} | {row.best_source} "
        f"| {row.best_mean:.2f} | {'' if row.led_mean is None else f'{row.led_mean:.2f}'} |"
        for row in rows
    ]
    return "\n".join(lines)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        rows = [measured(recipe, example, Path(folder)) for recipe, example in EXAMPLES.items()]
    text = GUIDE.read_text(encoding="utf-8")
    GUIDE.write_text(TABLE.sub(lambda match: f"{match[1]}\n{table(rows)}\n\n{match[2]}", text), encoding="utf-8")
    print(table(rows))


if __name__ == "__main__":
    sys.exit(main())
