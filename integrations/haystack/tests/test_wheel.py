"""The built wheels, installed somewhere else, hold everything that is needed."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PROGRAM = """
import sys
from pathlib import Path
import hopweave
from haystack import Document, Pipeline
from haystack_integrations.common.hopweave import recipe_pipeline
from haystack_integrations.components.writers.hopweave import KnowledgeBaseWriter

for module in (hopweave, recipe_pipeline):
    assert Path(module.__file__).is_relative_to(sys.argv[1]), module.__file__
KnowledgeBaseWriter(knowledge_base="hopweave.db").run(documents=[Document(content="The tide gate opens at six.")])
files = sorted(recipe_pipeline.PIPELINES.glob("*.yaml"))
for file in files:
    result = Pipeline.loads(file.read_text(encoding="utf-8")).run({"query": "When does the tide gate open?"})
    assert "The tide gate opens at six." in result["context"]["context"], (file, result)
print(len(files))
"""


@pytest.mark.skipif(not (ROOT / "src" / "hopweave").exists(), reason="needs the repository")
def test_wheels_work_away_from_the_repository(tmp_path):
    wheels, packages = tmp_path / "wheels", tmp_path / "packages"
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    build = [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(wheels)]
    subprocess.run([*build, str(ROOT), str(ROOT / "integrations" / "haystack")], check=True)
    files = [str(wheel) for wheel in wheels.glob("*.whl")]
    assert len(files) == 2
    subprocess.run([*pip, "install", "--no-deps", "--no-index", "--target", str(packages), *files], check=True)
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM, str(packages)],
        cwd=tmp_path,
        env={"PYTHONPATH": str(packages), "PATH": "/usr/bin:/bin", "HAYSTACK_TELEMETRY_ENABLED": "False"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 1
