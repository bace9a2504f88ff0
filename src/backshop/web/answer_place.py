"""Cells, sheets, slides and pages that an answer names, and the one file they can be of (U3.24).

`Sheet1!B4` is a link only where it is certain what it means: the file stands beside it, or no other
workbook of the bench has such a sheet, or no other that the turn used or the answer names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import urlencode

from backshop.formats import column_number

WORKBOOK, DECK, PAGES = "xlsx", "pptx", "pdf"
PAGED = frozenset((PAGES, "docx", "odt"))  # what a word such as "page 3" may be about
LOOKED_INTO = 12  # workbooks of a bench; of more only those an answer is about
_LAST_ROW, _LAST_COLUMN = 1_048_576, 16_384
_CELL = r"\$?[A-Z]{1,3}\$?[1-9]\d{0,6}"
_CELLS = rf"{_CELL}(?::{_CELL})?(?![\w/\\@!:$(-]|\.\w)"
_PROMISING = re.compile(rf"!{_CELL}|[Ss]heet |[Ss]lide [1-9]|[Pp]age [1-9]")
_START = r"(?<![\w./\\@\]'!-])"
_STOPS = r"(?=[.,;:!?)<]|$| (?:of|in) )"  # where a name that nothing marks is surely over
_NUMBERED = r"\b(?P<unit>[Ss]lide|[Pp]age) (?P<number>[1-9]\d{0,3})(?!\w|[.:–-]\w| (?:of|in) )"
_TAGS = r"(?:</?(?:code|strong|em)>)*"
_OTHER_BEFORE = re.compile(rf"\.\w{{2,5}}{_TAGS}(?:'s|[,:])?(?: in)?(?: the)? {_TAGS}$")
_OTHER_AFTER = re.compile(rf"{_TAGS},? (?:of|in|from) (?:the )?{_TAGS}\S*\.\w{{2,5}}")
_BESIDE_CHARS = 400  # of the text around a place, where its file may stand


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What of a file can be named: its sheets, or how many slides or pages it has."""

    sheets: frozenset[str] = frozenset()
    count: int = 0


@dataclass(frozen=True)
class AnswerPlaces:
    """The files of a bench by their kind, what they have inside, and what turns used."""

    kinds: Mapping[str, str]
    ask_parts: Callable[[str], Parts | None]
    """None where it cannot be told."""
    ask_used: Callable[[str], Collection[str]]
    _parts: dict[str, Parts | None] = field(default_factory=dict)
    _used: dict[str, Collection[str]] = field(default_factory=dict)

    def about(self, html: str, named: Sequence[str], turn_id: str | None) -> Answer | None:
        """Return the places of an answer that names these files; None where it can have none."""
        known = {WORKBOOK, DECK, PAGES}.intersection(self.kinds.values())
        return Answer(self, html, named, turn_id) if known and _PROMISING.search(html) else None

    def parts(self, path: str) -> Parts | None:
        """Return what a file has inside, asked for once."""
        if path not in self._parts:
            self._parts[path] = self.ask_parts(path)
        return self._parts[path]

    def used(self, turn_id: str) -> Collection[str]:
        """Return the files a turn used, asked for once."""
        if turn_id not in self._used:
            self._used[turn_id] = self.ask_used(turn_id)
        return self._used[turn_id]

    def of_kind(self, *kinds: str) -> list[str]:
        """Return the files of some kinds."""
        return [path for path, kind in self.kinds.items() if kind in kinds]


@dataclass(frozen=True)
class Answer:
    """One answer: `html` is its text, `named` are the files whose paths stand in it."""

    places: AnswerPlaces
    html: str
    named: Sequence[str]
    turn_id: str | None

    @cached_property
    def scope(self) -> frozenset[str]:
        """The files it is about: those it names and those its turn used."""
        used = self.places.used(self.turn_id) if self.turn_id else ()
        return frozenset(self.named) | frozenset(used)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """What to look for in its text."""
        known = (self.places.parts(path) for path in self._workbooks)
        sheets = {sheet for parts in known if parts for sheet in parts.sheets}
        said = [one for one in sheets if _quoted(one) in self.html or escape_text(one) in self.html]
        names = sorted(said, key=len, reverse=True)
        return re.compile("|".join((_NUMBERED, *(_in_sheets(names) if names else ()))))

    @cached_property
    def _workbooks(self) -> list[str]:
        """The workbooks that are looked into: all of the bench, of very many those in scope."""
        found = self.places.of_kind(WORKBOOK)
        return found if len(found) <= LOOKED_INTO else [one for one in found if one in self.scope]

    def place(self, match: re.Match[str]) -> tuple[str, str] | None:
        """Return the file and the query of what was found, where that is certain."""
        beside = self._beside(match)
        if beside is None:
            return None
        if match["unit"]:
            return self._numbered(match["unit"].lower(), int(match["number"]), beside)
        found = match.groupdict()
        name = found["quoted"] or found["plain"] or found["sheet"] or found["on"]
        cells = found["cells"] or found["of"] or found["at"]
        if cells is None and not (found["mark"] or found["sign"]):
            return None  # "sheet Data" may be the first words of something else
        sheet = unescape_text(name.replace("''", "'") if found["quoted"] else name)
        path = self._workbook(sheet, beside)
        goal = {} if cells is None else _cell(cells)
        if path is None or goal is None:
            return None
        return path, "?" + urlencode({"sheet": sheet, **goal})

    def _beside(self, match: re.Match[str]) -> frozenset[str] | None:
        """Return the file that stands right before or after a place; None: one that is not here."""
        before = match.string[max(0, match.start() - _BESIDE_CHARS) : match.start()]
        after = match.string[match.end() : match.end() + _BESIDE_CHARS]
        first, second = self._files_beside
        one, other = first.search(before), second.match(after)
        if (one is None and _OTHER_BEFORE.search(before)) or (
            other is None and _OTHER_AFTER.match(after)
        ):
            return None
        found = frozenset(unescape_text(each["path"]) for each in (one, other) if each)
        return found if len(found) < 2 else None

    @cached_property
    def _files_beside(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        paths = "|".join(map(re.escape, map(escape_text, sorted(self.named, key=len)[::-1])))
        path = f"(?P<path>{paths or '(?!)'})"
        before = rf"(?<![\w./\\@-]){path}{_TAGS}(?:'s|[,:])?(?: in)?(?: the)? {_TAGS}$"
        after = rf"{_TAGS},? (?:of|in|from) (?:the )?{_TAGS}{path}(?![\w/\\@-]|\.\w)"
        return re.compile(before), re.compile(after)

    def _workbook(self, sheet: str, beside: Collection[str]) -> str | None:
        if beside:
            return self._only(
                sheet, [one for one in beside if self.places.kinds.get(one) == WORKBOOK]
            )
        all_there = self.places.of_kind(WORKBOOK)
        if len(all_there) <= LOOKED_INTO and (found := self._only(sheet, all_there)):
            return found
        return self._only(sheet, [one for one in self._workbooks if one in self.scope])

    def _only(self, sheet: str, paths: Sequence[str]) -> str | None:
        """Return the one workbook with a sheet; of one that cannot be read nobody knows."""
        found = []
        for path in paths:
            parts = self.places.parts(path)
            if parts is None:
                return None
            found += [path] if sheet in parts.sheets else []
        return found[0] if len(found) == 1 else None

    def _numbered(self, unit: str, number: int, beside: Collection[str]) -> tuple[str, str] | None:
        """Return a slide or page of the one file it can be of."""
        kind, others = (DECK, {DECK}) if unit == "slide" else (PAGES, PAGED)
        files = beside or [one for one in self.places.of_kind(*others) if one in self.scope]
        if len(files) != 1:
            return None
        (path,) = files
        parts = self.places.parts(path) if self.places.kinds.get(path) == kind else None
        if parts is None or number > parts.count:
            return None
        return path, f"?{unit}={number - 1}"


def _in_sheets(names: Sequence[str]) -> tuple[str, str, str]:
    """Return the ways to name cells of sheets, or one of these sheets where its name is marked."""
    quoted, plain = ("|".join(map(re.escape, map(how, names))) for how in (_quoted, escape_text))
    return (
        rf"{_START}(?:'(?P<quoted>{quoted})'|(?P<plain>{plain}))!(?P<cells>{_CELLS})",
        rf"\b[Ss]heet {_marked('sheet', plain, 'mark', 'sign')}"
        rf"(?:,? (?:cells?|range) {_tagged('of', _CELLS, 'tag')})?",
        rf"\b(?:[Cc]ells?|[Rr]ange) {_tagged('at', _CELLS, 'set')} (?:of|on|in) (?:the )?"
        rf"[Ss]heet {_marked('on', plain, 'bold', 'open')}(?(bold)|(?(open)|{_STOPS}))",
    )


def _tagged(name: str, pattern: str, tag: str) -> str:
    """Return a pattern whose text may be set as code or bold."""
    return rf"(?:<(?P<{tag}>code|strong)>)?(?P<{name}>{pattern})(?({tag})</(?P={tag})>)"


def _marked(name: str, pattern: str, tag: str, sign: str) -> str:
    """Return a pattern whose text may be set as code or bold, or stand in quotes."""
    return (
        rf"(?:<(?P<{tag}>code|strong)>|(?P<{sign}>[“\"']))?(?P<{name}>{pattern})"
        rf"(?({tag})</(?P={tag})>)(?({sign})[”\"']|(?!\w))"
    )


def _cell(cells: str) -> dict[str, str] | None:
    """Return what the viewer goes to; None of cells that no sheet has."""
    for one in cells.split(":"):
        row, column = int(re.sub(r"\D", "", one)), column_number(re.sub("[^A-Z]", "", one))
        if row > _LAST_ROW or column > _LAST_COLUMN:
            return None
    return {"cell": cells.replace("$", "")}


def _quoted(name: str) -> str:
    """Return a name as it stands between the quotes of a reference."""
    return escape_text(name).replace("'", "''")


def escape_text(text: str) -> str:
    """Return a text as the sanitiser writes it between tags."""
    plain = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return plain.replace("\u00a0", "&nbsp;")


def unescape_text(text: str) -> str:
    """Return what a text between tags says."""
    plain = text.replace("&nbsp;", "\u00a0").replace("&lt;", "<").replace("&gt;", ">")
    return plain.replace("&amp;", "&")
