import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hopweave.document import Document
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.query import Query
from hopweave.recipe import Recipe
from hopweave.sources.full_text import FullText, match_expression


@pytest.fixture(scope="module")
def harbour():
    with KnowledgeBase.open(embedder=None) as kb:
        kb.add(
            [
                Document("gate", "The tide gate opens at six.", {"title": "Notice"}),
                Document("tide", "A gate for the tide, and NEAR it a café_bar."),
                Document("ferry", "The ferry waits for the tide. AND OR NOT", {"title": "tide-gate"}),
            ]
        )
        yield kb


def ids(text, kb, **parameters):
    return [hit.id for hit in FullText(**parameters).search(Query(text), kb)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tide gate", '"tide" OR "gate"'),
        ("the tide", '"tide"'),
        ("the of", '"the" OR "of"'),
        ('"tide gate"', '"tide gate" AND ("tide gate")'),
        ('"tide gate" opens', '"tide gate" AND ("tide gate" OR "opens")'),
        ('"the gate"', '"the gate" AND ("the gate")'),
        ('say "tide gate" and "at six"', '"tide gate" AND "at six" AND ("tide gate" OR "at six" OR "say")'),
        ('"" tide', '"tide"'),
        ('"unfinished tide', '"unfinished" OR "tide"'),
        ("tide tide TIDE", '"tide"'),
        ("", ""),
        ("?!*", ""),
    ],
)
def test_every_word_is_quoted(text, expected):
    assert match_expression(text) == expected


HOSTILE = [
    '"',
    '""',
    '"""',
    "'; DROP TABLE documents; --",
    "title:tide",
    "title : tide",
    "{title text} : tide",
    "-tide",
    "tide*",
    "^tide",
    "tide NOT gate",
    "NEAR(tide gate, 0)",
    "tide AND",
    "OR",
    "(tide",
    "tide)",
    "tide + gate",
    'tide"gate',
    "col:val AND (a OR b*) NOT ^c",
    "\x00tide",
    "tide\x00gate",
    "\ud800",
    "_",
    '"_"',
    "_ tide",
    "{",
    "}",
    ":",
    "[x]",
    "%%",
    "🛳 tide",
    "½",
    "\u0301",
    '"\u0301" tide',
]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_typed_acts_as_syntax(harbour, text):
    found = ids(text, harbour)
    assert len(found) <= 3
    assert harbour.count() == 3


@given(st.text(st.characters(codec=None) | st.sampled_from('"*():^{}-+ANDORNTE '), max_size=60))
@example('"" AND')
def test_no_text_at_all_raises(harbour, text):
    FullText().search(Query(text), harbour)


def test_operators_are_words(harbour):
    assert ids("NEAR", harbour) == ["tide"]
    assert ids("tide NOT gate", harbour) == ids("tide gate", harbour)
    assert ids("title:notice", harbour) == ["gate"]


def test_a_phrase_must_occur_as_written(harbour):
    assert set(ids("tide gate", harbour)) == {"gate", "tide", "ferry"}
    assert set(ids('"tide gate"', harbour)) == {"gate", "ferry"}  # in the title too, across the hyphen
    assert ids('"tide gate" six', harbour) == ["gate", "ferry"]
    assert ids('"gate tide"', harbour) == []


def test_accents_and_case_do_not_matter(harbour):
    assert ids("CAFE", harbour) == ["tide"]
    assert ids("cafe\u0301", harbour) == ["tide"]


def test_hits_have_positive_scores_and_receipts(harbour):
    hits = FullText().search(Query("tide gate"), harbour)
    assert all(hit.score > 0 and hit.scale == "positive" for hit in hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert [hit.receipts[0].details["rank"] for hit in hits] == [1, 2, 3]
    assert len(FullText(top_k=2).search(Query("tide gate"), harbour)) == 2


@pytest.mark.parametrize("text", ["tide " * 200_000, " ".join(f"w{n}" for n in range(150_000)), '"a b" ' * 150_000])
def test_a_megabyte_is_no_trouble(harbour, text):
    assert len(text) > 800_000
    ids(text, harbour)


@pytest.mark.parametrize(
    ("analyzers", "found"),
    [(None, True), (["nlp:english"], True), (["light", "code"], True), (["nlp:german"], False), (["code"], False)],
)
def test_english_words_are_found_in_any_form(tmp_path, analyzers, found):
    path = tmp_path / "kb.db"
    with KnowledgeBase.open(path, embedder=None, analyzers=analyzers) as kb:
        kb.add([Document("p", "Deployment pipelines are tested."), Document("q", "A quay.")])
        for question in ("pipeline", '"deployment pipeline"', "testing"):
            hits = kb.search(question, recipe=Recipe.of_source(FullText())).hits
            assert [hit.id for hit in hits] == (["p"] if found else []), question
        assert [hit.id for hit in kb.search("Pipelines", recipe=Recipe.of_source(FullText())).hits] == ["p"]
        assert kb.check() == []
    with KnowledgeBase.open(path, read_only=True) as kb:
        assert kb.check() == []
        assert bool(kb.search("pipeline", recipe=Recipe.of_source(FullText())).hits) is found
