"""What constructors with further keywords take: every parameter by name, for type checkers, editors and the docs."""

from collections.abc import Callable, Iterable, Mapping
from inspect import Parameter, Signature, signature
from typing import Any, Union

from llama_index.core.retrievers import BaseRetriever
from llama_index.query_engine.hopweave.recipe import RecipeQueryEngine, load_query_engine
from llama_index.retrievers.hopweave.fusion import FusionRetriever
from llama_index.retrievers.hopweave.pagerank import PageRankRetriever
from llama_index.retrievers.hopweave.pagerank_pg import PageRankPGRetriever
from llama_index.retrievers.hopweave.pipeline import PipelineRetriever
from llama_index.retrievers.hopweave.recipe import RecipeRetriever
from llama_index.retrievers.hopweave.source import SourceRetriever

from hopweave.component import Fuser, registered
from hopweave.stubs import parameters_of

_FURTHER: dict[Any, Any] = {
    PipelineRetriever: BaseRetriever,
    RecipeRetriever: PipelineRetriever,
    PageRankPGRetriever: PageRankRetriever,
    RecipeQueryEngine: RecipeRetriever,
    load_query_engine: RecipeQueryEngine,
}
"""What the further keywords of a class or function go to."""

_SETTLED = {RecipeQueryEngine: ("stages",), load_query_engine: ("gate",)}
"""Keywords that a class or function gives by itself."""


def signatures(made: Any) -> Mapping[str, Signature] | None:
    """
    What a stub says of a class or function instead of its further keywords.

    Args:
        made: What a package offers.

    Returns:
        The signature by the name of the function; None if there are no such keywords.

    """
    if made not in (FusionRetriever, *_FURTHER) and not _is_source(made):
        return None
    return {"__init__" if isinstance(made, type) else made.__name__: full_signature(made)}


def full_signature(made: Any) -> Signature:
    """
    The signature of a class or function with every parameter that its further keywords stand for.

    Args:
        made: A retriever, a query engine, or a function that makes one.

    Returns:
        The signature; of a class that of its constructor, with `self`.

    """
    own = _signature(made)
    listed = list(own.parameters.values())
    if listed[-1].kind is not Parameter.VAR_KEYWORD:
        return own
    taken = {one.name: one for one in listed[:-1]}
    for one in _further(made):
        if one.name not in _SETTLED.get(made, ()):
            taken.setdefault(one.name, one.replace(kind=Parameter.KEYWORD_ONLY))
    return own.replace(parameters=list(taken.values()))


def _signature(made: Any) -> Signature:
    if not isinstance(made, type):
        return signature(made, eval_str=True)
    init: Callable[..., None] = SourceRetriever.__init__ if _is_source(made) else made.__init__  # type: ignore[misc]
    return signature(init, eval_str=True)


def _is_source(made: Any) -> bool:
    return isinstance(made, type) and issubclass(made, SourceRetriever)


def _further(made: Any) -> Iterable[Parameter]:
    if _is_source(made):
        return _fields(made.source_class)
    if made is FusionRetriever:
        return _of_any_fuser()
    there = full_signature(_FURTHER[made])
    return [one for one in there.parameters.values() if one.default is not Parameter.empty]


def _fields(model: Any) -> list[Parameter]:
    return [one for name, (one, _) in parameters_of(model).items() if name not in ("kind", "top_k")]


def _of_any_fuser() -> list[Parameter]:
    """The parameters of all fusers; one that several have takes what any of them takes."""
    found: dict[str, list[Any]] = {}
    for fuser in registered(Fuser).values():
        for one in _fields(fuser):
            found.setdefault(one.name, []).append(one.annotation)
    return [
        Parameter(name, Parameter.KEYWORD_ONLY, default=..., annotation=Union[tuple(types)])  # noqa: UP007
        for name, types in found.items()
    ]
