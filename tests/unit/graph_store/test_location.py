"""Where a graph lives: opened late, shared, read-only, and without passwords in sight."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import hopweave
from hopweave.document import Document
from hopweave.graph_store.location import GraphLocation
from hopweave.graph_store.store import GraphStore

SECRET = "sesame-street"


class Home:
    def __init__(self, place):
        self.place = place

    def __call__(self):
        return self.place


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
