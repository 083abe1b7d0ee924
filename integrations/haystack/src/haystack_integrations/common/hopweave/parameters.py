"""The parameters of a component: other values for a run, and inputs by name."""

from collections.abc import Iterable, Mapping, Sequence
from inspect import signature
from typing import Any, TypeVar

from haystack import Document, component
from haystack.utils import Secret

from haystack_integrations.common.hopweave.derived import checked
from haystack_integrations.common.hopweave.documents import check_documents
from hopweave.component import Component

Core = TypeVar("Core", bound=Component)


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
    return checked(core.changed, **{**(overrides or {}), **given}) if overrides or given else core


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


def check_secret(given: Any, variable: str) -> Secret | None:
    """
    Check that a key is a secret.

    :param given: What was given as `api_key`.
    :param variable: The variable that the error has as an example.
    :returns: The same.
    :raises ValueError: If it is no secret; the error does not show it.
    """
    if given is not None and not isinstance(given, Secret):
        raise ValueError(f"api_key: must be a Secret, as Secret.from_env_var({variable!r}), but got another type")
    return given
