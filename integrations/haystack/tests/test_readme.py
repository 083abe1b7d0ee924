"""The README's code runs as it stands, top to bottom, and its before and after are seven lines apart."""

import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 4
    before_graph = "\n".join(blocks[:1])
    exec(before_graph, names)
    question = "Which town is home to the founder of the yard that built MV Skua?"
    assert question in blocks[2]
    asked = {"embedder": {"text": question}, "text": {"query": question}}
    assert "falk" not in [one.id for one in names["pipeline"].run(asked)["joiner"]["documents"]]
    names.clear()
    for block in blocks:
        exec(block, names)
    added = [line for line in blocks[1].splitlines() if line]
    assert len(added) == 7


def test_the_readme_names_every_component():
    from importlib import import_module

    text = README.read_text(encoding="utf-8")
    for folder in ("builders", "embedders", "joiners", "rankers", "retrievers", "routers", "writers"):
        for name in import_module(f"haystack_integrations.components.{folder}.hopweave").__all__:
            assert f"`{name}`" in text, name


def test_the_mcp_wrapper_of_the_readme_runs(file, tmp_path, monkeypatch):
    import pytest

    pytest.importorskip("hayhooks")
    monkeypatch.chdir(tmp_path)
    Path("hopweave.db").write_bytes(Path(file).read_bytes())
    (block,) = re.findall(r"```python no-run\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    names = {}
    exec(block, names)
    wrapper = names["PipelineWrapper"]()
    wrapper.setup()
    assert "The tide gate opens at six." in wrapper.run_api("When does the tide gate open?")
