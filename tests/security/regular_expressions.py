"""Lists every regular expression that hopweave compiles, and measures how its time grows with the text.

Run as a program, in a process of its own: `python regular_expressions.py list` prints the expressions, and
`fuzz SEED COUNT` those whose time grows faster than the text, one JSON object each.
"""

import ast
import importlib
import json
import pkgutil
import random
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from re import _constants as constants  # the parser of the standard library, which lists what an expression looks for
from re import _parser as parser
from time import process_time

PACKAGES = (
    "hopweave",
    "haystack_integrations.common.hopweave",
    "haystack_integrations.document_stores.hopweave",
    "llama_index.hopweave",
)
NOT_IMPORTED = ("hopweave.cli", "hopweave.__main__")

MATCHED_AT_ONE_PLACE = {
    "[ \\t]*+(?:[-*+•#>|]": "language/sentences.py",  # at the start of a line
    r"[\w.-]+\.image": "knowledge_base/images.py",  # the whole of a file name
    "(?!https?:)": "graph/build/builders/addresses.py",  # at the start of a link
    r"\[cron:": "routing/pattern.py",  # at the start of a message
    r"(\w+)@": "evaluate/metrics.py",  # the whole of a measure's name
    "(?P<path>": "tune/search_space.py",  # the whole of a parameter's name
    r"(={1,6}|#{1,6})": "markup/asciidoc.py",
    r"\[\[([^\[\],]+)": "markup/asciidoc.py",
    "(-{4,}|": "markup/asciidoc.py",
    r"[ \t]*(?:[*]{1,5}|-": "markup/asciidoc.py",
    r"(\S.*?)(?:::{1,3}": "markup/asciidoc.py",
    "(?:image|video|audio": "markup/asciidoc.py",
    r"(?:[\w+.-]+:)?(?:py": "markup/rst.py",
    r"[ \t]*(`{3,}|~{3,})": "readers/passages.py",
    r"(?P<whole>.*": "metadata/whole_document.py",
    r".*\d{4}-\d{2}-\d{2}": "metadata/whole_document.py",
}
"""Beginnings of expressions that are only ever matched where the caller says, and never searched for; and where."""

found: dict[tuple[str, int], set[str]] = {}
"""Expressions with their flags, and where each was compiled: file and line."""


def record() -> None:
    """From now on, keep what hopweave compiles."""
    compile_now = re._compile

    def compile_and_keep(pattern, flags):
        frame = sys._getframe(1)
        while frame.f_globals.get("__name__") == "re":
            frame = frame.f_back
        if frame.f_globals.get("__name__", "").startswith(PACKAGES) and isinstance(pattern, str):
            found.setdefault((pattern, int(flags)), set()).add(f"{frame.f_code.co_filename}:{frame.f_lineno}")
        return compile_now(pattern, flags)

    re._compile = compile_and_keep


def use_everything() -> None:
    """Import every module, index documents and ask questions: some expressions are compiled at first use."""
    for name in PACKAGES:
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            if module.name not in NOT_IMPORTED:
                importlib.import_module(module.name)
    from hopweave.document import Document
    from hopweave.knowledge_base.store import KnowledgeBase
    from hopweave.pipeline import Pipeline
    from hopweave.recipe import recipe_names
    from hopweave.search.federated import check_knowledge_bases
    from hopweave.vector.prompts import known_prompts

    texts = ('MV Skua (built 1974) is a ferry, also known as "Grey Lady". See [Tern](tern.md).', "東京とは日本の首都。")
    documents = [Document(f"d{n}", text, {"path": "ships/mvSkua.md"}) for n, text in enumerate(texts)]
    with (
        tempfile.TemporaryDirectory() as folder,
        KnowledgeBase.open(Path(folder, "a.db"), analyzers=("nlp", "code")) as kb,
    ):
        kb.add(documents)
        for name in recipe_names():
            Pipeline(name, kb).run("Does the ferry support 東京 today?")
        kb.compact()
    known_prompts("bge-small")
    check_knowledge_bases({"a": None})


def read_sources() -> None:
    """Add the expressions that stand in functions which `use_everything` does not come by."""
    known = {place for places in found.values() for place in places}
    for name in PACKAGES:
        for folder in importlib.import_module(name).__path__:
            for file in sorted(Path(folder).rglob("*.py")):
                for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                    pattern = constant_pattern(node)
                    if pattern is not None and f"{file}:{node.lineno}" not in known:
                        found.setdefault((pattern, 0), set()).add(f"{file}:{node.lineno}")


def constant_pattern(node: ast.AST) -> str | None:
    """The expression in a call such as `re.sub("a+", ...)`, if it is written out there."""
    called = node.func if isinstance(node, ast.Call) else None
    if not isinstance(called, ast.Attribute) or not isinstance(called.value, ast.Name) or called.value.id != "re":
        return None
    first = node.args[0] if node.args else None
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None


def attacks(pattern: str, flags: int, chooser: random.Random, count: int) -> Iterator[tuple[str, str, str]]:
    """Beginnings, middles to be repeated, and ends: of each character that the expression names, and of texts that it
    matches, where a part of them is repeated and the end is broken off."""
    tree = parser.parse(pattern, flags & ~re.UNICODE)
    letters = alphabet(tree)
    for letter in letters[: 8 * count]:
        yield "", letter, ""
    for _ in range(8 * count):
        text = example(tree, chooser) or " "
        first = chooser.randrange(len(text))
        last = min(len(text), first + chooser.randint(1, 4))
        broken = text[last : last + chooser.randint(0, 5)] + chooser.choice(["", "\n", "!", "a", *letters[:5]])
        yield text[:first], text[first:last], broken
        yield text[:first], chooser.choice(letters), broken


def alphabet(tree: object) -> list[str]:
    """The characters that an expression names, marks before letters, and some of every text."""
    seen: dict[str, None] = dict.fromkeys(" \n\ta1.*")

    def walk(node: object) -> None:
        head = node[0] if isinstance(node, tuple) and node else None
        if head in (constants.LITERAL, constants.NOT_LITERAL):
            seen[chr(node[1])] = None
        elif head is constants.RANGE:
            seen.update({chr(code): None for code in node[1]})
        elif isinstance(node, parser.SubPattern | list | tuple):
            for item in node:
                walk(item)

    walk(tree)
    return sorted(filter(_encodable, seen), key=str.isalnum)


def example(tree: object, chooser: random.Random) -> str:
    """A text that the expression matches, as far as looking around and character classes allow."""
    return "".join(_example(*item, chooser) for item in tree)


def _example(head: object, value: object, chooser: random.Random) -> str:
    if head in (constants.MAX_REPEAT, constants.MIN_REPEAT, constants.POSSESSIVE_REPEAT):
        fewest, most, repeated = value
        return "".join(example(repeated, chooser) for _ in range(chooser.randint(fewest, min(most, fewest + 3))))
    if head is constants.SUBPATTERN:
        return example(value[-1], chooser)
    if head is constants.ATOMIC_GROUP:
        return example(value, chooser)
    if head is constants.BRANCH:
        return example(chooser.choice(value[1]), chooser)
    if head in (constants.LITERAL, constants.NOT_LITERAL, constants.ANY, constants.IN):
        return _character(head, value, chooser)
    return ""  # what looks around, and the ends of lines and texts


_CATEGORIES = {
    "SPACE": " \n\t",
    "WORD": "aZ_1",
    "DIGIT": "17",
    "NOT_SPACE": "a.*1",
    "NOT_WORD": " .*-",
    "NOT_DIGIT": "a .*",
}


def _character(head: object, value: object, chooser: random.Random) -> str:
    if head is constants.LITERAL:
        return chr(value)
    if head is not constants.IN:
        return chooser.choice([character for character in "a .*1" if character != (chr(value) if value else None)])
    if value[0][0] is constants.NEGATE:
        return chooser.choice(
            [character for character in "ab1 .,*_-\n" if character not in alphabet(value)[:60]] or ["b"]
        )
    kind, chosen = chooser.choice(value)
    if kind is constants.CATEGORY:
        return chooser.choice(_CATEGORIES[str(chosen).removeprefix("CATEGORY_")])
    character = chr(chosen if kind is constants.LITERAL else chooser.randint(*chosen))
    return character if _encodable(character) else " "


def _encodable(character: str) -> bool:
    return not 0xD800 <= ord(character) <= 0xDFFF


def seconds(expression: re.Pattern[str], text: str, at_one_place: bool, times: int = 3) -> float:
    """Processor time to find everything in a text: the smallest of several, as others use the machine too."""
    best = float("inf")
    for _ in range(times):
        started = process_time()
        if at_one_place:
            expression.match(text)
        else:
            for _ in expression.finditer(text):
                pass
        best = min(best, process_time() - started)
        if best > 0.5:
            break
    return best


def superlinear(pattern: str, flags: int, attack: tuple[str, str, str]) -> str | None:
    """How the time grows, if it grows faster than the text.

    Sizes rise until an expression takes long enough to measure, in small steps at first, so that one with exponential
    time is found while it still ends: there, a quarter more takes over 5 times as long. Otherwise 4 times the text must
    take less than 10 times as long, or 16 times the text less than 80 times; quadratic time is 16 and 256 times.
    """
    expression = re.compile(pattern, flags)
    begin, middle, end = attack
    at_one_place = pattern.startswith(tuple(MATCHED_AT_ONE_PLACE))

    def text(size: float) -> str:
        return begin + middle * (int(size) // len(middle) + 1) + end

    size = 16.0
    while seconds(expression, text(size), at_one_place, times=1) < 0.004:
        if size > 16_000:
            return None
        size *= 1.5 if size < 100 else 2
    took = seconds(expression, text(size), at_one_place)
    ratios = [seconds(expression, text(size * 1.25), at_one_place) / took]
    for factor, allowed in ((4, 10), (16, 80)):
        if ratios[0] > 5 or took * ratios[-1] > 0.3:
            break
        ratios.append(seconds(expression, text(size * factor), at_one_place) / took)
        if ratios[-1] < allowed:
            return None
    return f"{size:.0f} characters in {took:.4f} s, then {', '.join(f'{ratio:.0f}' for ratio in ratios)} times as long"


def fuzz(seed: int, count: int) -> Iterator[dict[str, object]]:
    """The expressions that some text makes slow."""
    for (pattern, flags), places in sorted(found.items()):
        sys.stderr.write(f"{pattern!a}\n")  # the last one is what took too long, if this never ends
        chooser = random.Random(f"{seed} {pattern!a}")
        for attack in attacks(pattern, flags, chooser, count):
            if growth := superlinear(pattern, flags, attack):
                yield {"pattern": pattern, "places": sorted(places), "attack": attack, "growth": growth}
                break


if __name__ == "__main__":
    record()
    use_everything()
    read_sources()
    if sys.argv[1] == "list":
        rows = [
            {"pattern": pattern, "flags": flags, "places": sorted(places)} for (pattern, flags), places in found.items()
        ]
    else:
        rows = fuzz(int(sys.argv[2]), int(sys.argv[3]))
    for row in rows:
        sys.stdout.write(f"{json.dumps(row)}\n")
