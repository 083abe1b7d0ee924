import threading

import pytest

from hopweave.knowledge_base.cache import QueryCache


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_what_is_put_can_be_got():
    cache = QueryCache()
    assert cache.get("a") is None
    cache.put("a", 1)
    cache.put("a", 2)
    assert (cache.get("a"), cache.get("b"), len(cache)) == (2, None, 1)


def test_an_empty_cache_is_still_a_cache():
    assert len(QueryCache()) == 0
    assert QueryCache() is not None


def test_entries_live_as_long_as_said_and_no_longer():
    clock = Clock()
    cache = QueryCache(seconds=10, clock=clock)
    cache.put("a", 1)
    clock.now = 9.9
    assert cache.get("a") == 1
    clock.now = 10.0
    assert cache.get("a") is None
    assert len(cache) == 0


def test_reading_does_not_lengthen_a_life_but_putting_does():
    clock = Clock()
    cache = QueryCache(seconds=10, clock=clock)
    cache.put("a", 1)
    clock.now = 6
    cache.get("a")
    cache.put("b", 1)
    clock.now = 11
    assert (cache.get("a"), cache.get("b")) == (None, 1)


def test_five_minutes_by_default():
    clock = Clock()
    cache = QueryCache(clock=clock)
    cache.put("a", 1)
    clock.now = 299.0
    assert cache.get("a") == 1
    clock.now = 300.0
    assert cache.get("a") is None


def test_the_least_recently_used_makes_room():
    cache = QueryCache(max_entries=2)
    cache.put("a", 1)
    cache.put("b", 2)
    cache.get("a")
    cache.put("c", 3)
    assert (cache.get("a"), cache.get("b"), cache.get("c"), len(cache)) == (1, None, 3, 2)


@pytest.mark.parametrize("how", [{"seconds": 0}, {"seconds": -1}, {"max_entries": 0}])
def test_bad_parameters_are_refused(how):
    with pytest.raises(ValueError, match="seconds must be above 0 and max_entries at least 1"):
        QueryCache(**how)


def test_threads_may_share_it():
    cache, errors = QueryCache(max_entries=5), []

    def work(start):
        try:
            for number in range(2000):
                key = str((start + number) % 9)
                cache.put(key, key)
                assert cache.get(key) in (key, None)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(start,)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(cache) <= 5
