"""Noise filter: drops small talk, non-answers and boilerplate."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from hopweave.component import Stage
from hopweave.document import Document
from hopweave.hit import Hit
from hopweave.knowledge import Knowledge
from hopweave.language.phrases import Phrase, PhraseMatcher
from hopweave.query import Query
from hopweave.scores import checked


class NoiseRule(BaseModel):
    """A text of at most `max_words` words that contains one of `phrases` (`hopweave.language.phrases`) is noise.

    The limit keeps long texts that merely quote such a phrase.

    >>> NoiseRule(name="small talk", phrases=("^lovely weather",), max_words=8).name
    'small talk'
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, description="Name of the rule.")
    phrases: tuple[Phrase, ...] = Field(min_length=1, description="Words and phrases; one of them is enough.")
    max_words: int | None = Field(default=40, ge=1, description="The rule does not apply to longer texts.")


def _listed(phrases: str) -> tuple[str, ...]:
    return tuple(phrases.split(", "))


NOISE_RULES: tuple[NoiseRule, ...] = (
    NoiseRule(
        name="denial",
        phrases=_listed(
            "i don't have any information, i do not have any information, i don't have information, "
            "i have no information, i don't have any record*, i have no record*, i don't have any memor*, "
            "i have no memor*, i'm not sure about, i am not sure about, i don't know about, i don't recall, "
            "i do not recall, i don't remember, i couldn't find any, i could not find any, no relevant information, "
            "no information available, 我没有相关信息, 我没有任何信息, 我不确定, 我不记得, 情報がありません, "
            "覚えていません"
        ),
    ),
    NoiseRule(
        name="question_about_memory",
        phrases=_listed(
            "do you remember, can you remember, do you recall, can you recall, have i told you, did i tell you, "
            "what do you remember, what do you know about me, 你记得, 你还记得, 你記得, 你還記得, 覚えていますか, "
            "기억나"
        ),
        max_words=25,
    ),
    NoiseRule(
        name="greeting",
        phrases=tuple(
            f"^{phrase}$"
            for phrase in _listed(
                "hi, hello, hey, hi there, hello there, hey there, good morning, good afternoon, good evening, "
                "good night, thanks, thank you, bye, goodbye, 你好, 您好, 早上好, 晚上好, 谢谢, 再见, こんにちは, "
                "ありがとう, 안녕하세요"
            )
        ),
    ),
    NoiseRule(
        name="boilerplate",
        phrases=(
            "^heartbeat",
            "^fresh session",
            "^new session",
            "^session started",
            "^session ended",
            "^session reset",
        ),
        max_words=12,
    ),
)
"""The built-in rules: denials, questions about memory, greetings and automatic session messages."""


def noise_rule(
    text: str,
    rules: tuple[NoiseRule, ...] = NOISE_RULES,
    *,
    min_characters: int = 5,
    min_cjk_characters: int = 2,
) -> str | None:
    """The name of the rule by which a text is noise, `short` if it is too short, or None if it is not noise.

    >>> noise_rule("I don't have any information about that."), noise_rule("The Skua sails at noon.")
    ('denial', None)
    """
    matcher = PhraseMatcher(text)
    if len(text.strip()) < (min_cjk_characters if matcher.has_cjk else min_characters):
        return "short"
    for rule in rules:
        if (rule.max_words is None or matcher.word_count <= rule.max_words) and matcher.first_match(
            rule.phrases
        ) is not None:
            return rule.name
    return None


def is_noise(text: str) -> bool:
    """Whether a text is noise; useful for skipping texts before they are indexed.

    >>> is_noise("hello!"), is_noise("The Skua sails at noon.")
    (True, False)
    """
    return noise_rule(text) is not None


def without_noise(
    documents: Iterable[Document], skipped: dict[str, str], noise: "Noise | None" = None
) -> Iterator[Document]:
    """The documents that are worth storing; ids of the others go into `skipped`, with the rule by which they are noise.

    >>> skipped = {}
    >>> documents = [Document("a", "hello!"), Document("b", "The Skua sails at noon.")]
    >>> [one.id for one in without_noise(documents, skipped)], skipped
    (['b'], {'a': 'greeting'})
    """
    rule_for = (noise or Noise()).rule_for
    for document in documents:
        rule = rule_for(document.text)
        if rule is None:
            yield document
        else:
            skipped[document.id] = rule


class Noise(Stage):
    """Drops hits whose text is a non-answer, a question about memory, a greeting, boilerplate or too short.

    The other hits keep their order.

    >>> hits = [Hit("a", 0.9, "Do you remember?"), Hit("b", 0.5, "The Skua sails at noon.")]
    >>> [hit.id for hit in Noise().apply(hits, Query("ferries"))]
    ['b']
    """

    kind: Literal["noise"] = "noise"
    rules: tuple[NoiseRule, ...] = Field(
        default=NOISE_RULES, description="Rules for noise; a value given here replaces the built-in rules."
    )
    extra_rules: tuple[NoiseRule, ...] = Field(
        default=(), description="Rules in addition to `rules`; they are tried first."
    )
    min_characters: int = Field(default=5, ge=0, description="Shorter texts are noise.")
    min_cjk_characters: int = Field(
        default=2, ge=0, description="The same limit for texts with Chinese, Japanese or Korean characters."
    )

    def apply(self, hits: Sequence[Hit], query: Query, knowledge: Knowledge | None = None) -> list[Hit]:  # noqa: ARG002
        """Keep the hits that are not noise, in their order."""
        return [hit for hit in checked(hits) if self.rule_for(hit.text) is None]

    def rule_for(self, text: str) -> str | None:
        """The name of the rule by which a text is noise, or None."""
        return noise_rule(
            text,
            (*self.extra_rules, *self.rules),
            min_characters=self.min_characters,
            min_cjk_characters=self.min_cjk_characters,
        )
