"""Every component has a page with formula, parameters and snippets, and every snippet in the documentation runs."""

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml

import hopweave.catalogue  # noqa: F401 - so that every kind is known
from hopweave.component import Fuser, Source, Stage, registered
from hopweave.recipe import recipe_names

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GENERATED = {"components", "reference", "examples.md"}
WRITTEN = sorted(file for file in DOCS.rglob("*.md") if not GENERATED & set(file.relative_to(DOCS).parts))
PICTURES = sorted((DOCS / "pictures").glob("*.svg"))
NOT_RUN = re.compile(r"<!-- not run: (.+) -->")


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs")
    subprocess.run([sys.executable, "docs/generate.py", str(folder)], cwd=ROOT, check=True)
    return folder


@pytest.fixture(scope="module")
def pages(generated):
    return {file.stem: file.read_text(encoding="utf-8") for file in (generated / "components").glob("*.md")}


def run(files):
    command = [sys.executable, "docs/snippets.py", *map(str, files)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(files)} pages: every snippet runs" in done.stdout


def test_the_snippets_of_components_run(generated):
    run(sorted((generated / "components").glob("*.md")))


def test_the_snippets_of_pages_run():
    run(WRITTEN)


def test_a_snippet_that_does_not_work_is_noticed(tmp_path):
    wrong = {
        "python": "```python\n1 / 0\n```",
        "doctest": "```python\n>>> 1 + 1\n3\n```",
        "command": "```bash\nhopweave query x --kb nowhere.db\n```",
        "unknown": "```bash\nrm -r /nowhere\n```",
        "recipe": "```yaml\nstages: [{kind: freshnes}]\n```",
        "pipeline": "```yaml\ncomponents: {a: {type: no.such.Thing, init_parameters: {}}}\n```",
        "json": "```json\n{\n```",
        "printed": "```python\nprint(1)\n```\n\n<!-- printed -->\n```text\n2\n```",
        "tab": '=== "Core"\n\n    ```python\n    1 / 0\n    ```',
    }
    right = "<!-- not run: it must not -->\n```python\n1 / 0\n```\n\n```text\n1 / 0\n```"
    for name, text in {**wrong, "right": right}.items():
        (tmp_path / f"{name}.md").write_text(text)
    command = [sys.executable, "docs/snippets.py", *map(str, sorted(tmp_path.glob("*.md")))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert set(re.findall(rf"^{re.escape(str(tmp_path))}/(\w+)\.md:\d+: ", done.stdout, re.M)) == set(wrong)


def test_the_table_of_recipes_is_whole_and_no_source_alone_is_better():
    guide = (DOCS / "guides" / "choose-a-recipe.md").read_text(encoding="utf-8")
    table = guide.split("<!-- table: ")[1].split("<!-- end of table -->")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if line.startswith("| `")]
    assert {row[0].strip("`") for row in rows} == set(recipe_names())
    for name, *_, recall, _, of_source, _ in rows:
        assert float(recall) > float(of_source), name


def test_the_table_of_classes_is_that_of_the_catalogue():
    program = "import sys; sys.path.insert(0, 'docs'); import class_table; print(class_table.table())"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    page = (DOCS / "classes.md").read_text(encoding="utf-8")
    assert f"\n\n{done.stdout.strip()}\n\n<!-- end of table -->" in page, "make fix writes the table"


def test_the_table_of_kinds_is_that_of_the_readers():
    program = "import sys; sys.path.insert(0, 'docs'); import kinds_table; print(kinds_table.table())"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    page = (DOCS / "guides" / "files.md").read_text(encoding="utf-8")
    assert f"-->\n{done.stdout.strip()}\n<!-- end of table -->" in page, "make fix writes the table"


def test_the_architecture_page_names_files_that_exist_and_every_folder():
    page = "".join(
        (DOCS / name).read_text(encoding="utf-8") for name in ("architecture.md", "classes.md", "decisions.md")
    )
    named = set(re.findall(r"`([\w-]+(?:/[\w.-]+)+|\w+\.py)`", page))
    core = ROOT / "src" / "hopweave"
    haystack = ROOT / "integrations" / "haystack" / "src" / "haystack_integrations"
    roots = (ROOT, core, haystack, ROOT / "integrations" / "llama-index" / "llama_index")
    assert len(named) > 80
    assert not [path for path in sorted(named) if not any((root / path).exists() for root in roots)]
    folders = page.split("## Folders")[1].split("## ")[0]
    assert not [file.parent.name for file in core.glob("*/__init__.py") if f"| `{file.parent.name}` |" not in folders]


def test_hardly_a_snippet_is_left_out(pages):
    reasons = [reason for file in WRITTEN for reason in NOT_RUN.findall(file.read_text(encoding="utf-8"))]
    elsewhere = {
        "has a test of its own",
        "calls a service",
        "it needs a PostgreSQL server",
        "it needs a PostgreSQL server and Spark",
        "it needs a store of your own",
        "needs a cluster",
        "needs the files of a model",
        "the sets are not in the repository",
    }
    assert set(reasons) <= {"installs packages", "starts a server", "takes minutes", *elsewhere}
    left_out = {kind for kind, page in pages.items() if NOT_RUN.search(page)}
    # they need files of models, or a service
    assert left_out == {"cross_encoder", "graph", "onnx", "remote", "sentence_transformers"}


@pytest.mark.parametrize("kind", [kind for role in (Source, Fuser, Stage) for kind in registered(role)])
def test_a_component_has_formula_parameters_recipe_and_snippets(pages, kind):
    page = pages[kind]
    assert "## Formula\n\n```text\n" in page
    assert "| name | default | allowed | meaning |" in page
    assert f"kind: {kind}" in page
    assert "## From Python\n\n```python\n>>> from hopweave" in page
    for framework in ("Haystack", "LlamaIndex"):
        assert re.search(rf"## In {framework}\n\n(<!-- .* -->\n)?```python\nfrom ", page)
    assert re.search(r"type: haystack_integrations\.components\.", page)


def test_what_has_no_adapter_of_its_own_says_how_to_get_there(pages):
    assert "KnowledgeBaseWriter" in pages["mentions"]
    assert "KnowledgeBase.open" in pages["mentions"]


def test_parts_of_a_recipe_have_adapters_in_both_frameworks(pages):
    for kind, names in {
        "plan": ("PlanRouter", "PlanSelector"),
        "flow_pruning": ("FlowPruningBuilder", "FlowPruningPostprocessor"),
        "service_neighbourhood": ("ServiceNeighbourhoodBuilder", "ServiceNeighbourhoodPostprocessor"),
    }.items():
        assert [name for name in names if name not in pages[kind]] == []


def test_the_overviews_link_every_page(generated):
    for folder in ("components", "reference"):
        index = (generated / folder / "index.md").read_text(encoding="utf-8")
        assert all(f"({file.name})" in index for file in (generated / folder).glob("*.md") if file.stem != "index")


def test_every_written_page_is_in_the_navigation():
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    listed = set(re.findall(r"[\w/-]+\.md", str(nav)))
    assert {str(file.relative_to(DOCS)) for file in WRITTEN} <= listed


@pytest.mark.parametrize("picture", PICTURES, ids=lambda file: file.stem)
def test_pictures_say_what_they_show_and_need_nothing(picture):
    text = picture.read_text(encoding="utf-8")
    drawing = ET.fromstring(text)
    space = "{http://www.w3.org/2000/svg}"
    assert drawing.find(f"{space}title").text
    assert len(drawing.find(f"{space}desc").text) > 40
    assert "prefers-color-scheme:dark" in text
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    users = [file for file in WRITTEN if f"pictures/{picture.name}" in file.read_text(encoding="utf-8")]
    assert users
