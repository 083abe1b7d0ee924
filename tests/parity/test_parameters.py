"""Same parameters, same defaults, same bounds and same error sentences everywhere."""

from types import NoneType, UnionType
from typing import Literal, get_args, get_origin

import pytest
from pydantic import ValidationError

from hopweave.component import Fuser, Source, Stage, registered
from hopweave.errors import explain

ROLES = {"stage": Stage, "fuser": Fuser, "source": Source}
COMPONENTS = [(role, kind) for role, base in ROLES.items() for kind in sorted(registered(base))]
SECRETS = {"api_key", "api_key_env"}  # each framework has its own way with secrets
ELSEWHERE = {"optional", "deadline_seconds"}  # what a recipe says of a source; a retriever that stands alone need not
# where neither a number, a word nor a list will do
OTHERS = {
    ("stage", "metadata_filter", "where"): {"year": 1974},
    ("stage", "metadata_filter", "field_names"): {"services": ("team",)},
    ("stage", "noise", "rules"): (),
    ("stage", "noise", "extra_rules"): ({"name": "small talk", "phrases": ("lovely weather",)},),
    ("stage", "corpus_boost", "rules"): (),
    ("stage", "remote_rerank", "provider"): "cohere",
    ("stage", "remote_rerank", "url"): "http://127.0.0.1:9/rerank",
    ("stage", "remote_rerank", "reply_scale"): "logit",
    ("stage", "remote_rerank", "parameters"): {"truncate": True},
    ("fuser", "reciprocal_rank", "weights"): {"text": 2.0},
    ("fuser", "trust_weighted", "weights"): {"text": 2.0},
    ("fuser", "weighted", "weights"): {"text": 2.0, "vector": 1.0},
    ("fuser", "weighted", "signals"): {"text": "graph"},
    ("fuser", "confirmatory", "confirming"): ("text",),
    ("source", "bm25", "analyzer"): "code",
    ("source", "keyword", "analyzer"): "code",
    ("source", "pagerank", "seeds_from"): ("vector",),
    ("source", "pagerank", "linker"): {"max_links": 3},
    ("source", "pagerank", "prune"): {"min_hits": 2},
    ("source", "pagerank", "edge_type_weights"): {"about": 0.5},
    ("source", "pagerank", "backward_type_weights"): {"about": 0.5},
    ("source", "graph_boost", "seeds_from"): ("vector",),
    ("source", "graph_boost", "edge_type_weights"): {"requires": 0.1},
    ("source", "intent_edges", "seeds_from"): ("vector",),
    ("source", "evidence_sum", "candidates_from"): ("vector",),
}


def fields(role, kind):
    known = registered(ROLES[role])[kind].model_fields
    return {name: field for name, field in known.items() if name != "kind" and name not in SECRETS | ELSEWHERE}


def other_value(role, kind, name, field):
    """A value that is allowed and not the default."""
    if (role, kind, name) in OTHERS:
        return OTHERS[role, kind, name]
    cls = registered(ROLES[role])[kind]
    default = getattr(cls(), name)
    for value in candidates(field.annotation, default):
        try:
            if getattr(cls(**{name: value}), name) != default:
                return value
        except ValidationError:
            continue
    pytest.fail(f"add another value of {role} {kind}.{name} to OTHERS")


def candidates(annotation, default):
    if get_origin(annotation) is Literal:
        yield from get_args(annotation)
    elif isinstance(annotation, UnionType) or get_origin(annotation) is UnionType:
        for part in get_args(annotation):
            if part is not NoneType:
                yield from candidates(part, default)
    elif annotation is bool:
        yield not default
    elif annotation is int:
        yield from (3, 4)
    elif annotation is float:
        yield from (0.45, 0.55, 3.5)
    elif annotation is str:
        yield "another"
    else:
        yield from (("another",), None)


def test_defaults_are_those_of_the_core(framework, core):
    made = {one: (framework.parameters(framework.make(*one)), core.make(*one)) for one in COMPONENTS}
    assert {one: pair for one, pair in made.items() if pair[0] != pair[1]} == {}


def test_every_parameter_reaches_the_core(framework, core):
    differing = []
    for role, kind in COMPONENTS:
        for name, field in fields(role, kind).items():
            value = other_value(role, kind, name, field)
            made = framework.parameters(framework.make(role, kind, **{name: value}))
            if made != core.make(role, kind, **{name: value}):
                differing.append(f"{role} {kind}.{name} = {value!r}")
    assert differing == []


def test_bad_values_are_refused_with_the_same_sentence(framework, core):
    differing, refused = [], set()
    for role, kind in COMPONENTS:
        for name in fields(role, kind):
            for value in (-1_000_000_007, 1e12, float("nan"), "no such value", [object], {"no": object}):
                wanted = fault_of(core, role, kind, name, value)
                if wanted is not None:
                    refused.add((role, kind))
                    found = fault_of(framework, role, kind, name, value)
                    if not isinstance(found, ValueError) or sentence(found) != sentence(wanted):
                        differing.append(f"{role} {kind}.{name} = {value!r}: {wanted}, but got {found}")
    assert differing == []
    assert refused == {one for one in COMPONENTS if fields(*one)}


def fault_of(framework, role, kind, name, value):
    try:
        framework.make(role, kind, **{name: value})
    except Exception as fault:
        return fault
    return None


def sentence(fault):
    return explain(fault) if isinstance(fault, ValidationError) else str(fault)


def test_a_drifted_default_is_noticed(framework, core, monkeypatch):
    kind, name = "freshness", "half_life_days"
    if framework.classes.get(("fuser", "weighted")):  # Haystack's defaults are read from the core when it is imported
        made = framework.classes["stage", kind](**{name: 91.0})
        monkeypatch.setattr(framework, "make", lambda role, kind: made)
    else:
        cls = framework.classes["stage", kind]
        drifted = type(cls.__name__, (cls,), {"__annotations__": {name: float}, name: 91.0})
        monkeypatch.setitem(framework.classes, ("stage", kind), drifted)
    assert framework.parameters(framework.make("stage", kind)) != core.make("stage", kind)
