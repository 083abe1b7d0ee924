"""The page of the search service in a real browser, by keyboard."""

import json
import os
import re
import shutil
from importlib import import_module
from pathlib import Path

import pytest

from hopweave.evaluate.queries import read_queries

EXAMPLE = Path(__file__).parents[2] / "examples" / "search_service"
REQUIRED = os.environ.get("HOPWEAVE_BROWSER") == "required"  # as in .ci/run: no browser is then a failure
api = import_module("playwright.sync_api") if REQUIRED else pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
QUESTION = "What does the lead of the team that owns Ledgerline compare a ledger with?"
HOSTILE = {
    "id": "evil",
    "title": "<img src=x onerror=\"window.hacked='title'\">",
    "text": "Hedgehogs <script>window.hacked='text'</script><svg onload=\"window.hacked='svg'\"> and [1] <b>bold</b>.",
    "source": "javascript:window.hacked='source'",
    "type": '"><iframe src="javascript:1">',
    "date": "2025-01-01",
    "links": ["other"],
}
OTHER = {"id": "other", "title": "Prickly <u>Hollow</u>", "text": "Prickly Hollow has hedgehogs.", "links": ["evil"]}


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None and not REQUIRED:
        pytest.skip("chromium is not installed")
    assert CHROMIUM, "HOPWEAVE_BROWSER is required, but there is no chromium"
    with api.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


@pytest.fixture
def open_page(browser):
    """A fresh page of a service; at the end it must have been quiet and have asked nobody else."""
    opened, noise, foreign = [], [], []

    def open_one(service, *, width=1100, height=900, scheme="light", path="/"):
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        page = context.new_page()
        page.on("console", lambda message: noise.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: noise.append(str(error)))
        page.on("request", lambda asked: None if asked.url.startswith(service.url) else foreign.append(asked.url))
        page.goto(service.url + path)
        opened.append(context)
        return page

    yield open_one
    for context in opened:
        context.close()
    assert not foreign
    assert not noise


def ask(page, question=QUESTION):
    if focused(page) != "query":
        page.keyboard.press("/")
    page.keyboard.insert_text(question)
    page.keyboard.press("Enter")
    page.wait_for_selector("#results:not([aria-busy]) .result")


def focused(page):
    return page.evaluate("document.activeElement.id")


def test_from_question_to_receipt_by_keyboard_alone(service, open_page):
    page = open_page(service)
    assert focused(page) == "query"
    assert page.title() == "Search"
    page.locator("#theme").focus()
    ask(page)  # the slash brings the cursor back
    titles = page.locator(".title").all_inner_texts()
    assert len(titles) == page.locator(".result").count() <= 10
    assert {"Jun Ferreira", "Counter team"} <= set(titles)
    page.keyboard.press("ArrowDown")
    assert focused(page) == "result-1"
    for _ in range(titles.index("Jun Ferreira")):
        page.keyboard.press("ArrowDown")
    button = page.locator(":focus")
    assert button.get_attribute("aria-expanded") == "false"
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-expanded") == "true"
    region = page.locator(f"#{button.get_attribute('aria-controls')}")
    assert region.is_visible()
    drawn = region.locator("svg.path")
    assert drawn.locator("circle").count() >= 2
    label = drawn.get_attribute("aria-label")
    assert label.startswith("Ledgerline")
    assert label.endswith("Jun Ferreira")
    assert drawn.locator("text").first.text_content().startswith("Ledgerline")
    assert "reciprocal rank" in region.locator(".steps").inner_text()
    page.keyboard.press("Escape")
    assert region.is_hidden()
    page.keyboard.press("Escape")
    assert focused(page) == "query"


def test_bars_intent_timings_and_summary_are_shown(service, open_page):
    page = open_page(service)
    ask(page, f"{QUESTION} And why?")  # nobody has asked this before, so it is not in the cache
    assert page.locator("#intent").inner_text() in ("comparison", "semantic", "goal based")
    assert "results in" in page.locator("#status").inner_text()
    assert {"text", "vector", "graph", "total"} <= set(page.locator("#timings dt").all_inner_texts())
    api.expect(page.locator("#holdings")).to_contain_text("94 documents")
    assert sorted(page.locator("#legend li").all_inner_texts()) == ["graph", "meaning", "words"]
    bars = page.evaluate(
        "[...document.querySelectorAll('.bar')].map(bar => [bar.offsetWidth,"
        " [...bar.children].reduce((sum, part) => sum + part.offsetWidth, 0)])"
    )
    relevance = [int(text.split()[0]) / 100 for text in page.locator(".score b").all_inner_texts()]
    for (whole, parts), share in zip(bars, relevance, strict=True):
        assert parts / whole == pytest.approx(share / relevance[0], abs=0.06)
    assert (
        page.locator(".bar")
        .first.get_attribute("aria-label")
        .startswith(f"relevance {relevance[0]:.0%}: ".replace("%", " %"))
    )
    link = page.locator("#synthesis a").first
    link.click()
    assert focused(page) == f"result-{link.inner_text().strip('[]')}"


def test_method_and_graph_can_be_chosen_by_keyboard(service, open_page):
    page = open_page(service)
    ask(page)
    page.locator("#query").focus()
    page.keyboard.press("Tab")  # the button
    page.keyboard.press("Tab")  # the methods
    page.keyboard.press("ArrowRight")
    api.expect(page.locator("#legend li")).to_have_count(2)
    assert sorted(page.locator("#legend li").all_inner_texts()) == ["graph", "words"]
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    api.expect(page.locator("#legend li")).to_have_count(1)
    assert page.locator("#legend").inner_text() == "words"


def test_focus_can_be_seen(service, open_page):
    page = open_page(service)
    ask(page)
    page.keyboard.press("ArrowDown")
    card = "getComputedStyle(document.activeElement.closest('li')).outlineStyle"
    assert page.evaluate(card) == "solid"
    page.locator("#theme").focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_dark_by_preference_and_by_button(service, open_page):
    paper = "getComputedStyle(document.body).backgroundColor"
    light = open_page(service)
    assert light.evaluate(paper) == "rgb(251, 250, 247)"
    dark = open_page(service, scheme="dark")
    assert dark.evaluate(paper) == "rgb(18, 22, 28)"
    dark.locator("#theme").click()
    assert dark.locator("#theme").inner_text() == "Theme: light"
    assert dark.evaluate(paper) == "rgb(251, 250, 247)"
    dark.locator("#theme").click()
    dark.reload()
    assert dark.locator("#theme").inner_text() == "Theme: dark"


def contrast(page, selector):
    """The ratio of WCAG between the colour of a text and that of what lies under it."""
    colours = page.evaluate(
        """selector => {
          const element = document.querySelector(selector);
          let under = element;
          while (getComputedStyle(under).backgroundColor.startsWith("rgba(0, 0, 0, 0")) under = under.parentElement;
          return [getComputedStyle(element).color, getComputedStyle(under).backgroundColor];
        }""",
        selector,
    )
    light, dark = sorted((luminance(colour) for colour in colours), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour):
    channels = [int(value) / 255 for value in re.findall(r"\d+", colour)[:3]]
    linear = [value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_contrasts_with_its_background(service, open_page, scheme):
    page = open_page(service, scheme=scheme)
    ask(page)
    page.locator(".result").first.click()
    texts = [".title", ".from", ".content", "#status", "#timings", ".steps code", "#theme", "form button", "h2"]
    ratios = {selector: contrast(page, selector) for selector in texts}
    assert {selector: ratio for selector, ratio in ratios.items() if ratio < 4.5} == {}  # WCAG AA


def test_a_phone_shows_it_all(service, open_page):
    page = open_page(service, width=360, height=740)
    ask(page)
    page.locator(".result").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    box = page.locator(".result").first.bounding_box()
    assert box["width"] > 300
    assert page.locator("form button").first.bounding_box()["height"] >= 40
    assert page.locator("svg.path").first.bounding_box()["width"] <= 360


# Accessibility


@pytest.mark.parametrize(("width", "scheme"), [(1100, "light"), (1100, "dark"), (360, "light")])
def test_axe_finds_nothing(service, open_page, width, scheme):
    """axe-core's rules for WCAG 2.2 AA and best practice: empty, with everything open, and with nothing found."""
    axe = import_module("axe_playwright_python.sync_playwright").Axe()
    page = open_page(service, width=width, scheme=scheme)

    def problems():
        rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
        found = axe.run(page, options={"runOnly": rules}).response
        assert len(found["passes"]) > 20
        return [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found["violations"]]

    assert problems() == []
    ask(page)
    for panel in page.locator("summary").all():
        panel.click()
    page.locator(".result").first.click()
    page.locator(".receipt .chip").first.click()
    page.wait_for_selector("#results:not([aria-busy])")
    page.locator(".result").first.click()
    page.wait_for_timeout(300)  # colours fade in
    assert problems() == []
    page.locator("#query").fill("qqqzzzxxx")
    page.keyboard.press("Enter")
    api.expect(page.locator("#status")).to_contain_text("Nothing was found")
    assert problems() == []


# Filters, knowledge bases, documents, feedback


def shown(page):
    page.wait_for_selector("#results:not([aria-busy])")
    return page.locator(".title").all_inner_texts()


def test_filters_narrow_the_results_and_can_be_taken_away(service, open_page):
    page = open_page(service)
    ask(page)
    everything = shown(page)
    page.locator("#filters summary").click()
    page.locator("#field").fill("type")
    assert "team" in page.locator("#values option").evaluate_all("all => all.map((one) => one.value)")
    page.locator("#value").fill("team")
    page.keyboard.press("Enter")
    api.expect(page.locator("#chosen button")).to_have_text(["type: team ×"])
    api.expect(page.locator(".from").first).to_contain_text("team")
    teams = shown(page)
    assert teams != everything
    assert all("· team ·" in one for one in page.locator(".from").all_inner_texts())
    again = open_page(service, path=page.url.removeprefix(service.url))  # a link holds the filters, too
    again.wait_for_selector(".result")
    assert shown(again) == teams
    page.locator("#date_to").fill("2001-01-01")
    api.expect(page.locator("#status")).to_contain_text("Nothing was found")
    page.locator("#date_to").fill("")
    page.wait_for_selector(".result")
    page.get_by_role("button", name="Remove the filter type: team").click()
    api.expect(page.locator("#chosen")).to_be_hidden()
    api.expect(page.locator(".title")).to_have_text(everything)
    assert focused(page) == "query"


@pytest.fixture(scope="module")
def two_bases(run_service, tmp_path_factory, streaming_endpoint):
    """A service with two knowledge bases, for pages that write; summaries are by a model."""
    folder = tmp_path_factory.mktemp("two")
    corpus = folder / "ferries.jsonl"
    corpus.write_text('{"id": "skua", "title": "MV Skua", "text": "The Skua is a red ferry that sails hourly."}\n')
    bases = {
        "handbook": {"path": str(folder / "kb.db"), "corpus": str(EXAMPLE / "corpus.jsonl")},
        "ferries": {"path": str(folder / "ferries.db"), "corpus": str(corpus)},
    }
    variables = {
        "SEARCH_KNOWLEDGE_BASES": json.dumps(bases),
        "SEARCH_STATE": str(folder / "state"),
        "SEARCH_SYNTHESIS__URL": streaming_endpoint.url,
        "NO_PROXY": "127.0.0.1",
    }
    streaming_endpoint.say("As it says [1].")
    with run_service(folder, **variables) as running:
        yield running


def test_documents_are_added_found_judged_and_deleted_in_the_chosen_knowledge_base(two_bases, open_page, tmp_path):
    page = open_page(two_bases)
    api.expect(page.locator("#holdings")).to_have_text("94 documents")
    page.get_by_label("Knowledge base").select_option("ferries")
    api.expect(page.locator("#holdings")).to_have_text("1 document")

    page.get_by_text("Add documents").click()
    page.get_by_label("Or a text").fill("The Petrel is a blue ferry that sails on Sundays.")
    page.get_by_label("Title of the text").fill("MV Petrel")
    (tmp_path / "tern.md").write_text("# MV Tern\n\nThe Tern is a white ferry with a bar.")
    lines = [{"id": "gull", "content": "The Gull is a grey ferry.", "metadata": {"title": "MV Gull"}}, {"id": "bad"}]
    (tmp_path / "more.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    page.get_by_label("Files").set_input_files([tmp_path / "tern.md", tmp_path / "more.jsonl"])
    page.get_by_role("button", name="Add", exact=True).click()
    api.expect(page.locator("#added")).to_have_text("3 documents are added and can be found.")
    api.expect(page.locator("#faults li")).to_have_text(re.compile(r"more\.jsonl, line 2: needs a string under text"))
    api.expect(page.locator("#holdings")).to_have_text("4 documents")

    ask(page, "Which blue ferry sails on Sundays?")
    assert shown(page)[0] == "MV Petrel"
    first = page.locator("#results > li").first
    first.get_by_role("button", name="Relevant", exact=True).click()
    api.expect(first.get_by_role("button", name="Relevant", exact=True)).to_have_attribute("aria-pressed", "true")
    file = two_bases.folder / "state" / "feedback-ferries.jsonl"
    (judged,) = read_queries(file)
    assert (judged.query.text, judged.qrels) == ("Which blue ferry sails on Sundays?", (("MV Petrel",),))
    first.get_by_role("button", name="Relevant", exact=True).click()
    api.expect(first.locator(".judge span")).to_have_text("Taken back.")
    assert file.read_text() == ""

    page.locator("#result-1").click()
    page.get_by_role("button", name="Delete this document").click()
    page.get_by_role("button", name="Delete it for good?").click()
    api.expect(page.locator("#status")).to_have_text("MV Petrel is deleted.")
    api.expect(page.locator("#holdings")).to_have_text("3 documents")
    page.keyboard.press("Enter")
    assert "MV Petrel" not in shown(page)


def test_the_summary_is_shown_as_it_is_written_and_false_citations_are_marked(two_bases, open_page, streaming_endpoint):
    streaming_endpoint.say("The Skua sails ", "hourly [1]", ", says the captain [7].")
    page = open_page(two_bases, path="/#q=When+does+the+red+Skua+sail&base=ferries")
    api.expect(page.locator("#synthesis")).to_have_text("The Skua sails hourly [1], says the captain [7].")
    api.expect(page.locator("#synthesis a")).to_have_text(["[1]"])
    api.expect(page.locator("#synthesis s")).to_have_text(["[7]"])
    api.expect(page.locator("#unfounded")).to_have_text("There is no source 7: do not rely on what is said there.")
    page.locator("#synthesis a").click()
    assert focused(page) == "result-1"
    streaming_endpoint.play = lambda: [b'data: {"choices": [{"delta": {"content": "Half a "}}]}\n\n']  # and no end
    page.locator("#search button[type=submit]").click()
    api.expect(page.locator("#degraded")).to_contain_text("could not be written")
    api.expect(page.locator("#synthesis")).to_contain_text("red ferry that sails hourly. [1]")
    api.expect(page.locator("#unfounded")).to_be_hidden()


def test_what_a_caller_may_not_do_is_not_offered(run_service, tmp_path, open_page):
    variables = {"SEARCH_ANONYMOUS_ROLE": "read", "SEARCH_FEEDBACK": "false", "SEARCH_MCP__ENABLED": "false"}
    with run_service(tmp_path, **variables) as running:
        page = open_page(running)
        ask(page)
        page.locator(".result").first.click()
        assert page.locator("#adding").is_hidden()
        assert page.locator(".danger, .judge").count() == 0
        judgement = {"query": QUESTION, "id": "teams/doorstep.md#1", "relevant": True}
        assert running.client.post("/feedback", json=judgement).status_code == 404
        assert running.client.post("/mcp", json={}).status_code in (404, 405)


def test_a_link_holds_the_question_and_the_server_never_sees_it(service, open_page):
    page = open_page(service)
    ask(page, "How expensive may a hotel be?")
    kept = page.url.removeprefix(service.url)
    assert kept.startswith("/#q=How+expensive")
    again = open_page(service, path=kept)
    again.wait_for_selector(".result")
    assert again.locator("#query").input_value() == "How expensive may a hotel be?"


def test_nothing_found_and_no_service(run_service, tmp_path, browser):
    with run_service(tmp_path) as running:
        page = browser.new_context().new_page()
        page.goto(running.url)
        page.locator("#expand").uncheck()
        page.locator("input[value=keyword]").check()
        page.locator("#query").fill("qqqzzzxxx")
        page.keyboard.press("Enter")
        api.expect(page.locator("#status")).to_contain_text("Nothing was found")
        assert page.locator("#summary").is_hidden()
    page.keyboard.press("Enter")
    api.expect(page.locator("#status")).to_contain_text("cannot be reached")
    page.context.close()


def test_the_page_asks_for_the_key(run_service, tmp_path, browser):
    with run_service(tmp_path, SEARCH_API_KEY="open-sesame-42") as running:
        page = browser.new_context().new_page()
        page.goto(running.url)
        page.keyboard.type(QUESTION)
        page.keyboard.press("Enter")
        page.wait_for_selector("#unlock:not([hidden])")
        assert focused(page) == "key"
        page.keyboard.type("open-sesame-42")
        page.keyboard.press("Enter")
        page.wait_for_selector(".result")
        assert page.locator("#unlock").is_hidden()
        page.context.close()


def test_hostile_documents_stay_text(run_service, tmp_path, open_page):
    corpus = tmp_path / "hostile.jsonl"
    corpus.write_text("".join(json.dumps(one) + "\n" for one in (HOSTILE, OTHER)))
    with run_service(tmp_path, SEARCH_CORPUS=str(corpus)) as running:
        page = open_page(running)
        page.evaluate("document.addEventListener('securitypolicyviolation', () => { window.hacked = 'csp'; })")
        ask(page, "Prickly Hollow hedgehogs <img src=y onerror=window.hacked=1>")
        for button in page.locator(".result").all():
            button.click()
        page.wait_for_timeout(300)
        assert page.evaluate("window.hacked") is None
        assert HOSTILE["title"] in page.locator(".title").all_inner_texts()
        assert page.locator("#results script, #results img, #results iframe, #results b b, #summary b").count() == 0
        assert HOSTILE["text"] in page.locator(".content").all_inner_texts()
