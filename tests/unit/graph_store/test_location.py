"""Where a graph lives: opened late, shared, read-only, and without passwords in sight."""

import gc
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import hopweave
from hopweave.document import Document
from hopweave.errors import KnowledgeBaseError
from hopweave.graph_store.location import GraphLocation
from hopweave.graph_store.store import GraphStore

SECRET = "sesame-street"


@pytest.fixture(params=["file", "server"])
def home(request, tmp_path):
    """Gives the path of a new graph file, or the URL of a database, as a secret does."""
    place = str(tmp_path / "graph.db") if request.param == "file" else request.getfixturevalue("postgres_url")
    return Home(place)


class Home:
    def __init__(self, place):
        self.place = place

    def __call__(self):
        return self.place


def test_readers_do_not_make_a_graph(home):
    reader = GraphLocation(home)
    with pytest.raises(KnowledgeBaseError, match=r"does not exist|open it once for writing"):
        reader.open()
    writer = GraphLocation(home, writable=True)
    writer.open().add([Document("ship", "MV Skua sails to Harris.", {"title": "MV Skua"})])
    assert "harris" in reader.graph.lookup(["harris"])
    with pytest.raises(KnowledgeBaseError, match="read-only"):
        reader.open().add([Document("more", "More.")])
    version = reader.version
    writer.open().add([Document("isle", "Ingrid Falk lives there.", {"title": "Ingrid Falk", "owner": "a"})])
    assert reader.version > version
    assert reader.visible({"owner": "a"}) == {"isle"}
    assert reader.graph.lookup(["ingrid falk"])
    writer.close()
    reader.close()


def test_one_process_shares_what_is_open_and_the_last_closes(home):
    GraphStore.open(home()).close()
    one, other = GraphLocation(home), pickle.loads(pickle.dumps(GraphLocation(home)))
    store = one.open()
    assert store is one.open() is other.open()
    assert store is not GraphLocation(home, writable=True).open()
    one.close()
    assert store.count() == 0
    other.close()
    gc.collect()
    with pytest.raises(Exception, match="closed"):
        store.count()
    assert one.open().count() == 0  # opened anew
    one.close()


def test_a_graph_file_that_was_replaced_is_opened_anew(tmp_path):
    place, new = tmp_path / "graph.db", tmp_path / "new.db"
    for path, key in ((place, "old"), (new, "new")):
        with GraphStore.open(path) as store:
            store.add([Document(key, "MV Skua.", {"title": key})])
    location = GraphLocation(place)
    assert location.open().ids() == ["old"]
    new.replace(place)
    assert location.open().ids() == ["new"]
    location.close()


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (f"postgresql://anna:{SECRET}@db/kb", "must be a secret"),
        (f"postgresql://anna@db/kb?password={SECRET}", "must be a secret"),
        (f"postgresql://anna:{SECRET}@[db/kb", "must be a secret"),
        (f"postgresql+psycopg2://anna:{SECRET}@db/kb", r"must begin with postgresql:// or postgres://"),
        (f"host=db user=anna password={SECRET}", "as a URL"),
        (7, "must be a path, a URL or a secret, but got a int"),
    ],
)
def test_what_is_no_graph_is_refused_without_showing_it(where, message):
    with pytest.raises(ValueError, match=message) as caught:
        GraphLocation(where)
    assert SECRET not in str(caught.value)


def test_a_secret_is_not_shown():
    location = GraphLocation(Home(f"postgresql://anna:{SECRET}@127.0.0.1:1/kb"))
    assert repr(location) == "GraphLocation(a secret)"
    with pytest.raises(ValueError, match="the secret has no value"):
        GraphLocation(Home(None)).open()
    with pytest.raises(ValueError, match="must begin with") as caught:
        GraphLocation(Home(f"mysql://anna:{SECRET}@db/kb")).open()
    assert SECRET not in str(caught.value)


def test_without_the_distribution_the_error_says_what_to_install(tmp_path):
    for folder in (Path(entry) for entry in sys.path if Path(entry).name == "site-packages"):
        for installed in folder.iterdir():
            link = tmp_path / installed.name
            if not installed.name.startswith("hopweave_postgres") and not link.exists():
                link.symlink_to(installed)
    program = "from hopweave.graph_store.store import GraphStore; GraphStore.open('postgresql://db/kb')"
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(Path(hopweave.__file__).parents[1]), str(tmp_path)]),
    }
    command = [sys.executable, "-S", "-c", program]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ran.stderr.splitlines()[-1] == (
        "hopweave.errors.HopweaveError: where: no graph store for postgresql:// is installed; "
        "run: pip install hopweave-postgres"
    )
