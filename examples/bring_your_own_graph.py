"""Walk a graph that you already have: a networkx graph, or a LlamaIndex property graph.

    python examples/bring_your_own_graph.py

hopweave can build a graph from texts, but it need not. Here it knows nothing but a dozen relations that somebody else
found: you, a domain model, an LLM. The page that answers the question shares hardly a word with it; the relations lead
there.
"""

from pathlib import Path

import networkx as nx
from llama_index.core import PropertyGraphIndex
from llama_index.core.graph_stores import SimplePropertyGraphStore
from llama_index.core.graph_stores.types import TRIPLET_SOURCE_KEY, EntityNode, Relation
from llama_index.core.llms import MockLLM
from llama_index.core.schema import TextNode
from llama_index.embeddings.hopweave import StaticEmbedding
from llama_index.retrievers.hopweave import PageRankPGRetriever

from hopweave import Document, KnowledgeBase, read_documents
from hopweave.graph.build.networkx_graph import from_networkx

PAGES = list(read_documents(Path(__file__).parent / "tern_isles" / "corpus.jsonl"))
QUESTION = "How did people make a living in the place where the designer of MV Skua was born?"
TOP_K = 8
NEEDED = ("mv-skua", "ingrid-falk", "lunn")
FACTS = [  # the page that says so, and what it says
    ("mv-skua", "MV Skua", "designed_by", "Ingrid Falk"),
    ("mv-skua", "MV Skua", "driven_by_engines_of", "Tobias Rendall"),
    ("mv-skua", "MV Skua", "built_at", "Stennick"),
    ("mv-fulmar", "MV Fulmar", "sails_to", "Stennick"),
    ("ingrid-falk", "Ingrid Falk", "born_in", "Lunn"),
    ("ingrid-falk", "Ingrid Falk", "worked_at", "Stennick"),
    ("tobias-rendall", "Tobias Rendall", "moved_to", "Stennick"),
    ("tobias-rendall", "Tobias Rendall", "lost_his_workshop_in", "Ropewalk Fire"),
    ("ropewalk-fire", "Ropewalk Fire", "destroyed_the_works_of", "Nan Sollas"),
    ("lunn", "Lunn", "lies_on", "Hallin"),
    ("hallin", "Hallin", "has", "Hallin Head Light"),
    ("hallin-head-light", "Hallin Head Light", "has_its_lens_from", "Signe Aune"),
]


def your_networkx_graph() -> nx.DiGraph:
    """Entities are plain nodes; a node with `document_id` is the passage of that document."""
    graph = nx.DiGraph()
    for _, subject, relation, target in FACTS:
        graph.add_edge(subject, target, type=relation)
    for page in PAGES:
        graph.add_node(page.id, document_id=page.id, name=page.title)
        graph.add_edge(page.id, page.title, type="about")
    return graph


def your_property_graph() -> SimplePropertyGraphStore:
    """As an extractor of LlamaIndex leaves it: chunks, entities, and relations that know their chunk."""
    store = SimplePropertyGraphStore()
    store.upsert_llama_nodes([TextNode(id_=page.id, text=page.text) for page in PAGES])
    for key, subject, relation, target in FACTS:
        source = {TRIPLET_SOURCE_KEY: key}
        store.upsert_nodes([EntityNode(name=name, properties=source) for name in (subject, target)])
        store.upsert_relations([Relation(label=relation, source_id=subject, target_id=target, properties=source)])
    return store


def in_networkx() -> None:
    with KnowledgeBase.open(builders=[]) as kb:  # without builders, nothing is made of the texts
        kb.add(Document(page.id, page.text, {"title": page.title}) for page in PAGES)
        hits = kb.search(QUESTION, recipe="hybrid", top_k=TOP_K).hits
        show("Without a graph, words and vectors find", {hit.id: "" for hit in hits})
        kb.contribute([from_networkx(your_networkx_graph(), "my graph")])
        hits = kb.search(QUESTION, recipe="multihop", top_k=TOP_K).hits
    show("With the networkx graph", {hit.id: hit.path for hit in hits})


def in_property_graph() -> None:
    store = your_property_graph()
    index = PropertyGraphIndex.from_existing(store, llm=MockLLM(), embed_model=StaticEmbedding())
    nodes = index.as_retriever(sub_retrievers=[PageRankPGRetriever(store, similarity_top_k=TOP_K)]).retrieve(QUESTION)
    receipts = {node.node_id: node.metadata["hopweave"]["receipts"][0] for node in nodes}
    show("With the property graph index", {key: one["details"].get("path") for key, one in receipts.items()})


def show(title: str, paths: dict[str, str | None]) -> None:
    print(f"\n{title}:")
    for rank, (key, path) in enumerate(paths.items(), start=1):
        print(f"  {rank} {'*' if key in NEEDED else ' '} {key:<22}{path or ''}".rstrip())


def main() -> None:
    print(f"{QUESTION}\nNeeded, and marked *: {', '.join(NEEDED)}")
    in_networkx()
    in_property_graph()


if __name__ == "__main__":
    main()
