"""The worker's side of an open table: turns plain arguments into a cache and a region."""

from __future__ import annotations

from pathlib import Path

from . import tables
from .protocol import Source


def run(
    function: str, source: Source, folder: Path, region: dict[str, object], **arguments: object
) -> object:
    """Call one of the table tools of `tables` on the table of a file."""
    update = arguments.pop("update", None)
    if isinstance(update, dict):  # plain values cross the border; their type is ours to give
        arguments["request"] = tables.Update(**update)
    cache = tables.Cache(folder)
    place = tables.Region(**region)  # type: ignore[arg-type]  # the handle's own fields
    return getattr(tables, function)(source, cache, place, **arguments)
