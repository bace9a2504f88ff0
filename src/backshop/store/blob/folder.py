"""Trees as folders on disk, every file with an inode of its own (T4.4, B2.6).

A view is a cache. It is brought from the tree it shows to the wanted one file by file, touching
only what differs; each file changes in one step. A note beside it says by inode which tree the
folder shows and, while files are on their way, which one it is to show, so that whoever comes
after a crash can go on.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from backshop.base import tree
from backshop.base.errors import BackshopError
from backshop.base.ids import TreeId
from backshop.base.paths import TEMP_PREFIX, BenchPath
from backshop.base.system import file_name, open_folder
from backshop.base.tree import EMPTY

from .placement import Hand, Keep, Placer, Step, own_links, remove_tree
from .spool import file_error

_NOTE_BYTES = 512  # of one sector, which a disk writes whole


@dataclass(frozen=True, slots=True)
class Shown:
    """What a folder shows: a whole tree, or only the files of it that `base` has not."""

    tree: TreeId
    base: TreeId = EMPTY


@dataclass(frozen=True, slots=True)
class _Note:
    """What is known of a folder, by its inode: it moves with the folder when that is renamed."""

    inode: int
    shown: Shown
    becoming: Shown | None = None
    """Set while files are on their way: each is of one of the two (B2.10)."""
    clean_ns: int = 0
    """The file system's time at which nothing in the folder was anybody else's."""
    is_own: bool = True
    """Whether no file is a link of a stored content, as they were in 0.1.0."""
    is_whole: bool = False
    """Whether somebody asked for all files where others are left out."""

    @property
    def held(self) -> tuple[Shown, ...]:
        """What files of the folder may be of."""
        return (self.shown,) if self.becoming is None else (self.shown, self.becoming)


class View:
    """A folder that shows a tree, changed file by file. Not for two writers at once (B3.7)."""

    def __init__(self, folder: Path, load: tree.Load, placer: Placer) -> None:
        self.folder = folder
        self._spare = folder.with_name(f".{folder.name}.spare")
        self._note = folder.with_name(f".{folder.name}.view")
        self._load = load
        self._placer = placer

    def shown(self) -> Shown | None:
        """Return what the folder claims to show, or None if that is not known."""
        note = self._read()
        if note is None or note.becoming is not None or note.inode != _inode(self.folder):
            return None
        return note.shown

    @property
    def is_whole(self) -> bool:
        """Whether somebody asked for all files of a folder that would leave some out."""
        note = self._read()
        return note is not None and note.is_whole

    @property
    def is_own(self) -> bool:
        """Whether no file of the folder is a link of a stored content, as far as is known."""
        note = self._read()
        return note is None or note.is_own

    @property
    def is_new(self) -> bool:
        """Whether nothing was shown here yet, or nothing since the folder went out of sight."""
        if os.path.lexists(self.folder):
            return False
        note = self._read()
        return note is None or note.inode == _inode(self._spare)

    @property
    def is_gone(self) -> bool:
        """Whether nothing is left of what was shown here."""
        return not any(map(os.path.lexists, (self.folder, self._spare, self._note)))

    def clean_ns(self) -> int:
        """Return since when the folder may have been touched; 0 if that is not known."""
        note = self._read()
        return note.clean_ns if note is not None and note.inode == _inode(self.folder) else 0

    def show(
        self,
        wanted: Shown,
        keep: Keep,
        rescue: Callable[[Path], object],
        *,
        whole: bool | None = None,
    ) -> None:
        """Bring the folder to a tree: only files that differ are touched, each in one step.

        `keep` gets what others put where a file has to go; `rescue` is called before a folder
        of which nothing is known is replaced by a new one. `whole` notes that somebody asked for
        all files, or does not any more.

        Raises:
            DiskFull, WriteFailed: some files may be of the old tree; showing again goes on.
        """
        note = self._read()
        if whole is None:
            whole = note is not None and note.is_whole
        if self.shown() == wanted and note is not None and note.is_whole == whole:
            return
        try:
            steps = None
            if note is not None and note.inode == _inode(self.folder):
                steps = self._steps(note, wanted)
            if note is None or steps is None:
                for place in (self.folder, self._spare):
                    if os.path.lexists(place):
                        rescue(place)
                self._build(wanted, whole)
                return
            hand = Hand(self.folder, self._placer, keep)
            if note.becoming is not None:
                hand.sweep(steps)
            note = replace(note, becoming=wanted, is_whole=whole)
            self._write(note)
            hand.take(steps)
            self._write(replace(note, shown=wanted, becoming=None))
        except OSError as error:
            raise file_error(error) from error

    def put_back(self, paths: Iterable[BenchPath], keep: Keep) -> None:
        """Make single paths what they are in the tree the folder shows."""
        shown = self.shown()
        assert shown is not None, "the folder has to be known"
        steps: dict[BenchPath, Step] = {}
        for path in paths:
            file = tree.lookup(shown.tree, path, self._load)
            steps[path] = Step([file], self._masked(path, file, shown.base))
        try:
            Hand(self.folder, self._placer, keep).take(steps)
        except OSError as error:
            raise file_error(error) from error

    def mark_clean(self, since_ns: int) -> None:
        """Note that at this time nothing in the folder was anybody else's."""
        note = self._read()
        if note is not None:
            self._write(replace(note, clean_ns=since_ns))

    def now_ns(self) -> int:
        """Return the time by the file system's clock; 0 when the folder has no note."""
        try:
            os.utime(self._note, follow_symlinks=False)
            return self._note.lstat().st_mtime_ns
        except FileNotFoundError:
            return 0

    def retire(self, rescue: Callable[[Path], object]) -> None:
        """Put the folder out of sight, have what others wrote there kept, and remove it.

        Whoever is killed in between leaves it out of sight with its note, so that the next one
        can do the same.
        """
        try:
            if os.path.lexists(self.folder):
                remove_tree(self._spare)
                self.folder.rename(self._spare)
            if os.path.lexists(self._spare):
                rescue(self._spare)
            self._note.unlink(missing_ok=True)  # first: what is half removed must claim nothing
            remove_tree(self._spare)
        except OSError as error:
            raise file_error(error) from error

    def claim(self, place: Path) -> tuple[Shown | None, int]:
        """Return what a folder, in its place or out of sight, shows, and since when it is clean."""
        note = self._read()
        if note is None or note.becoming is not None or note.inode != _inode(place):
            return None, 0
        return note.shown, note.clean_ns

    def settle(self, most_files: int, most_bytes: int) -> bool:
        """Give files that are links of stored contents inodes of their own; say whether all have.

        Only folders of 0.1.0 hold such. At most so many are copied at a time; what was done
        stays done. The bytes are those of the folder, whosever they are.

        Raises:
            DiskFull, WriteFailed: a file could not be copied; it is as it was.
        """
        note = self._read()
        if note is None or note.is_own:
            return True
        try:
            if not own_links(self.folder, self._placer, most_files, most_bytes):
                return False
            self._write(replace(note, is_own=True))
        except OSError as error:
            raise file_error(error) from error
        return True

    def _steps(self, note: _Note, wanted: Shown) -> dict[BenchPath, Step] | None:
        """Return the paths that differ; None if what the folder holds is not known any more."""
        found: dict[BenchPath, Step] = {}
        try:
            for held in note.held:
                for path, before, after in self._differing(held, wanted):
                    is_same = before == after
                    step = found.get(path)
                    if step is None:
                        step = Step([after], self._masked(path, after, wanted.base), is_same)
                        found[path] = step
                    step.known.append(before)
                    step.is_polite = step.is_polite and is_same
        except (BackshopError, ValueError):  # a tree from before a collection
            return None
        return found

    def _differing(
        self, held: Shown, wanted: Shown
    ) -> Iterator[tuple[BenchPath, tree.File | None, tree.File | None]]:
        """Yield where a folder that shows one thing has to be touched to show another.

        With each path goes what the one tree has there, and the other.
        """
        seen: set[BenchPath] = set()
        for change in tree.diff(held.tree, wanted.tree, self._load):
            seen.add(change.path)
            yield change.path, change.before, change.after
        if held.base == wanted.base:
            return
        for change in tree.diff(held.base, wanted.base, self._load):
            path = change.path
            file = None if path in seen else tree.lookup(wanted.tree, path, self._load)
            if file is not None and file in (change.before, change.after):
                yield path, file, file

    def _masked(self, path: BenchPath, file: tree.File | None, base: TreeId) -> tree.File | None:
        """Return the file unless the base has just that."""
        if file is None or base == EMPTY:
            return file
        return None if tree.lookup(base, path, self._load) == file else file

    def _build(self, wanted: Shown, whole: bool) -> None:
        """Make the folder from nothing, aside, and give it its place."""
        remove_tree(self._spare)
        self._spare.mkdir(parents=True)
        changes = tree.diff(wanted.base, wanted.tree, self._load)
        steps = {c.path: Step([], c.after) for c in changes if c.after is not None}
        Hand(self._spare, self._placer, _nobody).take(steps)
        made = self._spare / f"{TEMP_PREFIX}clock"
        made.touch()
        clean_ns = made.stat().st_mtime_ns  # before others can come to the files
        made.unlink()
        note = _Note(_inode(self._spare), wanted, clean_ns=clean_ns, is_whole=whole)
        if os.path.lexists(self.folder) and not file_name.exchange(self._spare, self.folder):
            remove_tree(self.folder)
        if not os.path.lexists(self.folder):
            self._spare.rename(self.folder)
        self._write(note)
        remove_tree(self._spare)

    def _read(self) -> _Note | None:
        try:
            return _noted(json.loads(_note_text(self._note)))
        except (OSError, ValueError, KeyError, TypeError):
            return None  # no note, or not ours: nothing is claimed

    def _write(self, note: _Note) -> None:
        """Write over the old text in one piece, so that it is seen whole or not at all.

        A file that takes another's place is written out at once by some file systems, which would
        cost more than the commit; so only the first note is made beside its place and renamed.
        """
        text = json.dumps(_told(note), separators=(",", ":")).encode().ljust(_NOTE_BYTES)
        with suppress(OSError):
            handle = open_folder.open_file(self._note, os.O_WRONLY)
            try:
                if os.fstat(handle).st_size == _NOTE_BYTES == len(text):
                    os.pwrite(handle, text, 0)
                    return
            finally:
                os.close(handle)
        self._note.parent.mkdir(parents=True, exist_ok=True)
        temp = self._note.with_name(f"{self._note.name}.tmp")
        temp.unlink(missing_ok=True)
        temp.write_bytes(text)
        temp.replace(self._note)


def _told(note: _Note) -> dict[str, object]:
    going = note.becoming
    return {
        "inode": note.inode,
        "tree": note.shown.tree,
        "base": note.shown.base,
        "becoming": going and going.tree,
        "becoming_base": going and going.base,
        "clean_ns": note.clean_ns,
        "own": note.is_own,
        "whole": note.is_whole,
    }


def _noted(raw: Mapping[str, Any]) -> _Note:
    """Read a note; one of 0.1.0 lacks some of the entries."""
    shown = Shown(TreeId(str(raw["tree"])), TreeId(str(raw["base"])))
    going = raw["becoming"]
    base = raw.get("becoming_base") or shown.base
    return _Note(
        int(raw["inode"]),
        shown,
        None if going is None else Shown(TreeId(str(going)), TreeId(str(base))),
        int(raw["clean_ns"]),
        raw.get("own") is True,
        raw.get("whole") is True,
    )


def _note_text(note: Path) -> str:
    """Return a note's text; in 0.1.0 it is what a link says that leads nowhere."""
    try:
        return os.readlink(note)  # noqa: PTH115 - a text, not a path
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        return note.read_text(encoding="utf-8")


def _nobody(path: str, actual: Path) -> None:
    """Nothing of others is in a folder that is being made."""


def _inode(path: Path) -> int:
    try:
        return path.stat(follow_symlinks=False).st_ino
    except FileNotFoundError:
        return -1
