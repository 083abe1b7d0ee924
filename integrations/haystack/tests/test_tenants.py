"""A component made for a tenant never shows another tenant's documents, in a real pipeline, whatever else is given."""

import inspect
from importlib import import_module
from pathlib import Path

import pytest
from haystack import Document, Pipeline
from haystack.core.serialization import component_to_dict
from haystack.tools import ComponentTool

import haystack_integrations.components.retrievers.hopweave as retrievers
from haystack_integrations.common.hopweave.native import component_class
from haystack_integrations.common.hopweave.recipe_pipeline import to_pipeline, to_yaml
from haystack_integrations.components.builders.hopweave import FlowPruningBuilder
from haystack_integrations.components.embedders.hopweave import StaticTextEmbedder
from haystack_integrations.components.routers.hopweave import PlanRouter, UpstreamRouter
from haystack_integrations.components.writers.hopweave import KnowledgeBaseWriter
from hopweave import Document as Passage
from hopweave import KnowledgeBase, every_tenant, tenant
from hopweave.component import Source, registered
from hopweave.errors import OtherTenant
from hopweave.graph.build.builders.mentions import MentionsBuilder
from hopweave.graph.build.builders.metadata import MetadataBuilder
from hopweave.recipe import recipe_names

QUERY = "How do I fix MV Skua, the ferry built at Sørvåg yard?"
TENANTS = ("red", "blue")
TEXTS = {
    "skua": "MV Skua is a ferry built at Sørvåg yard. Fix it with the pump.",
    "yard": "Sørvåg yard was founded by Ingrid Falk. How do I fix the ferry?",
    "falk": "Ingrid Falk fixes MV Skua.",
}
FOLDERS = sorted(Path(retrievers.__file__).parents[2].glob("*/hopweave/__init__.py"))
COMPONENTS = [
    getattr(package, name)
    for package in (import_module(f"haystack_integrations.components.{path.parts[-3]}.hopweave") for path in FOLDERS)
    for name in package.__all__
]
WITH_TENANT = [
    one
    for one in COMPONENTS
    if "tenant" in inspect.signature(one.__init__).parameters and one is not KnowledgeBaseWriter
]
FINDING = [one for one in WITH_TENANT if one.__name__ in retrievers.__all__]
each = pytest.mark.parametrize("component", FINDING, ids=lambda one: one.__name__)
not_finding = pytest.mark.parametrize(
    "component",
    [
        one
        for one in WITH_TENANT
        if one not in FINDING and "knowledge_base" in inspect.signature(one.__init__).parameters
    ],
    ids=lambda one: one.__name__,
)


@pytest.fixture(scope="module")
def kb(tmp_path_factory):
    path = tmp_path_factory.mktemp("tenants") / "kb.db"
    everywhere = {"requires": [f"{tenant}-yard" for tenant in TENANTS]}  # edges across tenants, too
    with KnowledgeBase.open(path, builders=[MentionsBuilder(), MetadataBuilder()]) as kb:
        kb.add(
            Passage(f"{tenant}-{name}", text, {"title": name, "owner": tenant, "secret": f"secret-of-{tenant}"} | more)
            for tenant in TENANTS
            for name, text in TEXTS.items()
            for more in ([everywhere] if name == "skua" else [{}])
        )
    return str(path)


def inputs(component, tenant):
    """All that a component needs, with seeds that are the tenant's own."""
    known = {
        "query": QUERY,
        "query_embedding": StaticTextEmbedder().run(text=QUERY)["embedding"],
        "intent": {"name": "debugging", "edge_types": ["requires"]},
    }
    sockets = component.__haystack_input__._sockets_dict
    seeds = [Document(id=f"{tenant}-skua", score=1.0)]
    given = {name: known[name] for name in sockets if name in known}
    return given | dict.fromkeys(getattr(getattr(component, "source", None), "needs", ()), seeds)


def in_pipeline(component, given):
    pipeline = Pipeline()
    pipeline.add_component("part", component)
    return Pipeline.loads(pipeline.dumps()).run({"part": given})["part"]


def owners(result):
    return {document.meta["owner"] for document in result["documents"]}


def test_every_source_of_the_catalogue_and_every_retriever_takes_a_tenant():
    taking = {one.__name__ for one in WITH_TENANT}
    assert {component_class(part).__name__ for part in registered(Source).values()} <= taking
    assert set(retrievers.__all__) <= taking


@each
@pytest.mark.parametrize("tenant", TENANTS)
def test_the_tenant_of_the_construction_holds_in_a_pipeline(component, tenant, kb):
    part = component(knowledge_base=kb, tenant={"owner": tenant})
    result = in_pipeline(part, inputs(part, tenant))
    assert owners(result) == {tenant}
    other = next(one for one in TENANTS if one != tenant)
    assert f"secret-of-{other}" not in repr(result)
    found = [{**document.to_dict(), "requires": None} for document in result["documents"]]  # its own metadata
    assert f"{other}-" not in repr(found)


@each
def test_a_tenant_given_to_a_run_narrows(component, kb):
    part = component(knowledge_base=kb, tenant={"owner": list(TENANTS)})
    given = inputs(part, "blue")
    assert "secret-of-red" not in repr(in_pipeline(part, {**given, "tenant": {"owner": "blue"}}))
    nobody = component(knowledge_base=kb, tenant={"owner": "red"})
    with pytest.raises(Exception, match="tenant: the value of 'owner' is outside what was set before"):
        nobody.run(**inputs(nobody, "red"), tenant={"owner": "blue"})
    with pytest.raises(Exception, match="tenant: must be a mapping"):
        nobody.run(**inputs(nobody, "red"), tenant="blue")


@each
def test_another_field_does_not_replace_the_tenant(component, kb):
    part = component(knowledge_base=kb, tenant={"owner": "red"})
    result = part.run(**inputs(part, "red"), tenant={"secret": ["secret-of-red", "secret-of-blue"]})
    assert "secret-of-blue" not in repr(result)


@each
def test_a_component_that_requires_a_tenant_refuses_a_run_without_one(component, kb):
    part = component(knowledge_base=kb, tenant_required=["owner"])
    given = inputs(part, "red")

    def asked(**more):
        return in_pipeline(component(knowledge_base=kb, tenant_required=["owner"]), {**given, **more})

    for run in (asked, lambda: part.run(**given, tenant={"secret": "secret-of-red"})):
        with pytest.raises(Exception, match=r"say whose are meant by tenant=\{'owner': \.\.\.\}"):
            run()
    assert owners(asked(tenant={"owner": "red"})) == {"red"}
    with tenant(owner="red"):
        assert owners(asked()) == {"red"}
    with every_tenant():
        assert "red" in owners(asked())
    assert component_to_dict(part, "part")["init_parameters"]["tenant_required"] == ["owner"]
    with pytest.raises(ValueError, match=r"tenant_required: must be a list of metadata fields, as \['customer'\]"):
        component(knowledge_base=kb, tenant_required="owner")


@pytest.mark.parametrize("make", [to_pipeline, lambda *given, **more: Pipeline.loads(to_yaml(*given, **more))])
def test_the_pipeline_of_a_recipe_can_require_a_tenant(make, kb):
    pipeline = make("multihop", kb, tenant_required=["owner"])
    with pytest.raises(Exception, match="say whose are meant"):
        pipeline.run({"query": QUERY})
    with tenant(owner="red"):
        result = repr(pipeline.run({"query": QUERY}))
    assert "red-falk" in result
    assert "blue-falk" not in result


@each
def test_a_tool_never_shows_the_tenant(component, kb):
    tool = ComponentTool(component=component(knowledge_base=kb, tenant={"owner": "red"}), name="search")
    assert "tenant" not in tool.parameters["properties"]
    assert "owner" not in repr(tool.tool_spec)


@each
def test_the_tenant_is_serialised(component, kb):
    part = component(knowledge_base=kb, tenant={"owner": "red"})
    assert component_to_dict(part, "part")["init_parameters"]["tenant"] == {"owner": "red"}


def test_a_tenant_may_be_a_function(kb):
    part = retrievers.BM25Retriever(knowledge_base=kb)
    assert owners(part.run(query=QUERY, tenant=lambda: {"owner": "blue"})) == {"blue"}
    assert owners(part.run(query=QUERY)) == {"red", "blue"}


@pytest.mark.parametrize("recipe", recipe_names())
@pytest.mark.parametrize("tenant", TENANTS)
def test_the_pipeline_of_a_recipe_keeps_to_its_tenant(recipe, tenant, kb):
    other = next(one for one in TENANTS if one != tenant)
    for pipeline in (
        to_pipeline(recipe, kb, tenant={"owner": tenant}),
        Pipeline.loads(to_yaml(recipe, kb, tenant={"owner": tenant})),
    ):
        every = set(pipeline.graph.nodes)
        result = repr(pipeline.run({"query": QUERY}, include_outputs_from=every))
        assert f"secret-of-{tenant}" in result
        assert f"secret-of-{other}" not in result
    shared = to_pipeline(recipe, kb)
    every = set(shared.graph.nodes)
    result = shared.run({"query": QUERY, "tenant": {"owner": tenant}}, include_outputs_from=every)
    assert f"secret-of-{other}" not in repr(result)


def made(component, kb, **parameters):
    """A builder or router, with the names of sources if it wants them."""
    sources = {"sources": ["text"]} if "sources" in inspect.signature(component.__init__).parameters else {}
    return component(knowledge_base=kb, **sources, **parameters)


def test_all_that_tells_of_the_graph_takes_a_tenant():
    named = {
        "PlanRouter",
        "FlowPruningBuilder",
        "NeighbourhoodBuilder",
        "ServiceNeighbourhoodBuilder",
        "UpstreamRouter",
    }
    assert {one.__name__ for one in WITH_TENANT} - {one.__name__ for one in FINDING} == named


@not_finding
def test_what_tells_of_the_graph_keeps_to_its_tenant(component, kb):
    documents = [Document(id=f"{tenant}-{name}", score=1.0) for tenant in TENANTS for name in TEXTS]
    part = made(component, kb, tenant={"owner": "red"})
    sockets = part.__haystack_input__._sockets_dict
    given = {name: value for name, value in {"query": QUERY, "documents": documents}.items() if name in sockets}
    assert "blue" not in repr(in_pipeline(part, given))
    assert "blue" not in repr(made(component, kb).run(**given, tenant={"owner": "red"}))
    with tenant(owner="red"):
        assert "blue" not in repr(in_pipeline(made(component, kb), given))
    with pytest.raises(ValueError, match="tenant: the value of 'owner' is outside what was set before"):
        part.run(**given, tenant={"owner": "blue"})
    assert component_to_dict(part, "part")["init_parameters"]["tenant"] == {"owner": "red"}
    tool = ComponentTool(component=made(component, kb, tenant={"owner": "red"}), name="search")
    assert "tenant" not in tool.parameters["properties"]


@pytest.mark.parametrize("tenant", [{}, {"customer": None}, {"customer": {"ne": "acme"}}], ids=repr)
def test_what_can_be_no_tenant_is_refused_when_it_is_given(tenant):
    for make in (
        lambda: retrievers.BM25Retriever(knowledge_base="kb.db", tenant=tenant),
        lambda: retrievers.RecipeRetriever(knowledge_base="kb.db", tenant=tenant),
        lambda: UpstreamRouter(tenant=tenant),
        lambda: FlowPruningBuilder(knowledge_base="kb.db", tenant=tenant),
        lambda: PlanRouter(knowledge_base="kb.db", sources=["graph"], tenant=tenant),
    ):
        with pytest.raises(ValueError, match=r"tenant: must name at least one|tenant field 'customer' must be"):
            make()


def test_the_writer_replaces_documents_of_its_tenant_only(tmp_path):
    def handbook(customer, *numbers):
        meta = {"customer": customer, "file_path": "docs/handbook.md"}
        return [Document(id=f"{customer}-{n}", content=f"Page {n}.", meta=meta) for n in numbers]

    path = tmp_path / "shared.db"
    acme, zeta = (
        KnowledgeBaseWriter(knowledge_base=path, source_field="file_path", tenant={"customer": customer})
        for customer in ("acme", "zeta")
    )
    zeta.run(documents=handbook("zeta", 1, 2))
    acme.run(documents=handbook("acme", 1, 2))
    assert acme.run(documents=handbook("acme", 1))["deleted"] == 1
    loose = Document(id="acme-loose", content="A page.", meta={"customer": "acme"})
    assert acme.run(documents=[loose], complete=True, max_deleted_share=1.0)["deleted"] == 1
    for foreign in ([*handbook("zeta", 3)], [Document(id="zeta-1", content="x", meta={"customer": "acme"})]):
        with pytest.raises(OtherTenant, match="cannot be written for this tenant"):
            acme.run(documents=foreign)
    with KnowledgeBase.open(path, read_only=True) as kb:
        assert sorted(kb.ids()) == ["acme-loose", "zeta-1", "zeta-2"]
    data = component_to_dict(acme, "writer")
    assert data["init_parameters"]["tenant"] == {"customer": "acme"}


@pytest.mark.parametrize(
    "tenant", [{"meta.customer": "acme"}, {"field": "meta.customer", "operator": "==", "value": "acme"}]
)
@pytest.mark.parametrize("component", [retrievers.BM25Retriever, retrievers.RecipeRetriever])
def test_a_tenant_that_looks_like_a_filter_is_refused(component, tenant, kb):
    with pytest.raises(ValueError, match=r"tenant: .* as in {'customer': 'acme'}"):
        component(knowledge_base=kb, tenant=tenant).run(query="ferry")
    with pytest.raises(ValueError, match=r"tenant: .* as in {'customer': 'acme'}"):
        component(knowledge_base=kb).run(query="ferry", tenant=tenant)
