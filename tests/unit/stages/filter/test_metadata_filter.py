from pathlib import Path

import pytest
from pydantic import ValidationError

from hopweave.hit import Hit
from hopweave.query import Query
from hopweave.readers.files import read_documents
from hopweave.stages.filter.metadata_filter import MetadataFilter

QUERY = Query("ferries")
HITS = [
    Hit("a", 0.1, metadata={"type": "log", "corpus_type": "CODE_LOGIC", "service_name": "auth", "repo_name": "one"}),
    Hit("b", 0.9, metadata={"type": "notice", "corpus_type": "CONVO_SLACK", "service_name": "auth", "year": 1974}),
    Hit("c", None, metadata={"type": ["log", "notice"]}),
    Hit("d", 0.5),
]


def kept(**fields):
    return [hit.id for hit in MetadataFilter(**fields).apply(HITS, QUERY)]


def test_nothing_asked_keeps_everything_in_order():
    assert kept() == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"types": ["log"]}, ["a", "c"]),
        ({"types": ["log", "notice"]}, ["a", "b", "c"]),
        ({"corpus_types": ["CONVO_SLACK"]}, ["b"]),
        ({"services": ["auth"]}, ["a", "b"]),
        ({"repos": ["one", "two"]}, ["a"]),
        ({"services": ["auth"], "types": ["notice"]}, ["b"]),
        ({"where": {"year": {"gte": 1970}}}, ["b"]),
        ({"where": {"type": "log"}, "types": ["notice"]}, ["c"]),
        ({"types": []}, []),  # an empty list is an answer: nothing is allowed
        ({"types": ["ghost"]}, []),
    ],
)
def test_filters(fields, expected):
    assert kept(**fields) == expected


def test_kept_hits_are_the_same():
    assert MetadataFilter(types=["log"]).apply(HITS, QUERY)[0] is HITS[0]


def test_empty_and_duplicates():
    assert MetadataFilter(types=["log"]).apply([], QUERY) == []
    assert len(MetadataFilter().apply([HITS[0], HITS[0]], QUERY)) == 1


def test_bad_configuration():
    with pytest.raises(ValidationError, match="unknown operator 'after'"):
        MetadataFilter(where={"date": {"after": 1}})
    with pytest.raises(ValidationError, match="types"):
        MetadataFilter(types="log")


def test_service_and_repo_of_the_shipped_corpus():
    corpus = Path(__file__).parents[4] / "examples" / "operations" / "corpus.jsonl"
    hits = [Hit(one.id, 1.0, one.text, one.metadata) for one in read_documents(corpus)]
    found = MetadataFilter(services=("web-gateway",)).apply(hits, Query("?"))
    wanted = [hit for hit in hits if "web-gateway" in (hit.metadata.get("service"), *hit.metadata.get("services", ()))]
    assert 0 < len(wanted) < len(hits)
    assert found == wanted
    found = MetadataFilter(repos=("web-gateway",)).apply(hits, Query("?"))
    assert {hit.id for hit in found} == {hit.id for hit in hits if hit.metadata.get("repo") == "web-gateway"} != set()


def test_fields_of_your_own():
    hits = [Hit("a", metadata={"owner": ["shop", "till"]}), Hit("b", metadata={"service": "shop"})]
    assert MetadataFilter(services=("shop",)).apply(hits, QUERY) == hits[1:]
    assert MetadataFilter(services=("shop",), field_names={"services": ["owner"]}).apply(hits, QUERY) == hits[:1]
    with pytest.raises(ValidationError, match="'service' is not allowed, or has no fields; allowed are types"):
        MetadataFilter(field_names={"service": ["owner"]})
