"""Which Haystack component stands for which part of a recipe."""

from importlib import import_module
from inspect import signature
from typing import Any

from haystack.utils import Secret

from hopweave.component import Component, Fuser, Source, Stage
from hopweave.errors import RecipeError
from hopweave.stages.rerank.remote_rerank import RemoteRerank

_ROLES: dict[type[Component], tuple[str, str]] = {
    Source: ("retrievers", "Retriever"),
    Fuser: ("joiners", "Joiner"),
    Stage: ("rankers", "Ranker"),
}
"""By role: the folder of its Haystack components and the suffix of their names."""

_OTHERS = {
    "gate": ("routers.hopweave.gate", "GateRouter"),
    "intent": ("routers.hopweave.intent", "IntentRouter"),
    "plan": ("routers.hopweave.plan", "PlanRouter"),
    "context": ("builders.hopweave.context_builder", "ContextBuilder"),
    "flow_pruning": ("builders.hopweave.flow_pruning", "FlowPruningBuilder"),
    "service_neighbourhood": ("builders.hopweave.service_neighbourhood", "ServiceNeighbourhoodBuilder"),
}
"""By kind: module and name for the parts of a recipe that are neither source, fuser nor stage."""


def component_class(part: type[Component]) -> Any:
    """
    The Haystack component class for a class of the core: the same file and class stem, with Haystack's suffix.

    ```python
    from haystack_integrations.common.hopweave.native import component_class
    from hopweave.stages.adjust.freshness import Freshness

    component_class(Freshness).__name__  # "FreshnessRanker"
    ```

    :param part: A source, fuser, stage, gate, classifier, planner, path pruner, neighbourhood or context builder of
        the core.
    :returns: The component class.
    :raises RecipeError: If there is none.
    """
    kind = part.model_fields["kind"].default
    role = next((role for role in _ROLES if issubclass(part, role)), None)
    if role is not None:
        folder, suffix = _ROLES[role]
        module, name = f"{folder}.hopweave.{part.__module__.rpartition('.')[2]}", part.__name__ + suffix
    elif kind in _OTHERS:
        module, name = _OTHERS[kind]
    else:
        raise RecipeError(f"no Haystack component for kind {kind!r}")
    path = f"haystack_integrations.components.{module}"
    try:
        return getattr(import_module(path), name)
    except ModuleNotFoundError as error:
        if error.name != path:
            raise
        raise RecipeError(f"no Haystack component for kind {kind!r}: there is no module {path}") from error


def to_component(part: Component, **others: Any) -> Any:
    """
    The Haystack component that does what a part of a recipe does.

    :param part: A source, fuser, stage, gate, classifier, planner, path pruner, neighbourhood or context builder of
        the core.
    :param others: What the component takes beside the part's own parameters, as far as it does: a knowledge base,
        names of sources, a number of documents.
    :returns: A new component.
    :raises RecipeError: If there is none.
    """
    native = component_class(type(part))
    taken = signature(native.__init__).parameters
    values = {name: value for name, value in part if name in taken and name != "api_key"}
    plain = {
        name: value.model_dump(mode="json") if isinstance(value, Component) else value for name, value in values.items()
    }
    if isinstance(part, RemoteRerank):
        plain["api_key"] = _secret(part)
    return native(**plain | {name: value for name, value in others.items() if name in taken})


def _secret(part: RemoteRerank) -> Secret | None:
    if part.api_key is not None:
        return Secret.from_token(part.api_key.get_secret_value())
    return Secret.from_env_var(part.api_key_env, strict=False) if part.api_key_env else None
