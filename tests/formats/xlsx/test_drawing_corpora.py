"""Charts and pictures in every workbook others made: all else stays, other programs show them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from backshop.formats import xlsx
from backshop.formats.errors import REASONS, FormatError
from backshop.formats.package.package import Package
from backshop.formats.package.xml_tree import loosened
from backshop.formats.protocol import Source
from backshop.formats.xlsx.syntax.address import cell_name
from backshop.formats.xlsx.syntax.formula import quote_sheet

from .. import second_reader
from ..rates import Rate
from .books import differing, edit, mapped, opened, source
from .drawn import C, misplaced, parts, picture
from .test_corpora import REFUSED, STRICT, workbooks

pytestmark = pytest.mark.needs("corpora")
KINDS = ("column", "bar", "line", "area", "pie", "scatter")
ROWS: list[list[Any]] = [
    ["Year", "Nörd & <co>", "O'South"],
    [2021, 5, 2.5],
    [2022, 7, -3],
    [2023, 6, 8],
]


def everything(sheet: dict[str, Any]) -> list[dict[str, Any]]:
    """Operations that write some cells below the others, draw them in every way, and a picture."""
    row = (sheet["used_range"] or {"max_row": 0})["max_row"] + 3
    whole, one = f"A{row}:C{row + 3}", f"A{row}:B{row + 3}"
    ops: list[dict[str, Any]] = [{"op": "set_range", "start": f"A{row}", "values": ROWS}]
    for at, kind in enumerate(KINDS):
        data = one if kind == "pie" else whole
        cell = cell_name(row + 5 + 16 * at, 5)
        ops.append({"op": "add_chart", "kind": kind, "cell": cell, "data": data, "title": kind})
    ops.append({"op": "add_image", "cell": cell_name(row + 5, 1), "image": "logo.png"})
    return [{"sheet": sheet["name"], **op} for op in ops]


def first_sheet(made: Source) -> dict[str, Any]:
    sheets: list[dict[str, Any]] = mapped(made)["sheets"]
    return next(s for s in sheets if s["kind"] == "worksheet")


@pytest.mark.rule("F36.1", "F36.2", "F36.12", "F36.14", "F23.1", "F23.4", "F16.14")
def test_charts_and_a_picture_come_into_every_workbook_and_nothing_else_changes(
    corpora, tmp_path, scaled, record_property
):
    logo = picture(tmp_path / "logo.png")
    rate, chosen = Rate("workbooks given charts"), random.Random(7)
    for path in workbooks(corpora, scaled(110, 1)):
        made, out = source(path), tmp_path / f"out{path.suffix}"
        try:
            sheet = first_sheet(made)
            done = edit(made, out, *everything(sheet), files={"logo.png": logo})
        except FormatError as error:
            assert error.reason in REASONS, path.name
            rate.refuse(error)
            continue

        assert differing(path, out) == set(done.changed_parts), path.name
        assert done.effects.collateral == (), path.name
        told = next(s for s in mapped(source(out))["sheets"] if s["name"] == sheet["name"])
        added = [c for c in told["charts"] if c["title"] in KINDS][-len(KINDS) :]
        assert [c["type"] for c in added] == list(KINDS), path.name
        _second_opinion(path, out, sheet["name"], added)
        _one_by_one(made, source(out), tmp_path / f"some{path.suffix}", chosen)
        rate.edited += 1

    rate.record(record_property)
    assert rate.edited > 400 // scaled(110, 1) * 0.9


def _second_opinion(path: Path, out: Path, sheet: str, told: list[dict[str, Any]]) -> None:
    """Let openpyxl read the charts: the same kinds, the same cells."""
    package = Package.open(source(out))
    new = [n for n in package.names if "/charts/chart" in n and n not in parts(path)]
    assert len(new) == len(KINDS), path.name
    for name in new:
        assert misplaced(loosened(package.read(name))) == [], (path.name, name)
    if path.name in STRICT:
        return
    try:
        opened(path)
    except Exception:  # the second reader fails on some of these files in its own ways
        return
    found: Any = opened(out)[sheet]
    refs = [
        [ref.numRef.f for s in chart.series if (ref := getattr(s, "yVal", None) or s.val).numRef]
        for chart in found._charts
    ]
    for chart in told:
        refs.remove([s["values"] for s in chart["series"]])
    assert len(found._images) >= 1, path.name


def _one_by_one(before: Source, after: Source, out: Path, chosen: random.Random) -> None:
    """Leave some of the changes out: the others are all there (F34.2 is verified by compose)."""
    units = xlsx.separate(before, after)
    if [unit.kind for unit in units] == ["file"]:
        return
    shapes = [unit for unit in units if unit.kind == "shape"]
    assert len(shapes) == len(KINDS) + 1, [unit.label for unit in units]
    left = frozenset(unit.id for unit in chosen.sample(units, len(units) // 2))
    xlsx.compose(before, after, left, out)
    assert {unit.id for unit in xlsx.separate(before, source(out))} == (
        {unit.id for unit in units} - left
    )


# --- charts others made -------------------------------------------------------------------------


def _wishes(data: dict[str, Any] | None) -> list[dict[str, Any]]:
    plain: list[dict[str, Any]] = [
        *({"kind": kind} for kind in KINDS),
        {"stacking": "percent"},
        {"kind": "column", "stacking": "stacked"},
        *({"title": "Neu <T> & ß"}, {"title": ""}, {"x_title": "X", "y_title": "Y"}),
        *({"legend": "top"}, {"legend": "none"}, {"y_min": 0, "y_max": "auto"}),
        {"number_format": "0.00"},
    ]
    return [*plain, data] if data else plain


def _data(sheets: list[dict[str, Any]]) -> dict[str, Any] | None:
    for sheet in sheets:
        used = sheet["used_range"]
        if sheet["kind"] == "worksheet" and used:
            first = cell_name(used["min_row"], used["min_col"])
            last = cell_name(used["max_row"], used["max_col"])
            return {"data": f"{first}:{last}", "data_sheet": sheet["name"]}
    return None


@pytest.mark.rule("F36.8", "F36.10", "F36.14", "F23.3", "F16.14")
def test_every_chart_that_others_made_is_changed_as_asked_and_nothing_else_is(
    corpora, tmp_path, scaled, record_property
):
    rate, number = Rate("changes of charts"), 0
    for path in workbooks(corpora, scaled(27, 1)):
        made, out = source(path), tmp_path / f"out{path.suffix}"
        try:
            sheets = mapped(made)["sheets"]
        except FormatError:
            continue
        for sheet in sheets:
            for chart in sheet["charts"]:
                number += 1
                wishes = _wishes(_data(sheets))
                for wish in wishes[number % scaled(5, 1) :: scaled(5, 1)]:
                    target = {"sheet": sheet["name"], "chart": chart["number"]}
                    try:
                        done = edit(made, out, {"op": "change_chart", **target, **wish})
                    except FormatError as error:
                        assert error.reason in {*REFUSED, *_HELD_BACK}, (path.name, wish)
                        rate.refuse(error)
                        continue
                    _changed(path, out, sheet["name"], chart, wish)
                    assert done.effects.collateral == (), (path.name, wish)
                    assert len(done.changed_parts) <= 1, (path.name, wish, done.changed_parts)
                    _taken_back(made, source(out), tmp_path / f"back{path.suffix}")
                    rate.edited += 1

    rate.record(record_property)
    assert rate.edited > 1500 // scaled(200, 1)


_HELD_BACK = {"op_conflict", "unsupported_format", "bad_value", "bad_range", "too_large"}


def _changed(
    path: Path, out: Path, sheet: str, chart: dict[str, Any], wish: dict[str, Any]
) -> None:
    sheets = mapped(source(out))["sheets"]
    here = next(s for s in sheets if s["name"] == sheet)
    now = next(c for c in here["charts"] if c["number"] == chart["number"])
    package = Package.open(source(out))
    for name in package.names:
        if "/charts/chart" in name:
            assert misplaced(loosened(package.read(name))) == [], (path.name, wish)
    opened(out)
    assert now["type"] == wish.get("kind", chart["type"]), (path.name, wish)
    if "title" in wish:
        assert (now["title"] or "") == wish["title"], (path.name, wish)
    if "data" not in wish:
        old, new = ([s.get("values") for s in one["series"]] for one in (chart, now))
        assert old == new, (path.name, wish)


def _taken_back(before: Source, after: Source, out: Path) -> None:
    units = xlsx.separate(before, after)
    kinds = [unit.kind for unit in units]  # a part: only its copy of the cells was out of date
    assert kinds in (["shape"], ["part"], ["file"], []), [unit.label for unit in units]
    xlsx.compose(before, after, frozenset(unit.id for unit in units), out)
    assert source(out).sha256 == before.sha256 or not units


# --- another program ----------------------------------------------------------------------------


@pytest.mark.rule("F36.2", "F36.9")
@pytest.mark.needs("libreoffice")
def test_libreoffice_shows_the_charts_with_their_series(corpora, tmp_path, scaled):
    edited, logo = tmp_path / "edited", picture(tmp_path / "logo.png")
    edited.mkdir()
    names: dict[str, tuple[Path, dict[str, Any]]] = {}
    for number, path in enumerate(workbooks(corpora, scaled(60, 4))):
        out = edited / f"{number}.xlsx"
        try:
            sheet = first_sheet(source(path))
            edit(source(path), out, *everything(sheet), files={"logo.png": logo})
        except FormatError:
            continue
        names[out.stem] = (path, sheet)
    files = [edited / f"{stem}.xlsx" for stem in names]
    for start in range(0, len(files), 40):
        second_reader.convert(files[start : start + 40], tmp_path / "lo", "xlsx", timeout_s=1800)

    wrong = {}
    for stem, (path, sheet) in names.items():
        saved = tmp_path / "lo" / "converted" / f"{stem}.xlsx"
        drawn = _shown(saved, sheet) if saved.exists() else None
        if drawn != _EXPECTED:
            wrong[path.name] = drawn

    assert names
    assert len(wrong) <= 0.05 * len(names), wrong


_EXPECTED: dict[str, list[tuple[str, list[float]]]] = {
    kind: [(str(ROWS[0][col]), [float(row[col]) for row in ROWS[1:]]) for col in cols]
    for kind, cols in (
        ("column", (1, 2)),
        ("bar", (1, 2)),
        ("line", (1, 2)),
        ("area", (1, 2)),
        ("pie", (1,)),
        ("scatter", (1, 2)),
    )
}


def _shown(path: Path, sheet: dict[str, Any]) -> dict[str, list[tuple[str, list[float]]]]:
    """By title, the series of charts as another program saved them: names and values."""
    row = (sheet["used_range"] or {"max_row": 0})["max_row"] + 3
    found = {}
    for name, data in parts(path).items():
        if not name.startswith("xl/charts/chart"):
            continue
        root: Any = etree.fromstring(data)
        title = "".join(root.xpath("string(//*[local-name()='title'])").split())
        sers = []
        for ser in root.iter(f"{C}ser"):
            words = "".join(v.text or "" for v in ser.iterfind(f"{C}tx//{C}v"))
            held = ser.find(f"{C}yVal") if ser.find(f"{C}yVal") is not None else ser.find(f"{C}val")
            formula = next((f.text or "" for f in held.iter(f"{C}f")), "")
            if formula.startswith(f"{quote_sheet(sheet['name'])}!") and f"${row + 1}:" in formula:
                sers.append((words, [float(v.text or "nan") for v in held.iter(f"{C}v")]))
        if title in KINDS and sers:
            found[title] = sers
    return found
