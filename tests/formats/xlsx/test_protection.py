"""Protected sheets and workbooks are told plainly, and what is not offered is said (F40.16-18)."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from backshop.formats.errors import FormatError
from backshop.formats.operation_guide import explained, operation_sheet
from backshop.formats.protocol import Source

from .books import book, edit, lines, mapped, source

WAY = "the person can lift the protection in their own program"


def refused(act: Any) -> FormatError:
    with pytest.raises(FormatError) as caught:
        act()
    return caught.value


def put(cell: str, value: object = "x") -> dict[str, Any]:
    return {"op": "set_cells", "sheet": "S", "cells": [{"cell": cell, "value": value}]}


def with_text(path: Path, part: str, old: bytes, new: bytes) -> Source:
    """Replace a piece of a part of a workbook."""
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    assert old in parts[part]
    parts[part] = parts[part].replace(old, new, 1)
    with zipfile.ZipFile(path, "w") as file:
        for name, data in parts.items():
            file.writestr(name, data)
    return source(path)


@pytest.fixture
def locked(tmp_path: Path) -> Source:
    """A form: a protected sheet with some cells to fill in, and two ranges that may be edited."""
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as made:
        free = made.add_format({"locked": False})
        sheet = made.add_worksheet("S")
        sheet.write("A1", "Name")
        for row in range(3):
            sheet.write_blank(row, 1, None, free)
            sheet.write_blank(row, 2, None, free)
        sheet.write_blank(8, 4, None, free)
        sheet.set_column("H:I", 12, free)
        sheet.protect("secret", {"format_columns": True, "sort": True, "insert_rows": True})
        sheet.unprotect_range("K1:K5", "Free")
        sheet.unprotect_range("L1:L5", "Guarded", "password")
    return source(path)


@pytest.mark.rule("F40.16", "F23.10", "F8.2")
def test_the_map_tells_what_is_locked_and_allowed_and_never_a_password(locked):
    (sheet,) = mapped(locked)["sheets"]

    assert sheet["protected"] == {
        "password": True,
        "allowed": ["format columns", "insert rows", "sort"],
        "unlocked": ["B1:C3", "E9", "H:I (where cells have no own look)"],
        "ranges": [
            {"name": "Free", "range": "K1:K5", "password": False},
            {"name": "Guarded", "range": "L1:L5", "password": True},
        ],
    }


@pytest.mark.rule("F40.16")
def test_a_sheet_that_is_not_protected_or_without_a_password_is_told_as_such(tmp_path):
    with xlsxwriter.Workbook(str(tmp_path / "a.xlsx")) as made:
        made.add_worksheet("Open")
        made.add_worksheet("S").protect()

    first, second = mapped(source(tmp_path / "a.xlsx"))["sheets"]

    assert first["protected"] is False
    assert second["protected"] == {"password": False, "allowed": [], "unlocked": []}


@pytest.mark.rule("F40.16", "F23.10", "F3.1")
def test_a_locked_cell_is_refused_with_the_cells_that_are_not(locked, tmp_path):
    out = tmp_path / "b.xlsx"
    found = refused(lambda: edit(locked, out, put("A1")))

    assert found.reason == "sheet_protected"
    assert found.hints == (
        "unlocked: B1:C3, E9, H:I (where cells have no own look)",
        "L1:L5 (Guarded) needs a password of its own",
        f"{WAY} (its password is needed); it is never lifted here",
    )
    assert "secret" not in str(found)
    assert not out.exists()
    for cell in ("L1", "D1", "J9"):
        assert refused(lambda cell=cell: edit(locked, out, put(cell))).reason == "sheet_protected"


@pytest.mark.rule("F40.16", "F23.10")
def test_unlocked_cells_and_ranges_open_to_all_are_written_and_stay_protected(locked, tmp_path):
    out = tmp_path / "b.xlsx"
    done = edit(locked, out, *(put(cell, cell) for cell in ("B2", "E9", "H4", "K3")))

    assert done.effects.collateral == ()
    assert lines(out)[1] == "2\t\tB2"
    assert mapped(source(out))["sheets"][0]["protected"]["password"] is True
    assert refused(lambda: edit(source(out), tmp_path / "c.xlsx", put("A2"))).reason == (
        "sheet_protected"
    )


@pytest.mark.rule("F40.16")
def test_acts_that_a_protected_sheet_forbids_say_who_can_allow_them(locked, tmp_path):
    out = tmp_path / "b.xlsx"
    wide = {"op": "set_column_widths", "sheet": "S", "columns": [{"column": "A", "width": 9}]}
    high = {"op": "set_row_heights", "sheet": "S", "rows": [{"row": 1, "height": 9}]}

    assert edit(locked, out, wide).ops_applied == 1
    found = refused(lambda: edit(locked, out, high))

    assert (found.reason, found.hints[0].startswith(WAY)) == ("sheet_protected", True)


@pytest.mark.rule("F40.17", "F23.10")
@pytest.mark.parametrize(
    ("mark", "has_password"),
    [(b"", False), (b' workbookPassword="CC1A"', True), (b' workbookHashValue="eA=="', True)],
)
def test_a_protected_structure_is_told_and_refuses_with_who_can_lift_it(
    tmp_path, mark, has_password
):
    book(tmp_path / "a.xlsx", ("S", [[1]]), ("T", [[2]]))
    new = b'<workbookProtection lockStructure="1"%s/><bookViews>' % mark
    base = with_text(tmp_path / "a.xlsx", "xl/workbook.xml", b"<bookViews>", new)

    assert mapped(base)["structure_protected"] == {"password": has_password}
    for op in (
        {"op": "ensure_sheet", "sheet": "New"},
        {"op": "rename_sheet", "sheet": "S", "new_name": "X"},
        {"op": "delete_sheet", "sheet": "S"},
    ):
        found = refused(lambda op=op: edit(base, tmp_path / "b.xlsx", op))
        assert found.reason == "sheet_protected"
        assert found.hints[0].startswith(WAY)
        assert ("its password" in found.hints[0]) is has_password
    assert edit(base, tmp_path / "b.xlsx", put("A1", 5)).ops_applied == 1


@pytest.mark.rule("F40.16")
def test_unlocked_cells_are_found_however_a_cell_is_written(locked):
    base = with_text(
        locked.path,
        "xl/worksheets/sheet1.xml",
        b'<c r="E9" s="1"/>',
        b'<c  s=\'1\' r="E9"/><c s="1" t="str" r="F9"><v>x</v></c>',
    )

    assert mapped(base)["sheets"][0]["protected"]["unlocked"][1] == "E9:F9"


@pytest.mark.rule("F40.18", "F3.1")
@pytest.mark.parametrize(
    ("op", "instead"),
    [
        ("add_pivot_table", "summarize_by_category"),
        ("create_pivot", "GROUP BY"),
        ("add_slicer", "set_autofilter"),
        ("add_sparkline", "add_chart"),
        ("set_print_area", "print set-up"),
        ("page_setup", "print set-up"),
        ("unprotect_sheet", "lifted"),
        ("run_macro", "neither written nor run"),
    ],
)
def test_what_is_not_offered_is_said_with_what_can_be_done(tmp_path, op, instead):
    base = book(tmp_path / "a.xlsx", ("S", [[1]]))
    found = refused(lambda: edit(base, tmp_path / "b.xlsx", {"op": op, "sheet": "S"}))

    assert found.reason == "unknown_op"
    assert "is not offered" in str(found)
    assert [instead in hint for hint in found.hints] == [True]
    assert explained(found, "a.xlsx", [{"op": op}]) is found
    assert refused(lambda: operation_sheet("xlsx", op)).hints == found.hints


@pytest.mark.rule("F40.18")
def test_the_sheet_of_operations_says_what_is_not_offered():
    assert "Not offered: pivots" in operation_sheet("xlsx")
    found = refused(lambda: operation_sheet("xlsx", "set_cellz"))
    assert found.hints[0] == "set_cells"


@pytest.mark.rule("F40.18", "F8.2", "F23.4")
def test_the_map_tells_what_is_there_and_stays(tmp_path):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as made:
        sheet, plain = made.add_worksheet("S"), made.add_worksheet("T")
        sheet.write_row(0, 0, [1, 2, 3])
        sheet.add_sparkline("E1", {"range": "S!A1:C1"})
        sheet.set_landscape()
        plain.write(0, 0, 1)

    done = edit(source(path), tmp_path / "b.xlsx", put("A1", 5))

    assert done.effects.collateral == ()
    for file in (path, tmp_path / "b.xlsx"):
        told = ("has_sparklines", "has_print_setup", "has_slicers", "has_pivot_tables")
        found = [[one[key] for key in told] for one in mapped(source(file))["sheets"]]
        assert found == [[True, True, False, False], [False] * 4]
