"""Two tenants in one file, a marker in everything of one: the other never meets it, whatever component answers.

The cases come from the catalogue, so a new source, stage, builder or recipe is among them by itself.
"""

import asyncio
import inspect
import logging
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

import hopweave.catalogue  # noqa: F401 - registers them
from hopweave import Document, KnowledgeBase
from hopweave.component import Source, Stage, registered
from hopweave.graph import documents as graph_documents
from hopweave.graph.build.builders.builder import GraphBuilder
from hopweave.graph.documents import graph_of
from hopweave.graph.external_documents import ExternalDocuments
from hopweave.graph.flow_pruning import FlowPruning
from hopweave.graph.link.linker import Linker
from hopweave.graph.model import IMPORTED, Contribution, Edge, Node
from hopweave.graph.service_neighbourhood import ServiceNeighbourhood
from hopweave.hit import Hit
from hopweave.pipeline import Pipeline
from hopweave.query import Query
from hopweave.recipe import Recipe, load_recipe, recipe_names
from hopweave.routing.intent import IntentClassifier
from hopweave.sources.bm25 import BM25

MARKER, OWN = "Zyxquorl", "Plainwick"
NOWHERE = "Wvkplomr"  # as long as the marker, and in no document
OURS = {"owner": "ours"}
QUESTIONS = {
    "marker": f"How do I fix {MARKER} Island and the {MARKER} Yard of MV Skua after the outage?",
    "misspelt": "Where are Zyxqourl Island, Zyxquorll and the zyxquor-gateway of MV Skua, and how do I fix them?",
    "shared": "How do I fix MV Skua, Ingrid Falk, Harris, North Quay and shared-gateway with ferries after the outage?",
}
BUILDERS = {kind: (component,) for kind, component in registered(GraphBuilder).items()}
GRAPHS = {**BUILDERS, "all": tuple(registered(GraphBuilder).values())}
STAGES = {
    "confidence_threshold": {"min_confidence": 0.0},
    "cross_encoder": {"model": "cross_encoder"},
    "remote_rerank": {"api_key_env": "HOPWEAVE_LAWS_HAVE_NO_KEY"},
}

every_graph = pytest.mark.parametrize("graph", sorted(GRAPHS))


def answering(name):
    """A shipped recipe that answers questions of any confidence: no answer reveals nothing."""
    recipe = load_recipe(name)
    stages = tuple(stage for stage in recipe.stages if stage.kind != "confidence_threshold")
    return recipe.model_copy(update={"stages": stages})


every_recipe = pytest.mark.parametrize("recipe", [pytest.param(answering(name), id=name) for name in recipe_names()])
every_source = pytest.mark.parametrize("kind", sorted(registered(Source)))
every_question = pytest.mark.parametrize("asked", sorted(QUESTIONS))


def documents(owner, word, others):
    """Six documents with one word in all that is said: ids, titles, texts, metadata, relations, links, services."""
    for number in range(6):
        yield Document(
            f"{word.lower()}-{number}",
            f"MV Skua was designed by Ingrid Falk at {word} Yard near Harris. {word} Island {number} has an outage: "
            f"fix the shared-gateway with {word} Pump. See [[{word} {number + 1}]] and https://shared.example/page "
            f"and https://{word.lower()}.example/page and North Quay.",
            {
                "owner": owner,
                "title": f"{word} {number}" if number else "North Quay",
                "path": f"docs/{word.lower()}/{number}.md",
                "type": f"{word} type",
                "tags": ["ferries", f"{word} tag"],
                "author": f"{word} Author",
                "service": "shared-gateway",
                "calls_out": ["shared-till", f"{word.lower()}-stock"],
                "requires": [f"{word.lower()}-{(number + 1) % 6}", *others],
                "links": [f"https://{word.lower()}.example/other"],
                "triples": [
                    ["MV Skua", f"{word} sails to", f"{word} Island"],
                    ["MV Skua", f"{word} hides", "Ingrid Falk"],
                    ["Ingrid Falk", f"{word} lives at", "Harris"],
                ],
                "entities": [f"{word} Person"],
                "timestamp": "2026-04-30",
                "importance": 0.5,
            },
        )


def imported():
    """What another tool made of one of the marked documents: edges between things that both tenants know."""
    ours, skua = f"passage:{OWN.lower()}-1", Node.entity("MV Skua")
    edges = [Edge(ours, skua.id, f"{MARKER.lower()}_claims"), Edge(skua.id, ours, f"{MARKER.lower()}_says")]
    edges.append(Edge(ours, Node.entity(f"{MARKER} Import").id, "mentions"))
    nodes = (skua, Node.entity(f"{MARKER} Import"), Node("shared-id", "entity", f"{MARKER} Alias"))
    return Contribution(f"{IMPORTED}{MARKER.lower()}-1", nodes, tuple(edges))


def filled(path, builders):
    kb = KnowledgeBase.open(path, builders=[component() for component in builders], analyzers=("nlp", "code"))
    ours = list(documents("ours", OWN, ()))
    kb.add([*ours, *documents("theirs", MARKER, [document.id for document in ours])])
    kb.contribute([imported()])
    return kb


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tenants")
    opened = {name: filled(folder / f"{name}.db", builders) for name, builders in GRAPHS.items()}
    yield opened
    for kb in opened.values():
        kb.close()


def revealed(value, question):
    """Everything in a value as text, without the question itself, which may hold the marker."""
    seen, parts = set(), []

    def read(one):
        if isinstance(one, str | int | float | bool | np.ndarray | None) or id(one) in seen:
            parts.append(str(one))
            return
        seen.add(id(one))
        if isinstance(one, dict):
            read(list(one.items()))
        elif isinstance(one, list | tuple | set | frozenset):
            for part in one:
                read(part)
        elif isinstance(one, BaseException):
            parts.append(repr(one))
        else:
            slots = [name for cls in type(one).__mro__ for name in getattr(cls, "__slots__", ())]
            read({name: getattr(one, name) for name in slots if hasattr(one, name)} | getattr(one, "__dict__", {}))

    read(value)
    return " ".join(parts).replace(question, "").lower()


def check(value, question):
    assert MARKER.lower() not in revealed(value, question)
    return value


def answer(recipe, kb, question, tenant):
    """What a recipe answers, apart from the question."""
    result = Pipeline(recipe, kb).run(Query(question, tenant=tenant))
    gate = result.gate and result.gate.reason
    return replace(result, query=None, gate=gate)


# The core


@every_recipe
@every_graph
def test_recipes(recipe, graph, files, caplog):
    caplog.set_level(logging.DEBUG)
    for question in QUESTIONS.values():
        assert check(answer(recipe, files[graph], question, OURS), question).hits
    check(files[graph].search(QUESTIONS["shared"], recipe=recipe, tenant=OURS), QUESTIONS["shared"])
    assert MARKER.lower() not in caplog.text.replace(QUESTIONS["marker"], "").lower()


def whole():
    """A recipe that reveals as much as possible: paths, services and a context."""
    given = load_recipe("skills").model_dump(exclude={"plan"})
    given["sources"]["graph"] = {"kind": "pagerank", "seeds_from": ["text"], "explain_top_k": 50, "tolerance": 1e-6}
    given["paths"] = {"kind": "flow_pruning", "min_hits": 2, "max_endpoints": 3, "threshold": 0.0, "top_k": 500}
    given["neighbourhood"] = {"kind": "service_neighbourhood", "edge_types": None}
    return Recipe.model_validate(given)


@every_graph
@every_question
def test_paths_neighbourhoods_and_context(graph, asked, files):
    question = QUESTIONS[asked]
    result = check(answer(whole(), files[graph], question, OURS), question)
    assert result.paths is not None
    assert result.neighbourhood is not None


@every_source
@every_graph
def test_sources(kind, graph, files):
    kb, source = files[graph], registered(Source)[kind]()
    for question in QUESTIONS.values():
        query = Query(question, tenant=OURS, intent=IntentClassifier().classify(question))
        foreign = [Hit(f"{MARKER.lower()}-{number}", 9.0 - number, "…") for number in range(3)]
        own = BM25().search(query, kb)
        found = source.search(query, kb, {name: [*foreign, *own] for name in source.needs})
        check(found, question)
        assert {hit.metadata["owner"] for hit in found} <= {"ours"}
        check(asyncio.run(source.search_async(query, kb, dict.fromkeys(source.needs, own))), question)


@pytest.mark.parametrize("kind", sorted(registered(Stage)))
def test_stages(kind, files, request):
    parameters = {
        name: request.getfixturevalue(value) if value == "cross_encoder" else value
        for name, value in STAGES.get(kind, {}).items()
    }
    stage = registered(Stage)[kind](**parameters)
    for question in QUESTIONS.values():
        query = Query(question, tenant=OURS)
        hits = BM25().search(query, files["all"])
        assert check(stage.apply(hits, query, files["all"]), question)


def test_reading(files):
    kb = files["all"]
    marked = [f"{MARKER.lower()}-{number}" for number in range(6)]
    assert kb.count(tenant=OURS) == len(kb.ids(tenant=OURS)) == len(kb.visible(OURS)) == 6
    check([kb.ids(tenant=OURS), kb.visible(OURS), kb.visible(OURS, marked), kb.get(marked, tenant=OURS)], "")
    assert kb.communities(marked, tenant=OURS) == {}
    assert set(kb.communities(marked)) == set(marked)
    assert set(kb.communities(kb.ids(), tenant=OURS)) == set(kb.ids(tenant=OURS))


def test_errors_and_failures(files):
    kb, wrong = files["all"], np.ones(3, np.float32)
    result = Pipeline("hybrid", kb).run(Query(QUESTIONS["shared"], vector=wrong, tenant=OURS))
    assert "vector" in check(result.failures, "")
    with pytest.raises(Exception) as raised:
        registered(Source)["vector"]().search(Query("x", vector=wrong, tenant=OURS), kb)
    check(raised.value, "")


@every_graph
def test_the_graph_itself(graph, files):
    """Every node and edge that can be reached through the port, whoever asks."""
    kb = files[graph]
    view = graph_of(kb, "test", OURS)
    every = np.arange(view.size)
    check([view.nodes(every), view.nodes(np.flatnonzero(view.shown(every)))], "")
    ids = [node.id for node in kb.graph.nodes(every)]
    check(list(view.find(ids)), "")
    for direction in ("out", "in", "both"):
        found = view.neighbours(every, direction)
        check([view.edge_types[code] for code in np.unique(found.types)], "")
        assert view.shown(found.targets).all()
    for words in (["zyxquorl"], ["zyxqourl", "island"], ["zyxquorl", "yard"]):
        nearest = view.nearest_names([words], 0.3)[0]
        assert nearest is None or check(view.nodes(np.array(nearest[0])), "")


# Whether something exists must not be revealed by differences


@every_graph
def test_a_name_of_the_other_tenant_is_a_name_that_does_not_exist(graph, files):
    kb, question = files[graph], QUESTIONS["marker"]
    linking = [
        Linker().link(text, graph_of(kb, "test", OURS)) for text in (question, question.replace(MARKER, NOWHERE))
    ]
    assert linking[0] == linking[1]
    source = registered(Source)["pagerank"](seeds_from=(), word_source=None)
    recipe = Recipe.of_source(source).model_copy(update={"plan": load_recipe("skills").plan})
    there, nowhere = (answer(recipe, kb, text, OURS) for text in (question, question.replace(MARKER, NOWHERE)))
    assert there.hits == nowhere.hits
    assert there.plan == nowhere.plan


def test_a_misspelling_is_corrected_to_a_name_of_ones_own(files):
    view = graph_of(files["all"], "test", OURS)
    (link,) = [link for link in Linker().link(f"Where is {OWN}e Island?", view).links if "Island" in link.name]
    assert link.name.startswith(OWN)
    assert Linker().link(f"Where is {MARKER}e Person?", view).links == ()


def test_what_ones_own_documents_say_is_shown(files):
    paths = answer(whole(), files["triples"], QUESTIONS["shared"], OURS).paths.paths
    assert f"{OWN.lower()}_hides" in " ".join(path.words for path in paths)
    lines = " ".join(answer(whole(), files["services"], QUESTIONS["shared"], OURS).neighbourhood.lines)
    assert f"{OWN.lower()}-stock" in lines
    assert "shared-till" in lines


# Documents that live elsewhere


def test_documents_elsewhere_are_asked_for_as_far_as_they_are_reached(files):
    kb, asked = files["all"], []

    def fetch(ids):
        asked.extend(ids)
        return kb.get(ids).values()

    elsewhere = ExternalDocuments(kb.graph, fetch)
    for question in QUESTIONS.values():
        source = registered(Source)["pagerank"](seeds_from=())
        assert check(source.search(Query(question, tenant=OURS), elsewhere), question)
        hits = BM25().search(Query(question, tenant=OURS), kb)
        check(FlowPruning(min_hits=2).paths(hits, elsewhere, tenant=OURS), question)
        check(ServiceNeighbourhood(edge_types=None).around(hits, elsewhere, tenant=OURS), question)
    asked.clear()
    view = graph_of(elsewhere, "test", OURS)
    view.find([f"passage:{OWN.lower()}-3"])
    assert asked == [f"{OWN.lower()}-3"]


# Haystack


HAYSTACK = "haystack_integrations.components"


@every_recipe
def test_haystack_recipes(recipe, files, caplog):
    from haystack import Pipeline as HaystackPipeline

    from haystack_integrations.common.hopweave.recipe_pipeline import to_pipeline, to_yaml
    from haystack_integrations.components.retrievers.hopweave import RecipeRetriever

    path = str(files["all"].path)
    pipelines = (to_pipeline(recipe, path, tenant=OURS), HaystackPipeline.loads(to_yaml(recipe, path, tenant=OURS)))
    retriever = RecipeRetriever(knowledge_base=path, recipe=recipe, tenant=OURS)
    for question in QUESTIONS.values():
        for pipeline in pipelines:
            check(pipeline.run({"query": question}, include_outputs_from=set(pipeline.graph.nodes)), question)
        assert check(retriever.run(query=question), question)["documents"]
    caplog.set_level(logging.DEBUG)
    check(pipelines[0].run({"query": QUESTIONS["shared"]}), QUESTIONS["shared"])
    check(caplog.text, QUESTIONS["shared"])


def haystack_components():
    """Components that read the graph and describe it, apart from the retrievers."""
    for folder in ("builders", "routers"):
        package = import_module(f"{HAYSTACK}.{folder}.hopweave")
        for name in package.__all__:
            if "knowledge_base" in inspect.signature(getattr(package, name).__init__).parameters:
                yield getattr(package, name)


@pytest.mark.parametrize("component", list(haystack_components()), ids=lambda one: one.__name__)
def test_haystack_builders_and_routers(component, files):
    from haystack import Document as HaystackDocument
    from haystack import Pipeline as HaystackPipeline

    taken = inspect.signature(component.__init__).parameters
    special = {"sources": ["text", "graph"], "min_hits": 2, "threshold": 0.001, "top_k": 100}
    known = {name: value for name, value in special.items() if name in taken}
    mixed = [HaystackDocument(id=key, score=1.0) for key in files["all"].ids()]
    for question in QUESTIONS.values():
        given = {"query": question, "documents": mixed}
        part = component(knowledge_base=str(files["all"].path), tenant=OURS, **known)
        sockets = part.__haystack_input__._sockets_dict
        pipeline = HaystackPipeline()
        pipeline.add_component("part", part)
        run = {"part": {name: value for name, value in given.items() if name in sockets}}
        check(HaystackPipeline.loads(pipeline.dumps()).run(run), question)
        free = component(knowledge_base=str(files["all"].path), **known)
        check(free.run(**run["part"], tenant=OURS), question)


# LlamaIndex


@every_recipe
def test_llama_index_recipes(recipe, files, caplog):
    from llama_index.hopweave import TenantBundle
    from llama_index.query_engine.hopweave import load_query_engine
    from llama_index.retrievers.hopweave import RecipeRetriever

    caplog.set_level(logging.DEBUG)
    retriever = RecipeRetriever(files["all"], recipe=recipe, tenant=OURS)
    engine = load_query_engine(recipe, files["all"], tenant=OURS)
    free = RecipeRetriever(files["all"], recipe=recipe)
    for question in QUESTIONS.values():
        found = retriever.retrieve(question)
        assert check([one.to_dict() for one in found], question)
        check([one.to_dict() for one in free.retrieve(TenantBundle(question, tenant=OURS))], question)
        response = engine.query(question)
        check([str(response), response.metadata, [one.to_dict() for one in response.source_nodes]], question)
        engine.query(QUESTIONS["shared"])
    check(caplog.text.replace(QUESTIONS["marker"], ""), "")


# That it can fail


@every_recipe
def test_without_a_tenant_the_marker_is_there(recipe, files):
    assert MARKER.lower() in revealed(answer(recipe, files["all"], QUESTIONS["shared"], None), QUESTIONS["shared"])


def test_a_broken_rule_is_noticed(files, monkeypatch):
    """As if the graph were shown to everybody: paths, services, receipts, plan and names would reveal it."""
    kb, question = files["all"], QUESTIONS["marker"]
    monkeypatch.setattr(graph_documents, "TenantView", lambda graph, visible, known: graph)
    found = answer(whole(), kb, question, OURS)
    assert MARKER.lower() in revealed(found.paths, question)
    assert MARKER.lower() in revealed(found.neighbourhood.lines, question)
    with pytest.raises(AssertionError):
        test_sources("pagerank", "all", files)
    with pytest.raises(AssertionError):
        test_a_name_of_the_other_tenant_is_a_name_that_does_not_exist("all", files)
