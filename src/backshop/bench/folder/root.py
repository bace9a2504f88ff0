"""A person's folder, opened by its path and entered name by name; no link in it is followed."""

from __future__ import annotations

import errno
import os
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from backshop.base.errors import BackshopError
from backshop.base.system import open_folder

GONE, REPLACED, NOT_A_FOLDER, UNREADABLE = "gone", "replaced", "not_a_folder", "unreadable"


class FolderAway(BackshopError):
    """The folder that a workbench follows cannot be used: gone, another one, or closed to us."""

    code = "NOT_FOUND"


class Root:
    """An open folder, and what lies in it by path."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    @property
    def inode(self) -> int:
        """Return which folder of its disk this is."""
        return os.fstat(self._handle).st_ino

    @contextmanager
    def entered(self, segments: Sequence[str], *, make: bool = False) -> Iterator[int]:
        """Open a folder below, making what is missing on the way if told to.

        Raises:
            FileNotFoundError: it is not there.
            NotADirectoryError: a link or a file stands in its place.
        """
        handle = os.dup(self._handle)
        try:
            for segment in segments:
                name = disk_name(handle, segment)
                if make:
                    with suppress(FileExistsError):
                        open_folder.make_folder(name, handle)
                deeper = _opened(name, handle)
                os.close(handle)
                handle = deeper
            yield handle
        finally:
            os.close(handle)

    def prune(self, segments: Sequence[str]) -> None:
        """Remove a folder below that is empty now, and those above it that are empty then."""
        for depth in range(len(segments), 0, -1):
            try:
                with self.entered(segments[: depth - 1]) as above:
                    open_folder.remove_folder(disk_name(above, segments[depth - 1]), above)
            except OSError:  # not empty, gone, or somebody else's
                return


@contextmanager
def opened_root(path: str | Path, inode: int | None = None) -> Iterator[Root]:
    """Open a folder by its path.

    Raises:
        FolderAway: it is not there, is no folder, cannot be read, or is another one than known.
    """
    try:
        handle = open_folder.open_folder(path)
    except FileNotFoundError as error:
        raise _away(GONE) from error
    except NotADirectoryError as error:
        raise _away(NOT_A_FOLDER) from error
    except OSError as error:
        raise _away(NOT_A_FOLDER if error.errno == errno.ELOOP else UNREADABLE) from error
    try:
        root = Root(handle)
        if inode is not None and root.inode != inode:
            raise _away(REPLACED)
        yield root
    finally:
        os.close(handle)


def disk_name(folder: int, name: str) -> str:
    """Return how a name is spelled in an open folder: paths of a bench are composed (B4.3)."""
    if name.isascii():
        return name
    try:
        open_folder.look(name, folder)
    except FileNotFoundError:
        for found in os.listdir(folder):
            if unicodedata.normalize("NFC", found) == name:
                return found
    return name


def _opened(name: str, folder: int) -> int:
    try:
        return open_folder.open_folder(name, folder)
    except OSError as error:
        if error.errno == errno.ELOOP or (
            error.errno == errno.ENOTDIR and stat.S_ISLNK(open_folder.look(name, folder).st_mode)
        ):
            raise NotADirectoryError(errno.ENOTDIR, "a link") from error
        raise


def _away(reason: str) -> FolderAway:
    said = {
        GONE: "the folder is not there",
        REPLACED: "another folder is there now",
        NOT_A_FOLDER: "there is no folder of this name",
        UNREADABLE: "the folder cannot be read",
    }
    return FolderAway(said[reason], reason=f"folder_{reason}")
