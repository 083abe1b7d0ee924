"""The latent index: the same for the same parts, whatever the history; and what of it is not learned at once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopweave.errors import InvalidImage
from hopweave.storage.strings import string_hash
from hopweave.vector import latent_index
from hopweave.vector.latent_index import LatentIndex, Part
from hopweave.vector.latent_space import counts_by_key

NOTHING = np.empty(0, np.int64)


class Corpus:
    """Parts by row, each with six words of its document's twelve."""

    def __init__(self, count: int = 40, documents: int = 8) -> None:
        chance = np.random.default_rng(3)
        self.ids = [f"p{number}" for number in range(count)]
        self.documents = [f"d{number % documents}" for number in range(count)]
        words = [chance.choice(range(12 * (n % documents), 12 * (n % documents) + 18), 6, False) for n in range(count)]
        self.counts = [counts_by_key({int(word) + 1: 1 for word in some}) for some in words]
        self.by_row: dict[int, int] = {}

    def parts(self, numbers) -> list[Part]:
        first = max(self.by_row, default=0) + 1
        made = []
        for row, number in enumerate(numbers, start=first):
            self.by_row[row] = number
            made.append(Part(row, string_hash(self.ids[number]), string_hash(self.documents[number])))
        return made

    def counts_of(self, rows):
        return [self.counts[self.by_row[row]] for row in rows.tolist()]

    def directions(self, index):
        """By id: the direction of a part and of its document."""
        names = [self.ids[self.by_row[row]] for row in index.rows.tolist()]
        wholes = index.wholes.values[index.whole_of]
        return {name: (part.tolist(), whole.tolist())
                for name, part, whole in zip(names, index.parts.values, wholes, strict=True)}  # fmt: skip


@settings(max_examples=15, deadline=None)
@given(st.permutations(range(40)), st.sets(st.integers(0, 39), max_size=20))
def test_any_order_of_adding_and_deleting_gives_the_same_index(order, deleted):
    corpus = Corpus()
    straight = LatentIndex.empty().changed(corpus.parts(range(40)), NOTHING, corpus.counts_of)
    expected = corpus.directions(straight)
    index = LatentIndex.empty()
    for some in np.array_split(np.array(order), 3):
        index = index.changed(corpus.parts(some.tolist()), NOTHING, corpus.counts_of)
    rows = np.array([row for row in index.rows.tolist() if corpus.by_row[row] in deleted], np.int64)
    index = index.changed([], rows, corpus.counts_of)
    index = index.changed(corpus.parts(sorted(deleted)), NOTHING, corpus.counts_of)
    assert corpus.directions(index) == expected


def test_above_a_size_few_changes_are_projected_and_learning_catches_up(monkeypatch):
    monkeypatch.setattr(latent_index, "_ALWAYS_LEARNED", 10)
    corpus = Corpus()
    index = LatentIndex.empty().changed(corpus.parts(range(37)), NOTHING, corpus.counts_of)
    later = index.changed(corpus.parts([37, 38, 39]), NOTHING, corpus.counts_of)
    assert later.part_space is index.part_space
    assert later.changes == 3
    assert later.parts.values[-1].any()
    whole = later.whole_of[-1]
    assert (later.wholes.values[whole] != index.wholes.values[whole]).any()
    expected = LatentIndex.empty().changed(corpus.parts(range(40)), NOTHING, corpus.counts_of)
    assert list(corpus.directions(later.learned(corpus.counts_of)).values()) == list(
        corpus.directions(expected).values()
    )


def test_a_tenth_of_changes_is_learned_from(monkeypatch):
    monkeypatch.setattr(latent_index, "_ALWAYS_LEARNED", 10)
    corpus = Corpus()
    index = LatentIndex.empty().changed(corpus.parts(range(30)), NOTHING, corpus.counts_of)
    index = index.changed(corpus.parts(range(30, 40)), NOTHING, corpus.counts_of)
    assert index.changes == 0


def test_hidden_parts_do_not_move_the_direction_of_a_document():
    corpus = Corpus()
    index = LatentIndex.empty().changed(corpus.parts(range(40)), NOTHING, corpus.counts_of)
    visible = index.rows[:20]
    whole = int(index.whole_of[0])
    there = [counts for row, counts in zip(visible.tolist(), corpus.counts_of(visible), strict=True)
             if index.whole_of[index.places(np.array([row]))[0]] == whole]  # fmt: skip
    from hopweave.vector.latent_space import summed

    expected = index.document_space.projected([summed(there)])
    assert (index.projected_wholes(np.array([whole]), visible, corpus.counts_of) == expected).all()
    assert (index.wholes.values[whole] != expected[0]).any()


def test_places_of_rows():
    corpus = Corpus()
    index = LatentIndex.empty().changed(corpus.parts([4, 5, 6]), NOTHING, corpus.counts_of)
    assert index.places(np.array([3, 1, 99, 0])).tolist() == [2, 0, -1, -1]
    assert LatentIndex.empty().places(np.array([1])).tolist() == [-1]


def test_an_image_gives_the_index_again():
    corpus = Corpus()
    index = LatentIndex.empty().changed(corpus.parts(range(40)), NOTHING, corpus.counts_of)
    again = LatentIndex.from_arrays(*index.arrays())
    assert corpus.directions(again) == corpus.directions(index)
    emptied = LatentIndex.from_arrays(*LatentIndex.empty().arrays())
    assert len(emptied.rows) == 0


@pytest.mark.parametrize("damage", ["lacks", "rows", "parts", "wholes"])
def test_damaged_arrays_are_refused(damage):
    corpus = Corpus()
    header, arrays = LatentIndex.empty().changed(corpus.parts(range(40)), NOTHING, corpus.counts_of).arrays()
    if damage == "lacks":
        del arrays["documents"]
    elif damage == "rows":
        arrays["rows"] = arrays["rows"][::-1]
    else:
        arrays[damage] = arrays[damage][:, 1:]
    with pytest.raises(InvalidImage):
        LatentIndex.from_arrays(header, arrays)
