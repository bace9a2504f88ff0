"""Map, read and one-cell edit of a workbook of 100,000 rows and 10 columns, against openpyxl.

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

from .report import fact, head, row

ROWS = 100_000
READ_MIN_RATIO = 8.0
EDIT_MIN_RATIO = 10.0
EDIT_MAX_MIB = 200
STEPS = ("openpyxl_read", "openpyxl_edit", "map_and_read", "edit")
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


def main() -> None:
    """Print the table."""
    if len(sys.argv) == 3 and sys.argv[1] in STEPS:
        start = time.process_time()
        globals()[sys.argv[1]](Path(sys.argv[2]))
        seconds = time.process_time() - start
        print(json.dumps([seconds, _peak_mib()]))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.xlsx"
        make(path)
        rounds = [{step: run(step, path) for step in STEPS} for _ in range(ROUNDS)]
    found = {step: _median([one[step] for one in rounds]) for step in STEPS}
    reading = found["openpyxl_read"][0] / found["map_and_read"][0]
    editing = found["openpyxl_edit"][0] / found["edit"][0]
    head()
    of = f"a workbook of {ROWS:,} rows, against openpyxl"
    row(f"map and read of {of}", reading, READ_MIN_RATIO, at_least=True, unit="× as fast")
    row(f"one-cell edit of {of}", editing, EDIT_MIN_RATIO, at_least=True, unit="× as fast")
    row("peak memory of that edit", found["edit"][1], EDIT_MAX_MIB, unit="MiB")
    for step, (seconds, mib) in found.items():
        fact(f"{step}, processor time", seconds, unit="s")
        fact(f"{step}, peak memory", mib, unit="MiB")


if __name__ == "__main__":
    main()
