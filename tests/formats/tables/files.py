"""Sources for tests: bytes, and workbooks made by another library."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path

import openpyxl
from openpyxl.chart import BarChart, Reference

from backshop.formats.protocol import Limits, Source


def source_of(folder: Path, data: bytes | str, name: str = "t.csv", **limits: float) -> Source:
    """Put bytes into a file under their hash, as blobs are."""
    raw = data.encode() if isinstance(data, str) else data
    digest = hashlib.sha256(raw).hexdigest()
    path = folder / digest
    path.write_bytes(raw)
    return Source(path, digest, name, Limits(**limits))  # type: ignore[arg-type]  # by name


def workbook(
    sheets: Mapping[str, Sequence[Sequence[object]]],
    merges: Sequence[str] = (),
    hidden: Sequence[str] = (),
    chart_on: str | None = None,
) -> bytes:
    """Return the bytes of a workbook."""
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
        for merge in merges:
            sheet.merge_cells(merge)
        if name in hidden:
            sheet.sheet_state = "hidden"
        if name == chart_on:
            chart = BarChart()
            chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=3), titles_from_data=True)
            sheet.add_chart(chart, "H2")
    out = BytesIO()
    book.save(out)
    return out.getvalue()
