# Written by `make fix`.
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from haystack.dataclasses.document import Document
from haystack.utils.auth import Secret

from haystack_integrations.common.hopweave.derived import CoreComponent
from haystack_integrations.components.builders.hopweave.graph_reader import GraphReader

class ContextBuilder(CoreComponent):
    r"""
    Packs documents into a context with numbered citations that never exceeds its budget.

    Documents go in whole, in their order; the one that no longer fits is cut at the end of a sentence and is the last.
    All outputs are text or plain data, so a pipeline that ends here can be served as an MCP tool.

    ```python
    from haystack import Document
    from haystack_integrations.components.builders.hopweave import ContextBuilder

    builder = ContextBuilder(budget_tokens=500)
    document = Document(id="skua", content="The Skua sails hourly.", meta={"title": "MV Skua"})
    result = builder.run(documents=[document], query="When does the Skua sail?")
    result["context"]  # "[1] MV Skua\nThe Skua sails hourly."
    ```
    """

    def __init__(
        self,
        *,
        budget_tokens: int = 2000,
        header: str = "[{number}] {title}\n",
        separator: str = "\n\n",
        paths_header: str = "Connections:",
        paths_share: float = 0.25,
        source_field: str = "source",
        type_order: Sequence[str] = ...,
        type_field: str = "type",
        counter: Literal["approximate", "words", "characters", "tiktoken"] = "approximate",
        encoding: str = "cl100k_base",
    ) -> None:
        r"""
        Create the builder.

        :param budget_tokens: The context is never longer than this.
        :param header: Before each passage: number, title, source, id.
        :param separator: Between passages.
        :param paths_header: Before the paths found in the graph.
        :param paths_share: Share of the budget that paths may take.
        :param source_field: Metadata field that names the source.
        :param type_order: Types whose documents go first, in this order, such as agent, skill, command and hook;
            those of other types follow. Within a type documents keep their order; without types, all do.
        :param type_field: Metadata field that names the type.
        :param counter: How tokens are counted.
        :param encoding: Vocabulary for the counter tiktoken.
        """
    def run(
        self,
        documents: list[Document],
        query: str = "",
        paths: list[str] | None = None,
        neighbours: list[str] | None = None,
        overrides: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        r"""
        Build the context.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param paths: Connections found in the graph as lines of text, best last.
        :param neighbours: Who calls whom as lines of text, best last; they go before the paths.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :returns: `context`, a `prompt` that asks to answer from it and to cite it, the list of `sources` and the
            same as `citations`, the length in `tokens`, and the ids of documents that were `dropped`.
        """

class ExtractiveAnswerBuilder(CoreComponent):
    r"""
    Answers with the sentences that cover most of the question's words, rare words counting more, each cited.

    All outputs are text or plain data, so a pipeline that ends here can be served as an MCP tool.

    ```python
    from haystack import Document
    from haystack_integrations.components.builders.hopweave import ExtractiveAnswerBuilder

    document = Document(id="skua", content="The Skua is red. The Skua sails hourly.")
    result = ExtractiveAnswerBuilder(max_sentences=1).run(query="When does the Skua sail?", documents=[document])
    result["answer"]  # "The Skua sails hourly. [1]"
    ```
    """

    def __init__(self, *, max_sentences: int = 3, min_gain: float = 0.1, max_characters: int = 600) -> None:
        r"""
        Create the builder.

        :param max_sentences: Maximum number of sentences in the answer.
        :param min_gain: Sentences with a lower gain are left out.
        :param max_characters: Longer sentences (tables, code) are not quoted.
        """
    def run(self, query: str, documents: list[Document], overrides: dict[str, Any] | None = None) -> dict[str, Any]:
        r"""
        Answer a question from documents.

        :param query: The question.
        :param documents: What was retrieved, best first.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :returns: `answer` as text with a number after each sentence that counts the documents from 1, its `quotes`,
            and the list of `sources`.
        """

class FlowPruningBuilder(GraphReader):
    r"""
    Finds the paths through the graph that connect the best documents, and keeps the most reliable ones.

    flow = product over the edges of decay · share of the edge. reliability = 0.6 · mean score of the nodes + 0.4 ·
    flow. Its output `paths` fits the input of that name of `ContextBuilder`, its input `plan` the output of that
    name of `PlanRouter`.

    ```python
    from haystack import Document
    from haystack_integrations.components.builders.hopweave import FlowPruningBuilder

    builder = FlowPruningBuilder(knowledge_base="hopweave.db", min_hits=2)
    documents = [Document(id="skua", score=1.0), Document(id="yard", score=0.5)]
    paths = builder.run(documents=documents)["paths"]
    ```
    """

    def __init__(
        self,
        *,
        knowledge_base: str | Path | None = None,
        graph: str | Path | Secret | None = None,
        graph_schema: str = "hopweave",
        max_endpoints: int = 8,
        max_hops: int = 4,
        threshold: float = 0.01,
        decay: float = 0.8,
        top_k: int = 15,
        min_hits: int = 5,
        found_by: str | None = None,
        time_budget_seconds: float = 10.0,
        edge_type_weights: Mapping[str, float] = ...,
        tenant: dict[str, Any] | None = None,
    ) -> None:
        r"""
        Create the builder; the file is opened on first use.

        :param knowledge_base: Path of the knowledge base file.
        :param graph: Path of a graph file, or URL of a PostgreSQL database (one with a password as a secret), as
            `GraphWriter` writes them. It takes the place of the graph of a knowledge base; retrievers then need
            `document_store` as well.
        :param graph_schema: Schema of the database in which the tables of the graph lie.
        :param max_endpoints: How many of the best documents paths begin and end at.
        :param max_hops: The longest path.
        :param threshold: A branch that carries less flow ends.
        :param decay: What is left of the flow after each hop.
        :param top_k: How many paths to keep.
        :param min_hits: With fewer documents than this there is nothing to prune.
        :param found_by: Kind of the source that must have returned so many; None counts the documents there are.
        :param time_budget_seconds: Best so far after this time.
        :param edge_type_weights: Weights of edge types that differ from the usual ones.
        :param tenant: Metadata values a document must have to be seen at all.
        """
    def run(
        self,
        documents: list[Document],
        plan: dict[str, Any] | None = None,
        top_k: int | None = None,
        tenant: dict[str, Any] | Callable[[], dict[str, Any]] | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
    ) -> dict[str, Any]:
        r"""
        Find the paths between documents.

        :param documents: What was retrieved, best first.
        :param plan: The plan of the question, from a `PlanRouter`; it says whether to use paths.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param tenant: Metadata values a document must have to be seen at all; narrows those given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `paths` as lines of text, best last; the same as `details`, best first; the `document_ids` on
            them; and whether the search `finished` in time.
        """

class NeighbourhoodBuilder(GraphReader):
    r"""
    Tells what documents point to in the graph, what points to them, and the edges that say so.

    ```python
    from haystack import Document
    from haystack_integrations.components.builders.hopweave import NeighbourhoodBuilder

    builder = NeighbourhoodBuilder(knowledge_base="hopweave.db")
    result = builder.run(documents=[Document(id="skua")])
    names = [node["name"] for node in result["outgoing"]]
    ```
    """

    edge_types: list[str] | None
    def __init__(
        self,
        *,
        knowledge_base: str | Path | None = None,
        graph: str | Path | Secret | None = None,
        graph_schema: str = "hopweave",
        tenant: dict[str, Any] | None = None,
        edge_types: Sequence[str] | None = None,
    ) -> None:
        r"""
        Create the builder; the file is opened on first use.

        :param knowledge_base: Path of the knowledge base file.
        :param graph: Path of a graph file, or URL of a PostgreSQL database (one with a password as a secret), as
            `GraphWriter` writes them. It takes the place of the graph of a knowledge base; retrievers then need
            `document_store` as well.
        :param graph_schema: Schema of the database in which the tables of the graph lie.
        :param tenant: Metadata values a document must have to be seen at all.
        :param edge_types: Only edges of these types; None for all.
        """
    def run(
        self,
        documents: list[Document],
        edge_types: list[str] | None = None,
        tenant: dict[str, Any] | Callable[[], dict[str, Any]] | None = None,
    ) -> dict[str, Any]:
        r"""
        Look around documents.

        :param documents: What was retrieved, best first.
        :param edge_types: Only edges of these types, instead of those given at construction.
        :param tenant: Metadata values a document must have to be seen at all; narrows those given at construction.
        :returns: The nodes that are `outgoing` and `incoming`, and the `edges`, as plain data.
        """

class ServiceNeighbourhoodBuilder(GraphReader):
    r"""
    Looks around the services that documents are about. Its output `lines` fits the input `neighbours` of
    `ContextBuilder`.

    ```python
    from haystack import Document
    from haystack_integrations.components.builders.hopweave import ServiceNeighbourhoodBuilder

    builder = ServiceNeighbourhoodBuilder(knowledge_base="hopweave.db")
    lines = builder.run(documents=[Document(id="skua")])["lines"]
    ```
    """

    def __init__(
        self,
        *,
        knowledge_base: str | Path | None = None,
        graph: str | Path | Secret | None = None,
        graph_schema: str = "hopweave",
        node_kinds: Sequence[str] = ...,
        edge_types: Sequence[str] | None = ...,
        service_fields: Sequence[str] = ...,
        tenant: dict[str, Any] | None = None,
    ) -> None:
        r"""
        Create the builder; the file is opened on first use.

        :param knowledge_base: Path of the knowledge base file.
        :param graph: Path of a graph file, or URL of a PostgreSQL database (one with a password as a secret), as
            `GraphWriter` writes them. It takes the place of the graph of a knowledge base; retrievers then need
            `document_store` as well.
        :param graph_schema: Schema of the database in which the tables of the graph lie.
        :param node_kinds: Kinds of the nodes to look around.
        :param edge_types: Edges that count; None for all of them.
        :param service_fields: Metadata fields with the service of a document, to tell whether the graph lacks
            services.
        :param tenant: Metadata values a document must have to be seen at all.
        """
    def run(
        self,
        documents: list[Document],
        tenant: dict[str, Any] | Callable[[], dict[str, Any]] | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
    ) -> dict[str, Any]:
        r"""
        Look around the services of documents.

        :param documents: What was retrieved, best first.
        :param tenant: Metadata values a document must have to be seen at all; narrows those given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: The calls as `lines` of text, best last, and the `neighbourhood` by service as plain data; if the
            graph has no services though the documents name some, `failures` says what to do.
        """

__all__ = [
    "ContextBuilder",
    "ExtractiveAnswerBuilder",
    "FlowPruningBuilder",
    "NeighbourhoodBuilder",
    "ServiceNeighbourhoodBuilder",
]
