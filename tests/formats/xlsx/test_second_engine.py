"""Computed results beside those of LibreOffice, and beside what Excel is documented to show."""

from __future__ import annotations

import datetime
import re

import openpyxl
import pytest
import xlsxwriter
from openpyxl.utils.datetime import to_excel

from backshop.formats.errors import BadRequest
from backshop.formats.xlsx.syntax.formula import stored

from .. import second_reader
from .books import edit, opened, source
from .formulas import DATA, formulas

# where LibreOffice and Excel part ways; each line is a difference that is not ours
DEVIATIONS = {
    r"\bD[129]\b|TRUE|FALSE|[<>=].*\)$": "truth values are numbers there",
    r"^=(SEARCH|FIND)\(\"\"|^=(SEARCH|FIND)\([^,]*A8": "an empty text is found nowhere there",
    r"^=DATE\((0|99),": "years below 100 are of this century there",
    r"IFS?\(": "wildcards meet numbers there, and a number does not meet its text",
    r"^=RANK": "a number that is not in the list has a rank there",
    r"\^|^=POWER": "0^0 is 1 there, and roots of negative numbers exist",
    r"^=(HOUR|MINUTE|SECOND|DAY|MONTH|YEAR)\((A2|-1|3000000)\)": "days before 1900 exist there",
    r"^=CHAR|^=CODE": "other characters beyond ASCII there",
    r"^=ATAN2": "0 for the origin there",
    r"^=(ISEVEN|ISODD)\(A8\)": "an empty cell is an error there",
    r"^=GEOMEAN\(J": "0 is let through there",
    r"^=SUM\(0.3": "noise is removed there",
}  # fmt: skip


def put(tmp_path, texts):
    """Write formulas into a sheet of values; give back the file with our results."""
    base, out = tmp_path / "base.xlsx", tmp_path / "out.xlsx"
    cells = []
    with xlsxwriter.Workbook(str(base)) as file:
        sheet = file.add_worksheet("S")
        for column, values in DATA.items():
            for row, value in enumerate(values):
                if isinstance(value, str) and value.startswith("="):
                    cells.append({"cell": f"{column}{row + 1}", "value": value})
                elif value is not None:
                    write = sheet.write_string if isinstance(value, str) else sheet.write
                    write(row, ord(column) - 65, value)
    for row, text in enumerate(texts, 20):
        cells.append({"cell": f"L{row}", "value": text, "type": "formula"})
    result = edit(source(base), out, {"op": "set_cells", "sheet": "S", "cells": cells})
    assert result.effects.collateral == ()
    return out


def shown(path, count):
    sheet = openpyxl.load_workbook(path, data_only=True)["S"]
    return [_plain(sheet.cell(row, 12).value) for row in range(20, 20 + count)]


def _plain(value):
    if isinstance(value, datetime.datetime | datetime.date):
        return to_excel(value)
    if isinstance(value, datetime.time):
        return (value.hour * 3600 + value.minute * 60 + value.second) / 86400
    return value


def _same(one, two):
    if isinstance(one, str) and isinstance(two, str) and one[:1] == two[:1] == "#":
        return True  # their errors have other names
    if type(one) is bool or type(two) is bool:
        return one is two
    if isinstance(one, int | float) and isinstance(two, int | float):
        return one == two or abs(one - two) <= 1e-12 * max(abs(one), abs(two))
    return one == two


def _is_taken(text):
    """Whether a formula can be written at all: the generator also makes calls of no meaning."""
    try:
        stored(text, "L20")
    except BadRequest:
        return False
    return True


@pytest.mark.rule("F24.9", "F24.8")
@pytest.mark.needs("libreoffice")
@pytest.mark.filterwarnings("ignore:Cell .* is marked as a date:UserWarning")
def test_every_result_we_give_is_the_one_libreoffice_gives(tmp_path, scaled):
    texts = [text for text in formulas() if _is_taken(text)][:: scaled(25, 1)]

    out = put(tmp_path, texts)

    (theirs,) = second_reader.convert([out], tmp_path, "xlsx")
    pairs = zip(texts, shown(out, len(texts)), shown(theirs, len(texts)), strict=True)
    known = [(text, one, two) for text, one, two in pairs if one is not None]
    differ = [(text, one, two) for text, one, two in known if not _same(one, two)]
    assert [d for d in differ if not any(re.search(rule, d[0]) for rule in DEVIATIONS)] == []
    assert len(known) > 0.8 * len(texts)
    assert len(differ) < 0.08 * len(texts)


EXCEL = {  # from Excel's own documentation, and what follows from it
    "=0.1+0.2=0.3": True,
    "=IF(0.1+0.2=0.3,1,2)": 1,
    '=1/3&""': "0.333333333333333",
    '=A4&"|"&D1': "3.7|TRUE",
    "=LEFT(D1,2)": "TR",
    "=UPPER(B5)": None,  # ß
    '=UPPER("äö")': "ÄÖ",
    '=PROPER("76BudGet o\'neil")': "76Budget O'Neil",
    '=REPLACE("apple",9,0,"XY")': "appleXY",
    "=SUMPRODUCT(A1:A12)": 10000000110.6,
    "=SUMPRODUCT(E1:E4,2)": "#VALUE!",
    '=SUMPRODUCT((G1:G12="x")*E1:E12)': 35,
    "=0^0": "#NUM!",
    "=(-2)^(1/3)": "#NUM!",
    "=-2^2": 4,
    '="B"="b"': True,
    "=D1>A5": True,
    '="x">1': True,
    "=COUNTIF(J1:J12,5)": 1,
    "=VLOOKUP(6,H1:I12,2)": "e",
    "=VLOOKUP(6,H1:I12,2,TRUE)": "e",
    "=MATCH(0,H1:H12)": "#N/A",
    "=AND(A9,A1)": True,  # text in a cell is passed over
    '=1+"x"': "#VALUE!",
    "=1+A10": 13,
    "=REPT(B1,9000)": "#VALUE!",
    # left to Excel: what it shows depends on the country, on its age, or is not written anywhere
    "=B11+1": None,
    "=1+B8": None,
    "=YEAR(B11)": None,
    "=EDATE(C4,1)": None,
    "=TIME(0,0,-1)": None,
    "=INT(4.35*100)": None,
    "=MOD(1,0.1)": None,
    "=1-0.9-0.1": None,
    "=VLOOKUP(6,J1:J12,1)": None,
    "=MATCH(5,E1:E12,1)": None,
    "=MATCH(0.1+0.2,A1:A12,0)": None,
    '=MIN("x")': None,
    "=CHAR(1)": None,
    "=INDEX(E1:F4,1)": None,
    "=1E+20&B1": None,
    '=LEN("😀")': None,
    '="ä"<"b"': None,
    "=SUM(0.3,-0.2,-0.1)": None,
    '="#N/A"&1': None,
}


@pytest.mark.rule("F24.9")
def test_results_are_those_excel_shows_or_none_at_all(tmp_path):
    out = put(tmp_path, list(EXCEL))

    found = dict(zip(EXCEL, shown(out, len(EXCEL)), strict=True))

    assert found == EXCEL
    assert opened(out)["S"]["L20"].value == "=0.1+0.2=0.3"
