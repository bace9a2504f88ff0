"""Context items in the terminal: what every call is told besides the files."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from .bench import BENCH, ask
from .door import Door, DoorGroup, clean, clean_lines, pass_door, read_text, table

CATEGORY = click.argument("category", metavar="CATEGORY")


@click.group(cls=DoorGroup)
def context() -> None:
    """What every call is told: company-context, department-context, situation, document-style."""


@context.command("list")
@BENCH
@pass_door
def context_list(door: Door, bench: str) -> None:
    """List the four items."""
    from backshop.bench import Bench, requests  # loaded when needed (S2.4)

    found = ask(door, bench, Bench.context_list, requests.BenchRequest)
    rows = [(one.category, one.status, clean(one.summary)) for one in found.items]
    door.show(found, lambda _: table(rows, ("context", "status", "what")))


@context.command("show")
@BENCH
@CATEGORY
@pass_door
def context_show(door: Door, bench: str, category: str) -> None:
    """Show the files of an item."""
    from backshop.bench import Bench, requests  # loaded when needed (S2.4)

    wish = partial(requests.ContextSlot, category=category)
    found = ask(door, bench, Bench.context_get_artifact, wish)
    shown = (f"# {clean(one.path)}\n{clean_lines(one.content)}" for one in found.files)
    door.show(found, lambda _: "\n".join(shown))


@context.command("set")
@BENCH
@CATEGORY
@click.option("--text", help="What to make the item from.")
@click.option("--file", "source", type=click.Path(path_type=Path), help="A file to make it from.")
@click.option("--note", help="What to look for in the file.")
@click.option("--overwrite", is_flag=True, help="Replace what was edited by hand.")
@pass_door
def context_set(
    door: Door,
    bench: str,
    category: str,
    text: str | None,
    source: Path | None,
    note: str | None,
    overwrite: bool,
) -> None:
    """Let the model make an item from a text or a file. What it reads leaves the machine."""
    from backshop.workshop import Contextual, requests  # loaded when needed (S2.4)

    if (text is None) == (source is None):
        raise click.UsageError("give --text or --file")
    given = requests.ContextInput(mode="text", text=text)
    if source is not None:
        path = str(source.absolute())
        given = requests.ContextInput(mode="file", source_path=path, note=note)
    wish = partial(
        requests.ContextProcess,
        category=category,
        input=given,
        overwrite_direct_edits=overwrite,
    )
    done = ask(door, bench, Contextual.process, wish)
    door.show(done, lambda value: f"{value.category}: {clean(value.summary)}")


@context.command("edit")
@BENCH
@CATEGORY
@click.argument("source", type=click.Path(exists=True, path_type=Path))
@click.option("--create", is_flag=True, help="Fill the item if it is empty.")
@pass_door
def context_edit(door: Door, bench: str, category: str, source: Path, create: bool) -> None:
    """Replace an item's files by SOURCE: a text file, or a folder with SKILL.md and references."""
    from backshop.bench import Bench, requests  # loaded when needed (S2.4)

    files = tuple(
        requests.ContextFile(path=path, content=read_text(file))
        for path, file in _named(category, source).items()
    )
    wish = partial(requests.ContextUpdateDirect, category=category, files=files, create=create)
    done = ask(door, bench, Bench.context_update_direct, wish)
    door.show(done, lambda value: f"{value.category}: {clean(value.summary)}")


@context.command("delete")
@BENCH
@CATEGORY
@pass_door
def context_delete(door: Door, bench: str, category: str) -> None:
    """Empty an item."""
    from backshop.bench import Bench, requests  # loaded when needed (S2.4)

    wish = partial(requests.ContextSlot, category=category)
    door.show(ask(door, bench, Bench.context_delete, wish), lambda _: "deleted")


def _named(category: str, source: Path) -> dict[str, Path]:
    if not source.is_dir():
        return {"context.md" if category == "situation" else "SKILL.md": source}
    files = sorted(path for path in source.rglob("*") if path.is_file())
    return {path.relative_to(source).as_posix(): path for path in files}
