"""Checkpoints in the terminal."""

from __future__ import annotations

from typing import Any

import click

from backshop.base.acting import who
from backshop.base.errors import NotFound, ValidationFailed

from .bench import BENCH, ask, bench_of
from .door import Door, DoorGroup, pass_door, table
from .review import changed_lines, proof_lines


@click.group(cls=DoorGroup)
def checkpoint() -> None:
    """States of Published that can be brought back."""


@checkpoint.command("list")
@BENCH
@pass_door
def checkpoint_list(door: Door, bench: str) -> None:
    """List checkpoints, newest first."""
    door.show(
        ask(door, "CheckpointsList", bench, limit=1000),
        lambda value: table(
            [
                (
                    *(c["checkpoint_id"], c["created_at"], c["description"]),
                    *(who(c.get("by")) or c["actor"], str(c["files"])),
                )
                for c in value["checkpoints"]
            ],
            ("id", "when", "what", "who", "files"),
        ),
    )


@checkpoint.command("create")
@BENCH
@click.argument("description", default="")
@pass_door
def checkpoint_create(door: Door, bench: str, description: str) -> None:
    """Keep Published as it is now."""
    done = ask(door, "CheckpointCreate", bench, description=description)
    door.show(done, lambda value: str(value["checkpoint_id"]))


@checkpoint.command("show")
@BENCH
@click.argument("checkpoint_id")
@pass_door
def checkpoint_show(door: Door, bench: str, checkpoint_id: str) -> None:
    """Show one checkpoint."""
    found = _ask(door, "CheckpointGet", bench, checkpoint_id=checkpoint_id)
    door.show(found, lambda v: table([(k, str(x)) for k, x in v.items()], ("checkpoint", "")))


@checkpoint.command("compare")
@BENCH
@click.argument("checkpoint_id")
@click.argument("other_id", required=False)
@pass_door
def checkpoint_compare(door: Door, bench: str, checkpoint_id: str, other_id: str | None) -> None:
    """Compare a checkpoint with another, or with Published."""
    request = {"checkpoint_id": checkpoint_id, **({"other_id": other_id} if other_id else {})}
    found = _ask(door, "CheckpointCompare", bench, limit=5000, **request)
    door.show(found, lambda value: _changed(value["entries"]))


@checkpoint.command("pin")
@BENCH
@click.argument("checkpoint_id")
@click.option("--off", is_flag=True, help="Let it be pruned again.")
@pass_door
def checkpoint_pin(door: Door, bench: str, checkpoint_id: str, off: bool) -> None:
    """Keep a checkpoint for good."""
    done = _ask(door, "CheckpointPin", bench, checkpoint_id=checkpoint_id, pinned=not off)
    door.show(done, lambda _: "unpinned" if off else "pinned")


@checkpoint.command("restore")
@BENCH
@click.argument("checkpoint_id")
@click.option("--dry-run", is_flag=True, help="Only say what would change.")
@pass_door
def checkpoint_restore(door: Door, bench: str, checkpoint_id: str, dry_run: bool) -> None:
    """Bring a checkpoint back; what is there now is kept as another one."""
    done = _ask(door, "CheckpointRestore", bench, checkpoint_id=checkpoint_id, dry_run=dry_run)
    door.show(done, lambda value: "\n".join([_changed(v := value["changed"]), *proof_lines(v)]))


def _ask(door: Door, name: str, bench: str, **request: Any) -> Any:
    """Run a command about checkpoints, each given by its id or by a unique beginning of it."""
    with door.shop() as shop:
        bench_id = bench_of(shop, bench)
        page = shop.call("CheckpointsList", {"workbench_id": bench_id, "limit": 1000})
        for key in {"checkpoint_id", "other_id"} & request.keys():
            request[key] = _named(request[key], page["checkpoints"])
        return shop.call(name, {"workbench_id": bench_id, **request})


def _named(text: str, known: list[dict[str, Any]]) -> str:
    found = [one for one in known if one["checkpoint_id"].startswith(text)]
    if len(found) == 1 and text:
        return str(found[0]["checkpoint_id"])
    hints = tuple(f"{one['checkpoint_id']} ({one['description']})" for one in (found or known)[:5])
    if found and text:
        raise ValidationFailed(
            f"{text!r} could be {len(found)} checkpoints", reason="ambiguous", hints=hints
        )
    raise NotFound(f"there is no checkpoint {text!r} here", reason="not_found", hints=hints)


def _changed(found: list[dict[str, Any]]) -> str:
    if not found:
        return "nothing differs"
    return "\n".join(changed_lines(found))
