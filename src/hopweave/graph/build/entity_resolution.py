"""Which of the names that documents use are entities of the graph, and how much a mention of each weighs."""

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from hopweave.graph.build.mentions import Mentions, stated_mentions
from hopweave.graph.build.name_search import Texts, find_names, found_mentions, nearby_words
from hopweave.graph.storage.tables import COUNTS, HAS_TEXT, NAMED, PRESENT, SEARCHABLE, SEARCHED, STOP, GraphTables
from hopweave.storage.columns import Array


class EntityResolution(BaseModel):
    """What it takes for a name to count, and how much it then weighs.

    An edge from a passage to a name weighs (weight of the mention) / log(2 + number of passages with that name).

    >>> EntityResolution(min_passages=2).dead_end_share
    0.1
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    min_passages: int = Field(
        default=1,
        ge=1,
        description="In how many passages a name must be found to be an entity, unless one is about it.",
    )
    dead_end_share: float = Field(
        default=0.1,
        gt=0,
        le=1,
        description="What an edge to a name in one passage only keeps of its weight: it leads nowhere.",
    )
    lower_case_weight: float = Field(
        default=0.3, ge=0, description="Weight of a one-word name found in lower case; 0 leaves it out."
    )
    searched_kinds: tuple[str, ...] = Field(
        default=("service", "phrase"),
        description="Kinds of names looked for in every text, besides what passages are about.",
    )


def name_flags(tables: GraphTables, nodes: Array, settings: EntityResolution) -> Array:
    """The flags of nodes, with COUNTS and SEARCHED as they follow from the sums.

    A name counts if a passage is about it, if it is declared as a node, or if enough passages mention it and, being a
    single word, it is not one that texts mostly write in lower case. It is searched if it counts and a passage is
    about it, or its kind is one that is searched.
    """
    columns, words = tables.nodes, tables.nodes["word"][nodes]
    kinds = columns["kind"][nodes]
    is_common = (words >= 0) & (kinds == tables.kind_code("entity"))
    is_common[is_common] = tables.common(words[is_common])
    about = columns["about"][nodes] > 0
    counts = about | (columns["declared"][nodes] > 0) | ((columns["sure"][nodes] >= settings.min_passages) & ~is_common)
    searched_kinds = [tables.kind_code(kind) for kind in settings.searched_kinds]
    flags = columns["flags"][nodes]
    searched = counts & (about | np.isin(kinds, searched_kinds)) & (flags & SEARCHABLE > 0)
    flags = flags & np.uint8(SEARCHABLE | PRESENT | NAMED)
    flags[counts] |= COUNTS
    flags[searched] |= SEARCHED
    return flags


def is_present(tables: GraphTables, nodes: Array) -> Array:
    """Whether nodes that are no addresses are in the graph: as documents, declared, or mentioned."""
    columns = tables.nodes
    has_text = columns["document"][nodes] & HAS_TEXT > 0
    present: Array = has_text | (columns["declared"][nodes] > 0) | (columns["passages"][nodes] > 0)
    return present


def resolved_mentions(
    tables: GraphTables, documents: Array, settings: EntityResolution
) -> tuple[Mentions, tuple[Array, ...]]:
    """The mentions of documents that count, one per node, and the words next to names: document, node, word."""
    _, stated = stated_mentions(tables, documents)
    stated = stated.take(tables.nodes["flags"][stated.nodes] & COUNTS > 0)
    texts = Texts(tables, documents)
    places = find_names(tables, texts)
    found = found_mentions(tables, texts, places, settings.lower_case_weight)
    return stated.vouched().plus(found).best(tables.edge_types), nearby_words(texts, places)


def documents_with_name(tables: GraphTables, node: int) -> Array:
    """Documents whose text contains the name of a node; looked for among those that have its two rarest words."""
    kind, key = tables.kinds[tables.nodes["kind"][node]], tables.node_keys[node]
    words = [tables.word_strings.get(word) for word in key[len(kind) + 1 :].split(" ")]
    lengths = tables.documents_with.lengths.values
    content_words = sorted((int(lengths[word]), word) for word in set(words) if not tables.words["flags"][word] & STOP)
    found = tables.documents_with.row(content_words[0][1])[0]
    if len(content_words) > 1 and len(found):
        found = found[np.isin(found, tables.documents_with.row(content_words[1][1])[0])]
    texts = Texts(tables, found)
    return found[np.unique(texts.text_of[texts.places_of(words)])]
