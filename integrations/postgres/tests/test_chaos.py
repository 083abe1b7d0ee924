"""Two writers and two readers for a few seconds, while the server is killed; the script does it for a minute."""

import json
import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


def test_the_graph_is_that_of_what_is_left(postgres_server):
    options = ["--seconds", "6", "--writers", "2", "--readers", "2", "--kills", "1", "--json"]
    script = [sys.executable, str(BENCHMARKS / "postgres_chaos.py"), *options]
    ran = subprocess.run(script, capture_output=True, text=True, check=True, timeout=180)
    found = json.loads(ran.stdout.splitlines()[-1])
    assert found["equal"]
    assert found["other_errors"] == []
