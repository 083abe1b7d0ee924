"""What the README shows works as shown."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from hopweave.recipe import Recipe

ROOT = Path(__file__).parents[2]
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)


def blocks(language):
    return [text for kind, text in BLOCKS if kind == language]


def test_commands_and_snippets_run_in_order(tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    commands = [line for block in blocks("bash") for line in block.splitlines() if line.startswith("hopweave")]
    assert len(commands) == 3
    for command in commands:
        words = [sys.executable, "-m", *shlex.split(command)]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}\n{done.stderr}"
    snippets = blocks("python")
    assert len(snippets) == 3
    for snippet in snippets:
        done = subprocess.run(
            [sys.executable, "-c", snippet], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{snippet}\n{done.stderr}"
    assert (
        "gull"
        in subprocess.run(
            [sys.executable, "-c", snippets[0]], cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout
    )


@pytest.mark.parametrize("text", blocks("yaml"))
def test_recipes_are_valid(text):
    assert Recipe.from_yaml(text).top_k == 8


def test_make_help_lists_what_the_readme_names():
    shown = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert all(f"make {name}" in shown for name in ("demo", "test", "fix", "docs", "bench"))
