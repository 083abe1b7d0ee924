"""Ingestion pipelines that run again: after each run, the file equals one that is built from what is there now."""

import random

import pytest
from llama_index.core import Document, MockEmbedding, SimpleDirectoryReader, StorageContext, VectorStoreIndex
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.readers.base import BaseReader
from llama_index.core.schema import TextNode
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.ingestion.hopweave import GraphWriter, KnowledgeBaseWriter
from llama_index.vector_stores.hopweave import HopweaveVectorStore
from llama_index.vector_stores.qdrant import QdrantVectorStore
from qdrant_client import QdrantClient

from hopweave import KnowledgeBase
from hopweave.errors import KnowledgeBaseError
from hopweave.graph.build.resolve import Resolved

WORDS = ("ferry", "gate", "Skua", "Lunn", "Harris", "yard", "Falk", "tide", "sails", "opens", "built", "in", "of", "at")


def written(folder, name, text):
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def read(folder, **options):
    return SimpleDirectoryReader(folder, recursive=True, **options).load_data()


def pipeline_of(kb, **options):
    splitter = SentenceSplitter(chunk_size=80, chunk_overlap=0)
    return IngestionPipeline(transformations=[splitter, KnowledgeBaseWriter(knowledge_base=kb)], **options)


def texts(kb):
    return sorted((one.text, one.metadata["file_path"]) for one in kb.documents())


class Sections(BaseReader):
    """A document for each section, as LlamaIndex's own readers of Markdown, PDF and tables give several."""

    def load_data(self, file, extra_info=None):
        return [Document(text=part, metadata=extra_info or {}) for part in file.read_text().split("# ") if part]


@pytest.mark.parametrize("splits", [True, False])
def test_files_that_are_read_again_stay_as_many(tmp_path, splits):
    for name in ("port/README.txt", "ferry/README.txt", "ferry/yard.txt"):
        written(tmp_path / "files", name, f"The {name} opens at six.")
    with KnowledgeBase.open(tmp_path / "kb.db") as kb:
        writer = KnowledgeBaseWriter(knowledge_base=kb)
        steps = [SentenceSplitter(), writer] if splits else [writer]
        for _ in range(3):
            IngestionPipeline(transformations=steps).run(documents=read(tmp_path / "files"))
            assert kb.count() == 3


def test_a_changed_file_replaces_all_its_parts_and_no_part_another(tmp_path):
    file = written(tmp_path / "files", "ships.md", "# Skua\n\nMV Skua is a ferry.\n\n# Tern\n\nMV Tern is a tug.\n")
    options = {"file_extractor": {".md": Sections()}}
    documents = read(tmp_path / "files", **options)
    assert len(documents) == 2
    with KnowledgeBase.open() as kb:
        writer = KnowledgeBaseWriter(knowledge_base=kb)
        for document in documents:  # in batches
            IngestionPipeline(transformations=[SentenceSplitter(), writer]).run(documents=[document])
        assert kb.count() == 2
        file.write_text("# Skua\n\nMV Skua is a yacht.\n")
        IngestionPipeline(transformations=[SentenceSplitter(), writer]).run(
            documents=read(tmp_path / "files", **options)
        )
        assert ["yacht" in one.text for one in kb.documents()] == [True]


def test_sync_removes_files_that_are_gone_or_empty(tmp_path):
    for name in ("a.txt", "b.txt", "c.txt", "d.txt"):
        written(tmp_path / "files", name, f"The gate {name} opens at six.")
    with KnowledgeBase.open() as kb:
        writer, docstore = KnowledgeBaseWriter(knowledge_base=kb), SimpleDocumentStore()
        pipeline = IngestionPipeline(transformations=[SentenceSplitter(), writer], docstore=docstore)
        pipeline.run(documents=read(tmp_path / "files"))
        (tmp_path / "files" / "a.txt").unlink()
        (tmp_path / "files" / "b.txt").write_text("")
        documents = read(tmp_path / "files")
        pipeline.run(documents=documents)
        assert writer.sync(documents) == 1  # the empty one has replaced its nodes itself
        assert [one.metadata["file_name"] for one in kb.documents() if one.text] == ["c.txt", "d.txt"]
        with pytest.raises(KnowledgeBaseError, match="sync: would delete 3 of the 3 sources of nodes"):
            writer.sync([])


def test_a_lost_knowledge_base_behind_a_docstore_is_noticed(caplog):
    documents = [Document(id_=name, text=f"The {name} opens at six.") for name in ("gate", "yard")]
    docstore = SimpleDocumentStore()
    with KnowledgeBase.open() as kb:
        pipeline_of(kb, docstore=docstore).run(documents=documents)
    with KnowledgeBase.open() as lost:
        pipeline = pipeline_of(lost, docstore=docstore)
        pipeline.run(documents=documents)
        assert "was given no nodes, and nothing has been written before; a docstore skips" in caplog.text
        pipeline.transformations[-1].sync(docstore)
        assert "2 of 2 documents were never written here" in caplog.text


def test_documents_with_ids_of_their_own_are_known_by_them(tmp_path):
    written(tmp_path / "files", "a.txt", "The gate opens at six.")
    with KnowledgeBase.open() as kb:
        pipeline_of(kb).run(documents=read(tmp_path / "files", filename_as_id=True))
        assert list(kb.sources()) == [str(tmp_path / "files" / "a.txt")]
        writer = KnowledgeBaseWriter(knowledge_base=kb)
        documents = read(tmp_path / "files")
        writer(SentenceSplitter()(documents))
        assert writer.delete(documents[0].id_) == 1


class ShortListing(QdrantVectorStore):
    """Lists a part of its nodes, as OpenSearch does."""

    def get_nodes(self, *arguments, **options):
        return super().get_nodes(*arguments, **options)[:20]


@pytest.mark.parametrize("writer", [KnowledgeBaseWriter, GraphWriter])
def test_a_store_that_lists_a_part_is_refused(writer, embed_model, tmp_path):
    nodes = [TextNode(text=f"Gate {number} opens.") for number in range(30)]
    with KnowledgeBase.open(tmp_path / "kb.db", embedder=None) as kb:
        home = {"graph": tmp_path / "graph.db"} if writer is GraphWriter else {"knowledge_base": kb}
        made = writer(**home)
        made(nodes)
        store = ShortListing("gates", client=QdrantClient(":memory:"))
        index = VectorStoreIndex(
            nodes, storage_context=StorageContext.from_defaults(vector_store=store), embed_model=embed_model
        )
        with pytest.raises(KnowledgeBaseError, match="ShortListing: lists 20 of its 30 documents; nothing was written"):
            made.mirror(index)
        with pytest.raises(KnowledgeBaseError, match="would delete 30 of the 30 documents"):
            made.mirror(SimpleDocumentStore())
        docstore = SimpleDocumentStore()
        docstore.add_documents(nodes[:10])
        assert made.mirror(docstore) == 20


def test_a_model_that_is_not_an_embedder_of_hopweave_is_refused():
    with pytest.raises(TypeError, match="MockEmbedding is an embedding model of LlamaIndex"):
        KnowledgeBase.open(embedder=MockEmbedding(8))


def test_the_vector_store_refuses_vectors_of_another_model(embed_model):
    store = HopweaveVectorStore.open(embed_model=embed_model)
    with pytest.raises(KnowledgeBaseError, match="comes with a vector of a model that was not named"):
        store.add([TextNode(text="The gate opens at six.", embedding=MockEmbedding(256).get_text_embedding("x"))])


def text(chance):
    return " ".join(chance.choices(WORDS, k=chance.randint(1, 120))).capitalize() + "."


def content(kb):
    """All that a knowledge base holds, whatever ids the framework gave its nodes."""
    vectors, names = kb.vectors(kb.ids()), {one.id: one.text for one in kb.documents()}
    documents = sorted(
        (one.text, one.metadata["file_path"], one.source, vectors[one.id].tobytes()) for one in kb.documents()
    )
    graph = Resolved(kb.graph.tables)
    nodes = sorted(
        (one.kind, names.get(one.document_id or "", one.name)) for one in graph.nodes if one.kind != "document"
    )
    return documents, nodes, len(graph.edges())


@pytest.mark.parametrize("seed", range(20))
def test_any_sequence_of_runs_equals_a_file_built_afresh(seed, tmp_path):
    chance, folder = random.Random(seed), tmp_path / "files"
    names = ["port/README.txt", "ferry/README.txt", "port/gate.txt", "ferry/yard.md"]
    for name in names[:3]:
        written(folder, name, text(chance))
    docstore = {"docstore": SimpleDocumentStore()} if chance.random() < 0.5 else {}
    with KnowledgeBase.open(tmp_path / "kept.db") as kept:
        for number in range(5):
            documents = read(folder)
            pipeline = pipeline_of(kept, **docstore)
            pipeline.run(documents=documents)
            pipeline.transformations[-1].sync(documents)
            assert kept.check() == []
            with KnowledgeBase.open(tmp_path / f"fresh{number}.db") as fresh:
                pipeline_of(fresh).run(documents=documents)
                for own, built in zip(content(kept), content(fresh), strict=True):
                    assert own == built
            file = chance.choice(sorted(one for one in folder.rglob("*.*") if one.is_file()))
            match chance.choice(["add", "change", "empty", "rename", "delete", "nothing"]):
                case "add" | "change":
                    written(folder, chance.choice(names), text(chance))
                case "empty" if sum(one.stat().st_size > 0 for one in folder.rglob("*.*")) > 1:
                    file.write_text("")
                case "rename":
                    file.rename(file.with_name(f"moved{chance.randint(0, 9)}{file.suffix}"))
                case "delete" if sum(one.stat().st_size > 0 for one in folder.rglob("*.*")) > 2:
                    file.unlink()
