import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopweave.document import Document
from hopweave.errors import KnowledgeBaseError
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.query import Query
from hopweave.vector.embedders import CallableEmbedder
from hopweave.vector.index import NearestVectors, VectorIndex


def vectors(count, dimension=16, seed=0):
    return np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)


def unit(matrix):
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


def index_of(matrix, **how):
    return VectorIndex(matrix.shape[1], **how).changed(np.arange(1, len(matrix) + 1), matrix)


def best(index, question, top_k, allowed=None):
    rows, cosines = index.search(question, top_k, allowed)
    order = sorted(zip((-cosines).tolist(), rows.tolist(), strict=True))
    return [row for _, row in order][:top_k], sorted(cosines.tolist(), reverse=True)[:top_k]


def test_cosines_by_hand():
    index = index_of(np.array([[3, 0], [0, 2], [-1, 0], [1, 1]], np.float32))
    rows, cosines = index.search(np.array([5, 0], np.float32), 4)
    assert dict(zip(rows.tolist(), cosines.tolist(), strict=True)) == pytest.approx({1: 1, 2: 0, 3: -1, 4: 0.5**0.5})


@pytest.mark.parametrize("count", [1, 2, 50, 500])
@pytest.mark.parametrize("top_k", [1, 7, 1000])
def test_exact_search_is_brute_force(count, top_k):
    matrix, question = vectors(count), vectors(1, seed=1)[0]
    expected = unit(matrix) @ unit(question[None])[0]
    rows, cosines = best(index_of(matrix), question, top_k)
    assert rows == (np.argsort(-expected, kind="stable") + 1)[:top_k].tolist()
    assert cosines == pytest.approx(np.sort(expected)[::-1][:top_k].tolist(), abs=1e-6)


def test_an_empty_index_a_zero_question_and_zero_vectors_find_nothing():
    assert best(VectorIndex(2), np.ones(2, np.float32), 5) == ([], [])
    index = index_of(np.array([[0, 0], [1, 0], [0, 0]], np.float32))
    assert best(index, np.zeros(2, np.float32), 5) == ([], [])
    assert best(index, np.ones(2, np.float32), 5)[0] == [2]
    assert best(index_of(np.zeros((3, 2), np.float32)), np.ones(2, np.float32), 5) == ([], [])


def test_very_long_and_very_short_vectors_keep_their_direction():
    index = index_of(np.array([[1e30, 0], [0, 1e-15]], np.float32))
    rows, cosines = index.search(np.array([3e30, 4e30], np.float32), 2)
    assert dict(zip(rows.tolist(), cosines.tolist(), strict=True)) == pytest.approx({1: 3 / 5, 2: 4 / 5})


def test_ties_at_the_end_come_along():
    matrix = np.array([[1, 0]] * 100 + [[0, 1]], np.float32)
    rows, cosines = index_of(matrix).search(np.array([1, 0.1], np.float32), 3)
    assert sorted(rows[cosines == cosines[0]].tolist()) == list(range(1, 101))


def test_the_same_vector_has_the_same_cosine_in_whatever_company():
    matrix, question = vectors(20_000, 64), vectors(1, 64, seed=1)[0]
    whole = index_of(matrix)
    few = VectorIndex(64).changed(np.arange(19_001, 20_001), matrix[19_000:])
    allowed = np.arange(10, 500)
    everything = dict(zip(*(part.tolist() for part in whole.search(question, 20_000)), strict=True))
    for rows, cosines in (few.search(question, 1000), whole.search(question, 20), whole.search(question, 500, allowed)):
        assert dict(zip(rows.tolist(), cosines.tolist(), strict=True)).items() <= everything.items()


@pytest.mark.parametrize("approximate_above", [1000, 100])
def test_only_allowed_rows_are_given(approximate_above):
    index = index_of(vectors(300), approximate_above=approximate_above)
    index = index.with_approximation() if index.outdated else index
    assert set(best(index, vectors(1, seed=1)[0], 50, np.array([3, 7, 200, 999]))[0]) == {3, 7, 200}
    assert best(index, vectors(1, seed=1)[0], 50, np.array([], np.int64)) == ([], [])


def test_a_changed_index_is_a_new_one():
    matrix = vectors(20)
    index = index_of(matrix)
    before = best(index, matrix[3], 20)
    later = index.changed(np.array([30, 31]), vectors(2, seed=2), np.array([4, 5]))
    assert best(index, matrix[3], 20) == before
    assert set(best(later, matrix[3], 30)[0]) == {*range(1, 21), 30, 31} - {4, 5}


@given(st.data())
def test_any_adding_and_deleting_equals_a_fresh_build(data):
    index, truth, row = VectorIndex(4), {}, 0
    for _ in range(data.draw(st.integers(1, 6))):
        added = data.draw(st.lists(st.lists(st.integers(-3, 3), min_size=4, max_size=4), max_size=4))
        rows = np.arange(row + 1, row + 1 + len(added))
        row += len(added)
        removed = data.draw(st.lists(st.sampled_from(sorted(truth)), unique=True)) if truth else []
        index = index.changed(rows, np.array(added, np.float32).reshape(-1, 4), np.array(removed, np.int64))
        truth.update(zip(rows.tolist(), added, strict=True))
        truth = {key: value for key, value in truth.items() if key not in removed}
    fresh = VectorIndex(4).changed(
        np.array(list(truth), np.int64), np.array(list(truth.values()), np.float32).reshape(-1, 4)
    )
    assert best(index, np.array([1, 2, 3, 4], np.float32), 99) == best(fresh, np.array([1, 2, 3, 4], np.float32), 99)


# Above a size, through an HNSW graph


@pytest.fixture(scope="module")
def approximate():
    index = index_of(vectors(2000, 32), approximate_above=1000)
    assert index.outdated
    return index.with_approximation()


def recall(index, truth, top_k=10, questions=30):
    hits = 0
    for question in vectors(questions, 32, seed=5):
        expected, _ = best(truth, question, top_k)
        hits += len(set(expected) & set(best(index, question, top_k)[0]))
    return hits / questions / top_k


def test_the_graph_finds_nearly_all_with_the_same_cosines(approximate):
    assert not approximate.outdated
    exact = index_of(vectors(2000, 32), approximate_above=10_000)
    assert recall(approximate, exact) >= 0.95
    question = vectors(1, 32, seed=5)[0]
    found = dict(zip(*(part.tolist() for part in approximate.search(question, 10)), strict=True))
    everything = dict(zip(*(part.tolist() for part in exact.search(question, 2000)), strict=True))
    assert found.items() <= everything.items()


def test_new_vectors_are_found_beside_the_graph_and_old_ones_leave_it(approximate):
    extra = vectors(150, 32, seed=3)
    gone = np.arange(1, 301)
    later = approximate.changed(np.arange(5001, 5151), extra, gone)
    assert best(later, extra[7], 1)[0] == [5008]
    assert not set(best(later, vectors(2000, 32)[5], 500)[0]) & set(gone.tolist())
    assert len(best(later, extra[0], 500)[0]) == 500
    fresh = VectorIndex(32, 10_000).changed(later.rows, np.vstack([vectors(2000, 32)[300:], extra]))
    assert recall(later, fresh) >= 0.95


def test_the_graph_is_outdated_when_a_fifth_is_new_or_gone(approximate):
    assert not approximate.changed(removed=np.arange(1, 400)).outdated
    assert approximate.changed(removed=np.arange(1, 403)).outdated
    assert not approximate.changed(np.arange(5001, 5401), vectors(400, 32)).outdated
    assert approximate.changed(np.arange(5001, 5602), vectors(601, 32)).outdated
    assert not approximate.changed(removed=np.arange(1, 1001)).outdated  # so few that the search is exact again


def test_below_the_size_the_search_is_exact_again(approximate):
    few = approximate.changed(removed=np.arange(1, 1501))
    assert best(few, vectors(2000, 32)[1999], 3)[0][0] == 2000
    assert recall(few, VectorIndex(32).changed(few.rows, vectors(2000, 32)[1500:])) == 1


def test_the_graph_survives_as_bytes(approximate):
    data = approximate.approximate_bytes()
    plain = index_of(vectors(2000, 32), approximate_above=1000)
    assert plain.approximate_bytes() is None
    again = plain.with_approximation(data)
    assert not again.outdated
    question = vectors(1, 32, seed=9)[0]
    assert best(again, question, 20) == best(approximate, question, 20)
    given_at_birth = VectorIndex(32, 1000, data).changed(np.arange(1, 2001), vectors(2000, 32))
    assert best(given_at_birth, question, 20) == best(approximate, question, 20)


# The source


@pytest.fixture
def compass():
    directions = {"north": [0, 1], "east": [1, 0], "south": [0, -1], "nowhere": [0, 0]}
    embedder = CallableEmbedder(
        name="compass", function=lambda texts: [directions.get(text.split()[0], [1, 1]) for text in texts]
    )
    with KnowledgeBase.open(embedder=embedder) as kb:
        kb.add(Document(name, f"{name} wind", {"strong": name != "east"}) for name in directions)
        yield kb


def test_hits_by_cosine_with_the_model_in_the_receipt(compass):
    hits = NearestVectors().search(Query("north"), compass)
    assert [(hit.id, hit.score, hit.scale) for hit in hits] == [
        ("north", 1, "cosine"),
        ("east", 0, "cosine"),
        ("south", -1, "cosine"),
    ]
    assert hits[0].receipts[0].details == {"rank": 1, "model": "compass"}


def test_a_vector_that_comes_with_the_question_is_used(compass):
    hits = NearestVectors(top_k=1).search(Query("north", np.array([0, -7], np.float32)), compass)
    assert [hit.id for hit in hits] == ["south"]
    assert hits[0].receipts[0].details["model"] == "given with the question"
    named = NearestVectors(top_k=1, model="compass").search(Query("", np.array([0, -7], np.float32)), compass)
    assert named[0].receipts[0].details["model"] == "compass"


@pytest.mark.parametrize("question", [Query(""), Query("  "), Query("nowhere"), Query("x", np.zeros(2, np.float32))])
def test_a_question_without_direction_finds_nothing(compass, question):
    assert NearestVectors().search(question, compass) == []


@pytest.mark.parametrize("vector", [[1.0], [1.0, 2.0, 3.0], [[1.0, 2.0]], [float("nan"), 1.0], []])
def test_a_vector_of_the_wrong_size_is_an_error_that_names_both(compass, vector):
    with pytest.raises(KnowledgeBaseError, match=r"the question's vector has shape .* of model 'compass' are 2 finite"):
        NearestVectors().search(Query("x", np.array(vector, np.float32)), compass)


def test_an_unknown_model_is_named(compass):
    with pytest.raises(KnowledgeBaseError, match="holds no vectors of model 'sextant'"):
        NearestVectors(model="sextant").search(Query("x", np.ones(2, np.float32)), compass)


def test_tenants_see_their_own(compass):
    assert [hit.id for hit in NearestVectors().search(Query("east", tenant={"strong": True}), compass)] == [
        "north",
        "south",
    ]
