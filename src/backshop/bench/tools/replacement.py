"""`replace_in_files`: a text in the place of another, over many files, as one batch (F33.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from backshop.base.errors import LimitExceeded, ValidationFailed
from backshop.base.limits import SEARCH_TIME_S
from backshop.base.paths import BenchPath
from backshop.formats import Applied, FormatError, Needle, Source, TextQuery
from backshop.prompts import Tool, ToolContext, ToolResult

from .files import NOTE_MAX_CHARS, described
from .search import QUERY_MAX_CHARS, chosen
from .workspace import Workspace, answered, noted

REPLACE_MAX_CHARS = 10_000
_UNWRITTEN = frozenset({"read_only_format", "macro_enabled_read_only", "unsupported_format"})
"""Why a file is passed over: its kind is only read, so nobody can have meant to change it."""


IN_FORMULAS = (
    "Formulas are left alone here; replace_text of xlsx_operations changes them with in_formulas."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaceInFiles:
    """Arguments of replace_in_files."""

    search: str
    replace: str
    paths: list[str] | None = None
    prefix: str | None = None
    match_case: bool | None = field(default=None, metadata=described("true if absent"))
    whole_word: bool | None = None
    expect: int | None = None
    change_note: str | None = None


@dataclass(slots=True)
class _Replacement:
    """One call at work."""

    room: Workspace
    params: ReplaceInFiles
    needle: Needle
    ends: float
    unwritten: list[BenchPath]

    def make(self, source: Source, out: Path) -> Applied | None:
        """Write a file anew; None where it does not have the text, or is only read."""
        desk = self.room.bench.desk
        if desk.clock.monotonic() > self.ends:
            raise LimitExceeded(
                "replacing takes too long for one call: nothing was changed",
                reason="timeout",
                detail=f"{source.name} was next; name fewer files by paths or prefix",
            )
        try:
            return self.room.bench.formats.replace_text(
                source,
                self.needle,
                self.params.replace,
                out,
                recalculate=desk.settings.recalculate,
            )
        except FormatError as error:
            if error.reason in _UNWRITTEN:
                self.unwritten.append(BenchPath(source.name))
            elif error.reason != "no_match":
                error.detail = f"{source.name}: {error.detail or error.message}"
                raise
            return None

    def check(self, made: Sequence[Applied]) -> None:
        """Refuse before anything is recorded: nothing found, or not as often as expected."""
        total = sum(one.replaced for one in made)
        expect = self.params.expect
        if not total:
            said = "the text occurs in none of the files that can be changed: nothing was changed"
            error = ValidationFailed(said, reason="no_match")
            error.hints = (IN_FORMULAS,)
            raise error
        if expect is not None and expect != total:
            error = ValidationFailed(
                f"{expect} expected, {total} found: nothing was changed", reason="ambiguous_match"
            )
            error.hints = tuple(f"{one.name}: {one.replaced}" for one in made[:20])
            raise error

    def left(self) -> list[dict[str, Any]]:
        """Return the files that have the text and are only read."""
        found: list[dict[str, Any]] = []
        query = TextQuery(text=self.needle.search, match_case=self.needle.match_case, places=0)
        for path in self.unwritten:
            left_s = self.ends - self.room.bench.desk.clock.monotonic()
            try:
                source = self.room.source(path)
                count = self.room.bench.formats.search(source, query, max(left_s, 0.5)).count
            except FormatError as error:
                if error.reason not in _UNWRITTEN:
                    found.append({"path": path, "reason": error.reason})
                continue
            if count:
                found.append({"path": path, "reason": "read_only_format", "count": count})
        return found


def _replace(params: ReplaceInFiles, *, context: ToolContext) -> ToolResult:
    room = context.resource(Workspace)
    return answered(lambda: _replaced(room, params))


def _replaced(room: Workspace, params: ReplaceInFiles) -> dict[str, Any]:
    _check(params)
    paths = list(chosen(room, params.paths, params.prefix))
    needle = Needle(params.search, params.match_case is not False, bool(params.whole_word))
    ends = room.bench.desk.clock.monotonic() + SEARCH_TIME_S
    work = _Replacement(room, params, needle, ends, [])
    note = params.change_note or f"{params.search!r} became {params.replace!r}"
    done, made = room.write_those(paths, work.make, note[:NOTE_MAX_CHARS], work.check)
    left = work.left()
    same = {"no_changes": True} if done.no_changes else {}
    answer = {
        "replaced": sum(one.replaced for one in made),
        "files": [_told(one) for one in made],
        **({"left": left} if left else {}),
        **same,
        "draft_revision_id": done.draft_revision_id,
    }
    return noted(answer, "", done.warnings)


def _told(one: Applied) -> dict[str, Any]:
    said = one.told()
    more = {key: said[key] for key in ("warnings", "new_errors") if said.get(key)}
    counts = said.get("recalculated")
    if isinstance(counts, Mapping) and counts.get("not_computed"):
        more["recalculated"] = counts
    effects = one.effects.told
    if effects.collateral:
        more["collateral"] = [each.to_json() for each in effects.collateral]
    return {"path": one.name, "count": one.replaced, **more}


def _check(params: ReplaceInFiles) -> None:
    if not params.search or len(params.search) > QUERY_MAX_CHARS:
        raise ValidationFailed(f"search has 1 to {QUERY_MAX_CHARS} characters", reason="bad_value")
    if any(sign in params.search for sign in "\r\n"):
        raise ValidationFailed("search is of one line", reason="bad_value")
    if len(params.replace) > REPLACE_MAX_CHARS:
        raise ValidationFailed(
            f"replace has at most {REPLACE_MAX_CHARS} characters", reason="bad_value"
        )
    if params.search == params.replace:
        raise ValidationFailed("search and replace are the same", reason="bad_value")
    if params.paths is None and params.prefix is None:
        raise ValidationFailed(
            "say which files: paths, or a prefix; an empty one means all", reason="missing_field"
        )
    if params.expect is not None and params.expect < 1:
        raise ValidationFailed("expect is at least 1", reason="bad_value")


REPLACE_IN_FILES = Tool(
    "replace_in_files",
    "Replace text in many files, office too, all or none. Give paths or prefix ('': all).",
    ReplaceInFiles,
    _replace,
    effects="write",
)
