"""People who share a home: `backshop user …` and `backshop bench share` (T6.4)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import click

from backshop.base.codec import encode
from backshop.base.command import Nothing
from backshop.base.errors import NotFound, ValidationFailed

from .bench import BENCH
from .door import Door, DoorCommand, DoorGroup, clean, pass_door, table
from .serve import WEB_PORT

if TYPE_CHECKING:
    from backshop.app import Backshop, sharing

TEAM_FILE = Path("/etc/backshop/backshop.env")  # where `deploy/` keeps the settings of a team


@click.group(cls=DoorGroup)
def user() -> None:
    """Let people in, list them, and let them go."""


@user.command()
@click.argument("name")
@pass_door
def add(door: Door, name: str) -> None:
    """Let somebody in; prints a personal token, once."""
    from backshop.app import People, sharing  # loaded when needed (S2.4)

    with people_of(door) as shop:
        database = shop.config.values["database_url"].shown
        where = f"the home {shop.config.home}" if database is None else database

        def human(made: sharing.UserMade) -> str:
            return (
                f"{name} is {made.user_id} in {where}\n"
                f"token: {made.token}\n"
                "Give it to them now: it is not kept and cannot be shown again."
            )

        door.show(shop.ask(People.user_add, sharing.UserAdd(name=name)), human)


@user.command("list")
@pass_door
def list_(door: Door) -> None:
    """List the people who have a token."""

    from backshop.app import People  # loaded when needed (S2.4)

    def human(found: sharing.Users) -> str:
        rows = [(one.user_id, one.name, one.added_at) for one in found.users]
        return table(rows, ("user", "name", "since")) if rows else "nobody but you"

    with people_of(door) as shop:
        door.show(shop.ask(People.user_list, Nothing()), human)


@user.command()
@click.argument("user_id", metavar="USER")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_door
def remove(door: Door, user_id: str, yes: bool) -> None:
    """End the token and the rights of USER (an id or a name); what they made stays."""
    from backshop.app import People, sharing  # loaded when needed (S2.4)

    with people_of(door) as shop:
        found = resolved(shop, user_id)
        if not yes:
            door.confirm(f"End the access of {user_id}?", "ending somebody's access")
        gone = shop.ask(People.user_remove, sharing.UserRemove(user_id=found))
        door.show(gone, lambda _: f"{user_id} is gone")


@user.command()
@click.argument("name")
@click.option("--bench", help="A workbench that they may use.")
@click.option("--role", type=click.Choice(["read", "write", "publish"]), help="What they may do.")
@pass_door
def invite(door: Door, name: str, bench: str | None, role: str | None) -> None:
    """Make a link that lets NAME in, once, within 7 days; it is printed once."""
    from backshop.app import People, UserInvite, web_address  # loaded when needed (S2.4)

    if (bench is None) is not (role is None):
        raise click.UsageError("--bench and --role go together")
    with people_of(door) as shop:
        bench_id = None if bench is None else shop.bench_id(bench)
        made = shop.ask(People.invite, UserInvite(name=name, workbench_id=bench_id, role=role))
        near = web_address(shop.config) or f"http://127.0.0.1:{WEB_PORT}"
        site = str(shop.config["web.public_url"] or near).rstrip("/")
        link = f"{site}/join?token={made.token}"
        door.show(
            {**encode(made), "link": link},
            lambda _: (
                f"{link}\n{made.invite_id} is good until {made.expires_at}\n"
                f"Give the link to {clean(name)} now: it is not kept and cannot be shown again. The"
                " web app has to run under that address (`backshop serve`)."
            ),
        )


@user.command()
@pass_door
def invites(door: Door) -> None:
    """List the invitations that nobody has taken up."""
    from backshop.app import People  # loaded when needed (S2.4)

    with people_of(door) as shop:
        found = shop.ask(People.invite_list, Nothing())
        rows = [
            (one.invite_id, one.name, one.expires_at, one.role or "", one.workbench_id or "")
            for one in found.invites
        ]
        names = ("invitation", "name", "good until", "role", "workbench")
        door.show(found, lambda _: table(rows, names) if rows else "no invitation waits")


@user.command()
@click.argument("invite_id", metavar="INVITATION")
@pass_door
def withdraw(door: Door, invite_id: str) -> None:
    """Make the link of INVITATION (its id, or the name it is for) worth nothing."""
    from backshop.app import People, UserInviteWithdraw  # loaded when needed (S2.4)

    with people_of(door) as shop:
        waiting = shop.ask(People.invite_list, Nothing()).invites
        named = [one.invite_id for one in waiting if one.name == invite_id]
        if not named and not invite_id.startswith("inv_"):
            raise NotFound(f"nobody called {invite_id!r} is invited", reason="not_found")
        wish = UserInviteWithdraw(invite_id=named[0] if named else invite_id)
        gone = shop.ask(People.invite_withdraw, wish)
        door.show(gone, lambda _: "withdrawn; its link lets nobody in")


@user.command()
@click.argument("user_id", metavar="USER", required=False)
@pass_door
def logout(door: Door, user_id: str | None) -> None:
    """Log USER (an id or a name; without one yourself) out in every browser."""
    from backshop.app import People, sharing  # loaded when needed (S2.4)

    with door.shop() as shop:
        whom = None if user_id is None else resolved(shop, user_id)
        who = "you are" if user_id is None else f"{user_id} is"
        done = shop.ask(People.user_logout, sharing.UserLogout(user_id=whom))
        door.show(done, lambda _: f"{who} logged out everywhere")


@click.command(cls=DoorCommand)
@BENCH
@click.argument("user_id", metavar="USER", required=False)
@click.argument("role", type=click.Choice(["read", "write", "publish", "none"]), required=False)
@pass_door
def share(door: Door, bench: str, user_id: str | None, role: str | None) -> None:
    """Say what USER may do with BENCH; without USER list who may do what."""
    from backshop.app import People, Role, sharing  # loaded when needed (S2.4)

    with people_of(door) as shop:
        bench_id = shop.bench_id(bench)
        if user_id is None:
            door.show(
                shop.ask(People.access_list, sharing.AccessList(workbench_id=bench_id)), _grants
            )
            return
        if role is None:
            raise click.UsageError("say read, write, publish or none")
        wish = sharing.AccessSet(
            workbench_id=bench_id, user_id=resolved(shop, user_id), role=Role(role)
        )
        door.show(shop.ask(People.access_set, wish), lambda _: f"{user_id}: {role}")


@contextmanager
def people_of(door: Door) -> Iterator[Backshop]:
    """Open the home whose people are meant.

    Where a team's settings lie and were not read, that would be a private home nobody shares.
    """
    config = door.config()
    is_chosen = door.home is not None or "BACKSHOP_HOME" in os.environ
    if config["database_url"] is None and not is_chosen and _is_there(TEAM_FILE):
        raise ValidationFailed(
            f"this machine serves the team of {TEAM_FILE}, and this command did not get its"
            f" settings: it would be about {config.home} alone",
            reason="not_the_team",
            hints=(
                "run it with the team's settings: deploy/backshop-team user …",
                f"or say --home {config.home}",
            ),
        )
    with door.shop() as shop:
        yield shop


def _is_there(path: Path) -> bool:
    """Say whether there is such a file, as far as we may look."""
    try:
        return path.exists()
    except OSError:  # its folder is closed to us, so there is one
        return True


def _grants(found: sharing.AccessGrants) -> str:
    rows = [
        (
            *(one.name, one.role.value, "owner" if one.owner else ""),
            *(one.given_by or "", one.user_id),
        )
        for one in found.access
    ]
    names = ("name", "role", "", "given by", "user")
    return table(rows, names) if rows else "nobody but the home's owner"


def resolved(shop: Backshop, text: str) -> str:
    """Return the id of a person named by id or name.

    Raises:
        NotFound: nobody is; the hints name who comes near.
    """
    from backshop.app import People  # loaded when needed (S2.4)

    known = shop.ask(People.user_list, Nothing()).users
    for one in known:
        if text in (one.user_id, one.name):
            return one.user_id
    near = tuple(get_close_matches(text, [one.name for one in known], n=3))
    hints = near or ("`backshop user list` names everybody",)
    raise NotFound(f"there is no person {text!r}", reason="not_found", hints=hints)
