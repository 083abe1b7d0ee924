import numpy as np
import pytest

from hopweave.graph.build.changes import apply
from hopweave.graph.build.name_search import Texts, find_names
from hopweave.graph.model import Contribution, Mention
from hopweave.graph.storage.tables import GraphTables
from hopweave.language.words import word_string


def tables_of(texts, names):
    """Texts as documents, and one more document that is about all the names."""
    tables = GraphTables()
    contributions = [Contribution(str(number), words=word_string(text)) for number, text in enumerate(texts)]
    apply(tables, [*contributions, Contribution("names", mentions=tuple(Mention(name, "about") for name in names))])
    return tables


def occurrences(texts, names):
    tables = tables_of(texts, names)
    numbers = {tables.node_keys.get(f"passage:{number}"): number for number in range(len(texts))}
    found = Texts(tables, np.array(list(numbers), np.int64))
    places = find_names(tables, found)
    keys = [tables.node_keys[node].removeprefix("entity:") for node in places.nodes.tolist()]
    return sorted((key, numbers[int(found.documents[text])]) for key, text in zip(keys, places.texts, strict=True))


def test_nothing_in_nothing():
    assert occurrences([], []) == []
    assert occurrences(["", ""], ["skua"]) == []
    assert occurrences(["aboard the Skua"], []) == []


def test_whole_words_only():
    assert occurrences(["Yorkshire and New Yorker"], ["york", "new york"]) == []


def test_longest_of_those_that_start_together():
    assert occurrences(["in New York City"], ["new york", "new york city", "newt"]) == [("new york city", 0)]


def test_falls_back_to_the_shorter_when_the_longer_breaks_off():
    assert occurrences(["in New York state"], ["new york city", "new york"]) == [("new york", 0)]


def test_leftmost_wins_an_overlap():
    assert occurrences(["red sea port"], ["sea port", "red sea"]) == [("red sea", 0)]


def test_a_name_ends_with_its_text_and_its_sentence():
    assert occurrences(["to London", "Bridge of Harris"], ["london bridge"]) == []
    assert occurrences(["She left London. Bridge builders came."], ["london bridge"]) == []


def test_every_place_is_found():
    assert occurrences(["Skua, Skua", "the skua"], ["skua"]) == [("skua", 0), ("skua", 0), ("skua", 1)]


@pytest.mark.parametrize(
    ("text", "name"),
    [("昨日東京都で", "東 京"), ("서울은 크다", "서 울"), ("في القاهرة اليوم", "القاهرة"), ("w Łodzi i Łódź", "łódź")],
)
def test_other_scripts(text, name):
    assert occurrences([text], [name]) == [(name, 0)]


def test_agrees_with_a_slow_search():
    names = ["ax", "ax bx", "bx cx", "cx", "bx cx dx", "dx ax"]
    texts = ["ax bx cx dx ax", "bx cx ax bx", "dx dx ax ax bx cx dx", "cx"]

    def slow(words):
        position, found = 0, []
        while position < len(words):
            best = max(
                (n for n in names if words[position : position + n.count(" ") + 1] == n.split(" ")),
                key=len,
                default=None,
            )
            found += [best] if best else []
            position += best.count(" ") + 1 if best else 1
        return found

    assert occurrences(texts, names) == sorted(
        (name, at) for at, text in enumerate(texts) for name in slow(text.split())
    )


def test_a_name_of_two_kinds_is_found_for_both():
    tables = GraphTables()
    names = Contribution("n", mentions=(Mention("Skua", "about"), Mention("Skua", "about", kind="service")))
    apply(tables, [names, Contribution("t", words="aboard the Skua")])
    places = find_names(tables, Texts(tables, np.array([tables.node_keys.get("passage:t")])))
    assert sorted(tables.node_keys[node] for node in places.nodes) == ["entity:skua", "service:skua"]


def test_common_words_are_those_in_lower_case_more_often():
    # film: lower case twice, capital inside a sentence once; harris: capital only; sentence starts do not count
    tables = tables_of(["Film and film . Harris saw a Film", "film in Harris"], [])
    words = [word for word in range(len(tables.words)) if tables.common(np.array([word]))[0]]
    assert {"film", "and", "saw", "a", "in"} == {tables.word_strings[word] for word in words}


def test_a_name_of_many_words_is_a_node_but_costs_other_texts_nothing():
    """Also one of more words than fit into the column that holds their number."""
    from hopweave.document import Document
    from hopweave.graph.storage.tables import MAX_SEARCHED_WORDS
    from hopweave.knowledge_base.store import KnowledgeBase
    from hopweave.language.words import word_key

    titles = {count: "Skua " * (count - 1) + "Last" for count in (MAX_SEARCHED_WORDS, MAX_SEARCHED_WORDS + 1, 40_000)}
    with KnowledgeBase.open(embedder=None) as kb:
        kb.add(Document(f"d{count}", "A ferry.", {"title": title}) for count, title in titles.items())
        kb.add([Document("text", f"{titles[MAX_SEARCHED_WORDS]} is here")])
        kb.add([Document("other", f"{titles[MAX_SEARCHED_WORDS + 1]} is here")])
        assert kb.check() == []
        assert all(kb.graph.lookup([word_key(title)]) for count, title in titles.items() if count < 40_000)
