import pytest

from hopweave.document import Document
from hopweave.graph.build.builders.mentions import MentionsBuilder
from hopweave.graph.build.resolve import resolve

NAMES = ("Harris", "Lunn", "Oram", "Petrel", "Skua", "Tern", "Gannet", "Fulmar", "Auk", "Eider")


def document(number, title=None, text="it rains", id_=None):
    return Document(id_ or f"d{number}", text, {} if title is None else {"title": title})


def share(documents):
    return resolve(map(MentionsBuilder().contribute, documents)).graph().topic_share()


def test_titles_and_definitions_count():
    titled = [document(number, name) for number, name in enumerate(NAMES[:5])]
    defined = [document(5, text="Gannet is a ferry."), document(6, text="Fulmar is a ferry.")]
    assert share([*titled, *defined, document(7), document(8), document(9)]) == pytest.approx(7 / 10)
    assert share([document(1), document(2)]) == 0.0
    assert share([]) == 0.0


def test_ids_may_be_titles():
    assert share([document(0, name, id_=name) for name in NAMES]) == 1.0


def test_a_title_that_more_than_four_and_a_tenth_share_does_not_count():
    others = [document(number, name) for number, name in enumerate(NAMES)]
    assert share([*others, *(document(f"h{number}", "Handbook") for number in range(4))]) == 1.0
    assert share([*others, *(document(f"h{number}", "Handbook") for number in range(5))]) == pytest.approx(10 / 15)


def test_names_of_files_do_not_count():
    assert share([document(number, f"{name.lower()}_01.md") for number, name in enumerate(NAMES)]) == 0.0
