"""The inputs of components: one table with the type, the default and the description of each."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from inspect import Parameter
from typing import Any

from haystack import Document

from haystack_integrations.common.hopweave.questions import Skip, Tenant


@dataclass(frozen=True)
class Input:
    """One input of `run` and `run_async`; `VAR_KEYWORD` stands for inputs named in the constructor."""

    name: str
    type: Any
    description: str
    default: Any = Parameter.empty
    kind: Any = Parameter.POSITIONAL_OR_KEYWORD

    @property
    def parameter(self) -> Parameter:
        """The input as a parameter of a signature."""
        return Parameter(self.name, self.kind, default=self.default, annotation=self.type)


QUERY = Input("query", str, "The question.")
QUERY_IF_ANY = Input("query", str, "The question.", "")
TEXT = Input("text", str, "The text.")
DOCUMENTS = Input("documents", list[Document], "What was retrieved, best first.")
NAMED_DOCUMENTS = Input(
    "documents",
    list[Document] | None,
    "The documents that other components found, each list under the name of its input.",
    kind=Parameter.VAR_KEYWORD,
)
FILTERS = Input(
    "filters", dict[str, Any] | None, "Haystack metadata filters, instead of those given at construction.", None
)
TOP_K = Input("top_k", int | None, "How many documents to return, instead of the number given at construction.", None)
TENANT = Input(
    "tenant",
    Tenant,
    "Metadata values a document must have to be seen at all; narrows those given at construction.",
    None,
)
INTENT = Input("intent", dict[str, Any] | None, "What the question is after, from an `IntentRouter`.", None)
PLAN = Input(
    "plan", dict[str, Any] | None, "The plan of the question, from a `PlanRouter`; it says whether to use paths.", None
)
RESTART = Input(
    "restart", float | None, "Probability to jump back to the seeds, instead of the one given at construction.", None
)
WEIGHTS = Input(
    "weights", dict[str, float] | None, "Weights by source name, instead of those given at construction.", None
)
OVERRIDES = Input(
    "overrides", dict[str, Any] | None, "Other values for parameters of the constructor, by name, for this run.", None
)
SKIP = Input(
    "skip", Skip, "What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.", None
)
NOW = Input("now", datetime | str | None, "The time at which the question is asked; the current time if None.", None)
QUERY_EMBEDDING = Input(
    "query_embedding",
    list[float] | None,
    "The question's vector; if None, the knowledge base's embedder makes it.",
    None,
)
GIVEN_EMBEDDING = Input("query_embedding", list[float], "The question's vector.")


def named_documents(inputs: Sequence[Input]) -> Input | None:
    """The input for documents by name, or None if a component has none."""
    return next((one for one in inputs if one.kind is Parameter.VAR_KEYWORD), None)
