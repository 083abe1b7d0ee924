"""Databases on PostgreSQL servers that tests start, for the tests of all distributions."""

import importlib.util
import os
from importlib.metadata import entry_points
from pathlib import Path
from uuid import uuid4

import pytest

SERVER = Path(__file__).parent / "benchmarks" / "postgres_server.py"
IS_REQUIRED = os.environ.get("HOPWEAVE_POSTGRES") == "required"


@pytest.fixture(scope="session")
def postgres_server():
    """A real PostgreSQL server on a free port of the loopback interface, for the whole run of this process."""
    module = _server_module()
    has_programs = importlib.util.find_spec("pgserver") or module.debian_programs()
    if not (has_programs and entry_points(group="hopweave.graph_stores")) and not IS_REQUIRED:
        pytest.skip("needs a PostgreSQL server and its graph store: pip install pgserver -e integrations/postgres")
    with module.PostgresServer() as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server):
    """The URL of a database of its own on that server."""
    return _own_database(postgres_server.url)


@pytest.fixture
def pgvector_url(postgres_server):
    """The same of a server with the extension pgvector."""
    pytest.importorskip("pgserver", reason="the wheel pgserver, which has pgvector, is not made for this Python")
    return _own_database(postgres_server.url)


@pytest.fixture(scope="session")
def trigram_server():
    """A server with the extension pg_trgm."""
    module = _server_module()
    programs = module.debian_programs("pg_trgm")
    if programs is None:
        assert not IS_REQUIRED, "apt-get install postgresql"
        pytest.skip("needs a PostgreSQL server with pg_trgm: apt-get install postgresql")
    with module.PostgresServer(programs) as server:
        yield server


@pytest.fixture
def trigram_url(trigram_server):
    """The URL of a database of its own on that server."""
    return _own_database(trigram_server.url)


def _own_database(url):
    import psycopg

    name = f"test_{uuid4().hex}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    return url.rpartition("/")[0] + f"/{name}"


def _server_module():
    spec = importlib.util.spec_from_file_location("postgres_server", SERVER)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
