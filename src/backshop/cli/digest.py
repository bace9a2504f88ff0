"""The digest of a workbench in the terminal: what prompts say about its files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from .bench import BENCH, ask
from .door import Door, DoorGroup, clean_lines, pass_door, read_text


@click.group(cls=DoorGroup)
def digest() -> None:
    """What prompts say about the files of a workbench, without anybody reading them again."""


@digest.command("show")
@BENCH
@pass_door
def digest_show(door: Door, bench: str) -> None:
    """Show the digest, where it comes from, and whether files have changed since."""
    door.show(ask(door, "DigestGet", bench), _shown)


@digest.command("refresh")
@BENCH
@click.option(
    "--model", is_flag=True, help="Let the model write it; what it reads leaves the machine."
)
@click.option(
    "--scope",
    type=click.Choice(["session", "global"]),
    default="session",
    help="Keep it with the conversation, or pinned for the workbench as well.",
)
@click.option("--focus", help="What the model should look at above all.")
@pass_door
def digest_refresh(door: Door, bench: str, model: bool, scope: str, focus: str | None) -> None:
    """Write the digest anew, from the files alone or with the model."""
    wish: dict[str, Any] = {"mode": "model" if model else "builder", "scope": scope}
    if focus is not None:
        wish["focus"] = focus
    door.show(ask(door, "DigestRefresh", bench, **wish), lambda value: clean_lines(value["digest"]))


@digest.command("set")
@BENCH
@click.argument("source", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--pin", is_flag=True, help="Keep it whatever happens to files and conversation.")
@pass_door
def digest_set(door: Door, bench: str, source: Path, pin: bool) -> None:
    """Write the digest by hand: SOURCE is a text file."""
    done = ask(door, "DigestSet", bench, body=read_text(source), pin=pin)
    door.show(done, lambda _: "pinned" if pin else "written")


@digest.command("clear")
@BENCH
@pass_door
def digest_clear(door: Door, bench: str) -> None:
    """Forget the digest, the pinned one too."""
    door.show(ask(door, "DigestClear", bench), lambda _: "cleared")


def _shown(value: dict[str, Any]) -> str:
    if value["source"] == "none":
        return "There is no digest yet; one is written before the next turn."
    by = value.get("digest_source") or "unknown"
    lines = [f"Written by: {by} ({value['source']})"]
    if value["stale"]:
        counts = ", ".join(f"{name} {value[name]}" for name in ("added", "removed", "changed"))
        lines.append(f"Files have changed since: {counts}")
    return "\n".join((*lines, "", clean_lines(value["body"])))
