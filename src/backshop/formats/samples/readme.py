"""The page that says what the sample files are."""

from __future__ import annotations

from pathlib import Path

_TEXT = """\
# Tarn Outfitters, files of 2025

A made-up shop for outdoor gear, so that there is something to work on. Every number here was
invented; the files behave like real ones.

| file | what it is |
|---|---|
| sales-2025.csv | every sale of the year, 50,000 rows |
| budget-2025.xlsx | the budget: formulas, charts, rules that colour cells, a hidden sheet |
| customer-feedback.xlsx | what customers wrote, in German |
| annual-report.docx | the report, with changes two people are still discussing |
| board-deck.pptx | slides for the board |
| orders.csv, payments.csv | wholesale orders and what the bank says was paid |
| supplier-terms.pdf | the terms of the biggest supplier |
"""


def write_readme(path: Path) -> None:
    """Write the page."""
    path.write_text(_TEXT, encoding="utf-8")
