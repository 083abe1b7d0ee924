"""An embedder that fails for a while: nothing of that time stays."""

import numpy as np
import pytest

from hopweave.cli import main
from hopweave.document import Document
from hopweave.errors import EmbeddingError, KnowledgeBaseError
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.query import Query
from hopweave.recipe import Recipe
from hopweave.stages.similarity.hit_vectors import question_cosines
from hopweave.vector.embedders import CallableEmbedder, Cascade, StaticEmbedder

VECTORS = Recipe.from_yaml(
    "{name: vectors, sources: {vector: {kind: vector}}, fuse: {kind: passthrough, source: vector}}"
)
SHIPS = [Document("skua", "The Skua is a ferry."), Document("tern", "The Tern is a tug.")]
LATE = [
    Document("gull", "The Gull is a barge.", {"year": 1974}),
    Document("wren", "The Wren is a ferry.", source="a.md"),
]


class Service:
    """Embeds by the counts of letters, while it is up."""

    def __init__(self):
        self.up = True

    def __call__(self, texts):
        if not self.up:
            raise ConnectionError("unreachable")
        return (
            np.array([[text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]) + 0.01
        )


@pytest.fixture
def service():
    return Service()


@pytest.fixture
def embedder(service):
    return Cascade(embedders=(CallableEmbedder(name="letters", function=service), StaticEmbedder()))


@pytest.fixture
def kb(tmp_path, embedder):
    with KnowledgeBase.open(tmp_path / "a.db", embedder=embedder) as kb:
        kb.add(SHIPS)
        yield kb


def test_a_question_that_another_embedder_answered_is_asked_again(kb, service):
    service.up = False
    assert kb.embed("ferry")[0] != "letters"
    service.up = True
    assert kb.embed("ferry")[0] == "letters"
    service.up = False
    assert kb.embed("ferry")[0] == "letters"  # kept from when it was up


def test_what_was_added_meanwhile_is_named_and_mended(kb, service):
    assert kb.check() == []
    service.up = False
    kb.add(LATE)
    service.up = True
    found = kb.check()
    assert [sentence.split("'")[1] for sentence in found] == ["gull", "wren"]
    assert all("has no vector of model 'letters'" in sentence and "--repair" in sentence for sentence in found)
    before = {hit.id: hit for hit in kb.get(kb.ids()).values()}
    assert kb.repair(batch_size=1) == 2
    assert kb.check() == []
    assert {hit.id: hit for hit in kb.get(kb.ids()).values()} == before
    assert kb.sources() == {"a.md": 1}
    vector = kb.embed("The Wren is a ferry.")[1]
    assert kb.rank_vectors(vector, top_k=1)[0][0] == "wren"
    assert set(kb.vectors(["skua", "wren"])) == {"skua", "wren"}
    assert kb.repair() == 0


def test_a_repair_while_it_still_fails_changes_nothing_and_says_so(kb, service):
    service.up = False
    kb.add(LATE)
    version = kb.version
    with pytest.raises(EmbeddingError, match="embedder 'letters' still fails"):
        kb.repair()
    assert kb.version == version


def test_what_is_changed_during_a_repair_is_left_alone(kb, service):
    service.up = False
    kb.add(LATE)
    service.up = True
    changed = Document("gull", "The Gull was scrapped.")
    original = service.__call__

    class Meanwhile(Service):
        def __call__(self, texts):
            if len(texts) == 2 and kb.get(["gull"])["gull"].text != changed.text:
                kb.add([changed])
            return original(texts)

    service.__class__ = Meanwhile
    assert kb.repair() == 1
    assert kb.get(["gull"])["gull"].text == changed.text
    assert kb.check() == []


def test_a_question_is_answered_by_the_other_model_and_the_receipt_names_it(kb, service, caplog):
    kb.add(LATE)
    (own,) = {hit.receipts[0].details["model"] for hit in kb.search("barge", recipe=VECTORS).hits}
    assert own == "letters"
    service.up = False
    found = kb.search("a ferry on the water", recipe=VECTORS).hits
    static = StaticEmbedder()
    assert {hit.receipts[0].details["model"] for hit in found} == {static.model_name}
    with KnowledgeBase.open(embedder=static) as alone:
        alone.add([*SHIPS, *LATE])
        expected = alone.search("a ferry on the water", recipe=VECTORS).hits
    assert [(hit.id, hit.score) for hit in found] == [(hit.id, pytest.approx(hit.score)) for hit in expected]
    assert "wordllama" in caplog.text
    assert "letters: ConnectionError" in caplog.text


def test_vectors_that_the_other_model_lacks_are_named_mended_and_logged_until_then(kb, service, caplog):
    other = StaticEmbedder().model_name
    with kb._connections.writing() as connection:  # as if the second had failed when it was added
        connection.execute("DELETE FROM vectors WHERE model = ? AND row = 1", (other,))
    (sentence,) = kb.check()
    assert sentence.startswith(f"document 'skua' has no vector of model '{other}'")
    service.up = False
    assert [hit.id for hit in kb.search("ferry", recipe=VECTORS).hits] == ["tern"]
    assert f"1 of 2 documents have no vector of {other}" in caplog.text
    service.up = True
    assert kb.repair() == 1
    service.up = False
    assert kb.check() == []
    assert len(kb.search("a ferry, once more", recipe=VECTORS).hits) == 2


def test_stages_compare_the_question_with_vectors_of_the_model_that_embedded_it(tmp_path):
    service = Service()
    first = CallableEmbedder(name="first", function=lambda texts: service(texts)[:, :2])
    mirrored = CallableEmbedder(name="second", function=lambda texts: Service()(texts)[:, 1::-1])
    with KnowledgeBase.open(tmp_path / "a.db", embedder=Cascade(embedders=(first, mirrored))) as kb:
        kb.add([Document("a", "aaaa"), Document("b", "bbbb")])
        hits = [*kb.get(["a", "b"]).values()]
        service.up = False
        assert question_cosines(hits, Query("aaa"), kb) == [pytest.approx(1, abs=0.01), pytest.approx(0, abs=0.01)]


def test_documents_that_bring_their_vectors_are_embedded_by_the_others(kb, service):
    own = service(["The Auk is a tug."])[0]
    kb.add([Document("auk", "The Auk is a tug.", vector=own)], vectors_of="letters")
    assert kb.check() == []
    service.up = False
    assert kb.search("The Auk is a tug.", recipe=VECTORS).hits[0].id == "auk"


def test_the_command_repairs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    service = Service()
    failing = CallableEmbedder(name="wordllama-l2-supercat-256", function=service)
    other = CallableEmbedder(name="other", function=lambda texts: [[1.0, len(text)] for text in texts])
    cascade = Cascade(embedders=(failing, other))
    with KnowledgeBase.open("hopweave.db") as kb:  # the default embedder, which the command finds in the file
        kb.add(SHIPS)
    service.up = False
    with KnowledgeBase.open("hopweave.db", embedder=cascade) as kb:
        kb.add(LATE)
    assert main(["check"]) == 1
    assert "hopweave index --repair" in capsys.readouterr().out
    assert main(["index", "--repair"]) == 0
    assert "2 embedded again; 4 documents" in capsys.readouterr().out
    assert main(["check"]) == 0


@pytest.mark.parametrize("arguments", [[], ["--sync"], ["--repair", "--sync"]])
def test_the_command_needs_something_to_do(arguments, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with KnowledgeBase.open("hopweave.db") as kb:
        kb.add(SHIPS)
    with pytest.raises(SystemExit, match="2"):
        main(["index", *arguments])
    assert "arguments are required: path" in capsys.readouterr().err
    with KnowledgeBase.open("hopweave.db") as kb:
        assert kb.count() == 2


def test_a_file_without_vectors_needs_no_repair(tmp_path):
    with KnowledgeBase.open(tmp_path / "a.db", embedder=None) as kb:
        kb.add(SHIPS)
        assert kb.check() == []
        assert kb.repair() == 0
        with pytest.raises(KnowledgeBaseError, match="has no embedder"):
            kb.embed("ferry")
