"""Pages of two versions are paired by what stands on them, not by their numbers (B12.10)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backshop.formats.diff.page_diff import Page, pair_pages


def pairs(old: list[Page], new: list[Page]) -> list[tuple[int | None, int | None, str]]:
    found: Any = pair_pages(old, new)
    return [(one["index_before"], one["index_after"], one["kind"]) for one in found]


def pages(*texts: str) -> list[Page]:
    return [Page(text, "drawn") for text in texts]


@pytest.mark.rule("B12.10")
@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        (pages("a", "b"), pages("a", "b"), [(0, 0, "same"), (1, 1, "same")]),
        (
            pages("a", "b", "c"),
            pages("new", "a", "b", "c"),
            [(None, 0, "added"), (0, 1, "same"), (1, 2, "same"), (2, 3, "same")],
        ),
        (
            pages("a", "b", "c"),
            pages("a", "c"),
            [(0, 0, "same"), (1, None, "removed"), (2, 1, "same")],
        ),
        (pages("one two three"), pages("one two 3"), [(0, 0, "changed")]),
        (
            pages("x", "one two three four"),
            pages("x", "other words here", "one two three 4"),
            [(0, 0, "same"), (None, 1, "added"), (1, 2, "changed")],
        ),
        ([Page("a", "1")], [Page("a", "2")], [(0, 0, "look")]),
        ([Page("a", None)], [Page("a", "2")], [(0, 0, "same")]),
        (
            [Page("", "scan 1"), Page("", "scan 2")],
            [Page("", "new"), Page("", "scan 1"), Page("", "scan 2")],
            [(None, 0, "added"), (0, 1, "same"), (1, 2, "same")],
        ),
    ],
)
def test_a_page_stands_beside_its_own_former_self_or_beside_nothing(old, new, found):
    assert pairs(old, new) == found


@pytest.mark.rule("B12.10")
@given(
    old=st.lists(st.sampled_from("abcd"), max_size=6),
    new=st.lists(st.sampled_from("abcd"), max_size=6),
)
def test_every_page_of_both_versions_is_paired_once_and_in_order(old, new):
    found = pairs(pages(*old), pages(*new))

    assert [a for a, _, _ in found if a is not None] == list(range(len(old)))
    assert [b for _, b, _ in found if b is not None] == list(range(len(new)))
