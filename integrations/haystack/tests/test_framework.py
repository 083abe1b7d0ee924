"""Secrets, tracing, files that components share, writing, and the examples in the docstrings."""

import json
import re
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib import import_module
from pathlib import Path
from threading import Thread

import pytest
from haystack import Document, Pipeline, tracing
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.document_stores.types import DuplicatePolicy
from haystack.utils import Secret

import haystack_integrations.common.hopweave as common
from haystack_integrations.common.hopweave.knowledge_file import KnowledgeFile
from haystack_integrations.components.builders.hopweave import FlowPruningBuilder
from haystack_integrations.components.embedders.hopweave import GraphDocumentEmbedder, GraphTextEmbedder
from haystack_integrations.components.rankers.hopweave import RemoteRerankRanker, ScoreThresholdRanker
from haystack_integrations.components.retrievers.hopweave import BM25Retriever, PageRankRetriever, RecipeRetriever
from haystack_integrations.components.routers.hopweave import IntentRouter, LimitsRouter
from haystack_integrations.components.writers.hopweave import GraphWriter, KnowledgeBaseWriter
from haystack_integrations.document_stores.hopweave import HopweaveDocumentStore
from hopweave import KnowledgeBase
from hopweave.errors import HopweaveError, KnowledgeBaseError

DOCUMENTS = [Document(id="a", content="alpha", score=0.5), Document(id="b", content="beta", score=0.4)]


@pytest.fixture
def service():
    """A rerank service on loopback that turns the order round and keeps the headers it was sent."""
    seen = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append(self.headers["Authorization"])
            count = len(body["documents"])
            results = [{"index": place, "relevance_score": (place + 1) / count} for place in range(count)]
            reply = json.dumps({"results": results}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *arguments):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/rerank", seen
    server.shutdown()
    server.server_close()


def test_the_key_is_a_secret_that_is_looked_up_late_and_never_written(service, monkeypatch):
    url, seen = service
    pipeline = Pipeline()
    secret = Secret.from_env_var("RERANK_KEY")
    pipeline.add_component("rerank", RemoteRerankRanker(provider="generic", url=url, api_key=secret, blend=1.0))
    loaded = Pipeline.loads(pipeline.dumps())  # the variable need not be set for this
    assert loaded.dumps() == pipeline.dumps()
    monkeypatch.setenv("RERANK_KEY", "top-secret")
    result = loaded.run({"rerank": {"documents": DOCUMENTS, "query": "?"}})["rerank"]["documents"]
    assert [one.id for one in result] == ["b", "a"]
    assert seen == ["Bearer top-secret"]
    assert "top-secret" not in loaded.dumps() + repr(result) + repr(loaded.get_component("rerank").stage)


class Recorder(tracing.Tracer):
    """Keeps the tags of all spans."""

    def __init__(self):
        self.tags = {}

    @contextmanager
    def trace(self, operation_name, tags=None, parent_span=None):
        yield self.current_span()

    def current_span(self):
        recorder = self

        class Span(tracing.Span):
            def set_tag(self, key, value):
                recorder.tags[key] = value

        return Span()


def test_spans_carry_scores_and_intent_and_texts_only_on_request(file, monkeypatch):
    pipeline = Pipeline()
    pipeline.add_component("text", BM25Retriever(knowledge_base=file))
    pipeline.add_component("intent", IntentRouter())
    monkeypatch.setattr(tracing.tracer, "is_content_tracing_enabled", False)
    tracing.enable_tracing(recorder := Recorder())
    try:
        pipeline.run({"query": "How do I fix the engine?"})
        assert recorder.tags["hopweave.intent"] == "debugging"
        assert recorder.tags["hopweave.best_score"] >= recorder.tags["hopweave.lowest_score"] > 0
        assert "hopweave.found" not in recorder.tags
        monkeypatch.setattr(tracing.tracer, "is_content_tracing_enabled", True)
        pipeline.run({"query": "How do I fix the engine?"})
        assert "fuel pump" in json.dumps(recorder.tags["hopweave.found"])
    finally:
        tracing.disable_tracing()


def test_components_share_one_open_file(file, tmp_path):
    path = tmp_path / "kb.db"
    path.write_bytes(Path(file).read_bytes())
    one, other = KnowledgeFile(str(path)), KnowledgeFile(str(tmp_path / ".." / tmp_path.name / "kb.db"))
    first, second = one.open(), other.open()
    assert one.open() is first
    assert first.graph is second.graph
    one.close()
    with pytest.raises(KnowledgeBaseError, match="has been closed"):
        first.count()
    assert second.count() == 6
    other.close()
    assert one.open().count() == 6


def test_a_pipeline_sees_what_was_written_after_it_was_opened(tmp_path):
    path = str(tmp_path / "kb.db")
    writer = KnowledgeBaseWriter(knowledge_base=path)
    assert writer.run(documents=[Document(id="a", content="A ferry.")]) == {
        "documents_written": 1,
        "unchanged": 0,
        "deleted": 0,
    }
    assert writer.run(documents=[Document(id="a", content="A ferry.")]) == {
        "documents_written": 0,
        "unchanged": 1,
        "deleted": 0,
    }
    retriever = RecipeRetriever(knowledge_base=path)
    assert len(retriever.run(query="ferry")["documents"]) == 1
    writer.run(documents=[Document(id="b", content="Another ferry.")])
    assert len(retriever.run(query="ferry")["documents"]) == 2


def test_writing_builds_the_graph_and_takes_entities_from_meta(tmp_path):
    path = str(tmp_path / "kb.db")
    builders = ["mentions", {"kind": "metadata", "shared": ["people"]}]
    writer = KnowledgeBaseWriter(knowledge_base=path, builders=builders)
    people = {"people": ["Ingrid Falk"]}  # what an entity extractor found
    writer.run(documents=[Document(id="a", content="x", meta=people), Document(id="b", content="y", meta=people)])
    with KnowledgeBase.open(path) as kb:
        assert kb.graph.size > 2
        kb.delete(["a", "b"])
        assert kb.graph.node_count == 0


def test_a_bad_policy_is_named(tmp_path):
    with pytest.raises(ValueError, match="on_conflict must be replace, skip or fail, but got 'maybe'"):
        KnowledgeBaseWriter(knowledge_base=str(tmp_path / "kb.db"), embedder=None).run(
            documents=[], on_conflict="maybe"
        )


def test_a_missing_file_is_named():
    with pytest.raises(KnowledgeBaseError, match=r"nowhere\.db: does not exist"):
        BM25Retriever(knowledge_base="nowhere.db").warm_up()


def test_an_unknown_override_is_named():
    with pytest.raises(ValueError, match="half_life"):
        ScoreThresholdRanker().run(documents=[], overrides={"half_life": 3})


def test_a_time_that_is_none_is_named():
    from haystack_integrations.components.rankers.hopweave import FreshnessRanker

    with pytest.raises(ValueError, match="now: 'soon' is not allowed"):
        FreshnessRanker().run(documents=[], now="soon")


@pytest.mark.parametrize(
    ("plan", "message"), [("x", "plan: must be a mapping"), ({"sources": "graph"}, "plan.sources: must be a list")]
)
def test_a_plan_that_is_none_is_named(plan, message, file):
    retriever, builder = PageRankRetriever(knowledge_base=file), FlowPruningBuilder(knowledge_base=file)
    for run in (
        lambda: retriever.run(query="ferry", plan=plan),
        lambda: builder.run(documents=[], plan=plan),
        lambda: LimitsRouter(depths={"text": 5}).run(plan=plan),
    ):
        with pytest.raises(ValueError, match=message):
            run()


def test_a_plan_that_says_nothing_of_paths_asks_for_none(file):
    retriever = PageRankRetriever(knowledge_base=file, prune={"min_hits": 2})
    plain = PageRankRetriever(knowledge_base=file).run(query="Skua")
    assert retriever.run(query="Skua", plan={"sources": ["graph"]}) == plain


URL = "postgresql://anna:s3cret@db.example/kb"


@pytest.mark.parametrize(
    "make",
    [
        lambda: KnowledgeBaseWriter(knowledge_base=URL),
        lambda: HopweaveDocumentStore(URL),
        lambda: GraphTextEmbedder(knowledge_base=URL),
        lambda: GraphDocumentEmbedder(knowledge_base=URL),
        lambda: RecipeRetriever(knowledge_base=URL),
        lambda: RecipeRetriever(knowledge_base={"a": URL, "b": "b.db"}),
        lambda: BM25Retriever(knowledge_base=Path(URL)),
    ],
)
def test_a_url_in_the_place_of_a_file_is_refused_without_its_password(make):
    with pytest.raises(ValueError, match="must be the path of a file, not a URL") as refused:
        make()
    assert "s3cret" not in str(refused.value)


def test_a_graph_file_is_no_knowledge_base(tmp_path):
    graph, store = str(tmp_path / "gw.db"), InMemoryDocumentStore()
    documents = [Document(id="skua", content="MV Skua sails to Harris.")]
    store.write_documents(documents)
    GraphWriter(graph=graph).run(documents=documents)
    before = PageRankRetriever(graph=graph, document_store=store).run(query="Skua")["documents"]
    for use in (
        lambda: RecipeRetriever(knowledge_base=graph).run(query="Skua"),
        lambda: BM25Retriever(knowledge_base=graph).run(query="Skua"),
        lambda: KnowledgeBaseWriter(knowledge_base=graph).run(documents=documents),
        lambda: HopweaveDocumentStore(graph).count_documents(),
        lambda: HopweaveDocumentStore(graph, read_only=True).count_documents(),
    ):
        with pytest.raises(
            KnowledgeBaseError, match=r"gw\.db: holds a graph alone, not the documents; give it as graph"
        ):
            use()
    assert PageRankRetriever(graph=graph, document_store=store).run(query="Skua")["documents"] == before


def test_a_knowledge_base_is_no_graph(file):
    for use in (
        lambda: PageRankRetriever(graph=file, document_store=InMemoryDocumentStore()).run(query="Skua"),
        lambda: GraphWriter(graph=file).run(documents=[]),
    ):
        with pytest.raises(HopweaveError, match="is a knowledge base, not a graph; give it as knowledge_base"):
            use()


def test_components_keep_to_their_file_when_the_current_folder_changes(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    documents = [Document(id="skua", content="MV Skua sails to Harris.")]
    more = [Document(id="tern", content="MV Tern sails to Harris.")]
    store, external = HopweaveDocumentStore("store.db"), InMemoryDocumentStore()
    external.write_documents([*documents, *more])
    writer, graph = KnowledgeBaseWriter(knowledge_base="kb.db"), GraphWriter(graph="graph.db")
    retriever = BM25Retriever(knowledge_base="kb.db")
    walk = PageRankRetriever(graph="graph.db", document_store=external)
    for one in (store.write_documents, writer.run, graph.run):
        one(documents)
    assert len(retriever.run(query="Harris")["documents"]) == len(walk.run(query="Harris")["documents"]) == 1
    monkeypatch.chdir("elsewhere")
    store.close()
    for one in (store.write_documents, writer.run, graph.run):
        one(more)
    assert store.count_documents() == 2
    assert len(retriever.run(query="Harris")["documents"]) == len(walk.run(query="Harris")["documents"]) == 2
    retriever.close()
    assert len(retriever.run(query="Harris")["documents"]) == 2
    assert retriever.to_dict()["init_parameters"]["knowledge_base"] == "kb.db"
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("make", [KnowledgeBaseWriter, HopweaveDocumentStore])
def test_an_embedder_that_a_file_does_not_have_is_not_ignored_in_silence(make, tmp_path, caplog):
    path = str(tmp_path / "kb.db")
    documents = [Document(id="skua", content="MV Skua sails to Harris.")]

    def write(embedder):
        if make is KnowledgeBaseWriter:
            KnowledgeBaseWriter(knowledge_base=path, embedder=embedder).run(documents=documents)
        else:
            HopweaveDocumentStore(path, embedder=embedder).write_documents(documents, DuplicatePolicy.OVERWRITE)

    write(None)
    write(None)
    write("auto") if make is KnowledgeBaseWriter else None
    assert "ignored" not in caplog.text
    write({"kind": "static"})
    assert "embedder: 'static' is ignored" in caplog.text
    assert "was made with embedder=None" in caplog.text


FOLDERS = [
    "components/" + kind for kind in ("builders", "embedders", "joiners", "rankers", "retrievers", "routers", "writers")
]
ROOT = Path(common.__file__).parents[2]
MODULES = sorted(
    path for folder in [*FOLDERS, "common", "document_stores"] for path in (ROOT / folder / "hopweave").glob("*.py")
)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_the_examples_in_docstrings_run(path, file, tmp_path, monkeypatch, request):
    source = path.read_text(encoding="utf-8")
    assert "from __future__" not in source  # it would strip types that Haystack reads
    monkeypatch.chdir(tmp_path)
    Path("hopweave.db").write_bytes(Path(file).read_bytes())
    import_module(".".join(path.relative_to(ROOT.parent).with_suffix("").parts))
    for example in re.findall(r"```python\n(.*?)```", source, re.DOTALL):
        plain = re.sub(r"^    ", "", example, flags=re.MULTILINE)
        names = {"to_hit": common.to_hit, "Document": Document}
        if path.stem == "cross_encoder":  # the usual model would have to be downloaded
            model = request.getfixturevalue("cross_encoder")
            plain = plain.replace("candidates=20", f"candidates=20, model={model!r}")
        for stem, stated, fixture in (
            ("graph_embedder", "trained.db", "trained_file"),
            ("onnx", "models/multilingual-e5-small", "onnx_minilm"),
        ):
            if path.stem == stem:
                plain = plain.replace(stated, request.getfixturevalue(fixture))
        if path.stem == "remote_embedder":  # the services of the examples would have to be there
            own = f'url="{request.getfixturevalue("embedding_url")}"'
            plain = plain.replace('url="http://localhost:8000/v1/embeddings"', own)
            plain = plain.replace('provider="gemini", dimensions=768', f'{own}, model="bge-m3"')
        exec(plain, names)
