"""What the files of one folder are called by links, and where a link in one of them leads."""

import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from hopweave.graph.build.builders.addresses import address_of, place_of
from hopweave.language.words import normalise_name
from hopweave.markup.page import Link, Page, same_anchor

_ELSEWHERE = ("pep:", "ref:", "term:")  # what these name may well be in another project
_DECLARED = re.compile(r"(id|slug|ref|term|pep|title):(?!//)(.*)", re.DOTALL)
_RENDERED = (".html", ".htm", ".xhtml")
_ALIASES = ("aliases", "alias", "redirect_from", "redirects")
_OWN_ADDRESSES = ("permalink", "url", "slug", "canonical_url")
_SAMPLED = 2000  # files that are looked at to find the folder's own address
_SAMPLE = 1 << 18  # bytes of each
_MIN_TARGETS, _MIN_SHARE = 3, 0.2  # different paths below an address for it to be the folder's own; share of a host's
_TARGET = re.compile(r"""(?:(https?://[\w.:-]+)|(?<=[("'<\s]))(/[\w%~.+@-][^\s"'<>()\[\]{}|#?`*,;]*)""")
_SUPERSEDING = re.compile(r"\b\d{1,4}\b")


@dataclass
class Links:
    """The links that were read: those within the folder, and what may be linked to."""

    found: list[tuple[str, Link, str]] = field(default_factory=list)
    """Of each link within the folder its file, how it is written and its address; nothing if it fits two files."""
    claims: Counter[str] = field(default_factory=Counter)

    def state(self, address: str) -> str:
        """Whether an address is `joined`, `dead` or `ambiguous`.

        >>> Links(claims=Counter({"skua": 1})).state("Skua"), Links().state("skua")
        ('joined', 'dead')
        """
        holders = self.claims[normalise_name(address)] if address else 2
        return "joined" if holders == 1 else "ambiguous" if holders else "dead"

    def dead(self) -> Iterator[tuple[str, Link]]:
        """The links that lead nowhere."""
        for name, link, address in self.found:
            if self.state(address) == "dead" and not link.target.startswith(_ELSEWHERE):
                yield name, link

    def counts(self) -> dict[str, int]:
        """How many links within the folder there are, and how many of each state."""
        states = Counter(self.state(address) for *_, address in self.found)
        states["dead"] = sum(1 for _ in self.dead())
        return {"within": states.total(), **{state: states[state] for state in ("joined", "dead", "ambiguous")}}

    def __str__(self) -> str:
        """The summary.

        >>> str(Links([("a.md", Link("", "b.md"), "b.md")], Counter({"b.md": 1})))
        'links: 1 within the folder, 1 joined, 0 dead'
        """
        counts = self.counts()
        fits = f", {counts['ambiguous']:,} fit two files equally" if counts["ambiguous"] else ""
        return (
            f"links: {counts['within']:,} within the folder, {counts['joined']:,} joined, {counts['dead']:,} dead{fits}"
        )


class Tree:
    """The files of a folder by the names that links give them.

    A link is resolved by the paths of the folder alone, so what else a file is called (a slug, an alias, a title) joins
    the two in the graph, whichever of them comes first.

    >>> tree = Tree(["docs/index.md", "docs/ships/skua.md"])
    >>> tree.resolve(Link.to("ships/skua.html#Crew"), "docs/index.md")
    '/docs/ships/skua#crew'
    >>> tree.resolve(Link.to("/docs/"), "docs/ships/skua.md"), tree.resolve(Link.to("mailto:a@b.org"), "docs/index.md")
    ('/docs', '')
    """

    def __init__(self, names: Iterable[str], *, site_url: str = "", prefix: str = "") -> None:
        self.names = dict.fromkeys(names)
        self.prefix = prefix
        self.links = Links()
        self.sites: list[tuple[str, str, str]] = []
        """Host, path of a URL, and path in the folder that takes its place."""
        self.inferred: dict[str, int] = {}
        """The addresses of the folder itself that were inferred, and how many links told so."""
        self._places: defaultdict[str, list[str]] = defaultdict(list)
        self._stems: defaultdict[str, list[str]] = defaultdict(list)
        for name in self.names:
            place = place_of(name)
            self._places[place].append(name)
            self._stems[place.rpartition("/")[2]].append(place)
        if site_url:
            parts = urlsplit(site_url if "://" in site_url else f"https://{site_url}")
            self._stated = parts.netloc.lower(), place_of(parts.path)
            self.sites.append((*self._stated, ""))
        else:
            self._stated = ("", "")

    def infer_sites(self, files: Iterable[Path]) -> None:
        """Find which URLs and absolute paths are the folder's own: those whose ends are paths in it."""
        targets = _targets(islice(files, _SAMPLED))
        votes: Counter[tuple[str, str, str]] = Counter()
        total: Counter[str] = Counter()
        below: Counter[tuple[str, str]] = Counter()
        for host, path in targets:
            total[host] += 1
            parts = path.split("/")
            below.update((host, "/".join(parts[:length])) for length in range(len(parts)))
            for place in dict.fromkeys(self._stems.get(parts[-1], ())):
                votes[(host, *_without_common_end(path, place))] += 1
        for (host, before, folder), count in votes.most_common():
            is_many = count >= _MIN_TARGETS and count >= _MIN_SHARE * total[host]
            if (
                (host and "." not in host)
                or not is_many
                or 2 * count < below[host, before] * bool(host)
                or (host and self._stated[0])
            ):
                continue
            if (host, before) not in {one[:2] for one in self.sites}:
                self.sites.append((host, before, folder))
                if host:
                    links = sum(
                        number for (one, path), number in targets.items() if one == host and path.startswith(before)
                    )
                    self.inferred["/".join(filter(None, (f"https://{host}", before)))] = links

    def resolve(self, link: Link, base: str) -> str:
        """The address that a link in a file leads to, or an empty string if it is none of a document."""
        address = self._target(link, base)
        anchor = same_anchor(link.anchor)
        return f"{address}#{anchor}" if address and anchor and not address.startswith(("http:", "https:")) else address

    def add_links(self, links: Iterable[Link], base: str) -> list[str]:
        """The addresses that links lead to, each once."""
        found: dict[str, None] = {}
        for link in links:
            if not link.target and not link.anchor:
                continue
            address = self.resolve(link, base)
            fits = self._fits(address)
            if address and not address.startswith(("http:", "https:")) and self._is_within(link, address):
                self.links.found.append((base, link, "" if len(fits) > 1 else address))
            if address and len(fits) < 2:
                found[address] = None
        return list(found)

    def _is_within(self, link: Link, address: str) -> bool:
        """Whether a link is meant to lead to a document of the folder: it does, or looks like one that does."""
        place = address.partition("#")[0].removeprefix(self._at(""))
        if _DECLARED.match(link.target) or place in self._places or address in self.names:
            return True
        suffix = posixpath.splitext(link.target)[1].lower()
        return (
            not link.target.startswith("/")
            and "://" not in link.target
            and suffix in ("", ".md", ".mdx", ".rst", ".adoc")
        )

    def _fits(self, address: str) -> list[str]:
        place = address.partition("#")[0]
        return self._places.get(place.removeprefix(self._at("")), []) if place.startswith("/") else []

    def claim(self, addresses: Iterable[str]) -> list[str]:
        """Count what a passage may be called; the same without repetitions."""
        once = list(dict.fromkeys(filter(None, addresses)))
        self.links.claims.update(set(map(normalise_name, once)))
        return once

    def addresses(self, name: str, page: Page) -> list[str]:
        """Everything that a file as a whole may be called."""
        place, front = place_of(name), page.front
        folder = posixpath.dirname(place)
        found = [page.title, self.prefix + name, self._at(place)]
        for key in _OWN_ADDRESSES:
            for value in _texts(front.get(key)):
                found += [self._own(value, folder), f"slug:{value}" if key == "slug" else ""]
        for key in _ALIASES:
            for value in _texts(front.get(key)):
                own = self._own(value, folder)
                # a file that has this path itself comes first
                found += [value, *([] if own.removeprefix(self._at("")) in self._places else [own])]
        for value in _texts(front.get("id")):
            found += [f"id:{value}", self._own(value, folder)]
        found += [f"id:{value}" for value in _texts(front.get("message_id"))]
        for value in _texts(front.get("pep")):
            found.append(f"pep:{value.lstrip('0')}")
        return found

    def _at(self, place: str) -> str:
        """The address of a place in the folder; it begins with a slash, as no title does."""
        return f"/{self.prefix}{place}"

    def _own(self, address: str, folder: str) -> str:
        """The path in the folder of an address that a file gives itself."""
        if "://" in address or address.startswith("/"):
            host, path = _split(address)
            return self._at(next(self._mapped(host, place_of(path)), place_of(path))) if path.strip("/") else ""
        return self._at(place_of(posixpath.join(folder, address)))

    def _target(self, link: Link, base: str) -> str:
        target = link.target.strip()
        if declared := _DECLARED.match(target):
            return self._declared(declared[1], declared[2], base)
        if "://" in target or target.startswith("//"):
            host, path = _split(target)
            for place in self._mapped(host, place_of(path), known=True):
                return self._at(place)
            own = any(host == one for one, *_ in self.sites if one)
            return (
                next((self._at(place) for place in self._mapped(host, place_of(path))), "")
                if own
                else address_of(target)
            )
        if not target:
            return self._at(place_of(base))
        if not target.startswith(("xref:", "/", ".")) and not address_of(target, "a"):
            return ""
        place = self._path(unquote(target.partition("?")[0]).replace("\\", "/"), base)
        return self.prefix + place if place in self.names else self._at(place)

    def _declared(self, kind: str, name: str, base: str) -> str:
        name = name.strip()
        if kind == "pep":
            return f"pep:{name.lstrip('0')}"
        if kind != "title":
            return "" if kind in ("ref", "term") and ":" in name else f"{kind}:{name}"  # of another project
        for place in (place_of(posixpath.join(posixpath.dirname(base), name)), place_of(name)):
            if place in self._places:
                return self._at(place)
        stems = self._stems.get(place_of(name).rpartition("/")[2], [])
        return self._at(stems[0]) if len(stems) == 1 and stems[0].endswith(place_of(name)) else name

    def _path(self, target: str, base: str) -> str:
        if target.startswith("xref:"):
            return self._antora(target, base)
        if target.startswith("/"):
            return next(self._mapped("", place_of(target)), place_of(target))
        folder = posixpath.dirname(base)
        exact = posixpath.normpath(posixpath.join(folder, target))
        if exact in self.names and not exact.lower().endswith(_RENDERED):
            return exact if len(self._places[place_of(exact)]) > 1 else place_of(exact)
        # as a path of files, as one of URLs that end in a slash, and from the top
        pages = base[: base.find("/pages/") + 7] if "/pages/" in base else folder
        ways = [place_of(posixpath.join(one, target)) for one in (folder, pages, place_of(base), "")]
        return next((place for place in ways if place in self._places), ways[0])

    def _antora(self, target: str, base: str) -> str:
        """A page of Antora by its module, and perhaps its component."""
        *names, page = target.removeprefix("xref:").rpartition("@")[2].split(":")
        end = place_of(f"modules/{names[-1] or 'ROOT'}/pages/{page}")
        own = place_of(base[: base.find("modules/")]) if "modules/" in base else "."
        wanted = posixpath.normpath(posixpath.join(own, end))
        if len(names) == 1:
            return wanted
        found = [place for place in self._stems.get(end.rpartition("/")[2], ()) if f"/{place}".endswith(f"/{end}")]
        named = [place for place in found if place_of(names[0]) in place.split("/")] or found
        return named[0] if len(named) == 1 else wanted

    def _mapped(self, host: str, place: str, *, known: bool = False) -> Iterator[str]:
        """The paths in the folder that stand for a path of a site, those of files that there are first."""
        paths = [
            "/".join(filter(None, (folder, place[len(before) :].strip("/")))) or "."
            for one, before, folder in self.sites
            if one == host and (not before or place == before or place.startswith(f"{before}/"))
        ]
        if not host:
            paths.append(place)
        yield from (path for path in paths if path in self._places)
        if not known:
            yield from paths


def _targets(files: Iterable[Path]) -> Counter[tuple[str, str]]:
    """Hosts and paths of what look like absolute links in files."""
    found: Counter[tuple[str, str]] = Counter()
    for file in files:
        try:
            with file.open("rb") as opened:
                text = opened.read(_SAMPLE).decode("utf-8", "replace")
        except OSError:
            continue
        for host, path in _TARGET.findall(text):
            found[_split(host)[0], place_of(unquote(path))] += 1
    return found


def _split(address: str) -> tuple[str, str]:
    try:
        parts = urlsplit(address)
    except ValueError:
        return "", ""
    return parts.netloc.lower(), unquote(parts.path)


def _without_common_end(path: str, place: str) -> tuple[str, str]:
    ours, theirs = path.split("/"), place.split("/")
    while ours and theirs and ours[-1] == theirs[-1]:
        ours.pop()
        theirs.pop()
    return "/".join(ours), "/".join(theirs)


def _texts(value: Any) -> list[str]:
    values = value if isinstance(value, list | tuple) else [value]
    return [
        str(one).strip()
        for one in values
        if isinstance(one, str | int) and not isinstance(one, bool) and str(one).strip()
    ]


def header_links(front: Mapping[str, Any]) -> list[Link]:
    """The links in the header of a PEP: what it replaces, requires or is superseded by.

    >>> header_links({"pep": "344", "superseded-by": "3134, 3151"})
    [Link(text='3134', target='pep:3134', anchor=''), Link(text='3151', target='pep:3151', anchor='')]
    """
    if "pep" not in front:
        return []
    values = (str(front.get(key, "")) for key in ("replaces", "superseded-by", "requires"))
    return [Link.to(f"pep:{number}", number) for value in values for number in _SUPERSEDING.findall(value)]


def reply_links(front: Mapping[str, Any]) -> list[Link]:
    """The link from a message to the one it answers.

    >>> reply_links({"in_reply_to": "1@example.org"})
    [Link(text='', target='id:1@example.org', anchor='')]
    """
    return [Link("", f"id:{front['in_reply_to']}")] if front.get("in_reply_to") else []
