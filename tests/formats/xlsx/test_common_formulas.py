"""The formulas that offices write most: computed, beside what plain Python makes of the data."""

from __future__ import annotations

import statistics
from datetime import date
from typing import Any

import openpyxl
import pytest
import xlsxwriter

from .books import counts, edit, source
from .messy_formulas import messy_book, messy_formulas

ROWS = [  # region, person, product, day, units, price
    ("North", "Ann", "Bolt", date(2024, 1, 15), 10, 2.5),
    ("South", "Bob", "Nut", date(2024, 1, 31), 4, 1.25),
    ("North", "Cid", "Nut", date(2024, 2, 5), 7, 1.5),
    ("East", "Ann", "Bolt", date(2024, 2, 29), 3, 2.75),
    ("South", "Dan", "Gear", date(2024, 3, 1), 12, 10.0),
    ("North", "Ann", "Gear", date(2024, 3, 15), 1, 11.0),
    ("East", "Bob", "Bolt", date(2024, 4, 30), 8, 2.5),
    ("North", "Cid", "Bolt", date(2024, 5, 1), 6, 2.25),
]
LAST = len(ROWS) + 1
REGIONS, PEOPLE, PRODUCTS, DAYS, UNITS, PRICES = (
    list(column) for column in zip(*ROWS, strict=False)
)
AMOUNTS = [units * price for units, price in zip(UNITS, PRICES, strict=False)]
NORTH = [at for at, region in enumerate(REGIONS) if region == "North"]


def serial(day: date) -> int:
    return (day - date(1899, 12, 30)).days


def name(column: str) -> str:
    return f"${column}$2:${column}${LAST}"


R, P, K, D, U, V = (name(column) for column in "ABCDEF")

# the forty of the list, each with a result that is worked out without it
FORTY: dict[str, Any] = {
    f"=SUMPRODUCT({U},{V})": sum(AMOUNTS),
    f'=SUMPRODUCT(({R}="North")*({U}>5)*{V})': 2.5 + 1.5 + 2.25,
    f'=XLOOKUP("Gear",{K},{V})': 10.0,
    f'=INDEX({V},MATCH("Nut",{K},0))': 1.25,
    f'=VLOOKUP("Cid",$B$2:$F${LAST},4,FALSE)': 7,
    f'=INDEX({U},MATCH(1,({R}="North")*({K}="Gear"),0))': 1,
    f'=SUMIFS(INDEX($E$2:$F${LAST},0,1),{R},"North")': sum(UNITS[at] for at in NORTH),
    f'=SUMIFS({U},{R},"North",{K},"Bolt")': 16,
    f'=COUNTIFS({R},"East",{U},">=3")': 2,
    f'=AVERAGEIF({R},"South",{U})': 8,
    '=TEXTJOIN(", ",TRUE,$C$2:$C$4)': "Bolt, Nut, Nut",
    f'=IFERROR(VLOOKUP("Zoe",$B$2:$F${LAST},2,FALSE),"none")': "none",
    f"=UNIQUE({R})": "North",
    f'=SUM(FILTER({U},{R}="South"))': 16,
    f"=SORT({V},,-1)": 11.0,
    f"=LET(total,SUM({U}),count,ROWS({U}),total/count)": sum(UNITS) / len(UNITS),
    f'=MAXIFS({V},{K},"Bolt")': 2.75,
    '=TEXT($D$3,"yyyy-mm")': "2024-01",
    "=EOMONTH($D$4,1)": serial(date(2024, 3, 31)),
    "=NETWORKDAYS($D$2,$D$3)": 13,
    '=LEFT("2024-Q1",4)&RIGHT("2024-Q1",2)': "2024Q1",
    f"=ROUND(AVERAGE({V}),2)": round(statistics.mean(PRICES), 2),
    f"=RANK($E$2,{U})": 2,
    f"=LARGE({U},3)": 8,
    f"=AGGREGATE(9,6,{U})": sum(UNITS),
    "=SUM(OFFSET($E$1,1,0,3,1))": 21,
    '=SUM(INDIRECT("E"&2&":E"&4))': 21,
    f'=SUM(IF({R}="North",{U}*{V},0))': sum(AMOUNTS[at] for at in NORTH),
    '=DATEDIF($D$2,$D$9,"m")': 3,
    f"=SUBTOTAL(9,{U})": sum(UNITS),
    '=CHOOSE(2,"low","high")': "high",
    '=IFS($E$2>20,"many",$E$2>5,"some",TRUE,"few")': "some",
    '=SWITCH($A$3,"North","N","South","S","?")': "S",
    f'=LOOKUP(2,1/({R}="North"),{P})': "Cid",
    "=COUNTA(A:A)": len(ROWS) + 1,
    "=SUM(E:E)": sum(UNITS),
    "=PMT(0.06/12,36,-10000)": 304.2193745,
    "=XIRR({-10000,2750,4250,3250,2750},{39448,39508,39751,39859,39904})": 0.373362535,
    f"=MEDIAN({V})": statistics.median(PRICES),
    f"=STDEV({U})": statistics.stdev(UNITS),
}

OFFICE: dict[str, Any] = {  # what tables and reports are made of
    "=E2*F2": 25.0,
    "=(F3-F2)/F2": (1.25 - 2.5) / 2.5,
    f"=E2/SUM({U})": 10 / 51,
    "=SUM($E$2:E5)": 24,
    '=IF(AND(E2>5,F2<3),"ok","check")': "ok",
    '=IF(OR(A3="West",B3="Bob"),1,0)': 1,
    f'=COUNTIF({P},"A*")': 3,
    f'=COUNTIF({D},">="&DATE(2024,3,1))': 4,
    f'=SUMIF({D},"<"&DATE(2024,2,1),{U})': 14,
    f'=SUMPRODUCT((MONTH({D})=2)*{U})': 10,
    f'=SUMPRODUCT((YEAR({D})=2024)*({R}="East")*{U}*{V})': 3 * 2.75 + 8 * 2.5,
    f"=SUMPRODUCT(1/COUNTIF({P},{P}))": 4,
    f"=ROWS(UNIQUE({P}))": 4,
    f'=MAX(IF({P}="Ann",{U}))': 10,
    f'=AVERAGEIFS({V},{K},"Bolt",{R},"North")': 2.375,
    f'=MINIFS({U},{R},"North")': 1,
    f"=INDEX({P},MATCH(MAX({U}),{U},0))": "Dan",
    f"=XLOOKUP(MIN({V}),{V},{K})": "Nut",
    f'=XLOOKUP("Zoe",{P},{U},"nobody")': "nobody",
    '=HLOOKUP("Price",$A$1:$F$3,3,FALSE)': 1.25,
    f'=IFNA(MATCH("West",{R},0),-1)': -1,
    '=UPPER(LEFT(B2,1))&LOWER(MID(B2,2,9))': "Ann",
    '=TRIM("  two   words ")': "two words",
    '=SUBSTITUTE("a-b-c","-","/",2)': "a-b/c",
    '=LEN(SUBSTITUTE("banana","a",""))': 3,
    '=TEXT(0.1234,"0.0%")': "12.3%",
    '=TEXT(1234567.891,"#,##0.00")': "1,234,567.89",
    '=TEXT(D2,"mmm d, yyyy")': "Jan 15, 2024",
    '=TEXT(D2,"dddd")': "Monday",
    "=WEEKDAY(D2,2)": 1,
    "=EDATE(D3,1)": serial(date(2024, 2, 29)),
    "=WORKDAY(D2,10)": serial(date(2024, 1, 29)),
    '=DATEDIF(D2,D9,"d")': 107,
    "=YEARFRAC(D2,D9,3)": 107 / 365,
    "=DAYS(D9,D2)": 107,
    '=IF(ISBLANK(H99),"empty",H99)': "empty",
    '=IF(ISNUMBER(SEARCH("ol",C2)),"has it","")': "has it",
    f'=SUM(LARGE({U},{{1,2,3}}))': 30,
    f"=PERCENTILE({U},0.5)": statistics.median(UNITS),
    f"=CORREL({U},{V})": statistics.correlation(UNITS, PRICES),
    "=ROUNDUP(7.1,0)+ROUNDDOWN(7.9,0)": 15,
    "=CEILING(23,5)": 25,
    "=MROUND(13,4)": 12,
    "=MOD(17,5)": 2,
    "=NPV(0.1,{-100,60,70})": -100 / 1.1 + 60 / 1.21 + 70 / 1.331,
    "=IRR({-100,60,70})": 140 / (31600**0.5 - 60) - 1,
    "=FV(0.05,10,-100)": 1257.789254,
    f"=SORT(UNIQUE({P}))": "Ann",
    f'=TEXTJOIN(";",TRUE,SORT(UNIQUE({K})))': "Bolt;Gear;Nut",
    f"=INDEX(SORTBY({P},{U},-1),1)": "Dan",
    f'=TEXTJOIN(",",TRUE,FILTER({P},({R}="North")*({U}>5)))': "Ann,Cid,Cid",
    f'=IFERROR(FILTER({P},{R}="West"),"none")': "none",
    f"=REDUCE(0,{U},LAMBDA(sum,one,sum+one))": sum(UNITS),
    f"=SUM(MAP({U},{V},LAMBDA(units,price,units*price)))": sum(AMOUNTS),
    f"=SUM(BYROW($E$2:$F${LAST},LAMBDA(row,MAX(row))))": sum(map(max, UNITS, PRICES)),
    "=SUM(SEQUENCE(10))": 55,
    f"=SUM(TAKE(SORT({U},,-1),2))": 22,
    '=TEXTBEFORE("ann@example.org","@")': "ann",
    '=TEXTAFTER("ann@example.org","@")': "example.org",
    '=INDEX(TEXTSPLIT("a,b,c",","),2)': "b",
    "=Rate*100": 7.5,
    "=SUM(Units)": sum(UNITS),
    "=SUM(Other!A1:A3)": 60,
    "=AVERAGE(Other!A:A)": 20,
}  # fmt: skip


@pytest.fixture
def made(tmp_path):
    path = tmp_path / "sales.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet, other = file.add_worksheet("Sales"), file.add_worksheet("Other")
        file.add_worksheet("Out")
        day = file.add_format({"num_format": "yyyy-mm-dd"})
        sheet.write_row(0, 0, ["Region", "Person", "Product", "Day", "Units", "Price"])
        for at, row in enumerate(ROWS, 1):
            for col, value in enumerate(row):
                if isinstance(value, date):
                    sheet.write_number(at, col, serial(value), day)
                else:
                    sheet.write(at, col, value)
        other.write_column(0, 0, [10, 20, 30])
        file.define_name("Rate", "=0.075")
        file.define_name("Units", f"=Sales!{U}")
    return source(path)


def computed(made, out, formulas):
    """Write formulas far from each other and give back what they show."""
    cells = [
        {"cell": f"J{20 * row + 1}", "value": text, "type": "formula"}
        for row, text in enumerate(formulas)
    ]
    done = edit(made, out, {"op": "set_cells", "sheet": "Sales", "cells": cells})
    assert done.effects.collateral == ()
    sheet = openpyxl.load_workbook(out, data_only=True)["Sales"]
    return done, [sheet[one["cell"]].value for one in cells]


def is_same(one, two):
    if isinstance(one, int | float) and isinstance(two, int | float):
        return abs(one - two) <= 1e-8 * max(1.0, abs(two))
    return one == two


@pytest.mark.rule("F24.15", "F24.9")
@pytest.mark.parametrize("table", [FORTY, OFFICE], ids=["forty", "office"])
def test_common_formulas_are_computed_right(made, tmp_path, table):
    done, found = computed(made, tmp_path / "out.xlsx", table)

    wrong = {
        text: (value, wanted)
        for (text, wanted), value in zip(table.items(), found, strict=True)
        if not is_same(value, wanted)
    }
    assert wrong == {}
    assert counts(done)["not_computed"] == 0
    assert len(FORTY) == 40
    assert len(OFFICE) >= 30


def _is(found: object, wanted: object) -> bool:
    if isinstance(found, int | float) and type(wanted) in (int, float):
        return abs(found - wanted) <= 1e-9 * max(abs(found), 1)  # type: ignore[operator]
    return found == wanted and type(found) is type(wanted)


@pytest.mark.rule("F24.9", "F24.8")
def test_formulas_over_messy_cells_give_what_other_programs_give(tmp_path):
    wanted, out = messy_formulas(), tmp_path / "out.xlsx"
    cells = [
        {"cell": f"A{8 * row + 1}", "value": text, "type": "formula"}
        for row, text in enumerate(wanted)
    ]

    edit(
        source(messy_book(tmp_path / "a.xlsx")),
        out,
        {"op": "set_cells", "sheet": "F", "cells": cells},
    )

    sheet = openpyxl.load_workbook(out, data_only=True)["F"]
    found = {text: sheet.cell(8 * row + 1, 1).value for row, text in enumerate(wanted)}
    assert {t: (found[t], wanted[t]) for t in wanted if not _is(found[t], wanted[t])} == {}
