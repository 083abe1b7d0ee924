"""No text makes a regular expression slow: the time of each grows as the text does.

The expressions are recorded while every module is imported, documents are indexed and questions asked, so a new one is
among them by itself.
"""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

from . import regular_expressions

ROOT = Path(__file__).parents[2]
FOLDERS = ("src", "integrations/haystack/src", "integrations/llama-index/llama_index")
CALLS = {"compile", "search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn"}
LONG = os.environ.get("HOPWEAVE_ATTACK") == "long"


def run(*arguments, seconds):
    command = [sys.executable, str(Path(regular_expressions.__file__)), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired as error:
        raise AssertionError(f"takes too long: {(error.stderr or b'').decode().splitlines()[-1:]}") from error
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_every_expression_in_the_source_is_in_the_list():
    """Those that are compiled at first use, too: the list is made by a program that uses everything."""
    listed = {place for row in run("list", seconds=300) for place in row["places"]}
    assert len(listed) > 60
    missing = []
    for file in (file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*.py"))):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            called = node.func if isinstance(node, ast.Call) else None
            if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id == "re":
                lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
                if called.attr in CALLS and not listed & {f"{file}:{line}" for line in lines}:
                    missing.append(f"{file.relative_to(ROOT)}:{node.lineno}")
    assert not missing, "let use_everything() in regular_expressions.py come by these"


def test_no_text_makes_an_expression_slow():
    rows = run("fuzz", "1", "20", seconds=3600) if LONG else run("fuzz", "1", "2", seconds=300)
    assert not rows


def test_the_fuzzer_finds_what_is_slow():
    slow = {"quadratic": r"\s+$", "cubic": r"\A(a*)(a*)c", "exponential": "(?:a|a)+b", "behind a letter": "x[yz]*y*w"}
    found = {
        name: any(
            regular_expressions.superlinear(pattern, 0, attack)
            for attack in regular_expressions.attacks(pattern, 0, regular_expressions.random.Random(3), 5)
        )
        for name, pattern in slow.items()
    }
    assert found == dict.fromkeys(slow, True)


def test_the_fuzzer_finds_nothing_in_what_is_linear():
    for pattern in (r"\w+", r"x[a-z]*+", r'"[^"]*"'):
        for attack in regular_expressions.attacks(pattern, 0, regular_expressions.random.Random(3), 3):
            assert regular_expressions.superlinear(pattern, 0, attack) is None, (pattern, attack)
