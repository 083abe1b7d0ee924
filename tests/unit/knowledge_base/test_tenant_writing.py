"""What is written for a tenant leaves the documents of others alone, whatever their sources and ids."""

import pytest

from hopweave import Document, KnowledgeBase
from hopweave.errors import OtherTenant

ACME, ZETA = {"customer": "acme"}, {"customer": "zeta"}


@pytest.fixture
def shared():
    with KnowledgeBase.open(embedder=None) as kb:
        kb.replace("handbook", [Document("z1", "One.", ZETA), Document("z2", "Two.", ZETA)], tenant=ZETA)
        kb.replace("handbook", [Document("a1", "One.", ACME), Document("a2", "Two.", ACME)], tenant=ACME)
        yield kb


def test_sources_of_one_name_are_kept_apart(shared):
    assert shared.ids() == ["z1", "z2", "a1", "a2"]
    assert shared.replace("handbook", [Document("a2", "Two.", ACME)], tenant=ACME).removed == 1
    assert shared.ids() == ["z1", "z2", "a2"]
    assert shared.sources() == {"handbook": 3}
    assert shared.sources(tenant=ZETA) == {"handbook": 2}
    assert shared.replace("handbook", []).removed == 3, "without a tenant, a source is that of all"


@pytest.mark.parametrize("foreign", [Document("new", "x", ZETA), Document("new", "x"), Document("z1", "x", ACME)])
def test_a_tenant_writes_neither_for_others_nor_over_them(shared, foreign):
    for write in (
        lambda: shared.replace("handbook", [Document("a3", "Three.", ACME), foreign], tenant=ACME),
        lambda: shared.add([Document("a3", "Three.", ACME), foreign], tenant=ACME),
        lambda: shared.add([foreign, Document("a3", "Three.", ACME)], tenant=ACME, workers=1),
    ):
        with pytest.raises(OtherTenant, match=f"document '{foreign.id}' cannot be written for this tenant"):
            write()
        assert shared.ids() == ["z1", "z2", "a1", "a2"]
    assert shared.get(["z1"])["z1"].text == "One."


def test_an_id_that_is_taken_is_skipped_as_it_is_for_everybody(shared):
    assert shared.add([Document("z1", "x", ACME)], on_conflict="skip", tenant=ACME).unchanged == 1
    assert shared.get(["z1"])["z1"].text == "One."


def test_a_tenant_deletes_its_own_documents_only(shared):
    assert shared.delete(["z1", "a1", "nowhere"], tenant=ACME) == 1
    assert shared.delete(where={"customer": ["acme", "zeta"]}, tenant=ZETA) == 2
    assert shared.ids() == ["a2"]
