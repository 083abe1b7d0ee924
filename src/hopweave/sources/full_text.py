"""Full-text search with SQLite FTS5: words and phrases."""

import re
from typing import ClassVar, Literal

from hopweave.component import Rankings, Source, fetched
from hopweave.hit import Hit
from hopweave.knowledge import Capability, Knowledge
from hopweave.language.stop_words import bm25_stop_words
from hopweave.query import Query
from hopweave.text.analyzers import WORD

_PHRASE = re.compile(r'"([^"]*)"')
_MAX_WORDS = 64  # an expression of thousands of words overflows the parser of SQLite


class FullText(Source):
    """Documents by SQLite FTS5. Phrases in double quotes are required, other words are optional.

    In a file whose analyzer is English (`nlp`, `light`), words are found in any of their forms, in phrases too:
    "pipeline" finds "pipelines". M. F. Porter (1980), An algorithm for suffix stripping. In other files a word is found
    as it is written, but for case and accents.

    >>> match_expression('where is "tide gate" 7?')
    '"tide gate" AND ("tide gate" OR "7")'
    """

    requires: ClassVar[frozenset[Capability]] = frozenset({Capability.FULL_TEXT})
    in_memory: ClassVar[bool] = True
    reads_documents: ClassVar[bool] = False
    pointwise: ClassVar[bool] = True

    kind: Literal["full_text"] = "full_text"

    def search(self, query: Query, knowledge: Knowledge, upstream: Rankings | None = None) -> list[Hit]:  # noqa: ARG002
        """Find hits for a question, best first."""
        self.check_capabilities(knowledge)
        expression = match_expression(query.text)
        if not expression:
            return []
        ranking = knowledge.rank_full_text(expression, top_k=self.top_k, tenant=query.tenant)
        return fetched(ranking, knowledge, query, "full_text", "positive")


def match_expression(text: str) -> str:
    """An FTS5 expression for a question; no part of the question is interpreted as FTS5 syntax.

    Every word is quoted. Stop words are left out unless the question has nothing else.

    >>> match_expression('NEAR(a, "b") OR title:*')
    '"b" AND ("b" OR "near" OR "title")'
    >>> match_expression("?!")
    ''
    """
    phrases = [phrase for phrase in map(_quoted, _PHRASE.findall(text)) if phrase]
    words = WORD.findall(_PHRASE.sub(" ", text).lower())
    common = bm25_stop_words("english")
    content = [word for word in words if word not in common]
    loose = [f'"{word}"' for word in content or ([] if phrases else words)]
    required = list(dict.fromkeys(phrases))[:_MAX_WORDS]
    wanted = " OR ".join(list(dict.fromkeys(required + loose))[:_MAX_WORDS])
    return " AND ".join([*required, f"({wanted})"] if required else [wanted])


def _quoted(text: str) -> str:
    words = WORD.findall(text.lower())
    return f'"{" ".join(words[:_MAX_WORDS])}"' if words else ""
