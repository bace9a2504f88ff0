"""Sorted, moved and copied as LibreOffice does it: the same formulas, the same values."""

from __future__ import annotations

import datetime
import json
import random
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from backshop.formats.errors import FormatError
from backshop.formats.xlsx.syntax.address import cell_name

from .books import edit, mapped, source
from .test_corpora import workbooks
from .test_lines_oracle import python_with_uno

pytestmark = [pytest.mark.needs("libreoffice"), pytest.mark.proof, pytest.mark.timeout(3600)]
SCRIPT = Path(__file__).with_name("office_cells.py")
WORDS = (
    *("apple", "Banana", "cherry", "Zebra", "äpfel", "Ärger", "Österreich", "éclair", "10 rows"),
    *("10", "9", "a b", "ab", "A_b", "ñandú", "straße", "Strasse", "x1", "x10", "x2", "(a)", "#1"),
)
ELSEWHERE = {
    "WithChartSheet.xlsx": "LibreOffice draws its pivot table anew",
    "link-external-workbook-b.xlsx": "the link is told from another folder",
}


def judged(jobs: list[list[Any]], folder: Path) -> list[Any]:
    """Return what LibreOffice shows of both workbooks of each job."""
    python = python_with_uno()
    if python is None:
        pytest.skip("no python with uno")
    (folder / "jobs.json").write_text(json.dumps(jobs))
    command = [python, str(SCRIPT), str(folder / "lo"), "jobs.json", "answers.json"]
    subprocess.run(command, cwd=folder, check=True, timeout=3000)
    return list(json.loads((folder / "answers.json").read_text()))


def differing(answer: list[Any], *, is_value: bool = False) -> list[tuple[str, str, Any, Any]]:
    """Return the cells in which two workbooks differ."""
    theirs, ours = answer
    found = []
    for sheet in theirs.keys() & ours.keys():
        one, two = theirs[sheet], ours[sheet]
        if one is None or two is None:
            continue
        for place in sorted(one.keys() | two.keys()):
            pair = [side.get(place, ["", ""])[is_value] for side in (one, two)]
            if _plain(pair[0], sheet) != _plain(pair[1], sheet):
                found.append((sheet, place, *pair))
    return found


def _plain(text: Any, sheet: str) -> Any:
    """Return a formula without the marks of sheets, and without its own sheet's name."""
    if not isinstance(text, str) or not text.startswith("="):
        return text
    bare = re.sub(r"\$(?=['A-Za-z])(?=[^()]*?\.)", "", text)
    return bare.replace(f"'{sheet}'.", "").replace(f"{sheet}.", "")


@pytest.mark.rule("F39.4", "F39.5")
def test_rows_are_sorted_as_libreoffice_sorts_them(tmp_path, record_property):
    chosen = random.Random(7)
    jobs = []
    for number in range(60):
        path, out = tmp_path / f"{number}.xlsx", tmp_path / f"{number}-out.xlsx"
        count = _mixed(path, chosen)
        by = chosen.choice([[[0, 1]], [[0, 0]], [[1, 1], [0, 0]], [[1, 0], [2, 1]]])
        area = f"A1:D{count}"
        keys = [
            {"column": "ABCD"[col], "order": "ascending" if up else "descending"} for col, up in by
        ]
        op = {"op": "sort_range", "sheet": "S", "range": area, "header": False, "by": keys}
        edit(source(path), out, op)
        jobs.append([str(path), ["sort", "S", area, by], str(out)])

    answers = judged(jobs, tmp_path)

    record_property("sorted ranges", len(answers))
    assert [differing(answer, is_value=True) for answer in answers] == [[]] * len(jobs)


def _mixed(path: Path, chosen: random.Random) -> int:
    """Write rows of numbers, dates, texts and blanks; return how many."""
    count = chosen.randint(3, 60)
    with xlsxwriter.Workbook(str(path)) as file:
        sheet, date = file.add_worksheet("S"), file.add_format({"num_format": "yyyy-mm-dd"})
        for row in range(count):
            kind = chosen.random()
            if kind < 0.4:
                sheet.write_string(row, 0, chosen.choice(WORDS))
            elif kind < 0.7:
                sheet.write_number(row, 0, chosen.choice([chosen.randint(-5, 20), chosen.random()]))
            elif kind < 0.85:
                day = datetime.datetime(2020, 1, 1) + datetime.timedelta(chosen.randint(0, 900))
                sheet.write_datetime(row, 0, day, date)
            sheet.write_number(row, 1, chosen.randint(1, 4))
            sheet.write_string(row, 2, f"row {row}")
            sheet.write_formula(row, 3, f"=B{row + 1}*2+$F$1", None, 0)
        sheet.write_number(0, 5, 7)
    return count


@pytest.mark.rule("F39.12")
@pytest.mark.needs("corpora")
@pytest.mark.parametrize("is_far", [False, True], ids=["here", "another sheet"])
def test_formulas_follow_moved_cells_as_in_libreoffice(corpora, tmp_path, is_far, record_property):
    jobs: list[list[Any]] = []
    names = []
    for number, path in enumerate(workbooks(corpora)):
        for op in _moves(path, is_far):
            out = tmp_path / f"{number}-{len(jobs)}.xlsx"
            try:
                edit(source(path), out, op)
            except FormatError:
                continue
            act = ["move", op["sheet"], op["range"], op["to_sheet"], op["to"]]
            jobs.append([str(path), act, str(out)])
            names.append(path.name)

    answers = judged(jobs, tmp_path)

    wrong = {
        name: differing(answer)[:3]
        for name, answer in zip(names, answers, strict=True)
        if answer is not None and differing(answer) and name not in ELSEWHERE
    }
    record_property("moved ranges", len(answers))
    assert wrong == {}
    assert len(answers) > (50 if is_far else 250)


def _moves(path: Path, is_far: bool) -> list[dict[str, Any]]:
    try:
        sheets = [one for one in mapped(source(path))["sheets"] if one["kind"] == "worksheet"]
    except FormatError:
        return []
    found = []
    for sheet in sheets[:2]:
        used, name = sheet["used_range"], sheet["name"]
        others = [one["name"] for one in sheets if one["name"] != name]
        if not used or used["max_row"] > 2000 or (is_far and not others):
            continue
        row, col = used["min_row"], used["min_col"]
        middle = (row + (used["max_row"] - row) // 2, col + (used["max_col"] - col) // 2)
        to = "D9" if is_far else cell_name(used["max_row"] + 3, col + 2)
        where = {"to_sheet": others[0] if is_far else name, "to": to}
        area = f"{cell_name(row, col)}:{cell_name(*middle)}"
        found.append({"op": "move_range", "sheet": name, "range": area, **where})
    return found


@pytest.mark.rule("F39.14", "F39.15")
@pytest.mark.needs("corpora")
def test_copied_sheets_show_in_libreoffice_what_their_models_show(
    corpora, tmp_path, record_property
):
    jobs: list[list[Any]] = []
    models = []
    for number, path in enumerate(workbooks(corpora)):
        try:
            sheets = [one for one in mapped(source(path))["sheets"] if one["kind"] == "worksheet"]
        except FormatError:
            continue
        for sheet in sheets[:2]:
            out = tmp_path / f"{number}-{len(jobs)}.xlsx"
            op = {"op": "copy_sheet", "sheet": sheet["name"], "new_name": "Once more"}
            try:
                edit(source(path), out, op)
            except FormatError:
                continue
            jobs.append([str(path), None, str(out)])
            models.append((path.name, sheet["name"]))

    answers = judged(jobs, tmp_path)

    wrong = {}
    for (name, sheet), answer in zip(models, answers, strict=True):
        if answer is None or name in ELSEWHERE:
            continue
        pair = [{"": answer[0][sheet]}, {"": answer[1]["Once more"]}]
        if found := [*differing(pair, is_value=True), *differing(answer)]:
            wrong[name, sheet] = found[:3]
    record_property("copied sheets", len(answers))
    assert wrong == {}
    assert len(answers) > 400
