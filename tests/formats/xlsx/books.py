"""Workbooks for tests, and short words for what is done to them."""

from __future__ import annotations

import hashlib
import json
import re
import warnings
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import xlsxwriter

from backshop.formats import xlsx
from backshop.formats.protocol import Applied, OpsRequest, Selector, Source


def source(path: Path) -> Source:
    return Source(path, hashlib.sha256(path.read_bytes()).hexdigest(), path.name)


def book(path: Path, *sheets: tuple[str, Any]) -> Source:
    """Write a workbook; a text that begins with `=` is a formula, `=A1|7` one with the result 7."""
    with xlsxwriter.Workbook(str(path), {"in_memory": True}) as file:
        for name, rows in sheets:
            sheet = file.add_worksheet(name)
            for r, row in enumerate(rows):
                for c, value in enumerate(row):
                    if isinstance(value, str) and value.startswith("="):
                        text, _, result = value.partition("|")
                        sheet.write_formula(r, c, text, None, float(result) if result else "")
                    elif value is not None:
                        sheet.write(r, c, value)
    return source(path)


def edit(base: Source | None, out: Path, *operations: Any, **options: Any) -> Applied:
    name = base.name if base else "new.xlsx"
    if base is None:
        options = {"create_if_missing": True, **options}
    request = OpsRequest(name=name, operations=list(operations), **options)
    return xlsx.apply_ops(base, request, out)


def counts(result: Applied) -> Any:
    """What became of the formulas, in numbers."""
    told: Any = result.extra["recalculated"]
    return {key: told[key] for key in ("computed", "not_computed", "reasons")}


def text(path: Path, **selector: Any) -> str:
    return xlsx.read(source(path), Selector(**selector)).text


def lines(path: Path, **selector: Any) -> list[str]:
    """The rows of a read, without its two head lines."""
    return text(path, **selector).split("\n")[2:]


def opened(path: Path) -> openpyxl.Workbook:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # openpyxl tells what it cannot keep; we only read
        return openpyxl.load_workbook(path)


def members(path: Path) -> dict[str, tuple[bytes, bytes]]:
    """Every member's content and its compressed bytes."""
    data = path.read_bytes()
    found = {}
    with zipfile.ZipFile(path) as file:
        for info in file.infolist():
            at = info.header_offset
            start = at + 30 + int.from_bytes(data[at + 26 : at + 28], "little")
            start += int.from_bytes(data[at + 28 : at + 30], "little")
            found[info.filename] = (file.read(info), data[start : start + info.compress_size])
    return found


def differing(before: Path, after: Path) -> set[str]:
    """The members whose compressed bytes are not the same on both sides."""
    one, two = members(before), members(after)
    return {name for name in one.keys() | two.keys() if one.get(name) != two.get(name)}


def mapped(of: Source) -> Any:
    """The map as plain JSON."""
    return json.loads(json.dumps(xlsx.get_map(of).to_json(of)))


def sheet_of(path: Path, rows: str) -> Source:
    """Write a workbook of one string and one sheet whose rows are these, letter by letter."""
    with xlsxwriter.Workbook(str(path)) as made:
        made.add_worksheet("S").write_string(0, 0, "only")
    parts = {}
    with zipfile.ZipFile(path) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    name = "xl/worksheets/sheet1.xml"
    data = re.sub(rb"<sheetData>.*</sheetData>", b"<sheetData></sheetData>", parts[name])
    parts[name] = data.replace(b"<sheetData>", b"<sheetData>" + rows.encode())
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for part, content in parts.items():
            new.writestr(part, content)
    return source(path)
