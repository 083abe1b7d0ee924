"""Values that are made once, by one thread."""

import copy
import gc
import pickle
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from time import sleep

import pytest

from hopweave.concurrency.once import Once, once, once_property

THREADS = 8


def together(ask):
    """What `ask` returns in several threads that start at the same moment."""
    barrier = threading.Barrier(THREADS)

    def start(_):
        barrier.wait(10)
        return ask()

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(start, range(THREADS)))


class Counted:
    """Counts its calls, each of which takes a while."""

    def __init__(self, failures=0):
        self.calls, self.failures = 0, failures

    def __call__(self, *_):
        self.calls += 1
        sleep(0.02)
        if self.calls <= self.failures:
            raise ValueError("not yet")
        return self.calls


class Holder:
    def __init__(self, make):
        self.make = make

    @once_property
    def value(self):
        """A value."""
        return self.make()


def test_one_thread_makes_and_the_others_wait():
    value, make = Once(), Counted()
    assert together(lambda: value.get_or_make(make)) == [1] * THREADS
    assert make.calls == 1


def test_while_one_thread_makes_the_others_may_go_on_without():
    value, started, finish = Once(), threading.Event(), threading.Event()

    def make():
        started.set()
        assert finish.wait(10)
        return "made"

    with ThreadPoolExecutor(1) as pool:
        maker = pool.submit(value.get_or_make_unless_busy, make)
        assert started.wait(10)
        assert (value.get_or_make_unless_busy(make), value.get("not yet")) == (None, "not yet")
        finish.set()
        assert maker.result(10) == "made"
    assert value.get_or_make_unless_busy(make) == "made"


def test_none_is_a_value_too():
    value, made = Once(), []
    for _ in range(3):
        assert value.get_or_make(lambda: made.append(1)) is None
    assert made == [1]


@pytest.mark.parametrize("way", ["get_or_make", "get_or_make_unless_busy"])
def test_a_failure_is_not_kept(way):
    value, make = Once(), Counted(failures=1)
    with pytest.raises(ValueError, match="not yet"):
        getattr(value, way)(make)
    assert value.get() is None
    assert together(lambda: value.get_or_make(make)) == [2] * THREADS
    assert make.calls == 2


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_has_the_value_and_a_lock_of_its_own(copied):
    value, copies = Once(), []
    assert value.get_or_make(lambda: copies.append(copied(value)) or [1]) == [1]
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(copies[0].get_or_make, lambda: [2]).result(10) == [2]
    assert copied(value).get() == [1]


def test_a_property_is_made_by_one_thread():
    holder = Holder(Counted())
    assert together(lambda: holder.value) == [1] * THREADS
    assert holder.__dict__ == {"make": holder.make, "value": 1}
    assert Holder.value.__doc__ == "A value."


def test_a_property_that_fails_is_made_again():
    holder = Holder(Counted(failures=1))
    with pytest.raises(ValueError, match="not yet"):
        _ = holder.value
    assert holder.value == 2


def test_each_object_has_its_own_property():
    first, second = Holder(Counted()), Holder(lambda: "other")
    assert (first.value, second.value) == (1, "other")


def test_an_object_with_a_property_goes_with_its_last_reference():
    holder = Holder(lambda: [1])
    assert holder.value == [1]
    gone = weakref.ref(holder)
    gc.disable()
    try:
        del holder
        assert gone() is None
    finally:
        gc.enable()


def test_a_function_is_called_once_for_the_same_arguments():
    make = Counted()
    square = once()(lambda number: (make(), number**2))
    assert together(lambda: square(3)) == [(1, 9)] * THREADS
    assert (square(number=3), square(4), make.calls) == ((2, 9), (3, 16), 3)


def test_making_one_value_does_not_hold_up_another():
    started, finish = threading.Event(), threading.Event()

    @once()
    def load(name):
        if name == "slow":
            started.set()
            assert finish.wait(10)
        return name.upper()

    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(load, "slow")
        assert started.wait(10)
        assert load("quick") == "QUICK"
        finish.set()
        assert slow.result(10) == "SLOW"


def test_a_function_that_fails_is_called_again():
    make = Counted(failures=1)
    load = once()(make)
    with pytest.raises(ValueError, match="not yet"):
        load("a")
    assert load("a") == load("a") == 2


def test_only_the_latest_values_are_kept():
    asked = []
    length = once(max_entries=4)(lambda text: asked.append(text) or len(text))
    for text in ("a", "bb", "a", "ccc", "dddd", "eeeee"):
        assert length(text) == len(text)
    assert asked == ["a", "bb", "ccc", "dddd", "eeeee"]
    assert length("eeeee") == 5
    assert len(asked) == 5
    length("a")  # which went with the older half
    assert asked[5:] == ["a"]
