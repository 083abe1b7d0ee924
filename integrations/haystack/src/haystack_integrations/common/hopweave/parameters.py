"""The parameters of a component: what its constructor takes, as inputs of a run and as serialised data."""

from inspect import signature
from typing import Any

from haystack import component, default_to_dict
from pydantic import BaseModel

from haystack_integrations.common.hopweave.questions import SOCKETS
from hopweave.component import Component


def accept_overrides(instance: Any, core: type[Component], asks: tuple[str, ...] = ()) -> None:
    """
    Give a component one optional input for each parameter that its constructor hands to the core.

    :param instance: The component, in its constructor.
    :param core: The class of the core whose parameters they are.
    :param asks: What else it wants to know of a question, out of `questions.SOCKETS`.
    """
    for name, parameter in signature(type(instance).__init__).parameters.items():
        if name in core.model_fields and name != "top_k":
            component.set_input_type(instance, name, parameter.annotation | None, None)
    for name in asks:
        component.set_input_type(instance, name, SOCKETS[name], None)


def split(inputs: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """
    The inputs of a run, without those that were not given: what belongs to the question, and what overrides parameters.

    :param inputs: What came in by keyword.
    :returns: Both parts. A value of 0 or False is given, None is not.
    """
    given = {name: value for name, value in inputs.items() if value is not None}
    question = {name: value for name, value in given.items() if name in SOCKETS}
    return question, {name: value for name, value in given.items() if name not in SOCKETS}


def written(instance: Any, core: Component, **others: Any) -> dict[str, Any]:
    """
    A component as serialised data: every parameter of its constructor, but for rule tables that are the shipped ones.

    :param instance: The component.
    :param core: The object of the core that holds its parameters.
    :param others: Parameters that are not the core's.
    :returns: What Haystack writes to YAML.
    """
    values = {**core.model_dump(mode="json"), **others}
    names = [name for name in signature(type(instance).__init__).parameters if name in values]
    return default_to_dict(instance, **{name: values[name] for name in names if not _is_shipped_table(core, name)})


def _is_shipped_table(core: Component, name: str) -> bool:
    field = type(core).model_fields.get(name)
    table = field.default if field else None
    return (
        isinstance(table, tuple) and any(isinstance(rule, BaseModel) for rule in table) and getattr(core, name) == table
    )
