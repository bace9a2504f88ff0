"""A workbook as offices have them, for formulas over texts, dates, blanks, truths and errors.

`messy_formulas.tsv` has formulas over it and what they give: equal in LibreOffice or in ironcalc,
or worked out by hand where these are known to differ from Excel; null: not computed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import xlsxwriter

HEAD = [
    "ID", "Date", "Customer", "Region", "Qty", "Price", "Paid", "Notes", "Pct", "Email", "Amt",
    "Code", "Start", "Mixed",
]  # fmt: skip
ROWS: list[list[object]] = [
    ["A-001", 45292, "Smith, John", "North", 10, 2.5, True, "ok", 0.15, "john.smith@acme.com",
     25, "AB-12-X", 45292.375, 1],
    ["A-002", 45299, "O'Neil, Ann", "South", 3, 19.99, False, "call back", 0.2, "ann@x.org",
     59.97, "CD-7-Y", 45292.5, "1"],
    ["A-003", 45322, "Lee, Bo", "north", None, 5, True, None, None, "bo.lee@lee.co.uk", 0,
     "EF-345-Z", 45293.75, True],
    ["A-004", 45337, "Smith, John", "East", 0, 7.25, False, "50% off*", 0.05,
     "john.smith@acme.com", 0, "AB-9-X", 45295.0, "TRUE"],
    ["A-005", 45351, "Garcia, Maria", "West", -4, 12.5, True, "return?", -0.1, "maria@acme.com",
     -50, "XX", 45296.9999, None],
    ["A-006", 45352, "lee, bo", "South ", 7, 1.005, True, "a~b", 0.333, "BO.LEE@LEE.CO.UK",
     7.035, "GH-1-Q", 45300.25, ""],
    ["A-007", "2024-03-05", "Chen, Wei", "East", 12, 3, False, "  spaced  out ", 0.5, "", 36,
     "AB-12-X", 45310.1, "abc"],
    ["A-008", 45382, "Ng, X", "West", "5", 8, True, "x", 1, "x@y.z", 40, "12345", 45320.6, -2.5],
    ["A-009", 45412, "Smith, Jane", "North", 2.5, 4, False, "dup", 0.15, "jane@acme.com", 10,
     "ab-12-x", 45330.2, "#N/A"],
    ["A-010", 45443, "Garcia, Maria", "North", 100, 0.1, True, "ok", 0.075, "maria@acme.com", 10,
     "IJ-88-R", 45341.0, 10000000000.0],
    ["A-011", 45473, "Brown, Al", "South", 1, 99.995, False, "OK", 0.0, "al@b.com", 99.995,
     "KL-2-S", 45355.5, 0],
    ["A-012", 45504, "Zed, Q", "", 8, 2.345, True, "late", 0.125, "q@zed.io", 18.76, "MN-3-T",
     45366.25, 0.1],
    ["A-003", 45535, "Lee, Bo", "East", 6, 6, True, "dup id", 0.6, "bo.lee@lee.co.uk", 36,
     "OP-4-U", 45370.0, "x"],
    ["A-014", 45565, "Ivanov, P", "West", 15, 2, False, "ok", 0.3, "p@i.ru", 30, "QR-5-V",
     45380.75, 3],
    ["A-015", 45596, "Kim, S", "North", 20, 1.5, True, "", "", "s@kim.kr", 30, "ST-6-W", 45390.5,
     4],
]  # fmt: skip
GRADES: list[list[object]] = [
    ["Grade", "Min", "Rate", "Tier"], ["F", 0, 0, "none"], ["D", 50, 0.02, "low"],
    ["C", 60, 0.05, "low"], ["B", 70, 0.08, "mid"], ["A", 80, 0.12, "high"], ["S", 95, 0.2, "top"],
]  # fmt: skip
STOCK: list[list[object]] = [
    ["pen", 3, 1.2], ["ink", 0, 4.5], ["pad", 12, 2.25], ["cup", 7, 3.1], ["mug", 5, 3.1],
]  # fmt: skip


def messy_book(path: Path) -> Path:
    """Write the workbook; its last sheet `F` is empty."""
    with xlsxwriter.Workbook(str(path)) as file:
        _data(file.add_worksheet("Data"))
        lists = file.add_worksheet("Lists")
        for number, row in enumerate(GRADES):
            lists.write_row(number, 0, row)
        lists.write_column(0, 5, ["n", 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9])
        lists.write_column(0, 6, ["d", 45292, 45306, 45341, 45379, 45413, 45439, 45462, 45477])
        lists.write_row(9, 0, ["Q1", "Q2", "Q3", "Q4"])
        lists.write_row(10, 0, [100, 150, 120, 180])
        lists.write_row(11, 0, [90, 160, 130, 170])
        for at, name in enumerate(("Jan", "Feb", "Mar")):
            month = file.add_worksheet(name)
            month.write_column(0, 0, [10 + at, 20 + at, 30 + at])
        stock = file.add_worksheet("T")
        columns = [{"header": name} for name in ("Item", "Qty on hand", "Unit Price", "Since")]
        stock.add_table(0, 0, 5, 3, {"name": "Stock", "columns": columns, "data": STOCK})
        file.define_name("Rates", "=Lists!$C$2:$C$7")
        file.define_name("Grades", "=Lists!$A$2:$D$7")
        file.define_name("Tax", "=0.19")
        file.define_name("First", "=Data!$E$2")
        file.add_worksheet("F")
    return path


def _data(sheet: Any) -> None:
    sheet.write_row(0, 0, HEAD)
    for number, row in enumerate(ROWS, 1):
        for col, value in enumerate(row):
            if value in ("", "#N/A"):
                text = "=NA()" if value else '=""'
                sheet.write_formula(number, col, text, None, value)
            elif isinstance(value, str):
                sheet.write_string(number, col, value)
            elif value is not None:
                sheet.write(number, col, value)


def messy_formulas() -> dict[str, Any]:
    """Return what each formula gives."""
    lines = Path(__file__).with_suffix(".tsv").read_text("utf-8").splitlines()
    return {text: json.loads(value) for text, value in (line.split("\t") for line in lines)}
