"""`backshop demo`: the web app on a workbench of sample files, with the offline model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from backshop.base.codec import encode

from .door import Door, DoorCommand, pass_door
from .serve import WEB_PORT, run_web

if TYPE_CHECKING:
    from backshop.app import Backshop
    from backshop.bench.answers import SampleCreated
    from backshop.models.requests import Suggestion

MODEL = "scripted:demo"


@click.command(cls=DoorCommand)
@click.option("--setup-only", is_flag=True, help="Make the sample workbench and stop.")
@click.option("--fresh", is_flag=True, help="Make another sample workbench beside those there are.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=WEB_PORT,
    show_default=True,
    help="Port to listen on; 0 takes a free one.",
)
@click.option("--no-browser", is_flag=True, help="Print the login link and open nothing.")
@pass_door
def demo(door: Door, setup_only: bool, fresh: bool, host: str, port: int, no_browser: bool) -> None:
    """Run the web app with a workbench of sample files and a model that needs no network.

    The workbench is kept; one that is there already stays as it is.
    """
    with door.shop() as shop:
        made, tasks = set_up(shop, fresh=fresh)
    told = _told(made, tasks)
    if setup_only:
        offered = {"model_id": MODEL, "tasks": [encode(one) for one in tasks]}
        door.show(encode(made) | offered, lambda _: told)
        return
    click.echo(told, err=True)
    with door.shop(door="web") as shop:
        run_web(shop, host=host, port=port, browser=not no_browser)


def set_up(shop: Backshop, *, fresh: bool) -> tuple[SampleCreated, tuple[Suggestion, ...]]:
    """Return the sample workbench, made on first use or afresh, and what can be done with it."""
    from backshop.bench import Bench, requests  # loaded when needed (S2.4)
    from backshop.models import ModelRequestById, Models

    made = shop.ask(Bench.create_sample, requests.WorkbenchCreateSample(reuse=not fresh))
    if made.created:
        shop.workshop(made.workbench_id).use_model(MODEL)
    able = shop.ask(Models.capabilities, ModelRequestById(model_id=MODEL))
    return made, tuple(one for one in able.suggestions if one.follows is None)


def _told(made: SampleCreated, offered: tuple[Suggestion, ...]) -> str:
    done = "is ready" if made.created else "was there already"
    tasks = "\n".join(f"  - {task.prompt}" for task in offered)
    return (
        f"{made.name} {done} ({made.workbench_id}).\n"
        f"Its model, {MODEL}, is a script: it uses real tools and needs no key. Ask it\n"
        f"{tasks}"
    )
