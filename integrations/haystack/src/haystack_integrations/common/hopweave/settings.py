"""The parameters of constructors that are not the core's: one table with the type, default and description of each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import Parameter
from pathlib import Path
from typing import Any

from haystack.document_stores.types import DocumentStore, FilterPolicy
from haystack.utils import Secret

from haystack_integrations.common.hopweave.graph_location import Graph
from haystack_integrations.common.hopweave.inputs import Input
from haystack_integrations.common.hopweave.parameters import check_names, check_secret
from haystack_integrations.common.hopweave.questions import as_filter_policy
from hopweave.metadata.tenants import checked_fields, checked_tenant
from hopweave.recipes import DEFAULT_RECIPE
from hopweave.scores import first


def _as_given(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class Setting(Input):
    """
    One parameter of a constructor, which the component keeps under its name.

    `kept` says what is kept of a value and raises an error for one that is not allowed; what `leads` comes before the
    parameters of the core.
    """

    kind: Any = Parameter.KEYWORD_ONLY
    kept: Callable[[Any], Any] = _as_given
    leads: bool = False


def _as_written(place: Any) -> Any:
    """A path as Haystack writes it to YAML; a secret stays one, and what is no place is refused later."""
    if isinstance(place, Mapping):
        return {name: _as_written(one) for name, one in place.items()}
    return str(place) if isinstance(place, Path) else place


def as_list(values: Any) -> list[Any] | None:
    """A sequence as a component keeps it."""
    return None if values is None else list(values)


def _distinct(parameter: str) -> Callable[[Any], list[str]]:
    def distinct(names: Any) -> list[str]:
        check_names(parameter, names)
        return list(names)

    return distinct


def _count(top_k: int | None) -> int | None:
    first([], top_k)
    return top_k


KNOWLEDGE_BASE = Setting(
    "knowledge_base", str | Path | None, "Path of the knowledge base file.", None, kept=_as_written, leads=True
)
KNOWLEDGE_BASE_FILE = replace(KNOWLEDGE_BASE, type=str | Path, default=Parameter.empty)
KNOWLEDGE_BASES = Setting(
    "knowledge_base",
    str | Path | Mapping[str, str | Path] | None,
    "Path of the knowledge base file, or several paths by name, which are searched as one; not with `document_store`, "
    "`graph` or `upstream`.",
    None,
    kept=_as_written,
    leads=True,
)
DOCUMENT_STORE = Setting(
    "document_store",
    DocumentStore | None,
    "Where the documents live, if not in the file; they go by the same ids. A `HopweaveDocumentStore` needs no path.",
    None,
    leads=True,
)
GRAPH = Setting(
    "graph",
    Graph | None,
    "Path of a graph file, or URL of a PostgreSQL database (one with a password as a secret), as `GraphWriter` writes "
    "them. It takes the place of the graph of a knowledge base; retrievers then need `document_store` as well.",
    None,
    kept=_as_written,
    leads=True,
)
GRAPH_SCHEMA = Setting(
    "graph_schema", str, "Schema of the database in which the tables of the graph lie.", "hopweave", leads=True
)
SOURCES = Setting(
    "sources",
    Sequence[str],
    "The names of the sources: inputs of a joiner, outputs of a router.",
    kept=_distinct("sources"),
    leads=True,
)
RECIPE = Setting(
    "recipe", str, "Name of a shipped recipe, or path of a YAML file; `multihop` when not given.", DEFAULT_RECIPE
)
UPSTREAM = Setting(
    "upstream",
    Sequence[str],
    "Names of the recipe's sources whose documents other components find: each is an input of that name, to which any "
    "retriever can be connected.",
    (),
    kept=lambda names: _distinct("upstream")(names) if names else [],
)
OWN_TOP_K = Setting("top_k", int | None, "How many documents to return, all of them when not given.", None, kept=_count)
OWN_FILTERS = Setting("filters", dict[str, Any] | None, "Haystack metadata filters.", None)
FILTER_POLICY = Setting(
    "filter_policy",
    str | FilterPolicy,
    "Whether filters given to `run` replace these (`replace`), are merged in (`merge`), or are left to a later "
    "component (`defer`): fetch until `top_k` documents pass, and hand out the others too.",
    FilterPolicy.REPLACE,
    kept=lambda policy: as_filter_policy(policy, defer=True),
)
OWN_TENANT = Setting(
    "tenant",
    dict[str, Any] | None,
    "Metadata values a document must have to be seen at all.",
    None,
    kept=checked_tenant,
)
TENANT_REQUIRED = Setting(
    "tenant_required",
    Sequence[str],
    "Metadata fields for which every run needs a tenant; one without is refused.",
    (),
    kept=lambda fields: list(checked_fields(fields)),
)
FLAT_SCORES = Setting(
    "flat_scores",
    bool,
    "Whether the meta of documents has the score of every step: `dense_score`, `rrf_score` …",
    False,
)


def api_key(variable: str) -> Setting:
    """The key of a service; `variable` is the environment variable that an error has as an example."""
    text = "The key; that in the provider's usual environment variable if neither this nor `url` is given."
    return Setting("api_key", Secret | None, text, None, kept=lambda given: check_secret(given, variable))
