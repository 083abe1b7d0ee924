"""Where a graph may lead: the ramps, the sentence, and what is counted."""

import numpy as np
import pytest

from hopweave import Document, KnowledgeBase
from hopweave.graph.documents import passage_numbers
from hopweave.graph.storage.name_case import NameCase
from hopweave.query import Query
from hopweave.sources.pagerank import PageRank

PEOPLE = ["Oram Dace", "Petra Vole", "Ulf Merrick", "Ina Tarn"]


@pytest.mark.parametrize(
    ("corpus", "here", "joined", "prior"),
    [
        (0.2, 0.3, 0.0, 1.0),
        (0.2, 0.54, 0.0, 1.0),
        (0.2, 0.625, 0.0, 0.5),
        (0.2, 0.8, 0.0, 0.0),
        (0.8, 0.3, 0.0, 1.0),
        (0.8, 0.475, 0.0, 0.5),
        (0.8, 0.6, 0.0, 0.0),
        (0.8, None, 0.0, 0.0),
        (None, None, 0.001, 1.0),
        (None, 0.9, 0.001, 1.0),
        (None, None, 0.03, 0.0),
        (None, None, (0.003 * 0.01) ** 0.5, 0.5),
        (None, None, 0.0, 1.0),
    ],
)
def test_the_prior(corpus, here, joined, prior):
    assert NameCase(corpus, here, joined).prior == pytest.approx(prior)


@pytest.mark.parametrize(
    ("case", "sentence"),
    [
        (NameCase(0.2, 0.25, 0.001), "the graph leads: names are ordinary words in 25 % of their occurrences here"),
        (NameCase(0.2, 0.625, 0.001), "the graph has 50 % of its say: names are ordinary words in 62 % of their "),
        (NameCase(None, None, 0.0), "the graph leads: no passage mentions what another one is about"),
        (NameCase(None, None, 0.02), "the graph stays out: names join 2 % of the pairs of passages"),
    ],
)
def test_the_sentence(case, sentence):
    assert case.sentence.startswith(sentence)


@pytest.mark.parametrize(("leads", "prior"), [(0.0, 0.0), (0.2, 0.0), (0.4, 0.5), (0.6, 1.0), (9.0, 1.0)])
def test_where_few_names_lead_on_there_is_no_way_to_walk(leads, prior):
    assert NameCase(0.2, 0.3, 0.001, leads).prior == pytest.approx(prior)
    assert NameCase(0.2, 0.3, 0.0, leads).prior == 1  # names lead nowhere in this graph: it is one of other edges
    if prior < 1:
        assert NameCase(0.2, 0.3, 0.001, leads).sentence.endswith("names lead on from a passage here")


def encyclopedia():
    return [
        Document(f"p{number}", f"{name} met {PEOPLE[number - 1]} in the town.", {"title": name})
        for number, name in enumerate(PEOPLE)
    ]


def manual():
    titles = ["Jobs", "Nodes", "Volumes", "Services"]
    low = [title.lower() for title in titles]
    texts = [f"Use {low[n]} with {low[n - 1]}. The {low[n - 1]} wait." for n in range(4)]
    return [Document(f"m{n}", texts[n], {"title": titles[n]}) for n in range(4)]


def case_of(kb, ids):
    return kb.graph.name_case(np.array(sorted(passage_numbers(kb.graph, ids).values())))


def test_names_of_people_are_names_and_words_of_a_manual_are_words():
    with KnowledgeBase.open(embedder=None) as kb:
        kb.add(encyclopedia())
        assert case_of(kb, kb.ids()).corpus == case_of(kb, kb.ids()).here == 0
        assert case_of(kb, kb.ids()).prior == 1
    with KnowledgeBase.open(embedder=None) as kb:
        kb.add(manual())
        assert case_of(kb, kb.ids()).here == 1
        assert case_of(kb, kb.ids()).prior == 0


def test_in_a_mixed_store_the_passages_at_hand_decide():
    with KnowledgeBase.open(embedder=None) as kb:
        kb.add([*encyclopedia(), *manual()])
        names, words = case_of(kb, ["p0", "p1", "p2"]), case_of(kb, ["m0", "m1", "m2"])
        assert names.corpus == words.corpus > 0
        assert (names.prior, words.prior) == (1, 0)


def test_scripts_without_capitals_and_lower_cased_texts_go_by_what_names_join():
    lowered = [Document(one.id, one.text.lower(), {"title": one.title.lower()}) for one in encyclopedia()]
    with KnowledgeBase.open(embedder=None) as kb:
        kb.add(lowered)
        case = case_of(kb, kb.ids())
        assert case.corpus is None
        assert case.prior == 0  # so small a store is densely joined


def test_a_store_without_names_has_no_reason_to_keep_the_graph_out():
    with KnowledgeBase.open(embedder=None) as kb:
        kb.add([Document("a", "nothing here")])
        assert case_of(kb, ["a"]).prior == 1


def test_any_order_of_writing_gives_the_same_case():
    with KnowledgeBase.open(embedder=None) as kb, KnowledgeBase.open(embedder=None) as other:
        kb.add([*encyclopedia(), *manual()])
        for document in [*manual(), *encyclopedia()][::-1]:
            other.add([document])
        other.delete(["p1", "m2"])
        other.add([encyclopedia()[1], manual()[2]])
        for ids in (["p0", "m0"], ["p1"], kb.ids()):
            assert case_of(kb, ids) == case_of(other, ids)


def test_the_trust_that_pagerank_states_is_lowered_and_the_receipt_says_why():
    with KnowledgeBase.open(embedder=None) as kb:
        kb.add([*encyclopedia(), *manual()])
        details = {}
        for question in ("Whom did Oram Dace meet?", "How do Jobs wait for Nodes?"):
            source = PageRank(seeds_from=(), word_source=None)
            details[question[0]] = source.search(Query(question), kb)[0].receipts[-1].details
        assert details["W"]["prior"] == 1
        assert details["W"]["trust"] > 0
        assert details["W"]["why"].startswith("the graph leads")
        assert details["H"]["prior"] == details["H"]["trust"] == 0
        assert details["H"]["why"].startswith("the graph stays out")
