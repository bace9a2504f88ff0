"""More formulas to compare with LibreOffice: of every function it knows and we compute."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

MORE_DATA: dict[str, list[object]] = {  # a list and tables of conditions, for DSUM and its kind
    "P": ["Name", "ann", "bob", "Ann", "cid", None, "dan", "bobby"],
    "Q": ["Amount", 10, 20, 30, 5, 7, "x", 12.5],
    "R": ["Qty", 1, 2, 3, 4, 5, 6, 7],
    "T": ["Name", "ann", None, "Amount", ">10", None, "Name", "bob"],
    "U": ["Qty", ">1", "<5"],
}
W = str.split


def calls(name: str, *pools: list[str]) -> Iterator[str]:
    for arguments in itertools.product(*pools):
        yield f"={name}({','.join(arguments)})"


def more_formulas() -> list[str]:
    """Every formula, each once, in a fixed order."""
    parts = (
        _numbers(),
        _dates(),
        _texts(),
        _statistics(),
        _distributions(),
        _engineering(),
        _money(),
        _lookups(),
        ARRAYS,
    )
    return list(dict.fromkeys(itertools.chain(*parts)))


def _numbers() -> Iterator[str]:
    nums = W("A1 A2 A3 A4 A5 A7 A8 A9 2.5 -2.5 0.3 7 -7.3 12.35 1234.565")
    steps = W("1 2 -2 0.1 0.05 -0.1 0 2.5 5 10")
    for n in W("CEILING FLOOR MROUND"):
        yield from calls(n, nums, steps)
    for n in W("CEILING.MATH FLOOR.MATH"):
        yield from calls(n, nums)
    yield from calls(n, nums, steps)
    yield from calls(n, nums, ["2", "-2", "0.1"], ["0", "1", "-1"])
    for n in W("CEILING.PRECISE FLOOR.PRECISE ISO.CEILING"):
        yield from calls(n, nums)
    yield from calls(n, nums, steps)
    for n in W(
        "ACOSH ASINH ATANH ACOT ACOTH COSH SINH TANH COT COTH CSC CSCH SEC SECH "
        "SQRTPI FACTDOUBLE FISHER FISHERINV GAMMA GAMMALN GAMMALN.PRECISE GAUSS PHI "
        "ERF ERF.PRECISE ERFC ERFC.PRECISE NORMSDIST NORMSINV NORM.S.INV "
    ):
        yield from calls(n, W("0.5 1 2 -0.5 0 -2 3.7 10 0.1 0.975 A9 A8 5 -1 170 20.5"))
    yield from calls("COMBINA", W("0 1 4 10 -1 4.9"), W("0 1 3 5 -1 2.9"))
    yield from calls("PERMUT", W("0 1 4 10 -1 4.9 100"), W("0 1 3 5 -1 2.9"))
    yield from calls("PERMUTATIONA", W("0 1 4 10 -1 4.9"), W("0 1 3 5 -1"))
    yield from calls("MULTINOMIAL", W("2 3"), W("3 0 4"), W("4 1.5"))
    for n in W("BITAND BITOR BITXOR"):
        yield from calls(n, W("1 5 13 0 -1 281474976710655 2.5"), W("25 7 0 3"))
    for n in W("BITLSHIFT BITRSHIFT"):
        yield from calls(n, W("4 13 1"), W("2 0 -2 3"))
    yield from calls("BASE", W("7 100 15 0 255 -1 4095"), W("2 16 36 10 1 37"))
    yield from calls("BASE", W("7 255"), W("2 16"), W("0 4 12"))
    yield from calls("DECIMAL", W('"FF" "111" "zap" "zz" "8" "12"'), W("16 2 36 8 10"))
    yield from calls("ROMAN", W("499 1 0 3999 4000 2024 14 -1"))
    yield from calls("ARABIC", W('"MMXXIV" "iv" "" "LVII" "x" "CDXCIX" "mcmxii"'))
    yield from calls("DELTA", W("5 4"), W("4 5"))
    yield from calls("GESTEP", W("5 -4 0"), W("4 5 0"))
    yield from calls("SERIESSUM", W("2 0.5"), W("0 1"), W("1 2"), ["E1:E4", "F1:F3"])
    for n in W("SUMX2MY2 SUMX2PY2 SUMXMY2"):
        yield from calls(n, ["E1:E12", "F1:F12"], ["H1:H12", "F1:F12"])


def _dates() -> Iterator[str]:
    D = W("C1 C2 C5 C7 C10 C11 45382 45291 45350 45351 45657 44561")
    yield from calls("WEEKNUM", D)
    yield from calls("WEEKNUM", D, W("1 2 11 12 13 14 15 16 17 21 3 0"))
    yield from calls("ISOWEEKNUM", D)
    yield from calls("DAYS360", D, D)
    yield from calls("DAYS360", D[:6], D[:6], ["TRUE", "FALSE"])
    yield from calls("DATEDIF", D, D, W('"Y" "M" "D" "YM" "MD" "y" "YD" "Q"'))
    yield from calls("YEARFRAC", D, D, W("0 1 2 3 4"))
    yield from calls("YEARFRAC", D[:5], D[:5])
    yield from calls("NETWORKDAYS", D, D)
    yield from calls("NETWORKDAYS", D[:5], D[:5], ["C7:C8", "C1", "E1:E2", "{45002,45003}"])
    yield from calls(
        "NETWORKDAYS.INTL", D[:6], D[:6], W('1 2 7 11 17 "0000011" "1000001" "1111111" 8 "000"')
    )
    yield from calls("WORKDAY", D, W("1 5 -5 0 30 -1 2.9 100"))
    yield from calls("WORKDAY", D[:5], W("5 -7"), ["C7:C8", "45005"])
    yield from calls(
        "WORKDAY.INTL", D[:6], W("5 -5 20 0"), W('1 2 7 11 17 "0000011" "1000001" "1111111" 8')
    )
    yield from calls("DATEVALUE", W('"2024-03-01" "2024-02-30" "x" "2023-1-5" B11'))
    yield from calls("TIMEVALUE", W('"12:30" "00:00:01" "23:59:59" "6:05"'))


def _texts() -> Iterator[str]:
    yield from calls(
        "NUMBERVALUE",
        W('"2.500,27" "3.5%" "1,234.5" "12" "" "x" "1.2.3"'),
        W('"," "."'),
        W('"." ","'),
    )
    yield from calls("FIXED", W("1234.567 -1234.567 44.332 0 0.005 A8"))
    yield from calls(
        "FIXED", W("1234.567 -1234.567 1234567.891 0.5"), W("0 1 3 -1 -2"), ["TRUE", "FALSE"]
    )
    yield from calls("DOLLAR", W("1234.567 -1234.567 0.005 99.888"), W("2 0 -2 4"))
    yield from calls("UNICHAR", W("65 8364 0 -1 9786 66.9"))
    yield from calls("UNICODE", W('"A" "€" "" B5'))
    yield from calls("VALUE", W('"12" A1 "x" A8 "-5" B7'))
    yield from calls("ADDRESS", W("1 2 1048577 0"), W("3 28 16384 0"))
    yield from calls("ADDRESS", W("2 3"), W("3 5"), W("1 2 3 4 5"))
    fm = [
        '"# ?/?"',
        '"# ??/??"',
        '"# ?/8"',
        '"???0.0?"',
        '"##0.0E+0"',
        '"0.#E+00"',
        '"[>1000]0.0,;0"',
        '"[<0](0);[=0]""nil"";0.0"',
        '"00-00"',
        '"#-##"',
        '"0.0,,"',
        '"[Red]0;[Blue]-0"',
        '"0.00"',
        '"#,##0"',
        '"#,##0.00"',
        '"0"',
        '"0.0%"',
        '"000000"',
        '"$#,##0.00"',
        '"0.00;(0.00)"',
        '"#,##0;-#,##0;""zero"""',
        '"0.0,"',
        '"0.00E+00"',
        '"#"',
        '"#.##"',
        '"00-00"',
        '"(000) 000-0000"',
        '"0 ""units"""',
        '"+0;-0;0"',
        '"#,##0.0#"',
        '"0.###"',
        '"€0.00"',
    ]
    yield from calls(
        "TEXT", W("1234.567 -1234.567 0 0.5 1234567.891 12 0.1 1234567890 -5 99.995 1E-3"), fm
    )
    fd = [
        '"yyyy-mm"',
        '"mmm yyyy"',
        '"mmmm"',
        '"dddd"',
        '"ddd"',
        '"d/m/yy"',
        '"dd.mm.yyyy"',
        '"hh:mm"',
        '"h:mm AM/PM"',
        '"hh:mm:ss"',
        '"yyyy-mm-dd hh:mm"',
        '"[h]:mm"',
        '"mmmm d, yyyy"',
        '"yy"',
        '"m/d/yyyy"',
        '"mm/dd/yyyy hh:mm:ss"',
        '"[mm]:ss"',
        '"dddd, mmmm dd"',
        '"mmmmm"',
        '"h"',
        '"[ss]"',
        '"yyyymmdd"',
    ]
    yield from calls("TEXT", W("C1 C2 C7 C8 45382 45291.25 36526.5 45000.999 0.5"), fd)


def _statistics() -> Iterator[str]:
    R = W("E1:E12 A1:A8 A1:A12 J1:J12 F1:F5 E1:F12 A8:A8 B1:B4 E1:E2 E3:E3")
    for n in W("AVEDEV DEVSQ KURT SKEW SKEW.P STDEVA STDEVPA VARA VARPA MODE MODE.SNGL MEDIAN"):
        yield from calls(n, R)
    yield from calls("MODE", ["E1:E12", "E2:E4", "H1:H12", "A1:A12"], ["F1:F12", "5", "10"])
    P = ["E1:E12", "F1:F12", "J1:J12", "H1:H12", "A1:A8", "G1:G12"]
    for n in W("COVAR COVARIANCE.P COVARIANCE.S PEARSON RSQ STEYX"):
        yield from calls(n, P, P)
    for n in W("FORECAST FORECAST.LINEAR"):
        yield from calls(n, ["5", "30", "A8"], P[:4], P[:4])
    for n in W("PERCENTILE.EXC"):
        yield from calls(n, R, W("0.1 0.25 0.5 0.9 0 1 0.05"))
    yield from calls("QUARTILE.EXC", R, W("1 2 3 0 4"))
    yield from calls("RANK.AVG", W("20 5 10 4"), ["E1:E12", "J1:J12"], ["0", "1"])
    for n in W("PERCENTRANK PERCENTRANK.INC PERCENTRANK.EXC"):
        yield from calls(n, ["E1:E12", "H1:H12"], W("5 7 8 1 20 0 30 4.5"))
    yield from calls(n, ["H1:H12"], W("5 8"), W("1 2 5"))
    yield from calls("TRIMMEAN", ["E1:E12", "H1:H12", "A1:A8"], W("0.2 0.5 0 0.9 1 -0.1"))
    yield from calls("STANDARDIZE", W("42 1.5"), W("40 0"), W("1.5 0 -1"))
    yield from calls("PROB", ["F1:F4"], ["{0.2;0.3;0.1;0.4}"], ["2"])
    yield from calls("PROB", ["F1:F4"], ["{0.2;0.3;0.1;0.4}"], ["2"], ["3"])
    for n in W("STDEV.S VAR.P AVERAGE"):
        yield from calls(n, ["{1,2,3,4}", "{1;2;5}"])


def _distributions() -> Iterator[str]:
    b = W("TRUE FALSE")
    for n in W("NORM.DIST NORMDIST"):
        yield from calls(n, W("42 0 -3.5 1"), W("40 0"), W("1.5 1 0 -1"), b)
    for n in W("NORM.INV NORMINV"):
        yield from calls(n, W("0.9 0.05 0.5 0 1 0.001"), W("40 0"), W("1.5 1"))
    yield from calls("NORM.S.DIST", W("1.333 0 -2 4"), b)
    for n in W("LOGNORM.DIST"):
        yield from calls(n, W("4 0.5 0"), W("3.5 0"), W("1.2 1"), b)
    for n in W("LOGNORM.INV LOGINV"):
        yield from calls(n, W("0.04 0.5 0.9"), W("3.5 0"), W("1.2 1"))
    yield from calls("LOGNORMDIST", W("4 0.5"), W("3.5 0"), W("1.2 1"))
    for n in W("BINOM.DIST BINOMDIST"):
        yield from calls(n, W("6 0 10 3"), W("10"), W("0.5 0.1 1 0"), b)
    for n in W("BINOM.INV CRITBINOM"):
        yield from calls(n, W("6 100"), W("0.5 0.1"), W("0.75 0.05"))
    for n in W("POISSON POISSON.DIST"):
        yield from calls(n, W("2 0 7"), W("5 0.5"), b)
    for n in W("EXPON.DIST EXPONDIST"):
        yield from calls(n, W("0.2 0 3"), W("10 0.5"), b)
    for n in W("WEIBULL WEIBULL.DIST"):
        yield from calls(n, W("105 1"), W("20 2"), W("100 3"), b)
    for n in W("GAMMA.DIST GAMMADIST"):
        yield from calls(n, W("10.00001131 1 0.5"), W("9 2"), W("2 0.5"), b)
    for n in W("GAMMA.INV GAMMAINV"):
        yield from calls(n, W("0.068094 0.5 0.9"), W("9 2"), W("2 0.5"))
    yield from calls("BETA.DIST", W("0.4 0.9"), W("8 2"), W("10 3"), b)
    yield from calls("BETA.DIST", W("2"), W("8"), W("10"), b, ["1"], ["3"])
    for n in W("BETADIST BETA.INV BETAINV"):
        yield from calls(n, W("0.4 0.685470581 0.05"), W("8 2"), W("10 3"))
    for n in W("CHISQ.DIST"):
        yield from calls(n, W("0.5 2 18.307"), W("1 10 3"), b)
    for n in W("CHISQ.DIST.RT CHIDIST"):
        yield from calls(n, W("18.307 0.5 2"), W("10 1 3"))
    for n in W("CHISQ.INV CHISQ.INV.RT CHIINV"):
        yield from calls(n, W("0.93 0.05 0.5"), W("1 10 3"))
    yield from calls("F.DIST", W("15.20686486 1 0.5"), W("6 2"), W("4 10"), b)
    for n in W("F.DIST.RT FDIST"):
        yield from calls(n, W("15.20686486 1 0.5"), W("6 2"), W("4 10"))
    for n in W("F.INV F.INV.RT FINV"):
        yield from calls(n, W("0.01 0.5 0.95"), W("6 2"), W("4 10"))
    yield from calls("T.DIST", W("60 1 -2 0.5"), W("1 5 60"), b)
    for n in W("T.DIST.2T T.DIST.RT"):
        yield from calls(n, W("1.959999998 1 0.5"), W("60 5 1"))
    yield from calls("TDIST", W("1.959999998 1 0.5"), W("60 5 1"), W("1 2"))
    for n in W("T.INV T.INV.2T TINV"):
        yield from calls(n, W("0.75 0.05 0.546449 0.9"), W("2 60 5"))
    for n in W("HYPGEOMDIST"):
        yield from calls(n, W("1 2"), W("4"), W("8"), W("20"))
    yield from calls("HYPGEOM.DIST", W("1 2"), W("4"), W("8"), W("20"), b)
    for n in W("NEGBINOMDIST"):
        yield from calls(n, W("10 0"), W("5 1"), W("0.25 0.5"))
    yield from calls("NEGBINOM.DIST", W("10 0"), W("5 1"), W("0.25 0.5"), b)
    for n in W("CONFIDENCE CONFIDENCE.NORM CONFIDENCE.T"):
        yield from calls(n, W("0.05 0.1"), W("2.5 1"), W("50 10"))
    for n in W("BESSELI BESSELJ BESSELK BESSELY"):
        yield from calls(n, W("1.5 2.5 0.5 10"), W("1 0 2"))
    for n in W("T.TEST TTEST"):
        yield from calls(n, ["E1:E12"], ["F1:F12", "H1:H12"], W("1 2"), W("1 2 3"))
    for n in W("F.TEST FTEST"):
        yield from calls(n, ["E1:E12"], ["F1:F12", "H1:H12"])
    for n in W("CHISQ.TEST CHITEST"):
        yield from calls(n, ["E1:F3"], ["H1:I3", "F1:G3", "E4:F6"])
    for n in W("Z.TEST ZTEST"):
        yield from calls(n, ["E1:E12", "F1:F12"], W("4 10"))
    yield from calls(n, ["E1:E12"], W("10"), W("5"))


def _engineering() -> Iterator[str]:
    for n in W("BIN2DEC BIN2HEX BIN2OCT"):
        yield from calls(n, W('"1100100" "1111111111" 101 "2" "0"'))
    yield from calls("BIN2HEX", ['"1110"'], W("4 1 10"))
    for n in W("HEX2DEC HEX2BIN HEX2OCT"):
        yield from calls(n, W('"A5" "FFFFFFFF5B" "F" "Z" "1FF"'))
    for n in W("OCT2DEC OCT2BIN OCT2HEX"):
        yield from calls(n, W('"54" "7777777533" "3" "8"'))
    for n in W("DEC2BIN DEC2HEX DEC2OCT"):
        yield from calls(n, W("9 -100 511 512 -513 100 58 0 1E10"))
    yield from calls(n, W("9 28"), W("4 8 1"))
    yield from calls("COMPLEX", W("3 0 -1.5"), W("4 0 1 -1 -2.5"))
    yield from calls("COMPLEX", ["3"], ["4"], ['"j"', '"k"'])
    for n in W("IMABS IMAGINARY IMREAL IMCONJUGATE"):
        yield from calls(n, W('"5+12i" "3-4i" "i" "-i" "4" "j" "x" "1.5-2.5i"'))
    for n in W("IMSUB IMDIV"):
        yield from calls(n, W('"13+4i" "-238+240i"'), W('"5+3i" "10+24i"'))


def _money() -> Iterator[str]:
    rt = W("0.05 0.1/12 0.005 0")
    for n in W("IPMT PPMT"):
        yield from calls(
            n, rt, W("1 2 12 13 0"), W("12 36"), W("8000 -1000"), ["0", "100"], ["0", "1"]
        )
    for n in W("CUMIPMT CUMPRINC"):
        yield from calls(
            n, ["0.09/12", "0.01"], ["360", "12"], ["125000"], W("1 5"), W("1 12 5"), ["0", "1"]
        )
    yield from calls("ISPMT", ["0.1/12", "0.1"], W("1 2"), ["36"], ["8000000"])
    for n in W("EFFECT NOMINAL"):
        yield from calls(n, W("0.0525 0.1 0 -1"), W("4 12 1 0 4.9"))
    yield from calls("RRI", W("96 10 0"), W("10000 1"), W("11000 2 0.5"))
    yield from calls("PDURATION", W("0.025 0.1 0"), W("2000 1"), W("2200 3"))
    yield from calls("SLN", ["30000"], ["7500"], ["10", "0"])
    yield from calls("SYD", ["30000"], ["7500"], ["10"], W("1 10 11 0 5.5"))
    yield from calls("DDB", ["2400"], ["300"], ["10", "120"], W("1 2 10 120"))
    yield from calls("DDB", ["2400"], ["300"], ["10"], W("1 2 10"), W("1.5 3"))
    yield from calls("DB", ["1000000"], ["100000"], ["6"], W("1 2 3 6 7"))
    yield from calls("DB", ["1000000"], ["100000"], ["6"], W("1 2 6 7 8"), W("7 12"))
    yield from calls("VDB", ["2400"], ["300"], ["10"], W("0 1 5"), W("1 6 10"))
    yield from calls(
        "VDB", ["2400"], ["300"], ["10"], ["0", "2"], ["6"], ["2", "1.5"], ["TRUE", "FALSE"]
    )
    yield from calls("RATE", W("48 10 12"), W("-200 -90"), W("8000 1000 900"))
    yield from calls("RATE", W("10"), W("-100"), W("800"), ["0", "200"], ["0", "1"])
    yield from calls(
        "IRR",
        [
            "{-70000,12000,15000,18000,21000}",
            "{-70000,12000,15000,18000,21000,26000}",
            "{-100,39,59,55,20}",
            "{-100,-50,80,90}",
        ],
    )
    yield from calls("IRR", ["{-70000,12000,15000}"], ["-0.1"])
    yield from calls("MIRR", ["{-120000,39000,30000,21000,37000,46000}"], ["0.1"], ["0.12", "0.14"])
    yield from calls(
        "XNPV",
        ["0.09", "0.1"],
        ["{-10000,2750,4250,3250,2750}"],
        ["{39448,39508,39751,39859,39904}"],
    )
    yield from calls("XIRR", ["{-10000,2750,4250,3250,2750}"], ["{39448,39508,39751,39859,39904}"])
    yield from calls("XIRR", ["{-100,60,70}"], ["{45000,45100,45400}"], ["0.1", "0.5"])
    yield from calls("FVSCHEDULE", ["1", "100"], ["{0.09,0.11,0.1}"])
    yield from calls("DOLLARDE", W("1.02 1.1 -1.02"), W("16 32 8 0"))
    yield from calls("DOLLARFR", W("1.125 -1.125"), W("16 32 8"))
    for n in W("TBILLEQ TBILLPRICE"):
        yield from calls(n, ["39538", "45000"], ["39600", "45100"], ["0.0914", "0.09"])
    yield from calls("TBILLYIELD", ["39538"], ["39600"], ["98.45"])
    yield from calls(
        "PRICE", ["39493"], ["43054"], ["0.0575"], ["0.065"], ["100"], W("1 2 4"), W("0 1 2 3 4")
    )
    yield from calls(
        "YIELD", ["39493"], ["42689"], ["0.0575"], ["95.04287"], ["100"], W("1 2 4"), W("0 1 4")
    )
    yield from calls("DISC", ["43282"], ["47849"], ["97.975"], ["100"], W("0 1 2 3 4"))
    yield from calls("INTRATE", ["39493"], ["39583"], ["1000000"], ["1014420"], W("0 1 2 3"))
    yield from calls("RECEIVED", ["39493"], ["39583"], ["1000000"], ["0.0575"], W("0 1 2 3"))
    yield from calls("PRICEDISC", ["39494"], ["39508"], ["0.0525"], ["100"], W("0 1 2 3"))
    yield from calls("YIELDDISC", ["39494"], ["39508"], ["99.795"], ["100"], W("0 1 2 3"))
    yield from calls(
        "ACCRINT", ["39508"], ["39691"], ["39569"], ["0.1"], ["1000"], W("2 4"), W("0 1 2 3")
    )


def _lookups() -> Iterator[str]:
    yield from calls("LOOKUP", W('5 6 0 24 "e" "x"'), ["H1:H12", "I1:I12"], ["E1:E12", "F1:F12"])
    yield from calls("LOOKUP", W("5 6 24"), ["H1:I12", "H1:J4"])
    yield from (
        "=LOOKUP(2,1/(E1:E12>5),F1:F12)",
        '=LOOKUP(2,1/(G1:G12="x"),E1:E12)',
        "=LOOKUP(9E+307,A1:A12)",
        '=LOOKUP("zzz",G1:G12)',
    )
    yield from calls(
        "SUBTOTAL",
        W("1 2 3 4 5 6 7 8 9 10 11 101 103 109 12 0"),
        ["E1:E12", "A1:A12", "J1:J12", "E1:F12"],
    )
    yield from calls(
        "AGGREGATE",
        W("1 2 3 4 5 6 7 8 9 10 11 12 13"),
        W("4 6 5 7"),
        ["E1:E12", "A1:A12", "D1:D12", "J1:J12"],
    )
    yield from calls(
        "AGGREGATE", W("14 15 16 17 18 19"), W("4 6"), ["E1:E12", "D1:D12"], W("1 2 0.5")
    )
    yield from calls(
        "SUM",
        [
            "OFFSET(E1,1,0,3,1)",
            "OFFSET(E1,2,1,-2,1)",
            "OFFSET(E1:E3,1,1)",
            "OFFSET(E1,0,0,COUNT(E1:E12),2)",
            "OFFSET(E1,-1,0)",
            "OFFSET(E5,-1,0,-2,-1)",
        ],
    )
    yield from calls(
        "SUM",
        [
            'INDIRECT("E1:E3")',
            'INDIRECT("E"&A1)',
            'INDIRECT("E"&2&":F"&3)',
            'INDIRECT("S!E1:E5")',
            'INDIRECT("X!E1")',
            'INDIRECT("")',
        ],
    )
    yield from calls("ROWS", ['INDIRECT("E1:E7")', "OFFSET(E1,0,0,4,2)", "A1:C5"])
    yield from calls("AREAS", ["E1:E3", "(E1,F2)"])
    yield from calls("N", W('A1 B1 D1 D3 A8 TRUE "x" 5'))
    yield from calls("T", W('A1 B1 D1 D3 A8 TRUE "x" 5'))
    yield from calls("TYPE", W('A1 B1 D1 D3 A8 TRUE "x" 5 {1,2}'))
    yield from calls("ERROR.TYPE", W("D3 D4 A1 #REF! #NUM! #NAME? #NULL! #VALUE!"))
    yield from calls("ISREF", W("A1 5 A1:A3"))
    yield from calls("ISFORMULA", W("A1 D3 D10"))
    for n in W("DSUM DAVERAGE DCOUNT DCOUNTA DGET DMAX DMIN DPRODUCT DSTDEV DSTDEVP DVAR DVARP"):
        yield from calls(
            n,
            ["P1:R8"],
            W('"Amount" 2 "Name" 9 "x"'),
            ["T1:T2", "T1:U2", "T1:U3", "T4:T5", "T7:T8"],
        )
    yield from calls(
        "MDETERM", ["{1,3,8,5;1,3,6,1;1,1,1,0;7,3,10,2}", "{3,6;1,1}", "E1:F2", "{1,2;2,4}"]
    )


_ARRAYS = """
=SUMPRODUCT(--(LEFT(G1:G12)="x"))
=SUMPRODUCT(LEN(G1:G12))
=SUMPRODUCT((MONTH(C1:C2)=3)*E1:E2)
=SUMPRODUCT(--(MOD(E1:E12,2)=0))
=SUMPRODUCT(MAX((G1:G12="x")*E1:E12))
=SUMPRODUCT(COUNTIF(E1:E12,E1:E12))
=SUMPRODUCT(1/COUNTIF(E1:E12,E1:E12))
=SUMPRODUCT((E1:E12>5)*(F1:F12<5)*H1:H12)
=SUMPRODUCT(--ISNUMBER(SEARCH("x",G1:G12)))
=SUMPRODUCT(ROUND(F1:F12,0))
=SUMPRODUCT(E1:E3*{1;2;3})
=SUMPRODUCT(E1:F1*{1;2})
=SUMPRODUCT(ROW(E1:E12)*(E1:E12>10))
=SUMPRODUCT(LARGE(E1:E12,{1,2,3}))
=SUMPRODUCT(--ISBLANK(J1:J12))
=SUMPRODUCT(--(TEXT(E1:E12,"0")="5"))
=SUMPRODUCT(SUMIF(G1:G12,{"x","y"},E1:E12))
=SUMPRODUCT(INDEX(E1:F12,0,2))
=SUMPRODUCT(ABS(A1:A7))
=SUMPRODUCT(--EXACT(G1:G12,"x"))
=SUMPRODUCT(SIGN(A1:A7))
=SUMPRODUCT(INT(F1:F12))
=SUMPRODUCT((WEEKDAY(C10:C12)>3)*1)
=SUM(LARGE(E1:E12,{1,2,3}))
=SUM(SMALL(E1:E12,{1;2}))
=SUM(IF(E1:E12>5,E1:E12,0))
=SUM(IF(E1:E12>5,E1:E12))
=MAX(IF(G1:G12="x",E1:E12))
=MIN(IF(G1:G12="x",E1:E12))
=AVERAGE(IF(E1:E12>5,E1:E12))
=MEDIAN(IF(G1:G12="x",E1:E12))
=COUNT(IF(E1:E12>5,1))
=SUM((E1:E12>5)*(F1:F12<5))
=SUM(LEN(G1:G12))
=SUM(ROW(A1:A5))
=SUM(COLUMN(A1:E1))
=SUM(COUNTIF(E1:E12,E1:E12))
=SUM(1/COUNTIF(E1:E12,E1:E12))
=INDEX(F1:F12,MATCH(1,(E1:E12=20)*(G1:G12="x"),0))
=INDEX(F1:F12,MATCH(MAX(E1:E12),E1:E12,0))
=INDEX(E1:E12,MATCH(1,--(F1:F12>3),0))
=SUM(IFERROR(E1:E12/A1:A12,0))
=SUM(IF(ISNUMBER(A1:A12),A1:A12,0))
=SUM(VLOOKUP({1,3,5},H1:J12,1,FALSE))
=MAX(LEN(G1:G12))
=MATCH(TRUE,E1:E12>10,0)
=SUM(MMULT(E1:F2,{1;1}))
=SUM(TRANSPOSE(E1:E3)*{1,2,3})
=SUM(FREQUENCY(E1:E12,{5;10;20}))
=INDEX(FREQUENCY(E1:E12,{5;10;20}),2)
=SUM(N(IF(1,{1,2,3})))
=SUMIFS(INDEX(E1:F12,0,2),G1:G12,"x")
=SUMIFS(E1:E12,G1:G12,"x",F1:F12,">2")
=COUNTIFS(G1:G12,"x",E1:E12,">="&10)
=SUM(COUNTIFS(G1:G12,{"x","y"}))
=SUM(SUMIFS(E1:E12,G1:G12,{"x","y"}))
=SUM(E1:INDEX(E1:E12,3))
=SUM(INDEX(E1:E12,2):INDEX(E1:E12,4))
=SUM((E1:E3,F1:F2))
=SUM(E1:F3 F2:G5)
=CHOOSE({1,2},"a","b")
=VLOOKUP(20,CHOOSE({1,2},E1:E12,F1:F12),2,FALSE)
=AND(E1:E12>0)
=OR(E1:E12>25)
=SUM(--(E1:E12>5))
=SUM(ROUND(F1:F12/3,1))
=TEXTJOIN(",",TRUE,IF(E1:E12>10,E1:E12,""))
=SUM(IF(E1:E12>5,IF(F1:F12<5,1,0),0))
=SUM(MOD(H1:H12,3))
=STDEV(IF(E1:E12>5,E1:E12))
=LARGE(IF(G1:G12="x",E1:E12),2)
=PERCENTILE(IF(E1:E12>5,E1:E12),0.5)
=SUM(LARGE(E1:E12,ROW(INDIRECT("1:3"))))
=SUM(IF(FREQUENCY(E1:E12,E1:E12)>0,1))
=SUM(DATE(2024,{1,2,3},1))
=SUM(MONTH(C10:C12))
=SUM(HOUR(C1:C2))
=MAX(ABS(A1:A7-3))
=INDEX(MINVERSE({4,7;2,6}),1,2)
=INDEX(LINEST(E1:E12,F1:F12),1)
=COLUMNS(TRANSPOSE(E1:E5))
=SUM(PROPER(G1:G3)="X")
=SUMPRODUCT(--(PROPER(G1:G3)="X"))
=SUMPRODUCT((E1:E12=TRANSPOSE(E1:E3))*1)
=SUM(E1:E3*F1:F5)
=SUM(LOOKUP({1,5,9},H1:H12,E1:E12))
=SUM(RANK(E1:E3,E1:E12))
=SUMPRODUCT(RANK(E1:E3,E1:E12))
=MODE(IF(E1:E12>1,E1:E12))
=SUMSQ(E1:E3-F1:F3)
=PRODUCT(IF(E1:E3>0,E1:E3))
=CONCAT(IF(E1:E4>10,"y","n"))
=CONCAT(G1:G3&E1:E3)
=SUM(CODE(I1:I3))
=SUM(FIND("a",{"banana","cat"}))
=SHEET()
=SHEETS()
=SUM(MUNIT(3))
=SUM(MUNIT(2)*{1,2;3,4})
=HYPERLINK("https://example.org","here")
"""
ARRAYS = _ARRAYS.strip().splitlines()
