"""Lets LibreOffice sort or move cells by itself and tells what two workbooks show; needs uno.

    python3 office_cells.py <folder of the profile> <jobs.json> <answers.json>

A job is [workbook, act, other workbook]: act is null, ["sort", sheet, range, [[column from 0,
ascending], …]] or ["move", sheet, range, sheet, cell]. The answer has the formulas and values of
both workbooks after the act on the first, null where one could not be opened.
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

MAX_ROWS, MAX_COLUMNS = 3000, 300


def main(profile: str, jobs: str, answers: str) -> None:
    """Do all jobs in one office."""
    lines = import_module("office_lines")  # beside this one
    pipe = f"cells{abs(hash(profile))}"
    office = subprocess.Popen(
        [
            "soffice",
            f"-env:UserInstallation={Path(profile).as_uri()}",
            *("--headless", "--norestore", "--nologo"),
            f"--accept=pipe,name={pipe};urp;",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        desktop = lines._desktop(pipe)
        found = [_answered(desktop, lines._property, *job) for job in json.loads(_read(jobs))]
        Path(answers).write_text(json.dumps(found))
        desktop.terminate()
        office.wait(60)
    finally:
        office.kill()


def _read(path: str) -> str:
    return Path(path).read_text()


def _answered(desktop: Any, prop: Any, path: str, act: list[Any] | None, other: str) -> Any:
    try:
        return [_shown(desktop, prop, path, act), _shown(desktop, prop, other, None)]
    except Exception:  # the office gives up on some files in its own ways
        return None


def _shown(desktop: Any, prop: Any, path: str, act: list[Any] | None) -> dict[str, Any]:
    book = desktop.loadComponentFromURL(Path(path).as_uri(), "_blank", 0, (prop("Hidden", True),))
    if act is not None and act[0] == "sort":
        _sort(book, prop, *act[1:])
    elif act is not None:
        _move(book, *act[1:])
    book.calculateAll()
    found = {name: _cells(book.Sheets.getByName(name)) for name in book.Sheets.ElementNames}
    names = book.NamedRanges
    found[""] = {name: [names.getByName(name).Content, ""] for name in names.ElementNames}
    book.close(True)
    return found


def _sort(book: Any, prop: Any, sheet: str, area: str, by: list[list[Any]]) -> None:
    uno = import_module("uno")
    fields = []
    for column, ascending in by:
        field = uno.createUnoStruct("com.sun.star.table.TableSortField")
        field.Field, field.IsAscending = column, ascending
        fields.append(field)
    listed = uno.Any("[]com.sun.star.table.TableSortField", tuple(fields))
    options = (prop("SortFields", listed), prop("ContainsHeader", False))
    book.Sheets.getByName(sheet).getCellRangeByName(area).sort(options)


def _move(book: Any, sheet: str, area: str, to_sheet: str, to: str) -> None:
    source = book.Sheets.getByName(sheet)
    there = book.Sheets.getByName(to_sheet).getCellRangeByName(to).CellAddress
    source.moveRange(there, source.getCellRangeByName(area).RangeAddress)


def _cells(sheet: Any) -> dict[str, Any] | None:
    cursor = sheet.createCursor()
    cursor.gotoEndOfUsedArea(False)
    end = cursor.RangeAddress
    if end.EndRow > MAX_ROWS or end.EndColumn > MAX_COLUMNS:
        return None
    area = sheet.getCellRangeByPosition(0, 0, end.EndColumn, end.EndRow)
    formulas, values = area.getFormulaArray(), area.getDataArray()
    return {
        f"{row},{col}": [text, values[row][col]]
        for row, line in enumerate(formulas)
        for col, text in enumerate(line)
        if text != ""
    }


if __name__ == "__main__":
    main(*sys.argv[1:4])
