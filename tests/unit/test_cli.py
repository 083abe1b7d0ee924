import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

import hopweave
from hopweave.cli import main
from hopweave.document import Document
from hopweave.knowledge_base.schema import SCHEMA_VERSION
from hopweave.knowledge_base.store import KnowledgeBase

COMMANDS = ("index", "query", "evaluate", "compare", "tune", "diagnose", "delete", "check", "schema")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


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


@pytest.fixture
def isles_db(isles):
    with KnowledgeBase.open("hopweave.db") as kb:
        kb.add(isles)
    return Path("hopweave.db")


def process(*arguments, **how):
    return subprocess.run(
        [sys.executable, "-m", "hopweave", *arguments], capture_output=True, text=True, check=False, timeout=60, **how
    )


def lines(*rows):
    Path("c.jsonl").write_text("".join(row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows))
    return "c.jsonl"


def stored(path):
    connection = sqlite3.connect(path)
    try:
        return connection.execute("SELECT count(*) FROM documents").fetchone()[0]
    except sqlite3.Error:  # not there yet
        return 0
    finally:
        connection.close()


# As a user meets it


@pytest.mark.slow
def test_index_query_and_check_in_real_processes():
    Path("docs").mkdir()
    Path("docs/skua.md").write_text("# MV Skua\n\nA ferry to Hallow.")
    Path("docs/gate.md").write_text("# Tide gate\n\nIt opens at six.")
    indexed = process("index", "docs")
    assert (indexed.returncode, indexed.stdout, indexed.stderr) == (
        0,
        "hopweave.db: 2 added, 0 updated, 0 unchanged; 2 documents\n",
        "",
    )
    asked = process("query", "when does the gate open?", "--json")
    assert (asked.returncode, asked.stderr) == (0, "")
    assert json.loads(asked.stdout)["hits"][0]["id"] == "gate.md"
    assert process("check").stdout.startswith("hopweave.db: sound, 2 documents")


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_has_seen_enough_is_no_error(isles_db, unbuffered):
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    script = f"{sys.executable} -m hopweave query ferry --explain | true; echo ${{PIPESTATUS[0]}}"
    ran = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, env=environment)
    assert ran.stdout.endswith("0\n")
    assert ran.stderr == ""


def interruptible():
    """A shell ignores the signal in what it starts in the background, and children inherit that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_interrupting_keeps_what_is_committed_and_running_again_goes_on():
    path = lines(*({"id": f"d{n}", "text": f"passage {n} " * 40} for n in range(20_000)))
    command = [sys.executable, "-m", "hopweave", "index", path, "--batch-size", "50"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes, preexec_fn=interruptible) as child:  # noqa: PLW1509 - no other threads
        while not (Path("hopweave.db").exists() and stored("hopweave.db") > 100):
            time.sleep(0.02)
        child.send_signal(signal.SIGINT)
        _, complaint = child.communicate(timeout=60)
    assert child.returncode == 130
    count = int(re.search(r"interrupted with (\d+) documents stored; run it again to go on", complaint)[1])
    assert count >= 100
    with KnowledgeBase.open("hopweave.db", read_only=True) as kb:
        assert kb.count() == count
        assert kb.check() == []


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_workers_end_with_the_command_and_let_go_of_its_output(number, code):
    path = lines(*({"id": f"d{n}", "text": f"passage {n} " * 40} for n in range(20_000)))
    command = [sys.executable, "-m", "hopweave", "index", path, "--batch-size", "50", "--workers", "2"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes, preexec_fn=interruptible) as child:  # noqa: PLW1509 - no other threads
        while not (Path("hopweave.db").exists() and stored("hopweave.db") > 100):
            time.sleep(0.02)
        child.send_signal(number)
        _, complaint = child.communicate(timeout=30)  # until nobody can write any more
    assert child.returncode == code
    assert ("run it again to go on" in complaint) == (number != signal.SIGKILL)
    assert "Traceback" not in complaint
    assert process("check").returncode == 0


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_closed_stream_is_no_error(isles_db, closed):
    script = f"{sys.executable} -m hopweave info --json {closed}"
    ran = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert (ran.stdout == "") == closed.startswith(">")


@pytest.mark.slow
def test_characters_that_the_terminal_lacks_are_shown_by_their_numbers(isles_db):
    with KnowledgeBase.open("hopweave.db") as kb:
        kb.add([Document("boat", "The boat → 船 🚢")])
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    asked = process("query", "boat", "--explain", env=ascii_only)
    assert (asked.returncode, asked.stderr) == (0, "")
    assert r"The boat \u2192 \u8239 \ud83d\udea2" in asked.stdout
    read = json.loads(process("query", "boat", "--json", env=ascii_only).stdout)
    assert read["hits"][0]["text"] == "The boat → 船 🚢"


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)])
def test_help_shows_examples(run, command):
    code, out, _ = run(*command, "--help")
    assert code == 0
    assert f"hopweave {command[0] if command else 'index'} " in out
    assert "examples:" in out or not command


def test_version(run):
    assert run("--version") == (0, f"hopweave {hopweave.__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "required: COMMAND"),
        (["fly"], "invalid choice: 'fly'"),
        (["index"], "required: path"),
        (["query"], "required: question"),
        (["query", ""], "must not be empty"),
        (["query", " \n\t "], "must not be empty"),
        (["query", "\udcff"], "must be valid text"),
        (["query", "x", "--top-k", "0"], "must be a whole number of at least 1, but got '0'"),
        (["query", "x", "--top-k", "-3"], "--top-k"),
        (["query", "x", "--top-k", "ten"], "but got 'ten'"),
        (["query", "x", "--top-k", "²"], "but got '²'"),
        (["query", "x", "--filter", "type"], "must look like field=value, but got 'type'"),
        (["query", "x", "--filter", "=ship"], "must look like field=value"),
        (["index", "x", "--batch-size", "0"], "at least 1"),
        (["query", "x", "--colour"], "--colour"),
    ],
)
def test_wrong_usage_is_exit_code_two(run, arguments, complaint):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert complaint in err


# index


def test_indexing_again_changes_nothing(run):
    path = lines({"id": "a", "text": "one"}, {"id": "b", "text": "two"})
    assert run("index", path)[1] == "hopweave.db: 2 added, 0 updated, 0 unchanged; 2 documents\n"
    assert run("index", path)[1] == "hopweave.db: 0 added, 0 updated, 2 unchanged; 2 documents\n"
    lines({"id": "a", "text": "one"}, {"id": "b", "text": "changed"})
    assert run("index", path)[1] == "hopweave.db: 0 added, 1 updated, 1 unchanged; 2 documents\n"


def test_quiet_says_nothing(run):
    assert run("index", lines({"id": "a", "text": "one"}), "--quiet") == (0, "", "")


def test_a_broken_line_ends_its_file_with_its_number_and_keeps_what_came_before(run):
    path = lines({"id": "a", "text": "one"}, {"id": "b", "text": "two"}, "{broken\n", {"id": "c", "text": "three"})
    code, out, err = run("index", path, "--batch-size", "1")
    assert (code, out) == (1, "hopweave.db: 2 added, 0 updated, 0 unchanged, 1 skipped; 2 documents\n")
    assert err.startswith("hopweave: skipped: c.jsonl line 3: is not JSON: ")
    with KnowledgeBase.open("hopweave.db") as kb:
        assert (kb.get(["a", "b", "c"]).keys(), kb.check()) == ({"a", "b"}, [])


def test_skip_noise_stores_the_rest_and_names_what_was_left_out(run):
    path = Path("memories.jsonl")
    lines = [{"id": "greeting", "text": "hello!"}, {"id": "fact", "text": "The tide gate opens at six."}]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    run("index", path)
    code, out, err = run("index", path, "--skip-noise")
    assert code == 0
    assert "left out as noise (greeting): greeting" in err
    assert out.strip() == "hopweave.db: 0 added, 0 updated, 1 unchanged, 1 removed, 1 left out as noise; 1 documents"


def test_skip_bad_indexes_the_rest_and_names_what_was_left_out(run):
    path = lines(
        {"id": "a", "text": "one"},
        "{broken\n",
        {"id": "b"},
        {"id": "c", "text": "x", "n": float("nan")},
        {"id": "d", "text": "four"},
    )
    code, out, err = run("index", path, "--skip-bad")
    assert (code, out) == (0, "hopweave.db: 2 added, 0 updated, 0 unchanged, 3 skipped; 2 documents\n")
    assert [line.split(": ")[2] for line in err.splitlines()] == ["c.jsonl line 2", "c.jsonl line 3", "c.jsonl line 4"]


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("missing.md", None, "missing.md: does not exist"),
        ("missing", None, "missing: does not exist"),
        ("picture.png", b"\x89PNG", "picture.png: unknown kind of file; allowed are .md"),
        ("binary.txt", b"caf\x00\xe9\x01\x02", "binary.txt: "),
    ],
)
def test_unreadable_files_are_named(run, name, content, complaint):
    if content is not None:
        Path(name).write_bytes(content)
    good = lines({"id": "a", "text": "one"})
    code, out, err = run("index", good, name)
    assert (code, out) == (
        1,
        "" if content is None else "hopweave.db: 1 added, 0 updated, 0 unchanged, 1 skipped; 1 documents\n",
    )
    assert err.startswith(f"hopweave: {'' if content is None else 'skipped: '}{complaint}")
    code, out, err = run("index", good, name, "--skip-bad")
    assert code == 0
    assert out.endswith("1 skipped; 1 documents\n")
    assert f"hopweave: skipped: {complaint}" in err


def test_nothing_is_made_for_a_path_that_does_not_exist(run):
    run("index", "typo")
    assert os.listdir() == []


def test_a_wrong_vector_size_is_named_and_nothing_is_lost(run):
    path = lines({"id": "a", "text": "one", "vector": [1, 2]}, {"id": "b", "text": "two", "vector": [1, 2, 3]})
    code, _, err = run("index", path, "--embedder", "none", "--batch-size", "1")
    assert code == 1
    assert err == "hopweave: document 'b': its vector has 3 numbers, but those of model 'given' have 2\n"
    assert run("check")[1].startswith("hopweave.db: sound, 1 documents")


def test_two_files_that_claim_the_same_id_do_not_replace_one_another(run):
    for folder in ("one", "two"):
        Path(folder).mkdir()
        Path(folder, "page.md").write_text(f"from {folder}")
    code, _, err = run("index", "one", "two")
    assert code == 1
    assert (
        f"hopweave: {Path.cwd()}/two/page.md: would replace 'page.md', which comes from {Path.cwd()}/one/page.md; "
        in err
    )
    assert "index them one after the other, each with a --prefix of its own" in err
    code, out, _ = run("index", "one", "two", "--skip-bad")
    assert (code, out) == (0, "hopweave.db: 1 added, 0 updated, 0 unchanged, 1 skipped; 1 documents\n")


def test_settings_of_a_file_hold(run):
    path = lines({"id": "a", "text": "maxLevel"})
    assert run("index", path, "--analyzer", "nlp", "--analyzer", "code", "--embedder", "none")[0] == 0
    assert run("index", path)[0] == 0
    assert "is indexed with analyzers nlp, code, not light" in run("index", path, "--analyzer", "light")[2]
    assert "holds vectors of 'given', not of 'wordllama" in run("index", path, "--embedder", "static")[2]
    code, _, err = run("index", path, "--kb", "other.db", "--analyzer", "klingon")
    assert (code, "analyzer 'klingon' is unknown" in err) == (1, True)


@pytest.mark.slow
def test_a_model_that_cannot_be_had_is_named(run):
    pytest.importorskip("sentence_transformers")
    code, _, err = run("index", lines({"id": "a", "text": "x"}), "--embedder", "no/such-model")
    assert code == 1
    assert "model 'no/such-model' cannot be loaded" in err


def test_a_folder_with_an_onnx_model(run, onnx_minilm):
    path = lines({"id": "a", "text": "A ferry on the sea."}, {"id": "b", "text": "Income tax law."})
    assert run("index", path, "--embedder", f"onnx:{onnx_minilm}")[0] == 0
    assert "all-MiniLM-L6-v2 onnx-" in run("info")[1]
    assert run("query", "boat on the ocean", "--top-k", "1")[1].count("ferry") == 1
    code, _, err = run("index", path, "--kb", "other.db", "--embedder", "onnx:no/such/folder")
    assert (code, "'no/such/folder' is neither a folder nor a file" in err) == (1, True)


# query


def test_the_table_shows_rank_score_id_title_and_text(run, isles_db):
    code, out, err = run("query", "tide gate", "--top-k", "2")
    first, text, *_ = out.splitlines()
    assert (code, err) == (0, "")
    assert re.fullmatch(r"  1 +[01](\.\d+)?  gate  Tide gate", first)
    assert text.strip() == "The tide gate at Hallow opens at six."
    assert len(out.splitlines()) == 4


def test_explain_shows_receipts_and_timings(run, isles_db):
    _, out, _ = run("query", "tide gate", "--explain")
    assert re.search(
        r"· pagerank: 1  rank=1  seeds=\['Tide gate'\]  linking=1  trust=[\d.]+ .* path=Tide gate ←about— Tide", out
    )
    assert re.search(r"· bm25: [\d.]+  rank=1  analyzer=nlp", out)
    assert re.search(r"· vector: [\d.]+  rank=1  model=wordllama", out)
    assert re.search(r"· trust_weighted: 1 .*weights=\{evidence: [\d.]+, graph: [\d.]+, text: 0, vector: 0\}", out)
    assert re.search(r"· evidence_sum: [\d.]+  rank=1  weights=.*  addends=\{", out)
    assert re.search(r"text [\d.]+ ms, .*total [\d.]+ ms", out)


def test_json_is_one_document_and_nothing_else(run, isles_db):
    code, out, err = run("query", "tide gate", "--json", "--top-k", "3", "--explain")
    data = json.loads(out)
    assert (code, err) == (0, "")
    assert data["hits"][0]["id"] == "gate"
    assert len(data["hits"]) == 3
    assert data["query"] == "tide gate"
    assert data["plan"]["sources"] == ["text", "vector", "graph", "evidence"]


def test_a_report_is_written_beside_what_is_printed(run, isles_db):
    code, out, err = run("query", "tide gate", "--report", "gate.html", "--top-k", "2")
    assert (code, out, err) == run("query", "tide gate", "--top-k", "2")
    page = Path("gate.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert page.count('<li class="hit">') == 2
    code, _, err = run("query", "tide gate", "--report", "no/such/folder.html")
    assert code == 1
    assert "no/such/folder.html" in err


def test_nothing_found_is_no_error(run):
    run("index", lines({"id": "a", "text": "one"}), "--embedder", "none", "--quiet")
    Path("words.yaml").write_text("name: words\nsources: {text: {kind: bm25}}")
    assert run("query", "zeppelin", "--recipe", "words.yaml") == (0, "no hits\n", "")
    assert json.loads(run("query", "zeppelin", "--recipe", "words.yaml", "--json")[1])["hits"] == []


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (["type=ship"], {"skua", "petrel"}),
        (["type=ship", "type=notice"], {"skua", "petrel", "notice"}),
        (["type=ship", "title=MV Skua"], {"skua"}),
        (["type=submarine"], set()),
        (["year=1974"], {"numbers"}),
        (["real=0.5"], {"numbers"}),
        (["open=true"], {"numbers"}),
        (["code=007"], {"numbers"}),
        (["sum=a=b"], {"numbers"}),
    ],
)
def test_filters_match_text_numbers_and_truth_values(run, isles_db, filters, expected):
    with KnowledgeBase.open(isles_db) as kb:
        metadata = {"year": 1974, "real": 0.5, "open": True, "code": "007", "sum": "a=b"}
        kb.add([Document("numbers", "ferry", metadata)])
    arguments = [part for one in filters for part in ("--filter", one)]
    assert {hit["id"] for hit in json.loads(run("query", "ferry", *arguments, "--json")[1])["hits"]} == expected


def test_a_source_that_was_left_out_is_reported(run):
    run("index", lines({"id": "skua", "text": "a ferry"}), "--embedder", "none", "--quiet")
    Path("r.yaml").write_text("name: r\nsources:\n  text: {kind: bm25}\n  vector: {kind: vector, optional: true}")
    code, out, err = run("query", "ferry", "--recipe", "r.yaml")
    assert code == 0
    assert "skua" in out
    assert err.startswith("hopweave: vector failed and was skipped: KnowledgeBaseError: hopweave.db: has no embedder")


@pytest.mark.parametrize(
    ("recipe", "complaint"),
    [
        ("name: r\nsources: {t: {kind: bm25}}\ncolour: blue", "r.yaml: colour: unknown key"),
        ("name: r\nsources: {t: {kind: bm25, topk: 5}}", "r.yaml: sources.t.bm25.topk: unknown key"),
        ("name: r\nsources: {t: {kind: bm26}}", "r.yaml: sources.t.kind: 'bm26' is not allowed"),
        ("name: [", "r.yaml: is not usable YAML"),
        (None, "there is no recipe 'r.yaml' and no such file; shipped are"),
    ],
)
def test_a_bad_recipe_is_named(run, isles_db, recipe, complaint):
    if recipe:
        Path("r.yaml").write_text(recipe)
    code, out, err = run("query", "ferry", "--recipe", "r.yaml")
    assert (code, out) == (1, "")
    assert err.startswith(f"hopweave: {complaint}")


@pytest.mark.parametrize(
    "text", ['"', "ferry*", "title:ferry", "NEAR(a b)", "a AND (b OR", "-ferry", "'; DROP TABLE x;"]
)
@pytest.mark.parametrize("kind", ["full_text", "keyword"])
def test_full_text_metacharacters_are_just_characters(run, isles_db, text, kind):
    Path("r.yaml").write_text(f"name: r\nsources: {{t: {{kind: {kind}}}}}")
    code, _, err = run("query", "--recipe", "r.yaml", "--", text)
    assert (code, err) == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize("text", ["tide gate " * 105_000, "x" * 1_050_000, " ".join(str(n) for n in range(160_000))])
def test_a_megabyte_of_question_is_answered(run, isles_db, text):
    assert len(text) > 1_000_000
    started = time.perf_counter()
    code, out, err = run("query", text, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["query"] == text
    assert time.perf_counter() - started < 20


# files that are not what they should be


@pytest.mark.parametrize("command", [("query", "ferry"), ("check",)])
def test_a_file_that_is_not_there_or_not_ours_is_named(run, command):
    assert run(*command, "--kb", "none.db") == (1, "", "hopweave: none.db: does not exist\n")
    assert not Path("none.db").exists()
    Path("text.db").write_text("just text, not a database " * 100)
    code, out, err = run(*command, "--kb", "text.db")
    assert (code, out) == (1, "")
    assert err.startswith("hopweave: text.db: is not a hopweave knowledge base")
    sqlite3.connect("other.db").execute("CREATE TABLE t (x)").connection.close()
    assert "other.db: is a database of another program" in run(*command, "--kb", "other.db")[2]


@pytest.mark.parametrize("command", [("query", "ferry"), ("check",), ("index", "c.jsonl")])
def test_a_newer_file_says_how_to_upgrade(run, isles_db, command):
    lines({"id": "a", "text": "x"})
    connection = sqlite3.connect(isles_db)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    connection.close()
    code, out, err = run(*command)
    assert (code, out) == (1, "")
    assert f"hopweave.db: has schema {SCHEMA_VERSION + 1}" in err
    assert "pip install --upgrade hopweave" in err


def test_check_says_what_is_wrong(run, isles_db):
    assert re.fullmatch(r"hopweave\.db: sound, 5 documents, version \d+\n", run("check")[1])
    connection = sqlite3.connect(isles_db)
    connection.execute("UPDATE documents SET metadata = '{}' WHERE id = 'skua'")
    connection.commit()
    connection.close()
    assert run("check") == (1, "document 'skua' is not as it was stored\n", "")


def test_check_of_a_file_whose_making_was_cut_short(run):
    Path("hopweave.db").touch()
    assert run("check") == (0, "hopweave.db: is empty; nothing has been indexed yet\n", "")
    assert run("query", "x")[0] == 1


# schema


def test_schema_is_json_on_the_screen_and_in_a_file(run):
    code, out, err = run("schema")
    assert (code, err) == (0, "")
    assert json.loads(out)["title"] == "Recipe"
    assert run("schema", "--output", "s.json") == (0, "", "")
    assert json.loads(Path("s.json").read_text()) == json.loads(out)
    assert run("schema", "--output", "no/such/folder/s.json")[0] == 1


def test_what_connects_documents_can_be_chosen(tmp_path, capsys):
    corpus, kb = tmp_path / "isles.jsonl", str(tmp_path / "kb.db")
    corpus.write_text('{"id": "a", "text": "MV Skua is a ferry."}\n', encoding="utf-8")
    assert main(["index", str(corpus), "--kb", kb, "--graph", "none", "--quiet"]) == 0
    with KnowledgeBase.open(kb) as opened:
        assert opened.graph.size == 0
    assert main(["index", str(corpus), "--kb", kb, "--graph", "mentions", "--quiet"]) == 1
    assert "its graph is built by nothing" in capsys.readouterr().err
    assert main(["index", str(corpus), "--kb", str(tmp_path / "new.db"), "--graph", "webs"]) == 1
    assert "--graph: 'webs' is not allowed; there are links, mentions," in capsys.readouterr().err
