"""A bounded cache that threads may share."""

import threading
from concurrent.futures import ThreadPoolExecutor

from hopweave.concurrency.once import LRUCache


def test_the_least_recently_used_goes_first():
    cache = LRUCache[str, int](max_entries=2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("a") == 1  # so that b is now the older of the two
    cache.put("c", 3)
    assert (list(cache), len(cache), cache.get("b")) == (["a", "c"], 2, None)


def test_a_value_is_replaced_and_then_the_most_recently_used():
    cache = LRUCache[str, int](max_entries=2)
    for key, value in (("a", 1), ("b", 2), ("a", 3), ("c", 4)):
        cache.put(key, value)
    assert {key: cache.get(key) for key in cache} == {"a": 3, "c": 4}


def test_a_value_is_made_once_also_if_it_is_none():
    cache, made = LRUCache[str, None](max_entries=2), []
    for _ in range(3):
        assert cache.get_or_make("a", lambda: made.append(1)) is None
    assert made == [1]


def test_a_value_that_is_asked_for_again_stays():
    cache = LRUCache[str, str](max_entries=2)
    for key in "abac":
        cache.get_or_make(key, lambda key=key: key.upper())
    assert list(cache) == ["a", "c"]


def test_what_fails_is_not_kept():
    cache = LRUCache[str, float](max_entries=2)
    for _ in range(2):
        try:
            cache.get_or_make("a", lambda: 1 / 0)
        except ZeroDivisionError:
            continue
    assert len(cache) == 0


def test_a_key_is_discarded_whether_it_is_there_or_not():
    cache = LRUCache[str, int](max_entries=2)
    cache.put("a", 1)
    cache.discard("a")
    cache.discard("b")
    assert (len(cache), cache.get("a", 7)) == (0, 7)


def test_threads_that_ask_for_one_key_wait_for_one_value():
    cache, made, together = LRUCache[str, int](max_entries=2), [], threading.Barrier(4)

    def ask(number):
        together.wait(10)
        return cache.get_or_make("a", lambda: made.append(number) or number)

    with ThreadPoolExecutor(4) as pool:
        found = set(pool.map(ask, range(4)))
    assert found == set(made)
    assert len(made) == 1


def test_a_key_does_not_wait_for_the_value_of_another():
    cache, started, finish = LRUCache[str, str](max_entries=2), threading.Event(), threading.Event()

    def slow():
        started.set()
        assert finish.wait(10)
        return "slow"

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(cache.get_or_make, "a", slow)
        assert started.wait(10)
        assert cache.get_or_make("b", lambda: "quick") == "quick"
        finish.set()
        assert waiting.result(10) == cache.get("a") == "slow"


def test_a_value_that_is_discarded_while_it_is_made_is_not_kept():
    cache = LRUCache[str, int](max_entries=2)
    assert cache.get_or_make("a", lambda: cache.discard("a") or 1) == 1
    assert len(cache) == 0
