"""Components that are derived from the core.

A component is a class of the core, a base class and a docstring. `derived` makes the rest before Haystack looks:
the constructor from the fields of the core's class and the table of settings; `run` and `run_async` from the table of
inputs and `_run`. Signatures, annotations and docstrings say the same.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from inspect import Parameter, Signature, cleandoc, getdoc, signature
from textwrap import fill
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from haystack import component, default_to_dict
from pydantic import BaseModel

from haystack_integrations.common.hopweave.inputs import Input, named_documents
from haystack_integrations.common.hopweave.parameters import checked
from haystack_integrations.common.hopweave.settings import Setting
from hopweave.component import Component
from hopweave.stubs import parameters_of

C = TypeVar("C", bound=type)

_SELF = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
_OWN_WORDS = {"seeds_from": "Names of the inputs for documents that other retrievers found, which are seeds as well."}


class _SignatureOfConstructor:
    """`inspect.signature` of a component class: that of its constructor, which the metaclass of Haystack hides."""

    def __get__(self, instance: Any, owner: Any) -> Signature:
        made = signature(owner.__init__)
        return made.replace(parameters=list(made.parameters.values())[1:], return_annotation=Signature.empty)


class CoreComponent:
    """
    Base class of all components.

    `settings` are parameters of the constructor beside those of the core; each is kept under its name before `_hold` is
    called, with the core's object if there is one. `inputs` and `outputs` are those of `run`; without `inputs`, a
    component has a `run` of its own.
    """

    settings: ClassVar[tuple[Setting, ...]] = ()
    inputs: ClassVar[tuple[Input, ...]] = ()
    outputs: ClassVar[dict[str, Any]] = {}
    _held: Component | None = None  # the core's object as the constructor made it

    __signature__ = _SignatureOfConstructor()

    if TYPE_CHECKING:  # the stubs of the folders have the real ones

        def __init__(self, **parameters: Any) -> None: ...

        def run(self, *arguments: Any, **inputs: Any) -> dict[str, Any]:
            """Do what the component does."""
            ...

    def _hold(self, core: Any) -> None:
        """Create the component; what it needs is opened on first use."""

    def to_dict(self) -> dict[str, Any]:
        """
        The component as serialised data.

        :returns: Its type and the parameters of its constructor, but for rule tables that are the shipped ones.
        """
        core = self._held
        values = core.model_dump(mode="json") if core is not None else {}
        values |= {one.name: _plain(getattr(self, one.name)) for one in self.settings}
        written = {name: values[name] for name in signature(type(self)).parameters}
        return default_to_dict(
            self, **{name: value for name, value in written.items() if core is None or not _is_shipped(core, name)}
        )


def derived(
    core: type[Component] | None = None, *, without: tuple[str, ...] = (), mark: Callable[[Any], Any] = component
) -> Callable[[C], C]:
    """
    A class decorator that makes a component: it gives a class its constructor, `run` and `run_async`.

    The constructor has the fields of the core's class, all but those in `without`; the object made of them is what
    `_hold` gets. `mark` is Haystack's own decorator.
    """

    def derive(cls: C) -> C:
        _add_constructor(cls, core, without)
        if cls.inputs:  # type: ignore[attr-defined]
            _add_run(cls)
        made: C = mark(cls)
        return made

    return derive


def _add_constructor(cls: Any, core: type[Component] | None, without: tuple[str, ...]) -> None:
    own = {one.name: one for one in cls.settings}
    fields = {} if core is None else parameters_of(core)
    for name in ("kind", *without):
        fields.pop(name, None)
    parameters = {name: one.parameter for name, one in own.items() if one.leads}
    parameters |= {name: one for name, (one, _) in fields.items() if name not in own}
    parameters |= {name: one.parameter for name, one in own.items() if not one.leads}
    words = {name: _OWN_WORDS.get(name, _of_documents(text)) for name, (_, text) in fields.items()}
    words |= {name: one.description for name, one in own.items()}
    unset = {name for name, (one, _) in fields.items() if one.default is None}  # None: left to the core

    def __init__(self: Any, *arguments: Any, **given: Any) -> None:  # noqa: N807
        _check_names(type(self).__name__, parameters, arguments, given)
        if core is not None:
            values = {name: one for name, one in given.items() if name in fields}
            self._held = checked(core, **{n: one for n, one in values.items() if one is not None or n not in unset})
        for name, one in own.items():
            setattr(self, name, one.kept(given.get(name, one.default)))
        self._hold(self._held)

    signed = Signature([_SELF, *parameters.values()], return_annotation=None)
    _set(cls, __init__, signed, documented(cls._hold)[""], words)


def _check_names(
    name: str, parameters: Mapping[str, Parameter], arguments: tuple[Any, ...], given: Mapping[str, Any]
) -> None:
    if arguments:
        raise TypeError(f"{name}: parameters are given by name, as in {name}({next(iter(parameters), '')}=…)")
    if unknown := [one for one in given if one not in parameters]:
        raise TypeError(f"{name}: no parameter {unknown[0]!r}; allowed are {', '.join(parameters)}")
    required = (one.name for one in parameters.values() if one.default is Parameter.empty)
    if missing := [one for one in required if one not in given]:
        raise TypeError(f"{name}: parameter {missing[0]!r} is missing")


def _add_run(cls: Any) -> None:
    inputs = sorted(cls.inputs, key=lambda one: one.kind)  # documents by name are last in a signature
    bound = _Bound(inputs)

    def run(self: Any, *arguments: Any, **given: Any) -> Any:
        return self._run(**bound(self, arguments, given))

    async def run_async(self: Any, *arguments: Any, **given: Any) -> Any:
        return await self._run_async(**bound(self, arguments, given))

    said = documented(cls._run)
    words = {one.name: one.description for one in inputs}
    made = Signature([_SELF, *(one.parameter for one in inputs)], return_annotation=dict[str, Any])
    _set(cls, run, made, said[""], words, said["returns"])
    if hasattr(cls, "_run_async"):
        summary = f"{said[''].rstrip('.')}, without blocking the event loop."
        _set(cls, run_async, made, summary, words, said["returns"])


class _Bound:
    """What was given to `run`, by the name of the input, with the defaults of those that were not given."""

    def __init__(self, inputs: Sequence[Input]) -> None:
        documents = named_documents(inputs)
        plain = [one for one in inputs if one is not documents]
        self.by_name = None if documents is None else documents.name
        self.names = {one.name: None for one in plain}
        self.defaults = {one.name: one.default for one in plain if one.default is not Parameter.empty}
        self.required = [one.name for one in plain if one.default is Parameter.empty]
        self.texts = [one.name for one in plain if one.type is str]

    def __call__(self, instance: Any, arguments: tuple[Any, ...], given: dict[str, Any]) -> dict[str, Any]:
        if arguments:
            given = self._named(instance, arguments, given)
        values = {**self.defaults, **given}
        if missing := [name for name in self.required if name not in values]:
            raise TypeError(f"{type(instance).__name__}: input {missing[0]!r} is missing")
        others = {name: values.pop(name) for name in given if name not in self.names}
        if self.by_name is not None:
            values[self.by_name] = others
        elif others:
            known = ", ".join(self.names)
            raise TypeError(f"{type(instance).__name__}: no input {next(iter(others))!r}; allowed are {known}")
        for name in self.texts:
            if not isinstance(values[name], str):
                raise ValueError(f"{name}: must be a string, but got {values[name]!r}")
        return values

    def _named(self, instance: Any, arguments: tuple[Any, ...], given: dict[str, Any]) -> dict[str, Any]:
        if len(arguments) > len(self.names):
            known = ", ".join(self.names)
            raise TypeError(f"{type(instance).__name__}: {len(arguments)} inputs are too many; there are {known}")
        first = dict(zip(self.names, arguments, strict=False))
        if twice := sorted(first.keys() & given.keys()):
            raise TypeError(f"{type(instance).__name__}: input {twice[0]!r} is given twice")
        return {**first, **given}


def _set(cls: Any, function: Any, made: Signature, summary: str, words: Mapping[str, str], returns: str = "") -> None:
    """Make a function a method of a class, with its signature and a docstring that describes every parameter."""
    names = [name for name in made.parameters if name != "self"]
    described = {f":param {name}:": words[name] for name in names} | ({":returns:": returns} if returns else {})
    lines = [fill(f"{mark} {text}", 108, subsequent_indent="    ") for mark, text in described.items()]
    function.__doc__ = "\n".join([summary, "", *lines])
    function.__signature__ = made
    function.__annotations__ = {
        **{name: made.parameters[name].annotation for name in names},
        "return": made.return_annotation,
    }
    function.__qualname__ = f"{cls.__qualname__}.{function.__name__}"
    function.__module__ = cls.__module__
    if function.__name__ != "__init__" and cls.outputs:
        function = component.output_types(**cls.outputs)(function)
    setattr(cls, function.__name__, function)


def documented(function: Callable[..., Any]) -> dict[str, str]:
    """What a docstring says: its first paragraph under "", and `returns`."""
    summary, _, returns = cleandoc(getdoc(function) or "").partition(":returns: ")
    return {"": " ".join(summary.split()), "returns": " ".join(returns.split())}


def _of_documents(description: str) -> str:
    """What the core says of hits, said of documents."""
    return re.sub(r"\bhit(s?)\b", r"document\1", description)


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Enum) else value


def _is_shipped(core: Component, name: str) -> bool:
    field = type(core).model_fields.get(name)
    table = field.default if field else None
    return (
        isinstance(table, tuple) and any(isinstance(rule, BaseModel) for rule in table) and getattr(core, name) == table
    )
