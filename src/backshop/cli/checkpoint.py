"""Checkpoints in the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import click

from backshop.base.acting import who
from backshop.base.codec import encode
from backshop.base.errors import NotFound, ValidationFailed
from backshop.base.labels import headline

from .bench import BENCH, Answered, Asked, Facade, ask, bench_of
from .door import Door, DoorGroup, pass_door, table
from .draft.review import changed_lines, proof_lines
from .folder import offer
from .folder_text import written_lines

if TYPE_CHECKING:
    from backshop.bench.answers import ChangedFile, CheckpointInfo, Restored


_TITLE_CHARS = 60


@click.group(cls=DoorGroup)
def checkpoint() -> None:
    """States of Published that can be brought back."""


@checkpoint.command("list")
@BENCH
@pass_door
def checkpoint_list(door: Door, bench: str) -> None:
    """List checkpoints, newest first."""
    from backshop.bench import Bench, requests  # loaded when needed (S2.4)

    found = ask(door, bench, Bench.checkpoints_list, partial(requests.CheckpointsList, limit=1000))
    rows = [
        (
            *(one.checkpoint_id, one.created_at, _what(one)),
            *(who(one.by) or one.actor, str(one.files)),
        )
        for one in found.checkpoints
    ]
    shown = table(rows, ("id", "when", "what", "who", "files")) if rows else "no checkpoint yet"
    door.show(found, lambda _: shown)


@checkpoint.command("create")
@BENCH
@click.argument("description", default="")
@pass_door
def checkpoint_create(door: Door, bench: str, description: str) -> None:
    """Keep Published as it is now."""
    from backshop.bench import Bench, requests  # loaded when needed (S2.4)

    wish = partial(requests.CheckpointCreate, description=description)
    door.show(ask(door, bench, Bench.checkpoint_create, wish), lambda made: made.checkpoint_id)


@checkpoint.command("show")
@BENCH
@click.argument("checkpoint_id")
@pass_door
def checkpoint_show(door: Door, bench: str, checkpoint_id: str) -> None:
    """Show one checkpoint."""
    from backshop.bench import Bench, requests  # loaded when needed (S2.4)

    wish = requests.CheckpointId_
    found = _ask(door, bench, Bench.checkpoint_get, wish, checkpoint_id=checkpoint_id)
    rows = [(name, str(value)) for name, value in encode(found).items()]
    door.show(found, lambda _: table(rows, ("checkpoint", "")))


@checkpoint.command("compare")
@BENCH
@click.argument("checkpoint_id")
@click.argument("other_id", required=False)
@pass_door
def checkpoint_compare(door: Door, bench: str, checkpoint_id: str, other_id: str | None) -> None:
    """Compare a checkpoint with another, or with Published."""
    from backshop.bench import Bench, requests  # loaded when needed (S2.4)

    named = {"checkpoint_id": checkpoint_id, **({"other_id": other_id} if other_id else {})}
    wish = partial(requests.CheckpointCompare, limit=5000)
    found = _ask(door, bench, Bench.checkpoint_compare, wish, **named)
    door.show(found, lambda value: _changed(value.entries))


@checkpoint.command("pin")
@BENCH
@click.argument("checkpoint_id")
@click.option("--off", is_flag=True, help="Let it be pruned again.")
@pass_door
def checkpoint_pin(door: Door, bench: str, checkpoint_id: str, off: bool) -> None:
    """Keep a checkpoint for good."""
    from backshop.bench import Bench, requests  # loaded when needed (S2.4)

    wish = partial(requests.CheckpointPin, pinned=not off)
    done = _ask(door, bench, Bench.checkpoint_pin, wish, checkpoint_id=checkpoint_id)
    door.show(done, lambda _: "unpinned" if off else "pinned")


@checkpoint.command("restore")
@BENCH
@click.argument("checkpoint_id")
@click.option("--file", "path", metavar="PATH", help="Only this file; all else stays as it is.")
@click.option("--dry-run", is_flag=True, help="Only say what would change.")
@click.option("--write-folder", is_flag=True, help="Write it into the followed folder too.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_door
def checkpoint_restore(
    door: Door,
    bench: str,
    checkpoint_id: str,
    path: str | None,
    dry_run: bool,
    write_folder: bool,
    yes: bool,
) -> None:
    """Bring a checkpoint back; what is there now is kept as another one.

    A person is shown what changes and asked; where there is no terminal, --yes says that it is
    meant.
    """
    from backshop.bench import Bench, requests  # loaded when needed (S2.4)

    wish = partial(
        requests.CheckpointRestore, path=path, dry_run=dry_run, write_folder=write_folder
    )
    if not (yes or dry_run):
        first = partial(wish, dry_run=True)
        shown = _ask(door, bench, Bench.checkpoint_restore, first, checkpoint_id=checkpoint_id)
        door.require_person("restoring")  # what is wrong is said first (S4.5)
        click.echo("\n".join(_restored(shown)), err=True)
        door.confirm("Bring this back?", "restoring")
    done = _ask(door, bench, Bench.checkpoint_restore, wish, checkpoint_id=checkpoint_id)
    door.show(done, lambda value: "\n".join(_restored(value)))
    if not dry_run and not write_folder and done.folder_behind:
        with door.shop() as shop:
            offer(door, shop, bench_of(shop, bench), done.folder_behind)


def _what(one: CheckpointInfo) -> str:
    """Return what a checkpoint was kept before, in one line."""
    return f"Before: {headline(one.request, _TITLE_CHARS)}" if one.request else one.description


def _restored(done: Restored) -> list[str]:
    lines = [_changed(done.changed), *proof_lines(done.changed)]
    if done.dry_run and done.folder_behind:
        lines.append(f"your folder would then have {done.folder_behind} file(s) otherwise")
    return [*lines, *(written_lines(done.folder) if done.folder else ())]


def _ask(
    door: Door,
    bench: str,
    method: Callable[[Facade, Asked], Answered],
    request: Callable[..., Asked],
    **named: str,
) -> Answered:
    """Run a command about checkpoints, each given by its id or by a unique beginning of it."""
    from backshop.bench import Bench, requests  # loaded when needed (S2.4)

    with door.shop() as shop:
        bench_id = bench_of(shop, bench)
        wish = requests.CheckpointsList(workbench_id=bench_id, limit=1000)
        known = shop.ask(Bench.checkpoints_list, wish).checkpoints
        ids = {key: _named(text, known) for key, text in named.items()}
        return shop.ask(method, request(workbench_id=bench_id, **ids))


def _named(text: str, known: Sequence[CheckpointInfo]) -> str:
    found = [one for one in known if one.checkpoint_id.startswith(text)]
    if len(found) == 1 and text:
        return found[0].checkpoint_id
    hints = tuple(f"{one.checkpoint_id} ({one.description})" for one in (found or known)[:5])
    if found and text:
        raise ValidationFailed(
            f"{text!r} could be {len(found)} checkpoints", reason="ambiguous", hints=hints
        )
    raise NotFound(f"there is no checkpoint {text!r} here", reason="not_found", hints=hints)


def _changed(found: Sequence[ChangedFile]) -> str:
    if not found:
        return "nothing differs"
    return "\n".join(changed_lines(found))
