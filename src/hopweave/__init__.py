"""hopweave: multi-hop graph evidence woven into hybrid retrieval.

Names load when first used, so `import hopweave` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hopweave.document import Document
    from hopweave.errors import HopweaveError
    from hopweave.graph_store.store import GraphStore
    from hopweave.hit import Hit, Receipt
    from hopweave.knowledge_base.cache import QueryCache
    from hopweave.knowledge_base.store import KnowledgeBase
    from hopweave.metadata.tenants import every_tenant, tenant
    from hopweave.pipeline import Pipeline, Result
    from hopweave.query import Query
    from hopweave.readers.files import read_documents, register_reader
    from hopweave.recipe import Recipe, load_recipe, register
    from hopweave.report.page import html_report
    from hopweave.search.federated import FederatedPipeline

__version__ = "0.1.0"

__all__ = [
    "Document",
    "FederatedPipeline",
    "GraphStore",
    "Hit",
    "HopweaveError",
    "KnowledgeBase",
    "Pipeline",
    "Query",
    "QueryCache",
    "Receipt",
    "Recipe",
    "Result",
    "every_tenant",
    "html_report",
    "load_recipe",
    "read_documents",
    "register",
    "register_reader",
    "tenant",
]

_HOMES = {
    "document": ("Document",),
    "errors": ("HopweaveError",),
    "graph_store.store": ("GraphStore",),
    "hit": ("Hit", "Receipt"),
    "knowledge_base.cache": ("QueryCache",),
    "readers.files": ("read_documents", "register_reader"),
    "knowledge_base.store": ("KnowledgeBase",),
    "metadata.tenants": ("every_tenant", "tenant"),
    "pipeline": ("Pipeline", "Result"),
    "query": ("Query",),
    "recipe": ("Recipe", "load_recipe", "register"),
    "report.page": ("html_report",),
    "search.federated": ("FederatedPipeline",),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"hopweave.{module}"), name)
    raise AttributeError(f"module 'hopweave' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
