"""Map, read and one-cell edit of a workbook of 100,000 rows and 10 columns, against openpyxl;
a sheet of 200 MB against parsing it; many columns that are only formatted.

    python -m benchmarks.measure_xlsx

The baseline of a map and a read is openpyxl loading the file and going through its cells; that of
an edit is loading and saving. Each of our steps runs in a process of its own, so that its peak
memory is its own. Processor time is measured, so that other work on the machine does not count.
"""

from __future__ import annotations

import hashlib
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from .report import fact, head, row

if TYPE_CHECKING:
    from backshop.formats.protocol import Source

ROWS = 100_000
READ_MIN_RATIO = 8.0
EDIT_MIN_RATIO = 10.0
EDIT_MAX_MIB = 200
STEPS = ("openpyxl_read", "openpyxl_edit", "map_and_read", "edit")
LARGE_STEPS = ("parse", "large_map", "large_read")
LARGE_MAX_MIB = 400
LARGE_MAX_RATIO = 2.0
LARGE_ROWS, LARGE_COLUMNS = 480_000, 15
WIDE_STEPS = ("wide_map", "wide_info")
WIDE_MAX_RATIO = 8.0
WIDE_COLUMNS, WIDE_ROWS = 16_000, 20
ROUNDS = 3


def make(path: Path) -> None:
    """Write the workbook: numbers, dates, shared and repeated text, booleans."""
    import datetime

    import xlsxwriter

    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet("Data")
        day = book.add_format({"num_format": "yyyy-mm-dd"})
        head = ["id", "name", "date", "amount", "qty", "flag", "region", "note", "price", "total"]
        sheet.write_row(0, 0, head)
        first = datetime.datetime(2020, 1, 1)
        for row in range(1, ROWS + 1):
            sheet.write_number(row, 0, row)
            sheet.write_string(row, 1, f"name {row % 5000}")
            sheet.write_datetime(row, 2, first + datetime.timedelta(days=row % 900), day)
            sheet.write_number(row, 3, (row * 7919 % 100_003) / 7)
            sheet.write_number(row, 4, row % 17)
            sheet.write_boolean(row, 5, row % 2 == 0)
            sheet.write_string(row, 6, "NESW"[row % 4])
            sheet.write_string(row, 7, f"note number {row}")
            sheet.write_number(row, 8, row % 99 + 0.25)
            sheet.write_number(row, 9, row * 1.5)


def make_large(path: Path) -> None:
    """Write a workbook whose one sheet is more than 200 MB of XML."""
    import zipfile

    small = path.with_name("small.xlsx")
    make_wide(small, 1, 1)
    name = "xl/worksheets/sheet1.xml"
    letters = [bytes([65 + col]) for col in range(LARGE_COLUMNS)]
    with (
        zipfile.ZipFile(small) as old,
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new,
    ):
        for other in old.namelist():
            if other != name:
                new.writestr(other, old.read(other))
        start, _, rest = old.read(name).partition(b"<sheetData>")
        end = rest[rest.index(b"</sheetData>") :]
        with new.open(name, "w") as file:
            file.write(start + b"<sheetData>")
            for row in range(1, LARGE_ROWS + 1):
                cells = (b'<c r="%s%d"><v>%d.5</v></c>' % (one, row, row) for one in letters)
                file.write(b'<row r="%d">%s</row>' % (row, b"".join(cells)))
            file.write(end)


def make_wide(path: Path, columns: int, rows: int) -> None:
    """Write a workbook with one value and many cells that are only formatted."""
    import xlsxwriter

    with xlsxwriter.Workbook(str(path)) as book:
        sheet, bold = book.add_worksheet("Data"), book.add_format({"bold": True})
        for row in range(rows):
            for col in range(columns):
                sheet.write_blank(row, col, None, bold)
        sheet.write(0, columns // 2, 1)


def parse(path: Path) -> None:
    """Unpack the sheet and let a parser go over it, without looking at anything."""
    import zipfile
    from xml.parsers import expat

    with zipfile.ZipFile(path) as file, file.open("xl/worksheets/sheet1.xml") as part:
        expat.ParserCreate().ParseFile(part)


def _source(path: Path) -> Source:
    from backshop.formats.protocol import Limits, Source

    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Source(path, digest, path.name, Limits.for_files(1 << 28))


def large_map(path: Path) -> None:
    """Map the large workbook."""
    from backshop.formats import xlsx

    xlsx.get_map(_source(path))


def large_read(path: Path) -> None:
    """Read a range near its end."""
    from backshop.formats import xlsx
    from backshop.formats.protocol import Selector

    xlsx.read(_source(path), Selector(range=f"A{LARGE_ROWS - 9}:E{LARGE_ROWS}"))


wide_map = large_map


def wide_info(path: Path) -> None:
    """Tell the sizes of its sheets."""
    from backshop.formats import xlsx

    xlsx.get_info(_source(path))


def openpyxl_read(path: Path) -> None:
    """Load the workbook and look at every cell."""
    import openpyxl

    book = openpyxl.load_workbook(path, data_only=True)
    for _ in book["Data"].iter_rows(values_only=True):
        pass


def openpyxl_edit(path: Path) -> None:
    """Load, change one cell, save."""
    import openpyxl

    book = openpyxl.load_workbook(path)
    book["Data"]["C50001"] = "changed"
    book.save(path.with_name("openpyxl.xlsx"))


def map_and_read(path: Path) -> None:
    """Map the workbook, then read a window of it."""
    from backshop.formats import xlsx
    from backshop.formats.protocol import Selector, Source

    source = Source(path, hashlib.sha256(path.read_bytes()).hexdigest(), path.name)
    xlsx.get_map(source)
    xlsx.read(source, Selector(sheet="Data", chunk_index=1000))


def edit(path: Path) -> None:
    """Change one cell, with verification and effect report."""
    from backshop.formats import xlsx
    from backshop.formats.protocol import Json, OpsRequest, Source

    source = Source(path, hashlib.sha256(path.read_bytes()).hexdigest(), path.name)
    cells: list[Json] = [{"cell": "C50001", "value": "changed"}]
    operations: list[Json] = [{"op": "set_cells", "sheet": "Data", "cells": cells}]
    request = OpsRequest(name=path.name, operations=operations)
    xlsx.apply_ops(source, request, path.with_name("ours.xlsx"))


def run(step: str, path: Path) -> tuple[float, float]:
    """Return the seconds and peak MiB of one step in a fresh process."""
    command = [sys.executable, "-m", "benchmarks.measure_xlsx", step, str(path)]
    done = subprocess.run(command, capture_output=True, check=True)
    seconds, mib = json.loads(done.stdout)
    return seconds, mib


def _peak_mib() -> float:
    """Return the most this program has held; `ru_maxrss` counts the one that started it too."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    held = next(one for one in status.read_text().splitlines() if one.startswith("VmHWM:"))
    return int(held.split()[1]) / 1024


def _median(runs: list[tuple[float, float]]) -> tuple[float, float]:
    seconds, mib = zip(*runs, strict=True)
    return statistics.median(seconds), statistics.median(mib)


def _measured(steps: tuple[str, ...], path: Path) -> dict[str, tuple[float, float]]:
    rounds = [{step: run(step, path) for step in steps} for _ in range(ROUNDS)]
    return {step: _median([one[step] for one in rounds]) for step in steps}


def main() -> None:
    """Print the table."""
    if len(sys.argv) == 3 and sys.argv[1] in (*STEPS, *LARGE_STEPS, *WIDE_STEPS):
        start = time.process_time()
        globals()[sys.argv[1]](Path(sys.argv[2]))
        seconds = time.process_time() - start
        print(json.dumps([seconds, _peak_mib()]))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.xlsx"
        make(path)
        found = _measured(STEPS, path)
        make_large(path)
        found |= _measured(LARGE_STEPS, path)
        make_wide(path, WIDE_COLUMNS, WIDE_ROWS)
        found |= _measured(WIDE_STEPS, path)
    reading = found["openpyxl_read"][0] / found["map_and_read"][0]
    editing = found["openpyxl_edit"][0] / found["edit"][0]
    head()
    of = f"a workbook of {ROWS:,} rows, against openpyxl"
    row(f"map and read of {of}", reading, READ_MIN_RATIO, at_least=True, unit="× as fast")
    row(f"one-cell edit of {of}", editing, EDIT_MIN_RATIO, at_least=True, unit="× as fast")
    row("peak memory of that edit", found["edit"][1], EDIT_MAX_MIB, unit="MiB")
    for step, what in (("large_map", "map"), ("large_read", "range of the end")):
        ratio = found[step][0] / found["parse"][0]
        row(f"{what} of a sheet of 200 MB / parsing it", ratio, LARGE_MAX_RATIO)
        row(f"peak memory of that {what}", found[step][1], LARGE_MAX_MIB, unit="MiB")
    ratio = found["wide_info"][0] / found["wide_map"][0]
    row(f"sizes of {WIDE_COLUMNS:,} formatted empty columns / their map", ratio, WIDE_MAX_RATIO)
    for step, (seconds, mib) in found.items():
        fact(f"{step}, processor time", seconds, unit="s")
        fact(f"{step}, peak memory", mib, unit="MiB")


if __name__ == "__main__":
    main()
