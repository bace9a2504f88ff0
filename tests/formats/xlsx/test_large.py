"""Large workbooks are looked at on the disk: the same answers, little memory (F40.20, F40.21)."""

from __future__ import annotations

import random
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.formats.test_hostile import peak_bytes

from backshop.base.limits import LARGE_CONTENT_BYTES, MIB
from backshop.base.system.mapped_bytes import MappedBytes
from backshop.formats import FormatError, Formats, Limits, Selector, Source, xlsx
from backshop.formats.package.package import Package
from backshop.formats.xlsx.book.extent import extent, used_area
from backshop.formats.xlsx.book.opening import open_book
from backshop.formats.xlsx.book.survey import islands, survey
from backshop.formats.xlsx.book.workbook import Book

from .books import sheet_of, source

SHEET, STRINGS = "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml"


def with_sizes(path: Path, rows: int, columns: int, strings: int, filler: bytes = b"") -> Source:
    """Write a workbook of so many rows, whose texts are in a list of so many strings."""
    sheet_of(path, "")
    with zipfile.ZipFile(path) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    head, tail = parts.pop(SHEET).split(b"<sheetData></sheetData>")
    opening = parts.pop(STRINGS).split(b"<si>")[0]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new:
        for name, data in parts.items():
            new.writestr(name, data)
        with new.open(SHEET, "w") as file:
            file.write(head + b"<sheetData>")
            file.writelines(_rows(rows, columns, strings, filler))
            file.write(b"</sheetData>" + tail)
        with new.open(STRINGS, "w") as file:
            file.write(opening)
            texts = (b"text %d of the list%s" % (at, filler) for at in range(strings))
            file.writelines(b"<si><t>%s</t></si>" % text for text in texts)
            file.write(b"</sst>")
    return source(path)


def _rows(rows: int, columns: int, strings: int, filler: bytes) -> Iterator[bytes]:
    letters = [bytes([65 + col]) for col in range(columns)]
    for row in range(1, rows + 1):
        cells = b"".join(
            b'<c r="%s%d" t="s"><v>%d</v></c>' % (letter, row, (row * 7 + col) % strings)
            if row == 1 or col % 3 == 0
            else b'<c r="%s%d"><v>%d.%d</v></c>' % (letter, row, row, col)
            for col, letter in enumerate(letters)
        )
        if filler:
            cells += b'<c r="Z%d" t="str"><v>%s</v></c>' % (row, filler)
        yield b'<row r="%d">%s</row>' % (row, cells)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Source:
    """Just large enough to be left on the disk: its sheet, and its texts."""
    filler = random.Random(1).randbytes(8_000).hex().encode()
    return with_sizes(tmp_path_factory.mktemp("large") / "a.xlsx", 1_100, 10, 1_100, filler)


@pytest.mark.rule("F40.21")
def test_what_is_found_on_the_disk_is_what_would_be_found_in_memory(large):
    there, here = open_book(large), Book(Package.open(large))
    sheets = [book.xml(book.sheets[0]) for book in (there, here)]

    assert isinstance(there.package.view(STRINGS), MappedBytes)
    assert [type(sheet.data) for sheet in sheets if sheet] == [MappedBytes, bytes]
    first, second = (
        (
            survey(book, xml),
            islands(book, xml, survey(book, xml)),
            extent(book, xml),
            len(book.strings),
            [book.strings.get(str(at)) for at in (0, 1, 1_099, 1_100)],
            book.strings.blank,
            xml and (xml.start, xml.inner, xml.close, xml.end, xml.plain_rows, xml.has_formulas),
            xml and [xml.locate(row) for row in (1, 1_099, 1_101)],
            xml and xml.place_of(600),
        )
        for book, xml in zip((there, here), sheets, strict=True)
    )
    assert first[2].used == second[2].used
    assert (first[2].numbers, first[2].places) == (second[2].numbers, second[2].places)
    assert [first[0], *first[1:2], *first[3:]] == [second[0], *second[1:2], *second[3:]]


@pytest.mark.rule("F40.21", "F8.8")
def test_a_large_workbook_is_read_from_its_beginning_to_its_end(large):
    with Formats(workers=1, plugins={}) as formats:
        drawn: Any = formats.get_map(large)
        found = drawn["sheets"][0]
        last = formats.read(large, Selector(range="B1099:C1100")).text
        asked = formats.open_table(large, range="B2:C1100").query("SELECT count(*) FROM data")[
            "rows"
        ]
        grid: Any = formats.extract_grid(large, None, 1_090, 0, 20, 2)

    assert (found["row_count"], found["col_count"], len(found["islands"])) == (1_100, 26, 2)
    assert last.split("\n")[-1] == "1100\t1100.1\t1100.2"
    assert asked == [[1_099]]
    assert grid["cells"][9][1]["display"] == "1100.1"


@pytest.mark.rule("F40.21", "F4.1", "F2.5")
def test_a_part_that_is_too_large_or_lies_about_its_size_is_refused_all_the_same(large, tmp_path):
    data = bytearray(large.path.read_bytes())
    small = Source(large.path, large.sha256, large.name, Limits(part_bytes=MIB))
    at = data.rfind(b"PK\x01\x02", 0, data.rfind(SHEET.encode()))
    data[at + 24 : at + 28] = (LARGE_CONTENT_BYTES + 1).to_bytes(4, "little")
    (tmp_path / "lie.xlsx").write_bytes(data)

    for file, reason in ((small, "archive_bomb"), (source(tmp_path / "lie.xlsx"), "corrupt_file")):
        with pytest.raises(FormatError) as caught:
            xlsx.get_map(file)
        assert caught.value.reason == reason


@pytest.mark.rule("F40.21", "F2.5")
def test_whoever_allows_larger_files_allows_what_they_unpack_to():
    plain, raised, most = (Limits.for_files(size * MIB) for size in (25, 200, 1024))

    assert plain == Limits()
    assert (raised.archive_bytes, raised.part_bytes) == (4000 * MIB, 2000 * MIB)
    assert (most.archive_bytes, most.part_bytes) == (4096 * MIB, 2048 * MIB)
    for one in (plain, raised, most):
        Formats(limits=one, plugins={}).close()


@pytest.mark.proof
@pytest.mark.rule("F40.21", "F2.9")
def test_a_workbook_of_two_hundred_megabytes_needs_little_memory(tmp_path, record_property):
    file = with_sizes(tmp_path / "a.xlsx", 480_000, 15, 300_000)
    sizes = {one.filename: one.file_size for one in zipfile.ZipFile(file.path).infolist()}
    assert sizes[SHEET] > 200_000_000

    limits = Limits.for_files(200 * MIB)
    with Formats(workers=1, plugins={}, limits=limits) as formats:
        drawn: Any = formats.get_map(file)
        found = drawn["sheets"][0]
        text = formats.read(file, Selector(range="A479000:C479003")).text
        peak = peak_bytes()
    record_property("peak of a worker, MiB", peak // MIB)

    assert found["row_count"] == 480_000
    assert text.split("\n")[-1].startswith("479003\ttext 53021 of the list\t479003.1")
    assert peak < 400 * MIB


@pytest.mark.rule("F2.9", "F40.21")
def test_a_sheet_that_is_not_surveyed_to_its_end_is_told_to_its_end(tmp_path):
    odd = "".join(
        f'<row r="{row}"><c r="{"ABCDEFGH"[row % 8]}{row}" t="str"><v>{"x" * row}</v></c></row>'
        for row in range(1, 200)
    )
    like = "".join(f'<row r="{row}"><c r="A{row}"><v>{row}</v></c></row>' for row in range(1, 200))
    books = [Book(Package.open(sheet_of(tmp_path / "a.xlsx", rows))) for rows in (odd, like)]
    sheets = [(book, book.xml(book.sheets[0])) for book in books]

    partial, whole = (survey(book, xml, most=50) for book, xml in sheets)

    assert partial.partial_at == 199  # a block of rows is looked at as one
    assert used_area(*sheets[0], partial) == survey(*sheets[0]).used
    assert whole.partial_at is None  # rows that are alike cost nothing
