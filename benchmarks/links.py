"""Links between the files of a folder, and how many become edges of the graph.

    python benchmarks/links.py FOLDER [--site-url URL] [--json]

Links are counted by the scanners in this file, which share nothing with the readers: a file, code left out, is searched
for the forms below, and a link counts if it names exactly one other file of the folder by its path, its `id`, its
`slug` or its number. It is joined if an edge leads from a passage of the file to one of that file. A link with an
anchor is right if the passage at its end holds the heading. An edge is wrong if no link of its file names the other.
"""

import argparse
import json
import os
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path
from urllib.parse import unquote

sys.path.pop(0)  # this folder: one of its scripts has the name of a package

from hopweave.graph.build.builders.links import LinksBuilder
from hopweave.graph.build.resolve import resolve
from hopweave.readers.files import read_documents

SUFFIXES = (".md", ".mdx", ".markdown", ".rst", ".html", ".htm", ".adoc", ".txt")
FORMS = {
    "markdown": re.compile(r"(?<!!)\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(\s*<?([^\s()<>]+(?:\([^\s()]*\))?)"),
    "reference": re.compile(r"^ {0,3}\[[^\]^]+\]:\s+<?(\S+?)>?(?:\s|$)", re.MULTILINE),
    "html": re.compile(r"""(?:href|to)=["']([^"'{}]+)["']"""),
    "term": re.compile(r"""term_id\s*=\s*["']([^"']+)["']"""),
    "slug": re.compile(r"""<[A-Z]\w*[^<>]*\sslug=["']([^"']+)["']"""),
    "pep role": re.compile(r":pep:`(?:[^`<>]*<)?\s*(\d+(?:#[\w.-]+)?)\s*>?`"),
    "pep header": re.compile(r"^(?:Replaces|Superseded-By|Requires):\s*(.+)$", re.MULTILINE),
    "ref role": re.compile(r":ref:`[^`<>]*<pep-?(\d+)-[\w-]+>`"),
    "rst": re.compile(r"`[^`<>]+<([^`<>\s]+)>`_"),
    "doc role": re.compile(r":doc:`(?:[^`<>]*<)?([^`<>]+)>?`"),
    "xref": re.compile(r"xref:([^\s\[\]]+)\["),
    "wiki": re.compile(r"\[\[([^\[\]|#]+)(?:#[^\[\]|]*)?(?:\|[^\[\]]*)?\]\]"),
    "url": re.compile(r"(?<![\"'(<\[=])(https?://[^\s\"'<>()\[\]`]+[^\s\"'<>()\[\]`.,;:])"),
}
RST = {"pep role", "ref role", "pep header", "rst", "doc role"}
HEADING = re.compile(r"^ {0,3}(?:#{1,6}|={1,6})\s+(.+?)(?:\s+[#=]+)?$")
UNDERLINE = re.compile(r"^([=\-~^'\"`.:*+#_])\1{2,}\s*$")
EXPLICIT = re.compile(
    r"\{#([\w.:-]+)[^}]*\}|\[#([\w.:-]+)\]|\[\[([\w.:-]+)\]\]|\b(?:id|name)=[\"']([\w.:-]+)[\"']|^\.\. _([^:]+):$"
)


def lines_of(text, is_rst):
    """Number and text of the lines outside code and comments."""
    fence, indent = "", None
    for number, line in enumerate(text.split("\n")):
        mark = re.match(r"\s*(`{3,}|~{3,}|-{4,}$|\.{4,}$)", line)
        if mark and not is_rst and (mark[1][0] in "`~" or "\n[source" in text):
            fence = mark[1] if not fence else "" if line.strip().startswith(fence) else fence
            continue
        if is_rst:
            depth = len(line) - len(line.lstrip())
            if indent is not None and line.strip() and depth <= indent:
                indent = None
            if indent is not None:
                continue
            if line.rstrip().endswith("::") and not re.match(r"\s*\.\. (?!code|sourcecode)", line):
                indent = depth
        if not fence:
            yield number, line


def slug(heading, joined):
    heading = re.sub(r"\{#.*", "", re.sub(r"[`*_]|\[([^\]]*)\]\([^)]*\)|:\w+:", r"\1", heading)).strip().lower()
    kept = re.sub(r"[^\w\s-]", "-" if joined else "", heading)
    return re.sub(r"[-\s_]+", "-", kept).strip("-")


class Files:
    """The files of a folder by what they may be called."""

    def __init__(self, folder, site_url):
        self.folder, self.site = Path(folder), site_url.rstrip("/")
        self.text, self.by_path, self.by_name = {}, defaultdict(set), defaultdict(set)
        for file in sorted(self.folder.rglob("*")):
            name = file.relative_to(self.folder).as_posix()
            if file.suffix.lower() in SUFFIXES and file.is_file() and not name.startswith("."):
                self.text[name] = file.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n")
        for name, text in self.text.items():
            bare = name.rsplit(".", 1)[0].lower()
            for path in {name.lower(), bare, re.sub(r"(?:^|/)(?:_?index|readme)$", "", bare)}:
                self.by_path[path.strip("/")].add(name)
            front = re.match(r"---\n(.*?)\n---", text, re.DOTALL)
            for key, value in re.findall(r"^(id|slug|title):\s*[\"']?(.+?)[\"']?\s*$", front[1] if front else "", re.M):
                self.by_name[key, value.lower()].add(name)
            if number := re.match(r"PEP:\s*(\d+)", text):
                self.by_name["pep", str(int(number[1]))].add(name)

    def one(self, paths):
        for path in paths:
            found = self.by_path.get(path.strip("/").lower(), set())
            if found:
                return next(iter(found)) if len(found) == 1 else None
        return None

    def named(self, form, target, base):
        """The only file that a target names, or None."""
        target = unquote(target.partition("#")[0].partition("?")[0])
        if form in ("term", "slug", "pep role", "ref role", "wiki"):
            key = {"term": "id", "slug": "slug", "pep role": "pep", "ref role": "pep", "wiki": "title"}[form]
            found = self.by_name.get((key, target.lstrip("0") if key == "pep" else target.lower()), set())
            return next(iter(found)) if len(found) == 1 else None
        if self.site and target.startswith(self.site):
            target = target.removeprefix(self.site) or "/"
        if not target or re.match(r"[a-z][\w+.-]*:", target):
            return None
        bare = re.sub(r"\.(?:md|mdx|rst|html?|adoc)$", "", target)
        if target.startswith("/"):
            parts = bare.strip("/").lower().split("/")
            ends = [f"/{'/'.join(parts[start:])}" for start in range(len(parts) - 1)]
            found = [
                {name for path in self.by_path if path.endswith(end) for name in self.by_path[path]} for end in ends
            ]
            return self.one([target, bare]) or next((next(iter(one)) for one in found if len(one) == 1), None)
        folder = os.path.dirname(base)
        places = [folder, base.rsplit(".", 1)[0]]
        if "/pages/" in base:
            places.insert(1, base[: base.index("/pages/") + 6])
        found = [self.one([os.path.normpath(os.path.join(place, one)) for one in (target, bare)]) for place in places]
        return next(filter(None, found), None)

    def heading(self, name, anchor):
        """The text of the heading that an anchor names, or None."""
        lines = self.text[name].split("\n")
        for number, line in enumerate(lines):
            found = HEADING.match(line)
            title = found[1] if found else ""
            if not title and number + 1 < len(lines) and line.strip() and UNDERLINE.match(lines[number + 1]):
                title = line.strip()
            near = lines[number + 1 : number + 4] if EXPLICIT.search(line) and not title else []
            if title and anchor.lower().strip("-_") in {slug(title, False), slug(title, True)}:
                return title
            if anchor in {one for groups in EXPLICIT.findall(line) for one in groups if one}:
                return title or next((HEADING.match(one)[1] for one in near if HEADING.match(one)), None)
        return None


def count(files):
    """Links as (file, form, other file, anchor), each place once."""
    for name, text in files.text.items():
        is_rst = name.endswith(".rst")
        kept = "\n".join(line for _, line in lines_of(re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL), is_rst))
        if not is_rst:
            kept = re.sub(r"(?<!`)`[^`\n]+`(?!`)", "``", kept)
        for form in RST if is_rst else FORMS.keys() - RST:
            for target in FORMS[form].findall(kept):
                for one in re.findall(r"\d+", target) if form == "pep header" else [target]:
                    other = files.named("pep role" if form == "pep header" else form, one, name)
                    if other and other != name:
                        yield name, form, other, unquote(one.partition("#")[2])


def measure(folder, site_url=""):
    files = Files(folder, site_url)
    documents = {one.id: one for one in read_documents(folder, site_url=site_url, on_bad=print)}
    source = {key: one.metadata.get("source", key) for key, one in documents.items()}
    edges = defaultdict(set)
    builder = LinksBuilder()
    for edge in resolve(builder.contribute(one) for one in documents.values()).edges():
        start, end = (one.removeprefix("passage:") for one in (edge.source, edge.target))
        if edge.type == "links_to" and start in source and end in source and source[start] != source[end]:
            edges[source[start], source[end]].add(end)
    total, joined = Counter(), Counter()
    anchors = right = dead = 0
    named = set()
    lost = []
    for name, form, other, anchor in count(files):
        named.add((name, other))
        title = files.heading(other, anchor) if anchor else None
        if anchor and not title and anchor.lower() not in files.text[other].lower():
            dead += 1
            continue
        total[form] += 1
        is_joined = bool(edges[name, other])
        joined[form] += is_joined
        if not is_joined:
            lost.append([name, form, other, anchor])
        if title:
            anchors += 1
            words = re.findall(r"\w+", re.sub(r"\{#.*", "", title))
            ends = (documents[end] for end in edges[name, other])
            right += any(" ".join(words) in " ".join(re.findall(r"\w+", one.text)) for one in ends)
    wrong = sorted(pair for pair, ends in edges.items() if ends and pair not in named)
    return {
        "files": len(files.text),
        "links": total.total(),
        "joined": joined.total(),
        "share": round(joined.total() / max(total.total(), 1), 4),
        "dead_anchors": dead,
        "anchors": anchors,
        "anchors_right": round(right / max(anchors, 1), 4),
        "wrong": len(wrong),
        "forms": {form: [joined[form], number] for form, number in total.items()},
        "examples_of_wrong": wrong[:10],
        "examples_of_lost": lost[:10],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--site-url", default="", help="the address at which the folder is published")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    options = parser.parse_args()
    result = measure(options.folder, options.site_url)
    if options.json:
        print(json.dumps(result))
        return
    for name, value in result.items():
        print(f"{name:18} {value}")


if __name__ == "__main__":
    main()
