"""The rules for intents: two built-in tables, and the class of the rules in them."""

import math
import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from hopweave.language.phrases import Phrase, PhraseMatcher
from hopweave.query import Signal
from hopweave.routing.pattern import Pattern, found, shipped


def _check_weights(weights: Mapping[Signal, float] | None) -> Mapping[Signal, float] | None:
    if weights is not None:
        if any(not 0 <= weight <= 1 for weight in weights.values()):
            raise ValueError("each weight must be in [0, 1]")
        if not math.isclose(total := math.fsum(weights.values()), 1, abs_tol=1e-6):
            raise ValueError(f"weights must sum to 1, but sum to {total:g}")
    return weights


class IntentRule(BaseModel):
    """One intent: how to recognise it, and how it changes retrieval.

    `phrases` (see `hopweave.language.phrases`) cover most cases; `patterns` are regular expressions, searched in the
    whole text, so a pattern meant for short texts should have `max_characters` as well. Fields that are None come from
    the intent named in `profile`, else from a built-in intent of the same name.

    >>> IntentRule(name="price", phrases=("how much", "price*"), profile="exact_match").matched("What's the price?")
    'price*'
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, description="Name of the intent.")
    phrases: tuple[Phrase, ...] = Field(
        default=(), description="Words and phrases; the rule matches if the text contains any of them."
    )
    patterns: tuple[Pattern, ...] = Field(
        default=(), description="Regular expressions; the rule matches if any of them is found."
    )
    case_sensitive: bool = Field(default=False, description="Whether patterns distinguish upper and lower case.")
    max_characters: int | None = Field(default=None, ge=1, description="The patterns are not applied to longer texts.")
    weights: Annotated[dict[Signal, float] | None, AfterValidator(_check_weights)] = Field(
        default=None, description="Shares of embedding, text, graph and intent_edges; they sum to 1."
    )
    keywords: tuple[str, ...] | None = Field(default=None, description="Stems that get a higher weight in BM25.")
    edge_types: tuple[str, ...] | None = Field(default=None, description="Types of graph edges to follow.")
    profile: str | None = Field(
        default=None, description="One of the eight intents; it supplies the fields that are not given here."
    )

    def matched(self, text: str, matcher: PhraseMatcher | None = None) -> str | None:
        """The first phrase or pattern that matches this text, or None."""
        text = text.strip()
        if self.max_characters is None or len(text) <= self.max_characters:
            flags = 0 if self.case_sensitive else re.IGNORECASE
            for pattern in self.patterns:
                if found(pattern, text, flags):
                    return pattern
        return (matcher or PhraseMatcher(text)).first_match(self.phrases) if self.phrases else None


def _listed(phrases: str) -> tuple[str, ...]:
    return tuple(phrases.split(", "))


def _shares(embedding: float, text: float, graph: float, intent_edges: float) -> dict[Signal, float]:
    return {"embedding": embedding, "text": text, "graph": graph, "intent_edges": intent_edges}


EIGHT: tuple[IntentRule, ...] = (
    IntentRule(
        name="exact_match",
        patterns=shipped(
            r'\A"[^"]+"\Z|\A“[^”]+”\Z',  # a whole query in double quotes
            r"\A[A-ZÀ-ÖØ-ÞΑ-ΩА-Я]\w+\Z",  # one capitalised or CamelCase word
            r"\A[a-z]+[A-Z][A-Za-z0-9]*\Z",  # camelCase
            r"\A[^\W_]+(?:[-_][^\W_]+)+\Z",  # word-word, word_word
            r"\A[\w-]+(?:[./][\w-]+)*\.\w+\Z",  # name.ext, path/name.ext
        ),
        case_sensitive=True,
        max_characters=500,
        weights=_shares(0.15, 0.65, 0.10, 0.10),
        keywords=(),
        edge_types=(),
    ),
    IntentRule(
        name="debugging",
        phrases=_listed(
            "error, errors, errored, erroring, fail, fails, failed, failing, failure, failures, debug, debugs, "
            "debugged, debugging, debugger, fix, fixes, fixed, fixing, broken, breaks, breaking, issue, issues, crash, "
            "crashes, crashed, crashing, bug, bugs, buggy, exception, exceptions, traceback, tracebacks"
        ),
        weights=_shares(0.30, 0.45, 0.20, 0.05),
        keywords=("error", "fail", "debug", "fix", "broken", "issu", "crash", "bug", "except", "traceback"),
        edge_types=("has_limitation", "has_workaround", "causes", "fixes"),
    ),
    IntentRule(
        name="capability_check",
        phrases=_listed(
            "can it, can you, can this, does ... support, do ... support, is ... able, is ... capable, are ... able, "
            "are ... capable"
        ),
        weights=_shares(0.30, 0.55, 0.10, 0.05),
        keywords=("support", "compat", "handl", "enabl", "provid", "capabl"),
        edge_types=("supports", "has_capability", "enables", "has_limitation"),
    ),
    IntentRule(
        name="workflow",
        phrases=_listed(
            "pipeline, pipelines, workflow, workflows, step by step, automat*, chain, chains, chained, chaining, "
            "sequenc*, ^how to, ^how do i"
        ),
        weights=_shares(0.30, 0.25, 0.30, 0.15),
        keywords=("step", "pipelin", "flow", "chain", "sequenc", "automat", "process", "how"),
        edge_types=("feeds_into", "requires", "followed_by", "depends_on", "enables"),
    ),
    IntentRule(
        name="comparison",
        phrases=_listed("vs, versus, compar*, differ*, which is better, alternative, alternatives, alternatively"),
        weights=_shares(0.35, 0.30, 0.25, 0.10),
        keywords=("compar", "differ", "vs", "better", "altern", "versus"),
        edge_types=("similar_to", "alternative_to", "complements"),
    ),
    IntentRule(
        name="goal_based",
        phrases=_listed(
            "i want to, how do i, reduc*, improv*, achiev*, optim*, increase, increases, increased, increasing, "
            "decrease, decreases, decreased, decreasing, minimiz*, minimis*, maximiz*, maximis*"
        ),
        weights=_shares(0.40, 0.25, 0.15, 0.20),
        keywords=("cost", "reduc", "improv", "optim", "fast", "cheap", "save", "effici", "increas", "decreas"),
        edge_types=("enables", "supports", "implements", "provides", "solves", "used_for"),
    ),
    IntentRule(
        name="exploratory",
        phrases=_listed(
            "explor*, brows*, list, lists, listed, listing, show me, what are, overview, overviews, ^tell me about"
        ),
        weights=_shares(0.45, 0.20, 0.25, 0.10),
        keywords=("explor", "brows", "list", "show", "discov", "overview"),
        edge_types=("relates_to", "contains", "part_of"),
    ),
    IntentRule(  # without phrases: the intent of a long text that no rule matches
        name="semantic",
        weights=_shares(0.55, 0.15, 0.15, 0.15),
        keywords=(),
        edge_types=("relates_to", "similar_to", "part_of"),
    ),
)
"""The eight intents, in the order in which they are tried."""

PROFILES: Mapping[str, IntentRule] = {rule.name: rule for rule in EIGHT}
"""The eight intents by name; other rules may take weights, keywords and edge types from them."""


def _fine(name: str, profile: str, phrases: str | None = None) -> IntentRule:
    """A finer intent; without phrases of its own it has those of its profile."""
    if phrases is not None:
        return IntentRule(name=name, profile=profile, phrases=_listed(phrases))
    return IntentRule(name=name, profile=profile, **PROFILES[profile].model_dump(include={"phrases"}))


FINE: tuple[IntentRule, ...] = (
    _fine(
        "security",
        "capability_check",
        "secur*, vulnerab*, exploit*, permission*, authenticat*, authoriz*, authoris*, encrypt*, credential*, secret, "
        "secrets, cve, attack*",
    ),
    _fine("debug", "debugging"),
    _fine(
        "impact",
        "exploratory",
        "impact*, affect*, what happens if, what happens when, consequence*, blast radius, side effect*, depends on",
    ),
    _fine(
        "trace",
        "workflow",
        "trace, traces, traced, tracing, path from, path between, lineage, provenance, where does, come from, "
        "comes from, call graph, connected to, linked to",
    ),
    _fine("compare", "comparison"),
    _fine("check_capability", "capability_check"),
    _fine(
        "configure",
        "workflow",
        "configur*, config, setting, settings, set up, setup, install*, environment variable*",
    ),
    _fine(
        "compose_workflow",
        "workflow",
        "pipeline, pipelines, workflow, workflows, step by step, automat*, chain, chains, chained, chaining, sequenc*, "
        "orchestrat*, combine, combining",
    ),
    _fine(
        "create",
        "goal_based",
        "creat*, build, builds, building, generat*, implement, implements, implementing, write, writing, make a, "
        "make an, scaffold*",
    ),
    _fine(
        "optimize",
        "goal_based",
        "optim*, improv*, reduc*, faster, cheaper, speed up, efficien*, performance, minimiz*, minimis*, maximiz*, "
        "maximis*",
    ),
    _fine("recommend", "comparison", "recommend*, suggest*, should i, best, advice, advise"),
    _fine(
        "learn",
        "semantic",
        "learn*, explain*, what is, what does, how does, understand*, tutorial*, teach*, introduction, meaning of, "
        "^why, ^how to, ^how do i",
    ),
    _fine("explore", "exploratory"),
    _fine(
        "find_tool",
        "goal_based",
        "find*, which tool*, what tool*, tool for, tools for, library for, search*, look for, looking for",
    ),
)
"""The finer taxonomy, in the order in which it is tried; each intent has the profile of one of the eight."""
