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
from backshop.bench import TOOLS, Author, Source, Workspace
from backshop.formats import OpsRequest
from backshop.models import scripted
from backshop.prompts import MarkdownSection, Prompt, Session, ToolContext

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
        bench = Bench(shop, _menu(shop, Path(folder)))
        rows = bench.tool("table_query", path="menu.xlsx", query="SELECT dish FROM data")["rows"]
        german = tuple(row[0] for row in rows)
        model = shop.models.adapter(wanted, workbench_id=bench.id) if wanted else scripted(OFFLINE)
        answer = model.evaluate(TRANSLATE, Texts(german), session=Session())
        assert isinstance(answer.output, Translated)
        bench.tool(
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
        review = bench.call("ReviewGetChangeSet")
        for entry in review["entries"]:
            print(f"{entry['kind'].lower()}: {entry['path']} ({entry['summary']})")
            print(f"changed beyond what was asked: {entry['collateral']}")
        bench.call("DraftPublish", reviewed_tree=review["tree"])
        table = bench.tool("table_query", path="menu.xlsx", query="SELECT * FROM data")
        for row in table["rows"]:
            print(" | ".join(map(str, row)))


class Bench:
    """One workbench: its commands, and the tools an agent has."""

    def __init__(self, shop: Backshop, file: Path) -> None:
        self._shop = shop
        self.id: str = shop.call("WorkbenchCreate", {"name": "Menu"})["workbench_id"]
        self.call("WorkbenchFilesAdd", source_paths=[str(file)])
        author = Author(source=Source(kind="workshop", ref="example"))
        self._context = ToolContext(workspace=Workspace(shop.benches, self.id, author))

    def call(self, name: str, **request: Any) -> Any:
        """Run a command about this workbench."""
        return self._shop.call(name, {"workbench_id": self.id, **request})

    def tool(self, name: str, **arguments: Any) -> Any:
        """Call a tool; every write of it lands in the Draft."""
        tool = next(one for one in TOOLS if one.name == name)
        result = tool.handler(tool.decode(arguments), context=self._context)
        if not result.ok:
            raise SystemExit(result.message)
        return result.value


def _menu(shop: Backshop, folder: Path) -> Path:
    path = folder / "menu.xlsx"
    operations: list[Any] = [{"op": "set_range", "sheet": "Sheet1", "start": "A1", "values": MENU}]
    shop.formats.apply_ops(None, OpsRequest(name=path.name, operations=operations), path)
    return path


if __name__ == "__main__":
    main()
