"""The sample files: the same bytes everywhere, and real files to every reader."""

from __future__ import annotations

import csv
import zipfile
from decimal import Decimal
from typing import Any

import pytest
from openpyxl import load_workbook

from backshop.formats import SAMPLES, Formats, OpsRequest, write_samples

from .office import map_of, show, source, word


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("samples")
    write_samples(made)
    return made


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.rule("B18.1")
def test_samples_are_the_same_bytes_every_time(folder, tmp_path):
    again = write_samples(tmp_path)

    assert tuple(path.name for path in again) == SAMPLES
    for path in again:
        assert path.read_bytes() == (folder / path.name).read_bytes(), path.name


def test_the_sales_are_fifty_thousand_rows_whose_amounts_add_up(folder):
    sales = rows(folder / "sales-2025.csv")

    assert len(sales) == 50_000
    assert all(
        Decimal(sale["unit_price"]) * int(sale["quantity"]) == Decimal(sale["amount"])
        for sale in sales
    )


def test_the_payments_differ_from_the_orders_in_known_ways(folder):
    orders = {row["order_id"]: Decimal(row["amount"]) for row in rows(folder / "orders.csv")}
    paid: dict[str, list[Decimal]] = {}
    for row in rows(folder / "payments.csv"):
        paid.setdefault(row["order_id"], []).append(Decimal(row["amount"]))

    assert len(orders) == 420
    assert len(orders.keys() - paid.keys()) == 7
    assert len(paid.keys() - orders.keys()) == 3
    assert sum(len(lines) == 2 for lines in paid.values()) == 7
    assert sum(orders[one] - sum(paid[one]) == 25 for one in orders.keys() & paid.keys()) == 7


@pytest.mark.rule("F24.8")
def test_the_values_kept_in_the_budget_are_what_its_formulas_give(folder, tmp_path):
    """Computing all of it anew, in a worker as the product does, changes no value."""
    path, out = folder / "budget-2025.xlsx", tmp_path / "out.xlsx"
    kept = load_workbook(path)["Plan"]["B4"].value
    operations: list[Any] = [
        {"op": "set_cells", "sheet": "Plan", "cells": [{"cell": "B4", "value": value}]}
        for value in (0, kept)
    ]

    with Formats(cache=tmp_path / "cache") as formats:
        for operation in operations:
            base = out if out.exists() else path
            here = formats.source(base, path.name)
            made = tmp_path / "made.xlsx"
            request = OpsRequest(name=path.name, operations=[operation])
            applied = formats.apply_ops(here, request, made)
            made.replace(out)

    assert applied.to_json()["recalculated"] == {"computed": 24, "not_computed": 0, "reasons": {}}
    before, after = (_values(one) for one in (path, out))
    assert after == pytest.approx(before)
    book: Any = load_workbook(path)
    assert [sheet.sheet_state for sheet in book] == ["visible"] * 3 + ["hidden"]
    assert [len(sheet._charts) for sheet in book] == [2, 0, 1, 0]


def _values(path):
    """Return every number a workbook shows, by cell."""
    return {
        (sheet.title, cell.coordinate): cell.value
        for sheet in load_workbook(path, data_only=True)
        for row in sheet.iter_rows()
        for cell in row
        if isinstance(cell.value, int | float)
    }


def test_the_report_holds_tracked_changes_of_two_people(folder):
    path = folder / "annual-report.docx"
    with zipfile.ZipFile(path) as archive:
        body = archive.read("word/document.xml").decode()

    assert map_of(path)["has_tracked_changes"] is True
    assert (body.count("<w:ins "), body.count("<w:del ")) == (4, 2)
    assert {"Mara Lind", "Jonas Weir"} <= set(body.split('"'))
    assert [table.cell(0, 0).text for table in word(path).tables] == ["Region", "Team"]


def test_the_deck_has_a_look_of_its_own_and_a_chart(folder):
    deck = show(folder / "board-deck.pptx")
    charts = [shape.chart for slide in deck.slides for shape in slide.shapes if shape.has_chart]

    assert [list(chart.plots[0].series[0].values) for chart in charts] == [[6, 7, 9, 9, 11]]
    assert {"Far hill", "Near hill"} <= {shape.name for shape in deck.slide_layouts[0].shapes}


def test_other_readers_open_the_deck_and_the_terms(folder, tmp_path):
    titles = [slide.shapes.title.text for slide in show(folder / "board-deck.pptx").slides]
    path = folder / "supplier-terms.pdf"
    with Formats(cache=tmp_path / "cache") as formats:
        info = formats.get_map(source(path), "full")

    assert titles == ["Board meeting", "Agenda", "Shops", "What we decide today"]
    assert info["page_count"] == 2
