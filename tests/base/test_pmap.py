"""The persistent map is a map, and old copies never change."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from backshop.base.pmap import PMap

KEYS = st.text(max_size=3)


@given(st.lists(st.tuples(st.booleans(), KEYS, st.integers())))
def test_it_behaves_like_a_dict_and_keeps_its_past(changes):
    versions: list[tuple[PMap[int], dict[str, int]]] = [(PMap(), {})]
    for adds, key, value in changes:
        now, model = versions[-1]
        if adds:
            versions.append((now.put(key, value), {**model, key: value}))
        else:
            versions.append((now.drop(key), {k: v for k, v in model.items() if k != key}))

    assert all(dict(now) == model and len(now) == len(model) for now, model in versions)


def test_many_keys_are_all_found():
    found: PMap[int] = PMap()
    for number in range(5000):
        found = found.put(f"node_{number}", number)

    assert len(found) == 5000
    assert all(found[f"node_{number}"] == number for number in range(5000))
    assert "node_5000" not in found
