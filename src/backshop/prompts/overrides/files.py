"""Overrides as files: `<root>/<namespace>/<prompt key>/<tag>.json` (P3.10–P3.13).

Folders are opened one below the other without following links, so nothing stored in the tree
can lead a read or a write outside of it.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from backshop.base.ambient import Clock
from backshop.base.limits import OVERRIDE_LOCK_WAIT_S
from backshop.base.paths import TEMP_PREFIX
from backshop.base.system import account, durability, lock, open_folder
from backshop.prompts.errors import OverridesError, PromptError

from .common import Change, DocumentStore, require_revision
from .document import Document, Place, read_document

_LOCK_POLL_S = 0.01
_PROJECT = ".backshop"


def find_root(start: Path | None = None, home: Path | None = None) -> Path:
    """Return where overrides are kept: the nearest project's `.backshop`, else the home."""
    here = (start or Path.cwd()).absolute()
    for folder in (here, *here.parents):
        if (folder / _PROJECT).is_dir():
            return folder / _PROJECT / "prompts" / "overrides"
    given = home or os.environ.get("BACKSHOP_HOME")
    if given:
        return Path(given).expanduser().absolute() / "prompts" / "overrides"
    from platformdirs import user_data_path  # loaded on first use

    return user_data_path("backshop", appauthor=False) / "prompts" / "overrides"


class LocalPromptOverridesStore(DocumentStore):
    """Overrides in a folder that people can read, edit and keep under version control."""

    def __init__(self, root: Path | str | None = None, *, clock: Clock | None = None) -> None:
        super().__init__(clock)
        self.root = Path(root).absolute() if root is not None else find_root()

    def path(self, namespace: str, prompt_key: str, tag: str) -> Path:
        """Return the file of a tag, whether it exists or not."""
        place = Place.of(namespace, prompt_key, tag)
        return self.root.joinpath(*_folders(place), f"{place.tag}.json")

    def _read(self, place: Place) -> Document | None:
        try:
            with self._folder(place) as folder:
                return self._load(folder, place)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _refusal(error, place, "OVERRIDE_READ_FAILED") from error

    def _load(self, folder: int, place: Place) -> Document | None:
        try:
            file = open_folder.open_file(f"{place.tag}.json", os.O_RDONLY, folder=folder)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _refusal(error, place, "OVERRIDE_READ_FAILED") from error
        with os.fdopen(file, "rb") as opened:
            return read_document(opened.read(), place)

    def _require_writable(self, place: Place) -> None:
        super()._require_writable(place)
        folder = self.root.joinpath(*_folders(place))
        while not folder.exists() and folder != folder.parent:
            folder = folder.parent
        if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
            raise OverridesError(
                f"{place.name} has no folder that can be written", code="OVERRIDE_WRITE_FAILED"
            )

    def _change(self, place: Place, change: Change, if_revision: int | None) -> Document:
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            with self._folder(place, create=True) as folder, _locked(folder, place):
                before = self._load(folder, place) or Document(place)
                require_revision(before, if_revision)
                after = change(before)
                if after is before and before.revision:
                    return before
                after = replace(after, revision=after.revision + 1)
                _write(folder, f"{place.tag}.json", after.to_bytes())
                return after
        except OSError as error:
            raise _refusal(error, place) from error

    def _remove(self, place: Place) -> None:
        try:
            with self._folder(place) as folder, _locked(folder, place):
                open_folder.remove_file(f"{place.tag}.json", folder)
                durability.sync(folder)
        except FileNotFoundError:
            return
        except OSError as error:
            raise _refusal(error, place) from error

    def _places(self) -> Iterator[Place]:
        for folder, folders, files in os.walk(self.root, followlinks=False):
            folders.sort()
            parts = Path(folder).relative_to(self.root).parts
            for name in sorted(files):
                if name.endswith(".json") and len(parts) >= 2:
                    with suppress(PromptError):  # a stranger's file is none of ours
                        yield Place.of("/".join(parts[:-1]), parts[-1], name[: -len(".json")])

    @contextmanager
    def _folder(self, place: Place, *, create: bool = False) -> Iterator[int]:
        """Open the folder of a place, step by step from the root, following no link."""
        opened = [open_folder.open_root(self.root)]
        try:
            for name in _folders(place):
                if create:
                    with suppress(FileExistsError):
                        open_folder.make_folder(name, opened[-1])
                        durability.sync(opened[-1])
                try:
                    opened.append(open_folder.open_folder(name, opened[-1]))
                except FileNotFoundError:
                    raise
                except OSError as error:
                    raise _refusal(error, place) from error
            yield opened[-1]
        finally:
            for folder in reversed(opened):
                os.close(folder)


def _folders(place: Place) -> tuple[str, ...]:
    return (*place.namespace.split("/"), place.prompt_key)


@contextmanager
def _locked(folder: int, place: Place) -> Iterator[None]:
    name = f"{place.tag}.json.lock"
    held = open_folder.open_file(name, os.O_RDWR | os.O_CREAT, folder=folder)
    try:
        ends = time.monotonic() + OVERRIDE_LOCK_WAIT_S
        while True:
            try:
                lock.hold_now(held)
                break
            except BlockingIOError as error:
                if time.monotonic() >= ends:
                    raise OverridesError(
                        f"{place.name} is locked by another program", code="LOCKED"
                    ) from error
                time.sleep(_LOCK_POLL_S)
        yield
    finally:
        os.close(held)


def _write(folder: int, name: str, data: bytes) -> None:
    """Put a whole new file in place of the old one, durably, or leave the old one."""
    temporary = f"{TEMP_PREFIX}{secrets.token_hex(8)}"
    file = open_folder.open_file(temporary, open_folder.NEW, folder=folder)
    try:
        try:
            with suppress(FileNotFoundError):
                before = open_folder.look(name, folder)
                account.set_mode(file, stat.S_IMODE(before.st_mode))
            view = memoryview(data)
            while view:
                view = view[os.write(file, view) :]
            durability.sync(file)
        finally:
            os.close(file)
        open_folder.replace(temporary, name, folder)
    except BaseException:
        with suppress(FileNotFoundError):
            open_folder.remove_file(temporary, folder)
        raise
    durability.sync(folder)


def _refusal(error: OSError, place: Place, code: str = "OVERRIDE_WRITE_FAILED") -> OverridesError:
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return OverridesError(f"{place.name} leads through a link", code="SYMLINK_REFUSED")
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return OverridesError(f"no room to store {place.name}", code="DISK_FULL")
    verb = "read" if code == "OVERRIDE_READ_FAILED" else "stored"
    return OverridesError(f"{place.name} could not be {verb}: {error.strerror}", code=code)
