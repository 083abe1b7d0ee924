"""Runs every benchmark at a small size and writes docs/benchmarks.md: what `make bench` does.

    python benchmarks/report.py [--only NAME ...] [--large] [--page]

Each script's `--json` output is kept in benchmarks/results/NAME.json with the day and the machine. The page is made
from these files alone: prose and places for figures stand in benchmarks/page.md, plots are drawn by plots.py. So --page
writes the page again without measuring anything. Benchmarks that need the data sets are passed over, with a warning,
when HOPWEAVE_DATA is not set; their figures then stay those of the day that the page names. --large lets growth go
to 100,000 passages and living to 200,000, which takes a quarter of an hour more. The first run also embeds the data
sets with MiniLM, which is kept.

One quality table is made twice, and the run fails if a digit differs.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.sort(key=str(Path(__file__).parent).__eq__)  # this folder last: one of its scripts is called haystack

import jinja2
from plots import draw_all

ROOT = Path(__file__).resolve().parent.parent
RESULTS, TEMPLATE = ROOT / "benchmarks" / "results", ROOT / "benchmarks" / "page.md"
PAGE, IMAGES = ROOT / "docs" / "benchmarks.md", ROOT / "docs" / "images" / "benchmarks"
CHANGING = ("median_ms", "index_seconds")  # what differs from run to run in a table of quality


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A script, the arguments that make it small, and whether it needs the data sets."""

    name: str
    arguments: tuple[str, ...] = ()
    needs_data: bool = False

    @property
    def command(self) -> str:
        """What a reader types to see the figures again."""
        return " ".join(["python", f"benchmarks/{self.name}.py", *self.arguments])

    def run(self, *more: str) -> Any:
        """The figures it prints."""
        script = ROOT / "benchmarks" / f"{self.name}.py"
        arguments = [sys.executable, str(script), *self.arguments, *more, "--json"]
        done = subprocess.run(arguments, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT)
        return json.loads(done.stdout)


BENCHMARKS = (
    Benchmark("side_by_side", needs_data=True),
    Benchmark("tuning", needs_data=True),
    Benchmark("growth"),
    Benchmark("living", ("--sizes", "1000", "10000")),
    Benchmark("index"),
    Benchmark("text", needs_data=True),
    Benchmark("pagerank"),
    Benchmark("paths", needs_data=True),
    Benchmark("stages"),
    Benchmark("own_store", ("--store", "pgvector", "--store", "qdrant"), needs_data=True),
    Benchmark("haystack"),
    Benchmark("service", ("--seconds", "10")),
)
LARGE = {
    "growth": Benchmark("growth", ("--large",)),
    "living": Benchmark("living", ("--sizes", "1000", "10000", "100000", "200000")),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=[one.name for one in BENCHMARKS], help="run these alone")
    parser.add_argument("--large", action="store_true", help="growth up to 100,000 passages, living up to 200,000")
    parser.add_argument("--page", action="store_true", help="write the page from the results that are there")
    options = parser.parse_args()
    if not options.page:
        for benchmark in BENCHMARKS:
            if options.only is None or benchmark.name in options.only:
                measure(benchmark, large=options.large)
    results = read_results(RESULTS)
    PAGE.write_text(page(TEMPLATE.read_text(encoding="utf-8"), results), encoding="utf-8")
    draw_all({name: one["figures"] for name, one in results.items()}, IMAGES)
    print(f"wrote {PAGE.relative_to(ROOT)}")


def measure(benchmark: Benchmark, *, large: bool = False) -> None:
    """Run a benchmark and keep what it found."""
    if benchmark.needs_data and not os.environ.get("HOPWEAVE_DATA"):
        print(f"{benchmark.name}: passed over, it needs HOPWEAVE_DATA; the page keeps its old figures", file=sys.stderr)
        return
    if large:
        benchmark = LARGE.get(benchmark.name, benchmark)
    print(f"{benchmark.command} ...", flush=True)
    figures = benchmark.run()
    if benchmark.name == "side_by_side":
        again = benchmark.run("--set", "musique100", "--embedder", "static")
        check_repeatable(figures["musique100"]["static"], again["musique100"]["static"])
    kept = {
        "command": benchmark.command,
        "measured": datetime.now(UTC).date().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "figures": figures,
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{benchmark.name}.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def check_repeatable(first: Mapping[str, Mapping[str, float]], second: Mapping[str, Mapping[str, float]]) -> None:
    """Raise if two tables of quality differ in a digit that is no time.

    >>> check_repeatable({"ours": {"recall@5": 0.5, "median_ms": 7}}, {"ours": {"recall@5": 0.5, "median_ms": 8}})
    """
    plain = [
        {name: {key: value for key, value in row.items() if key not in CHANGING} for name, row in table.items()}
        for table in (first, second)
    ]
    differing = [name for name in plain[0] | plain[1] if plain[0].get(name) != plain[1].get(name)]
    if differing:
        raise SystemExit(f"the same script gave other figures the second time, for {', '.join(differing)}")


def read_results(folder: Path) -> dict[str, Any]:
    """The kept results by name of their benchmark."""
    return {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.json"))}


def page(template: str, results: Mapping[str, Any]) -> str:
    """The page: the template with figures in their places. A figure that is not there is an error that names it.

    In a template, `growth.sizes` are figures of growth.py and `source("growth")` says how and when they were made.

    >>> results = {"command": "python t.py", "measured": "2026-01-01", "machine": "x86", "figures": {"ratio": 65.2}}
    >>> page("{{ text.ratio | short }} by {{ source('text') }}", {"text": results}).strip()
    '65 by `python t.py`, measured on 2026-01-01'
    """
    machinery = jinja2.Environment(undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    machinery.filters |= {"short": short, "share": share}
    figures = {name: one["figures"] for name, one in results.items()}

    def source(name: str) -> str:
        if name not in results:
            raise jinja2.UndefinedError(f"there are no results of {name}")
        one = results[name]
        return f"`{one['command']}`, measured on {one['measured']}"

    machines = sorted({one["machine"] for one in results.values()})
    try:
        return machinery.from_string(template).render(figures, source=source, machines=machines).rstrip() + "\n"
    except jinja2.UndefinedError as error:
        raise SystemExit(f"the page lacks a figure: {error}; run its benchmark first") from error


def short(figure: float | None) -> str:
    """A figure with two or three digits that matter; a dash for none.

    >>> short(0.1234), short(1.26), short(12.6), short(1260.4), short(-0.51), short(None)
    ('0.12', '1.3', '13', '1,260', '−0.51', '–')
    """
    if figure is None:
        return "–"
    size = abs(figure)
    digits = 2 if size < 1 else 1 if size < 10 else 0
    return f"{figure:,.{digits}f}".replace("-", "−")


def share(figure: float) -> str:
    """A share of 1 as it is in tables of quality, to the last digit that the script gives.

    >>> share(0.75), share(1.0)
    ('.7500', '1.0000')
    """
    return f"{figure:.4f}".removeprefix("0")


if __name__ == "__main__":
    main()
