"""Files of one add, laid side by side in a folder outside the home."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from backshop.base import paths
from backshop.base.errors import ValidationFailed
from backshop.base.limits import MIB
from backshop.bench import answers

PIECE_BYTES = MIB


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What became of the files of a request; `warnings` where something was added."""

    add_results: tuple[answers.AddResult, ...] = ()
    warnings: tuple[str, ...] | None = None


@dataclass(slots=True)
class Parcel:
    """What is added together; what cannot be is said in the answer."""

    folder: Path
    bench_id: str
    sources: set[str] = field(default_factory=set)
    refused: list[answers.AddResult] = field(default_factory=list)

    def lay_down(self, stream: IO[bytes], name: str, limit_bytes: int) -> None:
        """Put a file beside the others, at most one byte more than may be added."""
        try:
            path = paths.bench_path(name)
        except ValidationFailed as error:
            self._refuse(name, "invalid_path", error.message)
            return
        target = self.folder / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            _copy(stream, target, limit_bytes + 1)
        except FileExistsError:  # twice in one request, or a folder of that name
            self._refuse(name, "duplicate")
            return
        self.sources.add(str(self.folder / path.partition("/")[0]))

    def _refuse(self, name: str, reason: str, detail: str | None = None) -> None:
        said = answers.AddResult(source_path=name, status="failed", reason=reason, detail=detail)
        self.refused.append(said)


def _copy(stream: IO[bytes], target: Path, limit_bytes: int) -> None:
    left = limit_bytes
    with target.open("xb") as file:
        while left and (piece := stream.read(min(PIECE_BYTES, left))):
            file.write(piece)
            left -= len(piece)
