"""`search_files`: where a text stands, over files of every kind that can be read (F33)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backshop.base import tree
from backshop.base.errors import NotFound, ValidationFailed
from backshop.base.limits import SEARCH_TIME_S
from backshop.base.paths import BenchPath
from backshop.formats import FormatError, Found, TextQuery
from backshop.prompts import Tool, ToolContext, ToolResult

from .files import described
from .workspace import Workspace, answered

QUERY_MAX_CHARS = 1000
PLACES_OF_ONE_FILE = 10  # while several are searched
UNSEARCHED_LISTED = 20
_LEAST_S = 0.5  # a file begun later would hardly be read


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFiles:
    """Arguments of search_files."""

    query: str
    paths: list[str] | None = None
    prefix: str | None = None
    is_regex: bool | None = None
    match_case: bool | None = field(default=None, metadata=described("false if absent"))
    limit: int | None = None
    cursor: str | None = None


@dataclass(slots=True)
class _Search:
    """One call at work: what is asked, and what was found so far."""

    room: Workspace
    params: SearchFiles
    limit: int
    ends: float
    files: list[dict[str, Any]]
    unsearched: list[dict[str, Any]]
    searched: int = 0
    told: int = 0
    matches: int = 0

    def take(self, path: BenchPath, file: tree.File, skip: int, most: int) -> int | None:
        """Search one file; return how many of its places are still untold, None without one."""
        params = self.params
        query = TextQuery(
            text=params.query,
            is_regex=bool(params.is_regex),
            match_case=bool(params.match_case),
            skip=skip,
            places=most,
        )
        left_s = self.ends - self.room.bench.desk.clock.monotonic()
        try:
            found = self.room.bench.formats.search(self.room.file(path, file), query, left_s)
        except FormatError as error:
            if error.reason == "bad_value":
                raise  # the expression itself: no other file would take it
            self.unsearched.append({"path": path, "reason": error.reason})
            return None
        self.searched += 1
        self.matches += found.count
        self._note_gaps(path, found)
        if found.count:
            self.files.append(_told(path, found))
            self.told += len(found.places)
        return found.more_places

    def _note_gaps(self, path: BenchPath, found: Found) -> None:
        for reason, count in found.gaps.items():
            self.unsearched.append({"path": path, "reason": reason, "count": count})
        if found.searched_to is not None:
            self.unsearched.append({"path": path, "reason": "too_large", "from": found.searched_to})


def _told(path: BenchPath, found: Found) -> dict[str, Any]:
    said: dict[str, Any] = {"path": path, "count": found.count, "places": list(found.places)}
    return said | ({"more_places": found.more_places} if found.more_places else {})


def _search(params: SearchFiles, *, context: ToolContext) -> ToolResult:
    room = context.resource(Workspace)
    return answered(lambda: _found(room, params))


def _found(room: Workspace, params: SearchFiles) -> dict[str, Any]:
    if not params.query.strip() or len(params.query) > QUERY_MAX_CHARS:
        what = f"a query has 1 to {QUERY_MAX_CHARS} characters, not only spaces"
        raise ValidationFailed(what, reason="bad_value")
    limit = 50 if params.limit is None else params.limit
    if not 1 <= limit <= 200:
        raise ValidationFailed("limit is 1 to 200 places", reason="bad_value")
    wanted = chosen(room, params.paths, params.prefix)
    skip, start = _begin(params.cursor)
    ends = room.bench.desk.clock.monotonic() + SEARCH_TIME_S
    search = _Search(room, params, limit, ends, [], [])
    following: str | None = None
    todo = [path for path in wanted if path.encode() >= start.encode()]
    alone = len(wanted) == 1
    for path in todo:
        if search.told >= limit or ends - room.bench.desk.clock.monotonic() < _LEAST_S:
            following = f"0:{path}"
            break
        most = limit if alone else min(PLACES_OF_ONE_FILE, limit - search.told)
        own_skip = skip if path == start else 0
        more = search.take(path, wanted[path], own_skip, most)
        if alone and more:
            following = f"{own_skip + most}:{path}"
    return _answer(search, following)


def _answer(search: _Search, following: str | None) -> dict[str, Any]:
    said: dict[str, Any] = {
        "matches": search.matches,
        "searched": search.searched,
        "files": search.files,
        "next_cursor": following,
    }
    if search.unsearched:
        said["not_searched"] = search.unsearched[:UNSEARCHED_LISTED]
        said["not_searched_count"] = len(search.unsearched)
    if following is not None:
        is_alone = not following.startswith("0:")
        rest = "more places" if is_alone else f"files from {following[2:]!r} on"
        said["incomplete"] = f"not told yet: {rest}; next_cursor goes on"
    return said


def _begin(cursor: str | None) -> tuple[int, str]:
    """Return how many places were told before, and the file they are of."""
    if not cursor:
        return 0, ""
    number, colon, path = cursor.partition(":")
    if not colon or not number.isascii() or not number.isdecimal() or len(number) > 9:
        raise ValidationFailed("this is no next_cursor of a search", reason="bad_value")
    return int(number), path


def chosen(
    room: Workspace, paths: Sequence[str] | None, prefix: str | None
) -> Mapping[BenchPath, tree.File]:
    """Return the files of the active view that are meant, in the order of their paths."""
    entries = room.entries()
    if paths is None:
        begins = prefix or ""
        found = [path for path in entries if path.startswith(begins)]
    elif prefix:
        raise ValidationFailed("give paths or a prefix, not both", reason="op_conflict")
    else:
        found = list(dict.fromkeys(room.path(raw)[0] for raw in paths))
        for path in found:
            if path not in entries:
                missing = NotFound(f"there is no file {path!r}")
                missing.hints = room.near(path)
                raise missing
    return {path: entries[path] for path in sorted(found, key=str.encode)}


SEARCH_FILES = Tool(
    "search_files",
    "Find text in files: lines, cells, formulas, paragraphs, slides, pages. limit is of places.",
    SearchFiles,
    _search,
    effects="read",
)
