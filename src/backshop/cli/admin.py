"""Looking after a home: settings, doctor, collection, backup and restore, and any command."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from backshop.base.canon import parse
from backshop.base.errors import BackshopError

from .door import Door, DoorCommand, DoorGroup, clean, pass_door, table

if TYPE_CHECKING:
    from backshop.store import Copied, Moved


@click.group(cls=DoorGroup)
def config() -> None:
    """Show or change settings."""


@config.command()
@pass_door
def show(door: Door) -> None:
    """Print every setting in force and where its value comes from."""
    settings = door.config()
    rows = [
        {"name": e.setting.name, "value": _jsonable(e.shown), "source": e.source}
        for e in settings.values.values()
    ]
    home = {"name": "home", "value": str(settings.home), "source": settings.home_source}
    door.show(
        [home, *rows],
        lambda all_rows: table(
            [(row["name"], row["source"], _plain(row["value"])) for row in all_rows],
            ("setting", "source", "value"),
        ),
    )


@config.command("set")
@click.argument("name")
@click.argument("value")
@pass_door
def set_(door: Door, name: str, value: str) -> None:
    """Set NAME in settings.json; VALUE is JSON or plain text, `null` removes the setting."""
    from backshop.app import save

    try:
        parsed: Any = parse(value)
    except BackshopError:
        parsed = value
    home = door.config().home
    kept = save(home, name, parsed)
    door.show({"name": name, "value": kept}, lambda _: f"{name} is set")


@click.command(cls=DoorCommand)
@click.option("--full", is_flag=True, help="Read and rehash every stored content too.")
@click.option("--repair", is_flag=True, help="First put right what needs no guessing.")
@click.option(
    "--accept-database",
    is_flag=True,
    help="Go on with a database that is missing, empty or older than what was stored here.",
)
@pass_door
def doctor(door: Door, full: bool, repair: bool, accept_database: bool) -> None:
    """Look for damage and for what is missing; without --repair nothing is changed.

    The database examines itself, every chain of events is checked, and every content is looked for.
    """
    from backshop.app import examine
    from backshop.store import Findings

    found = examine(door.home, full=full or repair, repair=repair, accept_database=accept_database)
    signs = {"ok": "ok", "note": "note", "problem": "PROBLEM"}
    rows = [(signs[one.level], one.subject, one.message) for one in found]
    door.show(Findings(findings=found), lambda _: table(rows, ("", "what", "finding")))
    if any(one.level == "problem" for one in found):
        raise click.exceptions.Exit(1)


@click.command(cls=DoorCommand)
@click.option("--apply", is_flag=True, help="Really remove; without it only count.")
@pass_door
def gc(door: Door, apply: bool) -> None:
    """Remove sessions nobody used for long, and stored contents that nothing needs."""

    def human(swept: dict[str, Any]) -> str:
        if swept.get("refused"):
            return f"nothing removed: {swept['refused']}"
        verb = "removed" if swept["applied"] else "would remove (use --apply)"
        return (
            f"{verb}: {len(swept['sessions'])} sessions, {swept['blobs']} contents,"
            f" {swept['bytes']} bytes"
        )

    with door.shop() as shop:
        expired = shop.call("RailsSessionsExpire", {"apply": apply})["sessions"]
        swept = shop.call("StoreGc", {"apply": apply})
    door.show({**swept, "sessions": expired}, human)


@click.command(cls=DoorCommand)
@click.argument("path", type=click.Path(path_type=Path))
@pass_door
def backup(door: Door, path: Path) -> None:
    """Write a consistent copy of the home to PATH; the product may go on running."""
    from backshop.store import StoreBackup, back_up

    with door.shop() as shop:
        target = path.expanduser().absolute()
        done = shop.ask(back_up, StoreBackup(path=str(target)))
    checked = "its database was examined, and each content hashed as it was copied"
    door.show(
        done, lambda value: f"{_copied(value)}\nthe backup is in {clean(str(target))}: {checked}"
    )
    _end_if_left_out(done)


@click.command(cls=DoorCommand)
@click.argument("path", type=click.Path(path_type=Path))
@pass_door
def restore(door: Door, path: Path) -> None:
    """Make a home from the backup at PATH; the home must be empty."""
    from backshop.app import load
    from backshop.store import restore_backup

    settings = load(home=door.home)
    done = restore_backup(
        path,
        settings.home,
        database_url=settings["database_url"],
        blobs_url=settings["blobs_url"],
    )
    home = clean(str(settings.home))
    door.show(
        done, lambda value: f"{_copied(value)}\nthe home is in {home}: every chain was checked"
    )
    _end_if_left_out(done)


@click.command(cls=DoorCommand)
@click.option(
    "--to",
    "targets",
    multiple=True,
    required=True,
    metavar="URL",
    help="postgresql://… or sqlite:///path for events, s3://bucket/prefix or file:///path for"
    " contents; once for each.",
)
@pass_door
def migrate_store(door: Door, targets: tuple[str, ...]) -> None:
    """Copy events or contents to another place; this one stays as it is.

    Stop everything that writes to the home first: what it writes later is not copied.
    """
    from backshop.store import Store, move_store

    database_url, blobs_url = _places(targets)
    settings = door.config()
    with Store.open(
        settings.home, database_url=settings["database_url"], blobs_url=settings["blobs_url"]
    ) as store:
        done = move_store(store, database_url=database_url, blobs_url=blobs_url)

    names = {"BACKSHOP_DATABASE_URL": database_url, "BACKSHOP_BLOBS_URL": blobs_url}

    def human(value: Moved) -> str:
        return "\n".join(
            [
                f"copied and checked: {_counted(value)}",
                "This home still works with the old place, where nothing was changed. To go on with"
                " the copy, start every process with",
                *(f"  {name}={_masked(url)}" for name, url in names.items() if url),
                f"What is written to the old place from now on (after event {value.last_seq}) is"
                " not in the copy.",
            ]
        )

    door.show(done, human)


def _masked(url: str) -> str:
    """Return an address without the password in it."""
    return re.sub(r"(?<=://)([^/@:]*):[^/@]*@", r"\1:***@", url)


def _places(targets: tuple[str, ...]) -> tuple[str | None, str | None]:
    """Tell URLs of databases from those of contents."""
    kinds = {"postgresql": 0, "postgres": 0, "sqlite": 0, "s3": 1, "file": 1}
    found: list[str | None] = [None, None]
    for url in targets:
        place = kinds.get(url.partition(":")[0])
        if place is None:
            raise click.UsageError(f"{click.format_filename(url)}: not a place for a store")
        if found[place] is not None:
            raise click.UsageError("two places for the same thing")
        found[place] = url
    return found[0], found[1]


@click.command(cls=DoorCommand)
@click.argument("name")
@click.argument("request", default="{}")
@pass_door
def call(door: Door, name: str, request: str) -> None:
    """Run the command NAME with the JSON object REQUEST."""
    import json

    door.call(name, parse(request), lambda v: json.dumps(v, ensure_ascii=False, indent=2))  # type: ignore[arg-type]  # the codec refuses what is not an object


def _counted(done: Copied | Moved) -> str:
    return (
        f"{done.streams} streams with {done.events} events, "
        f"{done.blobs} contents in files of {done.bytes} bytes (small ones are in the database)"
    )


def _copied(done: Copied) -> str:
    lines = [_counted(done)]
    if done.left_out:
        lines.append(f"LEFT OUT, because they cannot be had here: {len(done.left_out)} contents")
    for one in done.left_out:
        by = ", ".join(map(clean, one.needed_by)) or "nothing that is named"
        lines.append(f"  {one.sha256}: {one.reason}; needed by {by}")
    return "\n".join(lines)


def _end_if_left_out(done: Copied) -> None:
    """Say with the exit code that not everything was copied."""
    if done.left_out:
        raise click.exceptions.Exit(1)


def _jsonable(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _plain(value: Any) -> str:
    """Return a value as `config set` takes it."""
    if value is None:
        return "(not set)"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
