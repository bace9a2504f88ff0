"""Rules in every workbook others made: all else stays, other programs show them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from backshop.formats import xlsx
from backshop.formats.errors import REASONS, FormatError
from backshop.formats.protocol import Source

from .. import second_reader
from ..rates import Rate
from .books import book, differing, edit, mapped, source, text
from .test_corpora import _opens as opens
from .test_corpora import workbooks
from .test_rules import EVERY, SCALES


def _first_sheet(made: Source) -> dict[str, Any]:
    sheets: list[dict[str, Any]] = mapped(made)["sheets"]
    return next(s for s in sheets if s["kind"] == "worksheet")


def _come(sheet: dict[str, Any]) -> list[dict[str, Any]]:
    """One rule of every kind over the used range and below it, and validations that overlap."""
    used = sheet["used_range"] or {"max_row": 1, "max_col": 1}
    last = used["max_row"] + 9
    cells = f"A1:C{last}"
    ops: list[dict[str, Any]] = [
        {"op": "add_conditional_format", "range": cells, "kind": kind, **fields}
        for kind, (fields, _) in (EVERY | SCALES).items()
    ]
    ops += [
        {"op": "set_validation", "range": cells, "kind": "list", "values": ["a", "ß & <x>"]},
        {"op": "set_validation", "range": f"B2:D{last - 1}", "kind": "custom", "formula": "=B2<>1"},
    ]
    return [{"sheet": sheet["name"], **op} for op in ops]


def _go(sheet: str, listed: list[str]) -> list[dict[str, Any]]:
    """Take a part of the cells off the rules that are there, and the first of each kind."""
    ops: list[dict[str, Any]] = []
    for kind, op in (("conditional format", "conditional_format"), ("validation", "validation")):
        own = [line.split("\t") for line in listed if line.startswith(kind)]
        if own and not any("pivot table" in words for _, _, words in own):
            ops.append({"op": f"delete_{op}", "sheet": sheet, "number": 1})
            if len(own) > 1:
                cell = own[1][1].split(",")[0].split(":")[0]
                cells = cell if any(c.isdigit() for c in cell) else f"{cell}1"
                cells = cells if any(c.isalpha() for c in cells) else f"A{cells}"
                ops.append({"op": f"delete_{op}", "sheet": sheet, "range": cells})
    return ops


def _listed(path: Path, sheet: str) -> list[str]:
    return text(path, sheet=sheet, cells="rules").split("\n")[1:]


@pytest.mark.rule("F38.1", "F38.2", "F38.12", "F23.1", "F23.4", "F16.14")
@pytest.mark.needs("corpora")
def test_rules_come_into_every_workbook_and_nothing_else_changes(
    corpora, tmp_path, scaled, record_property
):
    rate, chosen = Rate("workbooks given rules"), random.Random(7)
    for path in workbooks(corpora, scaled(110, 1)):
        made, out = source(path), tmp_path / f"out{path.suffix}"
        out.unlink(missing_ok=True)
        try:
            sheet = _first_sheet(made)
            before = _listed(path, sheet["name"])
            done = edit(made, out, *_come(sheet))
        except FormatError as error:
            assert error.reason in REASONS, path.name
            rate.refuse(error)
            continue

        assert differing(path, out) == set(done.changed_parts), path.name
        assert done.effects.collateral == (), path.name
        after = _listed(out, sheet["name"])
        assert len(after) > len(EVERY | SCALES), path.name
        assert {line.split("\t")[2] for line in before if line.startswith("cond")} <= {
            line.split("\t")[2] for line in after
        }, path.name
        assert not opens(path) or opens(out), path.name
        _one_by_one(made, source(out), tmp_path / f"some{path.suffix}", chosen)
        rate.edited += 1

    rate.record(record_property)
    assert rate.edited > 400 // scaled(110, 1) * 0.85


@pytest.mark.rule("F38.10", "F38.12", "F23.1", "F23.4", "F16.14")
@pytest.mark.needs("corpora")
def test_rules_of_every_workbook_go_and_nothing_else_changes(
    corpora, tmp_path, scaled, record_property
):
    rate, chosen = Rate("workbooks that lost rules"), random.Random(7)
    for path in workbooks(corpora, scaled(12, 1)):
        made, out = source(path), tmp_path / f"out{path.suffix}"
        out.unlink(missing_ok=True)
        try:
            sheets = [s["name"] for s in mapped(made)["sheets"] if s["kind"] == "worksheet"]
            ops = [op for name in sheets for op in _go(name, _listed(path, name))]
            if not ops:
                continue
            done = edit(made, out, *ops[:100])
        except FormatError as error:
            assert error.reason in REASONS, path.name
            rate.refuse(error)
            continue

        assert differing(path, out) == set(done.changed_parts), path.name
        assert done.effects.collateral == (), path.name
        assert not opens(path) or opens(out), path.name
        _one_by_one(made, source(out), tmp_path / f"some{path.suffix}", chosen)
        rate.edited += 1

    rate.record(record_property)
    assert rate.edited > 0


def _one_by_one(before: Source, after: Source, out: Path, chosen: random.Random) -> None:
    """Leave some of the changes out; what is written is verified by whoever writes it."""
    units = xlsx.separate(before, after)
    if len(units) > 1:
        some = chosen.sample([unit.id for unit in units], len(units) // 2)
        xlsx.compose(before, after, frozenset(some), out)
        assert not opens(before.path) or opens(out), before.name


# --- another program ----------------------------------------------------------------------------


@pytest.mark.rule("F38.6")
@pytest.mark.needs("libreoffice")
def test_libreoffice_shows_bars_scales_and_highlights(tmp_path):
    base = book(tmp_path / "a.xlsx", ("S", [[n, n, n] for n in range(1, 11)]))
    rule = {"op": "add_conditional_format", "sheet": "S"}
    edit(
        base,
        tmp_path / "out.xlsx",
        {**rule, "range": "A1:A10", "kind": "data_bar", "colors": "#00B0F0", "min": 0},
        {
            **rule,
            "range": "B1:B10",
            "kind": "color_scale",
            "colors": ["#FF0000", "#FFFF00", "#00FF00"],
        },
        {
            **rule,
            "range": "C1:C10",
            "kind": "greater_than",
            "value": 5,
            "style": {"fill_color": "#800080"},
        },
    )

    (shown,) = second_reader.convert([tmp_path / "out.xlsx"], tmp_path / "lo", "png")
    with Image.open(shown) as picture:
        colors = {color for _, color in picture.convert("RGB").getcolors(1 << 24) or ()}

    assert {(0, 176, 240), (255, 0, 0), (0, 255, 0), (128, 0, 128)} <= colors
