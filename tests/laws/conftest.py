"""Hits, questions and documents of every shape, and what every answer has to obey."""

import copy
import json
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import strategies as st

from hopweave.document import Document
from hopweave.hit import Hit, Receipt
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.query import NO_INTENT, Intent, Query

WORDS = ("tide", "gate", "ferry", "Skua", "Hallow", "winter", "outage", "deploy", "how to", "the", "of", "東京", "café")
NAMES = ("text", "vector", "graph")
NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)

ids = st.sampled_from("abcdefgh")
sentences = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
questions = sentences | st.text(max_size=30)
dates = st.sampled_from(["2026-04-30", "1999-01-01", "2030-01-01", "some day", 1_700_000_000, 0, None, True])
metadata = st.fixed_dictionaries(
    {},
    optional={
        "title": sentences,
        "timestamp": dates,
        "date": dates,
        "importance": st.sampled_from([0, 0.5, 1, None, "high", -3, 7]),
        "corpus_type": st.sampled_from(["CONVO_SLACK", "CODE_DEPLOY", "DOC_RUNBOOK", 5, None]),
        "community": st.sampled_from([0, 1, "north", None]),
        "type": st.sampled_from(["ship", "place", None]),
        "tags": st.lists(sentences, max_size=2),
    },
)
vectors = st.none() | st.lists(st.integers(-3, 3), min_size=4, max_size=4).map(lambda row: np.array(row, np.float32))
earlier = st.just(()) | st.just((Receipt("earlier", None, 0.5, {"rank": 1}),))
scores = {
    "unit": st.floats(0, 1),
    "positive": st.floats(0, 50),
    "cosine": st.floats(-1, 1),
    "logit": st.floats(-15, 15),
    None: st.floats(-10, 10),
}


@st.composite
def hit_lists(draw, max_size=8):
    """A ranking: one scale, best first, some scores unknown, some ids twice."""
    scale = draw(st.sampled_from(list(scores)))
    found = draw(st.lists(st.tuples(ids, st.none() | scores[scale]), max_size=max_size))
    found.sort(key=lambda pair: -1000 if pair[1] is None else -pair[1])
    return [
        Hit(
            key,
            score,
            draw(sentences),
            draw(metadata),
            draw(vectors),
            scale,
            draw(st.none() | st.just("node")),
            draw(earlier),
        )
        for key, score in found
    ]


intents = (
    st.none() | st.just(NO_INTENT) | st.just(Intent("debugging", NO_INTENT.weights, ("outage", "crash"), ("causes",)))
)
queries = st.builds(Query, questions, vectors, st.just(NOW), intent=intents)
rankings = st.dictionaries(st.sampled_from(NAMES), hit_lists(), max_size=3)


def frozen(value):
    """A picture of hits or rankings that shows any later change."""
    return copy.deepcopy(value)


def plain_json(value, where=""):
    """Raise unless a value is made of JSON types and nothing that only looks like them."""
    if isinstance(value, dict):
        for key, one in value.items():
            assert type(key) is str, f"{where}: key {key!r} is a {type(key).__name__}"
            plain_json(one, f"{where}.{key}")
    elif isinstance(value, list | tuple):
        for number, one in enumerate(value):
            plain_json(one, f"{where}[{number}]")
    else:
        assert value is None or type(value) in (str, int, float, bool), (
            f"{where}: {value!r} is a {type(value).__name__}"
        )


def check_hits(found):
    """What holds for whatever comes out of a source, fuser or stage."""
    for hit in found:
        plain_json(hit.score, f"{hit.id}.score")
        for receipt in hit.receipts:
            plain_json(receipt.as_dict(), f"{hit.id}.{receipt.stage}")
        json.dumps([receipt.as_dict() for receipt in hit.receipts], allow_nan=False)
        json.dumps(hit.score, allow_nan=False)


@pytest.fixture(scope="session")
def library():
    """A knowledge base with words, vectors and a graph."""
    with KnowledgeBase.open() as kb:
        kb.add(
            Document(key, text, {"title": title, "owner": owner, "links": links})
            for key, title, text, owner, links in (
                ("a", "MV Skua", "The Skua is a ferry between Hallow and Great Tern.", "ann", ["b"]),
                ("b", "Hallow", "Hallow is the harbour of the northern isle.", "bob", []),
                ("c", "Tide gate", "The tide gate at Hallow was shut in the winter of 1974.", "ann", ["b", "a"]),
                ("d", "Great Tern", "Great Tern has a school and no tide gate.", "bob", ["a"]),
                ("e", "Notice", "No ferry sails: outage of the tide gate.", "ann", ["c"]),
                ("f", "東京", "東京都 is far away.", "bob", []),
                ("g", "", "Identical words.", "ann", []),
                ("h", "", "Identical words.", "bob", []),
            )
        )
        yield kb
