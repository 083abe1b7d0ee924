"""The commands that work with judged queries, as they are typed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from hopweave.cli import main
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.recipe import Recipe
from hopweave.recipes import DEFAULT_RECIPE

QUERIES = [
    {"id": "gate", "question": "When does the tide gate open?", "gold": ["gate"]},
    {"id": "ship", "question": "Which ferry is for the winter?", "gold": [["petrel", "skua"]]},
    {"id": "lost", "question": "Where is the harbour of the northern isle?", "gold": ["hallow", "nowhere"]},
]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, isles):
    monkeypatch.chdir(tmp_path)
    with KnowledgeBase.open("hopweave.db") as kb:
        kb.add(isles)
    lines = [*QUERIES, *({**line, "id": f"{line['id']} again"} for line in QUERIES)]
    Path("queries.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.fixture
def run(capsys):
    """Run a command in this process: exit code, output and complaints."""

    def run(*arguments):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as exit_:
            code = exit_.code
        written = capsys.readouterr()
        return code, written.out, written.err

    return run


def test_evaluate_shows_recipes_and_sources(run):
    code, out, err = run("evaluate", "queries.jsonl", "--recipe", "hybrid", "--recipe", "multihop", "--sources")
    assert code == 0
    names = ["recipe", "hybrid", "hybrid: text", "hybrid: vector", "hybrid: evidence", "multihop", "multihop: text"]
    assert [line for name, line in zip(names, out.splitlines(), strict=False) if not line.startswith(name)] == []
    assert len(out.splitlines()) == 1 + 4 + 6  # the graph by itself, and led by the others
    assert "hopweave: warning: only 6 judged queries" in err
    assert "2 gold ids are not in the knowledge base: lost 'nowhere', lost again 'nowhere'" in err


def test_evaluate_as_json_markdown_and_per_query(run):
    code, out, _ = run("evaluate", "queries.jsonl", "--measure", "recall@5", "--json", "--per-query", "answers.jsonl")
    assert code == 0
    assert json.loads(out)["recipes"]["multihop"]["recall@5"]["mean"] == pytest.approx((1 + 1 + 1 / 2) / 3)
    answers = [json.loads(line) for line in Path("answers.jsonl").read_text().splitlines()]
    assert [(one["id"], one["recall@5"]) for one in answers[:3]] == [("gate", 1.0), ("ship", 1.0), ("lost", 0.5)]
    _, out, _ = run("evaluate", "queries.jsonl", "--measure", "mrr@10", "--markdown")
    assert out.startswith("| recipe | mrr@10 | p50 ms |")


def test_strict_judging(run):
    Path("one.jsonl").write_text(json.dumps({"question": "small winter ferry", "gold": [["nowhere", "petrel"]]}) + "\n")
    means = []
    for strict in ([], ["--strict"]):
        _, out, _ = run("evaluate", "one.jsonl", "--measure", "recall@5", "--json", *strict)
        means.append(json.loads(out)["recipes"]["multihop"]["recall@5"]["mean"])
    assert means == [1.0, 0.0]


def test_compare(run):
    code, out, _ = run("compare", "queries.jsonl", "hybrid", "multihop", "--measure", "recall@5")
    assert code == 0
    assert "measure   hybrid  multihop  difference" in out
    code, out, _ = run("compare", "queries.jsonl", "hybrid", "multihop", "--json")
    assert json.loads(out)["decided_by"] == "recall@5"
    _, out, _ = run("compare", "queries.jsonl", "hybrid", "multihop", "--markdown")
    assert out.startswith("| measure | hybrid | multihop |")


def test_tune_writes_the_recipe(run):
    arguments = ("--trials", 3, "--output", "tuned.yaml", "--seed", 1)
    code, out, err = run("tune", "queries.jsonl", "--recipe", "multihop", *arguments)
    assert code == 0
    assert "sources.graph.restart" in out
    assert "within noise" in err
    assert Recipe.from_yaml(Path("tuned.yaml").read_text()).name == "multihop"
    _, again, _ = run("tune", "queries.jsonl", "--recipe", "multihop", *arguments)
    assert again == out


def test_tune_only_what_is_named(run):
    parameters = ("--parameter", "fuse.exponent=1:4", "--parameter", "fuse.weights.text")
    code, out, _ = run("tune", "queries.jsonl", *parameters, "--trials", 2, "--held-out", 0.5, "--json")
    assert code == 0
    tuned = json.loads(out)
    assert list(tuned["parameters"]) == ["fuse.exponent", "fuse.weights.text"]
    assert [list(trial["values"]) for trial in tuned["tried"]] == [list(tuned["parameters"])] * tuned["trials"]


def test_diagnose(run):
    code, out, _ = run("diagnose", "queries.jsonl", "--recipe", "hybrid", "--recipe", "multihop")
    assert code == 0
    assert "hybrid: 2 of 6 questions lack relevant documents in the first 10 hits" in out
    assert "    'nowhere': not in the knowledge base; no rank" in out
    code, out, _ = run("diagnose", "queries.jsonl", "--json", "--top-k", 3)
    assert json.loads(out)["recipes"][0]["reasons"]["not_stored"] == 2


def test_diagnose_a_corpus_without_queries(run):
    code, out, err = run("diagnose")
    assert (code, err) == (0, "")
    assert out.startswith("5 documents, 5 of them read")
    assert "Too little to judge the embedder" in out
    code, out, _ = run("diagnose", "--kb", "hopweave.db", "--sample", 2, "--seed", 1, "--json")
    report = json.loads(out)
    assert (code, report["documents"], report["ratio"]) == (0, 5, None)
    assert report["questions"] <= 2
    assert report["advice"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["evaluate", "lost.jsonl"], "lost.jsonl: does not exist"),
        (["evaluate", "queries.jsonl", "--measure", "speed@5"], "measure: 'speed@5' is not allowed"),
        (["evaluate", "queries.jsonl", "--recipe", "hybird"], "there is no recipe 'hybird'"),
        (["evaluate", "queries.jsonl", "--kb", "lost.db"], "lost.db"),
        (["compare", "queries.jsonl", "hybrid", "hybrid"], "recipes: 'hybrid' comes twice"),
        (["tune", "queries.jsonl", "--parameter", "fuse.exponent"], "fuse.exponent has no bounds of its own"),
        (["tune", "queries.jsonl", "--held-out", "2"], "held_out: 2.0 is not allowed"),
        (["diagnose", "bad.jsonl"], "bad.jsonl line 2: gold: nothing is not allowed"),
        (["diagnose", "--recipe", "hybrid"], "--recipe needs judged queries"),
        (["diagnose", "--top-k", "3"], "--top-k needs judged queries"),
        (["diagnose", "queries.jsonl", "--sample", "3"], "--sample is for a corpus without judged queries"),
        (["diagnose", "--kb", "lost.db"], "lost.db"),
    ],
)
def test_complaints(run, arguments, complaint):
    Path("bad.jsonl").write_text(f'{json.dumps(QUERIES[0])}\n{{"question": "?"}}\n')
    code, out, err = run(*arguments)
    assert (code, out) == (1, "")
    assert complaint in err


@pytest.mark.parametrize(
    "arguments", [["evaluate"], ["compare", "queries.jsonl", "hybrid"], ["tune", "q", "--trials", "0"]]
)
def test_wrong_usage(run, arguments):
    assert run(*arguments)[0] == 2


def test_help_of_the_measuring_commands_loads_nothing_heavy():
    program = (
        "import sys, hopweave.cli as cli\ntry: cli.main(['tune', '--help'])\nexcept SystemExit: print(*sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"optuna", "ir_measures", "scipy", "numpy"} & set(ran.stdout.split())


@pytest.mark.parametrize(
    ("command", "name_in"),
    {
        "evaluate": lambda data: "".join(data["recipes"]),
        "diagnose": lambda data: data["recipes"][0]["recipe"],
        "tune": lambda data: data["recipe"],
    }.items(),
)
def test_the_usual_recipe(run, command, name_in):
    fewer = ["--trials", "2"] if command == "tune" else []
    code, out, _ = run(command, "queries.jsonl", "--json", *fewer)
    assert (code, name_in(json.loads(out))) == (0, DEFAULT_RECIPE)
    assert f"(default: {DEFAULT_RECIPE})" in " ".join(run(command, "--help")[1].split())
