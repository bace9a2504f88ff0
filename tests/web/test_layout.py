"""The drawing of a run: properties that hold for every tree."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backshop.web.layout import NODE_HEIGHT, NODE_WIDTH, Item, layout


@st.composite
def trees(draw: st.DrawFn) -> list[Item]:
    """Trees in the order their nodes were made, with a preferred path."""
    size = draw(st.integers(1, 40))
    parents = [None, *(draw(st.integers(0, index - 1)) for index in range(1, size))]
    main = {draw(st.integers(0, size - 1))}
    at = next(iter(main))
    while (above := parents[at]) is not None:
        main.add(above)
        at = above
    return [
        Item(
            id=f"n{index}",
            parent=None if parent is None else f"n{parent}",
            order=index,
            is_main=index in main,
            is_side=draw(st.booleans()),
        )
        for index, parent in enumerate(parents)
    ]


@pytest.mark.rule("U6.2")
@given(items=trees())
def test_nodes_never_overlap_and_edges_go_down(items):
    drawing = layout(items)
    placed = drawing.by_id()

    assert len({(one.x, one.y) for one in drawing.nodes}) == len(items)
    for one in drawing.nodes:
        assert 0 <= one.x <= drawing.width - NODE_WIDTH
        assert 0 <= one.y <= drawing.height - NODE_HEIGHT
    for first in drawing.nodes:
        for second in drawing.nodes:
            if first is not second and first.row == second.row:
                assert abs(first.x - second.x) >= NODE_WIDTH
    for link in drawing.links:
        assert placed[link.target].y > placed[link.origin].y + NODE_HEIGHT
        assert placed[link.target].row == placed[link.origin].row + 1


@given(items=trees(), seed=st.randoms(use_true_random=False))
def test_the_same_tree_is_drawn_the_same_in_whatever_order_it_comes(items, seed):
    shuffled = list(items)
    seed.shuffle(shuffled)

    assert layout(items) == layout(items)
    assert layout(items).by_id() == layout(shuffled).by_id()


@given(items=trees())
def test_the_preferred_branch_has_the_first_lane(items):
    placed = layout(items).by_id()

    assert {placed[item.id].lane for item in items if item.is_main} == {0}


def test_a_lane_that_was_left_is_used_again():
    spine = [
        Item(id=f"s{n}", parent=f"s{n - 1}" if n else None, order=n, is_main=True) for n in range(9)
    ]
    forks = [Item(id=f"f{n}", parent=f"s{n}", order=20 + n) for n in (0, 3, 6)]

    assert layout([*spine, *forks]).lanes == 2


def test_nothing_is_an_empty_drawing():
    assert layout([]).nodes == ()


@pytest.mark.parametrize("shape", ["line", "star", "comb"])
def test_two_thousand_nodes_are_placed_at_once(shape):
    parent = {"line": lambda n: n - 1, "star": lambda n: 0, "comb": lambda n: n - 1 - n % 2}[shape]
    items = [Item(id="0", parent=None, order=0, is_main=True)]
    items += [Item(id=str(n), parent=str(max(0, parent(n))), order=n) for n in range(1, 2000)]
    best = min(_seconds(items) for _ in range(5))

    assert best < 0.2


def _seconds(items) -> float:
    begin = time.perf_counter()
    layout(items)
    return time.perf_counter() - begin
