"""Translate a column of a workbook: the model translates, the product writes into a Draft.

python examples/translate_workbook
python examples/translate_workbook --model openai:gpt-5.2     # with a key and your consent
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backshop import Backshop
from backshop.formats import OpsRequest
from backshop.models import scripted
from backshop.prompts import MarkdownSection, Prompt, Session, ToolResult

MENU = [
    ["dish", "price"],
    ["Linsensuppe", 5.5],
    ["Käsespätzle", 9.8],
    ["Apfelkuchen", 3.9],
]
OFFLINE = [
    {
        "respond": {
            "text": '```json\n{"texts": ["Lentil soup", "Cheese noodles", "Apple cake"]}\n```'
        }
    }
]


@dataclass(frozen=True)
class Texts:
    """What is to be translated."""

    texts: tuple[str, ...]


@dataclass(frozen=True)
class Translated:
    """The translations, in the same order."""

    texts: list[str]


TRANSLATE = Prompt(
    "examples/translate",
    "column",
    sections=[
        MarkdownSection("Task", "Translate each text into English; keep the order.", key="task"),
        MarkdownSection("Texts", "$texts", key="texts", params=Texts, role="user"),
    ],
    output=Translated,
)


def main() -> None:
    """Make a workbook, translate it, show the review, publish."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", help="a model of `backshop model list`; offline without")
    wanted = parser.parse_args().model
    with tempfile.TemporaryDirectory() as folder, Backshop.open(Path(folder) / "home") as shop:
        shop.call("WorkbenchCreate", {"name": "Menu"})
        bench = shop.workshop("Menu")
        bench.add(_menu(shop, Path(folder)))
        asked = bench.tool("table_query", path="menu.xlsx", query="SELECT dish FROM data")
        german = tuple(row[0] for row in _did(asked)["rows"])
        model = shop.models.adapter(wanted, workbench_id=bench.id) if wanted else scripted(OFFLINE)
        answer = model.evaluate(TRANSLATE, Texts(german), session=Session())
        assert isinstance(answer.output, Translated)
        written = bench.tool(
            "xlsx_operations",
            path="menu.xlsx",
            operations=[
                {
                    "op": "set_range",
                    "sheet": "Sheet1",
                    "start": "C1",
                    "values": [["dish (English)"], *([text] for text in answer.output.texts)],
                }
            ],
            change_note="Added English names",
        )
        _did(written)
        review = bench.review()
        for entry in review.entries:
            print(f"{entry.kind.lower()}: {entry.path} ({entry.summary})")
            print(f"changed beyond what was asked: {entry.collateral}")
        bench.publish(review.tree)
        table = bench.tool("table_query", path="menu.xlsx", query="SELECT * FROM data")
        for row in _did(table)["rows"]:
            print(" | ".join(map(str, row)))


def _did(result: ToolResult) -> Any:
    if not result.ok:
        raise SystemExit(result.message)
    return result.value


def _menu(shop: Backshop, folder: Path) -> Path:
    path = folder / "menu.xlsx"
    operations: list[Any] = [{"op": "set_range", "sheet": "Sheet1", "start": "A1", "values": MENU}]
    request = OpsRequest(name=path.name, operations=operations, create_new=True)
    shop.formats.apply_ops(None, request, path)
    return path


if __name__ == "__main__":
    main()
