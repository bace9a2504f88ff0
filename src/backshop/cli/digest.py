"""The digest of a workbench in the terminal: what prompts say about its files."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from .bench import BENCH, ask
from .door import Door, DoorGroup, clean_lines, pass_door, read_text

if TYPE_CHECKING:
    from backshop.workshop import DigestShown


@click.group(cls=DoorGroup)
def digest() -> None:
    """What prompts say about the files of a workbench, without anybody reading them again."""


@digest.command("show")
@BENCH
@pass_door
def digest_show(door: Door, bench: str) -> None:
    """Show the digest, where it comes from, and whether files have changed since."""
    from backshop.workshop import Digests, requests  # loaded when needed (S2.4)

    door.show(ask(door, bench, Digests.get, requests.DigestGet), _shown)


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
def digest_refresh(
    door: Door, bench: str, model: bool, scope: Literal["session", "global"], focus: str | None
) -> None:
    """Write the digest anew, from the files alone or with the model."""
    from backshop.workshop import Digests, requests  # loaded when needed (S2.4)

    mode: Literal["model", "builder"] = "model" if model else "builder"
    wish = partial(requests.DigestRefresh, mode=mode, scope=scope, focus=focus)
    door.show(ask(door, bench, Digests.refresh, wish), lambda made: clean_lines(made.digest))


@digest.command("set")
@BENCH
@click.argument("source", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--pin", is_flag=True, help="Keep it whatever happens to files and conversation.")
@pass_door
def digest_set(door: Door, bench: str, source: Path, pin: bool) -> None:
    """Write the digest by hand: SOURCE is a text file."""
    from backshop.workshop import Digests, requests  # loaded when needed (S2.4)

    wish = partial(requests.DigestSet, body=read_text(source), pin=pin)
    door.show(ask(door, bench, Digests.set, wish), lambda _: "pinned" if pin else "written")


@digest.command("clear")
@BENCH
@pass_door
def digest_clear(door: Door, bench: str) -> None:
    """Forget the digest, the pinned one too."""
    from backshop.workshop import Digests, requests  # loaded when needed (S2.4)

    door.show(ask(door, bench, Digests.clear, requests.DigestGet), lambda _: "cleared")


def _shown(found: DigestShown) -> str:
    if found.source == "none":
        return "There is no digest yet; one is written before the next turn."
    lines = [f"Written by: {found.digest_source or 'unknown'} ({found.source})"]
    if found.stale:
        counts = f"added {found.added}, removed {found.removed}, changed {found.changed}"
        lines.append(f"Files have changed since: {counts}")
    return "\n".join((*lines, "", clean_lines(found.body)))
