"""The example apps, run as a reader runs them: what they print is right, and they take no network and leave nothing."""

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
APPS = sorted(file.stem for file in EXAMPLES.glob("*.py"))


@pytest.fixture(scope="module")
def printed(fenced, tmp_path_factory):
    """What an app prints, run once in an empty folder, without a network."""

    @cache
    def run(app, *arguments):
        environment, log = fenced(app)
        folder = tmp_path_factory.mktemp(app)
        command = [sys.executable, str(EXAMPLES / f"{app}.py"), *arguments]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert not log.exists(), f"{app} asked for the network: {log.read_text()}"
        assert list(folder.iterdir()) == [], f"{app} leaves files behind"
        return done.stdout

    return run


def test_the_fence_holds(fenced):
    environment, log = fenced("nothing")
    call = "import socket; socket.create_connection(('127.0.0.1', 9), timeout=1)"
    done = subprocess.run([sys.executable, "-c", call], env=environment, capture_output=True, text=True, check=False)
    assert "this test allows no network" in done.stderr
    assert log.exists()


@pytest.mark.parametrize("app", ["haystack_pipeline", "llama_index_engine"])
def test_the_graph_finds_what_the_stock_pipeline_misses(printed, app):
    before, after = printed(app).split("\nAfter: ")
    assert "* kittle-bay" not in before
    assert "* kittle-bay" in after
    recalls = [float(number) for number in re.findall(r"recall@8 ([\d.]+) on 24", before + after)]
    assert len(recalls) == 2
    assert recalls[1] > recalls[0] + 0.03
    whole = [int(number) for number in re.findall(r"everything is found for (\d+) of the 12", before + after)]
    assert whole[1] >= whole[0] + 2
    assert "How the walk got to kittle-bay: Hallin Head ←mentions— Signe Aune —links_to→ Kittle Bay" in after


def test_one_recipe_gives_the_same_in_both_frameworks(printed):
    shown = printed("one_recipe_two_frameworks")
    assert (EXAMPLES / "recipe.yaml").read_text(encoding="utf-8") in shown
    assert "In Haystack, a Pipeline of deferral, fuse, graph, limits, meaning, recency_boost, words." in shown
    assert "the first ferry from Sørvåg to Ossay leaves at 06:50" in shown
    rows = re.findall(r"^  (\S+ [\d.]+) +(\S+ [\d.]+)$", shown, re.MULTILINE)
    assert len(rows) == 6
    assert all(haystack == llama_index for haystack, llama_index in rows)
    assert rows[0][0].startswith("ferry-notice-2026-02 ")
    assert "same ids and scores: yes" in shown


def test_the_memory_takes_a_correction_fades_and_keeps_users_apart(printed):
    shown = printed("agent_memory")
    greeting, asked, corrected, tomas = (part.splitlines() for part in shown.split("  > ")[1:])
    assert greeting[:2] == ["Good morning!", "    nothing is looked up: greeting needs no retrieval"]
    assert "on Monday at six" in asked[1]
    assert "on Sunday evening" in asked[2]
    assert "on Tuesday at noon" in corrected[1]
    assert "on Monday at six" in corrected[2]
    scores = [float(score) for score in re.findall(r"days later  ([\d.]+)", shown)]
    assert len(scores) == 4
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] < scores[0] * 0.6
    assert [line for line in tomas if "2026-" in line] == [tomas[1]]
    assert "Tomas wants no summary" in tomas[1]
    assert "style-summary-monday ranks first again" in shown


def test_the_operations_assistant_shows_boost_freshness_services_and_sources(printed):
    shown = printed("operations_assistant")
    assert re.search(r"payment-hub/docs/runbook-keys\n +by rank [\d.]+ → its kind × 1.3 for 'incident'", shown)
    old = re.search(r"slack-pay-bx403\n +by rank ([\d.]+) → 249 days old ([\d.]+) → its kind × 1.3", shown)
    assert float(old[2]) < float(old[1])
    assert "payment-hub —calls→ fraud-check, ledger; ←calls— booking-api" in shown
    answer, sources = shown.split("Answer:\n")[1].split("\nSources:\n")
    assert "Borealis needs the fingerprint of our certificate" in answer
    cited = set(re.findall(r"\[\d+\]$", answer, re.MULTILINE))
    assert cited == set(re.findall(r"\[\d+\]", sources))


def test_the_operations_assistant_takes_another_question(printed):
    shown = printed("operations_assistant", "How do I deploy booking-api and roll it back?")
    assert shown.startswith("How do I deploy booking-api and roll it back?\n")
    assert re.search(r"DOC_RUNBOOK +booking-api/docs/runbook-release\n.*for 'deploy'", shown)


def test_tuning_says_what_is_noise_and_what_is_not(printed):
    isles, skills = printed("tune_a_recipe").split("\n== ")[:2]
    assert "The difference is within noise" in isles
    assert "the starting recipe is kept" in isles
    assert "The tuned recipe is better" in skills
    tuned_on, held_out = (float(gain) for gain in re.findall(r"(?:tuned on|held out) .*?([+-][\d.]+)", skills))
    assert tuned_on >= held_out > 0.05
    chosen = printed("tune_a_recipe").split("== What to use\n")[1]
    assert "tern_isles  as it was  text 0.40, vector 0.40, graph 0.20" in chosen
    assert re.search(r"skills +tuned +text", chosen)


def test_relations_from_elsewhere_lead_to_the_answer(printed):
    without, networkx, property_graph = printed("bring_your_own_graph").split("\n\n")[1:]
    assert "* lunn" not in without
    assert re.search(r"\* lunn +MV Skua —designed_by→ Ingrid Falk —born_in→ Lunn ←about— Lunn", networkx)
    assert re.search(r"\* lunn +MV Skua —designed_by→ Ingrid Falk —born_in→ Lunn ←mentions— lunn", property_graph)


def test_texts_vectors_and_graph_in_postgresql(printed, pgvector_url):
    lines = printed("postgres_graph").splitlines()
    found = {name: ids.replace(" ", "").split(",") for name, _, ids in (line.partition(":") for line in lines[1:])}
    for framework in ("Haystack", "LlamaIndex"):
        assert "falk" not in found[f"{framework}, pgvector alone"]
        assert set(found[f"{framework}, with the graph"]) == {"skua", "yard", "falk"}
    assert len(lines) == 5


@pytest.mark.parametrize("app", APPS)
def test_an_app_is_short_says_its_command_and_is_listed(app):
    source = (EXAMPLES / f"{app}.py").read_text(encoding="utf-8")
    command = f"python examples/{app}.py"
    assert command in source.split('"""')[1]
    assert len(source.splitlines()) <= 120
    assert command in (EXAMPLES / "README.md").read_text(encoding="utf-8")
