"""Indexing pipelines that run again: after each run, the file equals one that is built from what is there now."""

import random

import pytest
from haystack import Document, Pipeline
from haystack.components.converters import TextFileToDocument
from haystack.components.preprocessors import DocumentSplitter
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_integrations.components.embedders.hopweave import StaticDocumentEmbedder
from haystack_integrations.components.writers.hopweave import GraphWriter, KnowledgeBaseWriter
from hopweave import KnowledgeBase
from hopweave.errors import KnowledgeBaseError
from hopweave.graph.build.resolve import Resolved

WORDS = (
    "ferry",
    "gate",
    "Skua",
    "Lunn",
    "Harris",
    "yard",
    "Falk",
    "tide",
    "sails",
    "opens",
    "built",
    "designed",
    "of",
    "at",
)


def indexing(path, *, full_path=True, embed=True, **options):
    pipeline = Pipeline()
    pipeline.add_component("converter", TextFileToDocument(store_full_path=full_path))
    pipeline.add_component("splitter", DocumentSplitter(split_by="word", split_length=5, split_overlap=0))
    pipeline.add_component("writer", KnowledgeBaseWriter(knowledge_base=path, **options))
    pipeline.connect("converter", "splitter")
    if embed:
        pipeline.add_component("embedder", StaticDocumentEmbedder())
        pipeline.connect("splitter", "embedder")
        pipeline.connect("embedder", "writer")
    else:
        pipeline.connect("splitter", "writer")
    return pipeline


def index(pipeline, files, sources=None, **options):
    given = {"sources": sources, **options} if sources is not None else options
    return pipeline.run({"converter": {"sources": files}, "writer": given})["writer"]


def content(path):
    """All that a file holds: documents with their vectors, nodes and edges."""
    with KnowledgeBase.open(path) as kb:
        assert kb.check() == []
        vectors = {key: vector.tobytes() for key, vector in kb.vectors(kb.ids()).items()}
        documents = {one.id: (one.text, one.source, dict(one.metadata), vectors.get(one.id)) for one in kb.documents()}
        graph = Resolved(kb.graph.tables)
        return documents, graph.nodes, graph.edges()


def written(folder, name, text):
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_a_pipeline_with_an_embedder_runs_twice(tmp_path):
    files = [written(tmp_path, "port/a.txt", "MV Skua sails to Harris. She was built at the yard of Lunn.")]
    pipeline = indexing(tmp_path / "kb.db", source_field="file_path")
    first = index(pipeline, files)
    assert index(pipeline, files) == {"documents_written": 0, "unchanged": first["documents_written"], "deleted": 0}


def test_a_file_name_without_its_folder_is_refused(tmp_path):
    files = [written(tmp_path, f"{folder}/README.txt", f"The {folder} opens at six.") for folder in ("sea", "ferry")]
    narrow = indexing(tmp_path / "kb.db", full_path=False, source_field="file_path")
    for file in files:
        with pytest.raises(Exception, match=r"'README.txt', a file name without its folder.*store_full_path=True"):
            index(narrow, [file])
    wide = indexing(tmp_path / "kb.db", source_field="file_path")
    for file in files:
        index(wide, [file])
    with KnowledgeBase.open(tmp_path / "kb.db") as kb:
        assert kb.sources() == {str(file): 1 for file in sorted(files)}


def test_a_source_that_gave_no_documents_is_emptied(tmp_path):
    files = [written(tmp_path, f"port/{name}.txt", f"The {name} opens at six.") for name in ("gate", "yard")]
    pipeline = indexing(tmp_path / "kb.db", source_field="file_path")
    index(pipeline, files, sources=files)
    files[0].write_text("")
    assert index(pipeline, files, sources=files)["deleted"] == 1
    with KnowledgeBase.open(tmp_path / "kb.db") as kb:
        assert kb.sources() == {str(files[1]): 1}
    with pytest.raises(ValueError, match="sources: are not allowed without source_field"):
        KnowledgeBaseWriter(knowledge_base=tmp_path / "kb.db").run(documents=[], sources=files)


def documents(count):
    return [Document(id=str(number), content=f"Gate {number} opens.") for number in range(count)]


@pytest.mark.parametrize("writer", [KnowledgeBaseWriter, GraphWriter])
def test_a_complete_run_that_lacks_much_is_refused(writer, tmp_path):
    made = writer(**{"graph" if writer is GraphWriter else "knowledge_base": tmp_path / "kb.db"})
    made.run(documents=documents(60))
    for count in (0, 30, 50):
        with pytest.raises(KnowledgeBaseError, match=f"would delete {60 - count} of the 60 documents"):
            made.run(documents=[*documents(count), *([Document(content="New.")] if count else [])], complete=True)
    assert made.run(documents=documents(60), complete=True) == {"documents_written": 0, "unchanged": 60, "deleted": 0}
    assert made.run(documents=documents(55), complete=True)["deleted"] == 5
    assert made.run(documents=[], complete=True, max_deleted_share=1.0)["deleted"] == 55
    with pytest.raises(ValueError, match="max_deleted_share: 2 is not allowed; it must be from 0 to 1"):
        made.run(documents=[], complete=True, max_deleted_share=2)


class ShortListing(InMemoryDocumentStore):
    """Lists at most 40 documents, as OpenSearch and Elasticsearch list at most 10,000."""

    def filter_documents(self, filters=None):
        return super().filter_documents(filters)[:40]


@pytest.mark.parametrize("writer", [KnowledgeBaseWriter, GraphWriter])
def test_a_store_that_lists_a_part_is_refused(writer, tmp_path):
    made = writer(**{"graph" if writer is GraphWriter else "knowledge_base": tmp_path / "kb.db"})
    made.run(documents=documents(50))
    store = ShortListing()
    store.write_documents([*documents(50), Document(id="new", content="A new gate.")])
    with pytest.raises(KnowledgeBaseError, match="ShortListing: lists 40 of its 51 documents; nothing was written"):
        made.mirror(store)
    assert made.run(documents=documents(50))["unchanged"] == 50
    with pytest.raises(KnowledgeBaseError, match="would delete 50 of the 50"):
        made.mirror(InMemoryDocumentStore())


def test_what_a_complete_run_deletes_is_logged(tmp_path, caplog):
    writer = KnowledgeBaseWriter(knowledge_base=tmp_path / "kb.db")
    writer.run(documents=documents(10))
    with caplog.at_level("INFO", "hopweave"):
        writer.run(documents=documents(9), complete=True)
    assert "deleted 1 documents: '9'" in caplog.text


def text(chance):
    return " ".join(chance.choices(WORDS, k=chance.randint(1, 14))).capitalize() + "."


def steps(chance, folder):
    """Changes of a folder; yields after each the files that are there."""
    names = ["port/README.txt", "ferry/README.txt", "port/gate.txt", "ferry/yard.txt"]
    for name in names[:3]:
        written(folder, name, text(chance))
    for _ in range(4):
        yield sorted(folder.rglob("*.txt"))
        file = chance.choice(sorted(folder.rglob("*.txt")))
        match chance.choice(["add", "change", "empty", "rename", "delete", "nothing"]):
            case "add" | "change":
                written(folder, chance.choice(names), text(chance))
            case "empty":
                file.write_text("")
            case "rename":
                file.rename(file.with_name(f"moved{chance.randint(0, 9)}.txt"))
            case "delete" if len(list(folder.rglob("*.txt"))) > 1:
                file.unlink()
    yield sorted(folder.rglob("*.txt"))


@pytest.mark.parametrize("seed", range(20))
def test_any_sequence_of_runs_equals_a_file_built_afresh(seed, tmp_path):
    chance = random.Random(seed)
    embed, by_source = chance.random() < 0.5, chance.random() < 0.5
    named = {"source_field": "file_path"} if by_source else {}
    kept = indexing(tmp_path / "kept.db", full_path=by_source, embed=embed, **named)
    known = []
    for number, files in enumerate(steps(chance, tmp_path / "files")):
        fresh = tmp_path / f"fresh{number}.db"
        index(indexing(fresh, full_path=by_source, embed=embed, **named), files)
        if by_source:
            index(kept, files, sources=[*known, *files])
        else:
            index(kept, files, complete=True, max_deleted_share=1.0)
        known = files
        assert content(tmp_path / "kept.db") == content(fresh)
