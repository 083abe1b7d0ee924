"""How much code there is, how much of it a question and a document pass through, and what nothing reaches.

    python benchmarks/house.py             tables
    python benchmarks/house.py --json      one JSON object
    python benchmarks/house.py --reach     also list the functions of the core that no recipe, command or adapter calls

A line of code holds more than a comment or a docstring. A walk is recorded with `sys.setprofile`: one question to the
recipe `multihop` on a file that has answered it before, and one document added to that file. Comprehensions count as
part of the function around them. `--reach` runs all shipped recipes in the core and in both adapters, every source,
fuser and stage with its defaults, the commands and the examples. Functions that only errors, worker processes, servers
or transformer models call are in its list too. To measure another checkout, put its `src` on PYTHONPATH.
"""

import argparse
import ast
import asyncio
import contextlib
import io
import itertools
import json
import os
import runpy
import sys
import tempfile
import threading
import tokenize
import warnings
from collections import Counter
from pathlib import Path

import networkx as nx

import hopweave

CORE = Path(hopweave.__file__).resolve().parent
ROOT = CORE.parents[1]
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
SCRIPTS = (
    "agent_memory.py",
    "bring_your_own_graph.py",
    "demo.py",
    "haystack_pipeline.py",
    "llama_index_engine.py",
    "one_recipe_two_frameworks.py",
    "operations_assistant.py",
)
BUILDERS = ("links", "mentions", "metadata", "parts", "services", "triples")
QUESTION = "How did people make a living in the place where the designer of MV Skua was born?"
ADDED = "The Skua meets the Plover off Great Tern, where Ingrid Falk keeps the light."
SOURCE, INDEX = "BM25.search", "text/bm25_index.py"  # the way down to BM25 leads through the one and ends in the other


# size


def lines_of_code(text):
    """How many lines hold code, not counting blank lines, comments and docstrings."""
    docstrings = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and ast.get_docstring(node) is not None
        for line in range(node.body[0].lineno, node.body[0].end_lineno + 1)
    }
    no_code = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    held = {
        line
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in no_code
        for line in range(token.start[0], token.end[0] + 1)
    }
    return len(held - docstrings)


def size(files):
    texts = [file.read_text(encoding="utf-8") for file in files]
    return {
        "lines": sum(len(text.splitlines()) for text in texts),
        "code": sum(lines_of_code(text) for text in texts),
        "modules": len(texts),
    }


def distributions():
    """Name and size of each distribution's source, tests apart."""
    found = {"hopweave": size(CORE.rglob("*.py"))}
    for project in sorted((ROOT / "integrations").glob("*/pyproject.toml")):
        files = (file for file in project.parent.rglob("*.py") if file.relative_to(project.parent).parts[0] != "tests")
        found[f"integrations/{project.parent.name}"] = size(files)
    tests = [*ROOT.glob("tests/**/*.py"), *ROOT.glob("integrations/*/tests/**/*.py")]
    return found | {"tests": size(tests)}


def folders():
    """Size of each folder of the core, its subfolders included."""
    by_folder = {}
    for file in sorted(CORE.rglob("*.py")):
        parts = file.relative_to(CORE).parts
        by_folder.setdefault(parts[0] if len(parts) > 1 else ".", []).append(file)
    return {name: size(files) for name, files in sorted(by_folder.items())}


# imports


def module_name(file):
    return ".".join(("hopweave", *file.relative_to(CORE).with_suffix("").parts)).removesuffix(".__init__")


def import_cycles():
    """Groups of modules that import one another, at the top or inside functions, but not for type checkers only."""
    files = {module_name(file): file for file in CORE.rglob("*.py")}
    graph = nx.DiGraph()
    for name, file in files.items():
        graph.add_edges_from((name, other) for other in imported(file) if other in files)
    return sorted(sorted(group) for group in nx.strongly_connected_components(graph) if len(group) > 1)


def imported(file):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    names = {module_name(other) for other in CORE.rglob("*.py")}
    for node in executed(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            modules = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (module if module in names else node.module for module in modules)


def executed(node):
    """All nodes of a syntax tree, without the bodies of `if TYPE_CHECKING:`."""
    yield node
    checking = isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    for child in node.orelse if checking else ast.iter_child_nodes(node):
        yield from executed(child)


# walks


@contextlib.contextmanager
def recorded(on_call):
    """Call `on_call(frame)` for every call of a function of the core, in all threads."""
    core = f"{CORE}{os.sep}"

    def profile(frame, event, argument):  # noqa: ARG001 - the profiler passes three
        if event == "call" and frame.f_code.co_filename.startswith(core) and not frame.f_code.co_name.startswith("<"):
            on_call(frame)

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def place(code):
    """Module and qualified name of a function."""
    return Path(code.co_filename).relative_to(CORE).as_posix(), code.co_qualname


def walk(run):
    """What a call passes through, and the longest chain of frames from it to the index of BM25."""
    calls, chains = [], []

    def on_call(frame):
        calls.append(place(frame.f_code))
        if calls[-1][0] == INDEX:
            chains.append(chain(frame))

    with recorded(on_call):
        run()
    changes = sum(one[0] != other[0] for one, other in itertools.pairwise(calls))
    entered = [frames[: 1 + [module for module, _ in frames].index(INDEX)] for frames in chains if through(frames)]
    return {
        "modules": sorted({module for module, _ in calls}),
        "functions": len(set(calls)),
        "calls": len(calls),
        "changes_of_module": changes,
        "frames_to_bm25": [f"{module}: {name}" for module, name in max(entered, key=len, default=[])],
    }


def through(frames):
    return any(name == SOURCE for _, name in frames)


def chain(frame):
    """The frames of the core from the outermost to this one."""
    frames = []
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith(f"{CORE}{os.sep}") and not code.co_name.startswith("<"):
            frames.append(place(code))
        frame = frame.f_back
    return frames[::-1]


def walks():
    """The walk of one question and of one added document."""
    from hopweave import Document, KnowledgeBase, read_documents

    with tempfile.TemporaryDirectory() as folder, KnowledgeBase.open(Path(folder) / "house.db") as kb:
        kb.add(read_documents(EXAMPLES / "tern_isles" / "corpus.jsonl"))
        kb.search(QUESTION, recipe="multihop")
        kb.add([Document("before", ADDED, {"title": "Before"})])
        kb.search(QUESTION, recipe="multihop")
        question = walk(lambda: kb.search(QUESTION, recipe="multihop"))
        document = walk(lambda: kb.add([Document("added", ADDED, {"title": "Added"})]))
    return {"question": question, "document": document}


# reach


def functions():
    """File and first line of each function of the core that has a body, and its name."""
    for file in sorted(CORE.rglob("*.py")):
        for name, node in functions_of(ast.parse(file.read_text(encoding="utf-8")), ""):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            if any(not is_stub(statement) for statement in body):
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                yield (str(file), first), f"{file.relative_to(CORE).as_posix()}: {name}"


def functions_of(node, prefix):
    for child in ast.iter_child_nodes(node):
        named = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        name = f"{prefix}{child.name}" if named else prefix
        if named and not isinstance(child, ast.ClassDef):
            yield name, child
        yield from functions_of(child, f"{name}." if named else prefix)


def is_stub(statement):
    return isinstance(statement, ast.Expr | ast.Pass) or (
        isinstance(statement, ast.Raise) and "NotImplementedError" in ast.unparse(statement)
    )


def unreached():
    """Functions of the core that neither recipes, commands, adapters nor examples call."""
    called = set()
    before = Path.cwd()

    def on_call(frame):
        called.add((frame.f_code.co_filename, frame.f_code.co_firstlineno))

    with tempfile.TemporaryDirectory() as folder, recorded(on_call):
        os.chdir(folder)
        try:
            with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings(action="ignore"):
                run_everything(Path(folder))
        finally:
            os.chdir(before)
    names = {key: name for key, name in functions() if key not in called}
    return sorted(names.values())


def run_everything(folder):
    from hopweave.recipe import recipe_names

    for name in ("knowledge", "memory", "operations", "skills", "tern_isles"):
        commands = Commands(folder / f"{name}.db", EXAMPLES / name)
        commands.index()
        for recipe in recipe_names():
            run_recipe(recipe, commands.kb)
    commands.run_all(folder)
    for recipe in single_components():
        run_recipe(recipe, commands.kb)
    for script in SCRIPTS:
        sys.argv = [script]
        with contextlib.suppress(SystemExit):  # how a script says that it is done
            runpy.run_path(str(EXAMPLES / script), run_name="__main__")


class Commands:
    """The commands of `hopweave` on one file and one folder of examples."""

    def __init__(self, kb, examples):
        self.kb, self.examples = kb, examples

    def run(self, name, *arguments):
        from hopweave.cli import main

        with contextlib.redirect_stderr(io.StringIO()) as messages:
            try:
                code = main([name, *map(str, arguments), *([] if name == "schema" else ["--kb", str(self.kb)])])
            except SystemExit as wrong_usage:
                code = wrong_usage.code
        if code not in (0, 1):
            raise SystemExit(f"hopweave {name} ended with {code}: {messages.getvalue()}")

    def index(self):
        graph = [part for kind in BUILDERS for part in ("--graph", kind)]
        self.run("index", self.examples / "corpus.jsonl", "--analyzer", "nlp", "--analyzer", "code", *graph)

    def run_all(self, folder):
        queries, ids = self.examples / "queries.jsonl", ("--filter", "type=none")
        (folder / "pages").mkdir()
        (folder / "pages" / "page.md").write_text("# Tide gate\n\nIt opens at six.\n\n## Keeper\n\nIngrid Falk.\n")
        (folder / "pages" / "page.txt").write_text("The Skua sails at seven.\n")
        (folder / "pages" / "rows.csv").write_text("id,text\nrow,The Petrel sails in winter.\n")
        self.run("index", folder / "pages", "--sync")
        for wanted in (
            ("--explain",),
            ("--scores",),
            ("--json",),
            ("--report", folder / "page.html"),
            ("--top-k", "3"),
        ):
            self.run("query", QUESTION, *wanted)
        self.run("query", QUESTION, "--kb", folder / "skills.db")
        self.run("query", QUESTION, "--filter", "type=place")
        self.run("evaluate", queries, "--sources", "--by-intent", "--markdown")
        self.run("compare", queries, "hybrid", "multihop")
        self.run("tune", queries, "--recipe", "weighted", "--trials", "3")
        self.run("diagnose")
        self.run("diagnose", queries)
        self.run("schema")
        self.run("info")
        self.run("delete", *ids, "--dry-run")
        self.run("delete", "row")
        self.run("check")
        self.run("compact")
        self.run("compact", "--rebuild", "--vacuum")
        self.run("train-embedder", "--epochs", "1")
        self.run("restore", folder / "skills.db")


def single_components():
    """A recipe for each source, fuser and stage, with defaults."""
    from hopweave.component import Fuser, Source, Stage, registered
    from hopweave.recipe import Recipe

    own = {"text": {"kind": "bm25"}, "vector": {"kind": "vector"}}
    for kind in registered(Source):
        yield Recipe.model_validate({"name": f"source-{kind}", "sources": {**own, "it": {"kind": kind}}})
    for kind in registered(Fuser):
        yield Recipe.model_validate({"name": f"fuser-{kind}", "sources": own, "fuse": {"kind": kind}})
    for kind in sorted(set(registered(Stage)) - {"cross_encoder", "remote_rerank"}):  # they need a model, a server
        yield Recipe.model_validate({"name": f"stage-{kind}", "sources": own, "stages": [{"kind": kind}]})


def run_recipe(recipe, file):
    """Ask a recipe in the core, and in both frameworks whole and as a pipeline of theirs."""
    from llama_index.query_engine.hopweave import RecipeQueryEngine
    from llama_index.retrievers.hopweave import RecipeRetriever as LlamaIndexRetriever

    from haystack_integrations.components.retrievers.hopweave import HybridGraphRetriever, RecipeRetriever
    from hopweave import KnowledgeBase, Query

    with KnowledgeBase.open(file) as kb:
        kb.search(QUESTION, recipe=recipe)
        kb.search(Query(QUESTION, tenant={"type": "place"}), recipe=recipe)
        LlamaIndexRetriever(kb, recipe=recipe).retrieve(QUESTION)
        RecipeQueryEngine(recipe, kb).query(QUESTION)
    for retriever in (RecipeRetriever, HybridGraphRetriever):
        made = retriever(knowledge_base=str(file), recipe=recipe)
        made.run(query=QUESTION)
        asyncio.run(made.run_async(query=QUESTION))
        made.close()


# output


def print_sizes(title, sizes):
    print(f"{title:<32}{'lines':>8}{'of code':>9}{'modules':>9}")
    for name, one in sizes.items():
        print(f"{name:<32}{one['lines']:>8,}{one['code']:>9,}{one['modules']:>9}")
    print()


def print_walk(name, one):
    print(f"one {name}: {len(one['modules'])} modules, {one['functions']} functions, {one['calls']:,} calls, ", end="")
    print(f"{one['changes_of_module']} changes of module")


def report(measured):
    print_sizes("distribution", measured["distributions"])
    print_sizes("folder of the core", measured["folders"])
    for name, one in measured["walks"].items():
        print_walk(name, one)
    frames = measured["walks"]["question"]["frames_to_bm25"]
    print(f"\n{len(frames) - 1} frames below search lead to BM25:", *frames, sep="\n  ")
    print(f"\nimport cycles: {len(measured['import_cycles'])}")
    for cycle in measured["import_cycles"]:
        print("  " + ", ".join(cycle))
    if "unreached" in measured:
        names = measured["unreached"]
        parts = Counter(name.split("/")[0] if "/" in name else "." for name in names)
        print(f"\n{len(names)} functions that no recipe, command, adapter or example calls", dict(parts.most_common()))
        print("", *names, sep="\n  ")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--reach", action="store_true", help="also the functions that nothing reaches (a minute)")
    options = parser.parse_args()
    measured = {
        "distributions": distributions(),
        "folders": folders(),
        "import_cycles": import_cycles(),
        "walks": walks(),
    }
    if options.reach:
        measured["unreached"] = unreached()
    if options.json:
        print(json.dumps(measured))
    else:
        report(measured)


if __name__ == "__main__":
    os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")
    sys.path.pop(0)  # this folder: one of its scripts has the name of a package
    main()
