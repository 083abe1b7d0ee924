"""The files that a knowledge base is to hold, what they are called in it, and their documents."""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from hopweave.errors import KnowledgeBaseError, UnreadableInput
from hopweave.readers.files import list_files, read_file
from hopweave.readers.pages import Reading
from hopweave.readers.source_names import Named, Root, SourceNames, moved
from hopweave.readers.tree import Links, Tree

if TYPE_CHECKING:
    from hopweave.document import Document
    from hopweave.knowledge_base.documents import SourceFile
    from hopweave.knowledge_base.store import KnowledgeBase


logger = logging.getLogger(__name__)

_KINDS = 8  # of files that are named at most


class InputFiles:
    """The files at some paths. What cannot be read, or would replace something else, is passed to `on_bad`."""

    def __init__(
        self,
        kb: "KnowledgeBase",
        paths: Sequence[str],
        on_bad: Callable[[UnreadableInput], object],
        *,
        prefix: str = "",
        moved_from: str | None = None,
        follow_links: bool = False,
        site_url: str = "",
        on_bad_file: Callable[[UnreadableInput], object] | None = None,
    ) -> None:
        self.files: list[tuple[Path, Named, Root]] = []
        self.ids: dict[str, set[str]] = {}
        """The ids of each source that is read, once they have been."""
        self.other_kinds: list[str] = []
        self.empty: list[str] = []
        """Files without a document, once they have been read."""
        self.note: Callable[[str], object] = logger.warning
        """Is told what the user should know of files as they are read."""
        self.notes: list[str] = []
        """What the user should know of links that are not followed."""
        self._kb = kb
        self._on_bad = on_bad
        self._on_bad_file = on_bad_file
        self._roots: list[Root] = []
        self._links: list[tuple[Root, str]] = []
        self._unreadable: list[Root] = []
        known = kb.source_files()
        now = known | (_moved(known, moved_from, paths[0], kb.path) if moved_from else {})
        self._names = SourceNames(now, str(kb.path), prefix)
        for path in paths:
            self._list(path, follow_links)
        changed = {source: one for source, one in (now | self._names.files).items() if known.get(source) != one}
        if changed:
            kb.record_source_files(changed)
        self.trees: dict[str, Tree] = {}
        """The files by the prefix of their sources, as links in them see each other."""
        by_prefix: dict[str, list[tuple[Path, str]]] = {}
        for file, named, _ in self.files:
            by_prefix.setdefault(named.prefix, []).append((file, named.inner))
        for before, some in by_prefix.items():
            tree = self.trees[before] = Tree((name for _, name in some), site_url=site_url, prefix=before)
            tree.infer_sites(file for file, _ in some)

    def documents(self, batch_size: int) -> "Iterator[Document]":
        """The documents of all files, none of which has the id of another, or of one that is stored from elsewhere."""
        stream, seen = self._read(), set[str]()
        while batch := list(islice(stream, batch_size)):
            stored = self._kb.sources_of(document.id for document, *_ in batch)
            for document, file, root in batch:
                key = document.id
                if key in seen:
                    self._on_bad(
                        UnreadableInput(f"{file}: id {key!r} comes a second time; one would replace the other")
                    )
                elif key in stored and not self._is_read(stored[key]):
                    self._on_bad(self._names.taken(root, str(file), f"document {key!r}", stored[key]))
                else:
                    seen.add(key)
                    self.ids[document.source].add(key)
                    yield document

    def behind_links(self, sources: Iterable[str]) -> set[str]:
        """Those of these sources that are, or were, behind links that are not followed."""
        sources = list(sources)
        found = self._names.sources_in([root.join(name) for root, name in self._links], sources)
        names = [name for _, name in self._links]
        return found | {one for one in sources if any(one == name or one.startswith(f"{name}/") for name in names)}

    def links(self) -> "Iterator[Links]":
        """The links of the folders that have some."""
        yield from (tree.links for tree in self.trees.values() if tree.links.found)

    def _list(self, path: str, follow_links: bool) -> None:
        if not Path(path).exists():
            self._on_bad(UnreadableInput(f"{path}: does not exist"))
            return
        root, listing = Root.of(path), list_files(path, follow_links=follow_links)
        self._roots.append(root)
        self._links += [(root, name) for name in listing.links]
        self._unreadable += [root.join(name) for name in listing.unreadable]
        self.other_kinds += listing.other_kinds
        for name, reason in listing.links.items():
            self.notes.append(f"{Path(path, name)} {reason} and is skipped")
        for error in listing.unreadable.values():
            self._on_bad(error)
        for file, name in listing.files:
            try:
                named = self._names.add(root, name)
            except UnreadableInput as error:
                self._on_bad(error)
                continue
            if named.source not in self.ids:  # else two paths lead to the same file
                self.ids[named.source] = set()
                self.files.append((file, named, root))

    def _read(self) -> "Iterator[tuple[Document, Path, Root]]":
        for file, named, root in self.files:
            count = 0

            def bad(error: UnreadableInput) -> None:
                nonlocal count
                count += 1
                self._on_bad(error)

            def bad_file(error: UnreadableInput) -> None:
                nonlocal count
                count += 1
                (self._on_bad_file or self._on_bad)(error)

            for document in read_file(
                file, named.inner, Reading(bad, tree=self.trees[named.prefix], note=self.note, on_bad_file=bad_file)
            ):
                count += 1
                yield named.prefixed(document), file, root
            if not count:
                self.empty.append(str(file))

    def _is_read(self, source: str) -> bool:
        """Whether a source is read this time, or would be if its file were still there."""
        if source in self.ids:
            return True
        hidden = self._unreadable + [root.join(name) for root, name in self._links]
        return bool(self._names.sources_in(self._roots, [source]) - self._names.sources_in(hidden, [source]))


def _moved(known: "dict[str, SourceFile]", old: str, new: str, kb: Path) -> "dict[str, SourceFile]":
    changed = moved(known, old, new)
    if not changed:
        places = sorted({one.folder or one.file for one in known.values()})
        raise KnowledgeBaseError(
            f"--moved-from {old}: nothing in {kb} is from there, but from {listed(places) or 'no file'}"
        )
    there = {one.file: source for source, one in known.items() if source not in changed}
    for source, one in changed.items():
        if one.file in there:
            raise KnowledgeBaseError(
                f"--moved-from {old}: {kb} has {one.file} already, as {there[one.file]!r} beside {source!r}; "
                "delete one of them with: hopweave delete --source"
            )
    return changed


def others_listed(names: Sequence[str]) -> str:
    """Files of kinds that nothing reads, by kind.

    >>> others_listed(["a.pdf", "b/c.PDF", "LICENSE"]), others_listed([])
    (': 2 .pdf, 1 without a suffix; hopweave.register_reader adds a reader for a kind', '')
    """
    if not names:
        return ""
    kinds = Counter(PurePath(name).suffix.lower() or "without a suffix" for name in names)
    found = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common(_KINDS))
    more = f" and {len(kinds) - _KINDS} more kinds" if len(kinds) > _KINDS else ""
    return f": {found}{more}; hopweave.register_reader adds a reader for a kind"


def listed(names: Sequence[str]) -> str:
    """The first few names and how many more there are.

    >>> listed(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more
