"""What type checkers and editors are told of classes whose signatures are made at run time.

`parameters_of` gives the parameters of a component as a caller writes them; `class_stub` and `module_stub` write the
`__init__.pyi` of a folder. `make fix` writes these files, and a test compares them with the classes.
"""

import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from inspect import Parameter, Signature, getdoc, iscoroutinefunction, signature
from textwrap import indent
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel


def parameters_of(model: type[BaseModel]) -> dict[str, tuple[Parameter, str]]:
    """The fields of a component as keyword parameters with their descriptions, its own before those it inherits.

    >>> from hopweave.stages.adjust.length import Length
    >>> for parameter, _ in parameters_of(Length).values():
    ...     print(parameter)
    kind: Literal['length'] = 'length'
    anchor_characters: int = 500
    slope: float = 0.5
    optional: bool = False
    """
    inherited = {name for base in model.__mro__[1:] for name in getattr(base, "model_fields", {})}
    fields = model.model_fields
    order = [*(name for name in fields if name not in inherited), *(name for name in fields if name in inherited)]
    found = {}
    for name in sorted(order, key=lambda name: name != "kind"):
        field = fields[name]
        annotation, default = as_given(field.annotation), field.get_default(call_default_factory=True)
        if field.is_required():
            default = Parameter.empty
        elif isinstance(default, BaseModel):  # the core makes one for each object: not given, or None
            annotation, default = annotation | None, None
        parameter = Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        found[name] = parameter, field.description or ""
    return found


def as_given(annotation: Any) -> Any:
    """The type of a field as a caller may give it: any sequence for a tuple, a mapping for a model.

    >>> as_given(dict[str, tuple[int, ...]])
    collections.abc.Mapping[str, collections.abc.Sequence[int]]
    """
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return as_given(arguments[0])
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation | dict[str, Any]
    if origin in (Union, types.UnionType):
        return Union[tuple(as_given(one) for one in arguments)]  # noqa: UP007 - of a list
    if origin is tuple and arguments[-1:] == (...,):
        return Sequence[as_given(arguments[0])]  # type: ignore[misc]
    if origin in (dict, Mapping):
        return Mapping[arguments[0], as_given(arguments[1])]  # type: ignore[valid-type,misc]
    return annotation


class Source:
    """Python source of annotations and defaults; `imports` are the names that it needs, by module.

    >>> source = Source()
    >>> source.annotation(Sequence[str] | None), source.imports
    ('Sequence[str] | None', {'collections.abc': {'Sequence'}})
    """

    def __init__(self) -> None:
        self.imports: dict[str, set[str]] = {}

    def name(self, thing: Any) -> str:
        """The name of a class, a type variable or a form of `typing`, to be imported from where it is defined."""
        name = "Literal" if thing is Literal else "Any" if thing is Any else str(thing.__name__)
        if thing.__module__ != "builtins":
            self.imports.setdefault(_public_module(thing), set()).add(name)
        return name

    def annotation(self, annotation: Any) -> str:
        """An annotation as it is written."""
        origin, arguments = get_origin(annotation), get_args(annotation)
        if annotation is None or annotation is type(None):
            return "None"
        if annotation is Ellipsis:
            return "..."
        if isinstance(annotation, list):  # what a Callable takes
            return f"[{', '.join(map(self.annotation, annotation))}]"
        if origin in (Union, types.UnionType):
            return " | ".join(dict.fromkeys(self.annotation(one) for one in sorted(arguments, key=_none_last)))
        if origin is None:
            return self.name(annotation)
        inner = map(repr if origin is Literal else self.annotation, arguments)
        return f"{self.name(origin)}[{', '.join(inner)}]"

    def default(self, value: Any) -> str:
        """A default as it is written: simple values as they are, all others as `...`."""
        if isinstance(value, Enum):
            return f"{self.name(type(value))}.{value.name}"
        simple = value is None or isinstance(value, bool | int | float | str)
        return repr(value) if simple else "..."

    def parameters(self, made: Signature) -> str:
        """The parameters of a signature, between parentheses."""
        written, star = [], False
        for one in made.parameters.values():
            if one.kind is Parameter.KEYWORD_ONLY and not star:
                written.append("*")
            star = star or one.kind in (Parameter.KEYWORD_ONLY, Parameter.VAR_POSITIONAL)
            sign = "**" if one.kind is Parameter.VAR_KEYWORD else "*" if one.kind is Parameter.VAR_POSITIONAL else ""
            typed = "" if one.annotation is Parameter.empty else f": {self.annotation(one.annotation)}"
            default = "" if one.default is Parameter.empty else f" = {self.default(one.default)}"
            written.append(f"{sign}{one.name}{typed}{default}")
        return ", ".join(written)

    def method(self, function: Callable[..., Any], name: str, made: Signature | None = None) -> str:
        """A method with its docstring, without its body."""
        made = signature(function, eval_str=True) if made is None else made
        kind = "async def" if iscoroutinefunction(function) else "def"
        returns = self.annotation(made.return_annotation)
        head = f"{kind} {name}({self.parameters(made)}) -> {returns}:"
        return f'{head}\n    r"""{getdoc(function)}"""' if getdoc(function) else f"{head} ..."


def class_stub(source: Source, cls: type, made: Mapping[str, Signature] | None = None) -> str:
    """A class with its bases and the public methods that it defines itself.

    `made` are signatures of methods that are not those which `inspect` finds.
    """
    bases = [source.name(base) for base in cls.__bases__ if base is not object]
    lines = [f"class {cls.__name__}({', '.join(bases)}):" if bases else f"class {cls.__name__}:"]
    if cls.__doc__:
        lines.append(indent(f'r"""{getdoc(cls)}"""', "    "))
    for name, member in vars(cls).items():
        if name.startswith("_") and name != "__init__":
            continue
        function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        if not isinstance(function, types.FunctionType):
            continue
        mark = {property: "@property\n", classmethod: "@classmethod\n", staticmethod: "@staticmethod\n"}
        text = source.method(function, name, (made or {}).get(name))
        lines.append(indent(mark.get(type(member), "") + text, "    "))
    return "\n".join(lines) if len(lines) > 1 else f"{lines[0]} ..."


def module_stub(head: str, source: Source, classes: Iterable[str], names: Iterable[str]) -> str:
    """An `__init__.pyi`: a comment, imports, classes, and the names that the package offers."""
    body = list(classes)
    imports = [f"from {module} import {', '.join(sorted(found))}" for module, found in sorted(source.imports.items())]
    listed = [f'    "{name}",' for name in names]
    return "\n".join([f"# {head}", *imports, *body, "__all__ = [", *listed, "]"]) + "\n"


def _none_last(annotation: Any) -> bool:
    return annotation is type(None)


def _public_module(thing: Any) -> str:
    module = str(thing.__module__)
    return "pathlib" if module.startswith("pathlib") else module
