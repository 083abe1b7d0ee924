"""The parameters of a component: other values for a run, and as serialised data."""

from collections.abc import Iterable, Mapping, Sequence
from inspect import signature
from typing import Any, TypeVar

from haystack import Document, component, default_to_dict
from pydantic import BaseModel

from haystack_integrations.common.hopweave.documents import check_documents
from hopweave.component import Component

Core = TypeVar("Core", bound=Component)


class NamedParameters:
    """What gives a component an error that names its parameters when it is made with one that it does not have."""

    def __new__(cls, *_: Any, **given: Any) -> Any:  # noqa: D102
        known = list(signature(cls.__init__).parameters)[1:]
        for name in given:
            if name not in known:
                raise TypeError(f"{cls.__name__}: no parameter {name!r}; allowed are {', '.join(known)}")
        return super().__new__(cls)


def overridden(core: Core, overrides: Mapping[str, Any] | None, **others: Any) -> Core:
    """
    An object of the core with other values for some of its parameters, checked as at construction.

    :param core: The object that holds a component's parameters.
    :param overrides: Other values by the name of the parameter.
    :param others: Further values, each unless it is None; they win over `overrides`.
    :returns: A new object, or the same if nothing is different.
    :raises ValueError: If a name or value is not allowed.
    """
    if overrides is not None and not isinstance(overrides, Mapping):
        raise ValueError(f"overrides: must be a mapping of parameters to values, but got {overrides!r}")
    given = {name: value for name, value in others.items() if value is not None}
    return core.changed(**{**(overrides or {}), **given})


def check_names(parameter: str, names: Any) -> None:
    """
    Check that names of inputs or outputs are distinct.

    :param parameter: Which parameter has the names, for errors.
    :param names: The names.
    :raises ValueError: If they are no list of strings, or none, or one of them is there twice.
    """
    if isinstance(names, str) or not isinstance(names, Sequence) or not all(isinstance(one, str) for one in names):
        raise ValueError(f"{parameter}: must be a list of names, but got {names!r}")
    if not names:
        raise ValueError(f"{parameter}: at least one name is needed, but got {names!r}")
    if twice := sorted({name for name in names if list(names).count(name) > 1}):
        raise ValueError(f"{parameter}: {twice[0]!r} is there more than once in {list(names)!r}")


def accept_documents(instance: Any, parameter: str, names: Iterable[str]) -> None:
    """
    Give a component one optional input for documents under each name.

    :param instance: The component, in its constructor; its `run` takes the documents by keyword.
    :param parameter: Which parameter has the names, for errors.
    :param names: The names.
    :raises ValueError: If a name is that of another input.
    """
    taken = signature(type(instance).run).parameters
    for name in names:
        if name in taken:
            raise ValueError(f"{parameter}: {name!r} is not allowed: it is the name of another input")
        component.set_input_type(instance, name, list[Document] | None, None)


def given_documents(
    parameter: str, names: Iterable[str], documents: Mapping[str, list[Document] | None]
) -> dict[str, list[Document]]:
    """
    The documents that came in by name, without the inputs that nothing came in by.

    :param parameter: Which parameter has the names, for errors.
    :param names: The names there are.
    :param documents: What came in by keyword.
    :returns: Documents by name, in the order of the names.
    :raises ValueError: If there is no input of a name.
    """
    known = list(names)
    if unknown := [name for name in documents if name not in known]:
        raise ValueError(f"{unknown[0]}: no such input; {parameter} has {', '.join(known) or 'none'}")
    given = {name: found for name in known if (found := documents.get(name)) is not None}
    for name, found in given.items():
        check_documents(found, name)
    return given


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
