"""Intent and weights in the output of `hopweave query`, and many questions in one run."""

import io
import json

import pytest

from hopweave import Document, KnowledgeBase
from hopweave.cli import main
from hopweave.sources.keyword import Keyword


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "kb.db"
    with KnowledgeBase.open(path) as kb:
        kb.add([Document("pump", "Fix the bilge pump."), Document("gate", "The tide gate opens at six.")])
    return str(path)


@pytest.fixture
def asked(monkeypatch):
    """The questions that the source of words is asked, in order."""
    questions = []
    search = Keyword.search

    def counting(self, query, *arguments, **options):
        questions.append(query.text)
        return search(self, query, *arguments, **options)

    monkeypatch.setattr(Keyword, "search", counting)
    return questions


def test_intent_and_weights_are_shown(file, capsys):
    assert main(["query", "How do I fix the pump?", "--kb", file, "--recipe", "knowledge"]) == 0
    assert capsys.readouterr().out.startswith(
        "intent debugging: embedding 0.3, text 0.45, graph 0.2, intent_edges 0.05\n  1  "
    )
    assert main(["query", "fix the pump", "--kb", file, "--recipe", "knowledge", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["intent"], found["weights"]["text"]) == ("debugging", 0.45)
    assert main(["query", "fix the pump", "--kb", file, "--recipe", "hybrid"]) == 0
    assert "intent" not in capsys.readouterr().out


@pytest.mark.parametrize(("switch", "searches"), [([], 3), (["--cache-seconds", "300"], 2)])
def test_questions_that_come_again_are_answered_from_the_cache_if_there_is_one(
    file, asked, capsys, monkeypatch, switch, searches
):
    monkeypatch.setattr("sys.stdin", io.StringIO("fix the pump\n\ntide gate\nfix the pump\n"))
    assert main(["query", "-", "--kb", file, "--recipe", "knowledge", "--json", *switch]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["query"] for one in found] == ["fix the pump", "tide gate", "fix the pump"]
    assert found[0]["hits"] == found[2]["hits"]
    assert len(asked) == searches


def test_questions_are_named_in_plain_output_and_bad_times_refused(file, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("pump\ngate\n"))
    assert main(["query", "-", "--kb", file]) == 0
    assert [line for line in capsys.readouterr().out.splitlines() if line.startswith("?")] == ["? pump", "? gate"]
    with pytest.raises(SystemExit):
        main(["query", "-", "--kb", file, "--cache-seconds", "0"])
    assert "must be a number of seconds above 0" in capsys.readouterr().err


@pytest.fixture
def tickets(tmp_path):
    path = tmp_path / "tickets.db"
    with KnowledgeBase.open(path) as kb:
        kb.add([Document("gate", "The tide gate is stuck.")])
    return str(path)


def found(capsys):
    return {hit["id"] for hit in json.loads(capsys.readouterr().out)["hits"]}


def test_several_files_are_searched_as_one(file, tickets, tmp_path, capsys):
    asked = ["query", "tide gate", "--json", "--recipe", str(tmp_path / "words.yaml")]
    (tmp_path / "words.yaml").write_text("name: words\nsources: {text: {kind: bm25}}")
    assert main([*asked, "--kb", file]) == 0
    assert found(capsys) == {"gate"}
    assert main([*asked, "--kb", file, "--kb", tickets]) == 0
    assert found(capsys) == {"kb/gate", "tickets/gate"}
    assert main([*asked, "--kb", f"handbook={file}", "--kb", tickets]) == 0
    assert found(capsys) == {"handbook/gate", "tickets/gate"}
    (tmp_path / "words.yaml").write_text("name: words\nsources: {text: {kind: bm25}}\nknowledge_bases: [tickets]")
    assert main([*asked, "--kb", file, "--kb", tickets]) == 0
    assert found(capsys) == {"tickets/gate"}
    assert main([*asked, "--kb", file]) == 1
    assert "recipe 'words': knowledge base 'tickets' is missing; given are kb" in capsys.readouterr().err


def test_the_receipts_name_the_knowledge_base(file, tickets, capsys):
    assert main(["query", "tide gate", "--explain", "--kb", file, "--kb", tickets]) == 0
    assert "name=tickets  id=gate" in capsys.readouterr().out


def test_two_files_of_one_name_are_refused(file, capsys):
    assert main(["query", "tide gate", "--kb", file, "--kb", file]) == 1
    assert "are both called 'kb'; give one as NAME=" in capsys.readouterr().err


def test_a_path_may_have_an_equals_sign(file, tmp_path, capsys):
    folder = tmp_path / "year=2026"
    folder.mkdir()
    path = str(folder / "kb.db")
    with KnowledgeBase.open(path) as kb:
        kb.add([Document("gate", "The tide gate opens at six.")])
    assert main(["query", "tide gate", "--json", "--kb", path]) == 0
    assert found(capsys) == {"gate"}


def test_a_file_of_tenants_is_searched_for_one_or_expressly_for_all(tmp_path, capsys):
    path = str(tmp_path / "kb.db")
    with KnowledgeBase.open(path) as kb:
        for customer, number in (("acme", 1), ("zeta", 2)):
            owner = {"customer": customer, "number": number}
            kb.add([Document(f"{customer}-gate", "The tide gate opens at six.", owner)], tenant=owner)
    asked = ["query", "tide gate", "--kb", path, "--json"]

    def found(*switches):
        assert main([*asked, *switches]) == 0
        return sorted(one["id"] for one in json.loads(capsys.readouterr().out)["hits"])

    assert main([*asked, "--tenant", "customer=acme"]) == 1
    assert "give --tenant number=..., or --every-tenant" in capsys.readouterr().err
    assert main(asked) == 1
    assert "--tenant customer=... --tenant number=..., or --every-tenant for all" in capsys.readouterr().err
    assert found("--tenant", "customer=acme", "--tenant", "number=1") == ["acme-gate"]
    assert found("--tenant", "customer=acme", "--tenant", "number=2") == []
    assert found("--every-tenant") == ["acme-gate", "zeta-gate"]
    with pytest.raises(SystemExit):
        main([*asked, "--every-tenant", "--tenant", "customer=acme"])
