"""What the room of files needs to know of the settings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .config import Config

if TYPE_CHECKING:
    from backshop.formats import Formats


def open_formats(config: Config, cache: Path, *, workers: int = 2) -> Formats:
    """Return what reads and writes files, under the limits a person set."""
    from backshop.formats import Formats, Limits  # loaded on first use

    limits = Limits(
        max_file_bytes=config["formats.max_file_bytes"],
        max_text_bytes=config["formats.max_text_bytes"],
    )
    renderer = config["formats.renderer_path"]
    return Formats(cache=cache, limits=limits, workers=workers, renderer=renderer)
