"""Entities from plain text: titles, headings, definitions and names, without a model."""

from collections.abc import Iterable
from typing import Literal, Protocol

from pydantic import Field, field_validator

from hopweave.document import Document
from hopweave.graph.build.builders.about import about_names
from hopweave.graph.build.builders.addresses import ADDRESSES
from hopweave.graph.build.builders.builder import GraphBuilder
from hopweave.graph.build.builders.capitalised import capitalised_names
from hopweave.graph.build.builders.repeated import repeated_names
from hopweave.graph.model import Contribution, Mention, Node
from hopweave.language.words import word_string
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
