"""Names, notes and links in every workbook others made: all else stays, other programs see them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from backshop.formats import xlsx
from backshop.formats.errors import REASONS, FormatError
from backshop.formats.package.package import Package
from backshop.formats.protocol import Source
from backshop.formats.xlsx.annotation.listing import told_links, told_notes
from backshop.formats.xlsx.book.workbook import Book
from backshop.formats.xlsx.syntax.formula import quote_sheet

from .. import second_reader
from ..rates import Rate
from .books import differing, edit, mapped, opened, source
from .test_corpora import STRICT, workbooks

pytestmark = pytest.mark.needs("corpora")
TEXT = "Neu: <ß> & “so”\nzweite Zeile"
ADDRESS = "https://example.org/a?b=1&c=2"


def first_sheet(made: Source) -> dict[str, Any]:
    sheets: list[dict[str, Any]] = mapped(made)["sheets"]
    return next(s for s in sheets if s["kind"] == "worksheet")


def everything(sheet: dict[str, Any], told: dict[str, Any]) -> list[dict[str, Any]]:
    """Operations that add and change names, notes and links, those that are there too."""
    row = (sheet["used_range"] or {"max_row": 0})["max_row"] + 3
    name, place = sheet["name"], f"{quote_sheet(sheet['name'])}!A{row}"
    ops = [
        {"op": "set_note", "sheet": name, "cell": f"B{row}", "text": TEXT},
        {"op": "set_note", "sheet": name, "cell": f"C{row}", "text": "a second one"},
        {"op": "set_link", "sheet": name, "range": f"A{row}", "target": ADDRESS, "text": "there"},
        {"op": "set_link", "sheet": name, "range": f"B{row}:C{row}", "target": place},
        {"op": "set_name", "name": "Brand_new", "refers_to": f"{place}:B{row}", "scope": name},
    ]
    notes = [one for one in sheet.get("notes", ()) if "thread" not in one]
    for one in notes[:1]:
        ops.append({"op": "set_note", "sheet": name, "cell": one["cell"], "text": "changed"})
    for one in notes[1:2]:
        ops.append({"op": "delete_note", "sheet": name, "cell": one["cell"]})
    for one in sheet.get("links", ())[:1]:
        ops.append({"op": "set_link", "sheet": name, "range": one["range"], "target": ADDRESS})
    for one in sheet.get("links", ())[1:2]:
        ops.append({"op": "delete_link", "sheet": name, "range": one["range"]})
    names = [one for one in told["defined_names"] if not one["name"].lower().startswith("_xl")]
    for one in names[:1]:
        scope = {"scope": one["scope"]} if "scope" in one else {}
        ops.append({"op": "set_name", "name": one["name"], "new_name": "Called_anew", **scope})
    return ops


@pytest.mark.rule("F41.1", "F41.8", "F41.14", "F41.20", "F23.1", "F23.4", "F16.14")
def test_names_notes_and_links_come_into_every_workbook_and_nothing_else_changes(
    corpora, tmp_path, scaled, record_property
):
    rate, chosen = Rate("workbooks given names, notes and links"), random.Random(41)
    for path in workbooks(corpora, scaled(60, 1)):
        made, out = source(path), tmp_path / f"out{path.suffix}"
        try:
            told = mapped(made)
            sheet = first_sheet(made)
            done = edit(made, out, *everything(sheet, told))
        except FormatError as error:
            assert error.reason in REASONS, path.name
            rate.refuse(error)
            continue

        assert differing(path, out) == set(done.changed_parts), path.name
        assert done.effects.collateral == (), path.name
        _others_stay(path, out, sheet["name"])
        _second_opinion(path, out, sheet)
        _one_by_one(made, source(out), tmp_path / f"some{path.suffix}", chosen)
        rate.edited += 1

    rate.record(record_property)
    assert rate.edited > 400 // scaled(60, 1) * 0.85


def _others_stay(path: Path, out: Path, name: str) -> None:
    """Notes and links of all other sheets read as they did."""
    before, after = (Book(Package.open(source(one))) for one in (path, out))
    for sheet in before.sheets:
        if sheet.name != name:
            now = after.sheet(sheet.name)
            frames = [
                xml.frame() if (xml := book.xml(one)) else None
                for book, one in ((before, sheet), (after, now))
            ]
            assert told_notes(before, sheet) == told_notes(after, now), path.name
            assert told_links(before, sheet, frames[0]) == told_links(after, now, frames[1])


def _second_opinion(path: Path, out: Path, sheet: dict[str, Any]) -> None:
    if path.name in STRICT:
        return
    try:
        opened(path)
    except Exception:
        return  # the second reader fails on some of these files in its own ways
    cells = opened(out)[sheet["name"]]
    row = (sheet["used_range"] or {"max_row": 0})["max_row"] + 3
    assert cells[f"B{row}"].comment.text == TEXT, path.name
    assert cells[f"A{row}"].hyperlink.target == ADDRESS, path.name
    assert cells[f"A{row}"].value == "there", path.name


def _one_by_one(made: Source, after: Source, out: Path, chosen: random.Random) -> None:
    """Some of the changes alone: what is left out is as it was (F34.2 checks the rest)."""
    units = [unit.id for unit in xlsx.separate(made, after)]
    left = frozenset(chosen.sample(units, len(units) // 2))
    stay = xlsx.compose(made, after, left, out)
    assert stay == frozenset(units) - left
    mapped(source(out))


@pytest.mark.rule("F41.8", "F41.14", "F23.4")
@pytest.mark.needs("libreoffice")
def test_libreoffice_opens_every_workbook_with_a_new_note_and_link(corpora, tmp_path, scaled):
    edited = tmp_path / "edited"
    edited.mkdir()
    names: dict[str, str] = {}
    for number, path in enumerate(workbooks(corpora, scaled(60, 1))):
        made, out = source(path), edited / f"{number}.xlsx"
        try:
            sheet = first_sheet(made)
            row = (sheet["used_range"] or {"max_row": 0})["max_row"] + 3
            on = {"sheet": sheet["name"]}
            edit(
                made,
                out,
                {"op": "set_note", **on, "cell": f"B{row}", "text": "NOTEMARK"},
                {"op": "set_link", **on, "range": f"A{row}", "target": ADDRESS, "text": "LINKMARK"},
            )
        except FormatError as error:
            assert error.reason in REASONS
            continue
        names[out.stem] = path.name
    files = [edited / f"{stem}.xlsx" for stem in names]

    for start in range(0, len(files), 40):
        second_reader.convert(files[start : start + 40], tmp_path, "fods", timeout_s=1800)

    texts = {one.stem: one.read_text("utf-8") for one in (tmp_path / "converted").glob("*.fods")}
    shown = [stem for stem, text in texts.items() if "NOTEMARK" in text and ADDRESS[:25] in text]
    assert len(shown) >= 0.95 * len(names)
