"""The parameters of a component: other values for a run, and inputs by name."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import signature
from typing import Any, TypeVar

from haystack import Document, component
from haystack.utils import Secret
from pydantic import ValidationError

from haystack_integrations.common.hopweave.documents import check_documents
from hopweave.component import Component
from hopweave.errors import explain

Core = TypeVar("Core", bound=Component)


def checked(make: Callable[..., Any], **values: Any) -> Any:
    """
    What the core makes of parameters.

    Raises `ValueError` with the name of the parameter, its value and what is allowed, if that is something else.
    """
    try:
        return make(**values)
    except ValidationError as error:
        raise ValueError(explain(error)) from None


def overridden(core: Core, overrides: Mapping[str, Any] | None, **others: Any) -> Core:
    """
    An object of the core with other values for some of its parameters, or the same if there are none.

    `others` count unless they are None, and win over `overrides`. All are checked as at construction.
    """
    if overrides is not None and not isinstance(overrides, Mapping):
        raise ValueError(f"overrides: must be a mapping of parameters to values, but got {overrides!r}")
    given = {name: value for name, value in others.items() if value is not None}
    return checked(core.changed, **{**(overrides or {}), **given}) if overrides or given else core


def check_names(parameter: str, names: Any) -> None:
    """Raise `ValueError` unless these are distinct names of inputs or outputs, and at least one."""
    if isinstance(names, str) or not isinstance(names, Sequence) or not all(isinstance(one, str) for one in names):
        raise ValueError(f"{parameter}: must be a list of names, but got {names!r}")
    if not names:
        raise ValueError(f"{parameter}: at least one name is needed, but got {names!r}")
    if twice := sorted({name for name in names if list(names).count(name) > 1}):
        raise ValueError(f"{parameter}: {twice[0]!r} is there more than once in {list(names)!r}")


def accept_documents(instance: Any, parameter: str, names: Iterable[str]) -> None:
    """
    Give a component one optional input for documents under each name.

    Raises `ValueError` if a name is that of another input.
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
    The documents that came in by name, in the order of the names, without inputs that nothing came in by.

    Raises `ValueError` if there is no input of a name.
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
    The key that was given. Raises `ValueError`, which does not show it, if it is no secret.

    `variable` is the environment variable that the error has as an example.
    """
    if given is not None and not isinstance(given, Secret):
        raise ValueError(f"api_key: must be a Secret, as Secret.from_env_var({variable!r}), but got another type")
    return given
