"""Where a graph may lead: whether the names of a corpus are names, or ordinary words of its subject."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from hopweave.graph.storage.tables import (
    BACKWARD,
    LOWER,
    MENTION,
    PRESENT,
    SENTENCE_BREAK,
    STOP,
    UPPER,
    GraphTables,
)
from hopweave.storage.columns import Array, FrozenRows

KeyOf = Callable[[GraphTables, int], str]
"""The word key of the name of a node."""

_FEW_CAPITALS = 0.01  # of the words of a corpus; with fewer, its text knows none
_MOST_COMMON = 1000  # names that are looked at for the corpus; they are most of what is mentioned
_LOW, _HIGH = 0.40, 0.55  # share of small letters at which names are names, and at which they are ordinary words
_FEW, _ENOUGH = 0.2, 0.6  # mentions that lead on, for each passage: below, there is hardly a way to walk
_SPARSE, _DENSE = 0.003, 0.01  # the same by the share of pairs of passages that names join, where letters say nothing


class NameCase(NamedTuple):
    """How the names that lead from passage to passage are written: a passage mentions what another one is about.

    `corpus` is the share of the occurrences of their words that are in small letters, over the corpus, `here` over the
    passages at hand; None where letters say nothing: without capitals, or without such names. `joined` is the
    share of pairs of passages that such names join, and `leads` the number of such mentions in each passage at hand.
    """

    corpus: float | None
    here: float | None
    joined: float
    leads: float = 1.0

    @property
    def prior(self) -> float:
        """How much a graph of such names may lead, in [0, 1].

        Names of people, places and works are rarely written in small letters (in encyclopedias a quarter of the time);
        those of a manual are mostly ordinary words (three quarters). So the prior falls from 1 at .40 to 0 at .55 of
        `here`; in a corpus of names, from .55 to .70. Where letters say nothing, it falls from 1 to 0 between .003 and
        .01 of `joined`, as ordinary words join more passages. Where names lead on at all, but from few of the passages
        at hand, there is hardly a way to walk: the prior falls from 1 to 0 between .6 and .2 of `leads`.

        >>> NameCase(0.2, 0.3, 0.001).prior, NameCase(0.8, 0.7, 0.05).prior, NameCase(None, None, 0.002).prior
        (1.0, 0.0, 1.0)
        """
        ways = _between((self.leads - _FEW) / (_ENOUGH - _FEW)) if self.joined else 1.0
        return ways * self._by_letters

    @property
    def _by_letters(self) -> float:
        if self.corpus is None:
            corpus = _between(math.log(_DENSE / max(self.joined, 1e-9)) / math.log(_DENSE / _SPARSE))
        else:
            corpus = _between((_HIGH - self.corpus) / (_HIGH - _LOW))
        if self.here is None or self.corpus is None:
            return corpus
        return _between((_HIGH + corpus * (_HIGH - _LOW) - self.here) / (_HIGH - _LOW))

    @property
    def sentence(self) -> str:
        """Why a graph may lead here or not.

        >>> NameCase(0.8, 0.714, 0.05).sentence
        'the graph stays out: names are ordinary words in 71 % of their occurrences here'
        """
        does = {1.0: "leads", 0.0: "stays out"}.get(round(self.prior, 2), f"has {100 * self.prior:.0f} % of its say")
        share = self.corpus if self.here is None else self.here
        if not self.joined:
            return f"the graph {does}: no passage mentions what another one is about, so its trust stands"
        if self.prior < self._by_letters:
            return f"the graph {does}: {self.leads:.2g} names lead on from a passage here"
        if share is None or self.corpus is None:
            return f"the graph {does}: names join {100 * self.joined:.2g} % of the pairs of passages"
        return f"the graph {does}: names are ordinary words in {100 * share:.0f} % of their occurrences here"


def corpus_case(tables: GraphTables, key_of: KeyOf) -> tuple[float | None, float]:
    """The share of small letters in the names that lead, over a corpus, and the share of pairs that these join."""
    nodes = tables.nodes
    leading = (nodes["about"] > 0) & (nodes["passages"] > nodes["about"]) & (nodes["flags"] & PRESENT > 0)
    leading &= nodes["kind"] == tables.kind_code("entity")
    names = np.flatnonzero(leading)
    about, mentions = nodes["about"][names].astype(np.float64), nodes["passages"][names].astype(np.float64)
    mentions -= about
    joined = float(mentions @ about) / max(tables.documents * (tables.documents - 1) / 2, 1)
    lower, upper = (tables.words[case].astype(np.float64) for case in ("lower", "upper"))
    if upper.sum() < _FEW_CAPITALS * (lower.sum() + upper.sum()):
        return None, joined
    most = np.lexsort((nodes["name_hash"][names], -mentions))[:_MOST_COMMON]
    shares, weights = [], []
    for place in most.tolist():
        words = np.array(_words(tables, key_of(tables, int(names[place]))), np.int64)
        words = words[lower[words] + upper[words] > 0]
        if len(words):
            shares.append(float(np.prod(lower[words] / (lower[words] + upper[words]))))
            weights.append(float(mentions[place]))
    known = sum(weights)
    if known < mentions[most].sum() / 2 or not known:
        return None, joined
    return float(np.average(shares, weights=weights)), joined


def case_in(
    tables: GraphTables,
    rows: FrozenRows,
    text: FrozenRows,
    passages: Array,
    key_of: KeyOf,
    known: dict[int, list[int]],
) -> tuple[float | None, float]:
    """The share of small letters in the names that lead, over what these passages say, and how many lead on from each.

    `known` keeps the words of names for the next question.
    """
    counts, (targets, codes, *_) = rows.gather(passages)
    owners = np.repeat(np.arange(len(passages)), counts)
    mentions = codes & (MENTION | BACKWARD) == MENTION
    owners, names = owners[mentions], targets[mentions].astype(np.int64)
    nodes = tables.nodes
    leading = (nodes["about"][names] > 0) & (nodes["passages"][names] > nodes["about"][names])
    leading &= nodes["kind"][names] == tables.kind_code("entity")
    owners, names = owners[leading], names[leading]
    size = len(tables.words)
    for name in set(names.tolist()) - known.keys():
        known[name] = _words(tables, key_of(tables, name))
    wanted = [owner * size + word for owner, name in zip(owners.tolist(), names.tolist(), strict=True)
              for word in known[name]]  # fmt: skip
    lengths, (written,) = text.gather(passages)
    owners = np.repeat(np.arange(len(passages)), lengths)
    flags, folded = tables.words["flags"][written], tables.words["folded"][written].astype(np.int64)
    said = np.isin(owners * size + folded, np.array(wanted, np.int64))
    opens = np.diff(owners, prepend=-1) > 0
    opens[1:] |= flags[:-1] & SENTENCE_BREAK > 0
    lower = int(np.count_nonzero(said & (flags & LOWER > 0)))
    upper = int(np.count_nonzero(said & (flags & UPPER > 0) & ~opens))
    return lower / (lower + upper) if lower + upper else None, len(names) / max(len(passages), 1)


def _words(tables: GraphTables, key: str) -> list[int]:
    """The words of a name by number, without stop words unless there are no others."""
    words = [tables.word_strings.get(word) for word in key.split(" ")]
    words = [word for word in words if word >= 0]
    return [word for word in words if not tables.words["flags"][word] & STOP] or words


def _between(value: float) -> float:
    return min(max(value, 0.0), 1.0)
