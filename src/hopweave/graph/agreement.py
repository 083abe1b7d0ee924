"""What the documents agree on: which of the things they name are entities, and how much each mention weighs."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field

from hopweave.graph.model import Contribution, Node, normalise_name
from hopweave.graph.phrases import Flags, Numbers, Occurrences, WordTable, find_names
from hopweave.graph.stop_words import CALENDAR_WORDS, STOP_WORDS
from hopweave.graph.words import BREAK, word_key

_ABOUT, _SURE, _UNSURE = 2, 1, 0
_SHORTEST = 3  # letters of a one-word name that is looked for in small letters


class Agreement(BaseModel):
    """What it takes for a name to count, and how much it then weighs.

    An edge from a passage to a name weighs (weight of the mention) / log(2 + number of passages with that name).

    >>> Agreement(minimum_passages=2).dead_end_share
    0.1
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    minimum_passages: int = Field(
        1, ge=1, description="In how many passages a name must be found to be an entity, unless one is about it."
    )
    dead_end_share: float = Field(
        0.1, gt=0, le=1, description="What an edge to a name in one passage only keeps of its weight: it leads nowhere."
    )
    lower_case_weight: float = Field(
        0.3, ge=0, description="Weight of a one-word name found in small letters; 0 leaves it out."
    )
    searched_kinds: tuple[str, ...] = Field(
        ("service",), description="Kinds of things looked for in every text, besides what passages are about."
    )


class Things:
    """The things that documents name, by number; spellings with the same word key are one thing of its kind.

    >>> things = Things()
    >>> things.of("entity", "St. Louis") == things.of("entity", "St Louis")
    True
    >>> things.of("entity", "北京") == things.of("entity", "東京")
    False
    """

    def __init__(self) -> None:
        self.kinds: list[str] = []
        self.keys: list[str] = []
        self.spellings: list[str] = []
        self.spelling_of: list[int] = []
        self._things: dict[tuple[str, str], int] = {}
        self._spellings: dict[tuple[str, str], int] = {}

    def spelling(self, kind: str, name: str) -> int:
        """The number of a spelling."""
        number = self._spellings.get((kind, name))
        if number is None:
            key = word_key(name)
            thing = self._things.setdefault((kind, key), len(self.keys))
            if thing == len(self.keys):
                self.kinds.append(kind)
                self.keys.append(key)
            number = self._spellings[kind, name] = len(self.spellings)
            self.spellings.append(name)
            self.spelling_of.append(thing)
        return number

    def of(self, kind: str, name: str) -> int:
        """The number of the thing that a spelling stands for."""
        return self.spelling_of[self.spelling(kind, name)]


@dataclass(frozen=True, slots=True)
class Rows:
    """Mentions in columns: document, thing and type by number, weight, and how sure the document is."""

    documents: Numbers
    things: Numbers
    types: Numbers
    weights: npt.NDArray[np.float64]
    surety: Numbers

    def take(self, chosen: Numbers | Flags) -> "Rows":
        """Some of the rows."""
        return Rows(
            self.documents[chosen], self.things[chosen], self.types[chosen], self.weights[chosen], self.surety[chosen]
        )

    def best(self) -> "Rows":
        """One row per document and thing: the surest, then the heaviest."""
        order = np.lexsort((self.types, -self.weights, -self.surety, self.things, self.documents))
        new = np.ones(len(order), dtype=bool)
        new[1:] = (np.diff(self.documents[order]) != 0) | (np.diff(self.things[order]) != 0)
        return self.take(order[new])


@dataclass(frozen=True, slots=True)
class Agreed:
    """The things that count, with the name each goes by, and the weighed mentions of them.

    `names` holds a name for every thing that is in the graph. Types are positions in `types`.
    """

    things: Things
    names: dict[int, str]
    rows: Rows
    types: tuple[str, ...]


def agree(contributions: Sequence[Contribution], agreement: Agreement) -> Agreed:
    """Settle which names count over all contributions, find them in the texts, and weigh each mention.

    A name counts if a passage is about it, if a node says so outright, or if enough passages mention it and, being
    a single word, it is not one the texts mostly write small.

    >>> from hopweave.graph.model import Mention
    >>> both = [Contribution("a", mentions=(Mention("Skua", "about"),)), Contribution("b", words="aboard Skua")]
    >>> agreed = agree(both, Agreement())
    >>> agreed.names, agreed.rows.documents.tolist(), agreed.rows.weights.round(3).tolist()
    ({0: 'Skua'}, [0, 1], [0.721, 0.721])
    """
    things, types = Things(), {"mentions": 0}
    said, spelled = _said(contributions, things, types)
    outright, connected = _outright(contributions, things)
    size = len(things.keys)
    table = WordTable(contribution.words for contribution in contributions)
    common = table.common_words()

    best = said.best()
    is_about = np.bincount(best.things[best.surety == _ABOUT], minlength=size) > 0
    vouched = np.bincount(best.things[best.surety > _UNSURE], minlength=size) >= agreement.minimum_passages
    is_common = np.array([key in common for key in things.keys], dtype=bool)
    is_entity = np.array([kind == "entity" for kind in things.kinds], dtype=bool)
    counts = is_about | outright | (vouched & ~(is_common & is_entity))

    is_searched = is_about | np.isin(things.kinds, agreement.searched_kinds)
    searched = np.flatnonzero(counts & is_searched).tolist()
    found = _found(table, common, things, searched, agreement.lower_case_weight)
    rows = _joined(best.take(counts[best.things]), found).best()

    passages = np.bincount(rows.things, minlength=size)
    weights = rows.weights / np.log(2 + passages[rows.things])
    weights[((passages == 1) & ~connected)[rows.things]] *= agreement.dead_end_share
    names = _names(things, spelled, np.flatnonzero(outright | (passages > 0)))
    return Agreed(things, names, Rows(rows.documents, rows.things, rows.types, weights, rows.surety), tuple(types))


def _said(contributions: Sequence[Contribution], things: Things, types: dict[str, int]) -> tuple[Rows, list[list[int]]]:
    """All mentions as rows, and the spelling and surety of each."""
    documents: list[int] = []
    spelled: list[int] = []
    codes: list[int] = []
    weights: list[float] = []
    surety: list[int] = []
    for number, contribution in enumerate(contributions):
        for mention in contribution.mentions:
            documents.append(number)
            spelled.append(things.spelling(mention.kind, mention.name))
            codes.append(types.setdefault(mention.type, len(types)))
            weights.append(mention.weight)
            surety.append(_ABOUT if mention.type == "about" else _SURE if mention.sure else _UNSURE)
    rows = Rows(
        np.array(documents, dtype=np.int64),
        np.array(things.spelling_of, dtype=np.int64)[np.array(spelled, dtype=np.int64)],
        np.array(codes, dtype=np.int64),
        np.array(weights, dtype=np.float64),
        np.array(surety, dtype=np.int64),
    )
    return rows, [spelled, surety]


def goes_by_name(node: Node) -> bool:
    """Whether a node goes by its kind and name, so that spellings of the name may be joined.

    >>> goes_by_name(Node.entity("MV Skua")), goes_by_name(Node("n7", "entity", "MV Skua"))
    (True, False)
    """
    return node.kind != "passage" and node.id == f"{node.kind}:{normalise_name(node.name)}"


def _outright(contributions: Sequence[Contribution], things: Things) -> tuple[Flags, Flags]:
    """Which things are nodes outright, and which of them have edges of their own."""
    ends = {end for one in contributions for edge in one.edges for end in (edge.source, edge.target)}
    found: dict[int, bool] = {}
    for contribution in contributions:
        for node in contribution.nodes:
            if goes_by_name(node):
                thing = things.of(node.kind, node.name)
                found[thing] = found.get(thing, False) or node.id in ends
    outright, connected = np.zeros(len(things.keys), dtype=bool), np.zeros(len(things.keys), dtype=bool)
    outright[list(found)] = True
    connected[[thing for thing, has_edges in found.items() if has_edges]] = True
    return outright, connected


def _found(
    table: WordTable, common: frozenset[str], things: Things, searched: Sequence[int], lower_case_weight: float
) -> Rows:
    """Mentions of the searched things in the texts."""
    by_key: defaultdict[str, list[int]] = defaultdict(list)
    for thing in searched:
        if _can_be_searched(things.keys[thing]):
            by_key[things.keys[thing]].append(thing)
    keys = list(by_key)
    places = find_names(table, keys)
    weights = _occurrence_weights(table, places, keys, common, lower_case_weight)
    documents, numbers, kept = [], [], []
    for key, document, weight in zip(places.names.tolist(), places.texts.tolist(), weights.tolist(), strict=True):
        for thing in by_key[keys[key]] if weight else ():
            documents.append(document)
            numbers.append(thing)
            kept.append(weight)
    size = len(kept)
    return Rows(
        np.array(documents, dtype=np.int64),
        np.array(numbers, dtype=np.int64),
        np.zeros(size, dtype=np.int64),
        np.array(kept, dtype=np.float64),
        np.full(size, _SURE, dtype=np.int64),
    )


def _can_be_searched(key: str) -> bool:
    """Not a single character, a number, a month, or stop words only."""
    parts = key.split(" ")
    return (
        len(key) > 1
        and not STOP_WORDS.issuperset(parts)
        and (len(parts) > 1 or not (key.isdigit() or key in CALENDAR_WORDS))
    )


def _occurrence_weights(
    table: WordTable, places: Occurrences, keys: Sequence[str], common: frozenset[str], lower_case_weight: float
) -> npt.NDArray[np.float64]:
    """How much an occurrence counts, by the way it is written.

    A name of several words counts fully if it has a capital, knows none, or has two words that are no stop words.
    A single word must not be part of a longer name (Victoria in Queen Victoria), nor an ordinary word at the start
    of a sentence; in small letters it counts less.
    """
    first, after = places.positions, places.positions + places.lengths
    starts = np.concatenate([[0], table.ends])[places.texts]
    ends = table.ends[places.texts]
    capitals = np.concatenate([[0], np.cumsum(table.upper)])
    smalls = np.concatenate([[0], np.cumsum(table.lower)])
    has_capital = capitals[after] > capitals[first]
    all_small = smalls[after] - smalls[first] == places.lengths
    last = max(len(table.words) - 1, 0)
    joined = ((first > starts) & table.upper[np.maximum(first - 1, 0)]) | (
        (after < ends) & table.upper[np.minimum(after, last)]
    )
    opens = (first == starts) | (table.words[np.maximum(first - 1, 0)] == table.codes.get(BREAK, -1))
    ordinary = np.array([key in common for key in keys], dtype=bool)[places.names]
    telling = np.array([sum(word not in STOP_WORDS for word in key.split(" ")) for key in keys])[places.names]
    short = np.array([len(key) < _SHORTEST for key in keys], dtype=bool)[places.names]

    single = places.lengths == 1
    weights = np.ones(len(first))
    weights[single & all_small] = lower_case_weight
    weights[single & all_small & short] = 0.0
    weights[single & has_capital & (joined | (opens & ordinary))] = 0.0
    weights[~single & all_small & (telling < 2)] = 0.0
    return weights


def _joined(first: Rows, second: Rows) -> Rows:
    return Rows(
        np.concatenate([first.documents, second.documents]),
        np.concatenate([first.things, second.things]),
        np.concatenate([first.types, second.types]),
        np.concatenate([first.weights, second.weights]),
        np.concatenate([first.surety, second.surety]),
    )


def _names(things: Things, spelled: list[list[int]], wanted: Numbers) -> dict[int, str]:
    """The name each thing goes by: the spelling of those about it, then the most frequent, then the smallest."""
    spellings, surety = np.array(spelled[0], dtype=np.int64), np.array(spelled[1], dtype=np.int64)
    size = len(things.spellings)
    frequency = np.bincount(spellings, minlength=size).tolist()
    about = np.bincount(spellings[surety == _ABOUT], minlength=size).tolist()
    best: dict[int, tuple[int, int, str]] = {}
    for number, (thing, name) in enumerate(zip(things.spelling_of, things.spellings, strict=True)):
        rank = (-about[number], -frequency[number], name)
        if thing not in best or rank < best[thing]:
            best[thing] = rank
    return {thing: best[thing][2] for thing in wanted.tolist()}
