"""Documents that live in Qdrant or Elasticsearch, with the graph of hopweave on top."""

import json
import os
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")

from haystack import Pipeline

from hopweave import KnowledgeBase, read_documents

EXAMPLE = Path(__file__).parents[2] / "examples" / "search_service"
QUESTION = "What did the lead of the team that owns Waybill do before?"
NEEDED = {"services/waybill.md#1", "people/ravi-sundqvist.md#1", "teams/roundabout.md#1"}


def example(name):
    spec = spec_from_file_location(name, EXAMPLE / "alternatives" / f"{name}.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    file = tmp_path_factory.mktemp("graph") / "graph.db"
    with KnowledgeBase.open(file) as kb:
        kb.add(read_documents(EXAMPLE / "corpus.jsonl"))
    return str(file)


def test_documents_in_qdrant(graph):
    """Qdrant itself, in memory."""
    from haystack_integrations.document_stores.qdrant import QdrantDocumentStore

    shown = example("documents_in_qdrant")
    store = QdrantDocumentStore(location=":memory:", index="knowledge_base", embedding_dim=256)
    assert shown.copy(graph, store) == 94
    made = shown.pipeline(store, graph)
    found = shown.ask(made, QUESTION)
    assert {one.id for one in found} >= NEEDED
    assert all(0.5 <= one.score <= 1 for one in found)
    vector = made.get_component("embedder").run(text=QUESTION)["embedding"]
    alone = [one.id for one in made.get_component("vector").run(query_embedding=vector, top_k=10)["documents"]]
    assert not set(alone) >= NEEDED, "Qdrant alone would do, so this shows nothing"
    again = Pipeline.loads(made.dumps())
    assert again.dumps() == Pipeline.loads(again.dumps()).dumps()


class Elasticsearch(ThreadingHTTPServer):
    """As much of Elasticsearch as the example asks of it: an index, bulk writes, counts and searches."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Node)
        self.documents, self.asked = {}, []


class Node(BaseHTTPRequestHandler):
    def answer(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
        reply = self.reply(body)
        content = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("x-elastic-product", "Elasticsearch")
        self.send_header("content-type", "application/vnd.elasticsearch+json;compatible-with=8")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def reply(self, body):
        documents = self.server.documents
        if "_bulk" in self.path:
            lines = [json.loads(line) for line in body.splitlines()]
            for action, document in zip(lines[::2], lines[1::2], strict=True):
                documents[next(iter(action.values()))["_id"]] = document
            done = [{"index": {"_id": next(iter(one.values()))["_id"], "status": 201}} for one in lines[::2]]
            return {"errors": False, "items": done}
        if "_count" in self.path:
            return {"count": len(documents)}
        if "_search" in self.path:
            query = json.loads(body)
            self.server.asked.append(query)
            return {"hits": {"total": {"value": 1}, "hits": self.hits(query)}}
        return {"acknowledged": True, "version": {"number": "8.19.0"}, "tagline": "You Know, for Search"}

    def hits(self, query):
        query_text = json.dumps(query)
        words = set(re.findall(r"\w{4,}", query_text.lower()))

        def score(key, document):
            if "knn" in query:
                vector = query["knn"]["query_vector"]
                return sum(a * b for a, b in zip(vector, document["embedding"], strict=True))
            if "multi_match" in query_text:
                return len(words & set(re.findall(r"\w+", document["content"].lower())))
            return float(json.dumps(key) in query_text)

        scores = {key: score(key, document) for key, document in self.server.documents.items()}
        best = sorted((key for key in scores if scores[key]), key=lambda key: (-scores[key], key))
        return [
            {"_id": key, "_score": scores[key], "_source": self.server.documents[key]}
            for key in best[: query.get("size", 20)]
        ]

    do_GET = do_POST = do_PUT = do_HEAD = answer

    def log_message(self, *_):
        pass


def test_documents_in_elasticsearch(graph):
    """Elasticsearch needs a server, so a small one is played here; client, requests and pipeline are the real ones."""
    from haystack_integrations.document_stores.elasticsearch import ElasticsearchDocumentStore

    shown = example("documents_in_elasticsearch")
    server = Elasticsearch()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        store = ElasticsearchDocumentStore(hosts=f"http://127.0.0.1:{server.server_address[1]}", index="knowledge_base")
        assert shown.copy(graph, store) == 94
        assert store.count_documents() == 94
        made = shown.pipeline(store, graph)
        found = shown.ask(made, QUESTION, top_k=12)  # the server played here ranks by counting words
        assert {one.id for one in found} >= NEEDED
        assert {"knn", "multi_match"} <= set(re.findall(r"knn|multi_match", json.dumps(server.asked)))
        again = Pipeline.loads(made.dumps())  # from YAML, as it would be deployed
        assert [one.id for one in shown.ask(again, QUESTION, top_k=12)] == [one.id for one in found]
    finally:
        server.shutdown()
        server.server_close()
