from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backshop.formats.align import changes
from backshop.formats.diff import changed_ranges, diff_lines, diff_tables

lines = st.lists(st.sampled_from(["a", "b", "c", "", "x y", "{", "}"]), max_size=30)


def patched(old, hunks):
    """Apply hunks the way a reader would, checking every line against the old side."""
    result, at = [], 0
    for hunk in hunks:
        start = hunk.old_start - 1 if hunk.old_count else hunk.old_start
        result += old[at:start]
        at = start
        for line in hunk.lines:
            if line.type != "added":
                assert old[at] == line.text
                assert line.old_line == at + 1
                at += 1
            if line.type != "removed":
                assert line.new_line == len(result) + 1
                result.append(line.text)
    return result + old[at:]


@pytest.mark.rule("B12.1")
@given(old=lines, new=lines)
def test_hunks_turn_the_old_side_into_the_new(old, new):
    diff = diff_lines(old, new)

    assert patched(old, diff.hunks) == new
    assert (diff.hunks == ()) == (old == new)
    assert diff.added - diff.removed == len(new) - len(old)


@given(old=lines, new=lines)
def test_what_lies_between_changes_is_equal(old, new):
    i = j = 0
    for change in changes(old, new):
        assert old[i : change.old_start] == new[j : change.new_start]
        i, j = change.old_end, change.new_end
    assert old[i:] == new[j:]


@pytest.mark.rule("B12.1")
def test_a_changed_word_is_marked_and_near_hunks_merge():
    old = [f"line {n}" for n in range(1, 31)]
    new = [*old]
    new[4], new[11], new[25] = "line FIVE", "line TWELVE", "line X"

    diff = diff_lines(old, new)

    assert [(h.old_start, h.old_count, h.new_start, h.new_count) for h in diff.hunks] == [
        (2, 14, 2, 14),
        (23, 7, 23, 7),
    ]
    removed, added = diff.hunks[1].lines[3:5]
    assert (removed.text, removed.spans) == ("line 26", ((5, 7),))
    assert (added.text, added.spans) == ("line X", ((5, 6),))


@pytest.mark.rule("B12.2")
def test_limits_give_statistics_or_pages():
    huge = diff_lines(["x"] * 150_000, ["x"] * 50_001)
    assert (huge.too_large, huge.hunks, huge.added, huge.removed) == (True, (), 0, 99_999)

    many = diff_lines([], [str(n) for n in range(12_000)])
    assert [many.page(cursor)["cursor"] for cursor in (0, 1, 2)] == [1, 2, None]
    assert sum(len(hunk.lines) for hunk in many.hunks) == 12_000

    cut = diff_lines(["a"], ["b" * 5_000]).hunks[0].lines[1]
    assert (len(cut.text), cut.truncated) == (4_000, True)


def test_moved_and_repeated_lines_stay_quick():
    old = [str(n % 7) for n in range(20_000)]
    new = [str(n % 5) for n in range(20_000)]

    assert patched(old, diff_lines(old, new).hunks) == new


def test_changed_ranges_name_lines_of_the_new_side():
    assert changed_ranges(["a", "b", "c"], ["a", "B", "c"]) == [(2, 2)]
    assert changed_ranges(["a", "b", "c"], ["a", "c"]) == [(2, 1)]


@pytest.mark.rule("B12.4")
def test_rows_are_aligned_and_half_equal_ones_are_changes():
    diff = diff_tables(
        ["id", "name", "town"],
        [["1", "ann", "oslo"], ["2", "bo", "rome"], ["3", "cy", "bonn"]],
        ["id", "name", "town", "age"],
        [["1", "ann", "oslo", "4"], ["2", "bob", "rome", ""], ["9", "zed", "faro", ""]],
    )

    assert diff.columns_added == ("age",)
    assert [(r.kind, r.before_row, r.after_row) for r in diff.rows] == [
        ("changed", 2, 2),
        ("removed", 3, None),
        ("added", None, 3),
    ]
    assert diff.rows[0].cells == (("name", "bo", "bob"),)
