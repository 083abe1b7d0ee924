"""What a document is called by others, and what a link refers to."""

import posixpath
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from hopweave.document import Document

PATH_FIELDS = ("file_path", "path", "file_name", "source", "url")
"""Metadata fields in which loaders leave the path or URL of a document."""

ADDRESSES = "addresses"
"""Metadata field in which a reader leaves all that a passage may be called by links; its `links` are resolved."""

_ELSEWHERE = re.compile(r"(?!https?:)[A-Za-z][A-Za-z0-9+.-]*:(?!/?[\\/])", re.IGNORECASE)  # mailto: and the like


def address_of(path: str, base: str = "") -> str:
    """A path or URL in the one form in which addresses are compared; empty if it leads to no document.

    Relative paths count from the folder of `base`. Fragments and slashes at the ends are taken off.

    >>> address_of("../ships/skua.md#crew", "docs/ports/harris.md"), address_of("HTTPS://Example.org/skua/")
    ('docs/ships/skua.md', 'https://example.org/skua')
    >>> address_of("mailto:purser@example.org"), address_of("#crew"), address_of("http://[")
    ('', '', '')
    """
    try:
        return _address(path, base)
    except ValueError:  # such as http://[
        return ""


def _address(path: str, base: str) -> str:
    path = urldefrag(path.strip())[0]
    if not path or _ELSEWHERE.match(path):
        return ""
    if "://" in base or "://" in path:
        address = urljoin(base, path) if "://" in base else path
        parts = urlsplit(address)
        query = f"?{parts.query}" if parts.query else ""
        return f"{parts.scheme.lower()}://{parts.netloc.lower()}{unquote(parts.path).rstrip('/')}{query}"
    path = unquote(path).replace("\\", "/")
    joined = path if path.startswith("/") else posixpath.join(posixpath.dirname(base.replace("\\", "/")), path)
    return posixpath.normpath(joined).strip("/").removeprefix("./")


_KNOWN_SUFFIX = re.compile(
    r"\.(?:md|mdx|markdown|mkd|rst|rest|adoc|asciidoc|asc|html?|xhtml|ipynb|txt|textile|org)$", re.IGNORECASE
)
_SEPARATORS = re.compile(r"[ _-]+")


def place_of(path: str) -> str:
    """A path as links write it when they leave out what a site leaves out: suffix, `index`, and how words are joined.

    >>> place_of("docs/Port_of_Harris.md"), place_of("/docs/index.html"), place_of("./README.md")
    ('docs/port-of-harris', 'docs', '.')
    """
    path = posixpath.normpath(_KNOWN_SUFFIX.sub("", path.replace("\\", "/").rstrip("/"))).strip("/")
    path = _SEPARATORS.sub("-", path.casefold())
    folder, _, last = path.rpartition("/")
    return (folder if last.strip("-") in ("index", "readme") else path) or "."


def is_relative_path(name: str) -> bool:
    """Whether what a link field holds is a path that counts from the folder of its document, and no id or title.

    >>> is_relative_path("setup.md"), is_relative_path("../setup"), is_relative_path("skua"), is_relative_path("/a.md")
    (True, True, False, False)
    """
    is_path = name.startswith(("./", "../")) or _KNOWN_SUFFIX.search(name) is not None
    return is_path and not name.startswith("/") and "://" not in name


def path_of(document: Document, fields: Iterable[str] = PATH_FIELDS) -> str:
    """The first path or URL in the metadata, or an empty string.

    >>> path_of(Document("d", "", {"source": "notes/skua.md"}))
    'notes/skua.md'
    """
    for field in fields:
        value = document.metadata.get(field)
        if isinstance(value, str) and value.strip():
            return value
    return ""


_PART_NUMBERS = ("split_id", "part")  # the first counts from 0, the second from 1


def is_later_part(metadata: Mapping[str, Any]) -> bool:
    """Whether a splitter numbered a document as another part than the first, to which links without an anchor lead.

    >>> is_later_part({"split_id": 1}), is_later_part({"split_id": 0}), is_later_part({"part": 1}), is_later_part({})
    (True, False, False, False)
    """
    numbers = [metadata.get(field) for field in _PART_NUMBERS]
    return any(isinstance(number, int) and number > first for first, number in enumerate(numbers))


def addresses_of(document: Document, fields: Iterable[str] = PATH_FIELDS) -> tuple[str, ...]:
    """Everything by which another document may refer to this one, apart from its id.

    >>> addresses_of(Document("d", "", {"title": "MV Skua", "path": "ships/skua.md"}))
    ('MV Skua', 'ships/skua.md')
    """
    if ADDRESSES in document.metadata:
        return tuple(dict.fromkeys(named_in(document.metadata[ADDRESSES])))
    if is_later_part(document.metadata):
        return ()
    paths = [document.metadata.get(field) for field in fields]
    found = [document.title, *(address_of(path) for path in paths if isinstance(path, str))]
    return tuple(dict.fromkeys(filter(None, found)))


def named_in(value: Any) -> list[str]:
    """The ids or names in a metadata value: a string, a number, a list of them, or mappings with an id or a name.

    >>> named_in("a"), named_in([1, "b", None, {"id": "c"}]), named_in({"name": "d"}), named_in(True)
    (['a'], ['1', 'b', 'c'], ['d'], [])
    """
    if isinstance(value, str):
        return [value.strip()] if value.strip() else []
    if isinstance(value, int | float):
        return [] if isinstance(value, bool) else [str(value)]
    if isinstance(value, Mapping):
        return next((named_in(value[key]) for key in ("id", "document_id", "node_id", "name") if key in value), [])
    if isinstance(value, Iterable):
        found = [name for one in value for name in named_in(one)]
        return sorted(found) if isinstance(value, set | frozenset) else found
    return []
