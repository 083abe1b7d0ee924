"""The graph store in an SQLite file passes the tests of every graph store."""

import pytest

from hopweave.testing.graph_store import GraphStoreTests


class TestSqliteStore(GraphStoreTests):
    @pytest.fixture
    def place(self, tmp_path):
        return tmp_path / "graph.db"

    def check_storage(self, store, place):
        assert store.check() == []
