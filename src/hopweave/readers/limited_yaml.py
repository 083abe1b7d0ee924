"""YAML from a file that may be anybody's: limited in size, and errors that quote none of it."""

from typing import Any

import yaml

from hopweave.errors import UnreadableInput

MAX_CHARACTERS = 200_000
MAX_NODES = 20_000
MAX_DEPTH = 64
_MERGE = "tag:yaml.org,2002:merge"  # of the key <<, which may be repeated


def limited_yaml(text: str) -> Any:
    """What a YAML text says. It is refused if it is long, nested deeply, or long or endless once aliases are replaced.

    A key that comes twice is refused too. Errors give the reason, the place and such a key, but nothing else of the
    text, which may hold a password.

    >>> limited_yaml("title: MV Skua")
    {'title': 'MV Skua'}
    >>> limited_yaml("built: 1974-02-31")
    Traceback (most recent call last):
        ...
    hopweave.errors.UnreadableInput: a value that is no valid date, number or the like at line 1, column 8
    """
    if len(text) > MAX_CHARACTERS:
        raise UnreadableInput(f"longer than {MAX_CHARACTERS} characters")
    try:
        loader = _Loader(text)
        try:
            return loader.get_single_data()
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise UnreadableInput(_reason(error)) from None  # the cause would quote the text
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise UnreadableInput(f"cannot be read ({type(error).__name__})") from None


class _RepeatedKey(yaml.composer.ComposerError):
    """The same key a second time, of which YAML libraries keep the last without a word."""


class _Loader(yaml.SafeLoader):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._open = 0
        self._sizes: dict[int, tuple[int, int]] = {}  # nodes and levels of each node, aliases replaced

    def compose_node(self, parent: Any, index: Any) -> Any:
        start = self.peek_event().start_mark  # type: ignore[no-untyped-call]
        is_alias = self.check_event(yaml.AliasEvent)
        if self._open >= MAX_DEPTH:
            raise yaml.composer.ComposerError(None, None, f"more than {MAX_DEPTH} levels", start)
        self._open += 1
        node = super().compose_node(parent, index)
        self._open -= 1
        if is_alias and id(node) not in self._sizes:
            raise yaml.composer.ComposerError(None, None, "an alias inside what it stands for", start)
        count, levels = self._sizes.setdefault(id(node), self._size(node))
        if count > MAX_NODES or levels > MAX_DEPTH:
            limit = f"{MAX_NODES} values" if count > MAX_NODES else f"{MAX_DEPTH} levels"
            raise yaml.composer.ComposerError(None, None, f"more than {limit}", start)
        return node

    def compose_mapping_node(self, anchor: Any) -> Any:
        node = super().compose_mapping_node(anchor)
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag == _MERGE:
                continue
            if (key.tag, key.value) in seen:
                raise _RepeatedKey(None, None, f"the key {key.value!r} comes twice in one mapping", key.start_mark)
            seen.add((key.tag, key.value))
        return node

    def _size(self, node: Any) -> tuple[int, int]:
        inner = node.value if isinstance(node, yaml.CollectionNode) else ()
        if isinstance(node, yaml.MappingNode):
            inner = [one for pair in inner for one in pair]
        sizes = [self._sizes[id(one)] for one in inner]
        return 1 + sum(count for count, _ in sizes), 1 + max((levels for _, levels in sizes), default=0)

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (ValueError, OverflowError, KeyError, AttributeError) as error:  # the message would quote the value
            raise yaml.constructor.ConstructorError(
                None, None, "a value that is no valid date, number or the like", node.start_mark
            ) from error


def _reason(error: yaml.YAMLError) -> str:
    problem = getattr(error, "problem", None) or "cannot be read"
    if not isinstance(error, _RepeatedKey):
        problem = problem.split("'")[0].split('"')[0]  # a quotation follows
    mark = getattr(error, "problem_mark", None)
    place = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
    return problem.strip().removesuffix("but found").rstrip(" ,") + place
