"""Entities from plain text: titles, headings, definitions and names, without a model."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Literal, Protocol

from pydantic import Field, field_validator

from hopweave.document import Document
from hopweave.graph.build.builders.about import about_names
from hopweave.graph.build.builders.addresses import ADDRESSES
from hopweave.graph.build.builders.builder import GraphBuilder
from hopweave.graph.build.builders.capitalised import capitalised_names
from hopweave.graph.model import Contribution, Mention, Node
from hopweave.language.words import HANGUL, UNSPACED, has_unspaced, word_string
from hopweave.markup.markdown import read_text


class EntityExtractor(Protocol):
    """Finds names in a text: spaCy, GLiNER, an LLM, or any function from text to strings."""

    def __call__(self, text: str, /) -> Iterable[str]:
        """The names in a text."""
        ...


_EXTRACTORS: dict[str, EntityExtractor] = {}


def register_extractor(name: str, extractor: EntityExtractor) -> None:
    """Make an extractor known by name, so that a recipe can ask for it.

    >>> register_extractor("tickets", lambda text: [word for word in text.split() if word.startswith("OPS-")])
    >>> builder = MentionsBuilder(extractor="tickets")
    >>> [mention.name for mention in builder.contribute(Document("d", "see OPS-17 and OPS-9")).mentions]
    ['OPS-17', 'OPS-9']
    """
    _EXTRACTORS[name] = extractor


class MentionsBuilder(GraphBuilder):
    """Connects a passage with what it is about and with the names it mentions.

    It is about its title (with and without a bracketed suffix), its headings, a first line that reads like a title, the
    name of its file and what its first sentence defines; without a title, it is called after the first of these. It
    mentions the capitalised and quoted names in its text, names in its title that other passages mention as well, and
    everything that another passage is about and that occurs in its words. In scripts without spaces it also mentions
    strings that its own text or that of another passage repeats.

    >>> document = Document("d", "Skua is a ferry. She sails to Harris.", {"title": "MV Skua"})
    >>> [(mention.name, mention.is_about) for mention in MentionsBuilder().contribute(document).mentions]
    [('MV Skua', True), ('Skua', True), ('Harris', False)]
    """

    kind: Literal["mentions"] = "mentions"
    extractor: str = Field(
        default="rules", description="Who finds names in the text: `rules`, or a registered extractor."
    )
    path_fields: tuple[str, ...] = Field(
        default=("file_name", "file_path", "path", "source", "url"),
        description="Metadata fields that hold a file name or URL.",
    )
    title_weight: float = Field(default=4.0, gt=0, description="Weight of the edge to what the title names.")
    inferred_weight: float = Field(
        default=2.0, gt=0, description="Weight of the edge to what else the passage is about."
    )
    year_weight: float = Field(default=0.25, ge=0, description="Weight of the edge to a year; 0 leaves years out.")
    search_titles: bool = Field(default=True, description="Look for what other passages are about in this one's text.")
    repeated: bool = Field(
        default=True,
        description="In scripts without spaces, take strings that a text repeats for names (nodes of the kind "
        "`phrase`), and look for them in other texts. Not with an extractor of your own.",
    )

    @field_validator("extractor")
    @classmethod
    def _known(cls, name: str) -> str:
        if name != "rules" and name not in _EXTRACTORS:
            known = ", ".join(["rules", *sorted(_EXTRACTORS)])
            raise ValueError(f"no such extractor; allowed are {known}; add one with register_extractor")
        return name

    def contribute(self, document: Document) -> Contribution:
        """The passage, what it is about and the names in it."""
        found: dict[str, Mention] = {}
        page = read_text(document.text, ADDRESSES in document.metadata)
        for mention in about_names(
            document,
            page,
            path_fields=self.path_fields,
            title_weight=self.title_weight,
            inferred_weight=self.inferred_weight,
        ):
            found.setdefault(mention.name, mention)
        about = tuple(found)
        for mention in self._names(page.prose):
            found.setdefault(mention.name, mention)
        for mention in self._names(document.title):  # every word of a title may have a capital
            found.setdefault(mention.name, mention._replace(sure=False))
        phrases = repeated_names(page.prose) if self.repeated and self.extractor == "rules" else []
        return Contribution(
            document.id,
            nodes=(Node.passage(document.id, document.title or next(iter(about), "")),),
            mentions=(*found.values(), *(Mention(name, kind="phrase") for name in phrases if name not in about)),
            words=word_string(page.plain) if self.search_titles else "",
        )

    def _names(self, text: str) -> list[Mention]:
        if self.extractor == "rules":
            return capitalised_names(text, year_weight=self.year_weight)
        return [Mention(name) for name in _EXTRACTORS[self.extractor](text) if name.strip()]


_MIN_LENGTH, _MIN_THAI_LENGTH, _MAX_LENGTH = 3, 6, 20
_MAX_TEXT = 5000  # characters of a text that are looked at
_MAX_NAMES = 50

# What stands between names: Hiragana in Japanese, and in Chinese particles that are hardly ever part of a name.
_HIRAGANA = re.compile("[\u3041-\u309f]")
_CHINESE_PARTICLES = re.compile("[的了是在和与及或也都这那们我你他她它而且但就吗呢吧于由对从向将等为以并]")
_OTHER_SCRIPTS = re.compile(f"[^{UNSPACED}]+")
_HANGUL = re.compile(f"[{HANGUL}]")
_KOREAN_PARTICLE = re.compile("(?:에서|에게|으로|까지|부터|처럼|은|는|이|가|을|를|의|에|로|와|과|도|만)(?= |$)")
_THAI = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")  # and other scripts that write vowels around letters
_MARKS_AFTER, _VOWELS_BEFORE = re.compile(r"[\W\u0e30-\u0e33\u0e45]"), re.compile("[\u0e40-\u0e44\u0ec0-\u0ec4]$")


def repeated_names(text: str) -> list[str]:
    """The longest strings that a text has twice and that stand free on one side: at a mark or a particle.

    Three characters are the least, in Thai and similar scripts six. A Korean name must be followed by a particle.

    >>> repeated_names("北京大学位于海淀区。蔡元培领导北京大学。"), repeated_names("村上春樹は小説家、村上春樹の本")
    (['北京大学'], ['村上春樹'])
    >>> repeated_names("세종대왕은 한글을 만들었다. 세종대왕의 아버지"), repeated_names("Skua, Skua")
    (['세종대왕'], [])
    """
    if not has_unspaced(text):
        return []
    text = unicodedata.normalize("NFKC", text[:_MAX_TEXT])
    between = _HIRAGANA if _HIRAGANA.search(text) else _CHINESE_PARTICLES
    text = f" {_OTHER_SCRIPTS.sub(' ', between.sub(' ', text))} "
    found: dict[str, int] = {}
    for name in sorted(set(_repeats(text)), key=lambda name: (-len(name), name)):
        count = text.count(name)
        if count > 1 and _stands_free(name, text) and not _is_part(name, count, found):
            found[name] = count
            if len(found) == _MAX_NAMES:
                break
    return list(found)


def _repeats(text: str) -> Iterator[str]:
    """What a place of the text has in common with the next in alphabetical order (as in a suffix array)."""
    places = [place for place, character in enumerate(text) if character != " "]
    strings = sorted(text[place : place + _MAX_LENGTH].partition(" ")[0] for place in places)
    for one, other in pairwise(strings):
        if one[:_MIN_LENGTH] == other[:_MIN_LENGTH]:
            pairs = zip(one, other, strict=False)
            length = next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
            name = one[:length]
            if _HANGUL.match(name):
                name = _KOREAN_PARTICLE.sub("", name)
            if len(name) >= (_MIN_THAI_LENGTH if _THAI.match(name) else _MIN_LENGTH):
                yield name


def _stands_free(name: str, text: str) -> bool:
    if _HANGUL.match(name):
        start = text.find(f" {name}")
        while start >= 0 and not _KOREAN_PARTICLE.match(text, start + 1 + len(name)):
            start = text.find(f" {name}", start + 1)
        return start >= 0
    if _MARKS_AFTER.match(name) or _VOWELS_BEFORE.search(name):  # not a whole syllable
        return False
    return f" {name}" in text or f"{name} " in text


def _is_part(name: str, count: int, longer: dict[str, int]) -> bool:
    """Whether a string occurs only as part of a longer one that is a name."""
    return any(name in other and count == times for other, times in longer.items())
