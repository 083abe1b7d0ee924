"""Context builder: numbered passages within a token budget."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from string import Formatter
from typing import Literal

from pydantic import Field, field_validator

from hopweave.component import Component
from hopweave.context.cite import (
    INSTRUCTIONS,
    Citation,
    CitationCheck,
    check_citations,
    citation,
    cited_prompt,
    quoted,
    source_list,
)
from hopweave.context.counters import Counter, CounterName, counter_named
from hopweave.hit import Hit
from hopweave.language.sentences import sentence_spans
from hopweave.scores import checked

_HEADER_FIELDS = ("number", "title", "source", "id")


@dataclass(frozen=True, slots=True)
class Context:
    """Text for a prompt, its citations, its length in tokens, and the ids of hits that did not fit."""

    text: str
    citations: tuple[Citation, ...]
    tokens: int
    dropped: tuple[str, ...] = ()

    @property
    def sources(self) -> str:
        """One line per source."""
        return source_list(self.citations)

    def prompt(self, question: str, instructions: str = INSTRUCTIONS) -> str:
        """A prompt that asks a language model to answer from this context and to cite it."""
        return cited_prompt(question, self.text, instructions)

    def check(self, answer: str) -> CitationCheck:
        """The sources that an answer cites, and the numbers without a source."""
        return check_citations(answer, self.citations)


class ContextBuilder(Component):
    r"""Packs hits into a context that never exceeds its budget, headers and separators included.

    Hits go in whole, in their order; the one that no longer fits is cut at the end of a sentence and is the last.
    A hit of which not even a sentence fits is dropped. With `type_order`, hits are ordered by their type first, so that
    an agent comes before the skills that it needs; of what does not fit, the last types are dropped. Connections found
    in the graph go first, as far as they fit into `paths_share` of the budget, the best one last. What looks like a
    header, a citation or a part of the prompt inside a passage gets a backslash in front, so that no document can pose
    as another.

    >>> hits = [Hit("skua", text="The Skua sails hourly. It was built in 1974."), Hit("tern", text="The Tern rests.")]
    >>> context = ContextBuilder(budget_tokens=11, counter="words").build(hits)
    >>> context.text, context.dropped
    ('[1] skua\nThe Skua sails hourly. It was built in 1974.', ('tern',))
    """

    kind: Literal["context"] = "context"
    budget_tokens: int = Field(default=2000, ge=1, description="The context is never longer than this.")
    header: str = Field(default="[{number}] {title}\n", description="Before each passage: number, title, source, id.")
    separator: str = Field(default="\n\n", description="Between passages.")
    paths_header: str = Field(default="Connections:", description="Before the paths found in the graph.")
    paths_share: float = Field(default=0.25, ge=0, le=1, description="Share of the budget that paths may take.")
    source_field: str = Field(default="source", min_length=1, description="Metadata field that names the source.")
    type_order: tuple[str, ...] = Field(
        default=(),
        description="Types whose hits go first, in this order, such as agent, skill, command and hook; those of other "
        "types follow. Within a type hits keep their order; without types, all do.",
    )
    type_field: str = Field(default="type", min_length=1, description="Metadata field that names the type.")
    counter: CounterName = Field(default="approximate", description="How tokens are counted.")
    encoding: str = Field(default="cl100k_base", min_length=1, description="Vocabulary for the counter tiktoken.")

    @field_validator("header")
    @classmethod
    def _known_fields(cls, header: str) -> str:
        fields = {name for _, name, _, _ in Formatter().parse(header) if name is not None}
        if "number" not in fields or not fields.issubset(_HEADER_FIELDS):
            raise ValueError(f"a header has {{number}} and may have {{title}}, {{source}} and {{id}}, not {header!r}")
        return header

    def build(self, hits: Sequence[Hit], paths: Sequence[str] = (), count: Counter | None = None) -> Context:
        """The context of these hits. `paths` are lines of text, best last; `count` replaces the counter."""
        count = counter_named(self.counter, self.encoding) if count is None else count
        draft = _ContextDraft(self, count, self._paths_block(paths, count))
        for hit in self._in_order(checked(hits)):
            draft.add(citation(hit, len(draft.citations) + 1, self.source_field))
        draft.shrink()
        text = draft.text()
        return Context(text, tuple(draft.citations), count(text), tuple(draft.dropped))

    def _in_order(self, hits: Sequence[Hit]) -> list[Hit]:
        places = {name: place for place, name in enumerate(dict.fromkeys(self.type_order))}
        return sorted(hits, key=lambda hit: places.get(str(hit.metadata.get(self.type_field)), len(places)))

    def _paths_block(self, paths: Sequence[str], count: Counter) -> str:
        """The best paths that fit: lines are taken from the end, and keep their order."""
        block = ""
        for first in range(len(paths) - 1, -1, -1):
            longer = "\n".join([self.paths_header, *(quoted(" ".join(path.split())) for path in paths[first:])])
            if count(longer) > self.paths_share * self.budget_tokens:
                break
            block = longer
        return block


class _ContextDraft:
    """A context under construction."""

    def __init__(self, builder: ContextBuilder, count: Counter, first_block: str) -> None:
        self.builder = builder
        self.header = _header_pattern(builder.header)
        self.count = count
        self.blocks = [first_block] if first_block else []
        self.citations: list[Citation] = []
        self.dropped: list[str] = []
        self.full = False
        self.spent = count(first_block)
        self.spent_is_exact = True

    def text(self, *more: str) -> str:
        return self.builder.separator.join([*self.blocks, *more])

    def add(self, source: Citation) -> None:
        """Add a source: whole, cut at a sentence, or not at all."""
        fitting = None if self.full or not source.text else self._fitted(source)
        if fitting is None:
            self.dropped.append(source.id)
            return
        self.blocks.append(self._block(fitting))
        self.citations.append(fitting)
        self.full = fitting.cut

    def shrink(self) -> None:
        """Remove sources from the end until the text is within budget, for counters that are not additive."""
        while self.blocks and self.count(self.text()) > self.builder.budget_tokens:
            self.blocks.pop()
            if self.citations:
                self.dropped.insert(0, self.citations.pop().id)

    def _fitted(self, source: Citation) -> Citation | None:
        """Return as much of a source as fits, and add its cost to `spent`."""
        budget = self.builder.budget_tokens
        # summing over blocks is fast but not exact, as tokens may span blocks: near the limit, count the whole text
        whole = self._cost(source)
        if self.spent + whole <= budget:
            self.spent, self.spent_is_exact = self.spent + whole, False
            return source
        if not self.spent_is_exact:
            self.spent, self.spent_is_exact = self.count(self.text()), True
        ends = [end for _, end in sentence_spans(source.text)]
        if self.spent + self._cost(_cut(source, ends[0])) > budget:
            return None
        fitting = self._longest_fitting(source, ends)
        if fitting is not None:
            self.spent = self.count(self.text(self._block(fitting)))
        return fitting

    def _longest_fitting(self, source: Citation, ends: Sequence[int]) -> Citation | None:
        fitting, low, high = None, 0, len(ends)
        while low < high:
            middle = (low + high) // 2
            candidate = _cut(source, ends[middle])
            if self.count(self.text(self._block(candidate))) <= self.builder.budget_tokens:
                fitting, low = candidate, middle + 1
            else:
                high = middle
        return fitting

    def _block(self, source: Citation) -> str:
        fields = {name: quoted(" ".join(getattr(source, name).split())) for name in _HEADER_FIELDS[1:]}
        return self.builder.header.format(number=source.number, **fields) + quoted(source.text, self.header)

    def _cost(self, source: Citation) -> int:
        return self.count((self.builder.separator if self.blocks else "") + self._block(source))


@lru_cache(maxsize=64)
def _header_pattern(header: str) -> re.Pattern[str] | None:
    r"""Where a line begins that could be taken for a header: what stands before the number, a number, what follows it.

    >>> bool(_header_pattern("({number}) {title}\n").match("(2) MV Skua")), _header_pattern("{number}\n")
    (True, None)
    """
    parts = list(Formatter().parse(header))
    place = next(place for place, (_, name, _, _) in enumerate(parts) if name == "number")
    before = parts[place][0].split("\n")[-1]
    after = parts[place + 1][0].split("\n")[0] if place + 1 < len(parts) else ""
    return re.compile(rf"(?m)^(?={re.escape(before)}\d{{1,9}}{re.escape(after)})") if (before + after).strip() else None


def _cut(source: Citation, end: int) -> Citation:
    return replace(source, text=source.text[:end], cut=end < len(source.text))
