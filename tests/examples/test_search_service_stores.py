"""The search service on every kind of store, by settings alone: PostgreSQL as it is, Qdrant's local mode, and the real
client of Elasticsearch against a small server on loopback that answers in its shapes.
"""

import pytest

QUESTION = "What did the lead of the team that owns Waybill do before?"
NEEDED = {"services/waybill.md#1", "teams/roundabout.md#1"}
HARBOUR = {"content": "The harbour of Zorblatt opens at six.", "source": "z.md", "metadata": {"title": "Zorblatt"}}


def ids(answer):
    return [result["receipt"]["id"] for result in answer["results"]]


def check(service, *, methods):
    """Search, filters, nonsense, and documents that come and go."""
    answer = service.search(QUESTION).json()
    assert set(ids(answer)) >= NEEDED
    assert any(result["receipt"]["path"] for result in answer["results"])
    assert service.search("How do I bake sourdough bread?").json()["results"] == []
    for method in methods:
        answer = service.search("Kestrel", method=method, min_relevance_score=0).json()
        assert (answer["method_used"], answer["degraded"]) == (method, [])
        assert "services/kestrel.md#1" in ids(answer)
    kinds = {"type": ["team", "person"], "date_from": "2020-01-01"}
    answer = service.search(QUESTION, filters=kinds, min_relevance_score=0).json()
    assert {result["metadata"]["type"] for result in answer["results"]} == {"team", "person"}

    question = "When does the harbour of Zorblatt open?"
    assert service.client.put("/documents/zorblatt", json=HARBOUR).status_code == 201
    assert service.client.put("/documents/zorblatt", json=HARBOUR).json()["status"] == "unchanged"
    changed = {**HARBOUR, "content": "The harbour of Zorblatt opens at seven."}
    assert service.client.put("/documents/zorblatt", json=changed).json()["status"] == "updated"
    for _ in range(4):  # whichever worker is asked
        service.client.headers["connection"] = "close"
        assert service.search(question).json()["results"][0]["content"] == changed["content"]
    assert service.client.delete("/sources/z.md").json() == {"deleted": 1}
    assert service.client.delete("/documents/zorblatt").json() == {"deleted": 0}
    for _ in range(4):
        assert "zorblatt" not in ids(service.search(question, min_relevance_score=0).json())
    assert service.client.get("/knowledge-bases").json()[0]["documents"] == 94
    assert service.client.get("/health").json()["status"] == "healthy"
    assert service.client.get("/metrics").status_code == 200


def test_postgres(run_service, tmp_path, pgvector_url):
    """Words and vectors by pgvector, the graph beside them, two workers."""
    with run_service(tmp_path, POSTGRES_URL=pgvector_url, SEARCH_WORKERS="2") as running:
        check(running, methods=["keyword", "vector", "hybrid"])
        assert "password" not in running.log_text()
    with run_service(tmp_path, POSTGRES_URL=pgvector_url) as running:  # nothing is indexed twice
        assert [one["unchanged"] for one in running.logged() if one["event"] == "indexed"] == [0, 94]


def test_qdrant(run_service, tmp_path):
    """Qdrant has vectors only: that is said at the start and by /health, and is no failure of any search."""
    with run_service(tmp_path, QDRANT_URL=str(tmp_path / "qdrant"), QDRANT_COLLECTION="handbook") as running:
        check(running, methods=["vector"])
        answer = running.search(QUESTION).json()
        assert (answer["method_used"], answer["degraded"]) == ("vector", [])
        assert running.search(QUESTION, method="keyword").status_code == 503
        health = running.client.get("/health").json()
        assert (health["status"], health["keyword_engine"], health["parts"]["words"]["status"]) == (
            "healthy",
            "off",
            "off",
        )
        events = [one for one in running.logged() if one["event"] in ("source is absent", "source failed")]
        assert [(one["event"], one["source"]) for one in events] == [("source is absent", "text")]
        assert "search_source_failures_total{" not in running.client.get("/metrics").text


def test_elasticsearch(run_service, tmp_path, elasticsearch):
    """Words and vectors by Elasticsearch."""
    with run_service(tmp_path, ELASTICSEARCH_URL=elasticsearch.url, NO_PROXY="127.0.0.1") as running:
        check(running, methods=["keyword", "vector", "hybrid"])
        assert len(elasticsearch.documents) == 94
        assert any("knn" in asked for asked in elasticsearch.asked)


def test_elasticsearch_for_words_and_qdrant_for_vectors(run_service, tmp_path, elasticsearch):
    """Both hold every document. If one does not answer, the other does, and the answer says so."""
    variables = {"ELASTICSEARCH_URL": elasticsearch.url, "QDRANT_URL": str(tmp_path / "qdrant")}
    with run_service(tmp_path, **variables, NO_PROXY="127.0.0.1") as running:
        check(running, methods=["keyword", "vector", "hybrid"])
        assert not any("knn" in asked for asked in elasticsearch.asked)
        elasticsearch.down = True
        answer = running.search("Kestrel", expand_graph=False, min_relevance_score=0).json()
        assert answer["method_used"] == "vector"
        assert "services/kestrel.md#1" in ids(answer)
        assert running.client.get("/health").status_code == 503
        assert running.client.get("/health/live").status_code == 200
        assert running.client.put("/documents/zorblatt", json=HARBOUR).status_code == 503


def test_several_knowledge_bases(run_service, tmp_path):
    settings = tmp_path / "settings.yaml"
    settings.write_text(
        f"""
default_limit: 3
knowledge_bases:
  handbook: {{path: {tmp_path}/handbook.db, corpus: corpus.jsonl}}
  notes: {{path: {tmp_path}/notes.db}}
keys:
  - {{name: reader, key: r-1}}
  - {{name: writer, key: w-1, role: write, knowledge_bases: [notes]}}
"""
    )
    with run_service(tmp_path, SEARCH_CONFIG=str(settings)) as running:
        reads, writes = {"x-api-key": "r-1"}, {"x-api-key": "w-1"}

        def found(key, **fields):
            reply = running.client.post("/search", headers=key, json={"query": "Who keeps bees?", **fields})
            return ids(reply.json()) if reply.status_code == 200 else reply.status_code

        listed = running.client.get("/knowledge-bases", headers=reads).json()
        assert [(one["name"], one["documents"], one["writable"]) for one in listed] == [
            ("handbook", 94, False),
            ("notes", 0, False),
        ]
        assert [one["name"] for one in running.client.get("/knowledge-bases", headers=writes).json()] == ["notes"]
        bees = {"content": "Zorblatt keeps bees on the roof.", "metadata": {"title": "Bees"}}
        assert running.client.put("/documents/bees", headers=reads, json=bees).status_code == 403
        assert running.client.put("/documents/bees", headers=writes, json=bees).status_code == 201
        handbook = running.client.put("/documents/bees?knowledge_base=handbook", headers=writes, json=bees)
        assert handbook.status_code == 404
        assert found(writes, min_relevance_score=0) == found(reads, knowledge_base="notes", min_relevance_score=0)
        assert found(writes, min_relevance_score=0) == ["bees"]
        assert "bees" not in found(reads)
        assert len(found(reads)) == 3
        assert found(reads, knowledge_base="nothing") == 404


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"SEARCH_KNOWLEDGE_BASES": '{"a": {}}'}, "needs path, postgres_url, or one or both"),
        ({"SEARCH_KNOWLEDGE_BASES": '{"a": {"path": "a.db", "qdrant_url": "x"}}'}, "needs path, postgres_url"),
        ({"RETRIEVER_DEFAULT_LIMIT": "1000"}, "default_limit"),
        ({"RETRIEVER_MIN_RELEVANCE": "2"}, "min_relevance"),
    ],
)
def test_settings_that_do_not_fit_are_named(start_service, tmp_path, variables, message):
    done = start_service(tmp_path, "index", **variables)
    assert done.returncode == 2
    assert message in done.stderr


def test_defaults_by_the_common_names(run_service, tmp_path):
    variables = {"RETRIEVER_DEFAULT_METHOD": "keyword", "RETRIEVER_DEFAULT_LIMIT": "2", "RETRIEVER_MIN_RELEVANCE": "0"}
    with run_service(tmp_path, **variables) as running:
        answer = running.search("Can I bring my dog?").json()
        assert (answer["method_used"], answer["total_results"]) == ("keyword", 2)
        defaults = running.client.get("/openapi.json").json()["components"]["schemas"]["SearchRequest"]["properties"]
        assert [defaults[name]["default"] for name in ("method", "limit", "min_relevance_score")] == ["keyword", 2, 0.0]
