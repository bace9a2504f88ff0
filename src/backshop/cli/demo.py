"""`backshop demo`: a bench, an agent's tools, a review and a way back, watched in the terminal."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .door import Door, DoorCommand, pass_door
from .review import change_set_text, diff_text

if TYPE_CHECKING:
    from backshop.app import Backshop

NOTES = "# Notes\n\nSales grew in the north.\nThe south needs a new plan.\n"
SALES = "region,quarter,amount\nnorth,Q1,1200\nnorth,Q2,1450\nsouth,Q1,900\nsouth,Q2,640\n"


@click.command(cls=DoorCommand)
@click.option("--setup-only", is_flag=True, help="Make the sample workbench and stop.")
@pass_door
def demo(door: Door, setup_only: bool) -> None:
    """Show the promise at work, offline, in a folder that is removed afterwards.

    With --setup-only: make a workbench of sample files in your home and keep it. One that is
    there already stays as it is.
    """
    if setup_only:
        door.call("WorkbenchCreateSample", {"reuse": True}, _made)
        return
    _tell()


def _made(answer: dict[str, Any]) -> str:
    done = "is ready" if answer["created"] else "was there already"
    return (
        f"{answer['name']} {done} ({answer['workbench_id']}).\n"
        f'See its files: backshop bench files "{answer["name"]}"'
    )


def _tell() -> None:
    from backshop.app import Backshop  # loaded when a command needs it (S2.4)

    with tempfile.TemporaryDirectory(prefix="backshop-demo-") as folder:
        own = Path(folder) / "my files"
        own.mkdir()
        (own / "notes.md").write_text(NOTES, encoding="utf-8")
        (own / "sales.csv").write_text(SALES, encoding="utf-8")
        with Backshop.open(Path(folder) / "home") as shop:
            _Story(shop, own).tell()
    click.echo(
        "\nNext: `backshop bench create NAME` for your own files, or `backshop mcp --help` to let\n"
        "your coding agent work under the same protection."
    )


class _Story:
    """Five scenes with real tools; nothing here is pretended."""

    def __init__(self, shop: Backshop, own: Path) -> None:
        self._shop = shop
        self._own = own
        self._bench: str = shop.call("WorkbenchCreate", {"name": "Demo"})["workbench_id"]

    def tell(self) -> None:
        """Play the scenes."""
        paths = [str(path) for path in sorted(self._own.iterdir())]
        self._call("WorkbenchFilesAdd", source_paths=paths)
        self._scene("1. Your files are copied into a workbench; the originals stay where they are.")
        self._files()
        self._scene("2. An agent works with tools. Every write lands in a Draft.")
        self._tool(
            "edit_text_file",
            path="notes.md",
            edits=[{"search": "The south needs a new plan.", "replace": "The south is doomed."}],
            change_note="Rewrote the outlook.",
        )
        self._tool(
            "table_export",
            path="sales.csv",
            query="SELECT region, sum(amount) AS total FROM data GROUP BY region ORDER BY region",
            target_path="totals.csv",
            format="csv",
            change_note="Totals by region.",
        )
        review = self._call("ReviewGetChangeSet")
        self._scene("3. You review what would change. Published has not moved.")
        click.echo(change_set_text(review, "Demo"))
        click.echo(diff_text(self._call("ReviewGetDiff", path="notes.md")))
        self._scene("4. You keep the totals and take back the rest, then publish exactly that.")
        self._call("DraftRevertPath", path="notes.md")
        tree = self._call("ReviewGetChangeSet")["tree"]
        kept = self._call("DraftPublish", reviewed_tree=tree)["checkpoint_id"]
        self._files()
        self._scene("5. And if you change your mind, what was there before comes back.")
        self._call("CheckpointRestore", checkpoint_id=kept)
        self._files()

    def _call(self, name: str, **request: Any) -> Any:
        return self._shop.call(name, {"workbench_id": self._bench, **request})

    def _tool(self, name: str, **arguments: Any) -> None:
        from backshop.bench import TOOLS, Author, Source, Workspace
        from backshop.prompts import ToolContext

        tool = next(tool for tool in TOOLS if tool.name == name)
        author = Author(source=Source(kind="workshop", ref="demo"))
        context = ToolContext(workspace=Workspace(self._shop.benches, self._bench, author))
        result = tool.handler(tool.decode(arguments), context=context)
        click.echo(f"  {name}: {'done' if result.ok else result.message}")

    def _files(self) -> None:
        for file in self._call("WorkbenchFilesList")["files"]:
            click.echo(f"  {file['path']:<12} {file['kind']:<5} {file['size']:>5} bytes")

    def _scene(self, text: str) -> None:
        click.echo(f"\n{text}")
