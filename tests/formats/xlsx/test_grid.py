from __future__ import annotations

import datetime
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from backshop.formats import seen_cell, xlsx
from backshop.formats.errors import FormatError

from .books import book, edit, lines, source


@pytest.mark.rule("F29.4")
def test_a_grid_shows_values_formulas_and_looks(tmp_path):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("S")
        sheet.write(0, 0, 1234.5, file.add_format({"num_format": "#,##0.00", "bold": True}))
        sheet.write_datetime(
            0, 1, datetime.datetime(2024, 3, 1), file.add_format({"num_format": 14})
        )
        sheet.write_formula(1, 0, "=A1*2", None, 2469)
        sheet.write(1, 1, True)
        sheet.merge_range("A4:B4", "m")
        sheet.set_row(1, 33)
        sheet.set_column("B:B", 0, None, {"hidden": True})
        sheet.freeze_panes(1, 0)

    found = json.loads(json.dumps(xlsx.extract_grid(source(path), "S", 0, 0, 3, 2)))

    first, second = found["cells"][:2]
    assert first[0] == {
        "value": 1234.5,
        "type": "number",
        "display": "1,234.50",
        "style": 1,
    }
    assert found["styles"][:2] == [
        {},
        {
            "font_name": "Calibri",
            "font_size": 11,
            "font_bold": True,
            "font_color": "#000000",
            "number_format": "#,##0.00",
        },
    ]
    assert (first[1]["value"], first[1]["type"], first[1]["display"]) == (
        "2024-03-01",
        "date",
        "3/1/2024",
    )
    assert (second[0]["value"], second[0]["formula"]) == (2469, "=A1*2")
    assert (second[1]["value"], second[1]["type"]) == (True, "boolean")
    assert found["cells"][2] == []
    assert (found["row_count"], found["col_count"], found["merges"]) == (4, 2, [])
    assert found["row_heights"] == {"2": 33.0}
    assert found["column_widths"] == {"B": 0.0}
    assert found["frozen"] == {"row": 1, "column": 0}
    with pytest.raises(FormatError):
        xlsx.extract_grid(source(path), "S", 0, 0, 201, 1)


@pytest.mark.rule("F8.10", "F29.4")
def test_numbers_at_the_edge_of_what_formats_show_do_not_spoil_a_grid(tmp_path):
    edges = [(1e27, "0.00"), (1e300, "#,##0"), (1.5, "0." + "0" * 30), (1e308, "[h]:mm")]
    edges += [(2958465.999999999, "yyyy-mm-dd"), (1.5, "0." + "0" * 300)]
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("S")
        for row, (value, code) in enumerate(edges):
            sheet.write(row, 0, value, file.add_format({"num_format": code}))

    grid: Any = xlsx.extract_grid(source(path), "S", 0, 0, 9, 1)
    shown = [row[0]["display"] for row in grid["cells"]]

    assert shown == [
        "1" + "0" * 27 + ".00",
        "1" + ",000" * 100,
        "1.5" + "0" * 29,
        "1E+308",
        "2958466",
        "1.5",
    ]
    assert lines(path)[4] == "5\t2958466"


@pytest.mark.rule("F29.1")
def test_lines_for_review(tmp_path):
    made = book(
        tmp_path / "a.xlsx", ("S", [["a", None, 1], [], ["=A1|5", "x\ny"]]), ("T", [[True]])
    )

    assert xlsx.extract_lines(made) == [
        "[S] 1 | a | 1",
        "[S] 3 | 5 {=A1} | x\\ny",
        "[T] 1 | TRUE",
    ]


@pytest.mark.rule("F29.5")
def test_the_difference_of_two_workbooks(tmp_path):
    made = book(
        tmp_path / "a.xlsx", ("S", [[1, "x"], ["=A1|1"]]), ("Gone", [[1]]), ("Old", [["k"]])
    )
    out = tmp_path / "b.xlsx"
    edit(
        made,
        out,
        {"op": "set_cells", "sheet": "S", "cells": [
            {"cell": "A1", "value": 2},
            {"cell": "B1", "value": "x", "style": {"font_bold": True}},
            {"cell": "A2", "value": "=A1+1"},
        ]},
        {"op": "delete_sheet", "sheet": "Gone"},
        {"op": "rename_sheet", "sheet": "Old", "new_name": "New"},
        {"op": "ensure_sheet", "sheet": "Fresh"},
        {"op": "append_rows", "sheet": "Fresh", "values": [[7]]},
    )  # fmt: skip

    found = json.loads(json.dumps(xlsx.diff_cells(made, source(out))))

    by_name = {item["sheet"]: item for item in found["sheets"]}
    assert [(c["cell"], c["kind"], c["before"], c["after"]) for c in by_name["S"]["cells"][:1]] == [
        ("A1", "value", "1", "2")
    ]
    assert [(c["cell"], c["kind"]) for c in by_name["S"]["cells"]] == [
        ("A1", "value"),
        ("B1", "style"),
        ("A2", "formula"),
    ]
    assert by_name["Gone"]["removed"] is True
    assert (by_name["New"]["renamed_from"], by_name["New"]["cells"]) == ("Old", [])
    assert by_name["Fresh"]["added"] is True
    assert found["more"] == 0
    same = {"sheets": [], "cell_count": 0, "more": 0, "lines": [], "following": None}
    assert xlsx.diff_cells(made, made) == same


@pytest.mark.rule("F29.5")
def test_a_result_that_differs_beyond_15_digits_is_the_same(tmp_path):
    one = book(tmp_path / "a.xlsx", ("S", [["=A9|1"], ["=A9|1"]]))
    two = book(tmp_path / "b.xlsx", ("S", [["=A9|0.9999999999999999"], ["=A9|0.99999999"]]))

    found = json.loads(json.dumps(xlsx.diff_cells(one, two)))

    assert [(c["cell"], c["kind"]) for c in found["sheets"][0]["cells"]] == [("A2", "result")]


@pytest.mark.rule("F29.5")
def test_a_long_difference_is_counted_to_the_end(tmp_path):
    one = book(tmp_path / "a.xlsx", ("S", [[n] for n in range(2100)]))
    two = book(tmp_path / "b.xlsx", ("S", [[-n - 1] for n in range(2100)]))

    found = json.loads(json.dumps(xlsx.diff_cells(one, two)))
    rest = json.loads(json.dumps(xlsx.diff_cells(one, two, skip=2000, limit=60)))

    assert (len(found["sheets"][0]["cells"]), found["more"]) == (2000, 100)
    assert (found["cell_count"], found["sheets"][0]["cell_count"]) == (2100, 2100)
    assert [cell["cell"] for cell in rest["sheets"][0]["cells"]] == [
        f"A{n}" for n in range(2001, 2061)
    ]
    assert (rest["cell_count"], rest["more"]) == (2100, 40)


@pytest.mark.rule("F29.5")
def test_the_difference_in_any_window_holds_its_changed_cells(tmp_path):
    rows = [[n, n] for n in range(3000)]
    made = book(tmp_path / "a.xlsx", ("One", rows), ("Two", rows), ("Gone", [[1]]))
    cells = [{"cell": f"B{n}", "value": -n} for n in range(1, 3000, 2)]
    out = tmp_path / "b.xlsx"
    edit(
        made,
        out,
        {"op": "set_cells", "sheet": "Two", "cells": cells},
        {"op": "delete_sheet", "sheet": "Gone"},
        {"op": "rename_sheet", "sheet": "Two", "new_name": "Second"},
    )

    def names(sheet: str | None, *window: Any) -> list[str]:
        found: Any = xlsx.diff_window(made, source(out), sheet, *window)
        return [cell["cell"] for cell in found]

    assert names("Second", 2800, 0, 4, 50) == ["B2801", "B2803"]
    assert names("Second", 2800, 0, 4, 1) == []
    assert names("One", 0, 0, 200, 50) == names(None, 0, 0, 200, 50) == []
    assert names("Gone") == ["A1"]
    assert names("Nowhere") == []


@pytest.mark.rule("F29.5", "B12.9")
def test_a_formula_its_result_and_a_constant_in_its_place_are_told_apart(tmp_path):
    one = book(
        tmp_path / "a.xlsx",
        ("S", [["=B1*2", 1, "=B1+1|2", "=B1|1", 5, "=1+1|2", None, "text"]]),
    )
    two = book(
        tmp_path / "b.xlsx",
        ("S", [["=B1*2|2", 1, "=B1+2|3", 1, "=B1|1", None, "=2|2", "other"]]),
    )

    found = json.loads(json.dumps(xlsx.diff_cells(one, two)))["sheets"][0]

    told = {cell.pop("cell"): cell for cell in found["cells"]}
    assert [cell.pop("what") for cell in told.values()] == [
        "result stored; the formula is the same",
        "formula changed",
        "formula replaced by a value",
        "value replaced by a formula",
        "formula removed",
        "formula added",
        "value changed",
    ]
    assert told == {
        "A1": {"kind": "result", "formula": "=B1*2", "before": None, "after": "2"},
        "C1": {
            **{"kind": "formula", "formula_change": "changed", "before": "=B1+1"},
            **{"after": "=B1+2", "results": {"before": "2", "after": "3"}},
        },
        "D1": {"kind": "formula", "formula_change": "to_value", "before": "=B1", "after": "1"},
        "E1": {
            **{"kind": "formula", "formula_change": "from_value", "before": "5"},
            **{"after": "=B1", "results": {"before": "5", "after": "1"}},
        },
        "F1": {
            **{"kind": "formula", "formula_change": "removed", "before": "=1+1", "after": None},
            "results": {"before": "2", "after": None},
        },
        "G1": {
            **{"kind": "formula", "formula_change": "added", "before": None, "after": "=2"},
            "results": {"before": None, "after": "2"},
        },
        "H1": {"kind": "value", "before": "text", "after": "other"},
    }
    assert found["counts"] == {"value": 1, "formula": 5, "result": 1, "style": 0}


@pytest.mark.rule("F29.5", "B13.9")
def test_a_changed_look_is_said_in_words_and_loses_no_font(tmp_path):
    made = book(tmp_path / "a.xlsx", ("S", [[1, 2, 3, 4]]))
    line = {"style": "thin", "color": "#FF0000"}
    out = tmp_path / "b.xlsx"
    edit(
        made,
        out,
        {"op": "set_cells", "sheet": "S", "cells": [
            {"cell": "A1", "value": 1, "style": {"fill_color": "#FFFF00"}},
            {"cell": "B1", "value": 2, "style": {"font_bold": True, "number_format": "0.00"}},
            {"cell": "C1", "value": 3, "style": {"font_name": "Arial", "font_size": 12}},
            {"cell": "D1", "value": 5, "style": {
                f"border_{side}": line for side in ("left", "right", "top", "bottom")
            }},
        ]},
    )  # fmt: skip
    back = tmp_path / "c.xlsx"
    edit(source(out), back, {"op": "set_cells", "sheet": "S", "cells": [
        {"cell": "B1", "value": 2, "style": {"font_bold": False}},
    ]})  # fmt: skip

    there = json.loads(json.dumps(xlsx.diff_cells(made, source(out))))["sheets"][0]["cells"]
    again = json.loads(json.dumps(xlsx.diff_cells(source(out), source(back))))["sheets"][0]["cells"]

    assert [(cell["cell"], cell["kind"], cell["formats"]) for cell in there] == [
        ("A1", "style", ["fill: none → yellow #FFFF00"]),
        ("B1", "style", ["bold on", "number format: General → 0.00"]),
        ("C1", "style", ["font Calibri 11 → Arial 12"]),
        ("D1", "value", ["border: none → thin red #FF0000"]),
    ]
    assert [cell["formats"] for cell in again] == [["bold off"]]
    assert there[0]["before"] == {"fill_color": None, "fill_pattern": None}


@pytest.mark.rule("F29.4", "U1.5")
@pytest.mark.parametrize("numbered", [True, False])
def test_windows_far_down_a_sheet_show_the_rows_they_name(tmp_path, numbered):
    path = tmp_path / "long.xlsx"
    with xlsxwriter.Workbook(str(path)) as made:
        sheet = made.add_worksheet("S")
        for row in range(1300):
            sheet.write_number(row, 1, row + 1)
    if not numbered:
        path = _without_row_numbers(path)
    taken = source(path)

    for start in (0, 499, 600, 1150, 1299):
        window: Any = xlsx.extract_grid(taken, "S", start, 0, 3, 3)
        shown = [row[1]["value"] for row in window["cells"]]
        assert shown == list(range(start + 1, min(start + 3, 1300) + 1))
        assert window["row_count"] == 1300


def _without_row_numbers(path: Path) -> Path:
    """Return a copy whose rows and cells do not say where they are, as some programs write."""
    target = path.with_name("bare.xlsx")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith("sheet1.xml"):
                data = re.sub(rb'<row r="\d+"', b"<row", data)
            new.writestr(name, data)
    return target


@pytest.mark.rule("F29.5")
def test_a_number_that_became_text_is_a_change_and_another_format_of_it_is_none(tmp_path):
    before = book(tmp_path / "a.xlsx", ("S", [[1, 2, 45292]]))
    with xlsxwriter.Workbook(str(tmp_path / "b.xlsx")) as file:
        sheet = file.add_worksheet("S")
        sheet.write_string(0, 0, "1")
        sheet.write(0, 1, 3)
        sheet.write(0, 2, 45292, file.add_format({"num_format": "yyyy-mm-dd"}))

    compared: Any = xlsx.diff_cells(before, source(tmp_path / "b.xlsx"))
    found = compared["sheets"][0]

    said = [(cell["cell"], cell["kind"], cell["what"]) for cell in found["cells"]]
    assert said == [
        ("A1", "value", "value changed from number to text"),
        ("B1", "value", "value changed"),
        ("C1", "style", "look changed"),
    ]


def numbers(path, **cells):
    """Write a workbook with every digit of its numbers."""
    given = [{"cell": cell, "value": value} for cell, value in cells.items()]
    kept = path.with_name("base.xlsx")  # one for both: a workbook says in which second it was made
    base = source(kept) if kept.exists() else book(kept, ("S", [["x"]]))
    edit(base, path, {"op": "set_cells", "sheet": "S", "cells": given})
    return source(path)


@pytest.mark.rule("F24.20", "F8.10", "F29.4")
def test_reads_and_grids_show_the_digits_that_people_see(tmp_path):
    made = numbers(tmp_path / "a.xlsx", A1=200.99999999999997, B1="=4.35*100")

    grid: Any = xlsx.extract_grid(made, "S", 0, 0, 1, 2)

    assert lines(made.path, cells="both") == ["1\t201\t435 {=4.35*100}"]
    assert [cell["display"] for cell in grid["cells"][0]] == ["201", "435"]
    assert [cell["value"] for cell in grid["cells"][0]] == [200.99999999999997, 434.99999999999994]


@pytest.mark.rule("F24.20", "F29.5")
@pytest.mark.parametrize(
    ("after", "told"),
    [(300.1, ("201", "300.1")), (201, ("200.99999999999997", "201"))],
)
def test_a_review_shows_every_digit_only_where_the_last_ones_differ(tmp_path, after, told):
    old = numbers(tmp_path / "a.xlsx", A1=200.99999999999997)
    new = numbers(tmp_path / "b.xlsx", A1=after)

    found: Any = xlsx.diff_cells(old, new)
    (unit,) = xlsx.separate(old, new)

    (change,) = found["sheets"][0]["cells"]
    assert (change["before"], change["after"]) == (unit.before, unit.after) == told


@pytest.mark.rule("F29.5", "F42.5", "U4.48")
def test_changed_values_are_told_as_their_number_formats_show_them(tmp_path):
    rows = [["Day", "Share", "Sum"], [45292, 0.1234567, "=B2*2|0.2469134"], ["x", 1, 2]]
    made = book(tmp_path / "a.xlsx", ("S", rows))
    formats = [("A2", "d mmm yyyy"), ("B2:C2", "0.0%")]
    looks = [
        {"op": "set_style", "sheet": "S", "range": area, "style": {"number_format": code}}
        for area, code in formats
    ]
    edit(made, tmp_path / "b.xlsx", *looks)
    cells = [("A2", 45323), ("B2", 0.25), ("C2", "=B2*3")]
    given = [{"cell": cell, "value": value} for cell, value in cells]
    changes = [
        {"op": "set_cells", "sheet": "S", "cells": given},
        {"op": "insert_rows", "sheet": "S", "row": 3, "values": [[45300, 0.5]]},
    ]
    edit(source(tmp_path / "b.xlsx"), tmp_path / "c.xlsx", *changes)

    found: Any = xlsx.diff_cells(source(tmp_path / "b.xlsx"), source(tmp_path / "c.xlsx"))
    told = {one["cell"]: seen_cell(one) for one in found["sheets"][0]["cells"]}

    day, share, total = told["A2"], told["B2"], told["C2"]
    assert (day.sides, day.plain) == (("1 Jan 2024", "1 Feb 2024"), ("2024-01-01", "2024-02-01"))
    assert (share.sides, share.plain) == (("12.3%", "25.0%"), ("0.1234567", "0.25"))
    assert (total.sides[1], total.results) == ("=B2*3", ("24.7%", "75.0%"))
    assert found["lines"][0]["texts"] == ["9 Jan 2024", "50.0%"]


@pytest.mark.rule("U4.48")
@pytest.mark.parametrize(
    ("cell", "sides", "plain"),
    [
        ({"before": "1", "after": "2"}, ("1", "2"), None),
        # nothing but signs between thousands: the sheet shows all there is
        (
            {"before": "1000", "after": "2000", "shown": {"before": "1,000", "after": "2,000"}},
            *(("1,000", "2,000"), None),
        ),
        # the same to the eye, or nothing at all: the plain value tells
        (
            {"before": "1.01", "after": "1.02", "shown": {"before": "1", "after": "1"}},
            *(("1.01", "1.02"), None),
        ),
        (
            {"before": "1", "after": "2", "shown": {"before": "", "after": "2.0"}},
            *(("1", "2"), None),
        ),
    ],
)
def test_a_cell_reads_as_the_sheet_shows_it_unless_that_says_nothing(cell, sides, plain):
    found = seen_cell({"kind": "value", **cell})

    assert (found.sides, found.plain) == (sides, plain)
