"""A proposed changeset: taken out of what a model wrote, and held against its rules (W14.2, W14.3).

Nothing here touches a file. What is wrong is said in sentences a model can act on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from backshop.base import canon, paths
from backshop.base.errors import ValidationFailed
from backshop.base.limits import MIB

SCHEMA_VERSION = 2
WRITES_MAX = 10  # B8.4
WRITE_MAX_BYTES = MIB
OPS_PER_FILE_MAX = 100
OPS_MAX = 500
SUMMARY_MAX_CHARS = 4_000
PROBLEMS_SHOWN = 20
_TEXT_MAX_CHARS = 16 * MIB
_DELETING = ("delete", "deletes")

OPERATIONS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "docx": frozenset(("set_paragraphs", "append_paragraph", "replace_text")),
        "xlsx": frozenset(
            (
                *("ensure_sheet", "set_cells", "set_range", "set_column_widths"),
                *("set_row_heights", "freeze_panes"),
            )
        ),
        "pptx": frozenset(("add_slide", "set_slide_text", "append_bullets")),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextWrite:
    """The whole new text of a file."""

    path: str
    content: str
    summary: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOps:
    """Operations on one office file."""

    path: str
    kind: str
    summary: str
    ops: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changeset:
    """What a model proposes to change; `no_changes` is: nothing."""

    summary: str
    no_changes: bool = False
    writes: tuple[TextWrite, ...] = ()
    ops: tuple[FileOps, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """Every file it changes or makes."""
        return (*(one.path for one in self.writes), *(one.path for one in self.ops))

    def to_json(self) -> dict[str, Any]:
        """Return it as it is stored."""
        return {
            "schema_version": SCHEMA_VERSION,
            "summary": self.summary,
            "no_changes": self.no_changes,
            "writes": [
                {"path": one.path, "content": one.content, "summary": one.summary}
                for one in self.writes
            ],
            "ops": [
                {
                    "path": one.path,
                    "kind": one.kind,
                    "summary": one.summary,
                    "ops": [dict(op) for op in one.ops],
                }
                for one in self.ops
            ],
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What came of a model's text: a changeset, or what is wrong with it."""

    changeset: Changeset | None = None
    problems: tuple[str, ...] = ()
    is_final: bool = False
    """Whether asking again would be wrong: it wants to delete something."""


def read(text: str) -> Read:
    """Take a proposal out of what a model wrote."""
    try:
        value = _object(text)
    except ValidationFailed as error:
        return Read(problems=(f"The JSON in the answer cannot be used: {error.message}.",))
    if value is None:
        return Read(problems=("There is no JSON object in the answer.",))
    if _deletes(value):
        return Read(
            problems=("Nothing can be deleted: leave out every key delete or deletes.",),
            is_final=True,
        )
    problems = tuple(_problems(value))
    if problems:
        return Read(problems=problems[:PROBLEMS_SHOWN])
    return Read(changeset=from_json(value))


def nothing(why: str) -> Changeset:
    """Return the changeset that stands for a proposal nobody could use (W14.4)."""
    return Changeset(summary="No changes.", no_changes=True, warnings=(why,))


def _object(text: str) -> dict[str, Any] | None:
    """Return the JSON object of a text; what stands around its outermost braces is cut off.

    Raises:
        ValidationFailed: it is no JSON, or holds what cannot be stored.
    """
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start or end - start > _TEXT_MAX_CHARS:
        return None
    value = canon.parse(text[start : end + 1])
    return value if isinstance(value, dict) else None


def _deletes(value: object) -> bool:
    """Whether a key that deletes stands anywhere in it."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            if any(key in one for key in _DELETING):
                return True
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
    return False


def _problems(value: dict[str, Any]) -> Iterator[str]:
    version = value.get("schema_version", 1)
    if version not in (1, SCHEMA_VERSION) or isinstance(version, bool):
        yield f"schema_version is {SCHEMA_VERSION}."
    summary = value.get("summary")
    if not isinstance(summary, str) or not summary.strip():
        yield "summary is a text that says what changes."
    no_changes = value.get("no_changes", False)
    if not isinstance(no_changes, bool):
        yield "no_changes is true or false."
    writes, ops = value.get("writes") or [], value.get("ops") or []
    if not isinstance(writes, list) or not isinstance(ops, list):
        yield "writes and ops are lists."
        return
    if version == 1 and ops:
        yield f"ops need schema_version {SCHEMA_VERSION}."
    if no_changes and (writes or ops):
        yield "no_changes is true, so writes and ops are empty."
    if no_changes is False and not writes and not ops:
        yield "There are neither writes nor ops; set no_changes to true if nothing changes."
    yield from _write_problems(writes)
    yield from _ops_problems(ops)
    named = [str(one.get("path")) for one in (*writes, *ops) if isinstance(one, dict)]
    for path in sorted({path for path in named if named.count(path) > 1}):
        yield f"{path} stands more than once; put what belongs to a file together."


def _write_problems(writes: list[Any]) -> Iterator[str]:
    if len(writes) > WRITES_MAX:
        yield f"There are {len(writes)} writes; at most {WRITES_MAX} are possible."
    for number, one in enumerate(writes):
        where = f"writes[{number}]"
        if not isinstance(one, dict):
            yield f"{where} is an object with path and content."
            continue
        yield from _path_problems(where, one.get("path"))
        content = one.get("content")
        if not isinstance(content, str):
            yield f"{where}.content is the whole new text."
        elif len(content.encode(errors="replace")) > WRITE_MAX_BYTES:
            yield f"{where}.content is larger than {WRITE_MAX_BYTES} bytes."
        elif kind := _kind(one.get("path")):
            yield f"{where} is a {kind} file; change it with ops."


def _ops_problems(entries: list[Any]) -> Iterator[str]:
    total = 0
    for number, one in enumerate(entries):
        where = f"ops[{number}]"
        if not isinstance(one, dict) or not isinstance(one.get("ops"), list):
            yield f"{where} is an object with path, kind, summary and ops."
            continue
        total += len(one["ops"])
        yield from _path_problems(where, one.get("path"))
        kind = one.get("kind")
        if not isinstance(kind, str) or kind != _kind(one.get("path")):
            yield f"{where}.kind is the ending of its file: docx, xlsx or pptx."
        if not isinstance(one.get("summary"), str) or not one["summary"].strip():
            yield f"{where}.summary says what changes in this file."
        if not 1 <= len(one["ops"]) <= OPS_PER_FILE_MAX:
            yield f"{where} has 1 to {OPS_PER_FILE_MAX} operations."
        allowed = OPERATIONS.get(str(kind), frozenset())
        for place, op in enumerate(one["ops"]):
            name = op.get("op") if isinstance(op, dict) else None
            if not isinstance(name, str) or name not in allowed:
                yield f"{where}.ops[{place}].op is one of {', '.join(sorted(allowed))}."
    if total > OPS_MAX:
        yield f"There are {total} operations; at most {OPS_MAX} are possible."


def _path_problems(where: str, path: object) -> Iterator[str]:
    if not isinstance(path, str):
        yield f"{where}.path is a path in the workbench."
        return
    try:
        paths.bench_path(path)
    except ValidationFailed as error:
        yield f"{where}.path cannot be used: {error.message}."


def _kind(path: object) -> str | None:
    """Return the kind of office file a path names, if it names one."""
    ending = str(path).rpartition(".")[2].lower()
    return ending if ending in OPERATIONS else None


def from_json(value: Mapping[str, Any]) -> Changeset:
    """Return a changeset that obeys the rules."""
    warnings = value.get("warnings")
    return Changeset(
        summary=value["summary"].strip()[:SUMMARY_MAX_CHARS],
        no_changes=value.get("no_changes", False),
        writes=tuple(
            TextWrite(path=one["path"], content=one["content"], summary=_said(one))
            for one in value.get("writes") or ()
        ),
        ops=tuple(
            FileOps(path=one["path"], kind=one["kind"], summary=_said(one), ops=tuple(one["ops"]))
            for one in value.get("ops") or ()
        ),
        warnings=tuple(str(one)[:500] for one in warnings) if isinstance(warnings, list) else (),
    )


def _said(one: dict[str, Any]) -> str:
    said = one.get("summary")
    return said.strip()[:SUMMARY_MAX_CHARS] if isinstance(said, str) else ""
