"""A digest made without a model: same files, same bytes (P7.8).

Every line names the file it comes from, so a reader can check it. What files say about
themselves is quoted and cut, never obeyed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .digest import normalise_digest
from .manifest import Manifest, ManifestEntry
from .tool_files import is_tooling, tooling_lines

DIGEST_BUDGET_BYTES = 12_288
READ_MAX_FILES = 64
READ_MAX_BYTES = 262_144
LAYOUT_MAX_ENTRIES = 40
DOCUMENTS_MAX = 30
PARAGRAPH_MAX_CHARS = 600
LARGE_BYTES = 10 * 1024 * 1024
_FILE_READ_BYTES = 16_384
_LIST_MAX = 12
_SPAN_MAX_CHARS = 160
_READ_FIRST = re.compile(
    r"(README[^/]*|CONTRIBUTING[^/]*|AGENTS\.md|docs/index[^/]*)", re.IGNORECASE
)
_DATA_TYPES = ("csv", "xlsx", "docx", "odt", "pptx", "pdf", "image")
_UNITS = ((1024**3, "GiB"), (1024**2, "MiB"), (1024, "KiB"))

Read = Callable[[str, int], bytes | None]
"""`read(path, max_bytes)`: the beginning of a file, or None if it cannot be read."""


@dataclass(frozen=True, slots=True)
class DigestOutput:
    """A digest and its first line."""

    digest: str
    summary: str = ""


@dataclass(slots=True)
class _Part:
    title: str
    lines: list[str]
    left_out: int = 0

    def text(self) -> str:
        more = [f"- and {self.left_out} more"] if self.left_out else []
        return "\n".join([f"#### {self.title}", "", *self.lines, *more])


def build_digest(
    manifest: Manifest, maps: Mapping[str, Mapping[str, Any]], read: Read
) -> DigestOutput:
    """Return the digest of these files.

    `maps` holds the maps that are known, by path (F5.1). `read` gives the beginning of a file;
    it is asked for at most 64 files and 256 KiB.
    """
    reader = _Reader(read)
    overview = _overview(manifest)
    tooling, broken = tooling_lines(_tooling_files(manifest, reader))
    parts = [
        _Part("Overview", overview),
        _layout(manifest.entries),
        _Part("Read first", list(_read_first(manifest, reader))),
        _documents(manifest, maps),
        _Part("Build, test and tooling", tooling),
        _cautions(manifest, reader, broken),
    ]
    kept = [part for part in parts if part.lines]
    _fit(kept)
    clean = normalise_digest("\n\n".join(part.text() for part in kept))
    return DigestOutput(clean.body, overview[0])


def _fit(parts: Sequence[_Part]) -> None:
    """Take lines from the end of the longest part until the budget holds."""
    sizes = [sum(len(line.encode()) + 1 for line in part.lines) for part in parts]
    room = DIGEST_BUDGET_BYTES - sum(len(part.title) + 32 for part in parts)
    while sum(sizes) > room:
        place = max(range(len(parts)), key=lambda one: (sizes[one], -one))
        line = parts[place].lines.pop()
        sizes[place] -= len(line.encode()) + 1
        parts[place].left_out += 1


class _Reader:
    """Reads with a common budget; what does not fit is not read."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._files = 0
        self._bytes = 0
        self.not_utf8: list[str] = []

    def text(self, path: str) -> str | None:
        room = min(_FILE_READ_BYTES, READ_MAX_BYTES - self._bytes)
        if self._files >= READ_MAX_FILES or room <= 0:
            return None
        data = self._read(path, room)
        if data is None:
            return None
        self._files += 1
        self._bytes += len(data)
        try:
            return data[:room].decode("utf-8-sig")
        except UnicodeDecodeError as error:
            if error.start < len(data) - 4 or len(data) < room:
                self.not_utf8.append(path)
            return data.decode("utf-8", "replace")


def _overview(manifest: Manifest) -> list[str]:
    entries = manifest.entries
    if not entries:
        return ["No files."]
    types = Counter(entry.type for entry in entries)
    total = size_text(sum(entry.size for entry in entries))
    shown = ", ".join(
        f"{count} {kind}"
        for kind, count in sorted(types.items(), key=lambda one: (-one[1], one[0]))
    )
    folders = {entry.path.rpartition("/")[0] for entry in entries} - {""}
    lines = [
        f"{_count(len(entries), 'file')}, {total}, in {_count(len(folders), 'folder')}: {shown}."
    ]
    if not manifest.complete:
        lines.append("The list of files is not complete.")
    return lines


@dataclass(slots=True)
class _Folder:
    count: int = 0
    size: int = 0
    folders: dict[str, _Folder] = field(default_factory=dict)
    files: list[ManifestEntry] = field(default_factory=list)


def _layout(entries: Iterable[ManifestEntry]) -> _Part:
    root = _Folder()
    for entry in entries:
        names = entry.path.split("/")
        folder = root
        for name in names[:-1][:2]:
            folder = folder.folders.setdefault(name, _Folder())
            folder.count += 1
            folder.size += entry.size
        if len(names) <= 2:
            folder.files.append(entry)
    top: list[str] = []
    below: dict[int, list[str]] = {}
    for name, folder in root.folders.items():
        below[len(top)] = [
            f"  - {code(inner + '/')} — {_count(one.count, 'file')}, {size_text(one.size)}"
            for inner, one in folder.folders.items()
        ]
        top.append(
            f"- {code(name + '/')} — {_count(folder.count, 'file')}, {size_text(folder.size)}"
        )
    top += [f"- {code(entry.path)} — {size_text(entry.size)}" for entry in root.files]
    return _trimmed_layout(top, below)


def _trimmed_layout(top: list[str], below: dict[int, list[str]]) -> _Part:
    """Show the top level first, then folders below it while there is room."""
    shown = top[:LAYOUT_MAX_ENTRIES]
    room = LAYOUT_MAX_ENTRIES - len(shown)
    lines: list[str] = []
    for place, line in enumerate(shown):
        lines.append(line)
        inner = below.get(place, [])
        share = min(len(inner), max(room, 0), 8)
        lines += inner[:share]
        room -= share
        if share and len(inner) > share:
            lines.append(f"  - and {len(inner) - share} more folders")
    return _Part("Layout", lines, len(top) - len(shown))


def _read_first(manifest: Manifest, reader: _Reader) -> Iterable[str]:
    found = [e for e in manifest.entries if e.readable and _READ_FIRST.fullmatch(e.path)]
    for entry in sorted(found, key=lambda e: (e.path.count("/"), e.path.encode()))[:_LIST_MAX]:
        text = reader.text(entry.path)
        if text is None:
            continue
        title, paragraph = _opening(text)
        yield f"- {code(entry.path)}" + (f": {title}" if title else "")
        if paragraph:
            yield f"  > {paragraph}"


def _opening(text: str) -> tuple[str, str]:
    """Return the title and the first paragraph of a document, each as one line."""
    title, fence = "", False
    paragraph: list[str] = []
    for raw in text.splitlines():
        line = raw.strip()
        if line.startswith(("```", "~~~")):
            fence = not fence
        elif len(paragraph) == 1 and not title and len(line) > 2 and set(line) in ({"="}, {"-"}):
            title = paragraph.pop()
        elif fence or set(line) <= set("=-*_ ") or line.startswith(("<", "[!", "![")):
            if paragraph:
                break
        elif line.startswith("#") and line.lstrip("#")[:1] in ("", " "):
            if paragraph:
                break
            title = title or line.lstrip("#").strip()
        else:
            paragraph.append(line)
    return _plain(title, 120), _plain(" ".join(paragraph), PARAGRAPH_MAX_CHARS)


def _plain(text: str, limit: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def _documents(manifest: Manifest, maps: Mapping[str, Mapping[str, Any]]) -> _Part:
    found = [entry for entry in manifest.entries if entry.type in _DATA_TYPES]
    lines = []
    for entry in found[:DOCUMENTS_MAX]:
        what = map_line(maps.get(entry.path, {}))
        facts = f"{entry.type}, {size_text(entry.size)}" + (f"; {what}" if what else "")
        lines.append(f"- {code(entry.path)}: {facts}")
    return _Part("Data and documents", lines, max(0, len(found) - DOCUMENTS_MAX))


def map_line(found: Mapping[str, Any]) -> str:
    """Return what a map says about a file, in one line; nothing for a map of another shape."""
    match found:
        case {"sheets": [*sheets]}:
            return _some("sheets", [_sheet(one) for one in sheets])
        case {"columns": [*columns], "row_count": int(rows)}:
            return f"{_count(rows, 'row')}; " + _some("columns", [_name(one) for one in columns])
        case {"slides": [*slides]}:
            titles = [_name(one, "title") for one in slides]
            return f"{_count(len(slides), 'slide')}; " + _some("titles", titles)
        case {"page_count": int(pages)}:
            return _count(pages, "page")
        case {"sections": [*sections]} | {"headings": [*sections]}:
            tops = [_name(one, "title", "heading", "text") for one in sections]
            return _some("headings", tops)
        case {"width": int(width), "height": int(height)}:
            return f"{width} × {height} pixels"
    return ""


def _sheet(one: Any) -> str:
    name = _name(one)
    used = one.get("used_range") if isinstance(one, Mapping) else None
    if isinstance(used, Mapping) and {"max_row", "max_col"} <= used.keys():
        return f"{name} ({used['max_row']} × {used['max_col']})"
    return name


def _name(one: Any, *keys: str) -> str:
    if isinstance(one, Mapping):
        values = (one.get(key) for key in (*keys, "name"))
        one = next((value for value in values if isinstance(value, str) and value), "")
    return _plain(str(one), 60)


def _some(what: str, names: Sequence[str]) -> str:
    shown = [name for name in names if name]
    rest = f" and {len(shown) - _LIST_MAX} more" if len(shown) > _LIST_MAX else ""
    return f"{what}: {', '.join(shown[:_LIST_MAX])}{rest}" if shown else ""


def _tooling_files(manifest: Manifest, reader: _Reader) -> list[tuple[str, str | None]]:
    found = [entry.path for entry in manifest.entries if is_tooling(entry.path)]
    ordered = sorted(found, key=lambda path: (path.count("/"), path.encode()))
    return [(path, reader.text(path)) for path in ordered[:READ_MAX_FILES]]


def _cautions(manifest: Manifest, reader: _Reader, broken: Sequence[str]) -> _Part:
    opaque = [e for e in manifest.entries if not e.readable]
    lines = [f"- {code(e.path)}: not readable ({e.reason or e.type})" for e in opaque[:_LIST_MAX]]
    left_out = max(0, len(opaque) - _LIST_MAX)
    large = [e for e in manifest.entries if e.size > LARGE_BYTES]
    lines += [f"- {code(e.path)}: large, {size_text(e.size)}" for e in large[:_LIST_MAX]]
    left_out += max(0, len(large) - _LIST_MAX)
    lines += [f"- {code(path)}: could not be understood" for path in broken]
    lines += [f"- {code(path)}: not UTF-8" for path in reader.not_utf8]
    same = _duplicates(manifest.entries)
    lines += same[:_LIST_MAX]
    return _Part("Cautions", lines, left_out + max(0, len(same) - _LIST_MAX))


def _duplicates(entries: Iterable[ManifestEntry]) -> list[str]:
    by_hash: dict[str, list[str]] = {}
    for entry in entries:
        if entry.size and entry.sha256:
            by_hash.setdefault(entry.sha256, []).append(entry.path)
    return [
        f"- {code(paths[0])} has the same content as {', '.join(code(one) for one in paths[1:4])}"
        + (f" and {len(paths) - 4} more" if len(paths) > 4 else "")
        for paths in by_hash.values()
        if len(paths) > 1
    ]


def code(text: str) -> str:
    """Return text as a code span of one line that nothing inside can close."""
    flat = _plain("".join(char if char.isprintable() else " " for char in text), _SPAN_MAX_CHARS)
    return "`" + flat.replace("`", "'") + "`"


def size_text(size: int) -> str:
    """Return a size as people read it."""
    for unit, name in _UNITS:
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size} B"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
