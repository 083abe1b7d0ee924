"""Write one page per component, from the component itself: its docstring, its parameters, its adapters.

    python docs/generate.py [folder]

`make docs` does this before it builds the site, so the pages are always those of the code.
"""

import importlib
import inspect
import json
import sys
import textwrap
from functools import cache
from pathlib import Path
from typing import Any

import yaml

import hopweave.catalogue  # noqa: F401 - so that every kind is known
from hopweave.component import Component, Embedder, Fuser, Source, Stage, registered
from hopweave.context.assemble import ContextBuilder
from hopweave.context.extract import ExtractiveAnswer
from hopweave.graph.build.builder import GraphBuilder
from hopweave.graph.pruning import FlowPruning
from hopweave.routing.gate import Gate
from hopweave.routing.intent import IntentClassifier
from hopweave.routing.plan import Planner

ROLES: dict[str, list[type[Component]]] = {
    "Understanding the question": [Gate, IntentClassifier, Planner],
    "Sources": list(registered(Source).values()),
    "Fusers": list(registered(Fuser).values()),
    "Stages": list(registered(Stage).values()),
    "Context and answers": [ContextBuilder, ExtractiveAnswer, FlowPruning],
    "Embedders": list(registered(Embedder).values()),
    "Graph builders": list(registered(GraphBuilder).values()),
}
PLACES = {Gate: "gate", IntentClassifier: "intent", Planner: "plan", ContextBuilder: "context", FlowPruning: "paths"}
ADAPTERS = {
    "Haystack": "haystack_integrations.components",
    "LlamaIndex": "llama_index",
}
LIMITS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
TYPES = {
    "number": "number",
    "integer": "whole number",
    "boolean": "true, false",
    "string": "text",
    "array": "list",
    "object": "mapping",
}


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["# Components", "", "Every part a recipe can have. Parameters are checked when they are set.", ""]
    for role, components in ROLES.items():
        lines += [f"## {role}", "", "| kind | what it does |", "|---|---|"]
        for component in components:
            kind = kind_of(component)
            (folder / f"{kind}.md").write_text(page(component, role), encoding="utf-8")
            lines.append(f"| [`{kind}`]({kind}.md) | {summary(component)} |")
        lines.append("")
    (folder / "index.md").write_text("\n".join(lines), encoding="utf-8")


def page(component: type[Component], role: str) -> str:
    kind = kind_of(component)
    prose, example = described(component)
    parts = [f"# `{kind}`", "", f"*{role}* · `{component.__module__}.{component.__name__}`", "", prose, ""]
    if example:
        parts += ["```python", example, "```", ""]
    parts += ["## Parameters", "", *parameters(component), ""]
    if place := in_recipe(component):
        parts += ["## In a recipe", "", "```yaml", place, "```", ""]
    for framework, package in ADAPTERS.items():
        found = adapters(component, package)
        if found:
            parts += [f"## In {framework}", "", "```python"]
            parts += [f"from {module} import {name}" for module, name in found]
            parts += ["```", ""]
    return "\n".join(parts)


def kind_of(component: type[Component]) -> str:
    return str(component.model_fields["kind"].default)


def summary(component: type[Component]) -> str:
    first = described(component)[0].split("\n\n")[0]
    return " ".join(first.split()).replace("|", "\\|")


def described(component: type[Component]) -> tuple[str, str]:
    """The docstring as prose, and its example."""
    text = inspect.cleandoc(component.__doc__ or "")
    lines = text.splitlines()
    start = next((number for number, line in enumerate(lines) if line.startswith(">>>")), len(lines))
    return "\n".join(lines[:start]).strip(), "\n".join(lines[start:]).strip()


def parameters(component: type[Component]) -> list[str]:
    schema = component.model_json_schema()
    if "$ref" in schema:  # one that holds others of its own role
        schema = schema["$defs"][schema["$ref"].rsplit("/", 1)[-1]]
    rows = ["| name | default | allowed | meaning |", "|---|---|---|---|"]
    for name, field in component.model_fields.items():
        if name == "kind":
            continue
        default = "required" if field.is_required() else short(field.get_default(call_default_factory=True))
        allowed = bounds(schema["properties"].get(name, {}))
        rows.append(f"| `{name}` | {default} | {allowed} | {field.description or ''} |")
    return rows if len(rows) > 2 else ["None."]


def short(value: Any) -> str:
    if isinstance(value, Component) or hasattr(value, "model_dump"):
        return "its defaults"
    if isinstance(value, tuple) and value and hasattr(value[0], "model_dump"):
        return f"{len(value)} rules"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return f"`{text}`" if len(text) <= 60 else f"`{text[:57]}…`"


def bounds(schema: dict[str, Any]) -> str:
    options = schema.get("anyOf", [schema])
    words = []
    for option in options:
        if "enum" in option:
            words += [f"`{one}`" for one in option["enum"]]
        elif option.get("type") == "null":
            words.append("none")
        else:
            limits = [f"{sign} {option[key]:g}" for key, sign in LIMITS.items() if key in option]
            kind = TYPES.get(option.get("type", ""), "")
            words.append(" ".join([kind, " and ".join(limits)]).strip())
    return ", ".join(word for word in words if word)


def in_recipe(component: type[Component]) -> str:
    kind = kind_of(component)
    if issubclass(component, Source):
        data: Any = {"sources": {kind: {"kind": kind}}}
    elif issubclass(component, Fuser):
        data = {"fuse": {"kind": kind}}
    elif issubclass(component, Stage):
        data = {"stages": [{"kind": kind}]}
    elif component in PLACES:
        data = {PLACES[component]: {"kind": kind}}
    else:
        return ""
    return textwrap.dedent(yaml.safe_dump(data, sort_keys=False, default_flow_style=None)).strip()


def adapters(component: type[Component], package: str) -> list[tuple[str, str]]:
    """The adapter classes with the file stem of the component, its kind or its folder, as users import them."""
    *_, folder, stem = component.__module__.split(".")
    for sought in (stem, kind_of(component), folder):
        if found := [
            (leaf, name)
            for leaf, name, thing in public_classes(package)
            if thing.__module__ == f"{leaf}.{sought}" and fits(thing, component, name)
        ]:
            return found
    return []


@cache
def public_classes(package: str) -> list[tuple[str, str, type]]:
    """What an adapter distribution offers: package, name and class."""
    folders = [Path(path) for path in importlib.import_module(package).__path__]
    sections = {one.name for path in folders for one in path.iterdir() if (one / "hopweave" / "__init__.py").exists()}
    found = []
    for section in sorted(sections):
        leaf = f"{package}.{section}.hopweave"
        module = importlib.import_module(leaf)
        named = ((name, getattr(module, name)) for name in getattr(module, "__all__", ()))
        found += [(leaf, name, thing) for name, thing in named if inspect.isclass(thing)]
    return found


def fits(adapter: type, component: type[Component], name: str) -> bool:
    """Of several components in one file, the one whose name the adapter bears."""
    siblings = [
        one
        for one in vars(importlib.import_module(component.__module__)).values()
        if inspect.isclass(one) and issubclass(one, Component) and one.__module__ == component.__module__
    ]
    others = [one.__name__ for one in siblings if one is not component and "kind" in one.__annotations__]
    return component in adapter.__mro__ or not any(other in name for other in others)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "components")
