"""`backshop search`: workbenches and files by name, messages by what they say (W27.10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..door import Door, DoorCommand, pass_door, table

if TYPE_CHECKING:
    from backshop.workshop.answers import SearchHits


@click.command(cls=DoorCommand)
@click.argument("words", nargs=-1, required=True)
@click.option(
    "--limit",
    type=click.IntRange(1, 100),
    default=30,
    show_default=True,
    help="How many of each to show.",
)
@pass_door
def search(door: Door, words: tuple[str, ...], limit: int) -> None:
    """Find workbenches and files by name, messages by what they say; all WORDS must be there."""
    from backshop.workshop import Workshop, requests  # loaded when needed (S2.4)

    door.ask(Workshop.search, requests.Search(query=" ".join(words), limit=limit), _found)


def _found(found: SearchHits) -> str:
    rows = [
        *(("workbench", one.name, one.workbench_id, "") for one in found.workbenches),
        *(("file", one.bench_name, one.workbench_id, one.path) for one in found.files),
        *(
            (one.role, one.bench_name, one.workbench_id, f"{one.created_at[:10]}  {one.excerpt}")
            for one in found.messages
        ),
    ]
    lines = [table(rows, ("what", "workbench", "id", "")) if rows else "nothing has these words"]
    if not found.is_whole:
        lines.append("not everything was looked through, or there is more: --limit, or more words")
    if found.not_read:
        lines.append(f"{found.not_read} workbench(es) cannot be read")
    return "\n".join(lines)
