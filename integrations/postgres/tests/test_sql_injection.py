"""Whatever ids, names, tenants and metadata hold reaches PostgreSQL as values, never as statements."""

import string
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hopweave.document import Document
from hopweave.errors import KnowledgeBaseError
from hopweave.graph.external_documents import ExternalDocuments
from hopweave.graph_store.store import GraphStore
from hopweave.hit import Hit
from hopweave.metadata.tenants import checked_tenant
from hopweave.query import Query
from hopweave.sources.pagerank import PageRank

psycopg = pytest.importorskip("psycopg")

from hopweave_postgres.schema import is_storable  # noqa: E402 - needs psycopg

ATTACKS = (
    "'; DROP TABLE hopweave.canary; --",
    "a' OR '1'='1",
    "\"; DELETE FROM hopweave.canary; --",
    "%s %(x)s %% {} $1 $$; DROP SCHEMA hopweave CASCADE; $$",
    "E'\\'; TRUNCATE hopweave.canary; --",
    "') ; COPY hopweave.canary FROM PROGRAM 'false'; --",
    "\\.\n\\copy x\n",
    "{1,2}\",\"'x'::jsonb",
    "null", "\t", "\\N", "\u2028'\u02bc", "Robert'); DROP TABLE documents;--",
)  # fmt: skip
hostile = st.one_of(
    st.sampled_from(ATTACKS),
    st.text(alphabet="'\"\\;-%$(){}[]/*,:\n\t\0 ab" + string.digits, min_size=1, max_size=30),
    st.text(min_size=1, max_size=20),
)


def test_none_gets_through(postgres_url):
    with GraphStore.open(postgres_url) as store, psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE hopweave.canary AS SELECT 1 AS alive")
        tables = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'hopweave'").fetchone()
        store.add([Document("kept", "MV Skua sails to Harris.", {"title": "MV Skua", "customer": "acme"})])

        @settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
        @example("'; DROP TABLE hopweave.canary; --", "a' OR '1'='1", "\\N", "%s", "x")
        @given(hostile, hostile, hostile, hostile, hostile)
        def attack(id_, title, field, value, source):
            text = f"{title} sails to MV Skua. {value}"
            is_stored = True
            try:
                store.add([Document(id_, text, {"title": title, field: value}, source=source)])
            except KnowledgeBaseError:  # NUL, or no valid Unicode
                is_stored = False
            assert is_stored or not all(map(is_storable, (id_, title, field, value, source)))
            knowledge = ExternalDocuments(store, lambda ids: [Hit(key, text="…") for key in ids])
            tenants: list[dict[str, str] | None] = [None]
            with suppress(ValueError):  # fields that no tenant may have, such as those with quotation marks
                tenants.append(checked_tenant({field: value}))
            for tenant in tenants[1:]:
                assert store.visible(tenant) == ({id_} if is_stored else set())
            assert store.visible({"customer": "acme' OR '1'='1"}) == frozenset()
            for tenant in tenants:
                for hit in PageRank(seeds_from=()).search(Query(f"{title} {id_} {value}", tenant=tenant), knowledge):
                    assert hit.id in {"kept", id_} if tenant is None else {id_}
            store.graph.find([id_, f"passage:{id_}"])
            store.delete(where={field: value})
            store.delete([id_])
            store.delete(source=source)
            assert store.ids() == ["kept"]

        attack()
        assert connection.execute("SELECT alive FROM hopweave.canary").fetchall() == [(1,)]
        after = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'hopweave'").fetchone()
        assert after == tables
