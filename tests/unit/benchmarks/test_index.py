"""The benchmark of indexing runs, at a size of no time."""

import json
import subprocess
import sys


def test_every_step(root):
    script = root / "benchmarks" / "index.py"
    done = subprocess.run(
        [sys.executable, str(script), "--passages", "30", "--json"], check=True, capture_output=True, text=True
    )
    found = json.loads(done.stdout)
    assert found["passages"] == 30
    assert list(found["steps"]) == ["text", "vectors", "graph"]
    assert all(step["passages_per_second"] > 0 for step in found["steps"].values())
    assert found["steps"]["text"]["graph_seconds"] is None
    assert found["steps"]["graph"]["graph_seconds"] >= 0
