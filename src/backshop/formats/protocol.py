"""The words every format speaks: what goes in, what comes out, what a format module offers.

How a format plugs in
---------------------
A format is a module (`formats/pdf.py`) or a package (`formats/xlsx/__init__.py`) of plain
functions; no class is needed. It must satisfy `Format`; a kind that is written also offers
`apply_ops`, `get_styles` and `copy_assets`; the other functions of F1.4 (`extract_section`,
`extract_slide`, `extract_grid`, `diff_cells`) are offered by whoever has them. `dispatch.BUILTIN`
names the module of each kind by its dotted name, so it is imported only inside a worker process
and may import its heavy libraries at the top.

A format function is pure: a `Source` (an immutable file with its hash) and arguments in, a value
out, new bytes only to the path it is given. It sees no clock, no environment, no other file, no
workbench. Arguments and results travel between processes by pickle: keep them to the types of
this module, frozen dataclasses and JSON. Failures are `errors.fail(reason, …)`; anything else a
library throws is turned into `corrupt_file` or `verify_failed` at the worker's border (F3.2), but
say it better where you can. Never put `source.path` into a result (F1.5); results speak of
`source.name`.

Warnings are collected with `notes.Warnings`; operations are decoded with `ops.decode`; pieces of
a file are cut with `window`. Call `guard.scan(source)` (through `package.Package.open`) before any
library sees an office file. `dispatch` has called `guard.check_size` for you.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Protocol, TypeAlias

from backshop.base import limits as numbers

from .cell_range import in_cells
from .effect_range import RANGES_MAX, EffectRange, joined, joined_places
from .warning import Warn

MAP_VERSION = 3

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
JsonObject: TypeAlias = Mapping[str, Json]


def as_object(value: object) -> JsonObject:
    """Return a value that is a JSON object."""
    assert isinstance(value, Mapping)
    return value


class Kind(StrEnum):
    """The nine kinds of file (F2.1, B6.1)."""

    TEXT = "text"
    CSV = "csv"
    XLSX = "xlsx"
    DOCX = "docx"
    PPTX = "pptx"
    PDF = "pdf"
    ODT = "odt"
    IMAGE = "image"
    BINARY = "binary"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of F2.5 a person can raise; `registry` refuses values above the hard maxima."""

    max_file_bytes: int = numbers.FILE_MAX_BYTES
    max_text_bytes: int = numbers.TEXT_MAX_BYTES
    archive_bytes: int = numbers.ARCHIVE_MAX_BYTES
    part_bytes: int = numbers.PART_MAX_BYTES
    map_timeout_s: float = numbers.MAP_TIMEOUT_S
    read_timeout_s: float = numbers.READ_TIMEOUT_S
    write_timeout_s: float = numbers.WRITE_TIMEOUT_S
    render_timeout_s: float = numbers.RENDER_TIMEOUT_S
    worker_memory_bytes: int = numbers.WORKER_MEMORY_BYTES
    sql_timeout_s: float = numbers.SQL_TIMEOUT_S
    sql_memory_bytes: int = numbers.SQL_MEMORY_BYTES
    sql_threads: int = numbers.SQL_THREADS
    sql_spill_bytes: int = numbers.SQL_SPILL_BYTES
    preview_cache_bytes: int = numbers.PREVIEW_CACHE_BYTES

    @classmethod
    def for_files(cls, max_file_bytes: int) -> Limits:
        """Return the limits for files up to a size; what a larger one unpacks to grows with it.

        Twenty times the file in all and ten times in one part, as it is by default (F40.21).
        """
        plain = cls()
        if max_file_bytes <= plain.max_file_bytes:
            return cls(max_file_bytes=max_file_bytes)
        total, part = numbers.ARCHIVE_HARD_MAX_BYTES, numbers.PART_HARD_MAX_BYTES
        return cls(
            max_file_bytes=max_file_bytes,
            archive_bytes=min(max(plain.archive_bytes, 20 * max_file_bytes), total),
            part_bytes=min(max(plain.part_bytes, 10 * max_file_bytes), part),
            map_timeout_s=numbers.LARGE_FILE_TIMEOUT_S,
            read_timeout_s=numbers.LARGE_FILE_TIMEOUT_S,
        )


@dataclass(frozen=True, slots=True)
class Source:
    """An immutable file: where its bytes are, their hash, and the name people know it by."""

    path: Path
    sha256: str
    name: str  # the display path; the only one that appears in results (F1.5)
    limits: Limits = Limits()

    @property
    def size_bytes(self) -> int:
        """The size of the file."""
        return self.path.stat().st_size

    @property
    def extension(self) -> str:
        """The lower-case ending of the name with its dot, or nothing."""
        return Path(self.name).suffix.lower()


# --- maps (F5.1) -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Map:
    """The structure of a file. `data` holds the format's own keys, in the order of the spec."""

    format: str
    data: JsonObject
    warnings: tuple[Warn, ...] = ()
    security: JsonObject = field(default_factory=dict)  # keys present only when true (F4.4)

    def to_json(self, source: Source) -> dict[str, Json]:
        """Return the whole map: the common keys of F5.1, then the format's own."""
        return {
            "map_version": MAP_VERSION,
            "format": self.format,
            "size_bytes": source.size_bytes,
            "sha256": source.sha256,
            "warnings": [warning.to_json() for warning in self.warnings],
            "security": self.security,
            **self.data,
        }


# --- reads (F5.2) ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """Which part of a file to read. One type for all formats: a field of another format is an error
    only when it is set (F5.6), so a caller can pass on what a model sent."""

    chunk_index: int | None = None
    sheet: str | None = None
    range: str | None = None
    cells: str | None = None
    section: str | None = None
    paragraphs: str | None = None
    slide_index: int | None = None
    pages: str | None = None
    line_start: int | None = None
    line_count: int | None = None
    char_offset: int | None = None  # F5.4: where in the first unit to begin

    def given(self) -> dict[str, Json]:
        """Return the fields that are set."""
        pairs = ((item.name, getattr(self, item.name)) for item in fields(self))
        return {name: value for name, value in pairs if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkInfo:
    """Where a read stands in its file (F5.3).

    `span` names it the format's way: `{"lines": "1-200"}`.
    """

    chunk_index: int = 0
    total_chunks: int = 1
    next: Selector | None = None  # a complete selector for what follows, or nothing does
    span: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> JsonObject:
        """Return `chunk_info` as the specification writes it."""
        return {
            "chunk_index": self.chunk_index,
            "total_chunks": self.total_chunks,
            "has_more": self.next is not None,
            **self.span,
            "next": self.next.given() if self.next else None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A part of a file as text, and how to go on. `selector` is what was really read."""

    format: str
    text: str
    selector: Selector = Selector()
    chunk_info: ChunkInfo = ChunkInfo()
    warnings: tuple[Warn, ...] = ()
    extra: JsonObject = field(default_factory=dict)  # F9.11, F9.12: keys of one format

    def to_json(self, name: str) -> JsonObject:
        """Return the read envelope of F5.2."""
        return {
            "path": name,
            "format": self.format,
            "selector": self.selector.given(),
            "text": self.text,
            "chunk_info": self.chunk_info.to_json(),
            "warnings": [warning.to_json() for warning in self.warnings],
            **self.extra,
        }


# --- searching (F33) ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a file that is searched on its own: a line, a cell, a paragraph, a page.

    `where` is a selector of `read`, with fields of operations where they say it more exactly.
    `gap` names what kept its text from being known; then there is none.
    """

    where: JsonObject
    text: str
    gap: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextQuery:
    """What is looked for: a text, or an expression of the bounded engine."""

    text: str
    is_regex: bool = False
    match_case: bool = False
    skip: int = 0  # places that were told before
    places: int = 10  # told at most
    max_chars: int = numbers.SEARCH_FILE_MAX_CHARS


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a search found in one file; `count` goes on where `places` end."""

    count: int = 0
    places: tuple[JsonObject, ...] = ()
    more_places: int = 0
    gaps: Mapping[str, int] = field(default_factory=dict)
    searched_to: JsonObject | None = None  # where it ended before the end of the file


# --- writes (F16) ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Op:
    """One operation after `ops.decode`: canonical name and fields, checked types, no aliases left.

    `args` holds every field of the op's specification; those not given are None or their default.
    """

    index: int
    name: str
    args: JsonObject

    @property
    def where(self) -> str:
        """How errors name this operation (F16.4)."""
        return f"operations[{self.index}]"

    def number(self, name: str) -> int:
        """Return a whole number that the operation's specification requires."""
        value = self.args[name]
        assert isinstance(value, int)
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class OpsRequest:
    """What `apply_ops` is asked to do (F16.1); `operations` is undecoded JSON."""

    name: str  # the display path of the target
    operations: Json
    create_new: bool | None = None
    create_if_missing: bool | None = None
    copy_from: Source | None = None
    files: Mapping[str, Source] = field(default_factory=dict)  # by the names operations give them
    recalculate: bool = True  # xlsx: formats.recalculate (F24.11)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One thing that differs between before and after (F16.13).

    `kind`: cell, row, column, sheet, chart, picture, conditional format, validation, note, link,
    name, paragraph, table, slide, shape, notes, line, style, part.
    `where` addresses it (`Ledger!C7`, `paragraph 12`, `slide 3`, `lines 4-9`, `xl/workbook.xml`);
    `aspect` says what differs: value, formula, style, structure, added, removed. `now` is what
    stands there after the write, short, where that is worth telling.
    """

    kind: str
    where: str
    aspect: str = "value"
    now: str = field(default="", compare=False)

    def to_json(self) -> JsonObject:
        """Return the effect as data."""
        return {"kind": self.kind, "where": self.where, "aspect": self.aspect}


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectsTold:
    """The same report for whoever made the call: ranges, each difference once (F16.16)."""

    targets: tuple[str, ...] = ()
    changed: tuple[EffectRange, ...] = ()
    recalculated: tuple[EffectRange, ...] = ()
    collateral: tuple[EffectRange, ...] = ()
    totals: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        targets: Sequence[str],
        changed: Sequence[Effect],
        recalculated: Sequence[Effect],
        collateral: Sequence[Effect],
    ) -> EffectsTold:
        """Join what stands side by side; the totals count things, also where lists are cut."""
        lists = {
            "changed": joined(changed),
            "recalculated": joined(recalculated),
            "collateral": joined(collateral),
        }
        return cls(
            targets=tuple(joined_places(targets)[:RANGES_MAX]),
            **{name: tuple(ranges[:RANGES_MAX]) for name, ranges in lists.items()},
            totals={name: sum(one.count for one in ranges) for name, ranges in lists.items()},
        )

    def to_json(self) -> JsonObject:
        """Return the report of F16.16."""
        return {
            "targets": list(self.targets),
            "changed": [one.to_json() for one in self.changed],
            "recalculated": [one.to_json() for one in self.recalculated],
            "collateral": [one.to_json() for one in self.collateral],
            "totals": dict(self.totals),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """What a write was aimed at and what it really did, from comparing before with after (F16.13).

    Build with `Effects.compare`; the counts are true even where lists are cut.
    """

    targets: tuple[str, ...] = ()
    changed: tuple[Effect, ...] = ()
    collateral: tuple[Effect, ...] = ()
    recalculated: tuple[Effect, ...] = ()
    totals: Mapping[str, int] = field(default_factory=dict)
    told: EffectsTold = field(default=EffectsTold(), compare=False)

    @classmethod
    def compare(
        cls,
        *,
        targets: Sequence[str],
        changed: Sequence[Effect],
        aimed_at: Callable[[Effect], bool],
        recalculated: Sequence[Effect] = (),
    ) -> Effects:
        """Sort what `changed` into intended and collateral.

        `changed` comes from comparing the files, never from the operations; `aimed_at` tells
        whether an effect lies inside the targets; `recalculated` (F24.8) is neither.
        """
        derived = set(recalculated)
        collateral = [e for e in changed if e not in derived and not aimed_at(e)]
        beyond = derived | set(collateral)
        meant = [e for e in changed if e not in beyond and e.kind != "part"]  # parts follow
        written = {e.where for e in meant}
        most = numbers.EFFECTS_MAX
        return cls(
            targets=tuple(targets[:most]),
            changed=tuple(changed[:most]),
            collateral=tuple(collateral[:most]),
            recalculated=tuple(recalculated[:most]),
            totals={
                "targets": len(targets),
                "changed": len(changed),
                "collateral": len(collateral),
                "recalculated": len(recalculated),
                **_cells_of([e for e in changed if e not in derived]),
            },
            told=EffectsTold.of(
                targets, meant, [e for e in recalculated if e.where not in written], collateral
            ),
        )

    def to_json(self) -> JsonObject:
        """Return the report of F16.13."""
        return {
            "targets": self.targets,
            "changed": [effect.to_json() for effect in self.changed],
            "collateral": [effect.to_json() for effect in self.collateral],
            "recalculated": [effect.to_json() for effect in self.recalculated],
            "totals": dict(self.totals),
        }


def _cells_of(changed: Sequence[Effect]) -> dict[str, int]:
    """Return how many cells are in it; value, formula and look of one are one cell."""
    cells = len({e.where for e in changed if e.kind == "cell"})
    return {"cells": cells} if cells else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """The result of a write (F16.9). The new bytes are at the `out` path the function was given."""

    name: str
    size_bytes: int
    sha256: str
    created: bool = False
    ops_applied: int = 0
    changes: tuple[tuple[int, str], ...] = ()  # (op index, summary in plain words)
    focus: JsonObject | None = None
    warnings: tuple[Warn, ...] = ()
    changed_parts: tuple[str, ...] = ()
    effects: Effects = Effects()
    replaced: int = 0  # occurrences of a text that `replace_text` put another in the place of
    extra: JsonObject = field(default_factory=dict)  # F6.10, F22.5, F24.10: keys of one format

    def to_json(self) -> JsonObject:
        """Return the result as the specification writes it."""
        return {
            "ok": True,
            "path": self.name,
            "created": self.created,
            "ops_applied": self.ops_applied,
            "size_bytes": self.size_bytes,
            "sha256": self.sha256,
            "changes": [{"op_index": index, "summary": text} for index, text in self.changes],
            "focus": self.focus,
            "warnings": [warning.to_json() for warning in self.warnings],
            "changed_parts": self.changed_parts,
            "effects": self.effects.to_json(),
            **({"replaced": self.replaced} if self.replaced else {}),
            **self.extra,
        }

    def told(self) -> JsonObject:
        """Return the result as whoever made the call is told it: neighbours as ranges (F16.16)."""
        warnings = [warning.to_json() for warning in _joined_warnings(self.warnings)]
        told = {
            **self.to_json(),
            "focus": None if self.focus is None else in_cells(self.focus),
            "warnings": warnings,
            "effects": self.effects.told.to_json(),
        }
        errors = told.get("new_errors")
        if isinstance(errors, Sequence) and not isinstance(errors, str):
            told["new_errors"] = ranges = _joined_errors(errors)
            if len(ranges) == RANGES_MAX:
                told["new_error_count"] = len(errors)
        return told


def _joined_warnings(warnings: Sequence[Warn]) -> list[Warn]:
    """Return warnings with those of one code about neighbouring cells as one."""
    cells = [one for one in warnings if one.where and "!" in one.where and one.count == 1]
    ranges = joined(Effect(kind=one.code, where=one.where or "") for one in cells)
    taken = set(cells)
    others = [one for one in warnings if one not in taken]
    return [*others, *(Warn(one.kind, one.count, one.where) for one in ranges)]


def _joined_errors(errors: Sequence[Json]) -> list[Json]:
    """Return error cells with neighbours that show the same error as one range (F24.10)."""
    known = {
        (str(one["sheet"]), str(one["cell"])): one for one in errors if isinstance(one, Mapping)
    }
    ranges = joined(
        Effect(kind=str(one["error"]), where=f"{sheet}!{cell}", now=str(one["formula"]))
        for (sheet, cell), one in known.items()
    )
    found: list[Json] = []
    for one in ranges[:RANGES_MAX]:
        sheet, _, cells = one.where.rpartition("!")
        said: dict[str, Json] = {
            "sheet": sheet,
            "cell": cells,
            "error": one.kind,
            "formula": one.first,
        }
        found.append(said | ({"count": one.count} if one.count > 1 else {}))
    return found


# --- what a format module offers (F1.4) ---------------------------------------------------------


class Format(Protocol):
    """Every kind that can be read. The registry adds the common keys of F15 to `get_info`."""

    def get_info(self, source: Source) -> JsonObject:
        """Return the format's own keys of F15.1."""

    def get_map(self, source: Source) -> Map:
        """Return the full map; the registry shortens it for prompts (F5.9)."""

    def read(self, source: Source, selector: Selector) -> Read:
        """Return the selected part, at most 64 KiB of it (F5.4)."""

    def extract_lines(self, source: Source) -> list[str]:
        """Return stable lines for review (F29.1)."""

    # `passages(source) -> Iterator[Passage]` (F33.1) is offered by whoever can say where its text
    # stands; without it, the lines for review are searched.
