"""What files are called in a knowledge base: their sources, with which ids begin.

A file is called by its path relative to the folder that is read, or by its own name if it is read by itself. The
knowledge base knows where each file was, so that a file keeps its name however it is reached, and no file takes that of
another.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path, PurePath
from shlex import quote
from typing import NamedTuple

from hopweave.document import Document
from hopweave.errors import KnowledgeBaseError, UnreadableInput
from hopweave.graph.build.builders.addresses import ADDRESSES
from hopweave.knowledge_base.documents import SourceFile


@dataclass(frozen=True, slots=True)
class Root:
    """A folder or file that is read: its absolute path, as it was given and with links resolved."""

    path: str
    real: str
    is_folder: bool

    @classmethod
    def of(cls, path: str | Path) -> "Root":
        """That of a path as a user gives it. A file that is a link stands for itself."""
        full, is_folder = os.path.abspath(path), os.path.isdir(path)
        return cls(full, _real(full, is_folder), is_folder)

    def join(self, name: str) -> "Root":
        """What has this path, relative to a folder; a file itself."""
        if not self.is_folder:
            return self
        return Root(
            os.path.normpath(os.path.join(self.path, name)), os.path.normpath(os.path.join(self.real, name)), True
        )

    def holds(self, real: str) -> bool:
        """Whether something with this path, links resolved, is this one or in it."""
        return real == self.real or real.startswith(os.path.join(self.real, ""))


class Named(NamedTuple):
    """What a file is called: its source, and the prefix in there that stands before all its ids."""

    source: str
    prefix: str

    @property
    def inner(self) -> str:
        """The source without the prefix."""
        return self.source.removeprefix(self.prefix)

    def prefixed(self, document: Document) -> Document:
        """A document of this file that was read without the prefix, with it."""
        if not self.prefix:
            return document
        same = document.metadata.get("source") == self.inner
        metadata = {**document.metadata, "source": self.source} if same else {**document.metadata}
        if ADDRESSES in metadata:  # a passage of a page
            metadata |= {key: self.prefix + metadata[key] for key in ("source_id", "next_id") if key in metadata}
        return replace(document, id=self.prefix + document.id, source=self.source, metadata=metadata)


class SourceNames:
    """The names of files, given those that a knowledge base knows.

    >>> names = SourceNames({"readme.md": SourceFile("/ships/readme.md", "/ships")}, "fleet.db")
    >>> names.add(Root("/ships/crew", "/ships/crew", True), "list.md").source
    'crew/list.md'
    >>> names.add(Root("/ports", "/ports", True), "readme.md")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    hopweave.errors.UnreadableInput: /ports/readme.md: would replace 'readme.md', which fleet.db has from /ships/...
    """

    def __init__(self, known: Mapping[str, SourceFile], kb: str, prefix: str = "") -> None:
        real = cache(_real)
        self.files: dict[str, SourceFile] = {}
        """The files of the sources that were added."""
        self._known = known
        self._kb = kb
        self._prefix = f"{prefix}/" if prefix else ""
        self._folders: dict[str, str] = {}  # known ones by real path
        self._prefixes: dict[str, str] = {}
        self._real: dict[str, str] = {}  # the real path of each source
        for source, one in known.items():
            if one.folder:
                self._real[source] = os.path.join(real(one.folder, True), _inner(one))
                self._folders[real(one.folder, True)] = one.folder
                self._prefixes[one.folder] = source.removesuffix(_inner(one))
            else:
                self._real[source] = real(one.file, False)
        self._sources = {file: source for source, file in self._real.items()}

    def add(self, root: Root, name: str) -> Named:
        """The name of a file by its path relative to a folder, or of one that is read by itself.

        It is an error if that is the name of another file.
        """
        file = root.join(name)
        source = self._sources.get(file.real, "")
        one = self._known.get(source) or self.files.get(source) or self._placed(root, file, name)
        source = source or self._prefixes.get(one.folder, self._prefix) + _inner(one)
        if self._prefix and source != self._prefix + name:
            delete = f"hopweave delete --source {quote(source)} --kb {quote(self._kb)}"
            raise KnowledgeBaseError(
                f"--prefix {self._prefix[:-1]}: {file.path} is called {source!r} in {self._kb}, which knows it or its "
                f"folder; leave --prefix out, or delete what is known first, as with: {delete}"
            )
        if self._real.get(source, file.real) != file.real:
            raise self.taken(root, file.path, f"{source!r}", source)
        self._sources[file.real], self._real[source], self.files[source] = source, file.real, one
        return Named(source, source.removesuffix(_inner(one)))

    def taken(self, root: Root, place: str, what: str, source: str) -> UnreadableInput:
        """The error for what would replace something of another source, with the ways out."""
        one = self._known.get(source)
        if one is None and source in self.files:
            return UnreadableInput(
                f"{place}: would replace {what}, which comes from {self.files[source].file}; "
                "index them one after the other, each with a --prefix of its own"
            )
        name = PurePath(root.path).name if root.is_folder else PurePath(root.path).stem
        other = "another --prefix" if self._prefix else f"--prefix {quote(name)}"
        ways = f"to keep both, use {other}"
        if one is not None and bool(one.folder) == root.is_folder:
            ways += f"; if that has moved here, use --moved-from {quote(one.folder or one.file)}"
        found = f"from {one.file}" if one else f"from {source!r}" if source else "from no file"
        return UnreadableInput(f"{place}: would replace {what}, which {self._kb} has {found}; {ways}")

    def sources_in(self, places: Iterable[Root], sources: Iterable[str]) -> set[str]:
        """Those of these sources that are files in these places."""
        places = list(places)
        return {one for one in sources if one in self._real and any(place.holds(self._real[one]) for place in places)}

    def _placed(self, root: Root, file: Root, name: str) -> SourceFile:
        """A file that is not known, in the nearest folder that is, or else in the one that is read."""
        for parent in PurePath(file.real).parents:
            if str(parent) in self._folders:
                folder = self._folders[str(parent)]
                return SourceFile(os.path.join(folder, PurePath(file.real).relative_to(parent)), folder)
        return SourceFile(os.path.join(root.path, name), root.path) if root.is_folder else SourceFile(root.path)


def moved(known: Mapping[str, SourceFile], old: str | Path, new: str | Path) -> dict[str, SourceFile]:
    """Where the files of a folder are, or a file is, once that has moved; those of other places are left out.

    >>> moved({"a.md": SourceFile("/old/a.md", "/old"), "b.md": SourceFile("/b.md")}, "/old", "/new")
    {'a.md': SourceFile(file='/new/a.md', folder='/new')}
    """
    there, here = Root.of(old), os.path.abspath(new)
    found: dict[str, SourceFile] = {}
    for source, one in known.items():
        if one.folder and there.holds(real := _real(one.folder, True)):
            folder = os.path.normpath(os.path.join(here, os.path.relpath(real, there.real)))
            found[source] = SourceFile(os.path.join(folder, _inner(one)), folder)
        elif not one.folder and there.holds(real := _real(one.file, False)):
            found[source] = SourceFile(os.path.normpath(os.path.join(here, os.path.relpath(real, there.real))))
    return found


def _inner(one: SourceFile) -> str:
    """The path in its folder, or the name of a file by itself."""
    return PurePath(os.path.relpath(one.file, one.folder)).as_posix() if one.folder else PurePath(one.file).name


def _real(path: str, is_folder: bool) -> str:
    """The path with links resolved, but for the last part of that of a file, which has a name of its own."""
    if is_folder:
        return os.path.realpath(path)
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
