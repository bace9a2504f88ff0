"""Changes of texts and tables one by one: any choice of them is exactly what the file then has."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import PROOF
from tests.formats.selection.contents import composed, pair, source, subsets

from backshop.formats import FILE, FormatError, Formats, Place
from backshop.formats.text import row_selection, selection

SOME = settings(max_examples=2000 if PROOF else 60)
words = st.sampled_from(["", "}", "one two", "one two three", "other words", "x", "y\r", "ä ö"])
texts = st.lists(words, max_size=9).map("\n".join)
fields = st.sampled_from(["a", "b", "7", '"p,q"', '"l\nm"', '"never closed', ""])
tables = st.lists(st.lists(fields, min_size=2, max_size=2).map(",".join), max_size=8).map(
    lambda rows: "name,amount\n" + "\n".join(rows)
)


@pytest.fixture(scope="module")
def formats():
    with Formats(workers=1) as made:
        yield made


def holds_for_every_choice(module, folder: Path, name: str, old: bytes, new: bytes) -> None:
    before, after = pair(folder, name, old, new)
    units = module.separate(before, after)
    ids = [unit.id for unit in units]
    assert len(set(ids)) == len(ids)
    assert bool(units) == (old != new)
    for left_out in subsets(units, seed=len(old), count=3):
        out = folder / "made"
        module.compose(before, after, left_out, out)
        made = source(folder / "made-file" / name, out.read_bytes())

        assert [unit.id for unit in module.separate(before, made)] == [
            one for one in ids if one not in left_out
        ]
        if len(left_out) in (0, len(ids)):
            assert out.read_bytes() == (old if left_out else new)


@pytest.mark.rule("F34.31", "F34.32")
@SOME
@given(old=texts, new=texts, encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]))
def test_any_choice_of_changed_lines_is_what_the_text_has(tmp_path_factory, old, new, encoding):
    folder = tmp_path_factory.mktemp("t")
    sides = (old.encode(encoding), new.encode(encoding))

    holds_for_every_choice(selection, folder, "a.txt", *sides)


@pytest.mark.rule("F34.31", "F34.33")
@SOME
@given(old=tables, new=tables)
def test_any_choice_of_changed_rows_is_what_the_table_has(tmp_path_factory, old, new):
    folder = tmp_path_factory.mktemp("t")

    holds_for_every_choice(row_selection, folder, "a.csv", old.encode(), new.encode())


def labels(module, folder: Path, name: str, old: str, new: str) -> list[tuple[str, bool]]:
    units = module.separate(*pair(folder, name, old.encode(), new.encode()))
    return [(unit.label, unit.tied is not None) for unit in units]


@pytest.mark.rule("F34.32")
def test_lines_changed_apart_are_changes_of_their_own(tmp_path):
    old = "".join(f"line {n} of the text\n" for n in range(1, 12))
    new = old.replace("line 2 of", "line 2 in").replace("line 3 of", "line 3 in")
    new = new.replace("line 7 of the text\n", "").replace("line 9 ", "A line between\nline 9 ")

    assert labels(selection, tmp_path, "a.txt", old, new) == [
        ("line 2", False),
        ("line 3", False),
        ("line 7 (removed)", False),
        ("line 8", False),
    ]


@pytest.mark.rule("F34.32")
def test_line_ends_changed_throughout_are_one_change_between_the_others(tmp_path):
    old = "".join(f"line {n} of the text\n" for n in range(1, 8))
    new = old.replace("line 4 of", "line 4 in").replace("\n", "\r\n")

    assert labels(selection, tmp_path, "a.txt", old, new) == [
        ("lines 1–3", False),
        ("line 4", False),
        ("lines 5–7", False),
    ]


@pytest.mark.rule("F34.32")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a\nb\n".encode("utf-16"), b"a\nc\n"),
        (b"a\nb\n", "a\nc\n".encode("utf-8-sig")),
        ("é\nb\n".encode("cp1252"), "é\nc\n".encode()),
    ],
)
def test_another_encoding_makes_the_file_one_change(tmp_path, old, new):
    (unit,) = selection.separate(*pair(tmp_path, "a.txt", old, new))

    assert (unit.kind, unit.place) == ("file", FILE)
    assert "encoding" in (unit.tied or "")


@pytest.mark.rule("F34.33")
def test_rows_are_changed_added_and_removed_one_by_one(tmp_path):
    old = 'name,amount,note\nann,1,x\nbob,2,"two\nlines"\ncid,3,z\ndee,4,w\n'
    new = 'name,amount,remark\nann,9,x\nbob,2,"two\nother lines"\ndee,4,w\neve,5,v\nfay,6,u\n'

    assert labels(row_selection, tmp_path, "a.csv", old, new) == [
        ("header", False),
        ("row 1", False),
        ("row 2", False),
        ("row 3 (removed)", False),
        ("row 4", False),
        ("row 5", False),
    ]


@pytest.mark.rule("F34.33")
@pytest.mark.parametrize("head", ["name,amount,note", "name", "amount,name"])
def test_another_set_of_columns_is_one_change(tmp_path, head):
    old = "name,amount\nann,1\nbob,2\n"
    new = "\n".join([head, *(",".join([one] * len(head.split(","))) for one in "pq"), ""])

    (unit,) = row_selection.separate(*pair(tmp_path, "a.csv", old.encode(), new.encode()))

    assert (unit.kind, unit.group, unit.label) == ("file", "structure", "columns")


@pytest.mark.rule("F34.33")
def test_a_row_is_not_joined_to_one_without_a_line_end(tmp_path):
    old, new = "a,b\n1,x\n2,y", "a,b\n1,x\n2,y\n3,z\n4,w"

    assert labels(row_selection, tmp_path, "a.csv", old, new) == [("rows 2–4", True)]


@pytest.mark.rule("F34.34")
def test_a_text_beyond_the_limits_is_one_change(tmp_path):
    old = b"".join(b"%d\n" % n for n in range(120_000))

    (unit,) = selection.separate(*pair(tmp_path, "a.txt", old, old + b"more\n"))

    assert unit.kind == "file"


# --- the door -----------------------------------------------------------------------------------


@pytest.mark.rule("F34.30")
def test_the_door_takes_and_leaves_changes(tmp_path, formats):
    sides = pair(tmp_path, "a.md", b"one\ntwo\nthree\n", b"ONE\ntwo\nthree\nfour\n")
    first, last = formats.separate(*sides)

    assert composed(formats, sides, frozenset({first.id})).path.read_bytes() == (
        b"one\ntwo\nthree\nfour\n"
    )
    assert composed(formats, sides, frozenset({last.id})).path.read_bytes() == b"ONE\ntwo\nthree\n"
    assert composed(formats, sides, frozenset()).sha256 == sides[1].sha256
    assert composed(formats, sides, frozenset({first.id, last.id})).sha256 == sides[0].sha256
    assert formats.separate(sides[0], sides[0]) == []


@pytest.mark.rule("F34.30")
def test_a_change_that_is_not_there_is_not_left_out(tmp_path, formats):
    sides = pair(tmp_path, "a.txt", b"one\n", b"two\n")

    with pytest.raises(FormatError) as caught:
        composed(formats, sides, frozenset({"0" * 16}))

    assert caught.value.reason == "not_found"
    assert not (tmp_path / "made" / "a.txt").exists()


@pytest.mark.rule("F34.30")
@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("a.bin", b"\0one", b"\0two"),
        ("a.txt", b"one\n", b"\0two"),
        ("a.xlsx", b"PK\x03\x04one", b"PK\x03\x04two"),
        ("a.pptm", b"PK\x03\x04one", b"PK\x03\x04two"),
        ("a.pdf", b"%PDF-1.4 one", b"%PDF-1.4 two"),
        ("a.png", b"no picture", b"\x89PNG\r\n\x1a\n"),
    ],
)
def test_what_cannot_be_parted_is_one_change_with_its_reason(tmp_path, formats, name, old, new):
    sides = pair(tmp_path, name, old, new)

    (unit,) = formats.separate(*sides)

    assert (unit.kind, unit.group, unit.place) == ("file", "other", FILE)
    assert unit.tied
    assert composed(formats, sides, frozenset({unit.id})).sha256 == sides[0].sha256


# --- places -------------------------------------------------------------------------------------

LINES = b"alpha one\nbeta two\ngamma three\ndelta four\nepsilon five\n"


def moved(formats, folder: Path, name: str, old: bytes, new: bytes, **place):
    (found,) = formats.relocate(*pair(folder, name, old, new), [Place(**place)])
    return found.place, found.is_touched


@pytest.mark.rule("F34.36")
def test_lines_are_found_where_they_went(tmp_path, formats):
    new = LINES.replace(b"alpha one\n", b"zero\nalpha one\n").replace(
        b"delta four", b"delta 4 four"
    )

    def found(**place):
        return moved(formats, tmp_path, "a.txt", LINES, new, **place)

    assert found(line_start=2) == (Place(line_start=3, line_end=3), False)
    assert found(line_start=4) == (Place(line_start=5, line_end=5), True)
    assert found(line_start=2, line_end=4) == (Place(line_start=3, line_end=5), True)
    assert found(words="gamma") == (Place(line_start=4, line_end=4, words="gamma"), False)
    assert found() == (FILE, True)


@pytest.mark.rule("F34.36")
def test_lines_that_went_are_gone_and_lines_carried_off_are_found(tmp_path, formats):
    new = b"gamma three\ndelta four\nepsilon five\nalpha one\n"

    def found(**place):
        return moved(formats, tmp_path, "a.txt", LINES, new, **place)

    assert found(line_start=2) == (None, True)
    assert found(line_start=1) == (Place(line_start=4, line_end=4), False)


@pytest.mark.rule("F34.36")
def test_words_that_went_leave_their_line(tmp_path, formats):
    new = LINES.replace(b"beta two", b"beta 2")

    assert moved(formats, tmp_path, "a.txt", LINES, new, line_start=2, words="two") == (
        Place(line_start=2, line_end=2),
        True,
    )


@pytest.mark.rule("F34.36")
def test_rows_are_found_where_they_went(tmp_path, formats):
    old = b"name,amount,note\nann,1,x\nbob,2,y\ncid,3,z\n"
    new = b'name,amount,note\nzoe,0,"a\nb"\nann,1,x\ncid,4,z\n'

    def found(**place):
        return moved(formats, tmp_path, "a.csv", old, new, **place)

    assert found(row_start=1) == (Place(row_start=2, row_end=2), False)
    assert found(row_start=3) == (Place(row_start=3, row_end=3), True)
    assert found(line_start=2) == (Place(line_start=4, line_end=4), False)


@pytest.mark.rule("F34.36")
@pytest.mark.parametrize(
    ("name", "place", "reason"),
    [
        ("a.txt", Place(line_start=9), "bad_index"),
        ("a.txt", Place(line_start=3, line_end=2), "bad_index"),
        ("a.txt", Place(line_end=2), "bad_selector"),
        ("a.txt", Place(sheet="S"), "bad_selector"),
        ("a.txt", Place(words="nowhere"), "no_match"),
        ("a.txt", Place(words="t"), "ambiguous_match"),
        ("a.txt", Place(line_start=1, words="two"), "no_match"),
        ("a.csv", Place(row_start=0), "bad_index"),
        ("a.csv", Place(row_end=1), "bad_selector"),
        ("a.csv", Place(row_start=1, line_start=1), "op_conflict"),
        ("a.csv", Place(row_start=1, words="nowhere"), "no_match"),
    ],
)
def test_a_place_that_is_not_there_is_refused(tmp_path, formats, name, place, reason):
    before, after = pair(tmp_path, name, LINES, LINES + b"more\n")

    for ask in (
        lambda: formats.require_place(before, place),
        lambda: formats.relocate(before, after, [place]),
    ):
        with pytest.raises(FormatError) as caught:
            ask()
        assert caught.value.reason == reason


@pytest.mark.rule("F34.36")
def test_files_without_places_are_one_place(tmp_path, formats):
    before, after = pair(tmp_path, "a.bin", b"\0one", b"\0two")

    assert formats.require_place(before, FILE) == FILE
    (found,) = formats.relocate(before, after, [FILE])
    assert (found.place, found.is_touched) == (FILE, True)
