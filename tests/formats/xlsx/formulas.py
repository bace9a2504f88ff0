"""Formulas of every function we compute, with arguments that bring out how engines differ."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

DATA: dict[str, list[object]] = {  # the cells the formulas read, by column from row 1 on
    "A": [1, -2.5, 0, 3.7, 100, 1e10, 0.1, None, "text", "12", 8, 0.3],
    "B": ["apple", "Banana", "", "a*b", "äöü ß", "  pad  two ", "42", "3.5", "1e3", "TRUE",
          "2024-03-01", "~x?"],
    "C": [45000, 45000.75, 1, 60, 61, 0.5, 45351, 45716.999988, 0, 36526, 44927, 2958465],
    "D": [True, False, "=1/0", "=NA()", None, "=A1", "=B1", "=\"\"", "=1=1", "=C1", 5, -5],
    "E": [10, 20, 20, 30, 5, 5, 7.5, 12, 1, 18, 3, 9],
    "F": [1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7],
    "G": ["x", "y", "x", "z", "X", "yy", "", None, "x*", "a", "b", "five"],
    "H": [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23],
    "I": ["a", "c", "e", "g", "i", "k", "m", "o", "q", "s", "u", "w"],
    "J": [1, None, "5", 6, 2, "", 0, -1, "x", 12, 3.5, 4],
}  # fmt: skip


def _words(text: str) -> list[str]:
    return text.split()


NUMBERS = _words("""
A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 A11 D3 D8 B7 B8 2.5 -2.5 0.5 1.5 -0.5 7 0 1E-7 123456789.125
TRUE
""")
FEW = _words("""
A1 A2 A3 A4 A8 A9 A10 A11 D4 2.5 -1.5 3 -2
""")
WHOLE = _words("""
0 1 2 3 -1 -2 2.9 A8 A10 A9
""")
SMALL = _words("""
1 2 3 0.05 10 -1
""")
TEXTS = _words("""
B1 B2 B3 B4 B5 B6 B7 B12 A1 A8 A4 D1 D3 "a" "" "ab""c" "Straße" A6 A7 0.1
""")
TEXTS += ['"ABC abc"', "1E+20", "1/3", "C2"]
SOME = ["B1", "B2", "B3", "B5", '"banana"', "A1", "A8"]
DATES = _words("""
C1 C2 C3 C4 C5 C6 C7 C8 C9 C10 C12 A2 A8 A9 B11 A10 45382 45291
""")
RANGES = _words("""
E1:E12 A1:A8 A1:A12 J1:J12 F1:F5 A8:A8 B1:B4 E1:F12 A1:C2 G7:G8
""")
ONE_RANGE = _words("""
SUM AVERAGE COUNT COUNTA COUNTBLANK MIN MAX MEDIAN PRODUCT SUMSQ STDEV STDEV.S STDEVP STDEV.P
VAR VAR.S VARP VAR.P AVERAGEA MAXA MINA GEOMEAN HARMEAN ROWS COLUMNS AND OR XOR CONCAT
SUMPRODUCT
""")
ONLY_ONE = _words("""
COUNTBLANK ROWS COLUMNS
""")
ONE_NUMBER = _words("""
ABS ACOS ASIN ATAN CHAR COS DEGREES EVEN EXP FACT INT ISEVEN ISODD LN LOG LOG10 NOT ODD
RADIANS SIGN SIN SQRT TAN TRUNC
""")
ONE_ANY = _words("""
ISBLANK ISERR ISERROR ISLOGICAL ISNA ISNONTEXT ISNUMBER ISTEXT N T NOT
""")
ONE_TEXT = _words("""
CLEAN CODE LEN LOWER UPPER PROPER TRIM LEFT RIGHT CONCATENATE
""")
ONE_DATE = _words("""
DAY MONTH YEAR HOUR MINUTE SECOND WEEKDAY
""")
CRITERIA = ['"x"', '"X"', '"x*"', '"<>x"', '">10"', '">=20"', '"<5"', '"=5"', '"5"', "5", '""',
            '"<>"', '"?"', '"~*"', '"x~*"', "A8", "A1", "TRUE", '"TRUE"', '"=*"', '"a"', '">a"',
            '"=10"', '"<>10"', "20", '"=="', '">"', '"*5*"', "D4"]  # fmt: skip
TEXT_FORMATS = _words("""
"0" "0.0" "0.00" "0.000" "#,##0" "#,##0.00" "0%" "0.0%" "0.00%" "00" "000" "0000" "yyyy-mm-dd"
"yyyy" "mm" "dd"
""")


def formulas() -> list[str]:
    """Every formula of the comparison, each once, in a fixed order."""
    return list(dict.fromkeys(_all()))


def _calls(name: str, *pools: list[str]) -> Iterator[str]:
    for arguments in itertools.product(*pools):
        yield f"={name}({','.join(arguments)})"


def _all() -> Iterator[str]:
    yield from _plain()
    yield from _ranges()
    yield from _numbers()
    yield from _texts()
    yield from _dates()
    yield from _lookups()
    yield from _criteria()
    yield from _money()
    yield from _logic()
    yield from _operators()


def _plain() -> Iterator[str]:
    yield from ("=PI()", "=TRUE()", "=FALSE()", "=NA()", "=ROW()", "=COLUMN()", "=ROW(B7)")
    yield from ("=COLUMN(C2)", "=TRUE", "=-A1", "=+B1", "=A1%", "=50%", "=D3", "=#N/A", "=A8")


def _ranges() -> Iterator[str]:
    for name in ONE_RANGE:
        yield from _calls(name, RANGES)
        yield from _calls(name, ["A1", "A8", "A9", "A10", "A11", "D3", "3", "TRUE", '"7"', '"x"'])
        if name not in ONLY_ONE:
            yield from _calls(name, ["E1:E4", "A10", "J1:J5"], ["F1:F4", "A8", "2", '"3"', "TRUE"])
    for name in ("LARGE", "SMALL", "PERCENTILE", "PERCENTILE.INC"):
        yield from _calls(name, RANGES, ["1", "2", "0", "12", "13", "2.5", "0.5", "0.25", "A8"])
    for name in ("QUARTILE", "QUARTILE.INC"):
        yield from _calls(name, RANGES, ["0", "1", "2", "3", "4", "5", "1.7", "-1"])
    for name in ("RANK", "RANK.EQ"):
        yield from _calls(name, ["20", "5", "E1", "4", "A8"], ["E1:E12", "J1:J12", "A1:A8"])
        yield from _calls(name, ["20", "5"], ["E1:E12", "J1:J12"], ["0", "1", "TRUE", "-3"])
    for name in ("CORREL", "SLOPE", "INTERCEPT"):
        pairs = ["E1:E12", "F1:F12", "J1:J12", "H1:H12", "A1:A8", "G1:G12"]
        yield from _calls(name, pairs, pairs)
    yield from _calls("SUMPRODUCT", ["E1:E12", "A1:A12", "J1:J12"], ["F1:F12", "J1:J12", "A1:A8"])
    yield "=SUMPRODUCT((E1:E12>5)*(F1:F12<6))"
    yield '=SUMPRODUCT((G1:G12="x")*E1:E12)'
    yield '=SUMPRODUCT(--(G1:G12="x"),E1:E12)'
    yield "=SUMPRODUCT(E1:E12*F1:F12)"
    yield "=SUMPRODUCT(E1:E3/A1:A3)"
    yield from _calls("TEXTJOIN", ['"-"', '""', "A8", "B6"], ["TRUE", "FALSE", "1"], RANGES)


def _numbers() -> Iterator[str]:
    for name in ONE_NUMBER:
        yield from _calls(name, NUMBERS)
    for name in ("ROUND", "ROUNDDOWN", "ROUNDUP", "TRUNC"):
        yield from _calls(name, NUMBERS, ["0", "1", "2", "-1", "-2", "A8", "1.9", "5"])
    for name in ("ROUND", "ROUNDUP", "ROUNDDOWN", "TRUNC", "INT"):
        second = [] if name == "INT" else [["0", "1", "2", "3", "10"]]
        odd = ["2.675", "1.005", "1.255*100", "0.285*100", "1.1+2.2", "8.2-0.2", "5.015", "-1.005"]
        yield from _calls(name, [*odd, "0.1*3", "1.15", "4.35*100", "1E15/3", "4.1-4"], *second)
    yield from _calls("MOD", NUMBERS, ["3", "-3", "2.5", "0", "A8", "0.1", "-0.3"])
    yield from _calls("QUOTIENT", NUMBERS, ["3", "-3", "2.5", "0", "0.7"])
    yield from _calls("MROUND", FEW, ["3", "-3", "2.5", "0", "0.1", "0.05"])
    yield from _calls("POWER", FEW, ["0", "2", "-1", "0.5", "-2", "1/3", "A8"])
    yield from _calls("LOG", NUMBERS, ["2", "10", "1", "0", "0.5", "-2"])
    yield from _calls("ATAN2", FEW, FEW)
    yield from _calls("COMBIN", [*WHOLE, "5", "10"], [*WHOLE, "5"])
    for name in ("GCD", "LCM"):
        yield from _calls(name, [*WHOLE, "24", "36"], [*WHOLE, "18"])
        yield from _calls(name, ["E1:E4", "F1:F4"])
    yield from _calls("FACT", ["0", "1", "5", "170", "171", "-1", "2.9", "20"])


def _texts() -> Iterator[str]:
    for name in ONE_TEXT:
        yield from _calls(name, TEXTS)
    for name in ("LEFT", "RIGHT"):
        yield from _calls(name, TEXTS, ["0", "1", "3", "100", "-1", "A8", "1.9"])
    yield from _calls("MID", TEXTS, ["1", "2", "0", "5", "-1", "1.9"], ["0", "2", "100", "-1"])
    for name in ("FIND", "SEARCH"):
        inside = ['"a"', '"A"', '""', '"n"', '"*"', '"?"', '"a*n"', '"~*"', "A8", "1"]
        yield from _calls(name, inside, [*SOME, "B4", "B12"])
        yield from _calls(name, ['"a"', '"n"', '""'], SOME, ["1", "2", "3", "7", "0", "-1", "20"])
    swaps = ['"a"', '""', '"an"', '"P"', "1"]
    yield from _calls("SUBSTITUTE", TEXTS, swaps, ['"X"', '""', "A8"])
    yield from _calls(
        "SUBSTITUTE", SOME, ['"a"', '"p"'], ['"X"'], ["1", "2", "0", "-1", "9", "1.9"]
    )
    yield from _calls("REPLACE", SOME, ["1", "2", "0", "9"], ["0", "2", "-1", "50"], ['"XY"', "A8"])
    yield from _calls("REPT", SOME, ["0", "1", "3", "-1", "2.9", "A8"])
    yield from _calls("EXACT", [*SOME, "D1"], [*SOME, "D1"])
    yield from _calls("CONCATENATE", TEXTS, ["A7", "D1", "A8", "C2", "1E-5", "1/3"])
    yield from _calls("CHAR", ["65", "0", "255", "128", "256", "10", "65.9", "-1"])
    yield from _calls("CODE", ['"€"', '"A"', '""', '"ä"', '"中"'])
    yield from _calls("TEXT", [*NUMBERS, "C1", "C2", "1234.565", "-0.4", "B1"], TEXT_FORMATS)
    yield from _calls("LEN", ['"😀"', '"e\u0301"', "A4", "D1", "C2"])
    yield from _calls("PROPER", ['"o\'neil mc-donald"', '"ABC 2nd"', '"straße"', '"76BudGet"'])
    yield from _calls("UPPER", ['"straße"', '"ﬁ"', '"ı"'])


def _dates() -> Iterator[str]:
    for name in ONE_DATE:
        yield from _calls(name, [*DATES, "-1", "3000000"])
    yield from _calls(
        "WEEKDAY", ["C1", "C2", "C5", "45382"], _words("1 2 3 11 12 13 14 15 16 17 0 4 A8")
    )
    for name in ("EDATE", "EOMONTH"):
        yield from _calls(name, DATES, ["0", "1", "-1", "12", "1.9", "-1.9", "A8", "-2000"])
    months, days = _words("1 2 13 0 -1 2.9"), _words("1 29 31 0 -1 400")
    yield from _calls("DATE", _words("2024 1900 99 0 10000 -1 1904 2023.9"), months, days)
    yield from _calls(
        "TIME",
        ["0", "1", "23", "24", "-1", "25.9"],
        ["0", "59", "90", "-1"],
        ["0", "59", "-1", "3600"],
    )
    yield from _calls("DAYS", ["C1", "C2", "C7", "A8", "A9"], ["C1", "C10", "A8", "B11"])


def _lookups() -> Iterator[str]:
    keys = ["1", "5", "6", "0", "24", "A8", '"e"', '"E"', '"x"', "TRUE", "13.5", "D4"]
    yield from _calls("MATCH", keys, ["H1:H12", "I1:I12", "J1:J12", "E1:E12"], ["0", "1", "-1"])
    yield from _calls("MATCH", keys, ["H1:H12", "I1:I12", "H1:J1"])
    yield from _calls(
        "MATCH", ['"x*"', '"*"', '"?"', '"~*"', '"x~*"', '"y?"'], ["G1:G12", "B1:B12"], ["0"]
    )
    yield from _calls(
        "VLOOKUP", keys, ["H1:I12", "I1:J12"], ["1", "2", "3", "0", "A8"], ["FALSE", "TRUE", "0"]
    )
    yield from _calls("VLOOKUP", keys, ["H1:I12"], ["2"])
    yield from _calls("VLOOKUP", ['"x*"', '"*z"', '"?"'], ["G1:I12"], ["2"], ["FALSE"])
    yield from _calls(
        "HLOOKUP",
        ["10", "1.5", "1", '"a"', "E1"],
        ["E1:J4", "E1:F3"],
        ["1", "2", "5"],
        ["FALSE", "TRUE"],
    )
    yield from _calls("INDEX", ["E1:E12", "E1:G4", "A8:A9"], ["1", "2", "0", "13", "-1", "2.9"])
    yield from _calls("INDEX", ["E1:G4"], ["1", "4", "5", "0"], ["1", "3", "4", "0"])
    yield from _calls("SUM", [f"INDEX(E1:G4,{r},{c})" for r in (0, 1, 2) for c in (0, 1, 2)])
    yield from _calls(
        "CHOOSE", ["1", "2", "3", "4", "0", "2.9", "A8", "A9", "A11"], ['"p"'], ["A1"], ["D3"]
    )


def _criteria() -> Iterator[str]:
    for name in ("COUNTIF",):
        yield from _calls(
            name, ["G1:G12", "E1:E12", "J1:J12", "A1:A12", "B1:B12", "D1:D12"], CRITERIA
        )
    for name in ("SUMIF", "AVERAGEIF"):
        yield from _calls(name, ["G1:G12", "E1:E12", "J1:J12"], CRITERIA)
        yield from _calls(name, ["G1:G12", "E1:E12"], CRITERIA, ["F1:F12", "A1:A12", "F1"])
    for name in ("SUMIFS", "AVERAGEIFS", "MAXIFS", "MINIFS"):
        yield from _calls(
            name,
            ["F1:F12", "A1:A12", "J1:J12"],
            ["G1:G12"],
            CRITERIA,
            ["E1:E12"],
            ['">5"', '"<>20"'],
        )
        yield from _calls(name, ["E1:E12"], ["J1:J12"], CRITERIA)
    yield from _calls("COUNTIFS", ["G1:G12"], CRITERIA, ["E1:E12"], ['">5"', '"<>20"', "5"])


def _money() -> Iterator[str]:
    yield from _calls(
        "PMT", ["0.05", "0", "0.1/12", "-0.1"], ["12", "1", "0", "-5"], ["1000", "-1000", "0"]
    )
    for name in ("PMT", "PV", "FV", "NPER"):
        yield from _calls(
            name,
            ["0.05", "0", "0.1/12"],
            ["12", "10", "-5"],
            ["100", "-100"],
            ["50", "0"],
            ["0", "1"],
        )
    yield from _calls(
        "NPV", ["0.1", "0", "-0.5", "A8"], ["E1:E4", "J1:J12", "A1:A3"], ["100", "A8", "F1"]
    )


def _logic() -> Iterator[str]:
    tests = ["A1>0", "A8", "A9", "A10", "D1", "D3", '"TRUE"', '"x"', "0", "A1=A2", "B3", "D8"]
    yield from _calls("IF", tests, ["1", '"y"', "A8"], ["2", "D3", "A8"])
    yield from _calls("IF", tests, ["1"])
    for name in ("IFERROR", "IFNA"):
        yield from _calls(name, ["D3", "D4", "A1", "A8", "1/0", "B1"], ['"f"', "A8", "D4", "0"])
    yield from _calls("IFS", ["FALSE", "A8", "A1"], ["1"], ["D1", "A3"], ['"second"'])
    yield from _calls(
        "SWITCH",
        ["1", "A1", '"A"', "A8", "3", '""', "TRUE"],
        ["1"],
        ['"one"'],
        ['"a"'],
        ['"letter"'],
    )
    yield from _calls(
        "SWITCH", ["1", "5", "A8", "D3"], ["1"], ['"one"'], ["0"], ['"zero"'], ['"else"']
    )
    for name in ("AND", "OR", "XOR"):
        yield from _calls(
            name, ["TRUE", "A1", "A8", "A3", '"TRUE"', "D2"], ["FALSE", "A1", "A8", "D1", "D3"]
        )
    for name in ONE_ANY:
        yield from _calls(name, [*NUMBERS, *TEXTS, "D4", "1/0", "NA()", "C1", "E1>2"])


def _operators() -> Iterator[str]:
    sides = _words("""
A1 A2 A3 A4 A7 A8 A9 A10 A11 B1 B2 B3 B8 B9 B11 C1 D1 D2 D3 D4 D8 "apple" "12" 12 "" 0.3 TRUE
""")
    for operator in ("+", "-", "*", "/", "^", "&", "=", "<>", "<", ">", "<=", ">="):
        for left, right in itertools.product(sides, sides):
            yield f"={left}{operator}{right}"
    yield from ("=-2^2", "=2^3^2", "=-A1^2", "=1-1-1", "=2*3%", "=(1+2)*3", "=10/4*2", "=--A10")
    yield from ("=0.1+0.2=0.3", "=0.1+0.2", "=1-0.9-0.1", "=(1-0.9-0.1)=0", "=0.1*3=0.3")
    yield from ("=1.1-1", "=43.1-43.2+0.1", "=(43.1-43.2)+0.1=0", "=1E20+1-1E20", "=4.1-4-0.1")
    yield from (
        "=0.3-0.1=0.2",
        "=0.3-0.2-0.1",
        "=SUM(0.3,-0.2,-0.1)",
        "=INT(0.3/0.1)",
        "=0.3/0.1=3",
    )
    yield from (
        "=1=1.0000000000000002",
        "=1.1+2.2=3.3",
        "=3.3-(1.1+2.2)",
        "=A7+0.2=A12",
        "=A7+0.2>A12",
    )
    yield from ("=MATCH(0.1+0.2,A1:A12,0)", "=COUNTIF(A1:A12,0.1+0.2)", "=SUMIF(A1:A12,0.1+0.2)")
    yield from ("=IF(0.1+0.2=0.3,1,2)", "=ROUND(0.1+0.2,15)=0.3", "=1/3*3=1", "=0.1+0.2-0.3")
    yield from (
        "=(0.1+0.2-0.3)",
        "=MOD(0.3,0.1)",
        "=MOD(5.1,0.1)",
        "=MOD(1E16,3)",
        "=MOD(-1E-20,3)",
    )
