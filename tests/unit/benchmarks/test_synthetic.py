from collections import Counter

import pytest
from synthetic import synthetic_corpus


@pytest.fixture(scope="module")
def corpus():
    return synthetic_corpus(200, questions=20)


def test_the_same_seed_gives_the_same_corpus(corpus):
    assert synthetic_corpus(200, questions=20) == corpus


def test_another_seed_gives_another(corpus):
    assert synthetic_corpus(200, questions=20, seed=8).passages != corpus.passages


def test_as_many_passages_as_asked_for_with_titles_of_their_own(corpus):
    assert len({line["id"] for line in corpus.passages}) == len({line["title"] for line in corpus.passages}) == 200


def test_every_passage_names_itself_and_others(corpus):
    titles = {line["title"] for line in corpus.passages}
    for line in corpus.passages:
        assert line["text"].startswith(line["title"])
        assert any(title in line["text"] for title in titles - {line["title"]})


def test_words_follow_zipf(corpus):
    counts = Counter(word for line in corpus.passages for word in line["text"].lower().replace(".", "").split())
    ranked = [count for _, count in counts.most_common()]
    # the frequency of rank r is about that of rank 1 divided by r
    assert 5 < ranked[0] / ranked[9] < 20


def test_questions_name_the_first_passage_which_names_the_second(corpus):
    by_id = {line["id"]: line for line in corpus.passages}
    for line in corpus.questions:
        first, second = (by_id[key] for key in line["gold"])
        assert first["title"] in line["question"]
        assert second["title"] in first["text"]
