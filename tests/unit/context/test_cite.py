import time

import pytest

from hopweave.context.cite import (
    NO_PASSAGES,
    Citation,
    check_citations,
    citation,
    cited_numbers,
    cited_prompt,
    numbered,
    source_list,
)
from hopweave.errors import InvalidScore
from hopweave.hit import Hit


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("", ()),
        ("No citation.", ()),
        ("One [1].", (1,)),
        ("Two [2][1] and again [2].", (2, 1)),
        ("A list [1, 3; 5].", (1, 3, 5)),
        ("A range [2-4] or [6–7].", (2, 3, 4, 6, 7)),
        ("Backwards [4-2].", (4, 2)),
        ("A span of years [1990-9999] is not eight thousand numbers.", (1990, 9999)),
        ("Zero [0] and code x[12].", (0, 12)),
        ("Words [one] and [1a] and [] are none.", ()),
    ],
)
def test_cited_numbers(answer, expected):
    assert cited_numbers(answer) == expected


def test_hostile_brackets_take_linear_time():
    begun = time.process_time()
    for text in ("[1" * 50_000, "[" * 100_000, "[1,2," * 20_000, "[" + "1 " * 50_000):
        cited_numbers(text)
    assert time.process_time() - begun < 2


def test_labels():
    assert citation(Hit("a"), 1).label == "[1] a"
    assert citation(Hit("a", metadata={"title": "  The\n Skua "}), 2).label == "[2] The Skua"
    assert citation(Hit("a", metadata={"title": "Skua", "source": "s.md"}), 3).label == "[3] Skua (s.md)"
    assert citation(Hit("a", metadata={"url": "http://x"}), 4, "url").label == "[4] http://x"
    assert citation(Hit("a", metadata={"title": 5, "source": None}), 5).label == "[5] a"
    assert citation(Hit("5d1f", metadata={"file_name": "skua.md"}), 6).label == "[6] skua.md"
    assert citation(Hit("5d1f", metadata={"document_title": "Ships", "file_path": "a/b.md"}), 7).label == (
        "[7] Ships (a/b.md)"
    )


def test_numbered():
    hits = [Hit("a", text="x"), Hit("b", text=" "), Hit("c", text="y"), Hit("a", text="again")]
    assert [(found.number, found.id, found.text) for found in numbered(hits)] == [(1, "a", "x"), (2, "c", "y")]
    assert numbered([]) == ()
    with pytest.raises(InvalidScore):
        numbered([Hit("a", float("nan"), "x")])


def test_check():
    given = numbered([Hit("a", text="x"), Hit("b", text="y")])
    fine = check_citations("So [2].", given)
    assert (fine.resolves, fine.used, fine.unresolved) == (True, given[1:], ())
    wrong = check_citations("So [2], or not [3][0].", given)
    assert (wrong.resolves, wrong.unresolved) == (False, (3, 0))
    assert check_citations("", ()).resolves


def test_source_list_is_in_order():
    shuffled = [Citation(2, "b", "B", "b.md", ""), Citation(1, "a", "A", "A", "")]
    assert source_list(shuffled) == "[1] A\n[2] B (b.md)"
    assert source_list([]) == ""


def test_prompt():
    prompt = cited_prompt("When?", "[1] Skua\nHourly.")
    assert prompt.endswith("\n\n[1] Skua\nHourly.\n\nQuestion: When?")
    assert NO_PASSAGES in cited_prompt("When?", "")
    assert cited_prompt("When?", "x", instructions="Be brief.").startswith("Be brief.\n\nx")
