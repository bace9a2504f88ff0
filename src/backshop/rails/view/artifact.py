"""How an artifact is shown to people: by the renderer of its contract, else as data (R10.5)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backshop.base.canon import parse
from backshop.base.errors import ValidationFailed

from ..packs import PACKS
from ..run import contract

_RENDERERS = {kind: pack.renderer for pack in PACKS.values() for kind in (pack.kind, *pack.aliases)}
_TEXT_FIELDS = ("markdown", "report_markdown")


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headings."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """One finding of a review; `comment` is ready to be pasted."""

    severity: str
    place: str
    title: str
    text: str
    comment: str


@dataclass(frozen=True, slots=True)
class Remarks:
    """Findings of a review, and the comments written beside them."""

    findings: tuple[Remark, ...]
    comments: tuple[Remark, ...] = ()


@dataclass(frozen=True, slots=True)
class Prose:
    """Markdown an agent wrote; untrusted like all of it."""

    markdown: str
    rest: str  # the other fields, as JSON


@dataclass(frozen=True, slots=True)
class Data:
    """Anything else: indented JSON, or the text as it is when it is none."""

    text: str


Shown = Table | Remarks | Prose | Data


def shown(kind: str, data: bytes) -> Shown:
    """Return an artifact the way its contract asks to see it; what does not fit it is data."""
    try:
        value = parse(data)
    except ValidationFailed:
        return Data(data.decode(errors="replace"))
    renderer = _RENDERERS.get(kind, "json")
    if isinstance(value, dict) and not contract.conforms(kind, value):
        if renderer == "table":
            return _table(value)
        if renderer == "findings":
            return _remarks(value)
        if renderer == "markdown":
            return _prose(value)
    return Data(_indented(value))


def _table(value: Mapping[str, object]) -> Table:
    """Return the changed files: one row per path, the last one counts, sorted (R8.24)."""
    rows = {str(one["path"]): one for one in _listed(value.get("changedFiles"))}
    return Table(
        ("Path", "Risk", "Summary"),
        tuple((path, str(one["risk"]), str(one["summary"])) for path, one in sorted(rows.items())),
    )


def _remarks(value: Mapping[str, object]) -> Remarks:
    return Remarks(
        tuple(_remark(one, "rationale") for one in _listed(value.get("findings"))),
        tuple(_remark(one, "body") for one in _listed(value.get("mrComments"))),
    )


def _remark(one: Mapping[str, object], text_field: str) -> Remark:
    location = one["location"]
    assert isinstance(location, Mapping)
    line = location.get("line")
    title, text = str(one["title"]), str(one[text_field])
    suggestion = one.get("suggestion")
    parts = [f"**{title}**", text, f"Suggestion: {suggestion}" if suggestion else ""]
    return Remark(
        severity=str(one.get("severity", "")),
        place=f"{location['file']}:{line}" if line else str(location["file"]),
        title=title,
        text="\n\n".join(part for part in parts[1:] if part),
        comment="\n\n".join(part for part in parts if part),
    )


def _prose(value: Mapping[str, object]) -> Prose:
    name = next(one for one in _TEXT_FIELDS if one in value)
    rest = {key: one for key, one in value.items() if key not in (name, "kind")}
    return Prose(str(value[name]), _indented(rest) if rest else "")


def _listed(value: object) -> Sequence[Mapping[str, object]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _indented(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True)
