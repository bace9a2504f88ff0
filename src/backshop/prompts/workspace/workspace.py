"""Workspaces: mounted files pinned in a session, with an overlay for what tools write (P6).

Mounts are never written. What a tool writes is state of the session, so a rewind or a failed
tool takes it back.
"""

from __future__ import annotations

import unicodedata
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, Protocol

from backshop.base import paths
from backshop.base.canon import sha256_hex
from backshop.base.errors import NotFound, ValidationFailed

from ..definition.prompt import Prompt
from ..definition.section import Section
from ..digest.digest import WorkspaceFingerprint
from ..digest.manifest import Manifest, ManifestEntry
from ..slices import STATE, SessionView, slice_type
from .mount import FileProblem, Mount, PinnedFile

WORKSPACE_KIND = "workspace"
MAX_DEPTH = 32


@slice_type("workspace-pin", 1, STATE)
@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedMount:
    """The files of one mount; reads are held against it."""

    section_key: str
    mount_path: str
    files: tuple[PinnedFile, ...]
    complete: bool = True


@slice_type("workspace-overlay", 1, STATE)
@dataclass(frozen=True, slots=True, kw_only=True)
class OverlayEntry:
    """A file written or deleted in the session; the newest entry of a path wins."""

    section_key: str
    path: str
    content_ref: str = ""
    size: int = 0
    deleted: bool = False


@slice_type("workspace-read", 1, STATE)
@dataclass(frozen=True, slots=True)
class PathRead:
    """A path the model has seen the content of."""

    section_key: str
    path: str


class Keeper(Protocol):
    """A session, or a tool's transaction, as far as a workspace needs it."""

    def view(self) -> SessionView: ...

    def dispatch(self, event: object) -> object: ...

    def put(self, content: bytes) -> str: ...

    def get(self, ref: str) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Change:
    """A path that differs from the mounts."""

    path: str
    kind: Literal["added", "modified", "deleted"]


class WorkspaceSection(Section):
    """Base of sections that give tools over files; selectors find it as `workspace` (P6.1)."""

    @abstractmethod
    def open(self, session: Keeper) -> None:
        """Pin the files in the session, once."""

    @abstractmethod
    def refresh(self, session: Keeper) -> None:
        """Pin the files again, as they are now."""


class Workspace:
    """The opened workspace of a prompt in a session."""

    def __init__(self, session: Keeper, sections: Sequence[WorkspaceSection]) -> None:
        self._session = session
        self._sections = tuple(sections)

    def refresh(self) -> None:
        """See the mounts as they are now."""
        for section in self._sections:
            section.refresh(self._session)
        _fingerprint(self._session)

    def overlay_changes(self) -> tuple[Change, ...]:
        """Return what tools wrote or deleted, for a caller that turns it into a draft."""
        view = self._session.view()
        found = []
        for section in self._sections:
            files = Files.of(view, section.key)
            found += list(files.changes())
        return tuple(found)

    def read(self, path: str) -> bytes:
        """Return a file as the tools see it, from the first section that has it.

        Raises:
            FileProblem: no section has it, or it changed since it was pinned.
        """
        missing = FileProblem("not_found", f"there is no {path}")
        for section in self._sections:
            reader = getattr(section, "read", None)
            if reader is None:
                continue
            try:
                data: bytes = reader(self._session, path)
            except FileProblem as problem:
                if problem.code != "not_found":
                    raise
                missing = problem
            else:
                return data
        raise missing


def open_workspace(session: Keeper, prompt: Prompt[Any]) -> Workspace | None:
    """Pin the prompt's mounts in the session, once; adapters call this before rendering (P6.3).

    Returns None for a prompt without a workspace section.
    """
    sections = [
        node.section for node in prompt.walk() if isinstance(node.section, WorkspaceSection)
    ]
    if not sections:
        return None
    for section in sections:
        section.open(session)
    _fingerprint(session)
    return Workspace(session, sections)


def _fingerprint(session: Keeper) -> None:
    """Tell the session the state of the pinned files, so that a digest can turn stale (P4.10)."""
    view = session.view()
    entries = tuple(
        ManifestEntry(
            _joined(pin.mount_path, one.path), one.size, one.sha256, "file", not one.skipped
        )
        for pin in _newest_pins(view)
        for one in pin.files
    )
    state = WorkspaceFingerprint(fingerprint=Manifest(entries).fingerprint, files=len(entries))
    latest = view[WorkspaceFingerprint].latest()
    if latest is None or latest.fingerprint != state.fingerprint:
        session.dispatch(state)


def _newest_pins(view: SessionView, section_key: str | None = None) -> tuple[PinnedMount, ...]:
    newest = {
        (pin.section_key, pin.mount_path): pin
        for pin in view[PinnedMount].all()
        if section_key in (None, pin.section_key)
    }
    return tuple(newest.values())


def pin(session: Keeper, section_key: str, mounts: Sequence[Mount]) -> None:
    """Record what the mounts hold now."""
    for mount in mounts:
        files, complete = mount.pin()
        session.dispatch(
            PinnedMount(
                section_key=section_key,
                mount_path=mount.mount_path,
                files=files,
                complete=complete,
            )
        )


def is_pinned(view: SessionView, section_key: str) -> bool:
    """Say whether the workspace of a section is open in the session."""
    return bool(_newest_pins(view, section_key))


@dataclass(frozen=True, slots=True)
class Known:
    """A file as the tools see it: from a mount, or from the overlay (`content_ref`)."""

    path: str
    size: int
    sha256: str
    skipped: str = ""
    content_ref: str = ""
    mount_path: str = ""
    inside: str = ""  # as its mount calls it


class Files:
    """The files of one workspace section: mounts with the overlay on top."""

    def __init__(
        self, section_key: str, mounted: Mapping[str, Known], overlay: Mapping[str, OverlayEntry]
    ) -> None:
        self.section_key = section_key
        self._mounted = mounted
        self._overlay = overlay

    @classmethod
    def of(cls, view: SessionView, section_key: str) -> Files:
        """Return the files a session's state adds up to."""
        mounted: dict[str, Known] = {}
        for one in _newest_pins(view, section_key):
            mounted |= _known(one)
        overlay = {
            entry.path: entry
            for entry in view[OverlayEntry].all()
            if entry.section_key == section_key
        }
        return cls(section_key, mounted, overlay)

    def all(self) -> list[Known]:
        """Return every file, sorted by path."""
        found = {path: one for path, one in self._mounted.items() if path not in self._overlay}
        for path, entry in self._overlay.items():
            if not entry.deleted:
                found[path] = Known(path, entry.size, entry.content_ref, "", entry.content_ref)
        return [found[path] for path in sorted(found, key=str.encode)]

    def get(self, path: str) -> Known | None:
        """Return one file, or None."""
        entry = self._overlay.get(path)
        if entry is None:
            return self._mounted.get(path)
        if entry.deleted:
            return None
        return Known(path, entry.size, entry.content_ref, "", entry.content_ref)

    def below(self, folder: str) -> list[Known]:
        """Return the files of a folder and of everything below it."""
        prefix = f"{folder}/" if folder else ""
        return [one for one in self.all() if one.path.startswith(prefix)]

    def changes(self) -> Iterator[Change]:
        """Yield the paths that differ from the mounts."""
        for path in sorted(self._overlay, key=str.encode):
            entry, before = self._overlay[path], self._mounted.get(path)
            if entry.deleted:
                if before is not None:
                    yield Change(path, "deleted")
            elif before is None:
                yield Change(path, "added")
            elif before.sha256 != entry.content_ref:
                yield Change(path, "modified")


@lru_cache(maxsize=64)
def _known(pinned: PinnedMount) -> Mapping[str, Known]:
    """Return the files of a mount by the paths that tools give, which are composed (B4).

    A folder may hold a name in both forms; the composed one is the file that is meant.
    """
    found: dict[str, Known] = {}
    for one in sorted(pinned.files, key=lambda one: composed(one.path) == one.path):
        path = composed(_joined(pinned.mount_path, one.path))
        found[path] = Known(
            path, one.size, one.sha256, one.skipped, "", pinned.mount_path, one.path
        )
    return found


def composed(path: str) -> str:
    """Return a path as benches and tools write it, however a folder spells its letters."""
    return unicodedata.normalize("NFC", path)


def _joined(mount_path: str, path: str) -> str:
    return f"{mount_path}/{path}" if mount_path else path


def content_of(session: Keeper, known: Known, mounts: Sequence[Mount]) -> bytes:
    """Return a file's content: from the overlay, from what was read before, or from its mount.

    Raises:
        FileProblem: `too_large` for a skipped file, `file_changed` since it was pinned.
    """
    if known.skipped:
        raise FileProblem("too_large", f"{known.path} is not offered: {known.skipped}")
    try:
        return session.get(known.content_ref or known.sha256)
    except NotFound:
        pass
    mount = next(one for one in mounts if one.mount_path == known.mount_path)
    data = mount.read(known.inside)
    if sha256_hex(data) != known.sha256:
        raise FileProblem(
            "file_changed", f"{known.path} has changed since the workspace was opened"
        )
    session.put(data)
    return data


def text_or_none(data: bytes) -> str | None:
    """Return the text of a file, or None when it is none."""
    if b"\0" in data[:8192]:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def text_of(path: str, data: bytes) -> str:
    """Return the text of a file.

    Raises:
        FileProblem: `not_text`.
    """
    text = text_or_none(data)
    if text is None:
        raise FileProblem("not_text", f"{path} is not UTF-8 text")
    return text


def checked_path(raw: str) -> str:
    """Return a path if it is a bench path (P6.4).

    Raises:
        FileProblem: `bad_path`.
    """
    try:
        return paths.parse(raw, max_depth=MAX_DEPTH).path
    except ValidationFailed as error:
        raise FileProblem("bad_path", error.message) from error


def checked_folder(raw: str) -> str:
    """Return a folder's path; empty is the top."""
    return checked_path(raw.rstrip("/")) if raw.strip("/") else _top(raw)


def _top(raw: str) -> str:
    if raw:
        raise FileProblem("bad_path", f"{paths.UNUSABLE}absolute")
    return ""
