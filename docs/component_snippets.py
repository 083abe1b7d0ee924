"""The runnable snippets of a component's page: for the core, for Haystack, for LlamaIndex, and YAML."""

import ast
import builtins
import doctest
import importlib
import inspect
import re
import textwrap
from types import ModuleType
from typing import Any

import yaml
from haystack.core.serialization import generate_qualified_class_name

from hopweave.component import Component, Embedder, Fuser, Source, Stage
from hopweave.context.context_builder import ContextBuilder
from hopweave.graph.build.builders.builder import GraphBuilder
from hopweave.graph.flow_pruning import FlowPruning
from hopweave.graph.service_neighbourhood import ServiceNeighbourhood
from hopweave.routing.gate import Gate
from hopweave.routing.intent import IntentClassifier
from hopweave.routing.plan import Planner

PLACES: dict[type[Component], str] = {
    Gate: "gate",
    IntentClassifier: "intent",
    Planner: "plan",
    ContextBuilder: "context",
    FlowPruning: "paths",
    ServiceNeighbourhood: "neighbourhood",
}
NEEDS_MODEL = {
    "cross_encoder": "downloads a model at the first call",
    "graph": "needs a file with a trained embedder",
    "onnx": "needs the files of a model",
    "remote": "calls a service",
    "sentence_transformers": "downloads a model at the first call",
}
"""Kinds whose snippets are not run, with the reason."""
REQUIRED = {"knowledge_base": "hopweave.db", "model": "models/multilingual-e5-small", "sources": ["text", "vector"]}
INDEX = """\
from llama_index.core import Settings, VectorStoreIndex
from llama_index.core.schema import TextNode
from llama_index.embeddings.hopweave import StaticEmbedding

Settings.llm = None  # or a language model of yours
index = VectorStoreIndex([TextNode(text="The tide gate opens at six.")], embed_model=StaticEmbedding())
"""
"""A LlamaIndex index, for examples that begin with one."""

BUILDER = {
    "Haystack": """\
from haystack import Document
from haystack_integrations.components.writers.hopweave import KnowledgeBaseWriter

writer = KnowledgeBaseWriter(knowledge_base="connected.db", builders=["{kind}"])  # settled when the file is new
writer.run(documents=[Document(id="skua", content="MV Skua is a ferry.", meta={{"title": "MV Skua"}})])
""",
    "LlamaIndex": """\
from hopweave import KnowledgeBase
from {module} import {name}
from llama_index.core.schema import TextNode
from llama_index.ingestion.hopweave import KnowledgeBaseWriter

with KnowledgeBase.open("connected_nodes.db", builders=[{name}()]) as kb:  # settled when the file is new
    KnowledgeBaseWriter(knowledge_base=kb)([TextNode(text="MV Skua is a ferry.", metadata={{"title": "MV Skua"}})])
""",
}
EMBEDDER = {
    "Haystack": """\
from haystack import Document
from haystack_integrations.components.writers.hopweave import KnowledgeBaseWriter

writer = KnowledgeBaseWriter(knowledge_base="embedded.db", embedder={description})  # settled when the file is new
writer.run(documents=[Document(content="The tide gate opens at six.")])
""",
    "LlamaIndex": """\
from hopweave import KnowledgeBase
from hopweave.vector import {names}
from llama_index.core.schema import TextNode
from llama_index.ingestion.hopweave import KnowledgeBaseWriter

with KnowledgeBase.open("embedded_nodes.db", embedder={made}) as kb:  # settled when the file is new
    KnowledgeBaseWriter(knowledge_base=kb)([TextNode(text="The tide gate opens at six.")])
""",
}
EMBEDDERS = {
    "static": ('"static"', "StaticEmbedder()", "StaticEmbedder"),
    "sentence_transformers": (
        '{"kind": "sentence_transformers", "model": "sentence-transformers/all-MiniLM-L6-v2"}',
        'SentenceTransformerEmbedder(model="sentence-transformers/all-MiniLM-L6-v2")',
        "SentenceTransformerEmbedder",
    ),
    "onnx": (
        '{"kind": "onnx", "model": "models/multilingual-e5-small"}',
        'OnnxEmbedder(model="models/multilingual-e5-small")',
        "OnnxEmbedder",
    ),
    "remote": (
        '{"kind": "remote", "provider": "gemini", "dimensions": 768}',
        'RemoteEmbedder(provider="gemini", dimensions=768)',
        "RemoteEmbedder",
    ),
    "cascade": (
        '{"kind": "cascade", "embedders": [{"kind": "static"}]}',
        "Cascade(embedders=(StaticEmbedder(),))",
        "Cascade, StaticEmbedder",
    ),
}
RECIPE = '''\
from hopweave import Recipe
from llama_index.query_engine.hopweave import load_query_engine

recipe = Recipe.from_yaml("""
{yaml}
""")
engine = load_query_engine(recipe, "hopweave.db")
print(engine.query("Who designed MV Skua?"))
'''


def in_python(component: type[Component]) -> str:
    """The example of the docstring, with everything it needs imported."""
    text = inspect.cleandoc(component.__doc__ or "")
    start = text.find(">>>")
    example = text[start:].strip() if start >= 0 else f">>> {component.__name__}().kind\n{kind_of(component)!r}"
    module = importlib.import_module(component.__module__)
    sources = [one.source for one in doctest.DocTestParser().get_examples(example)]
    return "\n".join([f">>> {line}" for line in imports("".join(sources), module)] + [example])


def imports(source: str, module: ModuleType) -> list[str]:
    """Import lines for the names that code takes from the module it was written in."""
    tree = ast.parse(source)
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    own = {alias.asname or alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom | ast.Import)
           for alias in node.names} | {node.id for node in names if isinstance(node.ctx, ast.Store)}  # fmt: skip
    lines = set()
    for name in {node.id for node in names} - own - set(dir(builtins)):
        thing = getattr(module, name, None)
        if isinstance(thing, ModuleType):
            lines.add(f"import {thing.__name__}" + (f" as {name}" if thing.__name__ != name else ""))
        elif thing is not None:
            lines.add(f"from {getattr(thing, '__module__', module.__name__)} import {name}")
    return sorted(lines)


def in_framework(component: type[Component], framework: str, found: list[tuple[str, str]]) -> str:
    """The examples in the docstrings of the adapters, or how to get there without one of its own."""
    kind = kind_of(component)
    if issubclass(component, GraphBuilder):
        return BUILDER[framework].format(kind=kind, module=component.__module__, name=component.__name__)
    if kind in EMBEDDERS and issubclass(component, Embedder):
        description, made, names = EMBEDDERS[kind]
        return EMBEDDER[framework].format(description=description, made=made, names=names)
    examples = [one for module, name in found for one in example_of(getattr(importlib.import_module(module), name))]
    if not examples:
        return RECIPE.format(yaml=in_recipe(component, whole=True))
    if issubclass(component, Fuser) and framework == "LlamaIndex":
        examples = [one.replace('weights={"text": 2.0}', f'fuse="{kind}"') for one in examples]
    text = "\n\n".join(examples)
    return imports_first(f"{INDEX}\n{text}" if re.search(r"\bindex\b", text) and "index = " not in text else text)


def imports_first(text: str) -> str:
    """Code put together of several pieces, with the imports of all of them on top."""
    lines = text.splitlines()
    on_top = sorted({line for line in lines if line.startswith(("from ", "import "))})
    return "\n".join(
        [*on_top, "", re.sub(r"\n{3,}", "\n\n", "\n".join(one for one in lines if one not in on_top)).strip()]
    )


def example_of(adapter: type) -> list[str]:
    return [
        textwrap.dedent(block).strip()
        for block in re.findall(r"```python\n(.*?)```", inspect.cleandoc(adapter.__doc__ or ""), re.S)
    ]


def in_recipe(component: type[Component], *, whole: bool = False) -> str:
    """The component's place in a recipe, as YAML; `whole` makes it a recipe of its own."""
    kind = kind_of(component)
    data: dict[str, Any] = {"name": kind, "sources": {"text": {"kind": "bm25"}}} if whole else {}
    if issubclass(component, Source):
        data["sources"] = {kind: {"kind": kind}}
    elif issubclass(component, Fuser):
        data["fuse"] = {"kind": kind}
    elif issubclass(component, Stage):
        data["stages"] = [{"kind": kind}]
    elif component in PLACES:
        data[PLACES[component]] = {"kind": kind}
    else:
        return ""
    return yaml.safe_dump(data, sort_keys=False, default_flow_style=None).strip()


def in_haystack_yaml(found: list[tuple[str, str]]) -> str:
    """A Haystack pipeline file with the first adapter that has one."""
    for module, name in found[:1]:
        adapter = getattr(importlib.import_module(module), name)
        required = {
            parameter: REQUIRED[parameter]
            for parameter, one in inspect.signature(adapter.__init__).parameters.items()
            if parameter == "knowledge_base" or (parameter in REQUIRED and one.default is inspect.Parameter.empty)
        }
        part = {"type": generate_qualified_class_name(adapter), "init_parameters": required}
        data = {"components": {module.split(".")[2].removesuffix("s"): part}, "connections": []}
        return yaml.safe_dump(data, sort_keys=False).strip()
    return ""


def kind_of(component: type[Component]) -> str:
    return str(component.model_fields["kind"].default)
