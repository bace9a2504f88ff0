"""Changes of a Draft taken and left one by one: `backshop draft changes|leave|take` (B25)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from backshop.base.codec import encode
from backshop.base.errors import NotFound

from ..bench import BENCH
from ..door import Door, DoorCommand, clean, pass_door

if TYPE_CHECKING:
    from backshop.bench import ChangeInfo, Chosen

GROUPS = ("text", "values", "formulas", "looks", "structure", "other")
_SHORT = 6
GROUP = click.option(
    "--group", type=click.Choice(GROUPS), help="All changes of this sort; looks are styles."
)


@click.command("changes", cls=DoorCommand)
@BENCH
@click.argument("path")
@pass_door
def changes(door: Door, bench: str, path: str) -> None:
    """List the changes of PATH that can be taken or left one by one."""
    with door.shop() as shop:
        found = shop.workshop(bench).changes(path)
    door.show({"changes": encode(list(found))}, lambda _: "\n".join(change_lines(found)))


@click.command("leave", cls=DoorCommand)
@BENCH
@click.argument("path", required=False)
@click.argument("ids", nargs=-1)
@GROUP
@pass_door
def leave(
    door: Door, bench: str, path: str | None, ids: tuple[str, ...], group: str | None
) -> None:
    """Leave changes out of the Draft: IDS of PATH, all of PATH, or all of one sort."""
    _choose(door, bench, path, ids, group, is_leaving=True)


@click.command("take", cls=DoorCommand)
@BENCH
@click.argument("path", required=False)
@click.argument("ids", nargs=-1)
@GROUP
@pass_door
def take(door: Door, bench: str, path: str | None, ids: tuple[str, ...], group: str | None) -> None:
    """Take changes into the Draft again that were left out."""
    _choose(door, bench, path, ids, group, is_leaving=False)


def _choose(
    door: Door,
    bench: str,
    path: str | None,
    ids: Sequence[str],
    group: str | None,
    *,
    is_leaving: bool,
) -> None:
    if path is None and group is None:
        raise click.UsageError("name a PATH, or --group for all files")
    with door.shop() as shop:
        at = shop.workshop(bench)
        known = at.changes(path) if path is not None and ids else ()
        named = [whole_id(known, one) for one in ids]
        done = (at.leave if is_leaving else at.take)(path, *named, group=group)
        bench_id = at.id
    door.show(done, lambda one: "\n".join([*_chosen_lines(one), *_undo(one, bench_id)]))


def _chosen_lines(done: Chosen) -> list[str]:
    if done.no_changes:
        return ["nothing changed: it was so already"]
    return [
        f"{clean(one.path)}: {one.count - one.left_count} of {one.count} change(s) are in"
        for one in done.files
    ]


def _undo(done: Chosen, bench_id: str) -> list[str]:
    return [] if done.no_changes else [f"undo: backshop draft undo {bench_id}"]


def whole_id(known: Sequence[ChangeInfo], said: str) -> str:
    """Return the change somebody means by its number in the list, or by the beginning of its id.

    Short figures are always a number: an id that happens to begin with them is not meant.
    """
    if said.isascii() and said.isdecimal() and len(said) < _SHORT:
        if 0 < int(said) <= len(known):
            return known[int(said) - 1].id
        raise _unknown(f"the list has no change {said}", known)
    found = [one.id for one in known if said and one.id.startswith(said)]
    if len(found) > 1:
        raise _unknown(f"{said!r} begins the ids of {len(found)} changes", known)
    if not found:
        raise _unknown(f"no change is called {said!r}", known)
    return found[0]


def _unknown(message: str, known: Sequence[ChangeInfo]) -> NotFound:
    hints = (f"1 to {len(known)}, or the beginning of an id",) if known else ()
    return NotFound(message, reason="change_not_found", hints=hints)


def change_lines(found: Sequence[ChangeInfo]) -> list[str]:
    """Return changes for people, numbered as they can be named."""
    lines = []
    for number, one in enumerate(found, 1):
        mark = "left out" if one.is_left else "in"
        before, after = (" ".join((side or "").split()) for side in (one.before, one.after))
        sides = f"  {clean(before)} → {clean(after)}" if before or after else ""
        lines.append(f"{number:>3}  {one.id[:_SHORT]}  {mark:<8}  {clean(one.label)}{sides}")
        if one.tied:
            lines.append(f"     {clean(one.tied)}")
    return lines or ["nothing of this file can be taken or left"]
