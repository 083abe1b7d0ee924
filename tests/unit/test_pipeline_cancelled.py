"""A search that nobody waits for ends before its next step."""

import asyncio
import threading
from typing import Literal

import pytest

from hopweave.component import Source, Stage
from hopweave.errors import Cancelled
from hopweave.graph.build.resolve import resolve
from hopweave.graph.external_documents import ExternalDocuments
from hopweave.hit import Hit
from hopweave.pipeline import Pipeline
from hopweave.recipe import Recipe

NOWHERE = ExternalDocuments(resolve([]).graph(), lambda ids: [])
done = []


class First(Source):
    kind: Literal["first"] = "first"

    def search(self, query, knowledge, upstream=None):
        done.append("first")
        return [Hit("a", 1.0, "A ferry.")]


class Second(First):
    kind: Literal["second"] = "second"

    @property
    def needs(self):
        return ("first",)

    def search(self, query, knowledge, upstream=None):
        done.append("second")
        return [Hit("b", 1.0, "A tug.")]


class Last(Stage):
    kind: Literal["last"] = "last"

    def apply(self, hits, query, knowledge=None):
        done.append("last")
        return list(hits)


RECIPE = Recipe(name="r", sources={"first": First(), "second": Second()}, stages=(Last(),))


@pytest.mark.parametrize(("after", "steps"), [(0, []), (1, ["first"]), (2, ["first", "second"])])
def test_no_step_begins_once_it_is_cancelled(after, steps):
    done.clear()
    with pytest.raises(Cancelled):
        Pipeline(RECIPE, NOWHERE).run("ferry", cancelled=lambda: len(done) >= after)
    assert done == steps


def test_a_search_that_is_not_cancelled_is_finished():
    done.clear()
    assert len(Pipeline(RECIPE, NOWHERE).run("ferry", cancelled=lambda: False).hits) == 2
    assert done == ["first", "second", "last"]


def test_a_cancelled_task_starts_no_further_source():
    done.clear()
    begun, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    class Slow(First):
        in_memory = True

        def search(self, query, knowledge, upstream=None):
            begun.set()
            go_on.wait(30)
            threading.Timer(0.2, ended.set).start()
            return super().search(query, knowledge, upstream)

    class Other(First):
        in_memory = True

        def search(self, query, knowledge, upstream=None):
            done.append("other")
            return []

    recipe = Recipe(name="r", sources={"a": Slow(), "b": Other()})

    async def ask():
        task = asyncio.create_task(Pipeline(recipe, NOWHERE).run_async("ferry"))
        await asyncio.to_thread(begun.wait, 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        go_on.set()

    asyncio.run(ask())
    assert ended.wait(30)
    assert done == ["first"]
