"""Where a definition is put, and how it is taken away again (R3.10).

Only into the user's or the project's folder, and only over what the author has seen. In a team the
user's are kept on a shelf that all machines share; whoever finds that another one moved something
there meanwhile looks again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from backshop.base.canon import sha256_hex
from backshop.store import file_errors

from ..definition.identity import SourceKind
from ..errors import RailsError
from .catalog import Catalog, Listing
from .folder import alone, put_file
from .source import Entry, Places
from .team_workflow import Moved, Shelf

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """A file that is gone; `uncovered` is the one that answers to the id now, if any does."""

    workflow_id: str
    path: Path
    uncovered: str | None


class Placing:
    """The folders that can be written to, and the shelf where there is one."""

    def __init__(self, catalog: Catalog, places: Places, shelf: Shelf | None = None) -> None:
        self._catalog = catalog
        self._places = places
        self._shelf = shelf
        """Where the user's definitions are kept, if not in their folder."""

    def folder(self, target: SourceKind, workspace: Path | None) -> Path:
        """Return where the definitions of a target are written.

        Raises:
            RailsError: `VALIDATION_ERROR`, it cannot be written to.
        """
        if target is SourceKind.USER and self._places.user_dirs:
            return self._places.user_dirs[0]
        if target is SourceKind.PROJECT and workspace is not None:
            return workspace / ".backshop" / "workflows"
        if target is SourceKind.PROJECT:
            message = "there is no project to write into"
            what = "Give workspacePath (in the terminal: --workspace FOLDER)."
        else:
            message = f"{target} workflows are read-only"
            what = "Save to user or project; copy gives a workflow another id."
        raise RailsError("VALIDATION_ERROR", message, what)

    def file_of(self, workflow_id: str, folder: Path, workspace: Path | None) -> Path | None:
        """Return the file in a folder that has an id."""
        found = _entry_of(self._catalog.look(workspace), workflow_id, folder)
        return found.stamp.path if found is not None else None

    def put(
        self, workflow_id: str, path: Path, text: str, workspace: Path | None, expected: str | None
    ) -> tuple[Path, Path | None]:
        """Write a definition; return where it is now and which file it replaced.

        Raises:
            RailsError: `PRECONDITION_FAILED`, what is there is not what was expected.
            WriteFailed, DiskFull: nothing was changed.
        """

        def place() -> tuple[Path, Path | None]:
            old = self.file_of(workflow_id, path.parent, workspace)
            if old is not None and expected is not None:
                said = f"not saved: `{workflow_id}` is there already, and"
                _require(old, (expected, hash_of(text)), workflow_id, said)
            return (old if old is not None and _spelt_alike(old, path) else path), old

        def onto(shelf: Shelf, last: int) -> tuple[Path, Path | None]:
            new, old = place()
            replaces = old.name if old is not None and old != new else ""
            shelf.keep(new.name, text, replaces=replaces, last=last)
            return new, old

        with file_errors():
            if (shelf := self._shelf_of(path.parent)) is not None:
                return _retried(shelf, onto)
            with alone(path.parent):
                new, old = place()
                put_file(new, text)
                if old is not None and old != new:
                    old.unlink(missing_ok=True)
        return new, old

    def remove(
        self, workflow_id: str, target: SourceKind, workspace: Path | None, expected: str | None
    ) -> Removed:
        """Take a definition away.

        Raises:
            RailsError: `WORKFLOW_NOT_FOUND`; `VALIDATION_ERROR` when it lies where nothing is
                written; `PRECONDITION_FAILED` when it is not what was expected.
            WriteFailed, DiskFull: nothing was changed.
        """
        folder = self.folder(target, workspace)

        def found() -> Removed:
            listing = self._catalog.look(workspace)
            entry = _entry_of(listing, workflow_id, folder)
            if entry is None:
                raise _untouchable(listing.find(workflow_id))
            path = entry.stamp.path
            if expected is not None:
                _require(path, (expected,), workflow_id, f"not deleted: `{workflow_id}`")
            others = (one.file for one in listing.files_of(workflow_id) if one.stamp.path != path)
            return Removed(workflow_id=workflow_id, path=path, uncovered=next(others, None))

        def off(shelf: Shelf, last: int) -> Removed:
            gone = found()
            shelf.remove(gone.path.name, last=last)
            return gone

        with file_errors():
            if (shelf := self._shelf_of(folder)) is not None:
                return _retried(shelf, off)
            found()  # first: no folder is made for what is not in it
            with alone(folder):
                gone = found()
                gone.path.unlink(missing_ok=True)
        return gone

    def _shelf_of(self, folder: Path) -> Shelf | None:
        shelf = self._shelf
        return shelf if shelf is not None and folder == shelf.folder else None


def hash_of(text: str) -> str:
    """Return the hash of a definition as it was written."""
    return sha256_hex(text.encode(errors="surrogatepass"))


def _retried(shelf: Shelf, work: Callable[[Shelf, int], T]) -> T:
    """Change what is kept for everybody; if another change comes between, look again."""
    while True:
        last = shelf.bring()
        try:
            return work(shelf, last)
        except Moved:
            continue


def _entry_of(listing: Listing, workflow_id: str, folder: Path) -> Entry | None:
    return next((one for one in listing.files_of(workflow_id) if one.source.root == folder), None)


def _spelt_alike(one: Path, other: Path) -> bool:
    return (one.suffix == ".json") == (other.suffix == ".json")


def _require(file: Path, allowed: tuple[str, ...], workflow_id: str, said: str) -> None:
    """Refuse to replace or delete a file that is not what the author has seen."""
    try:
        now = sha256_hex(file.read_bytes())
    except FileNotFoundError:
        return  # it is gone already
    if now not in allowed:
        raise RailsError(
            "PRECONDITION_FAILED",
            f"{said} is not what was expected",
            "Look at it with RailsWorkflowSource; then send its sourceHash.",
            details={"workflowId": workflow_id, "sourceHash": now},
        )


def _untouchable(entry: Entry) -> RailsError:
    """Say why a definition is not deleted: it is not where this target is written."""
    kind = entry.source.kind
    match kind:
        case SourceKind.BUNDLED:
            where, what = "comes with Backshop", "It stays; copy gives it another id."
        case SourceKind.GIT:
            where, what = "comes from a repository", "Take it out there, then sync."
        case _ if entry.source.name == kind:  # the first of its kind, which is written to
            where, what = f"is a workflow of the {kind}", f"Delete it with target {kind}."
        case _:
            where, what = "lies in a folder that is only read", f"Delete {entry.stamp.path}."
    return RailsError("VALIDATION_ERROR", f"not deleted: `{entry.workflow_id}` {where}", what)
