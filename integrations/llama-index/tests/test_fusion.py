"""Named rankings fused into one, over any LlamaIndex retrievers."""

import asyncio
from threading import Barrier

import pytest
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.retrievers.bm25 import BM25Retriever as StockBM25
from llama_index.retrievers.hopweave import BM25Retriever, FusionRetriever, VectorSearchRetriever
from pydantic import ValidationError

import hopweave.catalogue  # noqa: F401 - registers every fuser
from hopweave import Hit, Query
from hopweave.component import Fuser, registered
from hopweave.errors import RecipeError, SourceFailed, explain
from hopweave.fusion.reciprocal_rank import ReciprocalRank
from hopweave.routing.intent import IntentClassifier

QUESTION = "How do I restart the ferry pump after an outage?"


class Given(BaseRetriever):
    """Returns fixed nodes."""

    def __init__(self, *ids, error=None, scores=None):
        super().__init__()
        self.ids, self.error, self.scores = ids, error, scores or {}
        self.nodes = {key: TextNode(id_=key, text=f"text of {key}") for key in ids}

    def _retrieve(self, query_bundle):
        if self.error:
            raise self.error
        return [
            NodeWithScore(node=self.nodes[key], score=self.scores.get(key, 1 - place / 10))
            for place, key in enumerate(self.ids)
        ]


class Meeting(Given):
    """Answers when all that share a barrier have been asked; never, if they are asked one after the other."""

    def __init__(self, barrier, *ids):
        super().__init__(*ids)
        self.barrier = barrier

    def _retrieve(self, query_bundle):
        self.barrier.wait(30)
        return super()._retrieve(query_bundle)


class AsyncMeeting(Meeting):
    """The same in an event loop."""

    async def _aretrieve(self, query_bundle):
        async with asyncio.timeout(30):
            await self.barrier.wait()
        return Given._retrieve(self, query_bundle)


def ids(nodes):
    return [node.node_id for node in nodes]


def test_weights_are_honoured_where_the_stock_retriever_ignores_them(llm):
    one, other = Given("a", "b"), Given("b", "a")
    for heavy, best in (({"one": 5.0, "other": 1.0}, "a"), ({"one": 1.0, "other": 5.0}, "b")):
        ours = FusionRetriever({"one": one, "other": other}, weights=heavy)
        assert ids(ours.retrieve("q"))[0] == best

    def stock(weights):
        retriever = QueryFusionRetriever(
            [Given("a", "b"), Given("b", "a")],
            llm=llm,
            num_queries=1,
            mode="reciprocal_rerank",
            retriever_weights=weights,
            similarity_top_k=2,
        )
        return ids(retriever.retrieve("q"))

    assert stock([5.0, 1.0]) == stock([1.0, 5.0])


def test_scores_by_hand_and_as_the_core_has_them():
    fused = FusionRetriever({"text": Given("a", "b"), "vector": Given("b")}, weights={"vector": 2.0}).retrieve("q")
    assert [(node.node_id, node.score) for node in fused] == [
        ("b", pytest.approx(1 / 62 + 2 / 61)),
        ("a", pytest.approx(1 / 61)),
    ]
    core = ReciprocalRank(weights={"vector": 2.0}).fuse(
        {"text": [Hit("a"), Hit("b")], "vector": [Hit("b")]}, Query("q")
    )
    assert [node.score for node in fused] == [hit.score for hit in core]


@pytest.mark.parametrize("kind", sorted(registered(Fuser)))
def test_every_fuser_over_retrievers_of_any_make(kind, kb, index, nodes, llm):
    retriever = FusionRetriever(
        {
            "vector": index.as_retriever(similarity_top_k=3),
            "text": BM25Retriever(kb, similarity_top_k=3),
            "bm25": StockBM25.from_defaults(nodes=nodes, similarity_top_k=3),
            "dense": VectorSearchRetriever(kb, similarity_top_k=3),
        },
        fuse=kind,
        intent=IntentClassifier(),
        similarity_top_k=4,
    )
    alone = retriever.retrieve(QUESTION)
    assert {"pump", "pump-copy"} & set(ids(alone))
    assert len(alone) == 4  # of passthrough too, as a recipe's source is asked for as many as are wanted
    stage = kind if registered(Fuser)[kind].keeps_all else "bm25"
    assert alone[0].metadata["hopweave"]["receipts"][-1]["stage"] == stage
    assert ids(asyncio.run(retriever.aretrieve(QUESTION))) == ids(alone)
    engine = RetrieverQueryEngine.from_args(retriever, llm=llm)
    assert "panel four" in str(engine.query(QUESTION))

    async def all_at_once():
        return await asyncio.gather(*(retriever.aretrieve(QUESTION) for _ in range(50)))

    assert all(ids(one) == ids(alone) for one in asyncio.run(all_at_once()))


def test_names_not_places_carry_the_weights():
    weights = {"one": 5.0, "other": 1.0}
    turned = FusionRetriever({"other": Given("b", "a"), "one": Given("a", "b")}, weights=weights)
    assert ids(turned.retrieve("q")) == ["a", "b"]


def test_nodes_keep_their_scores_and_text_and_asking_twice_changes_nothing():
    one, other = Given("a", "b"), Given("b", "c")
    retriever = FusionRetriever({"one": one, "other": other})
    first = retriever.retrieve("q")
    assert retriever.retrieve("q") == first
    assert ids(first) == ["b", "a", "c"]
    assert "hopweave" not in one.nodes["a"].metadata
    assert first[0].text == "text of b"


def test_scores_of_none_keep_their_order():
    retriever = FusionRetriever({"one": Given("b", "a", scores={"a": None, "b": None})})
    assert ids(retriever.retrieve("q")) == ["b", "a"]


def test_retrievers_run_side_by_side():
    barrier = Barrier(2)
    assert len(FusionRetriever({"one": Meeting(barrier, "a"), "other": Meeting(barrier, "b")}).retrieve("q")) == 2


def test_retrievers_with_async_of_their_own_run_side_by_side():
    async def found():
        barrier = asyncio.Barrier(2)
        retrievers = {"one": AsyncMeeting(barrier, "a"), "other": AsyncMeeting(barrier, "b")}
        return await FusionRetriever(retrievers).aretrieve("q")

    assert len(asyncio.run(found())) == 2


def test_retrievers_without_async_of_their_own_do_not_block_the_loop():
    barrier = Barrier(2)
    retriever = FusionRetriever({"one": Meeting(barrier, "a"), "other": Meeting(barrier, "b")})
    assert len(asyncio.run(retriever.aretrieve("q"))) == 2


def test_a_retriever_that_may_fail_does_not_fail_the_query(caplog):
    broken = Given("a", error=ConnectionError("away"))
    assert ids(FusionRetriever({"one": broken, "other": Given("b")}, optional=["one"]).retrieve("q")) == ["b"]
    assert "'one' failed and was skipped: ConnectionError" in caplog.text
    with pytest.raises(SourceFailed, match="source 'one' failed: ConnectionError: away"):
        FusionRetriever({"one": broken, "other": Given("b")}).retrieve("q")


def test_bad_values_are_refused_in_the_words_of_the_core():
    with pytest.raises(ValidationError) as fault:
        FusionRetriever({"one": Given("a")}, k=0)
    assert explain(fault.value) == "k: 0 is not allowed: input should be greater than 0"
    with pytest.raises(RecipeError, match="source 'oracle' carries no signal"):
        FusionRetriever({"oracle": Given("a")}, fuse="weighted")


def test_what_a_query_transform_added_reaches_the_retrievers():
    seen = []

    class Listening(Given):
        def _retrieve(self, query_bundle):
            seen.append(query_bundle)
            return super()._retrieve(query_bundle)

    FusionRetriever({"one": Listening("a")}).retrieve(QueryBundle("q", custom_embedding_strs=["a made-up answer"]))
    assert seen[0].custom_embedding_strs == ["a made-up answer"]


def test_misspelt_names_are_refused(kb):
    retrievers = {"text": BM25Retriever(kb)}
    with pytest.raises(ValueError, match="optional: there is no retriever 'txt'; there are text"):
        FusionRetriever(retrievers, optional=["txt"])
    with pytest.raises(ValueError, match=r"fuse: 'reciprocal' is not allowed; .*reciprocal_rank"):
        FusionRetriever(retrievers, fuse="reciprocal")
