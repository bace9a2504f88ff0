"""A clean table and ways in which files of such tables go wrong, each with what must be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

NAMES = ["Day", "Time", "Code", "Price", "Pieces", "Article", "Words", "New"]
ROWS = [
    [
        "28/01/2019",
        "08:00",
        "BX-1042",
        "74.60",
        "2",
        "Men's garden boots",
        "Light, dry and warm.",
        "0",
    ],
    ["29/01/2019", "08:15", "QR-3310", "29.81", "0", "Lamp", 'Fits rails of 5", 7" or 9".', "1"],
    [
        "30/01/2019",
        "08:30",
        "QR-8071",
        "80.08",
        "1",
        "Trail shoes, wide",
        "Airy: for hot days",
        "1",
    ],
    [
        "31/01/2019",
        "08:45",
        "BX-9546",
        "25.50",
        "1",
        "Fly rod",
        "Takes one hand or two; very light",
        "0",
    ],
    [
        "13/02/2019",
        "09:00",
        "CC-9259",
        "48.00",
        "9",
        'Pillow, 40" wide',
        "For beds, chairs, sofas",
        "0",
    ],
    ["14/02/2019", "09:15", "CC-1697", "34.22", "1", "Braces", "They hold up anything", "0"],
    ["15/02/2019", "09:30", "QR-6052", "89.34", "2", "Cotton towel", "Soft, organic, blue", "0"],
    ["16/02/2019", "09:45", "YY-3522", "19.34", "2", "Jersey, short", "Says \\'run\\' on it", "1"],
    ["17/02/2019", "10:00", "YY-5315", "5.39", "0", "Underwear", "First layer | second skin", "1"],
    ["18/02/2019", "10:15", "BH-9827", "78.07", "2", "Table", "Stands outdoors, all year", "0"],
    ["19/02/2019", "10:30", "BH-7885", "52.45", "1", "Socks", "", "1"],
    [
        "20/02/2019",
        "10:45",
        "BH-7531",
        "48.08",
        "1",
        "Kids' hat",
        "For the bus stop, and back",
        "0",
    ],
]
WIDTH = len(NAMES)


@dataclass(frozen=True, slots=True)
class File:
    """A polluted file and the table in it."""

    name: str
    data: bytes
    header: Sequence[str] | None
    rows: Sequence[Sequence[str]]
    file_name: str = "t.csv"


def field(
    value: str, delimiter: str = ",", quote: str = '"', escape: str = "", always: bool = False
) -> str:
    """Return a field as a careful program writes it."""
    needs = always or any(
        mark in value for mark in (delimiter.strip() or " ", quote, "\n", "\r") if mark
    )
    if not quote or not needs:
        return value
    inner = (
        value.replace(escape, escape * 2).replace(quote, escape + quote)
        if escape
        else value.replace(quote, quote * 2)
    )
    return f"{quote}{inner}{quote}"


def lines(header=NAMES, rows=ROWS, **how) -> list[str]:
    """Return the lines of a table without their ends."""
    delimiter = how.get("delimiter", ",")
    table = [*([header] if header else []), *rows]
    return [delimiter.join(field(value, **how) for value in row) for row in table]


def text(found: Sequence[str], end: str = "\r\n") -> bytes:
    """Return lines as a file."""
    return "".join(line + end for line in found).encode()


def with_row(at: int, row: Sequence[str]) -> list[list[str]]:
    """Return the rows with another one at a place."""
    return [list(row) if index == at else old for index, old in enumerate(ROWS)]


def spoiled_line(at: int, change: Callable[[list[str]], str]) -> list[str]:
    """Return the lines with that of a row made from its written fields in another way."""
    found = lines()
    found[at + 1] = change([field(value) for value in ROWS[at]])
    return found


def of_files() -> Iterator[File]:
    """Yield files in which something is odd about all of it."""
    yield File("clean", text(lines()), NAMES, ROWS)
    yield File("empty", b"", None, [])
    for end in ("\n", "\r"):
        yield File(f"line end {end!r}", text(lines(), end), NAMES, ROWS)
    yield File("no last line end", text(lines())[:-2], NAMES, ROWS)
    yield File("two last line ends", text(lines()) + b"\r\n", NAMES, ROWS)
    mixed = "".join(line + ("\n", "\r\n", "\r")[at % 3] for at, line in enumerate(lines()))
    yield File("mixed line ends", mixed.encode(), NAMES, ROWS)
    yield File("no header", text(lines(header=None)), None, ROWS)
    yield File("only a header", text(lines(rows=[])), NAMES, [])
    yield File("one row", text(lines(rows=ROWS[:1])), NAMES, ROWS[:1])
    for delimiter in (";", "\t", "|", " ", ", ", "; ", "^", "~", ":"):
        yield File(f"delimiter {delimiter!r}", text(lines(delimiter=delimiter)), NAMES, ROWS)
    padded = [" | ".join(field(value, "|") for value in row) for row in [NAMES, *ROWS]]
    yield File("delimiter ' | '", text(padded), NAMES, ROWS)
    yield File("tabs in .tsv", text(lines(delimiter="\t")), NAMES, ROWS, "t.tsv")
    yield File("pipes in .psv", text(lines(delimiter="|")), NAMES, ROWS, "t.psv")
    yield File("tabs in .txt", text(lines(delimiter="\t")), NAMES, ROWS, "t.txt")
    yield File("quotes '", text(lines(quote="'")), NAMES, ROWS)
    yield File("quotes ' and ;", text(lines(quote="'", delimiter=";")), NAMES, ROWS)
    yield File("everything quoted", text(lines(always=True)), NAMES, ROWS)
    yield File("escape \\", text(lines(escape="\\")), NAMES, ROWS)
    unescaped = [
        ",".join(f'"{value}"' if set(value) & set(',"') else value for value in row)
        for row in [NAMES, *ROWS]
    ]
    yield File("quotes not escaped", text(unescaped), NAMES, ROWS)
    bare = [[value.replace("\t", " ") for value in row] for row in ROWS]
    yield File(
        "nothing quoted", text(["\t".join(row) for row in [NAMES, *bare]]), NAMES, bare, "t.tsv"
    )
    for mark, codec in (
        ("\ufeff", "utf-8"),
        ("", "utf-8-sig"),
        ("\ufeff", "utf-16-le"),
        ("\ufeff", "utf-16-be"),
    ):
        data = (mark + text(lines()).decode()).encode(codec)
        yield File(f"mark {codec}", data, NAMES, ROWS)
    yield File("sep=;", b"sep=;\r\n" + text(lines(delimiter=";")), NAMES, ROWS)
    for count in (2, 3):
        yield File(f"{count} headers", text([*lines()[:1] * (count - 1), *lines()]), NAMES, ROWS)
    units = ["d", "h", "no.", "EUR", "pcs", "text", "text", "flag"]
    joined = [f"{name} {unit}" for name, unit in zip(NAMES, units, strict=True)]
    yield File("header and units", text([lines()[0], ",".join(units), *lines()[1:]]), joined, ROWS)
    spaced = [
        ",".join(
            f" {field(value)} " if "," not in value and '"' not in value else field(value)
            for value in row
        )
        for row in [NAMES, *ROWS]
    ]
    around = [
        [f" {v} " if "," not in v and '"' not in v else v for v in row] for row in [NAMES, *ROWS]
    ]
    yield File("spaces around some", text(spaced), around[0], around[1:])
    trailing = [line + "," for line in lines()]
    yield File("trailing delimiters", text(trailing), [*NAMES, ""], [[*row, ""] for row in ROWS])
    yield File("trailing delimiters of rows", text([lines()[0], *trailing[1:]]), NAMES, ROWS)
    yield File(
        "one column",
        text(["Word", *[row[2] for row in ROWS]]),
        ["Word"],
        [[row[2]] for row in ROWS],
    )
    wide = [[f"c{n}" for n in range(600)], *[[str(n * m) for n in range(600)] for m in range(1, 4)]]
    yield File("600 columns", text([",".join(row) for row in wide]), wide[0], wide[1:])
    breaks = [[*row[:6], row[6] + "\nsecond line, too", row[7]] for row in ROWS]
    yield File("line breaks in fields", text(lines(rows=breaks)), NAMES, breaks)
    long = ["x" * 70_000, *NAMES[1:]]
    yield File("a long name", text(lines(header=long)), long, ROWS)
    yield File("a name without words", text(lines(header=["", *NAMES[1:]])), ["", *NAMES[1:]], ROWS)


def of_places() -> Iterator[File]:
    """Yield files with something above, below or between the rows."""
    for name, above in {
        "title": ["Sales of the shop"],
        "title and blank": ["Sales of the shop", ""],
        "three lines": ["Sales of the shop", "made on 2019-03-01", "by hand"],
        "delimited": ["Sales of the shop" + "," * 7],
        "delimited and blank": ["Sales of the shop" + "," * 7, "," * 7],
        "labels": ["Shop:,North", "Year:,2019", ""],
        "comments": ["# made by a program, version 3", "# columns: day, time, code", "#"],
        "quoted": ['Sales of "the shop"', "", '"made, by hand"'],
        "blank lines": ["", "", ""],
    }.items():
        yield File(f"above: {name}", text([*above, *lines()]), NAMES, ROWS)
    for name, below in {
        "blank and note": ["", "Source: the till"],
        "notes": ["Source: the till", "12 rows in all"],
        "database": ["", "(12 rows affected)"],
        "blank lines": ["", "", ""],
    }.items():
        yield File(f"below: {name}", text([*lines(), *below]), NAMES, ROWS)
    for name, between in {"blank": "", "spaces": "   "}.items():
        found = lines()
        yield File(
            f"between: {name}", text([*found[:5], between, *found[5:], between]), NAMES, ROWS
        )


def of_rows(chosen: Sequence[int] = range(len(ROWS))) -> Iterator[File]:
    """Yield files in which one row is odd."""
    for at in chosen:
        yield from _of_row(at)
        for column in range(WIDTH):
            yield from _of_cell(at, column)


def _of_row(at: int) -> Iterator[File]:
    row = ROWS[at]
    for delimiter in (";", "\t", " "):
        line = delimiter.join(field(value, delimiter) for value in row)
        found = lines()
        found[at + 1] = line
        yield File(f"row {at} by {delimiter!r}", text(found), NAMES, ROWS)
    short = spoiled_line(at, lambda fields: ",".join(fields[:5]))
    yield File(f"row {at} short", text(short), NAMES, with_row(at, row[:5]))
    long = spoiled_line(at, lambda fields: ",".join([*fields, "x", "y"]))
    yield File(f"row {at} long", text(long), [*NAMES, "", ""], with_row(at, [*row, "x", "y"]))
    empty = spoiled_line(at, lambda fields: ",".join("" for _ in fields))
    yield File(f"row {at} empty", text(empty), NAMES, with_row(at, [""] * WIDTH))


def _of_cell(at: int, column: int) -> Iterator[File]:
    row, name = ROWS[at], f"row {at} column {column}"
    value = row[column]

    def spoiled(written: str) -> list[str]:
        return spoiled_line(
            at, lambda fields: ",".join([*fields[:column], written, *fields[column + 1 :]])
        )

    quoted = field(value)
    is_quoted = quoted.startswith('"')
    inner = quoted[1:-1] if is_quoted else quoted
    for where, dirty, read in (
        ("before", '"' + inner, '"' + value),
        ("behind", inner + '"', value + '"'),
    ):
        written = f'"{dirty}"' if is_quoted else dirty
        if value:
            yield File(
                f"{name}: quote {where}",
                text(spoiled(written)),
                NAMES,
                with_row(at, [*row[:column], read, *row[column + 1 :]]),
            )
    more = spoiled_line(at, lambda fields: ",".join([*fields[:column], "", *fields[column:]]))
    yield File(
        f"{name}: one delimiter more",
        text(more),
        [*NAMES, ""],
        with_row(at, [*row[:column], "", *row[column:]]),
    )
    if column and not (is_quoted or field(row[column - 1]).startswith('"')):
        less = spoiled_line(
            at,
            lambda fields: ",".join(
                [*fields[: column - 1], fields[column - 1] + fields[column], *fields[column + 1 :]]
            ),
        )
        joined = [*row[: column - 1], row[column - 1] + value, *row[column + 1 :]]
        yield File(f"{name}: one delimiter less", text(less), NAMES, with_row(at, joined))
