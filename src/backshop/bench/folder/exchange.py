"""One file of a person's own folder, exchanged for another only if it is what was reviewed.

The new content is written beside the file and swapped with it in one step; what came out is looked
at then, not before: nothing another program writes can slip in between. If it is not what was
reviewed, or somebody has it open to write into it, it is handed to the caller to be kept, and goes
back, unless its place was taken once more: that came later, and stays.

Whoever is killed on the way leaves a file whose name tells whose it is: `.bs-tmp-…` holds either
the whole new content or what came out, so the next one knows what happened and goes on. What is
not whole yet has a name of its own.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from backshop.base.canon import sha256_hex
from backshop.base.ids import BlobId
from backshop.base.paths import TEMP_PREFIX
from backshop.base.system import account, durability, file_copy, file_name, open_folder, writer
from backshop.base.tree import Mode

_CHUNK = 1024 * 1024

Keep = Callable[[int], object]
"""Called with an open file that came out of its place and holds what others wrote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What one name of a folder held when it was reviewed, and what it is to hold."""

    name: str
    before: BlobId | None
    """None: nothing was there."""
    after: BlobId | None
    """None: nothing is to be there."""
    content: Path | None = None
    """The file with the bytes of `after`."""
    mode: Mode = "644"
    owner: str = ""
    """Who wishes, such as a bench: two of them never take each other's leftovers for their own."""

    @property
    def temp(self) -> str:
        """Return the name of what is on its way in, or came out."""
        return f"{TEMP_PREFIX}{sha256_hex(f'{self.owner}/{self.name}'.encode())[:24]}"

    @property
    def part(self) -> str:
        """Return the name of a new content that is not whole yet."""
        return f"{self.temp}-part"


class Became(StrEnum):
    """What became of a wish."""

    WRITTEN = "written"
    UNCHANGED = "unchanged"
    """It was so already."""
    CHANGED = "changed"
    """Something else than what was reviewed is there, and stays."""
    MISSING = "missing"
    """What was reviewed is gone; nothing was put there."""
    NOT_A_FILE = "not_a_file"
    """A link, a folder or a device is there, and stays."""
    OPEN = "open"
    """Another program has the file open to write into it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a wish, and what is there now."""

    became: Became
    found: BlobId | None = None
    """The content that is there; None where there is no file."""
    is_atomic: bool = True
    """False where the file system cannot exchange names: the name was missing for a moment."""

    @property
    def is_done(self) -> bool:
        """Say whether the folder holds what was wished, or held it until somebody went on."""
        return self.became in (Became.WRITTEN, Became.UNCHANGED)


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a name holds: a content, or something that is no file, or nothing."""

    blob: BlobId | None = None
    is_odd: bool = False
    is_open: bool = False
    """Whether somebody may still write into it."""


_NOTHING = _Seen()


def exchange_file(target: Path, wish: Wish, keep: Keep) -> Outcome:
    """Do to one file what a wish says, durably; links on the way to its folder are the person's.

    Raises:
        OSError: it cannot be written or looked at; the file is what it was.
    """
    folder = open_folder.open_root(target.parent)
    try:
        outcome = exchange(folder, wish, keep)
        durability.sync(folder)
        return outcome
    finally:
        os.close(folder)


def exchange(folder: int, wish: Wish, keep: Keep) -> Outcome:
    """Let a name of an open folder hold what is wished, if it holds what was reviewed.

    Begins with what a killed process left. The folder's names are durable once it is synced.

    Raises:
        OSError: it cannot be written or looked at; the file is what it was.
    """
    return settle(folder, wish, keep) or _exchanged(folder, wish, keep)


def settle(folder: int, wish: Wish, keep: Keep) -> Outcome | None:
    """Finish what somebody left who was killed at this wish; None if there is nothing to say.

    Raises:
        OSError: it cannot be looked at.
    """
    _remove(folder, wish.part)
    out = _look(folder, wish.temp)
    if out == _NOTHING:
        return None
    if out.blob is not None and out.blob == wish.after:  # not yet in its place, or taken back
        if out.is_open:  # what is being written into it is seen next time
            return Outcome(Became.OPEN, _look(folder, wish.name).blob)
        _remove(folder, wish.temp)
        return None
    if out == _Seen(wish.before) and not _is_bare(folder, wish):
        _remove(folder, wish.temp)
        return Outcome(Became.WRITTEN, _look(folder, wish.name).blob)
    if out == _Seen(wish.before):  # moved aside where names cannot be exchanged
        return _given_back(folder, wish, keep, None)
    return _given_back(folder, wish, keep, out)


def _is_bare(folder: int, wish: Wish) -> bool:
    """Say whether the name is free although something is to be there."""
    return wish.after is not None and _look(folder, wish.name) == _NOTHING


def _exchanged(folder: int, wish: Wish, keep: Keep) -> Outcome:
    now = _look(folder, wish.name, is_watched=False)
    if not now.is_odd and now.blob == wish.after:
        if now.blob is not None and wish.before == wish.after:
            _set_mode(folder, wish)
        return Outcome(Became.UNCHANGED, now.blob)
    if now != _Seen(wish.before):
        return _refused(now)
    if now.blob is not None and _is_open(folder, wish.name):
        return Outcome(Became.OPEN, now.blob)
    if wish.after is None:
        return _taken_out(folder, wish, keep)
    _fill(folder, wish)
    try:
        return _put_in(folder, wish, keep)
    finally:
        _remove(folder, wish.part)


def _put_in(folder: int, wish: Wish, keep: Keep) -> Outcome:
    """Put the whole new content, which is there as a part, in its place."""
    if wish.before is None:
        try:
            file_name.rename_new(folder, wish.part, wish.name)
        except FileExistsError:
            return _refused(_look(folder, wish.name, is_watched=False))
        return Outcome(Became.WRITTEN, wish.after)
    file_name.rename_new(folder, wish.part, wish.temp)
    try:
        if file_name.exchange_in(folder, wish.temp, wish.name):
            return _looked_after(folder, wish, keep)
    except FileNotFoundError:
        _remove(folder, wish.temp)
        return Outcome(Became.MISSING)
    file_name.rename_new(folder, wish.temp, wish.part)
    return _put_in_by_turns(folder, wish, keep)


def _put_in_by_turns(folder: int, wish: Wish, keep: Keep) -> Outcome:
    """Move the old file aside, look at it, and put the new one where nothing is now."""
    try:
        file_name.rename_new(folder, wish.name, wish.temp)
    except FileNotFoundError:
        return Outcome(Became.MISSING, is_atomic=False)
    out = _look(folder, wish.temp)
    if out != _Seen(wish.before):
        return _given_back(folder, wish, keep, out) or _refused(out)
    try:
        file_name.rename_new(folder, wish.part, wish.name)
    except FileExistsError:  # somebody saved meanwhile
        _remove(folder, wish.temp)
        return _refused(_look(folder, wish.name, is_watched=False))
    return Outcome(_looked_after(folder, wish, keep).became, wish.after, is_atomic=False)


def _taken_out(folder: int, wish: Wish, keep: Keep) -> Outcome:
    try:
        file_name.rename_new(folder, wish.name, wish.temp)
    except FileNotFoundError:
        return Outcome(Became.UNCHANGED)
    return _looked_after(folder, wish, keep)


def _looked_after(folder: int, wish: Wish, keep: Keep) -> Outcome:
    """Remove what came out if it is what was reviewed, else give it back."""
    out = _look(folder, wish.temp)
    if out == _Seen(wish.before):
        _remove(folder, wish.temp)
        return Outcome(Became.WRITTEN, wish.after)
    return _given_back(folder, wish, keep, out) or _refused(out)


def _given_back(folder: int, wish: Wish, keep: Keep, out: _Seen | None) -> Outcome | None:
    """Put what came out where it was; what took its place meanwhile is later and stays there.

    It is kept first: a program that reads the new content while it is there for a moment, and
    saves, overwrites what goes back. Such a program may have written into what came out just
    before, so that is looked at once more in the end, wherever it is then. `out` None: it is what
    was reviewed, and all begins anew.
    """
    with _Taken(folder, keep) as taken:
        if out is None:
            taken.hold(wish.temp, wish.before)
        else:
            taken.keep(wish.temp)
        if _put_back(folder, wish, taken):
            return None if out is None else _refused(out)
        is_open = _look(folder, wish.temp).is_open
        taken.keep(wish.temp)  # it may be another one
        if not is_open:  # else what is being written into it is kept next time
            _remove_file(folder, wish.temp)
        return _refused(_look(folder, wish.name, is_watched=False))


def _put_back(folder: int, wish: Wish, taken: _Taken) -> bool:
    """Exchange the two names again, unless somebody wrote under the name meanwhile."""
    while True:
        there = _look(folder, wish.name, is_watched=False)
        if there == _NOTHING:
            try:
                file_name.rename_new(folder, wish.temp, wish.name)
            except FileExistsError:
                continue
            return True
        if there.blob is None or there.blob != wish.after or not _swap(folder, wish):
            return False  # of somebody else, who came later
        back = _look(folder, wish.temp)
        if back == _Seen(wish.after):
            _remove(folder, wish.temp)
            return True
        taken.keep(wish.temp)  # written this moment: that is the latest, and stays
        _swap(folder, wish)
        if back.is_open:  # or will be written, by somebody who has it open
            return False


def _swap(folder: int, wish: Wish) -> bool:
    """Exchange the two names; where the system cannot, or one is gone, say so."""
    try:
        return file_name.exchange_in(folder, wish.temp, wish.name)
    except FileNotFoundError:
        return False


class _Taken:
    """Files that came out and are kept, held open: what was written since is kept in the end."""

    def __init__(self, folder: int, keep: Keep) -> None:
        self._folder = folder
        self._keep = keep
        self._held: list[tuple[int, BlobId | None]] = []

    def hold(self, name: str, known: BlobId | None) -> None:
        """Hold a file of which this content need not be kept."""
        handle = _opened(self._folder, name)
        if handle is not None:
            self._held.append((handle, known))

    def keep(self, name: str) -> None:
        """Keep what a file holds now, and hold it."""
        handle = _opened(self._folder, name)
        if handle is not None:
            self._held.append((handle, None))  # kept in the end as well, should this fail
            known = _hashed(handle)
            self._keep_from(handle)
            self._held[-1] = (handle, known)

    def __enter__(self) -> _Taken:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            for handle, known in self._held:
                if _hashed(handle) != known:
                    self._keep_from(handle)
        finally:
            for handle, _known in self._held:
                os.close(handle)

    def _keep_from(self, handle: int) -> None:
        os.lseek(handle, 0, os.SEEK_SET)
        self._keep(handle)


def _opened(folder: int, name: str) -> int | None:
    """Open a file to read it; None if the name holds none."""
    try:
        if stat.S_ISREG(open_folder.look(name, folder).st_mode):
            return open_folder.open_file(name, folder=folder)
    except FileNotFoundError:
        pass
    return None


def _refused(seen: _Seen) -> Outcome:
    if seen.is_odd:
        return Outcome(Became.NOT_A_FILE)
    if seen.blob is None:
        return Outcome(Became.MISSING)
    return Outcome(Became.OPEN if seen.is_open else Became.CHANGED, seen.blob)


def _look(folder: int, name: str, *, is_watched: bool = True) -> _Seen:
    """Return what a name holds, of a link the link; watched, whether others may write into it."""
    try:
        if not stat.S_ISREG(open_folder.look(name, folder).st_mode):
            return _Seen(is_odd=True)
        handle = open_folder.open_file(name, folder=folder)
    except FileNotFoundError:
        return _NOTHING
    with os.fdopen(handle, "rb") as file:
        if not is_watched:
            return _Seen(_hashed(handle))
        with writer.watched(file.fileno()) as may_be_written:
            blob = _hashed(handle)
            return _Seen(blob, is_open=may_be_written() is True)


def _is_open(folder: int, name: str) -> bool:
    """Say whether somebody has a file open to write into it, this moment."""
    try:
        handle = open_folder.open_file(name, folder=folder)
    except FileNotFoundError:
        return False
    try:
        with writer.watched(handle) as may_be_written:
            return may_be_written() is True
    finally:
        os.close(handle)


def _hashed(handle: int) -> BlobId:
    """Return the hash of all that an open file holds."""
    found = hashlib.sha256()
    os.lseek(handle, 0, os.SEEK_SET)
    while chunk := os.read(handle, _CHUNK):
        found.update(chunk)
    return BlobId(found.hexdigest())


def _fill(folder: int, wish: Wish) -> None:
    """Write the new content beside its place, with the rights of what it replaces, durably."""
    assert wish.content is not None, "what is to be there has a content"
    old = None if wish.before is None else open_folder.open_file(wish.name, folder=folder)
    try:
        # a new file gets the rights that any program would give it here
        mode = 0o600 if old is not None else 0o777 if wish.mode == "755" else 0o666
        target = open_folder.open_file(wish.part, open_folder.NEW, mode, folder=folder)
        try:
            _copy(wish.content, target)
            if old is not None:
                file_copy.copy_attributes(old, target)
                _make_executable(target, wish.mode)
            durability.sync(target)
        except BaseException:
            _remove(folder, wish.part)
            raise
        finally:
            os.close(target)
    finally:
        if old is not None:
            os.close(old)


def _copy(content: Path, target: int) -> None:
    with content.open("rb") as source:
        while chunk := source.read(_CHUNK):
            rest = memoryview(chunk)
            while rest:
                rest = rest[os.write(target, rest) :]


def _set_mode(folder: int, wish: Wish) -> None:
    handle = open_folder.open_file(wish.name, folder=folder)
    try:
        _make_executable(handle, wish.mode)
    finally:
        os.close(handle)


def _make_executable(handle: int, wished: Mode) -> None:
    """Let whoever may read a file execute it, or nobody, unless its owner has it so already."""
    rights = stat.S_IMODE(os.fstat(handle).st_mode)
    if bool(rights & 0o100) != (wished == "755"):
        more = (rights & 0o444) >> 2
        account.set_mode(handle, rights | more if wished == "755" else rights & ~0o111)


def _remove(folder: int, name: str) -> None:
    with suppress(FileNotFoundError):
        open_folder.remove_file(name, folder)


def _remove_file(folder: int, name: str) -> None:
    """Remove a file; a folder or a link that came out and has no place any more stays."""
    with suppress(FileNotFoundError):
        if stat.S_ISREG(open_folder.look(name, folder).st_mode):
            open_folder.remove_file(name, folder)
