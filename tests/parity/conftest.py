"""The same component in the core, in Haystack and in LlamaIndex, behind one face.

Each framework finds its class by the component's kind, so a component that is enrolled in the catalogue and
forgotten in an adapter turns these tests red.
"""

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")
os.environ["HF_HUB_OFFLINE"] = "1"

import llama_index.postprocessor.hopweave as postprocessors
import llama_index.retrievers.hopweave as llama_index_retrievers
import numpy as np
import pytest
from haystack import Document as HaystackDocument
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.hopweave import RequestBundle
from llama_index.hopweave.knowledge import NoDocuments

import haystack_integrations.components.joiners.hopweave as joiners
import haystack_integrations.components.rankers.hopweave as rankers
import haystack_integrations.components.retrievers.hopweave as haystack_retrievers
import hopweave.catalogue  # noqa: F401 - enrols every component
from haystack_integrations.common.hopweave.documents import to_document
from haystack_integrations.common.hopweave.questions import from_intent
from haystack_integrations.components.retrievers.hopweave.source_retriever import SourceRetriever
from hopweave import Hit, KnowledgeBase, Query, read_documents
from hopweave.component import Fuser, Source, Stage, registered
from hopweave.graph.build.builders.links import LinksBuilder
from hopweave.graph.build.builders.mentions import MentionsBuilder
from hopweave.graph.build.builders.metadata import MetadataBuilder
from hopweave.pipeline import Pipeline
from hopweave.routing.intent import IntentClassifier

ROLES = {"stage": Stage, "fuser": Fuser, "source": Source}
NOW = datetime(2026, 4, 1, 12, tzinfo=UTC)
CORPUS = Path(__file__).parents[2] / "examples" / "tern_isles" / "corpus.jsonl"
OWN = ("text", "vector")  # the sources that graph sources build on


def pytest_generate_tests(metafunc):
    for role, base in ROLES.items():
        if f"{role}_kind" in metafunc.fixturenames:
            metafunc.parametrize(f"{role}_kind", sorted(registered(base)))
    if "framework" in metafunc.fixturenames:
        metafunc.parametrize("framework", [InHaystack(), InLlamaIndex()], ids=["haystack", "llama_index"])


class InCore:
    """The components themselves."""

    def make(self, role, kind, **parameters):
        return registered(ROLES[role])[kind](**parameters)

    def parameters(self, made):
        return made

    def apply(self, stage, hits, question):
        return pairs(stage.apply(hits, question))

    def fuse(self, fuser, rankings, question):
        return pairs(fuser.fuse(rankings, question))

    def search(self, source, question, kb):
        own = {"text": self.make("source", "bm25"), "vector": self.make("source", "vector")}
        upstream = {name: own[name].search(question, kb) for name in source.needs}
        return pairs(source.search(question, kb, upstream))

    def run(self, recipe, question, kb):
        return pairs(Pipeline(recipe, kb).run(question).hits)


class InHaystack:
    """Rankers, joiners and retrievers."""

    def __init__(self):
        self.classes = {
            **{("stage", cls().stage.kind): cls for cls in public(rankers)},
            **{("fuser", cls(sources=OWN).fuser.kind): cls for cls in public(joiners)},
            **{
                ("source", cls(knowledge_base="none.db").source.kind): cls
                for cls in public(haystack_retrievers)
                if issubclass(cls, SourceRetriever) and cls.__name__ != "EmbeddingRetriever"
            },
        }

    def make(self, role, kind, **parameters):
        needed = {"fuser": {"sources": OWN}, "source": {"knowledge_base": "none.db"}, "stage": {}}
        return self.classes[role, kind](**{**needed[role], **parameters})

    def parameters(self, made):
        return next(getattr(made, role) for role in ROLES if hasattr(made, role))

    def apply(self, ranker, hits, question):
        given = {"now": question.now, "query_embedding": question.vector.tolist()}
        asked = {name: value for name, value in given.items() if name in takes(ranker)}
        return self._pairs(ranker.run(documents=[as_document(hit) for hit in hits], query=question.text, **asked))

    def fuse(self, joiner, rankings, question):
        found = {name: [as_document(hit) for hit in hits] for name, hits in rankings.items()}
        intent = {"intent": from_intent(question.intent)} if "intent" in takes(joiner) else {}
        return self._pairs(joiner.run(query=question.text, **intent, **found))

    def search(self, retriever, question, kb):
        intent = {"intent": from_intent(question.intent)} if "intent" in takes(retriever) else {}
        own = {"text": self.make("source", "bm25"), "vector": self.make("source", "vector")}
        for one in (retriever, *own.values()):
            one._file = type(one._file)(str(kb.path))
        found = {name: self._found(own[name], question) for name in retriever.source.needs}
        return self._pairs(retriever.run(query=question.text, **intent, **found))

    def _found(self, retriever, question):
        intent = {"intent": from_intent(question.intent)} if "intent" in takes(retriever) else {}
        return retriever.run(query=question.text, **intent)["documents"]

    def run(self, recipe, question, kb):
        retriever = haystack_retrievers.RecipeRetriever(knowledge_base=str(kb.path), recipe=recipe)
        return self._pairs(retriever.run(query=question.text, skip=list(question.skip)))

    def run_native(self, recipe, question, kb):
        retriever = haystack_retrievers.HybridGraphRetriever(knowledge_base=str(kb.path), recipe=recipe)
        return self._pairs(retriever.run(query=question.text, skip=list(question.skip)))

    def _pairs(self, output):
        return [(document.id, document.score) for document in output["documents"]]


class InLlamaIndex:
    """Node postprocessors and retrievers."""

    def __init__(self):
        self.classes = {
            **{("stage", cls.model_fields["kind"].default): cls for cls in public(postprocessors)},
            **{
                ("source", cls.source_class.model_fields["kind"].default): cls
                for cls in public(llama_index_retrievers)
                if hasattr(cls, "source_class")
            },
        }

    def make(self, role, kind, **parameters):
        if role == "fuser":
            return llama_index_retrievers.FusionRetriever(dict.fromkeys(OWN, FixedRetriever()), fuse=kind, **parameters)
        if role == "source":
            return self.classes[role, kind](NoDocuments(), **as_similarity(parameters))
        dated = {"now": NOW} if "now" in self.classes[role, kind].model_fields else {}
        return self.classes[role, kind](**dated, **parameters)

    def parameters(self, made):
        if isinstance(made, Stage):
            return registered(Stage)[made.kind](
                **{name: getattr(made, name) for name in registered(Stage)[made.kind].model_fields}
            )
        recipe = made._pipeline.recipe
        return recipe.sources.get(recipe.name, recipe.fuse)

    def apply(self, postprocessor, hits, question):
        bundle = QueryBundle(question.text, embedding=question.vector.tolist())
        return self._pairs(postprocessor.postprocess_nodes([as_node(hit) for hit in hits], bundle))

    def fuse(self, retriever, rankings, question):
        parameters = retriever._pipeline.recipe.fuse
        retrievers = {name: FixedRetriever(hits) for name, hits in rankings.items()}
        again = llama_index_retrievers.FusionRetriever(retrievers, fuse=parameters, intent=IntentClassifier())
        return self._pairs(again.retrieve(question.text))

    def search(self, retriever, question, kb):
        source = self.parameters(retriever)
        parameters = {name: getattr(source, name) for name in source.model_fields_set - {"kind"}}
        again = type(retriever)(kb, intent=IntentClassifier(), **as_similarity(parameters))
        return self._pairs(again.retrieve(question.text))

    def run(self, recipe, question, kb):
        asked = RequestBundle(question.text, skip=question.skip)
        return self._pairs(llama_index_retrievers.RecipeRetriever(kb, recipe=recipe).retrieve(asked))

    def run_native(self, recipe, question, kb):
        from llama_index.query_engine.hopweave import RecipeQueryEngine

        asked = RequestBundle(question.text, skip=question.skip)
        return self._pairs(RecipeQueryEngine(recipe, kb).retrieve(asked))

    def _pairs(self, nodes):
        return [(node.node_id, node.score) for node in nodes]


class FixedRetriever(BaseRetriever):
    """A LlamaIndex retriever that finds these hits."""

    def __init__(self, hits=()):
        super().__init__()
        self.hits = hits

    def _retrieve(self, query_bundle):
        return [as_node(hit) for hit in self.hits]


def as_similarity(parameters):
    names = {"top_k": "similarity_top_k"}
    return {names.get(name, name): value for name, value in parameters.items()}


def takes(component):
    """The names of the inputs that a Haystack component has."""
    return component.__haystack_input__._sockets_dict


def public(module):
    return [thing for name in module.__all__ if isinstance(thing := getattr(module, name), type)]


def pairs(hits):
    return [(hit.id, hit.score) for hit in hits]


def as_document(hit):
    embedding = None if hit.vector is None else hit.vector.tolist()
    document = HaystackDocument(
        id=hit.id, content=hit.text, meta=dict(hit.metadata), score=hit.score, embedding=embedding
    )
    return to_document(hit._replace(origin=document))  # the scale travels with the receipts


def as_node(hit):
    from llama_index.hopweave import to_node

    embedding = None if hit.vector is None else hit.vector.tolist()
    node = TextNode(id_=hit.id, text=hit.text, metadata=dict(hit.metadata), embedding=embedding)
    return to_node(hit._replace(origin=NodeWithScore(node=node, score=hit.score)))


@pytest.fixture(scope="session")
def core():
    return InCore()


@pytest.fixture(scope="session")
def kb(tmp_path_factory):
    builders = (MentionsBuilder(), LinksBuilder(), MetadataBuilder())
    path = tmp_path_factory.mktemp("kb") / "kb.db"
    with KnowledgeBase.open(path, analyzers=("nlp", "code"), builders=builders) as kb:
        kb.add(read_documents(CORPUS))
        yield kb


@pytest.fixture
def question():
    text = "How do I fix the outage of MV Skua, the ferry that Ingrid Falk designed?"
    vector = np.array([1, 0, 0, 0], np.float32)
    return Query(text, vector=vector, now=NOW, intent=IntentClassifier().classify(text))


@pytest.fixture
def hits():
    """Twelve hits with scores between 0 and 1."""
    return hits_of("unit")


@pytest.fixture
def hits_of_every_scale():
    """Twelve hits of each scale."""
    return [hits_of(scale) for scale in ("unit", "positive", "cosine", "logit", None)]


def hits_of(scale):
    """Twelve hits of one scale: dates, corpus types, lengths, vectors and scores of many kinds, ties and a None."""
    random = np.random.default_rng(7)
    scales: Mapping = {
        "unit": random.uniform(0, 1, 12),
        "positive": random.uniform(0, 40, 12),
        "cosine": random.uniform(-1, 1, 12),
        "logit": random.uniform(-12, 12, 12),
        None: random.uniform(0, 1, 12),
    }
    scores = np.sort(scales[scale])[::-1].tolist()
    scores[4] = scores[3]
    corpus_types = ("CONVO_SLACK", "DOC_RUNBOOK", "CODE_DEPLOY", None)
    texts = ("The tide gate opens at six.", "I don't have any information about that.", "The outage of the Skua. " * 60)
    return [
        Hit(
            f"hit-{place}",
            None if place == 9 else score,
            f"{texts[place % 3]} {place if place % 3 != 1 else ''}".strip(),
            {
                "title": f"Title {place}",
                "timestamp": ("2026-03-30", "2025-01-01", "some day", 1_760_000_000)[place % 4],
                "corpus_type": corpus_types[place % 4],
                "type": "manual" if place % 2 else "log",
                "importance": place / 12,
                "community": ("sea", "land", None)[place % 3],
            },
            None if place == 6 else random.integers(-2, 3, 4).astype(np.float32),
            scale,
        )
        for place, score in enumerate(scores)
    ]
