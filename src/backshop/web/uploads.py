"""Files on their way into a bench: gathered outside the home until all of an add is there.

A folder of thousands of files comes in many requests, so that its progress can be shown and it can
be stopped; it is added in one (B6.9), or not at all.
"""

from __future__ import annotations

import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from backshop.base import paths
from backshop.base.ambient import Clock
from backshop.base.errors import AccessDenied, LimitExceeded, ValidationFailed
from backshop.base.ids import UserId
from backshop.base.limits import MIB

PIECE_BYTES = MIB
PARCELS_MAX = 32
PARCEL_S = 3600.0  # a parcel nobody goes on with is thrown away after this


@dataclass(slots=True)
class Parcel:
    """Files of one add on their way here; a large one comes in several requests."""

    folder: tempfile.TemporaryDirectory[str]
    bench_id: str
    user: UserId | None
    used_at: float
    sources: set[str] = field(default_factory=set)
    refused: list[dict[str, str]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def lay_down(self, stream: IO[bytes], name: str, limit_bytes: int) -> None:
        """Put a file beside the others, at most one byte more than may be added."""
        try:
            path = paths.bench_path(name)
        except ValidationFailed as error:
            said = {"source_path": name, "status": "failed", "reason": "invalid_path"}
            self.refused.append({**said, "detail": error.message})
            return
        target = Path(self.folder.name) / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            _copy(stream, target, limit_bytes + 1)
        except FileExistsError:  # twice in one request, or a folder of that name
            self.refused.append({"source_path": name, "status": "failed", "reason": "duplicate"})
            return
        self.sources.add(str(Path(self.folder.name) / path.partition("/")[0]))


class Uploads:
    """Parcels that are not whole yet. Nothing of them is in a bench; what is left lying goes."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._parcels: dict[str, Parcel] = {}
        self._lock = threading.Lock()

    def parcel(self, key: str, bench_id: str, user: UserId | None) -> Parcel:
        """Return the parcel of that name, or a new one."""
        now = self._clock.monotonic()
        with self._lock:
            for name, one in list(self._parcels.items()):
                if now - one.used_at > PARCEL_S:
                    self._parcels.pop(name).folder.cleanup()
            found = self._parcels.get(key)
            if found is not None and (found.bench_id, found.user) != (bench_id, user):
                raise AccessDenied("this upload is somebody else's")
            if found is None:
                if key and len(self._parcels) >= PARCELS_MAX:
                    raise LimitExceeded("too many uploads at once", reason="too_many")
                folder = tempfile.TemporaryDirectory(prefix="backshop-upload-")
                found = Parcel(folder, bench_id, user, now)
                if key:
                    self._parcels[key] = found
            found.used_at = now
            return found

    def drop(self, key: str, parcel: Parcel) -> None:
        """Forget a parcel and what lies in it."""
        with self._lock:
            self._parcels.pop(key, None)
        parcel.folder.cleanup()


def _copy(stream: IO[bytes], target: Path, limit_bytes: int) -> None:
    left = limit_bytes
    with target.open("xb") as file:
        while left and (piece := stream.read(min(PIECE_BYTES, left))):
            file.write(piece)
            left -= len(piece)
