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
from .more_formulas import MORE_DATA, more_formulas

# where LibreOffice and Excel part ways; each line is a difference that is not ours
DEVIATIONS = {
    r"\bD[129]\b|D1:D12|TRUE|FALSE|.[<>=].*\)$": "truth values are numbers there",
    r"^=(SEARCH|FIND)\(\"\"|^=(SEARCH|FIND)\([^,]*A8": "an empty text is found nowhere there",
    r"^=DATE\((0|99),": "years below 100 are of this century there",
    r"IFS?\(.*(\*|\?|,A8|5)": "wildcards meet numbers there, and a number does not meet its text",
    r"^=RANK": "a number that is not in the list has a rank there",
    r"\^|^=POWER": "0^0 is 1 there, and roots of negative numbers exist",
    r"^=(HOUR|MINUTE|SECOND|DAY|MONTH|YEAR|WEEKDAY)\((A2|-1|3000000)\)": "there is no end of days",
    r"^=(DATE\(1900,(0|-1)|DATE\(10000|E(DATE|OMONTH)\()": "nor a beginning",
    r"^=TEXT\((A2|-.*),\"(yyyy|mm|dd)": "nor here",
    r"^=CHAR|^=CODE|^=UNICHAR\(0": "other characters beyond ASCII there",
    r"^=ATAN2": "0 for the origin there",
    r"^=(ISEVEN|ISODD)\(A8\)": "an empty cell is an error there",
    r"^=GEOMEAN\(J": "0 is let through there",
    r"^=SUM\(0.3": "noise is removed there",
    r"^=MATCH\(.*,H1:J1\)": "text among numbers keeps it from the last of them",
    r"^=MROUND": "numbers of two signs are no error there",
    r"^=COMBINA": "no more is chosen than there is",
    r"^=BIT.*\(2\.5": "fractions are cut off there",
    r"^=WEEKNUM": "the last days of a year are of the next one there",
    r"^=DATEDIF\(.*\"Q\"": "an unknown unit is no error there",
    r"^=NUMBERVALUE\(\"\"": "an empty text is no number there",
    r"^=DOLLAR\(-": "a minus there, brackets in Excel",
    r"^=ADDRESS\(.*,5\)": "a kind that there is not",
    r"^=TEXT\(.*\"(#\.##|0\.#)": "the point goes with the digits behind it",
    r"^=PERCENTRANK": "rounded there, cut off in Excel",
    r"^=LOGNORM.DIST\(0|^=NEGBINOMDIST\(0,1|^=EFFECT\(0|^=SYD|^=DB\(": "other limits of arguments",
    r"^=TBILL": "another count of days",
    r"OFFSET\(.*-": "no sizes below zero there",
    r"^=TYPE|^=ERROR.TYPE\(#NULL": "other numbers",
    r"^=D[A-Z]+\(.*T7:T8|^=D(STDEV|VAR)": "a condition means the whole text there",
    r"^=SUM\(E1:E3\*F1:F5\)": "places that a range does not have are passed over there",
    r"^=(DAY|MONTH|YEAR)\((C3|C4|C6|C9|A8|A10)\)": "no first days of 1900 there",
    r"^=INDEX\([A-Z0-9:]+,0(,[013])?\)$": "several values, for which this list has no room",
}  # fmt: skip


CHUNK = 3000  # formulas of one write: a busy machine has the time for them


def put(tmp_path, texts):
    """Write formulas into a sheet of values; give back the file with our results."""
    tmp_path.mkdir(exist_ok=True)
    base, out = tmp_path / "base.xlsx", tmp_path / "out.xlsx"
    cells = []
    with xlsxwriter.Workbook(str(base)) as file:
        sheet = file.add_worksheet("S")
        for column, values in (DATA | MORE_DATA).items():
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
        return one == two or abs(one - two) <= 1e-9 * max(abs(one), abs(two))
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
    every = [*formulas(), *more_formulas()]
    texts = [text for text in every if _is_taken(text)][:: scaled(25, 1)]

    parts = [texts[at : at + CHUNK] for at in range(0, len(texts), CHUNK)]
    outs = [put(tmp_path / str(number), part) for number, part in enumerate(parts)]

    pairs: list[tuple[str, object, object]] = []
    for part, out in zip(parts, outs, strict=True):
        (theirs,) = second_reader.convert([out], out.parent, "xlsx")
        pairs += zip(part, shown(out, len(part)), shown(theirs, len(part)), strict=True)
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
    "=B11+1": 45353,  # 2024-03-01
    "=1+B8": 4.5,
    "=YEAR(B11)": 2024,
    "=VALUE(B8)": 3.5,
    '=VALUE("12.5%")+"0:30"*48': 1.125,
    "=VALUE(B9)": 1000,
    '=1+"7"&CHAR(160)': "8\xa0",
    '=1+("7"&CHAR(160))': None,
    '=1+"1,5"': None,
    '=1+"1/2"': None,
    '=1+"1E400"': None,
    '=WEEKDAY("2024-02-29",2)': 4,
    '="2024-02-30"+1': None,
    "=DAY(C4)*100+MONTH(C4)": 2902,
    "=YEAR(A8)+DAY(A8)": 1900,
    "=MATCH(A8,H1:H12,0)": "#N/A",
    "=MATCH(A8,A1:A12,0)": None,
    "=SUM(--(FREQUENCY(E1:E12,E1:E12)>0))": 10,
    '=ADDRESS(2,3,1,TRUE,"Data")': "Data!$C$2",
    '=ADDRESS(2,3,1,TRUE,"S1")': None,
    '=LEFT("abc",-0.5)': None,
    "=CORREL({1,2,3},{1;2;3})": None,
    "=CUMIPMT(0.08,360,10000,1,360,0)": None,
    "=ROUND(CUMIPMT(0.09/12,30*12,125000,13,24,0),4)": -11135.2321,
    "=EDATE(C4,1)": None,
    "=TIME(0,0,-1)": None,
    "=INT(4.35*100)": None,
    "=MOD(1,0.1)": None,
    "=1-0.9-0.1": None,
    "=VLOOKUP(6,J1:J12,1)": None,
    "=MATCH(5,E1:E12,1)": None,
    "=MATCH(0.1+0.2,A1:A12,0)": None,
    "=MATCH(1/3,A1:A12,0)": "#N/A",
    "=LOOKUP(50/3,H1:H12,I1:I12)": "o",
    "=RANK(0.1+0.2,A1:A12)": None,
    '=MIN("x")': None,
    "=CHAR(1)": None,
    "=INDEX(E1:F4,1)": None,
    "=1E+20&B1": None,
    '=LEN("😀")': None,
    '="ä"<"b"': None,
    "=SUM(0.3,-0.2,-0.1)": None,
    '="#N/A"&1': "#N/A1",
}


@pytest.mark.rule("F24.9")
def test_results_are_those_excel_shows_or_none_at_all(tmp_path):
    out = put(tmp_path, list(EXCEL))

    found = dict(zip(EXCEL, shown(out, len(EXCEL)), strict=True))

    assert found == EXCEL
    assert opened(out)["S"]["L20"].value == "=0.1+0.2=0.3"


def seen(array):
    """Return a formula that shows the values of an array, row by row."""
    return f'=TEXTJOIN("|",FALSE,IFERROR({array},"!"))'


YOUNGER = {  # LibreOffice 7.4 knows none of these: as Excel's pages describe them
    '=XLOOKUP("c",I1:I12,H1:H12)': 3,
    '=XLOOKUP("zz",I1:I12,H1:H12,"Not found")': "Not found",
    "=XLOOKUP(4,H1:H12,I1:I12,0,-1)": "c",
    "=XLOOKUP(4,H1:H12,I1:I12,0,1)": "e",
    "=XLOOKUP(4,H1:H12,I1:I12)": "#N/A",
    "=XLOOKUP(20,E1:E12,F1:F12,,0,-1)": 2.5,
    '=XLOOKUP("x~*",G1:G12,E1:E12,,2)': 1,
    '=XLOOKUP("y?",G1:G12,E1:E12,,2)': 5,
    "=SUM(XLOOKUP(5,H1:H12,E1:F12))": 22.5,
    '=SUM(XLOOKUP("c",I1:I12,E1:E12):XLOOKUP("g",I1:I12,E1:E12))': 70,
    "=XLOOKUP(7,H1:H12,I1:I12,,0,2)": "g",
    "=XLOOKUP(5,E1:E12,I1:I12,,0,2)": None,  # halved where nothing is in order
    "=XMATCH(30,E1:E12)": 4,
    "=XMATCH(25,E1:E12,1)": 4,
    "=XMATCH(25,E1:E12,-1)": 2,
    "=XMATCH(20,E1:E12,0,-1)": 3,
    seen("FILTER(E1:F4,E1:E4=20)"): "20|2|20|2.5",
    seen('FILTER(E1:E4,E1:E4>99,"none")'): "none",
    seen("FILTER(E1:G1,{1,0,1})"): "10|x",
    seen("UNIQUE(E1:E6)"): "10|20|30|5",
    seen("UNIQUE(E1:E6,FALSE,TRUE)"): "10|30",
    seen('UNIQUE({"a","A","b"},TRUE)'): "a|b",
    seen("SORT(E1:E4)"): "10|20|20|30",
    seen("SORT(E1:F3,2,-1)"): "20|2.5|20|2|10|1.5",
    seen('SORT({3,"b",1,"a"},1,1,TRUE)'): "1|3|a|b",
    seen("SORT({2,1;1,2},{1,2},{1,-1})"): "1|2|2|1",
    seen("SORTBY(I1:I4,E1:E4,-1)"): "g|c|e|a",
    seen("SORTBY({1;2;3},{1;1;0},1,{5;9;7},-1)"): "3|2|1",
    seen("SEQUENCE(2,3)"): "1|2|3|4|5|6",
    seen("SEQUENCE(3,1,10,-2)"): "10|8|6",
    seen("TAKE({1,2,3;4,5,6;7,8,9},2)"): "1|2|3|4|5|6",
    seen("TAKE({1,2,3;4,5,6;7,8,9},-1,2)"): "7|8",
    seen("DROP({1,2,3;4,5,6;7,8,9},1)"): "4|5|6|7|8|9",
    seen("DROP({1,2,3;4,5,6;7,8,9},-2,-1)"): "1|2",
    seen("CHOOSECOLS({1,2,3;4,5,6},3,1)"): "3|1|6|4",
    seen("CHOOSEROWS({1,2;3,4;5,6},-1,1)"): "5|6|1|2",
    seen("HSTACK({1;2},{3;4;5})"): "1|3|2|4|!|5",
    seen("VSTACK({1,2},{3,4,5})"): "1|2|!|3|4|5",
    seen("TOCOL({1,2;3,4})"): "1|2|3|4",
    seen("TOCOL({1,2;3,4},0,TRUE)"): "1|3|2|4",
    seen("TOROW(J1:J3,1)"): "1|5",
    seen("WRAPROWS({1,2,3,4,5,6,7},3)"): "1|2|3|4|5|6|7|!|!",
    seen('WRAPCOLS({1,2,3,4,5},3,"x")'): "1|4|2|5|3|x",
    seen('EXPAND({1,2;3,4},3,3,"-")'): "1|2|-|3|4|-|-|-|-",
    seen('TEXTSPLIT("Dakota Lennon Sanchez"," ")'): "Dakota|Lennon|Sanchez",
    seen('TEXTSPLIT("1,2,3;4,5",",",";")'): "1|2|3|4|5|!",
    seen('TEXTSPLIT("a--b-c","-",,TRUE)'): "a|b|c",
    '=TEXTBEFORE("Little Red Riding Hood\'s red hood","Red")': "Little ",
    '=TEXTBEFORE("Little red Riding Hood\'s red hood","red",-1)': "Little red Riding Hood's ",
    '=TEXTAFTER("Red riding hood\'s, red hood","hood")': "'s, red hood",
    '=TEXTAFTER("Red riding hood\'s red hood","HOOD",,1)': "'s red hood",
    '=TEXTAFTER("Red riding hood","basket")': "#N/A",
    '=TEXTBEFORE("one","x",,,,"none")': "none",
    "=ROWS(E1:.E19)": 12,
    "=ROWS(J2.:J12)": 10,
    "=ROWS(A8.:.A15)": 4,
    '=IFERROR(@E1:E12,"beside none")': "beside none",
    "=LET(x,5,SUM(x,1))": 6,
    "=LET(x,1,y,x+1,x+y)": 3,
    "=LAMBDA(a,b,SQRT(a^2+b^2))(3,4)": 5,
    "=LET(half,LAMBDA(x,x/2),half(half(20)))": 5,
    "=LAMBDA(x,[y],IF(ISOMITTED(y),x,x*y))(7)": 7,
    seen("MAP({1,2;3,4},LAMBDA(x,IF(x>2,x*x,x)))"): "1|2|9|16",
    seen("SCAN(1,{1,2,3;4,5,6},LAMBDA(a,b,a*b))"): "1|2|6|24|120|720",
    "=REDUCE(0,{1,2,3},LAMBDA(a,b,a+b^2))": 14,
    seen("MAKEARRAY(2,3,LAMBDA(r,c,r*c))"): "1|2|3|2|4|6",
    seen("BYROW({1,2,3;4,5,6},LAMBDA(r,MAX(r)))"): "3|6",
    seen("BYCOL({1,2,3;4,5,6},LAMBDA(c,SUM(c)))"): "5|7|9",
    seen('BYROW(E1:F3,LAMBDA(r,COUNTIF(r,">5")))'): "1|1|1",
    "=SUM((E1:E4=TRANSPOSE(E1:E4))*1)": 6,
    "=MODE(E1:E12)": None,  # 20 and 5 are there twice
    seen("MODE.MULT({1,2,3,4,3,2,1,2,3,5,6,1})"): "1|2|3",
    seen("LINEST({1,9,5,7},{0,4,2,3})"): "2|1",
    seen("ROUND(TREND({133890;135000;135790},,{4;5}),2)"): "136793.33|137743.33",
    "=ROUND(GROWTH({33100;47300;69000;102000;150000;220000},{11;12;13;14;15;16},17),0)": 320197,
    "=SUMPRODUCT((G:G=\"x\")*E:E)": 35,
    "=SUM(IF(G:G=\"x\",E:E))": 35,
    "=MAX(FILTER(E:E,G:G=\"x\"))": 20,
    "=INDEX(F:F,MATCH(1,(E:E=20)*(G:G=\"x\"),0))": 2.5,
    "=AGGREGATE(15,6,E1:E12/(G1:G12=\"x\"),1)": 5,
    "=SUM(OFFSET(E5,0,0,-3,1))": 55,
    "=PERCENTRANK.INC({13,12,11,8,4,3,2,1,1,1},2)": 0.333,
    "=ROUND(YEARFRAC(40909,41120,1),8)": 0.57650273,
    "=ROUND(RATE(48,-200,8000),6)": 0.007701,
    '=DATEDIF(DATE(2001,6,1),DATE(2002,8,15),"D")': 440,
    '=DATEDIF(DATE(2001,6,1),DATE(2002,8,15),"YD")': 75,
    "=WEEKNUM(DATE(2012,3,9),2)": 11,
    "=NETWORKDAYS.INTL(DATE(2006,1,1),DATE(2006,2,1),7,{38719,38733})": 22,
    "=WORKDAY(DATE(2008,10,1),151,{39778,39786,39834})": 39938,
    "=DOLLAR(-1234.567,-2)": "($1,200)",
    '=NUMBERVALUE("2.500,27",",",".")': 2500.27,
    '=TEXT(1234.567,"$#,##0.00")': "$1,234.57",
    '=TEXT(0.285,"0.0%")': "28.5%",
    '=TEXT(12200000,"0.00E+00")': "1.22E+07",
    '=TEXT(1234567898,"[<=9999999]###-####;(###) ###-####")': "(123) 456-7898",
    '=TEXT(4.34,"# ?/?")': "4 1/3",
}  # fmt: skip


@pytest.mark.rule("F24.9", "F24.15")
def test_younger_functions_give_what_their_pages_say(tmp_path):
    out = put(tmp_path, list(YOUNGER))

    found = dict(zip(YOUNGER, shown(out, len(YOUNGER)), strict=True))

    wrong = {text: (found[text], wanted) for text, wanted in YOUNGER.items()
             if not (found[text] is wanted is None or _same(found[text], wanted))}  # fmt: skip
    assert wrong == {}
