"""A whole recipe as one retriever."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.retrievers import BaseRetriever
from llama_index.hopweave.knowledge import opened
from llama_index.hopweave.retriever_source import check_capabilities, check_retrievers, retriever_source
from llama_index.retrievers.hopweave.pipeline import PipelineRetriever

from hopweave.knowledge import Knowledge
from hopweave.knowledge_base.cache import QueryCache
from hopweave.pipeline import Pipeline, Result
from hopweave.recipe import Recipe, load_recipe
from hopweave.recipes import DEFAULT_RECIPE
from hopweave.search.federated import FederatedPipeline, check_knowledge_bases


class RecipeRetriever(PipelineRetriever):
    """
    Answers a query by running a hopweave recipe over a knowledge base.

    Args:
        knowledge_base: An open knowledge base, the path of its file, or `documents_in(store, graph)`; or several of
            these by name, which are searched as one.
        recipe: Name of a shipped recipe, path of a YAML file, or a recipe; `multihop` when not given.
        retrievers: LlamaIndex retrievers by the name of the recipe's source whose place they take; None for a source
            that is to be left out; not with several knowledge bases.
        optional: Names of those retrievers without which an answer is made if they fail; the response then says so.
            Any other that fails is an error.
        additional_retrievers: LlamaIndex retrievers as further sources, by names that no source of the recipe has; not
            with several knowledge bases.
        similarity_top_k: How many nodes to return; the recipe's own number when not given.
        embed_model: The model that embeds questions, if the file alone cannot say; see `llama_index.hopweave.opened`.
        cache_seconds: How long an answer is kept for when the same is asked again; a change of the knowledge base makes
            it void. None for no cache. Questions with filters are always run. Not with `retrievers` or `documents_in`,
            as nothing says when the nodes of other stores change.
        kwargs: What `PipelineRetriever` takes: `filters`, `tenant`, `tenant_required`, `now`, `stages` ...

    Examples:
        ```python
        from llama_index.retrievers.hopweave import RecipeRetriever

        retriever = RecipeRetriever("hopweave.db")
        nodes = retriever.retrieve("Who built the tide gate?")
        ```

        Several knowledge bases are searched as one: `RecipeRetriever({"handbook": "handbook.db", "tickets": kb})`.
        Nodes then have ids such as `tickets/17`, and their receipts name the knowledge base; the recipe's
        `fuse_knowledge_bases` has weights by name.

    """

    def __init__(
        self,
        knowledge_base: Knowledge | str | Path | Mapping[str, Knowledge | str | Path],
        *,
        recipe: str | Path | Recipe = DEFAULT_RECIPE,
        retrievers: Mapping[str, BaseRetriever | None] | None = None,
        additional_retrievers: Mapping[str, BaseRetriever] | None = None,
        optional: Collection[str] = (),
        similarity_top_k: int | None = None,
        embed_model: BaseEmbedding | None = None,
        cache_seconds: float | None = None,
        **kwargs: Any,
    ) -> None:
        """Open the knowledge base and load the recipe."""
        if cache_seconds is not None and (retrievers or additional_retrievers):
            raise ValueError("cache_seconds: is not allowed with retrievers, as nobody says when their nodes change")
        if cache_seconds is not None and not isinstance(cache_seconds, int | float):
            raise ValueError(f"cache_seconds: must be a number above 0, or None, but got {cache_seconds!r}")
        cache = None if cache_seconds is None else QueryCache[Result](seconds=cache_seconds)
        replaced = with_retrievers(load_recipe(recipe), retrievers or {}, additional_retrievers or {}, optional)
        remedy = "give a retriever of your store in retrievers, or None to leave it out"
        pipeline: Pipeline | FederatedPipeline
        if isinstance(knowledge_base, Mapping):
            if retrievers or additional_retrievers:
                raise ValueError("retrievers: are not allowed with several knowledge bases, as each would ask them")
            check_knowledge_bases(knowledge_base)
            several = {name: opened(one, embed_model) for name, one in knowledge_base.items()}
            for one in several.values():
                check_capabilities(replaced, one, remedy)
            pipeline = FederatedPipeline(replaced, several, cache=cache)
        else:
            knowledge = opened(knowledge_base, embed_model)
            check_capabilities(replaced, knowledge, remedy)
            pipeline = Pipeline(replaced, knowledge, cache=cache)
        super().__init__(pipeline, similarity_top_k=similarity_top_k, **kwargs)


def with_retrievers(
    recipe: Recipe,
    retrievers: Mapping[str, BaseRetriever | None],
    additional: Mapping[str, BaseRetriever] | None = None,
    optional: Collection[str] = (),
) -> Recipe:
    """
    The recipe with some of its sources replaced, and others added, by LlamaIndex retrievers.

    Args:
        recipe: The recipe.
        retrievers: Retrievers by the name of the source whose place they take; None leaves the source out.
        additional: Retrievers by the names of further sources.
        optional: Names of the retrievers that an answer can do without.

    Returns:
        A new recipe.

    """
    given: Mapping[str, Any] = retrievers
    if isinstance(retrievers, Mapping):
        given = {name: one for name, one in retrievers.items() if one is not None}
        _check_names(recipe, retrievers, additional or {})
    check_retrievers(given)
    check_retrievers(additional or {}, "additional_retrievers")
    if unknown := sorted(set(optional) - given.keys() - (additional or {}).keys()):
        names = ", ".join([*given, *(additional or {})]) or "none"
        raise ValueError(f"optional: {unknown[0]!r} is no retriever that was given; these are {names}")
    sources = {}
    for name, retriever in {**given, **(additional or {})}.items():
        old = recipe.sources.get(name)
        terms: dict[str, Any] = {} if old is None else {"deadline_seconds": old.deadline_seconds, "stands_for": old}
        terms["optional"] = name in optional
        leads = any(name in source.needs for source in recipe.sources.values())
        sources[name] = retriever_source(retriever, leads=leads, **terms)
    if sources:
        recipe = Recipe(**{**dict(recipe), "sources": {**recipe.sources, **sources}})
    # not validated again: a source that is left out counts, for those that need it, as one that has found nothing
    left = {name: one for name, one in recipe.sources.items() if name in given or name not in retrievers}
    return recipe.model_copy(update={"sources": left})


def _check_names(recipe: Recipe, retrievers: Mapping[str, Any], additional: Mapping[str, Any]) -> None:
    known = ", ".join(recipe.sources)
    for name in retrievers:
        if name not in recipe.sources:
            raise ValueError(
                f"retrievers: {name!r} is no source of recipe {recipe.name!r}; its sources are {known}; "
                "a further source goes in additional_retrievers"
            )
    for name in additional:
        if name in recipe.sources:
            raise ValueError(
                f"additional_retrievers: {name!r} is a source of recipe {recipe.name!r}; to take its place, "
                "a retriever goes in retrievers"
            )
