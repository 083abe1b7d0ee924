"""Every component, through the same questions. Sources, fusers and stages are enrolled by the catalogue."""

import asyncio
import inspect
import re
from copy import deepcopy
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
from annotated_types import Ge
from haystack import Document, Pipeline
from haystack.core.serialization import component_from_dict, component_to_dict

import hopweave.catalogue  # noqa: F401 - so that every kind is registered
from haystack_integrations.common.hopweave.native import component_class
from hopweave.component import Component, Fuser, Source, Stage, registered

FOLDERS = ("builders", "embedders", "joiners", "rankers", "retrievers", "routers", "writers")
QUERY = "Who fixed the ferry when it was down?"
NOW = "2026-05-01T00:00:00+00:00"

DOCUMENTS = [
    Document(
        id="a",
        content="MV Skua is a ferry. " * 40,
        score=0.9,
        embedding=[1.0, 0.0],
        meta={"title": "MV Skua", "corpus_type": "CONVO_SLACK", "timestamp": "2026-04-01", "type": "vessel"},
    ),
    Document(id="b", content="The tide gate opens at six.", score=0.8, embedding=[0.9, 0.1], meta={"importance": 0.1}),
    Document(id="c", content="Sørvåg yard built it.", score=0.4, embedding=[0.0, 1.0], meta={"community": "yard"}),
    Document(id="d", content="Hi", score=0.1, meta={"community": "talk", "timestamp": 0}),
]
BARE = [Document(id="none"), Document(id="text", content="The Skua sails hourly."), Document(id="score", score=0.5)]


@dataclass(frozen=True)
class Case:
    """How to make a component, what to run it with, and the attribute that holds the core's object."""

    inputs: dict[str, Any]
    core: str | None = None
    make: dict[str, Any] = field(default_factory=dict)
    documents: tuple[str, ...] = ("documents",)  # the inputs that take documents
    not_the_cores: tuple[str, ...] = ()  # parameters whose default is the adapter's own


RANKED = {"documents": DOCUMENTS, "query": QUERY}
JOINED = {"text": DOCUMENTS[:3], "vector": DOCUMENTS[1:], "query": QUERY}
RANKER = Case(RANKED, "stage")
AGED = Case({**RANKED, "now": NOW}, "stage")
ASKED = {"knowledge_base": "{file}"}
ONNX = {"model": "{onnx_minilm}"}
REMOTE = {"url": "{embedding_url}"}
RETRIEVER = Case({"query": QUERY}, "source", ASKED, ())

GRAPHED = {"documents": [Document(id="skua", score=0.9), Document(id="falk", score=0.5)]}
SEEDED = {"query": "How do I fix the ferry?", "text": GRAPHED["documents"]}

ROLES = {
    Source: RETRIEVER,
    Fuser: Case(JOINED, "fuser", {"sources": ["text", "vector"]}, ("text", "vector")),
    Stage: RANKER,
}
OTHERS = {  # what takes other inputs than the rest of its role, and what has no role
    "ContextBuilder": Case(RANKED, "builder"),
    "ExtractiveAnswerBuilder": Case(RANKED, "extractor"),
    "FlowPruningBuilder": Case(GRAPHED, "builder", {**ASKED, "min_hits": 2}),
    "NeighbourhoodBuilder": Case(GRAPHED, None, ASKED),
    "ServiceNeighbourhoodBuilder": Case(GRAPHED, "builder", ASKED),
    "GraphTextEmbedder": Case({"text": QUERY}, None, {"knowledge_base": "{trained_file}"}, ()),
    "GraphDocumentEmbedder": Case({"documents": DOCUMENTS}, None, {"knowledge_base": "{trained_file}"}),
    "OnnxTextEmbedder": Case({"text": QUERY}, "embedder", ONNX, documents=(), not_the_cores=("model",)),
    "OnnxDocumentEmbedder": Case({"documents": DOCUMENTS}, "embedder", ONNX, not_the_cores=("model",)),
    "RemoteTextEmbedder": Case({"text": QUERY}, "embedder", REMOTE, (), ("api_key", "url")),
    "RemoteDocumentEmbedder": Case({"documents": DOCUMENTS}, "embedder", REMOTE, not_the_cores=("api_key", "url")),
    "StaticTextEmbedder": Case({"text": QUERY}, "embedder", documents=()),
    "StaticDocumentEmbedder": Case({"documents": DOCUMENTS}, "embedder"),
    "CrossEncoderRanker": Case(RANKED, "stage", {"model": "{cross_encoder}"}),
    "FreshnessRanker": AGED,
    "RecencyBoostRanker": AGED,
    "RemoteRerankRanker": Case({**RANKED, "query_embedding": [1.0, 0.0]}, "stage", not_the_cores=("api_key",)),
    "TimeDecayRanker": AGED,
    "EmbeddingRetriever": Case({"query_embedding": [0.1] * 256}, "source", ASKED, ()),
    "GraphBoostRetriever": Case(SEEDED, "source", ASKED, ("text",)),
    "EvidenceSumRetriever": Case(SEEDED, "source", ASKED, ("text",)),
    "IntentEdgesRetriever": Case(SEEDED, "source", ASKED, ("text",)),
    "HybridGraphRetriever": Case({"query": QUERY}, None, ASKED, ()),
    "PageRankRetriever": Case(
        {"query": "Who founded the yard that built MV Skua?", "text": DOCUMENTS},
        "source",
        ASKED,
        ("text",),
        ("linker",),
    ),
    "RecipeRetriever": Case({"query": QUERY, "now": NOW}, None, ASKED, ()),
    "UpstreamRouter": Case({"query": QUERY, "documents": DOCUMENTS}),
    "IntentRouter": Case({"query": QUERY}, "classifier", documents=()),
    "GateRouter": Case({"query": QUERY}, "gate", documents=()),
    "PlanRouter": Case({"query": QUERY}, "planner", {"sources": ["text", "graph"]}, ()),
    "LimitsRouter": Case({"top_k": 40}, None, {"depths": {"text": 30, "graph": 50}}, ()),
    "KnowledgeBaseWriter": Case({"documents": DOCUMENTS[1:]}, None, {"knowledge_base": "{new_file}", "embedder": None}),
    "GraphWriter": Case({"documents": DOCUMENTS[1:]}, None, {"graph": "{new_file}"}),
}
FILE_OF = {"KnowledgeBaseWriter": "knowledge_base", "GraphWriter": "graph"}  # the parameter with the file to write
IN_CATALOGUE = [(role, part) for role in ROLES for part in registered(role).values()]
CASES = {component_class(part).__name__: ROLES[role] for role, part in IN_CATALOGUE} | OTHERS


def exported():
    for folder in FOLDERS:
        package = import_module(f"haystack_integrations.components.{folder}.hopweave")
        for name in package.__all__:
            yield name, getattr(package, name)


COMPONENTS = dict(exported())
each = pytest.mark.parametrize("name", sorted(COMPONENTS))
each_with_documents = pytest.mark.parametrize("name", sorted(name for name in CASES if CASES[name].documents))


@pytest.fixture
def make(request, tmp_path):
    """A function that makes a component by name, with the parameters of its case and any others."""

    def value(given):
        if given == "{new_file}":
            return str(tmp_path / "new.db")
        fixtures = ("{file}", "{cross_encoder}", "{onnx_minilm}", "{trained_file}", "{embedding_url}")
        return request.getfixturevalue(given[1:-1]) if given in fixtures else given

    def make(name, **parameters):
        given = {**CASES[name].make, **parameters}
        return COMPONENTS[name](**{key: value(one) if isinstance(one, str) else one for key, one in given.items()})

    return make


def run(component, inputs):
    return component.run(**deepcopy(inputs))


def core_class(name):
    return type(getattr(_blank(name), CASES[name].core))


def _blank(name):
    nowhere = {"url": "http://nowhere"}
    given = {key: nowhere.get(key, "nowhere") if isinstance(one, str) else one for key, one in CASES[name].make.items()}
    return COMPONENTS[name](**given)


def with_core():
    return sorted(name for name, case in CASES.items() if case.core)


def handed_on(name):
    """The parameters of a component that are the core's."""
    taken = inspect.signature(COMPONENTS[name].__init__).parameters
    return {key: one for key, one in core_class(name).model_fields.items() if key in taken and key != "kind"}


def test_every_component_is_exported_and_has_a_case():
    assert CASES.keys() == COMPONENTS.keys()
    for folder in FOLDERS:
        package = import_module(f"haystack_integrations.components.{folder}.hopweave")
        defined = {name for path in Path(package.__path__[0]).glob("*.py") for name in components_in(path)}
        assert defined == set(package.__all__), "run integrations/haystack/generate.py"


def components_in(path):
    return re.findall(r"^@derived.*\nclass (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)


@each
def test_a_yaml_names_the_module_that_defines_the_component(name):
    component = COMPONENTS[name]
    assert component.__module__.startswith("haystack_integrations.components.")
    assert getattr(import_module(component.__module__), name) is component
    assert "```python" in (inspect.getdoc(component) or "")


@pytest.mark.parametrize("name", with_core())
def test_every_parameter_of_the_core_is_one_of_the_component_with_its_default_and_description(name):
    taken = inspect.signature(COMPONENTS[name]).parameters
    described = inspect.getdoc(COMPONENTS[name].__init__)
    for key, one in handed_on(name).items():
        assert re.search(rf"^:param {key}: .*\w", described, re.MULTILINE), key
        if key not in CASES[name].not_the_cores:
            assert taken[key].default == one.get_default(call_default_factory=True), key
    left_out = core_class(name).model_fields.keys() - handed_on(name).keys() - {"kind"}
    assert left_out <= {"api_key_env", "vector_share"}  # Haystack's Secret; the answer builder has no embedder


@pytest.mark.parametrize("name", with_core())
def test_a_bad_value_fails_at_construction_and_when_given_to_run(name, make):
    """One value is enough: the core's own tests try the bounds."""
    key = next(key for key in handed_on(name) if key not in CASES[name].not_the_cores)
    with pytest.raises(ValueError, match=rf"^{key}: .* is not allowed: ") as fault:
        make(name, **{key: object()})
    assert "pydantic" not in str(fault.value)
    if "overrides" in COMPONENTS[name].run.__annotations__:
        with pytest.raises(ValueError, match=rf"^{key}: .* is not allowed: "):
            run(make(name), {**CASES[name].inputs, "overrides": {key: object()}})
        with pytest.raises(ValueError, match=r"^nonsense: unknown key; allowed are "):
            run(make(name), {**CASES[name].inputs, "overrides": {"nonsense": 1}})


@each
def test_unknown_names_are_refused_by_the_name_of_the_component(name, make):
    with pytest.raises(TypeError, match=rf"^{name}.* 'nonsense'"):
        make(name, nonsense=1)
    with pytest.raises((TypeError, ValueError), match="nonsense") as fault:
        make(name).run(**{**CASES[name].inputs, "nonsense": 1})
    assert not re.search(
        r"\b(Stage|Source|Fuser|Core|GraphRe|Knowledge)\w*(Ranker|Retriever|Joiner|Reader|Component)\b",
        str(fault.value),
    )


@pytest.mark.parametrize("name", [name for name in with_core() if name.endswith(("Ranker", "Joiner", "Retriever"))])
def test_no_documents_at_all_cannot_be_asked_for(name, make):
    with pytest.raises(ValueError, match=r"top_k: .*(at least|greater than or equal to) 1"):
        make(name, top_k=0)
    with pytest.raises(ValueError, match=r"top_k: .*(at least|greater than or equal to) 1"):
        run(make(name), {**CASES[name].inputs, "top_k": 0})


@each
def test_serialisation_there_and_back(name, make):
    component = make(name)
    data = component_to_dict(component, name)
    before = deepcopy(data)
    again = component_from_dict(type(component), data, name)
    assert data == before
    assert component_to_dict(again, name) == data
    assert data["init_parameters"].keys() <= inspect.signature(type(component).__init__).parameters.keys()


@each
def test_yaml_there_and_back_without_any_allowlist(name, make):
    pipeline = Pipeline()
    pipeline.add_component("part", make(name))
    text = pipeline.dumps()
    again = Pipeline.loads(text)
    assert again.dumps() == text
    if name not in FILE_OF:  # writing the same twice is not the same
        assert again.run({"part": CASES[name].inputs}) == pipeline.run({"part": CASES[name].inputs})


def other_values(annotation, metadata, default):
    """Falsy values that are allowed, and the opposite of a switch."""
    kinds = {annotation, *get_args(annotation)}
    if bool in kinds:
        return [False, True]
    if get_origin(annotation) in (dict, tuple) or not kinds & {int, float}:
        return [choice for choice in get_args(annotation) if get_origin(annotation) is Literal and choice != default]
    low = max([bound.ge for bound in metadata if isinstance(bound, Ge)], default=None)
    return [low] if low is not None else [1]


NEEDS_MORE = {  # allowed in company only
    ("ContextBuilder", "counter", "tiktoken"),
    ("CrossEncoderRanker", "output", "logit"),
    ("RemoteRerankRanker", "provider", "generic"),
    ("PlanRouter", "complex_characters", 0),
    ("PlanRouter", "complex_entities", 0),
}
OVERRIDES = {
    name: (key, value)
    for name in with_core()
    for key, one in handed_on(name).items()
    for value in other_values(one.annotation, one.metadata, one.default)
    if (name, key, value) not in NEEDS_MORE and "overrides" in COMPONENTS[name].run.__annotations__
}


@pytest.mark.parametrize("name", OVERRIDES)
def test_a_value_given_to_run_counts_as_if_given_at_construction(name, make):
    (key, value), inputs = OVERRIDES[name], CASES[name].inputs
    overridden = run(make(name), {**inputs, "overrides": {key: value}})
    assert overridden == run(make(name, **{key: value}), inputs)


def test_falsy_overrides_change_something(make):
    threshold = make("ScoreThresholdRanker")
    assert len(run(threshold, RANKED)["documents"]) < len(
        run(threshold, {**RANKED, "overrides": {"min_score": 0}})["documents"]
    )
    boost = make("RecencyBoostRanker", clamp=True, weight=5.0)
    assert run(boost, {**RANKED, "now": NOW, "overrides": {"clamp": False}})["documents"][0].score > 1
    gate = make("GateRouter")
    assert "retrieve" in gate.run(query="Hi", overrides={"enabled": False})
    assert "skip" in gate.run(query="Hi")


@each_with_documents
def test_nothing_in_nothing_out(name, make):
    case = CASES[name]
    result = run(make(name), {**case.inputs, **{key: [] for key in case.documents}})
    if name != "PageRankRetriever":  # which also starts from what the question names
        assert not result.get("documents")


@each
def test_what_is_handed_in_stays_as_it_was(name, make):
    inputs = deepcopy(CASES[name].inputs)
    before = deepcopy(inputs)
    make(name).run(**inputs)
    assert inputs == before


@each_with_documents
def test_documents_without_score_embedding_or_content(name, make):
    case = CASES[name]
    bare = dict.fromkeys(case.documents, BARE)
    result = run(make(name), {**case.inputs, **bare})
    dropping = ("NoiseRanker", "ConfidenceThresholdRanker")  # what has no text is noise, and answers nothing
    if name.endswith(("Ranker", "Joiner")) and name not in dropping:
        assert {one.id for one in result["documents"]} == {"none", "text", "score"}
        untouched = next(one for one in result["documents"] if one.id == "none")
        assert (untouched.content, untouched.embedding) == (None, None)


@each
def test_run_and_run_async_are_equal(name, make, tmp_path):
    case = CASES[name]
    inputs = {"part": case.inputs}
    other = {FILE_OF[name]: str(tmp_path / "other.db")} if name in FILE_OF else {}
    pipeline, beside = Pipeline(), Pipeline()
    pipeline.add_component("part", make(name))
    beside.add_component("part", make(name, **other))
    expected = pipeline.run(deepcopy(inputs))
    assert asyncio.run(beside.run_async(deepcopy(inputs))) == expected
    component = make(name, **other)
    if hasattr(component, "run_async") and name not in FILE_OF:
        assert asyncio.run(component.run_async(**deepcopy(case.inputs))) == expected["part"]


@each
def test_a_component_can_be_copied_after_it_ran(name, make):
    component = make(name)
    first = run(component, CASES[name].inputs)
    if name not in (*FILE_OF, "HybridGraphRetriever"):
        assert run(deepcopy(component), CASES[name].inputs) == first


@pytest.mark.parametrize("name", [name for name in COMPONENTS if name.endswith("Ranker")])
def test_a_ranker_ranks_as_its_stage_does(name, make):
    """Same order and scores as the core, for every stage."""
    from haystack_integrations.common.hopweave import to_hit
    from haystack_integrations.common.hopweave.questions import to_query

    component: Any = make(name)
    asked = {key: value for key, value in CASES[name].inputs.items() if key in ("now", "query_embedding")}
    hits = component.stage.apply([to_hit(one) for one in DOCUMENTS], to_query(QUERY, **asked))
    found = run(component, CASES[name].inputs)["documents"]
    assert [(one.id, one.score) for one in found] == [(hit.id, hit.score) for hit in hits]
    assert isinstance(component.stage, Component)
