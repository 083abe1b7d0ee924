"""The graph store in PostgreSQL passes the tests of every graph store."""

import pytest

from hopweave.testing.graph_store import GraphStoreTests

psycopg = pytest.importorskip("psycopg")
TABLES = ("documents", "words", "nodes", "name_words", "spellings", "declared", "stated", "edges", "near", "staged")


class TestPostgresStore(GraphStoreTests):
    @pytest.fixture
    def place(self, postgres_url):
        return postgres_url

    def check_storage(self, store, place):
        with psycopg.connect(place) as connection:
            for table in TABLES:  # nothing is left of documents that are gone
                assert connection.execute(f"SELECT count(*) FROM hopweave.{table}").fetchone() == (0,), table
            counts = connection.execute("SELECT documents, names, passages FROM hopweave.state").fetchone()
            assert counts == (0, 0, 0)
