"""Write the kinds of files, and the limits of reading them, into docs/guides/files.md.

    python docs/kinds_table.py

The rows come from the readers. `make fix` and `make docs` do this, and a test compares the page with `table()`.
"""

import re
from pathlib import Path

from hopweave.markup import data, html
from hopweave.readers import epub, limited_yaml, mail, pages
from hopweave.readers.files import suffixes

PAGE = Path(__file__).parent / "guides" / "files.md"
TABLE = re.compile(r"(<!-- table: python docs/kinds_table.py -->\n).*?(<!-- end of table -->)", re.S)
KINDS = {
    "Markdown, MDX": (".md", ".markdown", ".mdx", ".mkd"),
    "reStructuredText": (".rst", ".rest"),
    "AsciiDoc": (".adoc", ".asciidoc", ".asc"),
    "HTML": (".html", ".htm", ".xhtml"),
    "notebooks": (".ipynb",),
    "plain text": (".txt", ".text"),
    "e-mail": (".eml", ".mbox"),
    "books": (".epub",),
    "tables": (".csv", ".tsv"),
    "JSON Lines": (".jsonl", ".ndjson"),
    "data": (".json", ".yaml", ".yml"),
}
LIMITS = {
    "a file of text, or what a book unpacks to": f"{pages.MAX_BYTES >> 20} MB",
    "elements of HTML inside each other": f"{html.MAX_LEVELS:,}",
    "data inside each other": f"{data.MAX_LEVELS}",
    "YAML, front matter included": f"{limited_yaml.MAX_CHARACTERS:,} characters, {limited_yaml.MAX_NODES:,} values",
    "parts of a message": f"{mail.MAX_PARTS}",
    "entries of a book": f"{epub.MAX_ENTRIES:,}",
}


def table() -> str:
    """The two tables in Markdown."""
    listed = {suffix for kind in KINDS.values() for suffix in kind}
    if unknown := set(suffixes()) ^ listed:
        raise ValueError(f"KINDS: {', '.join(sorted(unknown))} must be in both KINDS and hopweave.readers.files")
    kinds = [f"| {kind} | {', '.join(f'`{suffix}`' for suffix in ends)} |" for kind, ends in KINDS.items()]
    limits = [f"| {what} | {limit} |" for what, limit in LIMITS.items()]
    return "\n".join(["| kind | suffixes |", "|---|---|", *kinds, "", "| limit | at most |", "|---|---|", *limits])


if __name__ == "__main__":
    PAGE.write_text(
        TABLE.sub(lambda found: f"{found[1]}{table()}\n{found[2]}", PAGE.read_text(encoding="utf-8")), encoding="utf-8"
    )
