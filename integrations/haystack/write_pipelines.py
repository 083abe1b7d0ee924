"""Write one YAML pipeline per shipped recipe into the distribution. Run it whenever a recipe or a component changes."""

from haystack_integrations.common.hopweave.recipe_pipeline import PIPELINES, to_yaml
from hopweave.recipe import recipe_names

PIPELINES.mkdir(exist_ok=True)
for name in recipe_names():
    (PIPELINES / f"{name}.yaml").write_text(to_yaml(name), encoding="utf-8")
