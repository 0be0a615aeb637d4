"""The bounded memory of answers."""

from __future__ import annotations

from tb_layerflow.plugin.cache import BoundedCache


def test_the_least_recently_used_entry_goes_first() -> None:
    cache: BoundedCache[str] = BoundedCache(30)
    for key in "abc":
        cache.put(key, key.upper(), 10)
    assert cache.get("a") == "A"
    cache.put("d", "D", 10)
    assert [cache.get(key) for key in "abcd"] == ["A", None, "C", "D"]
    assert cache.held == 30


def test_a_replaced_entry_frees_its_bytes() -> None:
    cache: BoundedCache[str] = BoundedCache(30)
    cache.put("a", "old", 25)
    cache.put("a", "new", 5)
    assert (cache.get("a"), cache.held) == ("new", 5)


def test_an_entry_beyond_the_limit_is_not_held_and_drives_nothing_out() -> None:
    cache: BoundedCache[str] = BoundedCache(30)
    cache.put("a", "A", 10)
    cache.put("big", "B", 31)
    assert (cache.get("a"), cache.get("big"), cache.held) == ("A", None, 10)
