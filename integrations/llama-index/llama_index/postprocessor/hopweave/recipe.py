"""The stages of a recipe, one by one."""

from typing import Any

import llama_index.postprocessor.hopweave as postprocessors
from llama_index.core.postprocessor.types import BaseNodePostprocessor

from hopweave.component import Stage


def postprocessor_for(stage: Stage, **resources: Any) -> BaseNodePostprocessor:
    """
    The stage as a node postprocessor with the same parameters.

    ```python
    from hopweave.stages.freshness import Freshness
    from llama_index.postprocessor.hopweave import postprocessor_for

    postprocessor = postprocessor_for(Freshness(half_life_days=30))
    ```

    Args:
        stage: A stage of a recipe, one of your own too.
        resources: What the postprocessor may use if it has a field of that name: `knowledge_base`,
            `vector_store`, `embed_model`, `now`.

    Returns:
        A node postprocessor.

    """
    ready = getattr(postprocessors, f"{type(stage).__name__}Postprocessor", None)
    if ready is None or not issubclass(ready, type(stage)):  # somebody's own stage
        ready = type(f"{type(stage).__name__}Postprocessor", (type(stage), postprocessors.stage.StagePostprocessor), {})
    fitting = {name: value for name, value in resources.items() if name in ready.model_fields}
    return ready(**dict(stage), **fitting)
