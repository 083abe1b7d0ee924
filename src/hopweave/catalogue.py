"""Every component that recipes can name. One line here enrols a component in recipes, schema and law tests."""

from importlib.metadata import entry_points

from hopweave.component import Component, register
from hopweave.fusion.reciprocal_rank import ReciprocalRank
from hopweave.text.bm25 import Bm25
from hopweave.text.fts import FullText
from hopweave.text.keyword import Keyword
from hopweave.vector.embedders import Cascade, SentenceTransformerEmbedder, StaticEmbedder
from hopweave.vector.index import NearestVectors

CATALOGUE: tuple[type[Component], ...] = (
    # sources
    Bm25,
    FullText,
    Keyword,
    NearestVectors,
    # fusers
    ReciprocalRank,
    # embedders
    StaticEmbedder,
    SentenceTransformerEmbedder,
    Cascade,
)

for _component in CATALOGUE:
    register(_component)
for _entry_point in entry_points(group="hopweave.components"):
    register(_entry_point.load())
Cascade.model_rebuild(force=True)  # now that every embedder is known
