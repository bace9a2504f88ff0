"""Trees as folders on disk: linked, not copied, where the file system can (T4.4, B2.6).

A view is a cache. It is brought from the tree it shows to the wanted one file by file, touching
only what differs; each file changes in one step. A note beside it says by inode which tree the
folder shows and, while files are on their way, which one it is to show, so that whoever comes
after a crash can go on.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from backshop.base import tree
from backshop.base.errors import BackshopError
from backshop.base.ids import TreeId
from backshop.base.paths import BenchPath
from backshop.base.tree import EMPTY

from .placing import Hand, Keep, Placer, Step, remove_tree
from .spool import file_error

_RENAME_EXCHANGE = 2
_AT_FDCWD = -100


@dataclass(frozen=True, slots=True)
class Shown:
    """What a folder shows: a whole tree, or only the files of it that `base` has not."""

    tree: TreeId
    base: TreeId = EMPTY


@dataclass(frozen=True, slots=True)
class _Note:
    """What is known of a folder, by its inode: it moves with the folder when that is renamed."""

    inode: int
    tree: TreeId
    base: TreeId
    becoming: TreeId | None = None
    """Set while files are on their way to another tree: each is of one of the two (B2.10)."""
    clean_ns: int = 0
    """The file system's time at which nothing in the folder was anybody else's."""


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
        return Shown(note.tree, note.base)

    @property
    def is_new(self) -> bool:
        """Whether nothing was shown here yet, or nothing since the folder went out of sight."""
        if os.path.lexists(self.folder):
            return False
        note = self._read()
        return note is None or note.inode == _inode(self._spare)

    def clean_ns(self) -> int:
        """Return since when the folder may have been touched; 0 if that is not known."""
        note = self._read()
        return note.clean_ns if note is not None and note.inode == _inode(self.folder) else 0

    def show(self, wanted: Shown, keep: Keep, rescue: Callable[[], object]) -> None:
        """Bring the folder to a tree: only files that differ are touched, each in one step.

        `keep` gets what others put where a file has to go; `rescue` is called before a folder
        of which nothing is known is replaced by a new one.

        Raises:
            DiskFull, WriteFailed: some files may be of the old tree; showing again goes on.
        """
        if self.shown() == wanted:
            return
        try:
            note = self._read()
            place = None if note is None else self._place(note)
            steps = None if note is None or place is None else self._steps(note, wanted)
            if note is None or place is None or steps is None:
                rescue()
                self._build(wanted)
                return
            self._write(replace(note, becoming=wanted.tree))
            Hand(place, self._placer, keep).take(steps)
            self._write(replace(note, tree=wanted.tree, becoming=None))
            if place != self.folder:
                place.rename(self.folder)
        except OSError as error:
            raise file_error(error) from error

    def put_back(self, paths: Iterable[BenchPath], keep: Keep) -> None:
        """Make single paths what they are in the tree the folder shows."""
        shown = self.shown()
        assert shown is not None, "the folder has to be known"
        steps: dict[BenchPath, Step] = {}
        for path in paths:
            ours = self._masked(path, tree.lookup(shown.tree, path, self._load), shown.base)
            steps[path] = Step([ours], ours)
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

    def retire(self, rest: Shown) -> None:
        """Put the folder out of sight; the next `show` begins with it, touching what differs.

        It is brought to `rest` meanwhile, so that it keeps no content alive that is let go.
        """
        try:
            remove_tree(self._spare)
            self.folder.rename(self._spare)
            note = self._read()
            steps = None if note is None else self._steps(note, rest)
            if note is None or steps is None:
                self.remove()
                return
            self._write(replace(note, becoming=rest.tree))
            Hand(self._spare, self._placer, _nobody).take(steps)
            self._write(replace(note, tree=rest.tree, becoming=None))
        except OSError as error:
            raise file_error(error) from error

    def remove(self) -> None:
        """Remove folder, spare and note."""
        try:
            self._note.unlink(missing_ok=True)  # first: what is half removed must claim nothing
            for path in (self.folder, self._spare):
                remove_tree(path)
        except OSError as error:
            raise file_error(error) from error

    def _place(self, note: _Note) -> Path | None:
        """Return where the folder of the note is: in its place, or out of sight."""
        if note.inode == _inode(self.folder):
            return self.folder
        is_spare = note.inode == _inode(self._spare) and not os.path.lexists(self.folder)
        return self._spare if is_spare else None

    def _steps(self, note: _Note, wanted: Shown) -> dict[BenchPath, Step] | None:
        """Return the paths that differ; None if what the folder holds is not known any more."""
        if note.base != wanted.base:
            return None
        found: dict[BenchPath, Step] = {}
        try:
            for held in {note.tree, note.becoming or note.tree}:
                for change in tree.diff(held, wanted.tree, self._load):
                    path, base = change.path, wanted.base
                    after = self._masked(path, change.after, base)
                    step = found.setdefault(path, Step([after], after))
                    step.known.append(self._masked(path, change.before, base))
        except (BackshopError, ValueError):  # a tree from before a collection
            return None
        return found

    def _masked(self, path: BenchPath, file: tree.File | None, base: TreeId) -> tree.File | None:
        """Return the file unless the base has just that."""
        if file is None or base == EMPTY:
            return file
        return None if tree.lookup(base, path, self._load) == file else file

    def _build(self, wanted: Shown) -> None:
        """Make the folder from nothing, aside, and give it its place."""
        remove_tree(self._spare)
        self._spare.mkdir(parents=True)
        changes = tree.diff(wanted.base, wanted.tree, self._load)
        steps = {c.path: Step([], c.after) for c in changes if c.after is not None}
        Hand(self._spare, self._placer, _nobody).take(steps)
        note = _Note(_inode(self._spare), wanted.tree, wanted.base)
        if os.path.lexists(self.folder) and not _exchange_names(self._spare, self.folder):
            remove_tree(self.folder)
        if not os.path.lexists(self.folder):
            self._spare.rename(self.folder)
        self._write(note)
        self.mark_clean(self.now_ns())
        remove_tree(self._spare)

    def _read(self) -> _Note | None:
        try:
            raw = json.loads(_note_text(self._note))
            becoming = raw["becoming"]
            return _Note(
                int(raw["inode"]),
                TreeId(str(raw["tree"])),
                TreeId(str(raw["base"])),
                None if becoming is None else TreeId(str(becoming)),
                int(raw["clean_ns"]),
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None  # no note, or not ours: nothing is claimed

    def _write(self, note: _Note) -> None:
        temp = self._note.with_name(f"{self._note.name}.tmp")
        text = json.dumps(asdict(note), separators=(",", ":"))
        try:
            self._note.parent.mkdir(parents=True, exist_ok=True)
            temp.unlink(missing_ok=True)
            temp.symlink_to(text)
        except PermissionError:  # a file system without links
            temp.write_text(text, encoding="utf-8")
        temp.replace(self._note)


def _note_text(note: Path) -> str:
    """Return a note's text: what a link says, which leads nowhere.

    A file that takes another's place is written out at once by some file systems; a link is part
    of its folder, so it costs nothing of that, and a crash of the machine keeps its place among
    the changes of files that it tells of.
    """
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


def _exchange_names(one: Path, two: Path) -> bool:
    """Swap two names atomically; False where the system cannot (B3.5)."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    done = rename(
        _AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(two), ctypes.c_uint(_RENAME_EXCHANGE)
    )
    if done == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
        return False
    raise OSError(number, os.strerror(number))
