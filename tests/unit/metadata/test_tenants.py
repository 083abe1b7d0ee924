"""A tenant is checked where it is given, so that a mistake never shows more, or nothing, at question time."""

import pytest

from hopweave import Document, KnowledgeBase, Query
from hopweave.metadata.tenants import checked_tenant, narrow_tenant

ALLOWED = [
    None,
    {"customer": "acme"},
    {"year": 1974, "open": True},
    {"share": 0.5},
    {"customer": ["acme", "zeta"]},
    {"customer": []},
]
WRONG = {
    "nothing": ({}, "tenant: must name at least one metadata field"),
    "no value": ({"customer": None}, r"tenant field 'customer' must be .* but got None"),
    "an operator": ({"customer": {"ne": "acme"}}, r"tenant field 'customer' must be .* but got {'ne': 'acme'}"),
    "None in a list": ({"customer": ["acme", None]}, r"tenant field 'customer' must be .* but got None"),
    "a number for a name": ({1: "a"}, "tenant field 1 must be a string"),
}


@pytest.mark.parametrize("tenant", ALLOWED, ids=repr)
def test_values_of_json_and_lists_of_them(tenant):
    assert checked_tenant(tenant) is tenant
    assert Query("?", tenant=tenant).tenant == tenant


@pytest.mark.parametrize(("tenant", "complaint"), WRONG.values(), ids=WRONG)
def test_what_can_be_no_tenant_is_refused_wherever_it_is_given(tenant, complaint):
    with KnowledgeBase.open(embedder=None) as kb:
        kb.add([Document("a", "The ferry.", {"customer": "zeta"})])
        for give in (
            lambda: checked_tenant(tenant),
            lambda: Query("?", tenant=tenant),
            lambda: kb.search("ferry", tenant=tenant),
            lambda: kb.ids(tenant=tenant),
            lambda: kb.count(tenant=tenant),
            lambda: kb.get(["a"], tenant=tenant),
            lambda: narrow_tenant(None, tenant),
            lambda: narrow_tenant(tenant, {"team": "ops"}),
        ):
            with pytest.raises(ValueError, match=complaint):
                give()


def test_no_tenant_sees_everything():
    with KnowledgeBase.open(embedder=None) as kb:
        kb.add([Document("a", "The ferry.", {"customer": "zeta"}), Document("b", "The ferry.", {"customer": "acme"})])
        assert kb.ids() == ["a", "b"]
        assert kb.visible({}) == {"a", "b"}
        assert kb.ids(tenant={"customer": "acme"}) == ["b"]
        assert kb.ids(tenant={"customer": []}) == []
