"""What the room of files needs to know of the settings, and when to forget."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backshop.base.command import Command
from backshop.base.ids import BlobId
from backshop.store import Store, Swept

from ..settings.resolution import Config

if TYPE_CHECKING:
    from backshop.formats import Formats


def open_formats(config: Config, cache: Path | None, *, workers: int = 2) -> Formats:
    """Return what reads and writes files, under the limits a person set.

    Without a place for its cache it keeps what it computes for as long as it is open.
    """
    from backshop.formats import Formats, Limits  # loaded on first use

    limits = replace(
        Limits.for_files(config["formats.max_file_bytes"]),
        max_text_bytes=config["formats.max_text_bytes"],
        preview_cache_bytes=config["formats.preview_cache_bytes"],
    )
    renderer = config["formats.renderer_path"]
    return Formats(cache=cache, limits=limits, workers=workers, renderer=renderer)


def forgetting(
    commands: tuple[Command[Any, Any, Any], ...], cache: Path
) -> tuple[Command[Any, Any, Any], ...]:
    """Let the collection of contents take along what was computed from them (F25.8)."""

    def with_caches(command: Command[Any, Any, Any]) -> Command[Any, Any, Any]:
        def run(store: Store, request: object) -> Swept:
            swept: Swept = command.run(store, request)
            if swept.applied:
                from backshop.formats import forget  # loaded on first use

                forget(cache, lambda sha256: store.blobs.has(BlobId(sha256)))
            return swept

        return replace(command, run=run) if command.name == "StoreGc" else command

    return tuple(map(with_caches, commands))
