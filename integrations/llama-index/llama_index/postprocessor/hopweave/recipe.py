"""The stages of a recipe, one by one."""

from typing import Any, cast

import llama_index.postprocessor.hopweave as postprocessors
from llama_index.postprocessor.hopweave.stage import StagePostprocessor

from hopweave.component import Stage


def postprocessor_for(stage: Stage, **resources: Any) -> StagePostprocessor:
    """
    The stage as a node postprocessor with the same parameters.

    ```python
    from hopweave.stages.adjust.freshness import Freshness
    from llama_index.postprocessor.hopweave import postprocessor_for

    postprocessor = postprocessor_for(Freshness(half_life_days=30))
    ```

    Args:
        stage: A stage of a recipe, one of your own too.
        resources: What the postprocessor may use if it has a field of that name: `knowledge_base`,
            `vector_store`, `embed_model`, `tenant`, `now`.

    Returns:
        A node postprocessor.

    """
    name = f"{type(stage).__name__}Postprocessor"
    made = getattr(postprocessors, name, None)
    if made is None or not issubclass(made, type(stage)):  # a stage of the user's own
        made = type(name, (type(stage), StagePostprocessor), {})
    postprocessor_class = cast("type[StagePostprocessor]", made)
    fitting = {key: value for key, value in resources.items() if key in postprocessor_class.model_fields}
    return postprocessor_class(**dict(stage), **fitting)
