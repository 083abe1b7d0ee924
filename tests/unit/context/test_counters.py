import pytest

from hopweave.context.counters import approximate, counter_named, tiktoken_counter, word_count


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        (" ", 0),
        ("ferry", 1),
        ("ferries", 2),  # seven letters: 1 + (7 - 1) // 6
        ("1974", 2),  # 1 + (4 - 1) // 3
        ("a, b", 3),
        ("a\n\nb", 3),
        ("渡轮", 3),  # 2 * 1.4, rounded up
        ("паром", 3),  # 5 * 0.6
        ("🚢", 3),
        ("\x00", 1),
    ],
)
def test_approximate(text, expected):
    assert approximate(text) == expected


@pytest.mark.slow
def test_approximate_is_close_to_a_real_vocabulary(monkeypatch):
    """Against cl100k_base, whose vocabulary comes with llama-index-core."""
    core = pytest.importorskip("llama_index.core")
    tiktoken = pytest.importorskip("tiktoken")
    from pathlib import Path

    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(Path(core.__file__).parent / "_static" / "tiktoken_cache"))
    real = tiktoken.get_encoding("cl100k_base")
    for text in (
        "Reciprocal rank fusion merges rankings of several sources without looking at their scores. " * 5,
        "def fuse(rankings: Rankings, query: Query) -> list[Hit]:\n    return sorted(rankings, key=len)\n" * 5,
        "渡轮在冬季每小时一班。海鸥号于一九七四年建造,如今仍在群岛之间航行。" * 5,
        "Паром ходит каждый час зимой. Судно построено в 1974 году." * 5,
    ):
        assert 0.9 <= approximate(text) / len(real.encode(text)) <= 1.6


def test_words_and_characters():
    assert word_count(" the  skua\nsails ") == 3
    assert counter_named("words", "")("the skua") == 2
    assert counter_named("characters", "")("the skua") == 8
    assert counter_named("approximate", "") is approximate


def test_tiktoken(toy_encoding):
    count = tiktoken_counter(toy_encoding)
    assert count("the the") == 2  # "the" and " the"
    assert count("") == 0
    assert count("<|endoftext|>") == len("<|endoftext|>")  # text, not a control token
    assert counter_named("tiktoken", toy_encoding) is count


def test_an_unknown_encoding_is_an_error():
    pytest.importorskip("tiktoken")
    with pytest.raises(ValueError, match="no-such-encoding"):
        tiktoken_counter("no-such-encoding")
