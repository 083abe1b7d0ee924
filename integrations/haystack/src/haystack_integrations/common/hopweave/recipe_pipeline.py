"""A recipe as a native Haystack pipeline, and as the YAML that Hayhooks serves."""

from collections.abc import Sequence
from inspect import signature
from pathlib import Path
from typing import Any

import yaml
from haystack import Pipeline
from haystack.document_stores.types import DocumentStore

from haystack_integrations.common.hopweave.graph_location import Graph
from haystack_integrations.common.hopweave.knowledge_file import KnowledgeFile
from haystack_integrations.common.hopweave.native import to_component
from haystack_integrations.common.hopweave.parameters import check_names
from haystack_integrations.common.hopweave.upstream import with_upstream
from haystack_integrations.components.routers.hopweave.limits import FILTERS, OWN, TOP_K, LimitsRouter
from haystack_integrations.components.routers.hopweave.upstream import UpstreamRouter
from hopweave import Recipe, load_recipe
from hopweave.context.context_builder import ContextBuilder
from hopweave.recipes import DEFAULT_RECIPE

PIPELINES = Path(__file__).parent / "pipelines"
"""The folder with one YAML pipeline per shipped recipe."""


def to_pipeline(
    recipe: str | Recipe = DEFAULT_RECIPE, knowledge_base: str | Path | None = None, **shared: Any
) -> Pipeline:
    """
    A pipeline with one component per source, fuser and stage of a recipe, to be changed like any other.

    Sources keep their names. The fuser is called `fuse`, a stage by its kind, and `gate`, `intent`, `plan`, `paths`,
    `neighbourhood` and `context` are there if the recipe has them. `run({"query": …, "top_k": …, "filters": …})` ranks
    as the recipe does in the core: `limits` keeps `top_k` from cutting what the sources find, and `fuse` filters.

    ```python
    from haystack_integrations.common.hopweave.recipe_pipeline import to_pipeline

    pipeline = to_pipeline("multihop", "hopweave.db")
    documents = pipeline.run({"query": "Who built the tide gate?"})["fuse"]["documents"]
    ```

    With documents in a store of yours, connect your retrievers to the sources named in `upstream`:

    ```python
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore
    from haystack_integrations.common.hopweave.recipe_pipeline import to_pipeline

    store = InMemoryDocumentStore()
    pipeline = to_pipeline("multihop", graph="graph.db", document_store=store, upstream=["text", "vector"])
    pipeline.add_component("words", InMemoryBM25Retriever(document_store=store))
    pipeline.connect("words.documents", "text.documents")
    ```

    :param recipe: Name of a shipped recipe, path of a YAML file, or a recipe; `multihop` when not given.
    :param knowledge_base: Path of the knowledge base file.
    :param shared: Further parameters, as in `RecipeRetriever`: `graph`, `graph_schema`, `document_store`, `upstream`
        `tenant` and `tenant_required`, each given to every component that takes it.
    :returns: The pipeline.
    """
    return _assembled(load_recipe(recipe), knowledge_base, **shared)[0]


def _shared(
    recipe: Recipe,
    knowledge_base: str | Path | None,
    *,
    document_store: DocumentStore | None = None,
    graph: Graph | None = None,
    graph_schema: str = "hopweave",
    upstream: Sequence[str] = (),
    tenant: dict[str, Any] | None = None,
    tenant_required: Sequence[str] = (),
) -> dict[str, Any]:
    """What components take, by name; what the recipe cannot work with is refused."""
    recipe.check_one_knowledge_base()
    if upstream:
        check_names("upstream", upstream)
    file = KnowledgeFile(knowledge_base, document_store, graph, graph_schema)
    file.check_recipe(with_upstream(recipe, upstream, {}))
    places = {"knowledge_base": knowledge_base, "document_store": document_store}
    graph_place = {"graph": graph, "graph_schema": graph_schema}
    return {**places, **graph_place, "tenant": tenant, "tenant_required": tenant_required}


def last_step(recipe: str | Recipe, knowledge_base: str | Path | None = None, **shared: Any) -> tuple[Pipeline, str]:
    """
    The pipeline of a recipe as far as its documents, without paths and context, and the name of its last part.

    Parameters are those of `to_pipeline`.
    """
    without = {"context": None, "neighbourhood": None, "paths": None}
    return _assembled(load_recipe(recipe).model_copy(update=without), knowledge_base, **shared)


def open_sockets(pipeline: Pipeline, name: str) -> list[str]:
    """The inputs of a name that nothing is connected to, as `component.input`."""
    return [f"{part}.{name}" for part, sockets in sorted(pipeline.inputs().items()) if name in sockets]


def to_yaml(recipe: str | Recipe = DEFAULT_RECIPE, knowledge_base: str | Path | None = None, **shared: Any) -> str:
    """
    A recipe as a YAML pipeline that ends in a cited context, with the inputs and outputs that Hayhooks wants declared.

    :param recipe: Name of a shipped recipe, path of a YAML file, or a recipe; `multihop` when not given.
    :param knowledge_base: Path of the knowledge base file; `hopweave.db` if there is no graph either.
    :param shared: As in `to_pipeline`.
    :returns: The YAML; `Pipeline.loads` reads it without any setting. A secret is written as the name of its
        environment variable.
    """
    recipe = load_recipe(recipe)
    complete = recipe.model_copy(update={"context": recipe.context or ContextBuilder()})
    if knowledge_base is None and shared.get("graph") is None:
        knowledge_base = "hopweave.db"
    pipeline = to_pipeline(complete, knowledge_base, **shared)
    declared: dict[str, Any] = {
        "inputs": {
            "query": open_sockets(pipeline, "query"),
            **{name: [f"{name}.documents"] for name in shared.get("upstream", ())},
        },
        "outputs": {"context": "context.context"},
    }
    return pipeline.dumps() + yaml.safe_dump(declared, sort_keys=False)


def _assembled(recipe: Recipe, knowledge_base: str | Path | None, **given: Any) -> tuple[Pipeline, str]:
    shared, upstream = _shared(recipe, knowledge_base, **given), given.get("upstream", ())
    tenant, required = shared["tenant"], shared["tenant_required"]
    parts: dict[str, Any] = {
        name: UpstreamRouter(tenant=tenant, tenant_required=required)
        if name in upstream
        else to_component(source, **shared, top_k=recipe.depth(name), filter_policy="defer")
        for name, source in recipe.sources.items()
    }
    wires: list[tuple[str, str]] = []
    limits = _limits(recipe)
    fuse = _add(parts, "fuse", to_component(recipe.fuse, sources=list(recipe.sources), **limits[0]))
    for name, source in recipe.sources.items():
        needs = () if name in upstream else source.needs
        wires += [(f"{name}.documents", f"{fuse}.{name}")]
        wires += [(f"{needed}.documents", f"{name}.{needed}") for needed in needs]
    last = fuse
    for stage, limit in zip(recipe.stages, limits[1:], strict=True):
        name = _add(parts, stage.kind, to_component(stage, **shared, **limit))
        wires.append((f"{last}.documents", f"{name}.documents"))
        last = name
    lines: list[tuple[str, str]] = []  # what goes into the context beside the documents
    if recipe.neighbourhood:
        name = _add(parts, "neighbourhood", to_component(recipe.neighbourhood, **shared))
        wires.append((f"{last}.documents", f"{name}.documents"))
        lines.append((f"{name}.lines", "neighbours"))
    if recipe.paths:
        name = _add(parts, "paths", to_component(recipe.paths, **shared))
        wires.append((f"{last}.documents", f"{name}.documents"))
        lines.append((f"{name}.paths", "paths"))
    if recipe.context:
        name = _add(parts, "context", to_component(recipe.context))
        wires.append((f"{last}.documents", f"{name}.documents"))
        wires += [(sender, f"{name}.{socket}") for sender, socket in lines]
    wires += _limited(recipe, parts, fuse, last)
    wires += _routing(recipe, parts, shared)
    pipeline = Pipeline()
    for name in sorted(parts):  # as YAML has them, so that the order survives
        pipeline.add_component(name, parts[name])
    for sender, receiver in sorted(wires):
        pipeline.connect(sender, receiver)
    return pipeline, last


def _limited(recipe: Recipe, parts: dict[str, Any], fuse: str, last: str) -> list[tuple[str, str]]:
    """A `top_k` for the whole pipeline cuts its last step alone."""
    sender = {**dict.fromkeys(parts, OWN), **{name: name for name in recipe.sources}, last: TOP_K}
    limited = [name for name, part in parts.items() if "top_k" in signature(part.run).parameters]
    depths = {name: recipe.depth(name) for name in recipe.sources}
    limits = _add(parts, "limits", LimitsRouter(depths=depths, gated=recipe.gate is not None))
    return [(f"{limits}.{sender[name]}", f"{name}.top_k") for name in limited] + [
        (f"{limits}.{FILTERS}", f"{fuse}.filters")
    ]


def _routing(recipe: Recipe, parts: dict[str, Any], shared: dict[str, Any]) -> list[tuple[str, str]]:
    """Gate, intent and plan in front of everything that has a question to answer."""
    # where each part's question comes from
    asked = {name: "" for name, part in parts.items() if "query" in part.__haystack_input__._sockets_dict}
    wires: list[tuple[str, str]] = []
    if recipe.intent:
        intent = _add(parts, "intent", to_component(recipe.intent))
        asked[intent] = ""
        wires += [
            (f"{intent}.intent", f"{name}.intent")
            for name, part in parts.items()
            if "intent" in signature(part.run).parameters
        ]
    if recipe.plan:
        planned = [name for name, part in parts.items() if "plan" in signature(part.run).parameters]
        planner = to_component(recipe.plan, sources=list(recipe.sources), **shared)
        plan = _add(parts, "plan", planner)
        asked[plan] = ""
        wires += [(f"{plan}.plan", f"{name}.plan") for name in planned]
        asked |= {name: f"{plan}.{name}" for name in recipe.sources}
        if recipe.plan.restart is not None:
            wires += [(f"{plan}.restart", f"{name}.restart") for name in recipe.sources if _walks(recipe, name)]
    if recipe.gate:
        gate = _add(parts, "gate", to_component(recipe.gate))
        asked = {name: sender or f"{gate}.retrieve" for name, sender in asked.items()}
    return wires + [(sender, f"{name}.query") for name, sender in asked.items() if sender]


def _walks(recipe: Recipe, name: str) -> bool:
    return "restart" in type(recipe.sources[name]).model_fields


def _limits(recipe: Recipe) -> list[dict[str, int]]:
    """How many documents fuser and stages hand on: only the last of them cuts."""
    limits: list[dict[str, int]] = [{} for _ in (recipe.fuse, *recipe.stages)]
    own = getattr(recipe.stages[-1], "top_k", None) if recipe.stages else None
    limits[-1] = {"top_k": recipe.top_k if own is None else min(own, recipe.top_k)}
    return limits


def _add(parts: dict[str, Any], name: str, part: Any) -> str:
    """Add a part under its name, or the first of name_2, name_3 ... that is free."""
    number, free = 1, name
    while free in parts:
        number += 1
        free = f"{name}_{number}"
    parts[free] = part
    return free
