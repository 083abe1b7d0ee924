"""What a document is about: title, headings, first line, file name, and what its first sentence defines."""

import re
import unicodedata
from collections.abc import Iterable, Iterator

from hopweave.document import Document
from hopweave.graph.build.builders.capitalised import name_run, names_something
from hopweave.graph.model import Mention
from hopweave.language.stop_words import ARTICLES, STOP_WORDS
from hopweave.language.words import words
from hopweave.markup.markdown import read_text
from hopweave.markup.page import Page

# possessive quantifiers throughout, so the time is linear for any text
_TITLE_LINE = re.compile(r"\A\s*+([^#\n][^\n]{0,100}+)\n\s*+(?=\S)")
_SUFFIX = re.compile(r"(?<!\s)\s*+[(\[（【][^()\[\]（）【】]*[)\]）】]$")
_PATH = re.compile(r"[\\/]|\.[A-Za-z0-9]{1,5}$")  # a source may just as well be called "wiki"
_FORMAT = re.compile(r"\.[A-Za-z0-9]{1,5}$")
_SEPARATORS = re.compile(r"[_\-\s.]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_GENERIC = frozenset({"readme", "index", "main", "init", "untitled", "default", "home", "page", "document", "docs"})

# "is" in the languages most texts are written in
_COPULA = (
    "is|are|was|were|refers|means|denotes|ist|sind|war|waren|est|sont|était|es|son|era|eran|fue|è|sono|é|são|foi|"
    "zijn|werd|является|был|была|—"
)
_OPENING, _CLOSING = r"[\s\"“'«*_]*+", r"[\s\"”»*_]*+"
_ASIDE = r"(?:\([^()\n]{0,300}+\)|（[^（）\n]{0,300}+）)"
_SHORTENED = "(?:" + "|".join(rf"(?<=\b{word})" for word in ("Jr", "Sr", "Inc", "Corp", "Ltd", "Co")) + ")"
_DEFINED = re.compile(
    rf"^{_OPENING}((?:[^\s.;:()!?\"”»]|\.(?=\S| [A-ZÀ-Þ])|{_SHORTENED}\.(?= )| ){{1,80}}?){_CLOSING}"
    # white space is among the closing marks, so it stands either before this place or after a comma
    rf"(?:{_ASIDE}[\s\"”*_]*+)?(?:(?<=\s)|,\s++|,?[^.,()\n]{{1,80}}+,\s++)(?:{_COPULA})\b"
)
_BORN = re.compile(
    rf"^{_OPENING}([^\s.;:()!?][^;:()!?\n]{{1,80}}?){_CLOSING}\((?:born|b\.|née|né|geb\.|nacid|nat[oa]|\*|†|\d)"
)
_DEFINED_UNSPACED = re.compile(
    rf"^[\s「『《]*([^\s。、，,.（）()「」『』《》]{{2,20}}?)[」』》]?{_ASIDE}?(?:とは|は、|是|指|은 |는 )"
)
_ASIDE_AFTER_COMMA = re.compile(r",\s++(?=[^\W\d_A-ZÀ-Þ])")  # "Skua, built on May 1, 1974, is"
_ALIAS = re.compile(
    r"(?<!-)(?<!- )\b(?:known (?:\w+ )?as|called|formerly|nicknamed|abbreviated|born)\s*(?:as\s+)?(?:the\s+)?[\"“]?\s?"
)
# behind the name of a person: "(born 1950)", "(May 10, 1890 – August 17, 1987)"
_LIFE = re.compile(r"[(（](?=[^()（）\n]{0,200}?(?:\b(?:born|née?|geb|nacid[oa]|nat[oa])\b|[*†]|\d{4}\??\s?[-–—]))")
_GENERATIONS = frozenset({"jr", "jr.", "sr", "sr.", "ii", "iii", "iv"})
_HONORIFICS = frozenset({"sir", "dame", "lord", "lady", "dr", "dr.", "prof", "prof.", "rev", "rev."})
_SENTENCE = re.compile(r"(?<=[^\W\d_]{2})[.!?](?:\s|$)|[。\n]")
_NO_TITLE_ENDS = frozenset(".!?:;,。！？：；、，…-–—|>*`")
_NUMBERING = re.compile(r"^(?:\d+[.)]\s+|\d+(?:\.\d+)+[.)]?\s+)")
_MAX_WORDS = 8
_MAX_NAMES = 4  # of a person
_MAX_HEADING = 200  # characters; more is not a heading
_FIRST_SENTENCE = 400  # characters


def without_suffix(title: str) -> str:
    """A title without the disambiguating bracket at its end.

    >>> without_suffix("Inherent Vice (film)"), without_suffix("東京（とうきょう）"), without_suffix("(500)")
    ('Inherent Vice', '東京', '(500)')
    """
    return _SUFFIX.sub("", title) or title


def title_names(title: str) -> list[str]:
    """The names a title stands for: as written, and without a bracketed suffix.

    >>> title_names("Dark River (2017 film)")
    ['Dark River (2017 film)', 'Dark River']
    """
    title = " ".join(title.split())
    return list(dict.fromkeys(name for name in (title, without_suffix(title)) if name))


def title_line(text: str) -> str:
    r"""The first line of a text if it reads like a title: a name of few words, without a full stop, and text below it.

    >>> title_line("MV Skua (ship)\nSkua is a ferry."), title_line("Skua is a ferry.\nIt sails to Harris.")
    ('MV Skua (ship)', '')
    """
    found = _TITLE_LINE.match(text)
    if found is None or text[found.end()].islower():  # a sentence that goes on
        return ""
    line = found.group(1).strip()
    return line if line[-1:] not in _NO_TITLE_ENDS and _is_name(line) else ""


def file_title(path: str) -> str:
    """The name a file's path gives it; a file with an empty name such as README is called after its folder.

    >>> file_title("docs/ferry_timetable.md"), file_title("https://example.org/skua/index.html?page=2")
    ('ferry timetable', 'skua')
    """
    address = re.split(r"[?#]", path.strip(), maxsplit=1)[0]
    _, _, below = address.rpartition("://")
    parts = [part for part in re.split(r"[\\/]", below) if part.strip(".")]
    parts = parts[1:] if "://" in address else parts
    for part in reversed(parts):
        name = _SEPARATORS.sub(" ", _CAMEL.sub(" ", _FORMAT.sub("", part))).strip()
        if name and name.casefold() not in _GENERIC and not name.replace(" ", "").isdigit():
            return name
    return ""


def defined_names(text: str, *, short_forms: bool = False) -> list[str]:
    """What the first sentence says it is about: "X is a …", "X (born …)", "X とは …", and other names it gives for it.

    With `short_forms`, also what others call a person whose given names are all there.

    >>> defined_names("Skua (built 1974) is a ferry, also known as the Grey Lady.")
    ['Skua', 'Grey Lady']
    >>> defined_names("It is late."), defined_names("北京市是中华人民共和国的首都。")
    ([], ['北京市'])
    >>> defined_names("Ingrid Maria Falk (1901–1974) was an engineer.", short_forms=True)
    ['Ingrid Maria Falk', 'Ingrid Falk', 'Maria Falk', 'Ingrid M. Falk']
    """
    start = text[: 2 * _FIRST_SENTENCE]
    below = (_TITLE_LINE.sub("", start, count=1) if title_line(start) else start)[:_FIRST_SENTENCE]
    start = unicodedata.normalize("NFKC", below).replace("( ", "(")
    found = _DEFINED.match(start) or _BORN.match(start) or _DEFINED_UNSPACED.match(start)
    if found is None:
        return []
    defined = found.group(1).strip(" ,")
    is_quoted = start[: found.start(1)].rstrip().endswith(('"', "“", "«", "「", "『", "《"))
    names = [defined] if _is_name(defined, is_quoted) else []
    if short_forms and names and _LIFE.match(start[found.end(1) :].lstrip(' \n"”»*_')):
        names += _short_forms(defined)
    sentence = _SENTENCE.split(start, maxsplit=1)[0]
    for alias in _ALIAS.finditer(sentence) if names else ():
        run = name_run().match(sentence, alias.end())
        if run and (" " in run.group() or run.group().isupper()) and _is_name(run.group()):
            names.append(run.group())
    return list(dict.fromkeys(names))


def _short_forms(person: str) -> list[str]:
    """Each of several given names with the family name, and the first with the initial of a single middle name."""
    parts = person.replace(",", " ").split()
    while parts and parts[-1].casefold() in _GENERATIONS:
        parts.pop()
    while parts and parts[0].casefold() in _HONORIFICS:
        parts.pop(0)
    is_person = all(part[0].isupper() for part in parts) and parts[:1] and parts[0].casefold() not in ARTICLES
    if not is_person or not 2 <= len(parts) <= _MAX_NAMES:
        return []
    *given, last = parts
    forms = [f"{name} {last}" for name in given if len(name) > 2]
    if len(given) == 2 and len(given[1]) > 2:
        forms.append(f"{given[0]} {given[1][0]}. {last}")
    return [form for form in forms if form != person]


def headings(page: Page) -> list[str]:
    """The headings of a page that are short enough to be names, without their numbers; none that is code."""
    blocks = (block for block in page.blocks if block.kind == "heading" and block.prose.strip())
    found = (_NUMBERING.sub("", block.plain) for block in blocks)
    return [heading for heading in found if heading and len(heading) <= _MAX_HEADING]


def opening_names(text: str) -> list[str]:
    r"""What a text without a title is about: its first heading, or else what its first sentence defines.

    >>> opening_names("Notes\n# MV Skua (ship)\nShe sails."), opening_names("Skua, built in May, 1974, is a ferry.")
    (['MV Skua (ship)', 'MV Skua'], ['Skua'])
    """
    page = read_text(text)
    if found := headings(page):
        return title_names(found[0])
    return [_ASIDE_AFTER_COMMA.split(name, maxsplit=1)[0] for name in defined_names(page.body)[:1]]


def _is_name(name: str, is_quoted: bool = False) -> bool:
    """Few words, the first with a capital or of a script that knows none, and not stop words or a date."""
    parts = name.split()
    if len(parts) > 1 and parts[0].casefold() in ARTICLES:
        parts = parts[1:]
    if not 0 < len(parts) <= _MAX_WORDS or not words(name):
        return False
    starts_well = is_quoted or parts[0].casefold() not in STOP_WORDS
    says_something = names_something(name) or (is_quoted and len(parts) > 1)
    return starts_well and says_something and not parts[0][0].islower()


def about_names(
    document: Document, page: Page, *, path_fields: Iterable[str], title_weight: float, inferred_weight: float
) -> Iterator[Mention]:
    """The names of what a document is about, the surest first.

    >>> document = Document("d", "Skua is a ferry.", {"title": "MV Skua (ship)", "path": "ships/skua.md"})
    >>> found = about_names(document, read_text(document.text), path_fields=["path"], title_weight=2, inferred_weight=1)
    >>> [mention.name for mention in found]
    ['MV Skua (ship)', 'MV Skua', 'skua', 'Skua']
    """
    for name in title_names(document.title):
        yield Mention(name, "about", title_weight)
    found = headings(page)
    inferred = [name for heading in found for name in title_names(heading)]
    body = page.body
    if not found or page.blocks[0].kind != "heading":
        inferred += title_names(title_line(page.prose[:_FIRST_SENTENCE]))
    for field in path_fields:
        path = document.metadata.get(field)
        if isinstance(path, str) and _PATH.search(path):
            inferred.append(file_title(path))
    inferred += defined_names(body, short_forms=not document.title)  # a title is what others call it
    for name in inferred:
        if name:
            yield Mention(name, "about", inferred_weight)
