"""Folders of a person that workbenches follow: opened, written back, taken in, settled (B23)."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from backshop.base.labels import count_text
from backshop.base.paths import bench_path

from .bench import BENCH, ask, bench_of
from .door import Door, DoorCommand, DoorGroup, clean, pass_door
from .folder_text import IN_THE_WAY, left_alone_lines, state_lines, written_lines

if TYPE_CHECKING:
    from backshop.app import Backshop
    from backshop.bench import FolderOpened


@click.command("open", cls=DoorCommand)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--name", default="", help="Name of the workbench; the folder's, if none is given.")
@click.option("--profile", help="How much it may hold: classic, standard or large.")
@pass_door
def open_(door: Door, folder: Path, name: str, profile: str | None) -> None:
    """Open the workbench of FOLDER; the first time it is made with the folder's files.

    What you publish is written back into the folder, file by file. Files that another program
    changed meanwhile are never overwritten.
    """
    from backshop.bench import Bench, requests  # loaded when needed (S2.4)

    wanted = str(folder.expanduser().absolute())
    wish = requests.WorkbenchOpenFolder(folder=wanted, name=name, profile=profile)
    with door.shop() as shop:
        found = shop.ask(Bench.open_folder, wish)
        if not found.created:
            own = requests.BenchRequest(workbench_id=found.workbench_id)
            shop.ask(Bench.open, own)
            found = shop.ask(Bench.open_folder, wish)
    door.show(found, lambda opened: "\n".join(_opened(opened)))


def _opened(found: FolderOpened) -> list[str]:
    word = "made" if found.created else "opened"
    return [
        f"{word}: {clean(found.name)}  {found.workbench_id}  ({count_text(found.files, 'file')})",
        *state_lines(found.folder, found.workbench_id),
        f'next: backshop send {found.workbench_id} "what to do with these files"',
    ]


@click.group(cls=DoorGroup)
def folder() -> None:
    """Look after the folder that a workbench follows."""


@folder.command("show")
@BENCH
@pass_door
def show(door: Door, bench: str) -> None:
    """Say how BENCH and its folder stand to each other."""
    from backshop.bench import Bench, requests  # loaded when needed (S2.4)

    with door.shop() as shop:
        bench_id = bench_of(shop, bench)
        wish = requests.BenchRequest(workbench_id=bench_id)
        found = shop.ask(Bench.folder_get_state, wish)
    door.show(found, lambda state: "\n".join(state_lines(state, bench_id, whole=True)))


@folder.command("write")
@BENCH
@click.pass_context
@pass_door
def write(door: Door, ctx: click.Context, bench: str) -> None:
    """Write into the folder what Published has otherwise."""
    from backshop.bench import Bench, requests  # loaded when needed (S2.4)

    with door.shop() as shop:
        own = requests.BenchRequest(workbench_id=bench_of(shop, bench))
        done = shop.ask(Bench.folder_write_back, own)
        state = shop.ask(Bench.folder_get_state, own)
    lines = written_lines(done) or ["nothing to write"]
    lines += left_alone_lines(state, own.workbench_id)
    door.show(done, lambda _: "\n".join(lines))
    if done.failed or done.conflicts:
        ctx.exit(1)


@folder.command("take")
@BENCH
@click.argument("paths", nargs=-1)
@pass_door
def take(door: Door, bench: str, paths: tuple[str, ...]) -> None:
    """Take what others did in the folder, all of it or PATHS, into Published."""
    from backshop.bench import Bench, requests  # loaded when needed (S2.4)

    done = ask(door, bench, Bench.folder_take, partial(requests.FolderTake, paths=paths or None))
    said = f"generation {done.published_generation}; what was there before is kept as a checkpoint"
    lines = [f"taken: {clean(path)}" for path in done.taken]
    door.show(done, lambda _: "\n".join([*lines, said] if lines else ["nobody changed anything"]))


@folder.command("settle")
@BENCH
@click.argument("paths", nargs=-1, required=True)
@click.option("--keep", type=click.Choice(["theirs", "ours"]), required=True, help="Which one.")
@click.pass_context
@pass_door
def settle(door: Door, ctx: click.Context, bench: str, paths: tuple[str, ...], keep: str) -> None:
    """Decide conflicts at PATHS: what is in the folder (theirs), or in Published (ours).

    Nothing is lost: theirs becomes Published with a checkpoint of ours, or is kept in meta/salvage
    before ours is written over it.
    """
    from backshop.bench import Bench, requests  # loaded when needed (S2.4)

    with door.shop() as shop:
        bench_id = bench_of(shop, bench)
        wish = requests.FolderSettle(workbench_id=bench_id, paths=paths, keep=keep)
        found = shop.ask(Bench.folder_settle, wish)
    left = [one for one in found.conflicts if one.path in set(map(bench_path, paths))]
    told = [f"not settled: {clean(one.path)}; {IN_THE_WAY[one.became]}" for one in left]
    door.show(found, lambda state: "\n".join([*told, *state_lines(state, bench_id)]))
    if left:
        ctx.exit(1)


@folder.command("moved")
@BENCH
@click.argument("new_folder", metavar="FOLDER", type=click.Path(path_type=Path))
@pass_door
def moved(door: Door, bench: str, new_folder: Path) -> None:
    """Say that the folder of BENCH is FOLDER now."""
    from backshop.bench import Bench, requests  # loaded when needed (S2.4)

    wanted = str(new_folder.expanduser().absolute())
    with door.shop() as shop:
        bench_id = bench_of(shop, bench)
        wish = requests.FolderFollow(workbench_id=bench_id, folder=wanted)
        found = shop.ask(Bench.folder_follow, wish)
    door.show(found, lambda state: "\n".join(state_lines(state, bench_id)))


def offer(door: Door, shop: Backshop, bench_id: str, behind: int) -> None:
    """Ask whether the folder shall get what went back in Published; a program is only told."""
    from backshop.bench import Bench, requests  # loaded when needed (S2.4)

    if not behind or door.as_json:
        return
    way = f"`backshop folder write {bench_id}`"
    is_asked = sys.stdin.isatty() and sys.stderr.isatty()
    if not is_asked or not _agreed(f"Write {behind} file(s) into your folder?"):
        door.tell(f"your folder has {behind} file(s) otherwise; {way} writes them")
        return
    done = shop.ask(Bench.folder_write_back, requests.BenchRequest(workbench_id=bench_id))
    click.echo("\n".join(written_lines(done)))


def _agreed(question: str) -> bool:
    """Ask about what comes after work that is done: Ctrl-C is a no to this alone."""
    try:
        return click.confirm(question, err=True)
    except click.Abort:
        return False
