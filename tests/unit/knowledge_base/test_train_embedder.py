"""An embedder of one's own: trained on the graph, kept in the file, used for everything that comes later."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest

from hopweave import Document, KnowledgeBase, Query
from hopweave.cli import main
from hopweave.errors import KnowledgeBaseError
from hopweave.knowledge_base.train_embedder import train_embedder
from hopweave.vector.contextual.training import Training

pytestmark = pytest.mark.slow

SHIPS = ["Skua", "Tern", "Gannet", "Puffin"]
TRADES = ["rigging and sails", "engines and boilers", "charts and stars", "ropes and knots"]
QUICK = Training(epochs=6, batch_size=16)


def documents():
    for number, (ship, trade) in enumerate(zip(SHIPS, TRADES, strict=True)):
        for page in range(8):
            text = f"MV {ship} page {page}: her crew knows {trade}. See MV {SHIPS[number - 1]}."
            yield Document(f"{ship}{page}", text, {"title": f"MV {ship}"})


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "ships.db"
    with KnowledgeBase.open(path) as kb:
        kb.add(documents())
    return path


def test_the_loss_falls_and_the_file_keeps_the_embedder(file):
    with KnowledgeBase.open(file) as kb:
        trained = train_embedder(kb, QUICK)
        assert trained.losses[trained.best_epoch] < trained.losses[0]
        model, found = kb.settings.model, [hit.id for hit in kb.search("engines").hits]
    with KnowledgeBase.open(file, read_only=True) as again:
        assert again.settings.model == model
        assert [hit.id for hit in again.search("engines").hits] == found
        assert found[0].startswith("Tern")
        assert again.check() == []


def test_documents_that_come_later_are_embedded_by_it(file):
    with KnowledgeBase.open(file) as kb:
        train_embedder(kb, QUICK)
        kb.add([Document("new", "MV Tern has new boilers.", {"title": "MV Tern"})])
        (vector,) = kb.vectors(["new"]).values()
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-3)
        assert "new" in [hit.id for hit in kb.search("boilers", top_k=10).hits]


def test_trained_twice_with_one_seed_it_is_the_same_and_with_changes_another(file):
    with KnowledgeBase.open(file) as kb:
        first, _ = train_embedder(kb, QUICK), kb.compact()
        name = kb.settings.model
        second = train_embedder(kb, QUICK)
        assert second.losses == pytest.approx(first.losses, rel=1e-3)
        kb.add([Document("new", "The harbour of Hallow.", {"title": "Hallow"})])
        train_embedder(kb, QUICK)
        assert kb.settings.model != name
        assert kb.check() == []


def test_static_start_goes_on_from_word_vectors(file):
    with KnowledgeBase.open(file) as kb:
        trained = train_embedder(kb, QUICK, start="static")
        assert trained.losses[trained.best_epoch] < trained.losses[0]


def test_too_few_edges_are_refused():
    with KnowledgeBase.open() as kb:
        kb.add([Document("a", "A tug.")])
        with pytest.raises(KnowledgeBaseError, match="has 0 edges, too few to train on"):
            train_embedder(kb)


def test_missing_or_damaged_weights_are_said(file):
    with KnowledgeBase.open(file) as kb:
        train_embedder(kb, QUICK)
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE weights SET data = ?", (b"nonsense",))
    with KnowledgeBase.open(file) as kb:
        result = kb.search(Query("engines"))
        assert "its weights are damaged" in result.failures["vector"]
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("DELETE FROM weights")
    with pytest.raises(KnowledgeBaseError, match=r"the weights of its embedder 'graph-.*' are missing"):
        KnowledgeBase.open(file)


def test_the_command(file, capsys):
    assert main(["train-embedder", "--kb", str(file), "--epochs", "2"]) == 0
    assert "32 documents embedded as graph-" in capsys.readouterr().out
    assert main(["train-embedder", "--kb", str(file.with_name("none.db"))]) == 1
    assert "does not exist" in capsys.readouterr().err
