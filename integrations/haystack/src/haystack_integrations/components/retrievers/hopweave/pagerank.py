"""Passages that a walk over the graph finds: the second hop, which shares no word with the question."""

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.common.hopweave.inputs import PLAN, RESTART
from haystack_integrations.components.retrievers.hopweave.source_retriever import GraphRetriever
from hopweave.sources.pagerank import PageRank


@derived(PageRank)
class PageRankRetriever(GraphRetriever):
    """
    Personalised PageRank from what the question names to the passages it leads to. Score = sqrt(share / best share).

    Seeds are the entities the question names, the passages about them, and the best documents of the sources in
    `seeds_from`, each of which is an input of that name: connect any retriever to it. Without any seed there are no
    documents. The graph is that of a knowledge base file, or with `graph` one that `GraphWriter` has written to a file
    or to PostgreSQL; the documents may live in any document store.

    ```python
    from haystack_integrations.components.retrievers.hopweave import PageRankRetriever

    retriever = PageRankRetriever(knowledge_base="hopweave.db", seeds_from=["text"])
    documents = retriever.run(query="Who built the tide gate?", text=[])["documents"]
    ```
    """

    inputs = (*GraphRetriever.inputs, RESTART, PLAN)
