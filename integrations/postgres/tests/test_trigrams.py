"""Misspelt names are found through a trigram index where the server has pg_trgm, and are the same without it."""

import logging
import math
import random

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hopweave.document import Document
from hopweave.graph.link.linker import Linker
from hopweave.graph.storage.name_index import edit_distance, letters_apart
from hopweave.graph_store.store import GraphStore

psycopg = pytest.importorskip("psycopg")

from hopweave_postgres import names, trigrams  # noqa: E402 - needs psycopg

WORDS = ("skua", "harris", "petrel", "kittiwake", "fulmar", "guillemot", "shearwater", "københavn", "zürich", "гагара")
WORDS += ("harriet", "harrison", "tern", "eider", "gannet", "phalarope", "anna", "banana", "o'brien", "storm-petrel")


def corpus():
    rng = random.Random(5)
    titles = [" ".join(word.title() for word in rng.sample(WORDS, 2)) for _ in range(60)]
    return [Document(str(place), f"{title} is in the harbour.", {"title": title}) for place, title in enumerate(titles)]


def misspelt(rng, word):
    letters = list(word)
    for _ in range(letters_apart(word)):
        place, kind = rng.randrange(1, len(letters)), rng.randrange(4)
        if kind == 0:
            letters[place] = rng.choice("abdeiknoprstu")
        elif kind == 1:
            letters.insert(place, rng.choice("abdeiknoprstu"))
        elif kind == 2 and len(letters) > 4:
            del letters[place]
        elif place + 1 < len(letters):
            letters[place : place + 2] = letters[place : place + 2][::-1]
    return "".join(letters)


def questions():
    rng = random.Random(6)
    asked = [one.metadata["title"].lower().split() for one in corpus()] + [rng.sample(WORDS, 2) for _ in range(60)]
    return [f"Where is {' '.join(misspelt(rng, word).title() for word in words)}?" for words in asked]


def links(store, question):
    found = Linker().link(question, store.graph)
    return [(link.name, link.surface, link.match, round(link.weight, 9)) for link in found.links], found.confidence


def uses_index(store):
    return store.graph._names._trigram_schema is not None


@pytest.mark.parametrize("max_bucket", [4_000, 2])
def test_linking_is_that_of_a_file_with_and_without_the_extension(trigram_url, tmp_path, monkeypatch, max_bucket):
    from hopweave.graph.storage import name_index

    monkeypatch.setattr(name_index, "_MAX_BUCKET", max_bucket)
    monkeypatch.setattr(names, "_MAX_BUCKET", max_bucket)
    with GraphStore.open(tmp_path / "graph.db") as file, GraphStore.open(trigram_url) as store:
        for one in (file, store):
            one.add(corpus())
        assert uses_index(store)
        embedded = [links(file, question) for question in questions()]
        indexed = [links(store, question) for question in questions()]
        with psycopg.connect(trigram_url) as connection:
            connection.execute("DROP EXTENSION pg_trgm CASCADE")
        assert not uses_index(store)
        by_words = [links(store, question) for question in questions()]
    assert indexed == by_words == embedded
    if max_bucket > 2:
        fuzzy = sum(any(link[2] == "fuzzy" for link in found) for found, _ in embedded)
        assert fuzzy > len(embedded) / 3


@given(st.text("abcskaz0", min_size=4, max_size=16), st.randoms(use_true_random=False))
@example("banana", random.Random(1))
def test_no_word_that_is_few_letters_away_is_less_similar_than_the_bound(word, rng):
    bound = trigrams.min_similarity(word)
    if bound is None:
        return
    other = misspelt(rng, word)
    if edit_distance(word, other, letters_apart(word)) is not None:
        own, others = ({f"  {one} "[place : place + 3] for place in range(len(one) + 1)} for one in (word, other))
        assert len(own & others) / len(own | others) >= bound


def test_the_index_is_used_in_a_large_graph(trigram_url):
    rng = random.Random(3)
    vocabulary = ["".join(rng.choices("abdefghiklmnoprstuv", k=rng.randrange(5, 14))) for _ in range(4000)]
    with GraphStore.open(trigram_url) as store:
        store._connections.write(lambda cursor: _fill(cursor, vocabulary))
        word = next(one for one in vocabulary if len(one) == 12)
        *_, (statement, values) = trigrams.similar_words("public", {word: word}, False, 4000)
        with psycopg.connect(trigram_url) as connection:
            connection.execute("SET search_path TO hopweave")
            connection.execute("ANALYZE vocabulary")
            plan = connection.execute(f"EXPLAIN {statement}", values).fetchall()
    assert any("vocabulary_trigrams" in line for (line,) in plan)


def _fill(cursor, vocabulary):
    from hopweave_postgres.save_nodes import save_vocabulary

    save_vocabulary(cursor, vocabulary, [])


def test_words_go_when_no_name_has_them(trigram_url):
    with GraphStore.open(trigram_url) as store, psycopg.connect(trigram_url, autocommit=True) as connection:
        store.add([Document("a", "x", {"title": "MV Skua"}), Document("b", "x", {"title": "MV Petrel"})])
        query = "SELECT word FROM hopweave.vocabulary ORDER BY word"
        assert connection.execute(query).fetchall() == [("mv",), ("petrel",), ("skua",)]
        store.add([Document("b", "x", {"title": "MV Fulmar"})])
        assert connection.execute(query).fetchall() == [("fulmar",), ("mv",), ("skua",)]
        store.delete(["a", "b"])
        assert connection.execute(query).fetchall() == []


def test_the_extension_may_come_later(trigram_url, isles):
    question = "Where is the Petrell?"
    with psycopg.connect(trigram_url, autocommit=True) as connection:
        with GraphStore.open(trigram_url) as store:
            store.add(isles)
            before = links(store, question)
        connection.execute("DROP EXTENSION pg_trgm CASCADE")
        with GraphStore.open(trigram_url, read_only=True) as reader:
            assert not uses_index(reader)
            assert links(reader, question) == before
            connection.execute('CREATE SCHEMA "exten%sions"')
            connection.execute('CREATE EXTENSION pg_trgm SCHEMA "exten%sions"')
            assert links(reader, question) == before
            GraphStore.open(trigram_url).close()  # which makes the index
            assert uses_index(reader)
            assert links(reader, question) == before
            graph = reader.graph
            connection.execute("DROP EXTENSION pg_trgm CASCADE")  # in the middle of a question
            assert Linker().link(question, graph).links[0].name == before[0][0][0]


def test_whoever_may_not_create_the_extension_goes_without(trigram_server, trigram_url, isles, caplog, monkeypatch):
    monkeypatch.setattr(trigrams, "_logged", set())
    database = trigram_url.rpartition("/")[2]
    with psycopg.connect(trigram_url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS clerk")
        connection.execute("CREATE ROLE clerk LOGIN PASSWORD 'sesame'")
        connection.execute("CREATE SCHEMA hopweave AUTHORIZATION clerk")
    url = f"postgresql://clerk:sesame@127.0.0.1:{trigram_server.port}/{database}"
    with caplog.at_level(logging.INFO), GraphStore.open(url) as store:
        store.add(isles)
        assert not uses_index(store)
        assert links(store, "Where is MV Petrell?")[0][0][:2] == ("MV Petrel", "MV Petrell")
    GraphStore.open(url).close()
    said = [one.getMessage() for one in caplog.records if "without a trigram index" in one.getMessage()]
    assert len(said) == 1
    assert "permission denied" in said[0]
    assert "sesame" not in said[0]


def test_a_server_without_the_extension(postgres_url, isles, caplog, monkeypatch):
    monkeypatch.setattr(trigrams, "_logged", set())
    with caplog.at_level(logging.INFO), GraphStore.open(postgres_url) as store:
        store.add(isles)
        if uses_index(store):
            pytest.skip("this server has it")
        assert links(store, "Where is MV Petrell?")[0][0][0] == "MV Petrel"
    assert "without a trigram index" in caplog.text


def test_bulk_loads_make_the_index_again(trigram_url, isles):
    with GraphStore.open(trigram_url) as store:
        store.build(isles)
        assert uses_index(store)
        assert math.isclose(store.graph.nearest_names([["petrell"]], 0.7)[0][1], 0.75, abs_tol=0.2)
        assert np.array(store.graph.nearest_names([["petrell"]], 0.7)[0][0]).size
