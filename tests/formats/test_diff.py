from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backshop.formats.diff.alignment import Effort, changes
from backshop.formats.diff.line_diff import changed_ranges, diff_lines, diff_tables
from backshop.formats.diff.prose import diff_documents
from backshop.formats.diff.word_diff import marked
from backshop.formats.find import replace_spans

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


@given(old=lines, new=lines, steps=st.sampled_from([0, 20, 200, 1_000_000]))
def test_what_lies_between_changes_is_equal(old, new, steps):
    i = j = 0
    for change in changes(old, new, effort=Effort(steps)):
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
    assert [many.page(cursor).cursor for cursor in (0, 1, 2)] == [1, 2, None]
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


@pytest.mark.rule("B12.4")
def test_text_moved_from_one_cell_to_the_next_is_a_change():
    rows = [["a\x1fb", "c"], ["same", "row"]]

    diff = diff_tables(["x", "y"], rows, ["x", "y"], [["a", "b\x1fc"], rows[1]])

    assert [(row.kind, row.before_row or row.after_row) for row in diff.rows] == [
        ("removed", 1),
        ("added", 1),
    ]


def knotted(size):
    """Return two lists in which each anchor shows only once the one before it is taken."""
    old = ["q0", "u"]
    for number in range(1, size):
        old += [f"q{number}", f"q{number - 1}"]
    new = [item for one in old for item in ("j", one)]
    return [*old, "e"], [*new, "f", "f"]


@pytest.mark.rule("B12.2")
def test_comparing_ends_when_its_effort_is_spent():
    old, new = knotted(400)
    effort, enough = Effort(50_000), Effort()

    rough, fine = changes(old, new, effort=effort), changes(old, new, effort=enough)

    assert -len(old) - len(new) <= effort.steps < 0
    assert 0 < enough.steps < Effort().steps - 100_000
    assert sum(c.new_end - c.new_start for c in rough) > sum(c.new_end - c.new_start for c in fine)


@pytest.mark.rule("B12.1", "B12.2")
def test_lines_left_when_the_effort_is_spent_are_marked_whole():
    old, new = "." * 1_000, ". " * 500

    lines = diff_lines([old] * 40, [new] * 40).hunks[0].lines

    assert lines[40].spans == tuple((at, at + 1) for at in range(1, 1_000, 2))
    assert lines[-1].spans == ((0, 1_000),)


def test_words_that_repeat_without_end_are_compared_in_bounded_steps():
    old, new = "a b " * 1_000, "b  a. " * 600

    pieces = marked(old, new)

    assert "".join(piece.text for piece in pieces if piece.mark != "added") == old
    assert "".join(piece.text for piece in pieces if piece.mark != "removed") == new


@given(old=st.text("ab .", max_size=30), new=st.text("ab .", max_size=30))
def test_marked_words_tell_both_sides_and_where_they_stand(old, new):
    pieces = marked(old, new)

    assert "".join(piece.text for piece in pieces if piece.mark != "added") == old
    assert "".join(piece.text for piece in pieces if piece.mark != "removed") == new
    for piece in pieces:
        assert piece.mark == "added" or old.startswith(piece.text, piece.old_at)
        assert piece.mark == "removed" or new.startswith(piece.text, piece.new_at)


class Counted(list[tuple[int, int]]):
    """Counts how often its items are taken."""

    taken = 0

    def __getitem__(self, at):
        self.taken += 1
        return super().__getitem__(at)

    def __iter__(self):
        for at in range(len(self)):
            yield self[at]


@pytest.mark.rule("F19.5")
def test_replacing_looks_at_the_places_of_a_piece_only():
    spans = Counted((4 * at, 4 * at + 3) for at in range(500))

    done = replace_spans(["ab"] * 1_000, spans, "x")

    assert done == ["x", "b"] * 500
    assert spans.taken < 1_000 * 12


@pytest.mark.rule("B12.5")
def test_the_new_version_of_a_paragraph_is_looked_for_nearby():
    def document(*texts):
        given = {"style": None, "alignment": None, "runs": ()}
        paragraphs = [{"index": at, "text": text, **given} for at, text in enumerate(texts)]
        order = [{"p": at} for at in range(len(texts))]
        section = {"heading": "h", "level": 1, "paragraphs": paragraphs, "tables": []}
        return {"sections": [{**section, "order": order}]}

    def kinds(between):
        others = [f"other{number}" for number in range(between)]
        sides = document("one two three four"), document(*others, "one two three five")
        return [block["kind"] for block in diff_documents(*sides, [], [])[0]["blocks"]]

    assert kinds(5) == ["added"] * 5 + ["changed"]
    assert kinds(100) == ["removed"] + ["added"] * 101
