"""Write one page per component, from the component itself, and the pages of the API reference.

    python docs/generate.py [folder]

Components go to `folder`/components, the reference to `folder`/reference, and what examples/ says of itself to
`folder`/examples.md; the folder is docs/ unless given.

`make docs` does this before it builds the site, so the pages are always those of the code.
"""

import importlib
import inspect
import json
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from component_snippets import (
    NEEDS_MODEL,
    in_framework,
    in_haystack_yaml,
    in_python,
    in_recipe,
    kind_of,
)

import hopweave.catalogue  # noqa: F401 - so that every kind is known
from hopweave import evaluate, tune
from hopweave.component import Component, Embedder, Fuser, Source, Stage, registered
from hopweave.context.context_builder import ContextBuilder
from hopweave.context.extractive_answer import ExtractiveAnswer
from hopweave.graph.build.builders.builder import GraphBuilder
from hopweave.graph.flow_pruning import FlowPruning
from hopweave.graph.service_neighbourhood import ServiceNeighbourhood
from hopweave.routing.gate import Gate
from hopweave.routing.intent import IntentClassifier
from hopweave.routing.plan import Planner

ROLES: dict[str, list[type[Component]]] = {
    "Understanding the question": [Gate, IntentClassifier, Planner],
    "Sources": list(registered(Source).values()),
    "Fusers": list(registered(Fuser).values()),
    "Stages": list(registered(Stage).values()),
    "Context and answers": [ContextBuilder, ExtractiveAnswer, FlowPruning, ServiceNeighbourhood],
    "Embedders": list(registered(Embedder).values()),
    "Graph builders": list(registered(GraphBuilder).values()),
}
FORMULAS: dict[str, str] = yaml.safe_load((Path(__file__).parent / "formulas.yaml").read_text(encoding="utf-8"))
FORMULA = re.compile(r"(Score|score|mmr|gain)[^=]{0,30} = |(Kept|Dropped|Moved to the end) if ")
ADAPTERS = {
    "Haystack": "haystack_integrations.components",
    "LlamaIndex": "llama_index",
}
INTRODUCTION = """\
Every part a recipe can have, each with its formula, its parameters, and how to use it from Python, in a recipe, in
Haystack and in LlamaIndex. Parameters are checked when they are set. Everything in `stages` and the fusers also works
without a knowledge base; the rest of the snippets read `hopweave.db`, which this makes of the demo corpus:

```bash
hopweave index examples/tern_isles/corpus.jsonl
```"""
REFERENCE = {
    "core": [
        "hopweave.document.Document",
        "hopweave.hit.Hit",
        "hopweave.hit.Receipt",
        "hopweave.query.Query",
        "hopweave.query.Intent",
        "hopweave.query.Plan",
        "hopweave.knowledge_base.store.KnowledgeBase",
        "hopweave.readers.files.read_documents",
        "hopweave.knowledge_base.cache.QueryCache",
        "hopweave.recipe.Recipe",
        "hopweave.recipe.load_recipe",
        "hopweave.recipe.register",
        "hopweave.pipeline.Pipeline",
        "hopweave.pipeline.Result",
        "hopweave.search.federated.FederatedPipeline",
        "hopweave.report.page.html_report",
        "hopweave.component",
        "hopweave.errors",
    ],
    "graph": [
        "hopweave.graph.model",
        "hopweave.testing.graphs",
        "hopweave.graph.port",
        "hopweave.graph.walk.personalised_pagerank",
        "hopweave.graph.link.linker",
        "hopweave.graph.paths.flow",
        "hopweave.graph.paths.path",
        "hopweave.graph.walk.proximity",
        "hopweave.graph.communities",
        "hopweave.graph.paths.neighbourhood",
        "hopweave.graph.build.networkx_graph",
        "hopweave.graph.external_documents",
        "hopweave.graph.build.synonyms",
    ],
    "graph_stores": [
        "hopweave.graph_store.store.GraphStore",
        "hopweave.graph_store.location.GraphLocation",
        "hopweave_postgres.store.PostgresStore",
        "hopweave_postgres.spark",
        "hopweave.testing.graph_store.GraphStoreTests",
    ],
    **{
        folder.__name__.removeprefix("hopweave."): sorted(
            f"{folder.__name__}.{one.stem}" for one in Path(folder.__path__[0]).glob("*.py") if one.stem != "__init__"
        )
        for folder in (evaluate, tune)
    },
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
    write_components(folder / "components")
    write_reference(folder / "reference")
    write_examples(folder)


def write_components(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["# Components", "", INTRODUCTION, ""]
    for role, components in ROLES.items():
        lines += [f"## {role}", "", "| kind | what it does |", "|---|---|"]
        for component in components:
            kind = kind_of(component)
            (folder / f"{kind}.md").write_text(page(component, role), encoding="utf-8")
            lines.append(f"| [`{kind}`]({kind}.md) | {summary(component)} |")
        lines.append("")
    (folder / "index.md").write_text("\n".join(lines), encoding="utf-8")


def write_reference(folder: Path) -> None:
    """One page per part of the package, for mkdocstrings to fill."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = {name: [f"::: {one}" for one in things] for name, things in REFERENCE.items()}
    for role, components in ROLES.items():
        pages[reference_of(role)] = [f"::: {one.__module__}.{one.__name__}" for one in components]
    for framework, package in ADAPTERS.items():
        style = "sphinx\n      inherited_members: [__init__]" if framework == "Haystack" else "google"
        options = f"\n    options:\n      docstring_style: {style}"
        pages[framework] = [f"::: {place_of(*one)}{options}" for one in public_classes(package)]
    for name, things in pages.items():
        text = "\n\n".join([f"# {name[0].upper()}{name[1:].replace('_', ' ')}", *things]) + "\n"
        (folder / f"{name.lower()}.md").write_text(text, encoding="utf-8")
    names = [f"- [{name[0].upper()}{name[1:].replace('_', ' ')}]({name.lower()}.md)" for name in pages]
    index = "\n".join(["# API reference", "", "Everything public, from its docstrings.", "", *names, ""])
    (folder / "index.md").write_text(index, encoding="utf-8")


def write_examples(folder: Path) -> None:
    """What the folder of examples says of itself, without links to files that are not on the site."""
    text = (Path(__file__).parents[1] / "examples" / "README.md").read_text(encoding="utf-8")
    (folder / "examples.md").write_text(re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text), encoding="utf-8")


def page(component: type[Component], role: str) -> str:
    kind = kind_of(component)
    prose = described(component)
    name = f"{component.__module__}.{component.__name__}"
    parts = [f"# `{kind}`", "", f"*{role}* · [`{name}`](../reference/{reference_of(role)}.md#{name})", "", prose, ""]
    if formula := formulas(component):
        parts += ["## Formula", "", "```text", *formula, "```", ""]
    parts += ["## Parameters", "", *parameters(component), ""]
    parts += ["## From Python", "", *fenced("python", in_python(component)), ""]
    if place := in_recipe(component):
        parts += ["## In a recipe", "", *fenced("yaml", place), ""]
    for framework, package in ADAPTERS.items():
        found = adapters(component, package)
        note = NEEDS_MODEL.get(kind, "")
        parts += [f"## In {framework}", "", *fenced("python", in_framework(component, framework, found), note), ""]
        if framework == "Haystack" and (text := in_haystack_yaml(found)):
            parts += ["As YAML, for `Pipeline.loads`:", "", *fenced("yaml", text), ""]
    return "\n".join(parts)


def fenced(language: str, text: str, not_run: str = "") -> list[str]:
    return [*([f"<!-- not run: {not_run} -->"] if not_run else []), f"```{language}", text.strip(), "```"]


def reference_of(role: str) -> str:
    """The page of the API reference that holds the components of a role."""
    return {"Understanding the question": "routing", "Context and answers": "context"}.get(
        role, role.rsplit(maxsplit=1)[-1].lower()
    )


def formulas(component: type[Component]) -> list[str]:
    """What the docstring states as an equation, and what `formulas.yaml` adds where it says it in words only."""
    sentences = (
        sentence
        for paragraph in described(component).split("\n\n")
        for sentence in re.split(r"(?<=\D)\. (?=[A-Z(])|\.$", " ".join(paragraph.split()))
    )
    stated = [one.replace(" * ", " · ") for one in sentences if FORMULA.match(one)]
    return [one[0].lower() + one[1:] for one in stated] + FORMULAS.get(kind_of(component), "").splitlines()


def summary(component: type[Component]) -> str:
    first = described(component).split("\n\n")[0]
    return " ".join(first.split()).replace("|", "\\|")


def described(component: type[Component]) -> str:
    """The docstring without its example."""
    return inspect.cleandoc(component.__doc__ or "").split(">>>")[0].strip()


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
        rows.append(f"| `{name}` | {default} | {allowed} | {table_cell(field.description)} |")
    return rows if len(rows) > 2 else ["None."]


def place_of(package: str, name: str, thing: type) -> str:
    """Where mkdocstrings finds a class with its signature: in the stub of the package, if there is one."""
    has_stub = any((Path(path) / "__init__.pyi").exists() for path in importlib.import_module(package).__path__)
    return f"{package}.{name}" if has_stub else f"{thing.__module__}.{name}"


def table_cell(description: str | None) -> str:
    """Text for a cell of a table: no tag, no bar."""
    return (description or "").replace("<", "&lt;").replace("|", "\\|")


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
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
