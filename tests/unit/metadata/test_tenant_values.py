"""What a tenant may be, and which values it takes for the same."""

import pytest

from hopweave import Document, KnowledgeBase
from hopweave.metadata.tenants import checked_tenant, in_tenant, narrow_tenant
from hopweave.query import Query

HELD = {"one": 1, "float": 1.0, "yes": True, "no": False, "zero": 0, "text": "1", "word": "true", "list": [True, 7]}
SEEN = {
    1: {"one", "float"},
    0: {"zero"},
    "1": {"text"},
    "true": {"word"},
    7: {"list"},
}


def of(wanted):
    """The documents whose value is that of a tenant."""
    if isinstance(wanted, bool):
        return {"yes", "list"} if wanted else {"no"}
    return SEEN[wanted]


@pytest.fixture(scope="module")
def documents():
    return [Document(key, f"Quay {key}.", {"title": key, "t": value}) for key, value in HELD.items()]


@pytest.fixture(params=["metadata", "knowledge base"])
def visible(request, documents):
    """A function from a tenant to the ids that it sees, for every place of documents."""
    if request.param == "metadata":
        yield lambda tenant: {one.id for one in documents if in_tenant(one.metadata, tenant)}
    else:
        with KnowledgeBase.open(embedder=None) as kb:
            kb.add(documents)
            yield lambda tenant: {hit.id for hit in kb.search(Query("quay", tenant=tenant)).hits}


@pytest.mark.parametrize("wanted", [1, 1.0, True, 0, False, "1", "true", 7], ids=repr)
def test_numbers_truth_values_and_texts_are_kept_apart(visible, wanted):
    assert set(visible({"t": wanted})) == of(wanted)
    assert set(visible({"t": [wanted, "none"]})) == of(wanted)


def test_a_list_of_a_number_and_a_truth_value_allows_both(visible):
    assert set(visible({"t": [1, False]})) == {"one", "float", "no"}


def test_a_tenant_of_1_cannot_be_narrowed_to_true():
    assert narrow_tenant({"t": [1, 2]}, {"t": 1.0}) == {"t": 1.0}
    with pytest.raises(ValueError, match="the value of 't' is outside what was set before"):
        narrow_tenant({"t": 1}, {"t": True})


@pytest.mark.parametrize(
    ("tenant", "message"),
    [
        (
            {"meta.tenant": "s3cret"},
            r"tenant: 'meta\.tenant' is no metadata field; leave out 'meta\.', as in {'tenant': ",
        ),
        (
            {"field": "meta.tenant", "operator": "==", "value": "s3cret"},
            "tenant: looks like a filter; .*as in {'customer'",
        ),
        ({"operator": "AND", "conditions": []}, "tenant: looks like a filter"),
        ({"tenant": "s3cret" * 200}, "tenant: the value of 'tenant' is longer than 1,000 characters"),
        ({"tenant": ["a", "s3cret" * 200]}, "tenant: the value of 'tenant' is longer than 1,000 characters"),
    ],
)
def test_a_tenant_that_can_match_nothing_is_refused(tenant, message):
    for use in (checked_tenant, lambda one: narrow_tenant(one, None), lambda one: Query("quay", tenant=one)):
        with pytest.raises(ValueError, match=message) as refused:
            use(tenant)
        assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize("tenant", [None, {"field": "a12"}, {"operator": "vodafone"}, {"value": 1, "team": "ops"}])
def test_fields_of_ones_own_may_have_the_names_of_a_filter(tenant):
    checked_tenant(tenant)
