"""What the documents agree on: which of the things they name are entities, and how much each mention weighs."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field

from hopweave.graph.company import Beside, Company
from hopweave.graph.csr import slices
from hopweave.graph.model import Contribution, Node, normalise_name
from hopweave.graph.phrases import Flags, Numbers, Occurrences, WordTable, find_names
from hopweave.graph.readings import ABOUT, SURE, UNSURE, Reading, Readings, Things
from hopweave.graph.stop_words import CALENDAR_WORDS, STOP_WORDS
from hopweave.graph.words import BREAK

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
    """The things that count, with the name each goes by, the weighed mentions of them, and the company they keep.

    `names` holds a name for every thing that is in the graph. Types are positions in `types`.
    """

    things: Things
    names: dict[int, str]
    rows: Rows
    types: tuple[str, ...]
    company: Company


def agree(contributions: Sequence[Contribution], agreement: Agreement, readings: Readings | None = None) -> Agreed:
    """Settle which names count over all contributions, find them in the texts, and weigh each mention.

    A name counts if a passage is about it, if a node says so outright, or if enough passages mention it and, being
    a single word, it is not one the texts mostly write small.

    >>> from hopweave.graph.model import Mention
    >>> both = [Contribution("a", mentions=(Mention("Skua", "about"),)), Contribution("b", words="aboard Skua")]
    >>> agreed = agree(both, Agreement())
    >>> agreed.names, agreed.rows.documents.tolist(), agreed.rows.weights.round(3).tolist()
    ({0: 'Skua'}, [0, 1], [0.721, 0.721])
    """
    readings = readings or Readings()
    read = readings.of(contributions)
    things, types = readings.things, tuple(sorted({"mentions", *readings.types}))
    spelled, said = _said(read, readings, types)
    given, outright, connected = _outright(contributions, things)
    size = len(things.keys)
    table = WordTable([one.words for one in read], readings.vocabulary)
    common = table.common_words()

    best = said.best()
    is_about = np.bincount(best.things[best.surety == ABOUT], minlength=size) > 0
    vouched = np.bincount(best.things[best.surety > UNSURE], minlength=size) >= agreement.minimum_passages
    is_common = np.array([key in common for key in things.keys], dtype=bool)
    is_entity = np.array([kind == "entity" for kind in things.kinds], dtype=bool)
    counts = is_about | outright | (vouched & ~(is_common & is_entity))

    is_searched = is_about | np.array([kind in agreement.searched_kinds for kind in things.kinds], dtype=bool)
    searched = np.flatnonzero(counts & is_searched).tolist()
    found, beside = _found(table, common, things, searched, types.index("mentions"), agreement.lower_case_weight)
    rows = _joined(best.take(counts[best.things]), found).best()

    passages = np.bincount(rows.things, minlength=size)
    weights = rows.weights / np.log(2 + passages[rows.things])
    weights[((passages == 1) & ~connected)[rows.things]] *= agreement.dead_end_share
    names = _names(things, spelled, said.surety, given, np.flatnonzero(outright | (passages > 0)))
    weighed = Rows(rows.documents, rows.things, rows.types, weights, rows.surety)
    return Agreed(things, names, weighed, types, Company.build(beside, passages, list(table.codes), len(read)))


def _said(read: Sequence[Reading], readings: Readings, types: Sequence[str]) -> tuple[Numbers, Rows]:
    """The spelling of every mention, and all mentions as rows."""
    spelled, codes, surety = np.concatenate([np.zeros((0, 3), np.int32), *(one.mentions for one in read)]).T
    rows = Rows(
        np.repeat(np.arange(len(read)), [len(one.mentions) for one in read]),
        np.array(readings.things.spelling_of, dtype=np.int64)[spelled],
        np.array([types.index(name) for name in readings.types], dtype=np.int64)[codes],
        np.concatenate([np.zeros(0), *(one.weights for one in read)]),
        surety,
    )
    return spelled, rows


def goes_by_name(node: Node) -> bool:
    """Whether a node goes by its kind and name, so that spellings of the name may be joined.

    >>> goes_by_name(Node.entity("MV Skua")), goes_by_name(Node("n7", "entity", "MV Skua"))
    (True, False)
    """
    return node.kind != "passage" and node.id == f"{node.kind}:{normalise_name(node.name)}"


def _outright(contributions: Sequence[Contribution], things: Things) -> tuple[Numbers, Flags, Flags]:
    """The spellings of nodes given outright, which things these are, and which of them have edges of their own."""
    ends = {end for one in contributions for edge in one.edges for end in (edge.source, edge.target)}
    found: dict[int, bool] = {}
    for contribution in contributions:
        for node in contribution.nodes:
            if goes_by_name(node):
                spelling = things.spelling(node.kind, node.name)
                found[spelling] = found.get(spelling, False) or node.id in ends
    spellings, has_edges = np.array(list(found), dtype=np.int64), np.array(list(found.values()), dtype=bool)
    owners = np.array(things.spelling_of, dtype=np.int64)[spellings]
    outright, connected = np.zeros(len(things.keys), dtype=bool), np.zeros(len(things.keys), dtype=bool)
    outright[owners] = True
    connected[owners[has_edges]] = True
    return spellings, outright, connected


def _found(
    table: WordTable,
    common: frozenset[str],
    things: Things,
    searched: Sequence[int],
    mentions: int,
    lower_case_weight: float,
) -> tuple[Rows, Beside]:
    """Mentions of the searched things in the texts, and the words beside them; a name may stand for several things."""
    by_key: defaultdict[str, list[int]] = defaultdict(list)
    for thing in searched:
        if _can_be_searched(things.keys[thing]):
            by_key[things.keys[thing]].append(thing)
    keys = list(by_key)
    places = find_names(table, keys)
    weights = _occurrence_weights(table, places, keys, common, lower_case_weight)
    bearers = np.concatenate([[0], np.cumsum([len(by_key[key]) for key in keys])])
    offsets, positions = slices(bearers.astype(np.int64), places.names)
    each = np.repeat(np.arange(len(places.names)), np.diff(offsets))
    bearing = np.array([thing for key in keys for thing in by_key[key]], dtype=np.int64)[positions]
    # a name that is part of a longer one is no mention, but the words beside it tell what it is all the same
    beside = Beside.find(table, Occurrences(bearing, places.texts[each], places.positions[each], places.lengths[each]))
    kept = weights[each] > 0
    each, bearing = each[kept], bearing[kept]
    size = len(each)
    rows = Rows(
        places.texts[each],
        bearing,
        np.full(size, mentions, dtype=np.int64),
        weights[each],
        np.full(size, SURE, dtype=np.int64),
    )
    return rows, beside


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


def _names(things: Things, spelled: Numbers, surety: Numbers, outright: Numbers, wanted: Numbers) -> dict[int, str]:
    """The name each thing goes by: the spelling of those about it, then the most frequent, then the smallest."""
    size = len(things.spellings)
    frequency = np.bincount(spelled, minlength=size)
    about = np.bincount(spelled[surety == ABOUT], minlength=size)
    in_use = frequency > 0
    in_use[outright] = True
    numbers = np.flatnonzero(in_use)
    owners = np.array(things.spelling_of, dtype=np.int64)[numbers]
    # the last of equals is kept, so the best comes last; names are compared where there are several
    order = np.lexsort((frequency[numbers], about[numbers], owners))
    best = dict(zip(owners[order].tolist(), numbers[order].tolist(), strict=True))
    names = {thing: things.spellings[number] for thing, number in best.items()}
    several = np.bincount(owners, minlength=len(things.keys))[owners] > 1
    for thing, number in zip(owners[several].tolist(), numbers[several].tolist(), strict=True):
        chosen = best[thing]
        if (about[number], frequency[number]) == (about[chosen], frequency[chosen]):
            names[thing] = min(names[thing], things.spellings[number])
    return {thing: names[thing] for thing in wanted.tolist()}
