"""How far the limits that are given to a whole pipeline reach."""

from typing import Any

from haystack import component

from haystack_integrations.common.hopweave.derived import CoreComponent, derived
from haystack_integrations.common.hopweave.parameters import check_names
from haystack_integrations.common.hopweave.settings import Setting
from hopweave.query import Plan
from hopweave.scores import count_of

OWN, TOP_K, FILTERS = "own", "top_k", "filters"
"""The outputs beside those for sources."""


@derived()
class LimitsRouter(CoreComponent):
    """
    Keeps a `top_k` that is given to a whole pipeline from cutting what its sources find.

    Haystack hands `pipeline.run({"query": …, "top_k": 5})` to every component that has an input `top_k`. Fusion needs
    more than five documents of each source, so in the pipeline of a recipe all get it from here: sources their own
    number, or `top_k` if that is more; the last component `top_k`; all between them None, which leaves them at their
    own number. Filters for the fuser come from here too, so that nothing runs for a message that a gate has stopped.

    ```python
    from haystack_integrations.components.routers.hopweave import LimitsRouter

    router = LimitsRouter(depths={"text": 30, "vector": 30})
    router.run(top_k=5)  # {"text": 30, "vector": 30, "own": None, "top_k": 5, "filters": None}
    ```
    """

    settings = (
        Setting(
            "depths",
            dict[str, int],
            "How many documents each source fetches at least, by the name of the source, which becomes an output for "
            "its retriever's `top_k`.",
        ),
        Setting("gated", bool, "Whether there is an input `query` to wait for, from a `GateRouter`.", False),
    )

    depths: dict[str, int]
    gated: bool

    def _hold(self, _core: Any) -> None:
        """Create the router."""
        depths = self.depths
        check_names("depths", list(depths))
        if clashes := sorted({OWN, TOP_K, FILTERS}.intersection(depths)):
            raise ValueError(f"depths: {clashes[0]!r} is not allowed: it is the name of another output")
        for name, depth in depths.items():
            count_of(f"depths.{name}", depth)
        if self.gated:
            component.set_input_type(self, "query", str)
        others: dict[str, Any] = {OWN: int | None, TOP_K: int | None, FILTERS: dict[str, Any] | None}
        component.set_output_types(self, **dict.fromkeys(self.depths, int), **others)

    def run(
        self,
        top_k: int | None = None,
        filters: dict[str, Any] | None = None,
        plan: dict[str, Any] | None = None,
        **gate: str,
    ) -> dict[str, Any]:
        """
        Say how many documents each component is to fetch or return.

        :param top_k: How many documents the whole pipeline is to return.
        :param filters: Haystack metadata filters.
        :param plan: The output `plan` of a `PlanRouter`, whose `top_k` counts unless another is given.
        :param gate: `query`, if it is to wait for a gate.
        :returns: A number under the name of each source, None under `own`, and `top_k` and `filters` as they are.
        """
        if unknown := [name for name in gate if not self.gated or name != "query"]:
            raise TypeError(f"LimitsRouter: no input {unknown[0]!r}; allowed are top_k, filters, plan")
        planned = None if plan is None else Plan.of(plan).top_k
        top_k = planned if top_k is None else count_of("top_k", top_k)
        depths = {name: max(depth, top_k or depth) for name, depth in self.depths.items()}
        return {**depths, OWN: None, TOP_K: top_k, FILTERS: filters}
