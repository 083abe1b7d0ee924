# Written by `make fix`.
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from haystack.dataclasses.document import Document
from haystack.utils.auth import Secret

from haystack_integrations.common.hopweave.derived import CoreComponent
from haystack_integrations.common.hopweave.knowledge_file import OverKnowledge
from hopweave.routing.gate import GateRule
from hopweave.routing.intent import IntentRule

class GateRouter(CoreComponent):
    r"""
    Sends a message on to `retrieve`, or to `skip` if it is a greeting, small talk, a command, or a plain yes or no.

    Only one of the two outputs is given, so whatever is connected to the other does not run. Both carry the message
    without its prefixes; `reason` says why.

    ```python
    from haystack_integrations.components.routers.hopweave import GateRouter

    gate = GateRouter()
    gate.run(query="Good morning!")  # {"skip": "Good morning!", "reason": "greeting needs no retrieval"}
    gate.run(query="Who built the tide gate?")["retrieve"]
    ```
    """

    def __init__(
        self,
        *,
        enabled: bool = True,
        languages: Sequence[str] = ...,
        extra_rules: Sequence[GateRule | dict[str, Any]] = ...,
        min_characters: int = 2,
        min_cjk_characters: int = 2,
        prefixes: Sequence[str] = ...,
    ) -> None:
        r"""
        Create the gate.

        :param enabled: Whether the gate is active; if not, every message is retrieved for.
        :param languages: Languages whose rules apply, in addition to rules without a language.
        :param extra_rules: Your own rules; they are tried before the built-in ones.
        :param min_characters: Shorter messages that are not questions are skipped.
        :param min_cjk_characters: The same limit for messages with Chinese, Japanese or Korean characters.
        :param prefixes: Regular expressions for what to remove from the start of a message.
        """
    def run(self, query: str, overrides: dict[str, Any] | None = None) -> dict[str, Any]:
        r"""
        Judge a message.

        :param query: The question.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :returns: `retrieve` or `skip` with the message without its prefixes, and `reason`.
        """

class IntentRouter(CoreComponent):
    r"""
    Sends a question to the output of its intent; branches of the other intents do not run.

    There is one output per intent, or per group of intents. Besides, `intent` carries all that is known of the intent
    to components that ask for it (`BM25Retriever`, `WeightedJoiner`), whether or not branches are used.

    ```python
    from haystack_integrations.components.routers.hopweave import IntentRouter

    router = IntentRouter(groups={"troubleshooting": ["debugging", "workflow"]})
    result = router.run(query="How do I fix the crash?")
    result["troubleshooting"]  # the question
    result["intent"]["name"]  # "debugging"
    ```
    """

    groups: dict[str, list[str]]
    catch_all: str | None
    def __init__(
        self,
        *,
        enabled: bool = True,
        taxonomy: Literal["eight", "fine"] = "eight",
        extra_rules: Sequence[IntentRule | dict[str, Any]] = ...,
        default: str | None = None,
        weights: Mapping[str, Mapping[Literal["embedding", "text", "graph", "intent_edges"], float]] = ...,
        long_words: int = 10,
        groups: Mapping[str, Sequence[str]] | None = None,
        catch_all: str | None = None,
    ) -> None:
        r"""
        Create the router.

        :param enabled: Whether questions are classified; if not, every question has no intent.
        :param taxonomy: Which of the two rule tables to use.
        :param extra_rules: Your own rules; they are tried first and override built-in rules of the same name.
        :param default: Intent of a short text that no rule matches.
        :param weights: Weights of embedding, text, graph and intent_edges by intent, in place of those of its rule;
            they are scaled to sum to 1.
        :param long_words: A text with more words than this is long.
        :param groups: Names of intents by the name of the output they share; the others have one of their own.
        :param catch_all: Name of the output that all intents share which are in no group; None gives each its own.
        """
    def run(self, query: str) -> dict[str, Any]:
        r"""
        Classify a question.

        :param query: The question.
        :returns: The question under the name of its intent or group, and `intent`.
        """

class LimitsRouter(CoreComponent):
    r"""
    Keeps a `top_k` that is given to a whole pipeline from cutting what its sources find.

    Haystack hands `pipeline.run({"query": …, "top_k": 5})` to every component that has an input `top_k`. Fusion needs
    more than five documents of each source, so in the pipeline of a recipe all get it from here: sources their own
    number, or `top_k` if that is more; the last component `top_k`; all between them None, which leaves them at their
    own number. Filters for the fuser come from here too, so that nothing runs for a message that a gate has stopped.

    ```python
    from haystack_integrations.components.routers.hopweave import LimitsRouter

    router = LimitsRouter(depths={"text": 30, "vector": 30})
    router.run(top_k=5)  # {"text": 30, "vector": 30, "own": None, "top_k": 5, "filters": None}
    ```
    """

    depths: dict[str, int]
    gated: bool
    def run(
        self,
        top_k: int | None = None,
        filters: dict[str, Any] | None = None,
        plan: dict[str, Any] | None = None,
        **gate: str,
    ) -> dict[str, Any]:
        r"""
        Say how many documents each component is to fetch or return.

        :param top_k: How many documents the whole pipeline is to return.
        :param filters: Haystack metadata filters.
        :param plan: The output `plan` of a `PlanRouter`, whose `top_k` counts unless another is given.
        :param gate: `query`, if it is to wait for a gate.
        :returns: A number under the name of each source, None under `own`, and `top_k` and `filters` as they are.
        """
    def __init__(self, *, depths: dict[str, int], gated: bool = False) -> None:
        r"""
        Create the router.

        :param depths: How many documents each source fetches at least, by the name of the source, which becomes an
            output for its retriever's `top_k`.
        :param gated: Whether there is an input `query` to wait for, from a `GateRouter`.
        """

class PlanRouter(OverKnowledge):
    r"""
    Sends a question to those sources that are worth asking; the branches of the others do not run.

    There is one output per source, to be connected to that source's retriever, `restart` for a graph retriever if the
    plan has one, and `plan` with everything. Given a knowledge base or a graph, it counts what the question names
    there.

    ```python
    from haystack_integrations.components.routers.hopweave import PlanRouter

    planner = PlanRouter(sources=["text", "vector", "graph"], skip_graph_when_simple=True)
    result = planner.run(query="Who built the tide gate?")
    sorted(result)  # ["plan", "text", "vector"]
    ```
    """

    sources: list[str]
    tenant: dict[str, Any] | None
    def __init__(
        self,
        *,
        knowledge_base: str | Path | None = None,
        graph: str | Path | Secret | None = None,
        graph_schema: str = "hopweave",
        sources: Sequence[str],
        simple_characters: int = 300,
        simple_entities: int = 2,
        complex_characters: int = 1000,
        complex_entities: int = 5,
        skip_graph_when_simple: bool = False,
        prune_when_complex: bool = True,
        graph_sources: Sequence[str] = ...,
        restart: float | None = None,
        top_k: int | None = None,
        tenant: dict[str, Any] | None = None,
    ) -> None:
        r"""
        Create the planner; a knowledge base or graph is opened on first use.

        :param knowledge_base: Path of the knowledge base file.
        :param graph: Path of a graph file, or URL of a PostgreSQL database (one with a password as a secret), as
            `GraphWriter` writes them. It takes the place of the graph of a knowledge base; retrievers then need
            `document_store` as well.
        :param graph_schema: Schema of the database in which the tables of the graph lie.
        :param sources: The names of the sources: inputs of a joiner, outputs of a router.
        :param simple_characters: A simple question is shorter than this.
        :param simple_entities: A simple question names at most so many entities.
        :param complex_characters: A question this long or longer is complex.
        :param complex_entities: A question that names more entities is complex.
        :param skip_graph_when_simple: Whether simple questions skip the graph sources.
        :param prune_when_complex: Whether paths are pruned for complex questions.
        :param graph_sources: Names of the sources that walk the graph.
        :param restart: Restart probability; None: that of the source.
        :param top_k: How many documents to return; None: that of the recipe.
        :param tenant: Metadata values a document must have for the entities it names to be counted.
        """
    def run(
        self,
        query: str,
        entities: int | None = None,
        tenant: dict[str, Any] | Callable[[], dict[str, Any]] | None = None,
        overrides: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        r"""
        Plan the sources of a question.

        :param query: The question.
        :param entities: How many entities are linked in it; if None, the graph is asked.
        :param tenant: Metadata values a document must have to be seen at all; narrows those given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :returns: The question under the name of each source that is worth asking, `restart` if the plan has one,
            and `plan`.
        """

class UpstreamRouter(CoreComponent):
    r"""
    Hands on what a retriever of yours has found, as far as the tenant may see it.

    In a pipeline that `to_pipeline` makes with `upstream`, one stands for each source whose documents your retrievers
    find: connect them to its input `documents`. If nothing comes in, there are no documents, as for a source that is
    skipped.

    ```python
    from haystack import Document
    from haystack_integrations.components.routers.hopweave import UpstreamRouter

    router = UpstreamRouter(tenant={"customer": "acme"})
    found = [Document(content="MV Skua", meta={"customer": "acme"}), Document(content="MV Plover")]
    len(router.run(query="Which ships?", documents=found)["documents"])  # 1
    ```
    """

    tenant: dict[str, Any] | None
    tenant_required: list[str]
    def __init__(self, *, tenant: dict[str, Any] | None = None, tenant_required: Sequence[str] = ...) -> None:
        r"""
        Create the component; what it needs is opened on first use.

        :param tenant: Metadata values a document must have to be seen at all.
        :param tenant_required: Metadata fields for which every run needs a tenant; one without is refused.
        """
    def run(
        self,
        query: str,
        documents: list[Document] | None = None,
        tenant: dict[str, Any] | Callable[[], dict[str, Any]] | None = None,
    ) -> dict[str, Any]:
        r"""
        Hand on documents.

        :param query: The question.
        :param documents: What was found, best first.
        :param tenant: Metadata values a document must have to be seen at all; narrows those given at construction.
        :returns: `documents`, those that the tenant may see; nothing if none came in.
        """

__all__ = [
    "GateRouter",
    "IntentRouter",
    "LimitsRouter",
    "PlanRouter",
    "UpstreamRouter",
]
