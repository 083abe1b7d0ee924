"""Write stubs that show type checkers and editors signatures made at run time.

`parameters_of` gives the parameters of a component as a caller writes them; `package_stub` writes the `__init__.pyi`
of a folder. `make fix` writes these files, and a test compares them with the classes.
"""

import types
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from importlib import import_module
from inspect import Parameter, Signature, getdoc, iscoroutinefunction, signature
from textwrap import indent
from typing import Annotated, Any, ClassVar, Literal, Union, get_args, get_origin

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
    annotated = [getattr(base, "__annotations__", {}) for base in model.__mro__]
    fields, found = model.model_fields, {}
    for name in sorted(fields, key=lambda name: next(n for n, names in enumerate(annotated) if name in names)):
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
        if annotation in (None, type(None), ...):
            return "..." if annotation is ... else "None"
        if isinstance(annotation, list):  # what a Callable takes
            return f"[{', '.join(map(self.annotation, annotation))}]"
        if origin in (Union, types.UnionType):
            return " | ".join(dict.fromkeys(self.annotation(one) for one in sorted(arguments, key=_none_last)))
        if origin is dict and not arguments:  # typing.Dict by itself
            return self.annotation(dict[Any, Any])
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
        return f"{head}\n{_docstring(function)}" if getdoc(function) else f"{head} ..."


def class_stub(source: Source, cls: type, made: Mapping[str, Signature] | None = None) -> str:
    """A class with its bases and the public attributes and methods that it defines itself.

    `made` are signatures of methods that are not those which `inspect` finds.
    """
    bases = [source.name(base) for base in cls.__bases__ if base is not object and not base.__name__.startswith("_")]
    lines = [f"class {cls.__name__}({', '.join(bases)}):" if bases else f"class {cls.__name__}:"]
    if cls.__doc__:
        lines.append(_docstring(cls))
    for name, annotation in vars(cls).get("__annotations__", {}).items():
        if not name.startswith("_") and get_origin(annotation) is not ClassVar:
            lines.append(f"    {name}: {source.annotation(annotation)}")
    inherited = {name: getattr(cls, name) for name in made or () if name not in vars(cls)}
    for name, member in {**inherited, **vars(cls)}.items():
        if name.startswith("_") and name != "__init__":
            continue
        function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        if not isinstance(function, types.FunctionType):
            continue
        mark = {property: "@property\n", classmethod: "@classmethod\n", staticmethod: "@staticmethod\n"}
        text = source.method(function, name, (made or {}).get(name))
        lines.append(indent(mark.get(type(member), "") + text, "    "))
    return "\n".join(lines) if len(lines) > 1 else f"{lines[0]} ..."


def package_stub(package: str, head: str, signatures: Callable[[Any], Mapping[str, Signature] | None]) -> str:
    """The `__init__.pyi` of a package: imports of what it offers, or classes with their signatures.

    `signatures` says of each name that the package offers which methods have other signatures than `inspect` finds;
    None if type checkers are to read the module that defines it.

    >>> print(package_stub("hopweave.sources", "Written by hand.", lambda one: None).splitlines()[1])
    from hopweave.sources.bm25 import BM25
    """
    module = import_module(package)
    source, classes, written = Source(), [], set()
    names = sorted(module.__all__, key=lambda name: (not name.isupper(), name))
    for name in names:
        one = getattr(module, name)
        made = signatures(one)
        if made is None:
            source.name(one)
            continue
        written.add((one.__module__, name))
        if isinstance(one, types.FunctionType):
            classes.append(source.method(one, name, made[name]))
        else:
            classes.append(class_stub(source, one, made))
    kept = {
        where: [name for name in sorted(found) if (where, name) not in written]
        for where, found in sorted(source.imports.items())
    }
    imports = [f"from {where} import {', '.join(found)}" for where, found in kept.items() if found]
    listed = [f'    "{name}",' for name in names]
    return "\n".join([f"# {head}", *imports, *classes, "__all__ = [", *listed, "]"]) + "\n"


def _docstring(thing: Any) -> str:
    text = getdoc(thing) or ""
    return indent(f'r"""\n{text}\n"""' if "\n" in text else f'r"""{text}"""', "    ")


def _none_last(annotation: Any) -> bool:
    return annotation is type(None)


def _public_module(thing: Any) -> str:
    module = str(thing.__module__)
    return "pathlib" if module.startswith("pathlib") else module
