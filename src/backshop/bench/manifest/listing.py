"""Which files a prompt lists one by one, and whose content stands in it (W6.4, W6.7, W6.8).

A small bench is listed whole. A large one is listed by folders, so that every file is still
represented; what the person spoke of comes first in either choice. A line says what stays true for
long, path and kind, so that lists of one turn and the next begin alike.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from backshop.base.limits import CHARS_PER_TOKEN

LINES_MAX = 500  # W6.7
MANIFEST_SHARE = 0.10
CONTENTS_MAX = 60  # W6.8
CONTENTS_SHARE = 0.25
OTHERS_TOKENS = 2_000  # of files that nobody spoke of, where nobody spoke of any
OTHERS_PART = 0.2  # of the share of contents, at the most
INLINE_MAX_BYTES = 4_000  # W6.4
_WORD_MIN_CHARS = 4  # of a file's name that counts when it is said
_WORD_FILES_MAX = 5  # a word in the names of more files tells nothing about one of them
_WORDS = re.compile(r"[^\W\d_]+")
_FILES_PART = 0.8  # of the budget; the rest is for folders
_SAID_MAX_CHARS = 20_000  # of one message that is searched for names
_KINDS_SHOWN = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFact:
    """One file of the view: what the tree knows of it and what its first bytes say."""

    path: str
    kind: str
    size_bytes: int
    sha256: str
    readable: bool = True
    reason: str = ""
    is_opaque: bool = False
    writable: bool = True
    change: str | None = None
    """What the Draft did to it: `added`, `modified`, or None."""

    @property
    def line(self) -> str:
        """The file as a manifest lists it: path, kind, and what cannot be done with it."""
        about = [self.kind]
        if not self.readable:
            about.append(f"content unavailable: {self.reason or 'opaque'}")
        elif not self.writable:
            about.append("read-only")
        return f"- {self.path} ({', '.join(about)})"

    @property
    def detail(self) -> str:
        """The file as a turn is told of it: how large it is, and what the Draft did to it."""
        change = f", {self.change} in the Draft" if self.change else ""
        return f"- {self.path} ({self.kind}, {self.size_bytes} bytes{change})"


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderFact:
    """The files of a folder and below that are not listed one by one."""

    path: str
    files: int
    size_bytes: int
    kinds: tuple[str, ...]

    @property
    def line(self) -> str:
        """The folder as a manifest lists it."""
        shown = ", ".join(self.kinds[:_KINDS_SHOWN]) + (" …" * (len(self.kinds) > _KINDS_SHOWN))
        where = f"{self.path}/" if self.path else "(top folder)"
        return f"- {where} ({self.files} files, {self.size_bytes} bytes: {shown})"


@dataclass(frozen=True, slots=True)
class Listing:
    """Every file represented: by its own line, or by its folder's."""

    files: tuple[FileFact, ...] = ()
    folders: tuple[FolderFact, ...] = ()


@dataclass(frozen=True, slots=True)
class Content:
    """What could stand in a prompt for a file: its map, or its text if it is a small one."""

    path: str
    text: str
    is_map: bool = True

    @property
    def tokens(self) -> int:
        """How much of the window it takes."""
        return -(-len(self.text) // CHARS_PER_TOKEN)


def named_paths(paths: Iterable[str], texts: Sequence[str]) -> frozenset[str]:
    """Return the paths that a text names, whole or by the file's name."""
    said = "\n".join(text[:_SAID_MAX_CHARS] for text in texts).casefold()
    if not said.strip():
        return frozenset()
    return frozenset(
        path
        for path in paths
        if _says(said, path.casefold()) or _says(said, path.rpartition("/")[2].casefold())
    )


def spoken_of(paths: Sequence[str], texts: Sequence[str]) -> frozenset[str]:
    """Return the files that texts are about: named, or by a word of their name that few have."""
    said = {word for text in texts for word in _words(text[:_SAID_MAX_CHARS])}
    having: Counter[str] = Counter()
    words = {path: _words(path.rpartition("/")[2].rpartition(".")[0]) for path in paths}
    for found in words.values():
        having.update(found)
    telling = {word for word in said if 0 < having[word] <= _WORD_FILES_MAX}
    return named_paths(paths, texts) | {path for path, own in words.items() if own & telling}


def _words(text: str) -> set[str]:
    found = (word.casefold() for word in _WORDS.findall(text))
    return {word for word in found if len(word) >= _WORD_MIN_CHARS}


def choose_lines(
    files: Sequence[FileFact], *, window_tokens: int, named: Collection[str] = ()
) -> Listing:
    """Return how the files are listed within the manifest's budget (W6.7)."""
    room = int(window_tokens * MANIFEST_SHARE) * CHARS_PER_TOKEN
    ordered = sorted(files, key=lambda one: one.path.encode())
    if len(ordered) <= LINES_MAX and sum(map(_cost, ordered)) <= room:
        return Listing(tuple(ordered))
    kept = _first_ones(ordered, set(named), room)
    rest = [one for one in ordered if one.path not in kept]
    used = sum(_cost(one) for one in ordered if one.path in kept)
    folders = _folders(rest, lines=LINES_MAX - len(kept), chars=room - used)
    return Listing(tuple(one for one in ordered if one.path in kept), folders)


def choose_contents(
    contents: Iterable[Content], *, room_tokens: int, spoken: Collection[str] = ()
) -> tuple[Content, ...]:
    """Return the contents a prompt shows, in the order of their paths (W6.8).

    Where files were spoken of these alone; else small ones, as an overview.
    """
    first = set(spoken)
    room = room_tokens if first else min(OTHERS_TOKENS, int(room_tokens * OTHERS_PART))
    kept: list[Content] = []
    for one in sorted(contents, key=lambda one: (one.tokens, one.path.encode())):
        is_wanted = one.path in first or not first
        if is_wanted and len(kept) < CONTENTS_MAX and one.tokens <= room:
            kept.append(one)
            room -= one.tokens
    return tuple(sorted(kept, key=lambda one: one.path.encode()))


def contents_room(window_tokens: int) -> int:
    """Return how much of a window the contents of files may take, in tokens (W6.8)."""
    return int(window_tokens * CONTENTS_SHARE)


def _says(said: str, name: str) -> bool:
    """Whether a text holds a name that is not part of a longer one."""
    at = said.find(name) if name else -1
    while at >= 0:
        before, after = said[at - 1 : at], said[at + len(name) : at + len(name) + 1]
        is_word = before.isalnum() or before in ("_", "-", ".") if before else False
        goes_on = after.isalnum() or after in ("_", "-") if after else False
        if not is_word and not goes_on:
            return True
        at = said.find(name, at + 1)
    return False


def _cost(one: FileFact) -> int:
    return len(one.line) + 1


def _first_ones(ordered: Sequence[FileFact], named: set[str], room: int) -> set[str]:
    """Return the files that get a line of their own: named, changed, at the top."""
    groups = (
        [one for one in ordered if one.path in named],
        [one for one in ordered if one.change],
        [one for one in ordered if "/" not in one.path],
    )
    kept: set[str] = set()
    chars = int(room * _FILES_PART)
    for one in (one for group in groups for one in group):
        if one.path in kept:
            continue
        if len(kept) >= LINES_MAX * _FILES_PART or _cost(one) > chars:
            break
        kept.add(one.path)
        chars -= _cost(one)
    return kept


def _folders(rest: Sequence[FileFact], *, lines: int, chars: int) -> tuple[FolderFact, ...]:
    """Return folder lines as deep as the budget allows; one for everything always fits."""
    if not rest:
        return ()
    deepest = max(one.path.count("/") for one in rest)
    for depth in range(min(deepest, 8), 0, -1):
        found = _grouped(rest, depth)
        if len(found) <= lines and sum(len(one.line) + 1 for one in found) <= chars:
            return found
    return _grouped(rest, 0)


def _grouped(rest: Sequence[FileFact], depth: int) -> tuple[FolderFact, ...]:
    groups: dict[str, list[FileFact]] = {}
    for one in rest:
        folder = "/".join(one.path.split("/")[:-1][:depth])
        groups.setdefault(folder, []).append(one)
    return tuple(
        FolderFact(
            path=folder,
            files=len(found),
            size_bytes=sum(one.size_bytes for one in found),
            kinds=tuple(sorted({one.kind for one in found})),
        )
        for folder, found in sorted(groups.items(), key=lambda item: item[0].encode())
    )
