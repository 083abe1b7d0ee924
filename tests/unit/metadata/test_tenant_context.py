"""The tenant of the context holds wherever a question is asked, and a file of tenants is closed without one."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

import pytest

from hopweave import Document, Hit, KnowledgeBase, Pipeline, Query, every_tenant, tenant
from hopweave.errors import KnowledgeBaseError, TenantRequired
from hopweave.graph.external_documents import ExternalDocuments
from hopweave.stages import Length

OWN = [
    Document("acme-1", "The tide gate opens at six.", {"customer": "acme"}),
    Document("zeta-1", "The tide gate opens at nine.", {"customer": "zeta"}),
]


@pytest.fixture
def of_tenants():
    """A knowledge base that two tenants have written."""
    with KnowledgeBase.open(embedder=None) as kb:
        for document in OWN:
            kb.add([document], tenant=document.metadata)
        yield kb


def ids(result):
    return [hit.id for hit in result.hits]


def test_a_question_within_it_is_of_the_tenant(of_tenants):
    with tenant(customer="acme"):
        assert ids(of_tenants.search("tide gate")) == ["acme-1"]
        assert ids(asyncio.run(Pipeline("multihop", of_tenants).run_async("tide gate"))) == ["acme-1"]
    assert Query("tide gate").tenant is None


def test_what_is_given_narrows_it_and_never_widens_it():
    with tenant(customer=["acme", "zeta"]):
        assert Query("?", tenant={"customer": "acme", "team": "ops"}).tenant == {"customer": "acme", "team": "ops"}
        with tenant(customer="zeta"):
            assert Query("?").tenant == {"customer": "zeta"}
            with pytest.raises(ValueError, match="can only be narrowed"):
                Query("?", tenant={"customer": "acme"})
        with pytest.raises(ValueError, match="can only be narrowed"), every_tenant():
            pass


def test_fifty_tenants_at_once_do_not_mix():
    async def ask(number):
        with tenant(customer=str(number)):
            await asyncio.sleep(0)
            return Query("?").tenant

    async def all_of_them():
        return await asyncio.gather(*map(ask, range(50)))

    assert asyncio.run(all_of_them()) == [{"customer": str(number)} for number in range(50)]


def test_a_thread_that_takes_over_the_context_has_its_tenant():
    with tenant(customer="acme"), ThreadPoolExecutor(1) as pool:
        assert pool.submit(copy_context().run, lambda: Query("?").tenant).result() == {"customer": "acme"}


@pytest.mark.parametrize("within", [lambda: tenant(customer="acme"), every_tenant], ids=["tenant", "every tenant"])
def test_a_thread_pool_takes_it_over_and_the_next_work_does_not_see_it(within, of_tenants):
    def ask(question):
        return sorted(ids(of_tenants.search(question)))

    with ThreadPoolExecutor(1) as pool:
        with within():
            expected = ask("tide gate")
            assert list(pool.map(ask, ["tide gate", "gate"])) == [expected, expected]
        with pytest.raises(TenantRequired):
            pool.submit(ask, "tide gate").result()


def test_fifty_tenants_in_one_pool_do_not_mix():
    with ThreadPoolExecutor(4) as pool, ThreadPoolExecutor(50) as callers:

        def ask(number):
            with tenant(customer=str(number)):
                return [pool.submit(lambda: Query("?").tenant).result() for _ in range(5)]

        assert list(callers.map(ask, range(50))) == [[{"customer": str(number)}] * 5 for number in range(50)]


def test_documents_elsewhere_are_asked_for_by_the_index_of_tenants(of_tenants):
    shelf = {one.id: Hit(one.id, None, one.text, one.metadata) for one in OWN}
    there = ExternalDocuments(None, lambda keys: [shelf[key] for key in keys if key in shelf], index=of_tenants)
    with pytest.raises(TenantRequired):
        Pipeline("multihop", there).run("tide gate")
    with tenant(customer="zeta"):
        assert ids(Pipeline("multihop", there).run("tide gate")) == ["zeta-1"]


def test_a_file_of_tenants_refuses_a_question_without_one(of_tenants):
    assert of_tenants.tenant_fields == ("customer",)
    with pytest.raises(TenantRequired, match=r"tenant=\{'customer': \.\.\.\}"):
        of_tenants.search("tide gate")
    with pytest.raises(TenantRequired):
        asyncio.run(Pipeline("multihop", of_tenants).run_async("tide gate", top_k=1))
    with pytest.raises(TenantRequired), tenant(team="ops"):
        of_tenants.search("tide gate")
    with every_tenant():
        assert sorted(ids(of_tenants.search("tide gate"))) == ["acme-1", "zeta-1"]


def test_it_is_still_one_when_opened_again(tmp_path):
    with KnowledgeBase.open(tmp_path / "a.db", embedder=None) as kb:
        kb.add(OWN[:1], tenant={"customer": "acme"})
        kb.add(OWN[1:])  # whoever looks after the file may write for all
    with KnowledgeBase.open(tmp_path / "a.db") as kb, pytest.raises(TenantRequired):
        kb.search("tide gate")


def test_a_file_with_documents_for_all_stays_open_to_all():
    with KnowledgeBase.open(embedder=None) as kb:
        kb.add([Document("notice", "The gate is shut.")])
        kb.add(OWN[:1], tenant={"customer": "acme"})
        assert kb.tenant_fields == ()
        assert len(kb.search("gate").hits) == 2


def test_of_several_fields_those_count_that_all_writers_give():
    with KnowledgeBase.open(embedder=None) as kb:
        both = {"customer": "acme", "team": "ops"}
        kb.add([Document("a", "A gate.", both)], tenant=both)
        assert kb.tenant_fields == ("customer", "team")
        kb.add([Document("b", "A gate.", {"customer": "zeta"})], tenant={"customer": "zeta"})
        assert kb.tenant_fields == ("customer",)
        kb.add([Document("c", "A gate.", {"team": "ops"})], tenant={"team": "ops"})
        assert kb.tenant_fields == ("customer",)


def test_the_fields_can_be_named_when_the_file_is_new(tmp_path):
    with KnowledgeBase.open(tmp_path / "a.db", embedder=None, tenant_fields=["customer"]) as kb:
        kb.add(OWN)
        with pytest.raises(TenantRequired):
            kb.search("gate")
    with pytest.raises(KnowledgeBaseError, match="its tenant_fields are customer, not team"):
        KnowledgeBase.open(tmp_path / "a.db", tenant_fields=["team"])


def test_what_is_written_within_it_is_the_tenants(of_tenants):
    with tenant(customer="acme"), pytest.raises(ValueError, match="cannot be written for this tenant"):
        of_tenants.add([Document("x", "A gate.", {"customer": "zeta"})])
    with tenant(customer="acme"):
        assert of_tenants.delete(["zeta-1"]) == 0


def test_a_stage_drops_what_others_brought_from_outside_the_tenant():
    hits = [Hit(one.id, 0.5, one.text, one.metadata) for one in OWN]
    with tenant(customer="acme"):
        assert [hit.id for hit in Length().attempt(hits, Query("gate")).hits] == ["acme-1"]
        assert [hit.id for hit in asyncio.run(Length().attempt_async(hits, Query("gate"))).hits] == ["acme-1"]
    assert len(Length().attempt(hits, Query("gate")).hits) == 2
