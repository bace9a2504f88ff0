"""Mounts: where the files of a workspace come from; read-only (P6.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from ..digest.manifest import Manifest
from ..errors import PromptValidationError
from .scan import DEFAULT_EXCLUDE, ScanLimits, read_beneath, scan


@dataclass(frozen=True, slots=True)
class PinnedFile:
    """A file of a mount as it was when the workspace was opened."""

    path: str
    size: int
    sha256: str
    skipped: str = ""


class FileProblem(Exception):
    """What a file tool answers instead of a result; `code` is a tool-result code (P6.5)."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Mount(Protocol):
    """Where files come from; read-only."""

    @property
    def mount_path(self) -> str:
        """Where the files appear; empty for the top."""
        ...

    @property
    def title(self) -> str:
        """What the model is told about it."""
        ...

    def pin(self) -> tuple[tuple[PinnedFile, ...], bool]:
        """Return the files now, below the mount path, and whether the list is complete."""
        ...

    def read(self, path: str) -> bytes:
        """Return the content of a file now."""
        ...


@dataclass(frozen=True, slots=True)
class HostMount:
    """A folder of this machine. Links are listed as skipped and never followed.

    Its resolved path must lie below one of `allowed_roots` (by default the current folder).
    """

    host_path: Path | str
    mount_path: str = ""
    include: Sequence[str] = ()
    exclude: Sequence[str] = DEFAULT_EXCLUDE
    max_files: int = 5000
    max_file_bytes: int = 1_048_576
    max_total_bytes: int = 8_388_608
    allowed_roots: Sequence[Path | str] | None = None

    @property
    def title(self) -> str:
        """The folder's own name."""
        return f"folder {Path(self.host_path).name or '/'}"

    def pin(self) -> tuple[tuple[PinnedFile, ...], bool]:
        """Return the files now."""
        limits = ScanLimits(self.max_files, self.max_file_bytes, self.max_total_bytes)
        found = scan(self._root(), include=self.include, exclude=self.exclude, limits=limits)
        files = tuple(PinnedFile(f.path, f.size, f.sha256, f.skipped) for f in found.files)
        return files, found.complete

    def read(self, path: str) -> bytes:
        """Return the content of a file now."""
        try:
            return read_beneath(self._root(), path, self.max_file_bytes + 1)
        except OSError as error:
            raise FileProblem("file_changed", f"{path} cannot be read any more") from error

    def _root(self) -> Path:
        root = Path(self.host_path).resolve()
        allowed = [Path.cwd()] if self.allowed_roots is None else self.allowed_roots
        if not any(root.is_relative_to(Path(one).resolve()) for one in allowed):
            raise PromptValidationError(
                f"{self.title} is outside the allowed folders", code="MOUNT_NOT_ALLOWED"
            )
        if not root.is_dir():
            raise PromptValidationError(f"{self.title} is no folder", code="MOUNT_NOT_ALLOWED")
        return root


class BenchFiles(Protocol):
    """A bench as far as a prompt reads it; `bench` implements it."""

    def manifest(self, view: str) -> Manifest:
        """Return the files of a view."""
        ...

    def open(self, view: str, path: str) -> bytes:
        """Return the content of a file of a view."""
        ...


@dataclass(frozen=True, slots=True)
class BenchMount:
    """A view of a bench: `published` or `draft`."""

    bench: BenchFiles
    view: Literal["published", "draft"] = "published"
    mount_path: str = ""

    @property
    def title(self) -> str:
        """The view's name."""
        return f"workbench, {self.view}"

    def pin(self) -> tuple[tuple[PinnedFile, ...], bool]:
        """Return the files now."""
        found = self.bench.manifest(self.view)
        files = tuple(PinnedFile(e.path, e.size, e.sha256) for e in found.entries)
        return files, found.complete

    def read(self, path: str) -> bytes:
        """Return the content of a file now."""
        return self.bench.open(self.view, path)
