"""Commands that keep running: `backshop serve`, `mcp`, `rpc` and `worker`."""

from __future__ import annotations

import gc
import os
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from .door import Door, DoorCommand, is_terminal, pass_door

if TYPE_CHECKING:
    from backshop.app import Backshop, Config


WEB_PORT = 8421


@click.command(cls=DoorCommand)
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=WEB_PORT,
    show_default=True,
    help="Port to listen on; 0 takes a free one.",
)
@click.option("--no-browser", is_flag=True, help="Print the login link and open nothing.")
@click.option(
    "--link",
    is_flag=True,
    help="Print one more login link for the server that runs already, and exit.",
)
@click.pass_context
@pass_door
def serve(
    door: Door, ctx: click.Context, host: str, port: int, no_browser: bool, link: bool
) -> None:
    """Run the web app and print the link that lets a browser in, once."""
    if link:
        door.require_home()
    with door.shop(door="cli" if link else "web") as shop:
        if link:
            is_said = ctx.get_parameter_source("port") is not ParameterSource.DEFAULT
            _further_link(door, shop, host, port if is_said else None)
        else:
            run_web(shop, host=host, port=port, browser=not no_browser)


def _further_link(door: Door, shop: Backshop, host: str, port: int | None) -> None:
    """Print a link for one more browser; where what is printed is kept, where it is (S7.2)."""
    from backshop.web import further_link  # loaded when needed (S2.4)

    made = further_link(shop, host=host, port=port)
    if is_kept(shop.config):
        told = written_secret(shop.config.home, "login.link", made)
        door.show({"path": str(told)}, lambda value: f"the link is in {value['path']}")
    else:
        door.show({"link": made}, lambda value: str(value["link"]))


def run_web(shop: Backshop, *, host: str, port: int, browser: bool) -> None:
    """Serve the web app of an open shop until Ctrl-C."""
    from backshop.web import serve as serve_web

    def announce(address: str, link: str) -> None:
        click.echo(f"Backshop is at {address}", err=True)
        if is_kept(shop.config):
            told = written_secret(shop.config.home, "login.link", link)
            click.echo(f"The link to log in (once) is in {told}: this output is kept.", err=True)
        else:
            click.echo(f"Open this link to log in (once): {link}", err=True)
        if browser and is_terminal():
            import webbrowser

            webbrowser.open(link)

    try:
        serve_web(shop, host=host, port=port, announce=announce)
    except KeyboardInterrupt:  # the way to end it
        click.echo("Stopped.", err=True)


def is_kept(config: Config) -> bool:
    """Say whether others keep and read what is said here: a journal, or the log of a team.

    A link or a token that lets its reader in as the owner is not for them (S7.2).
    """
    from backshop.store import is_shared  # loaded by now (S2.4)

    if sys.stderr.isatty():
        return False
    found = os.fstat(2)
    is_journal = os.environ.get("JOURNAL_STREAM") == f"{found.st_dev}:{found.st_ino}"
    return is_journal or is_shared(config["database_url"])


def written_secret(home: Path, name: str, text: str) -> Path:
    """Put a text into a file that the home's owner alone can read, in place of an earlier one."""
    path = home / name
    handle, temp = tempfile.mkstemp(prefix=f".{name}-", dir=home)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(f"{text}\n")
    Path(temp).replace(path)
    return path


@click.command(cls=DoorCommand)
@click.option("--http", is_flag=True, help="Serve streamable HTTP on loopback instead of stdio.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8765,
    show_default=True,
    help="Port for --http; 0 takes a free one.",
)
@click.option("--bench", "bench_id", help="Also offer the file tools of this workbench.")
@click.option(
    "--tools", help="Tool sets to offer: rails, bench (default: rails, and bench if named)."
)
@pass_door
def mcp(door: Door, http: bool, port: int, bench_id: str | None, tools: str | None) -> None:
    """Serve the product's tools to an agent over the Model Context Protocol."""
    gc.disable()  # until the tools are loaded: of what loading makes nothing is garbage (S6.23)
    from backshop.mcp import TOKEN_FILE, Toolbox, serve_http, serve_stdio

    sets = tuple(tools.split(",")) if tools else ("rails", *(("bench",) if bench_id else ()))
    offering = Toolbox(door.home, tool_sets=sets, bench_id=bench_id)
    if not http:
        if not serve_stdio(offering, partial(_tell, door)):
            raise click.exceptions.Exit(1)
        return
    gc.enable()

    def announce(address: str, token: str) -> None:
        click.echo(f"MCP server: {address}", err=True)
        if is_kept(config):
            kept = config.home / TOKEN_FILE
            click.echo(f"The owner's token is in {kept}: this output is kept.", err=True)
        else:
            click.echo(f"Authorization: Bearer {token}", err=True)

    config = door.config()
    serve_http(
        offering,
        config.home,
        port=port,
        announce=announce,
        public_url=config["web.public_url"],
        trusted_proxies=config["web.trusted_proxies"],
    )


def _tell(door: Door, error: Exception) -> None:
    """Say on standard error why there are no tools: standard output is the client's (S6.22)."""
    door.report(error, Door(home=door.home))


@click.command(cls=DoorCommand)
@click.option(
    "--turns",
    type=click.IntRange(1, 64),
    default=4,
    show_default=True,
    help="Turns to work on at once.",
)
@click.option(
    "--grace",
    type=click.FloatRange(0, 3600),
    default=20.0,
    show_default=True,
    help="Seconds its turns get when it is told to stop; then another worker goes on with them.",
)
@pass_door
def worker(door: Door, turns: int, grace: float) -> None:
    """Work on turns that servers with `BACKSHOP_WORKERS=external` hand over.

    Any number of workers share one PostgreSQL database. A turn whose worker dies is gone on with
    by another one, from where it stood.
    """
    with door.shop(settings={"team.workers": "inside"}, door="worker") as shop:
        shop.work(
            turns=turns,
            grace_s=grace,
            ready=lambda: click.echo("The worker is ready.", err=True),
        )


@click.command(cls=DoorCommand)
@click.option(
    "--events",
    is_flag=True,
    help="Tell every event as a notification from the start, without rpc.subscribe.",
)
@pass_door
def rpc(door: Door, events: bool) -> None:
    """Answer JSON-RPC 2.0 on standard input, one request a line; `rpc.discover` lists all.

    `rpc.subscribe` lets events come in between as notifications.
    """
    import json
    import sys

    from backshop import __version__
    from backshop.app import RpcLine, running

    def write(document: object) -> None:
        click.echo(json.dumps(document))  # ASCII, whatever the locale writes
        sys.stdout.flush()

    with door.shop(door="rpc") as shop, running(shop.config, "rpc"):
        client = RpcLine(shop, __version__, write)
        if events:
            client.subscribe()
        try:
            for line in sys.stdin.buffer:
                if line.strip():
                    client.take(line)
        finally:
            client.close()
