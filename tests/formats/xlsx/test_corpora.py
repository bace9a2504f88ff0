"""One edit in every workbook others made: all else stays to the bit, a second reader agrees."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from python_calamine import CalamineError, CalamineWorkbook

from backshop.formats import xlsx
from backshop.formats.errors import REASONS, FormatError
from backshop.formats.package.package import Package
from backshop.formats.protocol import Selector
from backshop.formats.xlsx.book.workbook import Book, Value
from backshop.formats.xlsx.edit.operation import SPECS
from backshop.formats.xlsx.syntax.address import cell_name

from .. import second_reader
from ..rates import Rate
from .books import differing, edit, mapped, opened, source

pytestmark = pytest.mark.needs("corpora")
FOLDERS = ("xlsx-features", "ooxml-odd", "office-fixtures")
NEW = "neu ß & <x>"
REFUSED = {"sheet_protected", "macro_enabled_read_only", "signed_document"}
NEEDED: dict[str, list[dict[str, Any]]] = {  # so that there is something to take away
    "delete_conditional_format": [
        {"op": "add_conditional_format", "range": "A1:B9", "kind": "duplicate"}
    ],
    "delete_validation": [
        {"op": "set_validation", "range": "A1:B9", "kind": "list", "values": ["x"]}
    ],
}
STRICT = {"SampleSS.strict.xlsx", "sample.strict.xlsx"}  # openpyxl sees no sheets in these


TABLE = {"op": "add_table", "range": "WA1:WB3", "name": "Backshop_Table"}


def workbooks(corpora: Path, every: int = 1) -> list[Path]:
    found = sorted(p for f in FOLDERS for p in (corpora / f).rglob("*.xls[xm]"))
    return found[::every]


@pytest.mark.rule("F23.1", "F23.4", "F23.8", "F16.14", "F3.2")
def test_one_edit_leaves_every_other_member_alone(corpora, tmp_path, scaled, record_property):
    out = tmp_path / "out.xlsx"
    rate = Rate("workbooks")
    for path in workbooks(corpora, scaled(8, 1)):
        made = source(path)
        try:
            sheets = mapped(made)["sheets"]
            xlsx.read(made, Selector())
        except FormatError as error:
            assert error.reason in REASONS
            rate.refuse(error)
            continue
        sheet = next(s for s in sheets if s["kind"] == "worksheet")
        cell = f"B{(sheet['used_range'] or {'max_row': 0})['max_row'] + 2}"
        op = {"op": "set_cells", "sheet": sheet["name"], "cells": [{"cell": cell, "value": NEW}]}
        try:
            result = edit(made, out, op)
        except FormatError as error:
            assert error.reason in REFUSED, path.name
            rate.refuse(error)
            continue

        assert differing(path, out) == set(result.changed_parts), path.name
        assert result.effects.collateral == (), path.name
        assert xlsx.read(source(out), Selector(sheet=sheet["name"], range=cell)).text.endswith(NEW)
        if path.name not in STRICT:
            assert opened(out)[sheet["name"]][cell].value == NEW, path.name
        rate.edited += 1

    rate.record(record_property)
    assert rate.edited > 400 // scaled(8, 1) * 0.95


def _every_operation(name: str, used: Any) -> list[dict[str, Any]]:
    below = (used or {"max_row": 0})["max_row"] + 3
    last = cell_name(used["max_row"], used["max_col"]) if used else "B2"
    columns = {"category_col": "A", "amount_col": "B"}
    ops: list[dict[str, Any]] = [
        {"op": "ensure_sheet", "sheet": "Brand new", "position": 0},
        {"op": "rename_sheet", "sheet": name, "new_name": "Another's name"},
        {"op": "delete_sheet", "sheet": name},
        {"op": "set_cells", "cells": [{"cell": "A1", "value": NEW, "style": {"font_bold": True}}]},
        {"op": "set_range", "start": f"C{below}", "values": [[1, "x"], [None, True]]},
        {"op": "fill_formula", "range": f"C{below}:D{below + 3}", "formula": "=SUM(A$1:A1)"},
        {"op": "replace_text", "search": "e", "replace": "€€"},
        {"op": "append_rows", "values": [["x", 2]], "style": {"fill_color": "#FFEEDD"}},
        {"op": "clear_range", "range": last, "what": "all"},
        {"op": "set_style", "range": "A1:C3", "style": {"number_format": "0.0", "wrap_text": True}},
        {"op": "merge_cells", "range": f"D{below}:E{below + 1}"},
        {"op": "unmerge_cells", "range": "A1:Z99"},
        {"op": "set_column_widths", "columns": [{"column": "B", "width": 21}]},
        {"op": "set_row_heights", "rows": [{"row": 2, "height": 31}]},
        {"op": "freeze_panes", "row": 2, "column": 1},
        {"op": "insert_rows", "row": 3, "values": [[NEW, 1, "=A1"]]},
        {"op": "delete_rows", "from": 2, "to": 3},
        {"op": "insert_columns", "column": "B", "count": 2, "copy_format": "right"},
        {"op": "delete_columns", "from": 2},
        {"op": "set_autofilter", "range": f"A1:{last}"},
        {"op": "sort_range", "range": f"A1:{last}", "by": [{"column": 1, "order": "descending"}]},
        {"op": "remove_duplicates", "range": f"A1:{last}", "columns": ["A"], "header": False},
        {"op": "copy_range", "range": f"A1:{last}", "to": f"B{below}"},
        {"op": "move_range", "range": f"A1:{last}", "to": f"C{below}"},
        {"op": "copy_sheet", "new_name": "Once more"},
        {"op": "move_sheet", "position": 0},
        {"op": "set_sheet_state", "tab_color": "#00AA00"},
        {"op": "summarize_by_category", "sheet": "Sums", "source_sheets": [name], **columns},
        {"op": "add_chart", "cell": f"C{below}", "kind": "line", "data": f"A1:{last}"},
        {"op": "change_chart", "chart": 1, "title": NEW, "legend": "top"},
        {"op": "add_image", "cell": f"C{below}", "image": "dot.png"},
        {"op": "delete_drawing", "name": 1},
        {"op": "add_table", "range": f"A1:{last}", "name": "Backshop", "totals": True},
        {"op": "change_table", "table": TABLE["name"], "style": "light 1", "totals": True},
        {"op": "delete_table", "table": TABLE["name"]},
        {"op": "add_conditional_format", "range": f"A1:{last}", "kind": "data_bar"},
        {"op": "delete_conditional_format", "number": 1},
        {"op": "set_validation", "range": "A2:B9", "kind": "list", "values": [NEW, 7]},
        {"op": "delete_validation", "range": "A1:Z99"},
        {"op": "set_name", "name": "Brand_new", "refers_to": f"A1:{last}"},
        {"op": "delete_name", "name": "Brand_new"},
        {"op": "set_note", "cell": last, "text": NEW},
        {"op": "delete_note", "cell": last},
        {"op": "set_link", "range": last, "target": "https://example.org/?a=1&b=2#c"},
        {"op": "delete_link", "range": last},
    ]
    return [{"sheet": name, **op} for op in ops]


def _first(op: dict[str, Any]) -> list[dict[str, Any]]:
    """What has to be there for an operation: its sheet, and what it changes or deletes."""
    sheet = {"sheet": op["sheet"]}
    first = [
        {"op": "ensure_sheet", **sheet},
        *({**one, **sheet} for one in NEEDED.get(op["op"], ())),
    ]
    if op.get("table") == TABLE["name"]:
        return [*first, {**TABLE, **sheet}]
    verb, _, what = op["op"].partition("_")
    if verb != "delete" or what not in ("name", "note", "link"):
        return first
    needed = {"name": ("refers_to", "=7"), "note": ("text", "x"), "link": ("target", "A1")}
    return [*first, {**op, "op": f"set_{what}", **dict([needed[what]])}]


@pytest.mark.rule("F16.13", "F16.14", "F23.1", "F23.4")
def test_every_operation_changes_what_it_aims_at_and_nothing_else(
    corpora, tmp_path, scaled, record_property
):
    out, dot = tmp_path / "out.xlsx", tmp_path / "dot.png"
    Image.new("1", (2, 2)).save(dot)
    files = {"dot.png": source(dot)}
    rate, done, unread = Rate("operations on workbooks"), set(), 0
    for number, path in enumerate(workbooks(corpora, scaled(40, 1))):
        made = source(path)
        try:
            sheet = next(s for s in mapped(made)["sheets"] if s["kind"] == "worksheet")
        except FormatError as error:
            assert error.reason in REASONS, path.name
            unread += 1
            continue
        ops = _every_operation(sheet["name"], sheet["used_range"])
        for op in ops[number % scaled(3, 1) :: scaled(3, 1)]:
            out.unlink(missing_ok=True)
            try:
                result = edit(made, out, *_first(op), op, files=files)
            except FormatError as error:
                assert error.reason in REASONS, (path.name, op)
                assert not out.exists(), (path.name, op)
                rate.refuse(error)
                continue
            done.add(op["op"])
            assert differing(path, out) == set(result.changed_parts), (path.name, op)
            assert result.effects.collateral == (), (path.name, op)
            xlsx.extract_lines(source(out))
            mapped(source(out))
            assert not _opens(path) or _opens(out), (path.name, op)
            rate.edited += 1

    rate.record(record_property)
    record_property("files that cannot be read", unread)
    assert done == {spec.name for spec in SPECS}


def _opens(path: Path) -> bool:
    try:
        opened(path)
    except Exception:  # the second reader fails on some of these files in its own ways
        return False
    return True


_EVERY_SHEET = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1"


@pytest.mark.rule("F16.14", "F23.4")
@pytest.mark.needs("libreoffice")
def test_libreoffice_opens_every_edited_workbook_and_shows_the_new_value(corpora, tmp_path, scaled):
    edited, originals = tmp_path / "edited", tmp_path / "originals"
    edited.mkdir()
    originals.mkdir()
    names: dict[str, str] = {}
    for number, path in enumerate(workbooks(corpora, scaled(60, 1))):
        made, out = source(path), edited / f"{number}.xlsx"
        try:
            sheet = next(s for s in mapped(made)["sheets"] if s["kind"] == "worksheet")
            cell = f"B{(sheet['used_range'] or {'max_row': 0})['max_row'] + 2}"
            cells = [{"cell": cell, "value": NEW}]
            edit(made, out, {"op": "set_cells", "sheet": sheet["name"], "cells": cells})
        except FormatError:
            continue  # what is refused, and why, is the other test's
        names[out.stem] = path.name
        shutil.copyfile(path, originals / out.name)

    unseen = _not_shown(edited, names, tmp_path / "one")
    before = _opened_by_libreoffice(originals, unseen, tmp_path / "two")

    assert names
    assert {names[stem] for stem in unseen & before} == set()
    assert len(unseen) <= 0.05 * len(names)


def _not_shown(folder: Path, names: dict[str, str], into: Path) -> set[str]:
    """The files in whose sheets LibreOffice does not show the new value."""
    seen = _opened_by_libreoffice(folder, set(names), into)
    shown = {
        stem
        for stem in seen
        if any(NEW in sheet.read_text("utf-8") for sheet in _sheets(into / "converted", stem))
    }
    return set(names) - shown


def _opened_by_libreoffice(folder: Path, stems: set[str], into: Path) -> set[str]:
    files = [folder / f"{stem}.xlsx" for stem in sorted(stems)]
    for start in range(0, len(files), 40):
        second_reader.convert(files[start : start + 40], into, _EVERY_SHEET, timeout_s=1800)
    return {stem for stem in stems if _sheets(into / "converted", stem)}


def _sheets(folder: Path, stem: str) -> list[Path]:
    return list(folder.glob(f"{stem}-*.csv"))


@pytest.mark.rule("F8.1", "F30.1")
def test_our_values_agree_with_calamines(corpora, scaled):
    compared = 0
    for path in workbooks(corpora, scaled(4, 1)):
        try:
            book = Book(Package.open(source(path)))
            other = CalamineWorkbook.from_path(str(path))
        except (FormatError, CalamineError):  # either reader may refuse the odd ones
            continue
        for sheet in book.sheets:
            xml = book.xml(sheet)
            try:
                rows = other.get_sheet_by_name(sheet.name).to_python(skip_empty_area=False)
            except CalamineError:
                continue
            for cell in (cell for row in xml.iter_rows() for cell in xml.cells(row)) if xml else ():
                inside = cell.row <= len(rows) and cell.col <= len(rows[cell.row - 1])
                theirs = rows[cell.row - 1][cell.col - 1] if inside else ""
                ours = book.value(cell)
                if ours.kind in {"string", "boolean"} or (ours.kind == "number" and ours.number):
                    assert same(ours, theirs), (path.name, sheet.name, cell, theirs)
                    compared += 1

    assert compared > 5_000 // scaled(4, 1)


def same(ours: Value, theirs: object) -> bool:
    if ours.kind == "boolean":
        return theirs is bool(ours.number)
    if ours.kind == "number":
        return isinstance(theirs, float | int) and theirs == ours.number
    plain = re.sub(r"_x([Ff]{3}[EeFf])_", lambda m: chr(int(m[1], 16)), str(theirs))
    return ours.text in (theirs, plain) or (not ours.text and theirs == "")  # it keeps `_xFFFE_`
