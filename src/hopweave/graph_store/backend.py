"""What a graph store in a distribution of its own needs of the core, in one place.

`hopweave-postgres` imports nothing else of hopweave. The modules below may be moved and split freely, as long as these
names mean the same. It is no public interface: a distribution that uses it pins the minor version of the core.
"""

from hopweave.component import Embedder
from hopweave.document import Document, checked_documents, checked_ids
from hopweave.errors import GraphTimeout, GraphUnavailable, KnowledgeBaseError, NewerSchema
from hopweave.graph.build.builders.builder import GraphBuilder
from hopweave.graph.build.changes import Entries, apply, number_contributions, record
from hopweave.graph.build.entity_resolution import EntityResolution
from hopweave.graph.build.explicit import StatedParts
from hopweave.graph.build.mentions import choose_spellings
from hopweave.graph.build.name_search import Texts, distinct_rows
from hopweave.graph.model import ADDRESS, IMPORTED, Contribution, Edge, Node, passage_id
from hopweave.graph.port import Floats, Indices, Mask, Shown, Statements, StationaryDistribution, Value
from hopweave.graph.storage.cooccurrence import MAX_ENDING, MIN_SHARED_LETTERS, MIN_STEM, rarity
from hopweave.graph.storage.ledger import decoded
from hopweave.graph.storage.name_index import (
    ShownKeys,
    SimilarNames,
    letters_apart,
    longer_phrases,
    phrase_hash,
    shown_keys,
    without_accents,
)
from hopweave.graph.storage.row_edges import RowEdges, rarity_of_node
from hopweave.graph.storage.table_graph import FILE_NAME, MAX_SHARED, MIN_SHARED, describe, key_of_name
from hopweave.graph.storage.tables import (
    ALIVE,
    BACKWARD,
    MAX_SEARCHED_WORDS,
    MENTION,
    NAMED,
    PRESENT,
    STOP,
    GraphTables,
)
from hopweave.graph.tenant_view import HIDDEN, SHOWN, UNKNOWN, States
from hopweave.graph_store.store import GraphStore
from hopweave.graph_store.urls import is_url
from hopweave.graph_store.written import STAGED_AT_ONCE, Written, batches, encoded, in_processes, stored_builders
from hopweave.knowledge_base.documents import Added
from hopweave.knowledge_base.locks import ForkAware, leave_open, watch_forks
from hopweave.language.stop_words import STOP_WORDS
from hopweave.language.words import normalise_name, word_key
from hopweave.metadata.tenants import checked_tenant
from hopweave.storage.columns import Array, Column, ColumnTable, Numbers

__all__ = [
    "ADDRESS",
    "ALIVE",
    "BACKWARD",
    "FILE_NAME",
    "HIDDEN",
    "IMPORTED",
    "MAX_ENDING",
    "MAX_SEARCHED_WORDS",
    "MAX_SHARED",
    "MENTION",
    "MIN_SHARED",
    "MIN_SHARED_LETTERS",
    "MIN_STEM",
    "NAMED",
    "PRESENT",
    "SHOWN",
    "STAGED_AT_ONCE",
    "STOP",
    "STOP_WORDS",
    "UNKNOWN",
    "Added",
    "Array",
    "Column",
    "ColumnTable",
    "Contribution",
    "Document",
    "Edge",
    "Embedder",
    "EntityResolution",
    "Entries",
    "Floats",
    "ForkAware",
    "GraphBuilder",
    "GraphStore",
    "GraphTables",
    "GraphTimeout",
    "GraphUnavailable",
    "Indices",
    "KnowledgeBaseError",
    "Mask",
    "NewerSchema",
    "Node",
    "Numbers",
    "RowEdges",
    "Shown",
    "ShownKeys",
    "SimilarNames",
    "StatedParts",
    "Statements",
    "States",
    "StationaryDistribution",
    "Texts",
    "Value",
    "Written",
    "apply",
    "batches",
    "checked_documents",
    "checked_ids",
    "checked_tenant",
    "choose_spellings",
    "decoded",
    "describe",
    "distinct_rows",
    "encoded",
    "in_processes",
    "is_url",
    "key_of_name",
    "leave_open",
    "letters_apart",
    "longer_phrases",
    "normalise_name",
    "number_contributions",
    "passage_id",
    "phrase_hash",
    "rarity",
    "rarity_of_node",
    "record",
    "shown_keys",
    "stored_builders",
    "watch_forks",
    "without_accents",
    "word_key",
]
