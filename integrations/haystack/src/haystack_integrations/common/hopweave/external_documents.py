"""A graph of ours over documents that live in any Haystack document store."""

from haystack.document_stores.types import DocumentStore

from haystack_integrations.common.hopweave.documents import to_hit
from hopweave.graph.external_documents import ExternalDocuments
from hopweave.graph.port import GraphPort
from hopweave.hit import Hit


def documents_in(store: DocumentStore, graph: GraphPort) -> ExternalDocuments:
    """
    Documents that a store holds, under the graph that connects them.

    :param store: Any document store.
    :param graph: The graph; its passages have the ids of the documents.
    :returns: What a graph source takes in place of a knowledge base.
    """

    def fetch(ids: list[str]) -> list[Hit]:
        found = store.filter_documents({"field": "id", "operator": "in", "value": ids}) if ids else []
        return [to_hit(document)._replace(score=None) for document in found]

    return ExternalDocuments(graph, fetch)
