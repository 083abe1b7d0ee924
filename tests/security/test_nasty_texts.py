"""Random documents from a grammar of nasty texts: each is indexed, and none takes much longer than others."""

import json
import os
import random
import sys
from statistics import median
from time import thread_time

import pytest

from hopweave.component import registered
from hopweave.document import Document
from hopweave.graph.build.builders.builder import GraphBuilder
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.pipeline import Pipeline
from hopweave.recipe import recipe_names
from hopweave.report.page import html_report

from .nasty_texts import nasty_text

LONG = os.environ.get("HOPWEAVE_ATTACK") == "long"


def test_no_document_takes_a_hundred_times_the_median_to_index(record_property):
    chooser = random.Random(18)
    costs = {}
    with KnowledgeBase.open(
        analyzers=("nlp", "code"), builders=[kind() for kind in registered(GraphBuilder).values()]
    ) as kb:
        kb.add([Document("first", "What is loaded once is loaded here: 東京 and MV Skua, “one”. [a](b)")])
        for number in range(1000 if LONG else 120):
            text = nasty_text(chooser, 2000, 8000)
            document = Document(
                f"d{number}", text, {"title": text[:80], "path": text[100:180], "service": text[200:240]}
            )
            started = thread_time()  # of this thread: compaction, which belongs to no single document, has its own
            kb.add([document])
            _ = kb.graph
            costs[text] = (thread_time() - started) / len(text)
        assert kb.count() == len(costs) + 1
        assert kb.check() == []
    usual = median(costs.values())
    slow = {text: cost / usual for text, cost in costs.items() if cost > 100 * usual}
    assert not slow
    record_property("documents", len(costs))
    record_property("slowest", max(costs.values()) / usual)
    if LONG:
        sys.stderr.write(f"\n{len(costs)} documents, at most {max(costs.values()) / usual:.1f} times the median\n")


@pytest.mark.parametrize("recipe", recipe_names())
def test_any_text_can_be_asked(recipe):
    """And what is found can be put into a context and shown."""
    chooser = random.Random(19)
    with KnowledgeBase.open() as kb:
        kb.add([Document(f"d{number}", nasty_text(chooser, 100, 2000)) for number in range(40)])
        pipeline = Pipeline(recipe, kb)
        for _ in range(200 if LONG else 15):
            result = pipeline.run(nasty_text(chooser, 1, 2000))
            json.dumps(result.as_dict())
            html_report(result)
