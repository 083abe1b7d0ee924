"""YAML that was written before constructors were derived from the core loads, and finds the same documents.

`written_before` has each recipe as a pipeline, one serialised component of each class, and what the pipelines found.
"""

from pathlib import Path

import pytest
import yaml
from haystack import Pipeline
from haystack.core.serialization import component_to_dict, import_class_by_name

WRITTEN = Path(__file__).parent / "written_before"
FOUND = yaml.safe_load((WRITTEN / "found.yaml").read_text(encoding="utf-8"))
COMPONENTS = yaml.safe_load((WRITTEN / "components.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("recipe", FOUND["documents"])
def test_a_pipeline_loads_and_finds_the_same_documents(recipe, file):
    text = (WRITTEN / f"{recipe}.yaml").read_text(encoding="utf-8")
    pipeline = Pipeline.loads(text.replace("hopweave.db", file))
    context = pipeline.run({"query": FOUND["question"]}, include_outputs_from={"context"})["context"]
    assert [one["id"] for one in context["citations"]] == FOUND["documents"][recipe]


def test_every_component_loads_with_all_its_parameters():
    for name, data in COMPONENTS.items():
        text = yaml.safe_dump({"components": {"part": data}, "connections": []})
        part = Pipeline.loads(text).get_component("part")
        assert type(part) is import_class_by_name(data["type"])
        again = component_to_dict(part, name)
        assert {key: again["init_parameters"].get(key) for key in data["init_parameters"]} == data["init_parameters"]
