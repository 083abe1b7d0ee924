"""Ingestion pipelines that write a knowledge base."""

import asyncio
import copy

import numpy as np
import pytest
from llama_index.core import Document
from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import MetadataMode, NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.ingestion.hopweave import KnowledgeBaseWriter, NoiseFilter
from llama_index.query_engine.hopweave import load_query_engine
from llama_index.retrievers.hopweave import BM25Retriever, FullTextRetriever, RecipeRetriever
from llama_index.vector_stores.hopweave import HopweaveVectorStore

from hopweave import KnowledgeBase
from hopweave.graph.link.linker import Linker
from hopweave.vector.embedders import CallableEmbedder

DOCUMENTS = [
    Document(id_="skua", text="MV Skua was designed by Ingrid Falk.", metadata={"title": "MV Skua"}),
    Document(id_="falk", text="Ingrid Falk was born in Lunn.", metadata={"title": "Ingrid Falk"}),
]


@pytest.fixture
def kb():
    with KnowledgeBase.open() as kb:
        yield kb


def test_writes_documents_vectors_and_graph(kb):
    pipeline = IngestionPipeline(transformations=[SentenceSplitter(), KnowledgeBaseWriter(knowledge_base=kb)])
    nodes = pipeline.run(documents=DOCUMENTS)
    assert kb.ids() == [node.node_id for node in nodes]
    assert len(kb.vectors(kb.ids())) == 2
    assert kb.graph.lookup(["ingrid falk"])
    found = RecipeRetriever(kb).retrieve("Who was born in Lunn?")
    assert found[0].node.ref_doc_id == "falk"
    assert asyncio.run(pipeline.arun(documents=DOCUMENTS)) == nodes
    assert kb.count() == 2


def test_the_cache_never_skips_a_write_that_is_still_to_be_done(kb):
    pipeline = IngestionPipeline(transformations=[SentenceSplitter(), KnowledgeBaseWriter(knowledge_base=kb)])
    pipeline.run(documents=DOCUMENTS)
    kb.delete(kb.ids())
    pipeline.run(documents=DOCUMENTS)
    assert kb.count() == 2


def test_embeddings_made_on_the_way_are_kept(kb, embed_model):
    writer = KnowledgeBaseWriter(knowledge_base=kb, embed_model=embed_model)
    nodes = IngestionPipeline(transformations=[embed_model, writer]).run(documents=copy.deepcopy(DOCUMENTS))
    assert kb.vectors(["skua"])["skua"].tolist() == pytest.approx(nodes[0].embedding)


LONG = " ".join(f"The gate number {number} opens at {number} in the morning." for number in range(60))


def texts(kb):
    return " ".join(hit.text for hit in kb.get(kb.ids()).values())


def test_parts_of_a_document_without_a_title_are_about_what_its_first_part_defines(kb):
    splitter = SentenceSplitter(chunk_size=80, chunk_overlap=0)
    pipeline = IngestionPipeline(transformations=[splitter, KnowledgeBaseWriter(knowledge_base=kb)])
    nodes = pipeline.run(documents=[Document(id_="tide", text=f"Lunn Tide Barrier is a barrier of gates. {LONG}")])
    (link,) = Linker().link("When does the last gate of the Lunn Tide Barrier open?", kb.graph).links
    passages = kb.graph.nodes(np.array(link.about))
    assert len(nodes) > 5
    assert {one.document_id for one in passages} == {node.node_id for node in nodes}


def test_parts_of_a_changed_document_replace_the_old_ones(kb):
    writer = KnowledgeBaseWriter(knowledge_base=kb)
    pipeline = IngestionPipeline(transformations=[SentenceSplitter(chunk_size=80, chunk_overlap=0), writer])
    pipeline.run(documents=[Document(id_="gates", text=LONG), *DOCUMENTS])
    assert kb.count() > 8
    pipeline.run(documents=[Document(id_="gates", text="All gates are closed.")])
    assert kb.count() == 3
    assert "number" not in texts(kb)
    assert writer.delete("falk") == 1
    assert "Lunn" not in texts(kb)


def test_documents_that_are_gone_are_removed(kb, embed_model):
    docstore = SimpleDocumentStore()
    writer = KnowledgeBaseWriter(knowledge_base=kb)
    pipeline = IngestionPipeline(transformations=[SentenceSplitter(), writer], docstore=docstore)
    pipeline.run(documents=DOCUMENTS)
    assert writer.sync(docstore) == 0
    docstore.delete_ref_doc("falk", raise_error=False)
    docstore.delete_document("falk", raise_error=False)
    assert writer.sync(docstore) == 1
    assert [node.source for node in kb.documents()] == ["skua"]


def test_upserts_and_delete_through_the_vector_store(embed_model):
    store = HopweaveVectorStore.open(embed_model=embed_model)
    pipeline = IngestionPipeline(
        transformations=[SentenceSplitter(chunk_size=80, chunk_overlap=0), embed_model],
        docstore=SimpleDocumentStore(),
        vector_store=store,
        docstore_strategy=DocstoreStrategy.UPSERTS_AND_DELETE,
    )
    pipeline.run(documents=[Document(id_="gates", text=LONG), *DOCUMENTS])
    pipeline.run(documents=[Document(id_="gates", text="All gates are closed."), DOCUMENTS[0]])
    kept = texts(store.knowledge_base)
    assert store.knowledge_base.count() == 2
    assert "closed" in kept
    assert "Lunn" not in kept


EXTRACTED = TextNode(
    id_="5d1f",
    text="She sails hourly.",
    metadata={"document_title": "MV Skua", "excerpt_keywords": "ferry, timetable", "file_name": "skua.md", "size": 17},
    excluded_embed_metadata_keys=["file_name", "size"],
)


def test_what_is_embedded_is_what_is_indexed():
    seen = []

    def embed(texts):
        seen.extend(texts)
        return [[1.0, float(len(text))] for text in texts]

    with KnowledgeBase.open(embedder=CallableEmbedder(name="seen", function=embed)) as kb:
        KnowledgeBaseWriter(knowledge_base=kb)([EXTRACTED])
        assert seen == [EXTRACTED.get_content(metadata_mode=MetadataMode.EMBED)]
        for retriever in (BM25Retriever(kb), FullTextRetriever(kb)):
            found = retriever.retrieve("timetable")
            assert [node.text for node in found] == ["She sails hourly."]
            assert retriever.retrieve("17") == []
        assert found[0].node.hash == EXTRACTED.hash
        assert kb.check() == []


@pytest.mark.parametrize("template", ["{metadata_str}\n\n{content}", "{content} ({metadata_str})", "{metadata_str}"])
def test_templates_of_the_user_are_kept(kb, template):
    node = EXTRACTED.model_copy(update={"text_template": template})
    KnowledgeBaseWriter(knowledge_base=kb)([node])
    assert [found.node_id for found in BM25Retriever(kb).retrieve("timetable")] == ["5d1f"]
    assert [found.text for found in BM25Retriever(kb).retrieve("hourly")] == ["She sails hourly."]


def test_extracted_titles_and_file_names_are_titles(kb):
    files = [TextNode(text="Ingrid Falk was born in Lunn.", metadata={"file_name": "Ingrid Falk.md"}), EXTRACTED]
    KnowledgeBaseWriter(knowledge_base=kb)(files)
    for name in ("mv skua", "ingrid falk"):
        assert kb.graph.lookup([name])
    response = load_query_engine("hybrid", kb).query("When does MV Skua sail, and where was Ingrid Falk born?")
    labels = [line.partition(" ")[2] for line in response.metadata["hopweave"]["sources"].splitlines()]
    assert sorted(labels) == ["Ingrid Falk.md", "MV Skua (skua.md)"]


def test_text_alone_is_its_own_heading(kb):
    KnowledgeBaseWriter(knowledge_base=kb)([TextNode(id_="a", text="She sails. \n"), TextNode(id_="b", text="")])
    assert [(one.text, one.heading) for one in kb.documents()] == [("She sails. \n", ""), ("", "")]
    KnowledgeBaseWriter(knowledge_base=kb)([TextNode(id_="a", text="She sails. \n", metadata={"ship": "Skua"})])
    assert next(one.searchable for one in kb.documents() if one.id == "a") == "ship: Skua\n\nShe sails. \n"


def test_noise_is_left_out_with_its_reason(caplog):
    nodes = [TextNode(id_="a", text="hello!"), TextNode(id_="b", text="The tide gate opens at six.")]
    with caplog.at_level("WARNING"):
        assert [node.node_id for node in NoiseFilter()(nodes)] == ["b"]
    assert "node 'a' is left out: it is noise (greeting)" in caplog.text
    assert NoiseFilter(min_characters=100).noise_in(nodes) == {"a": "short", "b": "short"}
    assert [node.node_id for node in asyncio.run(NoiseFilter().acall(nodes))] == ["b"]


def test_a_writer_that_skips_noise_removes_what_was_written_of_it():
    part = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id="chat")}
    before = [
        TextNode(id_="a", text="The ferry sails at noon.", relationships=part),
        TextNode(id_="b", text="A tug boat."),
    ]
    after = [TextNode(id_="c", text="hello!", relationships=part), TextNode(id_="b", text="Do you remember?")]
    fact = TextNode(id_="d", text="The tide gate opens at six.")
    with KnowledgeBase.open() as kb:
        KnowledgeBaseWriter(knowledge_base=kb)(before)
        writer = KnowledgeBaseWriter(knowledge_base=kb, skip_noise=True)
        assert [node.node_id for node in writer([*after, fact])] == ["d"]
        assert writer.skipped == {"c": "greeting", "b": "question_about_memory"}
        assert kb.ids() == ["d"]
        writer([fact])
        assert writer.skipped == {}
