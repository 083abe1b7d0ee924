"""The stock pipelines of Haystack and LlamaIndex, as their documentation sets them up, on vectors that are given.

Each function takes the judged set, the vectors of its passages and an embedder, and gives a function from a question
and its vector to ranked ids of passages.
"""

from collections.abc import Callable

import numpy as np
from judging import JudgedSet

Ask = Callable[[str, np.ndarray], list[str]]

RETURNED = 10
FETCHED = 50  # per source, as our recipe `hybrid` does
GRAPH_NODES, GRAPH_DEPTH, GRAPH_TRIPLES = 10, 1, 100  # the defaults (4, 1, 30) often give fewer than 8 passages


def haystack_hybrid(judged: JudgedSet, vectors: np.ndarray, _embedder) -> Ask:
    """BM25 and vectors, joined by reciprocal rank."""
    from haystack import Document, Pipeline
    from haystack.components.joiners import DocumentJoiner
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    store.write_documents(
        [
            Document(id=one.id, content=one.searchable, meta=dict(one.metadata), embedding=vector.tolist())
            for one, vector in zip(judged.documents, vectors, strict=True)
        ]
    )
    pipeline = Pipeline()
    pipeline.add_component("bm25", InMemoryBM25Retriever(store, top_k=FETCHED))
    pipeline.add_component("embedding", InMemoryEmbeddingRetriever(store, top_k=FETCHED))
    pipeline.add_component("joiner", DocumentJoiner(join_mode="reciprocal_rank_fusion", top_k=RETURNED))
    pipeline.connect("bm25", "joiner")
    pipeline.connect("embedding", "joiner")

    def ask(question: str, vector: np.ndarray) -> list[str]:
        found = pipeline.run({"bm25": {"query": question}, "embedding": {"query_embedding": vector.tolist()}})
        return [document.id for document in found["joiner"]["documents"]]

    return ask


def llamaindex_fusion(judged: JudgedSet, vectors: np.ndarray, embedder) -> Ask:
    """BM25 and vectors, fused by reciprocal rank; one query, no LLM."""
    from llama_index.core import VectorStoreIndex
    from llama_index.core.llms import MockLLM
    from llama_index.core.retrievers import QueryFusionRetriever
    from llama_index.core.schema import QueryBundle
    from llama_index.retrievers.bm25 import BM25Retriever

    nodes = _nodes(judged, vectors)
    index = VectorStoreIndex(nodes, embed_model=_embed_model(embedder))
    retriever = QueryFusionRetriever(
        [
            BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=FETCHED),
            index.as_retriever(similarity_top_k=FETCHED),
        ],
        llm=MockLLM(),
        mode="reciprocal_rerank",
        similarity_top_k=RETURNED,
        num_queries=1,
        use_async=False,
    )
    return lambda question, vector: [
        found.node.node_id for found in retriever.retrieve(QueryBundle(question, embedding=vector.tolist()))
    ]


def llamaindex_property_graph(judged: JudgedSet, vectors: np.ndarray, embedder) -> Ask:
    """Triples around the entities nearest to the question, and the passages they were taken from."""
    from llama_index.core import PropertyGraphIndex
    from llama_index.core.graph_stores.types import KG_NODES_KEY, KG_RELATIONS_KEY, EntityNode, Relation
    from llama_index.core.indices.property_graph import VectorContextRetriever
    from llama_index.core.llms import MockLLM
    from llama_index.core.schema import QueryBundle, TransformComponent

    class GivenTriples(TransformComponent):
        """Puts the triples where an extractor with an LLM would."""

        def __call__(self, nodes, **_):
            for node in nodes:
                stated = [triple for triple in judged.triples.get(node.node_id, ()) if _is_triple(triple)]
                entities = {name: EntityNode(name=name) for first, _, last in stated for name in (first, last)}
                node.metadata[KG_NODES_KEY] = list(entities.values())
                node.metadata[KG_RELATIONS_KEY] = [
                    Relation(label=label, source_id=entities[first].id, target_id=entities[last].id)
                    for first, label, last in stated
                ]
            return nodes

    model = _embed_model(embedder)
    index = PropertyGraphIndex(
        _nodes(judged, vectors), llm=MockLLM(), kg_extractors=[GivenTriples()], embed_model=model, use_async=False
    )
    retriever = VectorContextRetriever(
        index.property_graph_store,
        embed_model=model,
        vector_store=index.vector_store,
        similarity_top_k=GRAPH_NODES,
        path_depth=GRAPH_DEPTH,
        limit=GRAPH_TRIPLES,
    )

    def ask(question: str, vector: np.ndarray) -> list[str]:
        found = retriever.retrieve(QueryBundle(question, embedding=vector.tolist()))
        return list(dict.fromkeys(one.node.node_id for one in found))[:RETURNED]

    return ask


def _nodes(judged: JudgedSet, vectors: np.ndarray) -> list:
    from llama_index.core.schema import TextNode

    return [
        TextNode(id_=one.id, text=one.searchable, embedding=vector.tolist())
        for one, vector in zip(judged.documents, vectors, strict=True)
    ]


def _embed_model(embedder):
    from llama_index.core.embeddings import BaseEmbedding

    class Given(BaseEmbedding):
        """The vectors of the benchmark, for LlamaIndex."""

        def _get_text_embedding(self, text: str) -> list[float]:
            return embedder.embed([text])[0].tolist()

        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            return embedder.embed(texts).tolist()

        _get_query_embedding = _get_text_embedding

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embedding(query)

    return Given(model_name=embedder.model_name, embed_batch_size=2048)


def _is_triple(triple) -> bool:
    return len(triple) == 3 and all(isinstance(part, str) and part.strip() for part in triple)
