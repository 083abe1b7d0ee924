"""Run every snippet of Markdown pages, offline, as a reader would: top to bottom, in an empty folder.

    python docs/snippets.py PAGE...

The folder of a page holds `hopweave.db`, made of the demo corpus, and `examples/`. Python runs in one namespace per
page, `>>>` examples are checked, `hopweave` commands must succeed, YAML must be a valid recipe or Haystack pipeline.
A block that cannot run says so in the line above it: `<!-- not run: why -->`. Text under `<!-- printed -->` must be
what the block before it printed.
"""

import doctest
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
import traceback
from collections.abc import Callable, Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

os.environ.update(HF_HUB_OFFLINE="1", HAYSTACK_TELEMETRY_ENABLED="False", TQDM_DISABLE="1")
os.environ.pop("JINA_API_KEY", None)

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"(?:<!-- (not run: [^\n]+|printed) -->\n)?^([ ]*)```(\w+)[^\n]*\n(.*?)^\2```", re.M | re.S)


class Block(NamedTuple):
    """A fenced block: where it begins, its language, its text, and what the line above says of it, if anything."""

    line: int
    language: str
    text: str
    mark: str | None


def blocks(page: str) -> Iterator[Block]:
    """The fenced blocks of a page, in order; those inside tabs lose their indentation."""
    for match in BLOCK.finditer(page):
        line = page.count("\n", 0, match.start(3)) + 1
        yield Block(line, match[3], textwrap.dedent(match[4]), match[1])


def run_python(text: str, names: dict[str, Any]) -> None:
    if not text.startswith(">>>"):
        exec(compile(text, "snippet", "exec"), names)  # noqa: S102 - that is what this is for
        return
    test = doctest.DocTestParser().get_doctest(text, names, "snippet", None, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    output = io.StringIO()
    if runner.run(test, out=output.write, clear_globs=False).failed:
        raise AssertionError(output.getvalue())
    names.update(test.globs)


def run_commands(text: str, names: dict[str, Any]) -> None:  # noqa: ARG001 - all languages are run alike
    from hopweave.cli import main

    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if not words:
            continue
        if words[0] == "hopweave":
            code = main(words[1:])
        elif words[0] == "python":
            code = subprocess.run([sys.executable, *words[1:]], check=False).returncode  # noqa: S603 - our own pages
        else:
            raise AssertionError(f"only hopweave and python are run, not {words[0]!r}")
        if code:
            raise AssertionError(f"exit code {code}: {line}")


def check_yaml(text: str, names: dict[str, Any]) -> None:  # noqa: ARG001 - all languages are run alike
    import yaml

    data = yaml.safe_load(text)
    if "components" in data:
        from haystack import Pipeline

        Pipeline.loads(text)
        return
    from hopweave.recipe import Recipe

    # a page may show the part of a recipe that it is about
    Recipe.from_yaml(yaml.safe_dump({"name": "part", "sources": {"text": {"kind": "bm25"}}} | completed(data)))


def completed(data: dict[str, Any]) -> dict[str, Any]:
    """A part of a recipe, with the sources that its own sources need."""
    sources = data.get("sources", {})
    needed = {
        name
        for one in sources.values()
        if one["kind"] in ("pagerank", "graph_boost", "intent_edges", "evidence_sum")
        for name in one.get("seeds_from", one.get("candidates_from", ("text", "vector")))
    }
    usual = {"text": {"kind": "bm25"}, "vector": {"kind": "vector"}}
    return data | ({"sources": {name: usual[name] for name in needed - set(sources)} | sources} if sources else {})


RUN: dict[str, Callable[[str, dict[str, Any]], None]] = {
    "python": run_python,
    "bash": run_commands,
    "yaml": check_yaml,
    "json": lambda text, _: json.loads(text),
}


def run_page(page: Path, knowledge_base: Path) -> list[str]:
    """What went wrong on a page: the place, and the error."""
    names: dict[str, Any] = {"__name__": "__main__"}
    output = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        shutil.copy(knowledge_base, "hopweave.db")
        Path("examples").symlink_to(ROOT / "examples")
        for block in blocks(page.read_text(encoding="utf-8")):
            if block.mark == "printed" and block.text.strip() != output.getvalue().strip():
                return [f"{page}:{block.line}: prints\n{output.getvalue()}\nand not\n{block.text}"]
            if block.mark or block.language not in RUN:
                continue
            output = io.StringIO()
            try:
                with redirect_stdout(output), redirect_stderr(output):
                    RUN[block.language](block.text, names)
            except (Exception, SystemExit):
                error = traceback.format_exc(limit=-2)
                return [f"{page}:{block.line}: {block.language}\n{block.text}\n{output.getvalue()[-2000:]}{error}"]
    return []


def main(pages: list[Path]) -> int:
    """Run the pages one after the other; 1 if any failed."""
    from hopweave import KnowledgeBase, read_documents

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "hopweave.db")
        with KnowledgeBase.open(file) as kb:
            kb.add(read_documents(ROOT / "examples" / "tern_isles" / "corpus.jsonl"))
        faults = [fault for page in pages for fault in run_page(page.resolve(), file)]
    print("\n\n".join(faults) or f"{len(pages)} pages: every snippet runs")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main([Path(argument) for argument in sys.argv[1:]]))
