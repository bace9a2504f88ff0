"""The budget: several sheets, formulas with their values, charts, rules that colour cells."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import xlsxwriter
from xlsxwriter.utility import xl_col_to_name, xl_rowcol_to_cell

from .trade import MONTH_WEIGHTS, REGION_WEIGHTS, REGIONS

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_REVENUE = 17_600_000  # what the year was planned to bring
_COSTS = {
    "Goods": 0.54,
    "People": 0.19,
    "Rent": 0.06,
    "Marketing": 0.05,
    "Freight": 0.07,
}
_NOTES = (
    ("Growth over 2024", 0.04, "growth"),
    ("Price rise from May", 0.02, "price_rise"),
    ("Share of sales on the web", 0.5, "web_share"),
    ("Days until suppliers are paid", 30, "payment_days"),
)


def write_budget(path: Path) -> None:
    """Write the workbook."""
    with xlsxwriter.Workbook(str(path)) as book:
        book.set_properties(
            {
                "title": "Budget 2025",
                "company": "Tarn Outfitters",
                "created": datetime(2024, 11, 18, 9),
            }
        )
        book.set_calc_mode("auto")
        look = _Look(book)
        overview = book.add_worksheet("Overview")
        plan = _plan(book, look)
        costs = _costs(book, look, sum(map(sum, plan)))
        _assumptions(book, look)
        _overview(book, overview, look, plan, costs)
        overview.activate()


class _Look:
    """The formats the sheets share."""

    def __init__(self, book: Any) -> None:
        self.title = book.add_format({"bold": True, "font_size": 16, "font_color": "#1F3864"})
        self.head = book.add_format({"bold": True, "bg_color": "#DCE6F1", "bottom": 1})
        self.money = book.add_format({"num_format": "#,##0"})
        self.total = book.add_format({"num_format": "#,##0", "bold": True, "top": 1})
        self.share = book.add_format({"num_format": "0.0%"})
        self.label = book.add_format({"bold": True})
        self.bad = book.add_format({"font_color": "#9C0006", "bg_color": "#FFC7CE"})
        self.quiet = book.add_format({"italic": True, "font_color": "#595959"})


def planned() -> list[list[int]]:
    """Return the planned revenue: a row for each region, a column for each month."""
    regions, months = sum(REGION_WEIGHTS), sum(MONTH_WEIGHTS)
    return [
        [
            round(_REVENUE * region * month / (regions * months * 100)) * 100
            for month in MONTH_WEIGHTS
        ]
        for region in REGION_WEIGHTS
    ]


def _plan(book: Any, look: _Look) -> list[list[int]]:
    sheet = book.add_worksheet("Plan")
    sheet.write(0, 0, "Planned revenue by region and month", look.title)
    sheet.write_row(2, 0, ("Region", *_MONTHS, "Year"), look.head)
    plan = planned()
    for place, (region, row) in enumerate(zip(REGIONS, plan, strict=True), start=3):
        sheet.write(place, 0, region, look.label)
        sheet.write_row(place, 1, row, look.money)
        sheet.write_formula(place, 13, f"=SUM(B{place + 1}:M{place + 1})", look.total, sum(row))
    last = 3 + len(REGIONS)
    sheet.write(last, 0, "All", look.label)
    for column in range(1, 14):
        name = xl_col_to_name(column)
        value = sum(map(sum, plan)) if column == 13 else sum(row[column - 1] for row in plan)
        sheet.write_formula(last, column, f"=SUM({name}4:{name}{last})", look.total, value)
    sheet.conditional_format(f"B4:M{last}", {"type": "3_color_scale"})
    sheet.freeze_panes(3, 1)
    sheet.set_column(0, 0, 12)
    sheet.set_column(1, 13, 10)
    return plan


def _costs(book: Any, look: _Look, revenue: int) -> list[int]:
    sheet = book.add_worksheet("Costs")
    sheet.write(0, 0, "Planned costs", look.title)
    sheet.write_row(2, 0, ("Cost", "Share of revenue", "Amount", "Per month"), look.head)
    amounts = []
    for place, (name, share) in enumerate(_COSTS.items(), start=3):
        row = place + 1
        amount = round(revenue * share)
        sheet.write(place, 0, name, look.label)
        sheet.write(place, 1, share, look.share)
        sheet.write_formula(place, 2, f"=ROUND(Plan!$N$8*B{row},0)", look.money, amount)
        sheet.write_formula(place, 3, f"=C{row}/12", look.money, amount / 12)
        amounts.append(amount)
    last = 3 + len(_COSTS)
    sheet.write(last, 0, "All", look.label)
    sheet.write_formula(last, 1, f"=SUM(B4:B{last})", look.share, sum(_COSTS.values()))
    sheet.write_formula(last, 2, f"=SUM(C4:C{last})", look.total, sum(amounts))
    sheet.write_formula(last, 3, f"=SUM(D4:D{last})", look.total, sum(amounts) / 12)
    sheet.conditional_format(
        f"B4:B{last}", {"type": "cell", "criteria": ">", "value": 0.5, "format": look.bad}
    )
    sheet.set_column(0, 3, 17)
    chart = book.add_chart({"type": "doughnut"})
    chart.add_series(
        {
            "categories": f"=Costs!$A$4:$A${last}",
            "values": f"=Costs!$C$4:$C${last}",
            "name": "Costs",
        }
    )
    chart.set_title({"name": "Where the money goes"})
    sheet.insert_chart("F3", chart)
    return amounts


def _assumptions(book: Any, look: _Look) -> None:
    sheet = book.add_worksheet("Assumptions")
    sheet.write_row(0, 0, ("Assumption", "Value"), look.head)
    for place, (text, value, name) in enumerate(_NOTES, start=1):
        sheet.write(place, 0, text)
        sheet.write(place, 1, value, look.share if value < 1 else look.money)
        book.define_name(name, f"=Assumptions!{xl_rowcol_to_cell(place, 1, True, True)}")
    sheet.data_validation("B5", {"validate": "integer", "criteria": ">=", "value": 0})
    sheet.set_column(0, 0, 34)
    sheet.hide()


def _overview(book: Any, sheet: Any, look: _Look, plan: list[list[int]], costs: list[int]) -> None:
    revenue = sum(map(sum, plan))
    sheet.write(0, 0, "Budget 2025", look.title)
    sheet.write(1, 0, "All amounts in euros. Approved by the board on 2 December 2024.", look.quiet)
    sheet.write_row(3, 0, ("Region", "Planned revenue", "Share"), look.head)
    for place, (region, row) in enumerate(zip(REGIONS, plan, strict=True), start=4):
        sheet.write(place, 0, region, look.label)
        sheet.write_formula(place, 1, f"=Plan!N{place}", look.money, sum(row))
        sheet.write_formula(place, 2, f"=B{place + 1}/$B$9", look.share, sum(row) / revenue)
    sheet.write(8, 0, "All", look.label)
    sheet.write_formula(8, 1, "=SUM(B5:B8)", look.total, revenue)
    sheet.write_formula(8, 2, "=SUM(C5:C8)", look.share, 1)
    sheet.write(10, 0, "Planned costs", look.label)
    sheet.write_formula(10, 1, "=Costs!C9", look.money, sum(costs))
    sheet.write(11, 0, "Result", look.label)
    sheet.write_formula(11, 1, "=B9-B11", look.total, revenue - sum(costs))
    sheet.conditional_format("B5:B8", {"type": "data_bar", "bar_color": "#9BC2E6"})
    sheet.conditional_format(
        "B12", {"type": "cell", "criteria": "<", "value": 0, "format": look.bad}
    )
    sheet.set_column(0, 2, 18)
    regions = book.add_chart({"type": "column"})
    regions.add_series(
        {
            "name": "Planned revenue",
            "categories": "=Overview!$A$5:$A$8",
            "values": "=Overview!$B$5:$B$8",
        }
    )
    regions.set_title({"name": "Revenue by region"})
    sheet.insert_chart("E3", regions)
    months = book.add_chart({"type": "line"})
    months.add_series({"name": "All", "categories": "=Plan!$B$3:$M$3", "values": "=Plan!$B$8:$M$8"})
    months.set_title({"name": "Revenue by month"})
    sheet.insert_chart("E19", months)
