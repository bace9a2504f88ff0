"""Backups made from the page: one now, those there are, each as one file to keep elsewhere (U5.54).

They lie in `backups` of the home, each a folder that `backshop restore` takes (T5.4).
"""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from starlette.responses import Response, StreamingResponse

from backshop.base.ambient import timestamp
from backshop.base.errors import NotFound, ValidationFailed
from backshop.base.limits import MIB

from ..files import archived, attachment
from .folder_size import folder_bytes
from .kit import Redirect, Visit, require_owner, route

FOLDER = "backups"
PLACE = "/settings/advanced"
_NAME = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """A backup as the page lists it."""

    name: str
    written_at: str | None
    size_bytes: int
    left_out: int
    """Contents that could not be had when it was made."""


def listed(home: Path) -> list[Backup]:
    """Return the backups of a home, the newest first."""
    folder = home / FOLDER
    found = (
        [one for one in folder.iterdir() if _NAME.fullmatch(one.name)] if folder.is_dir() else []
    )
    return [_read(one) for one in sorted(found, reverse=True)]


def _read(folder: Path) -> Backup:
    try:
        about = json.loads((folder / "backup.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):  # somebody else's folder: it is shown, and `restore` refuses it
        about = {}
    return Backup(
        name=folder.name,
        written_at=about.get("written_at"),
        size_bytes=folder_bytes(folder),
        left_out=len(about.get("left_out", ())),
    )


def make(visit: Visit) -> Redirect:
    """Make a backup now; the product goes on meanwhile."""
    require_owner(visit)
    home = visit.shop.config.home
    name = timestamp(visit.shop.clock.now_ms())[:19].replace(":", "-") + "Z"
    if (home / FOLDER / name).exists():
        raise ValidationFailed("a backup was made in this very second", reason="target_exists")
    (home / FOLDER).mkdir(mode=0o700, exist_ok=True)
    visit.call("StoreBackup", path=str(home / FOLDER / name))
    return Redirect(f"{PLACE}?made={name}#backups")


def remove(visit: Visit) -> Redirect:
    """Remove a backup for good."""
    require_owner(visit)
    shutil.rmtree(_found(visit))
    return Redirect(f"{PLACE}#backups")


def download(visit: Visit) -> Response:
    """Send a backup as one archive, made while it is sent."""
    require_owner(visit)
    folder = _found(visit)
    headers = attachment(f"backshop-backup-{folder.name}.zip")
    return StreamingResponse(_zipped(folder), media_type="application/zip", headers=headers)


def _found(visit: Visit) -> Path:
    name = visit.params["name"]
    folder = visit.shop.config.home / FOLDER / name
    if _NAME.fullmatch(name) is None or not folder.is_dir():
        raise NotFound("there is no such backup", reason="not_found")
    return folder


class _Sink:
    """Takes what an archive writes until it is sent: nothing of it is ever kept whole."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: bytes) -> int:
        """Take a piece."""
        self._pieces.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """There is nothing behind it."""

    def close(self) -> None:
        """There is nothing to let go of."""

    def drained(self) -> bytes:
        """Return what came since the last time."""
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)


def _zipped(folder: Path) -> Iterator[bytes]:
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for path in sorted(one for one in folder.rglob("*") if one.is_file()):
            name = f"{folder.name}/{path.relative_to(folder).as_posix()}"
            about = archived(name, path.stat().st_mtime)
            with path.open("rb") as source, archive.open(about, "w", force_zip64=True) as target:
                while piece := source.read(MIB):
                    target.write(piece)
                    yield sink.drained()
            yield sink.drained()
    yield sink.drained()


ROUTES = (
    route("/settings/backups", make, "POST"),
    route("/settings/backups/{name}", download),
    route("/settings/backups/{name}/remove", remove, "POST"),
)
