"""Formula text: its tokens, what may be written, and how references move (F24.1, F24.4, F24.5).

A formula is kept without its leading `=`. Tokens join back to exactly the text they came from, so
rewriting one reference leaves every other character alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from backshop.formats.errors import fail

from .address import MAX_COL, MAX_ROW, Area, column_name, column_number, parse_area
from .function import FUTURE, UNSAFE
from .signature import SIGNATURES, arguments

MAX_CHARS = 8192
MAX_NESTING = 64
_CELL = r"\$?[A-Za-z]{1,3}\$?[0-9]{1,7}"
_COLUMNS, _ROWS = r"\$?[A-Za-z]{1,3}:\$?[A-Za-z]{1,3}", r"\$?[0-9]{1,7}:\$?[0-9]{1,7}"
_AREA = rf"{_CELL}:{_CELL}|{_COLUMNS}|{_ROWS}|{_CELL}"
_DOTS = r"(?:\.:\.?|:\.)"  # a range without its empty edges: A1.:.A9, as people write it
_TRIMMED = "|".join(rf"{end}{_DOTS}{end}" for end in (_CELL, r"\$?[A-Za-z]{1,3}", r"\$?[0-9]{1,7}"))
_TRIMMING = {".:.": "_TRO_ALL", ":.": "_TRO_TRAILING", ".:": "_TRO_LEADING"}
_WORD = r"[\w.\u00a1-\uffff?\\]"
_SHEET = rf"'(?:[^']|'')*'!|(?:\[[^\]]*\])?{_WORD}+(?::{_WORD}+)?!|\[[^\]]*\]!"
_NAME = rf"[A-Za-z_\\\u00a1-\uffff]{_WORD}*"
_ERROR = r"\#(?:REF!|DIV/0!|N/A|NAME\?|NULL!|NUM!|VALUE!|GETTING_DATA|SPILL!|CALC!|FIELD!|BLOCKED!)"
_TOKEN = re.compile(
    rf"""
    (?P<string>"(?:[^"]|"")*")
  | (?P<error>{_ERROR})
  | (?P<trim>(?:{_SHEET})?(?:{_TRIMMED})(?![\w.(\[!\\]))
  | (?P<sheet>{_SHEET})? (?P<area>(?:{_AREA})(?![\w.(\[!\\]))
  | (?P<number>[0-9]+(?:\.[0-9]*)?(?:[Ee][+-]?[0-9]+)?|\.[0-9]+(?:[Ee][+-]?[0-9]+)?)
  | (?P<function>[A-Za-z_\\][\w.\u00a1-\uffff]*)\(
  | (?P<qualifier>{_SHEET}) (?P<target>\#REF!|{_NAME})?
  | (?P<name>{_NAME})
  | (?P<bracket>\[)
  | (?P<space>\s+)
  | (?P<operator><>|<=|>=|[+\-*/^&=<>%:@\#])
  | (?P<open>\() | (?P<close>\)) | (?P<separator>[,;]) | (?P<brace>[{{}}])
  | (?P<bad>.)
    """,
    re.X | re.S,
)
_SPILLED = re.compile(r"_xlfn\.ANCHORARRAY\(([^()]*)\)")
_MARKS = re.compile(r"_xl(?:fn|ws|pm|op)\.")
_BOUND = re.compile(r"(\$?)([A-Za-z]{0,3})(\$?)([0-9]*)")


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a formula. `sheet` is the decoded sheet name of a reference, None without one."""

    kind: str  # string error ref number function name table space operator open close separator …
    text: str
    sheet: str | None = None
    body: str = ""  # ref: the address; name, function, table: the name

    @property
    def external(self) -> bool:
        """Whether it points into another workbook; `[0]!` is this one, its `sheet` is empty."""
        return self.sheet is not None and "[" in self.sheet

    @property
    def area(self) -> Area | None:
        """The rectangle of a reference."""
        return parse_area(self.body) if self.kind == "ref" else None


@lru_cache(maxsize=8192)
def tokens(formula: str) -> tuple[Token, ...]:
    """Split a formula; what cannot be understood becomes a `bad` token, never an error."""
    out: list[Token] = []
    at = 0
    while at < len(formula):
        match = _TOKEN.match(formula, at)
        assert match is not None, "the last alternative takes any character"
        token, at = _token(formula, match)
        if token.kind == "table" and out and out[-1].kind == "name" and out[-1].sheet is None:
            before = out.pop()
            token = replace(token, text=before.text + token.text, body=before.body)
        out.append(token)
    return tuple(out)


def _token(formula: str, match: re.Match[str]) -> tuple[Token, int]:
    text, end = match[0], match.end()
    if match["area"]:
        return Token("ref", text, _sheet(match["sheet"]), match["area"]), end
    if match["function"]:
        return Token("function", text, None, bare_name(match["function"])), end
    if match["qualifier"]:
        target = match["target"] or ""
        kind = "error" if target == "#REF!" else "name" if target else "bad"
        return Token(kind, text, _sheet(match["qualifier"]), target), end
    if match["bracket"]:
        closing = _matching(formula, match.start())
        if closing is None:
            return Token("bad", formula[match.start() :]), len(formula)
        return Token("table", formula[match.start() : closing]), closing
    kind = match.lastgroup or "bad"
    return Token(kind, text, None, text if kind == "name" else ""), end


def _matching(formula: str, at: int) -> int | None:
    depth = 0
    while at < len(formula):
        char = formula[at]
        if char == "'":  # escapes the next character inside structured references
            at += 1
        elif char == "[":
            depth += 1
        elif char == "]":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return None


def _sheet(raw: str | None) -> str | None:
    if raw is None:
        return None
    name = raw[:-1].replace("[0]", "", 1) if raw.startswith(("[0]", "'[0]")) else raw[:-1]
    return name[1:-1].replace("''", "'") if name.startswith("'") else name


def bare_name(name: str) -> str:
    """Return a function's name as people write it, in capitals."""
    return re.sub(r"^(?:_xlfn\.|_xlws\.|_xludf\.)+", "", name, flags=re.I).upper()


def quote_sheet(name: str) -> str:
    """Return a sheet name as formulas write it."""
    plain = re.fullmatch(r"[A-Za-z_\u00a1-\uffff][\w.\u00a1-\uffff]*", name)
    if plain and parse_area(name) is None and not re.fullmatch(r"(?i)r\d*(c\d*)?|c\d*", name):
        return name
    return "'" + name.replace("'", "''") + "'"


def join(pieces: Iterable[Token]) -> str:
    """Return the text of tokens."""
    return "".join(token.text for token in pieces)


def as_written(formula: str) -> str:
    """Return a stored formula as people write it: `A1#`, no marks of files before names."""
    return _MARKS.sub("", _SPILLED.sub(r"\1#", formula))


# --- writing ------------------------------------------------------------------------------------


def stored(text: str, where: str) -> str:
    """Return a formula a caller wrote as it is stored: checked, without `=`, newer names marked."""
    formula = text.removeprefix("=").strip()
    if not formula or len(formula) > MAX_CHARS:
        raise fail("bad_value", f"a formula has 1 to {MAX_CHARS} characters", detail=where)
    pieces = tokens(join(map(_spelled_out, tokens(formula))))
    _check_safe(pieces, where)
    _check_syntax(pieces, where)
    return join(_marked(pieces))


def _spelled_out(token: Token) -> Token:
    """Return a range without its empty edges as files hold it: a function of the whole range."""
    if token.kind != "trim":
        return token
    body = token.text.rindex("!") + 1 if "!" in token.text else 0
    sign = next(one for one in _TRIMMING if one in token.text[body:])
    whole = token.text[:body] + token.text[body:].replace(sign, ":")
    return Token("ref", f"_xlfn.{_TRIMMING[sign]}({whole})")


def _check_safe(pieces: tuple[Token, ...], where: str) -> None:
    for index, token in enumerate(pieces):
        if token.kind == "bad" and token.text.startswith("|"):
            raise fail("unsafe_formula", "a formula may not call another program", detail=where)
        if token.external or (token.kind == "table" and _is_book(pieces, index)):
            raise fail("unsafe_formula", "a formula may not name another workbook", detail=where)
        if token.kind != "function":
            continue
        if token.body in UNSAFE:
            raise fail("unsafe_formula", f"{token.body} may not be written", detail=where)
        if token.body == "HYPERLINK" and not _safe_link(pieces[index + 1 :]):
            raise fail(
                "unsafe_formula",
                "HYPERLINK may lead to http, https, mailto or # only",
                detail=where,
                hints=['HYPERLINK("https://…", "text")'],
            )


def _is_book(pieces: tuple[Token, ...], index: int) -> bool:
    token = pieces[index]
    after = pieces[index + 1] if index + 1 < len(pieces) else None
    return not token.body and after is not None and after.kind in {"ref", "name", "bad"}


def _safe_link(after: tuple[Token, ...]) -> bool:
    first = next((token for token in after if token.kind != "space"), None)
    if first is None or first.kind != "string":
        return False
    target = first.text[1:-1].replace('""', '"').strip().lower()
    return target.startswith(("http://", "https://", "mailto:", "#"))


_REFERENCES = frozenset({"ref", "name", "table", "close"})
_OPERANDS = frozenset({"string", "error", "ref", "number", "name", "table"})
_CONSTANTS = frozenset({"string", "error", "number", "name"})
_APPLIED = frozenset({"LAMBDA", "LET", ""})  # what they give may be called: LAMBDA(x,x+1)(3)


def _check_syntax(pieces: tuple[Token, ...], where: str) -> None:
    """Refuse what Excel would call a damaged file, or would compute in another way."""
    problem = _Grammar([token for token in pieces if token.kind != "space"]).problem()
    if problem is None:
        return
    hints = ["=" + join(_with_commas(pieces))] if problem == _SEMICOLON else []
    said = f"{where}: the formula {problem}"
    raise fail("bad_value", f"the formula {problem}", detail=said, hints=hints)


_SEMICOLON = "separates arguments by semicolons: in a file they are separated by commas"


def _with_commas(pieces: tuple[Token, ...]) -> list[Token]:
    out, depth = [], 0
    for token in pieces:
        depth += {"{": 1, "}": -1}.get(token.text, 0)
        is_wrong = token.text == ";" and token.kind == "separator" and not depth
        out.append(replace(token, text=",") if is_wrong else token)
    return out


@dataclass(slots=True)
class _Open:
    """A bracket that waits for its end: a call, a group, or the values in braces."""

    kind: str  # function open brace
    name: str = ""  # of a function
    arguments: int = 0  # separators so far
    width: int = 1  # values in the present row of braces
    widths: set[int] = field(default_factory=set)
    names: set[str] = field(default_factory=set)  # that LET or LAMBDA gave so far


class _Grammar:
    """Reads the tokens of a formula once and says what is wrong with it."""

    def __init__(self, pieces: list[Token]) -> None:
        self._pieces = pieces
        self._stack: list[_Open] = []
        self._want = True  # an operand comes next
        self._closed: _Open | None = None  # the bracket that has just ended

    def problem(self) -> str | None:
        """Return what is wrong, None when nothing is."""
        for index, token in enumerate(self._pieces):
            closed, self._closed = self._closed, None
            wrong = self._take(index, token, closed)
            if wrong:
                return wrong
        if self._stack:
            return "has unbalanced brackets"
        return "lacks an operand" if self._want else None

    def _take(self, index: int, token: Token, closed: _Open | None) -> str | None:
        kind, text = token.kind, token.text
        if self._stack and self._stack[-1].kind == "brace" and text not in {"{", "}"}:
            wrong = self._in_braces(token)
            if wrong:
                return wrong
        if kind in _OPERANDS:
            both = kind in _REFERENCES and self._before(index) in _REFERENCES
            if not self._want and not both:  # two references side by side: their intersection
                return "lacks an operator"
            self._want = False
            return None
        if kind in {"function", "open"} or text == "{":
            return self._opens(token, closed)
        if kind == "close" or text == "}":
            return self._closes(index, token, closed)
        if kind == "separator":
            return self._separates(index, token)
        if kind == "operator":
            return self._operates(index, token)
        return "cannot be read"

    def _before(self, index: int) -> str:
        return self._pieces[index - 1].kind if index else ""

    def _in_braces(self, token: Token) -> str | None:
        plain = token.kind in _CONSTANTS or token.kind == "separator" or token.text in "+-"
        if token.kind == "name" and token.text.upper() not in {"TRUE", "FALSE"}:
            plain = False
        return None if plain else "has more than plain values in braces"

    def _opens(self, token: Token, closed: _Open | None) -> str | None:
        kind = "brace" if token.text == "{" else token.kind
        applied = kind == "open" and closed is not None and closed.name in _APPLIED
        called = applied and closed and (closed.kind == "function" or closed.name)
        if not self._want and not called:
            return "lacks an operator"
        name = token.body if kind == "function" else ""
        self._stack.append(_Open("function" if applied and not self._want else kind, name))
        self._want = True
        if len(self._stack) > MAX_NESTING:
            return f"nests deeper than {MAX_NESTING} levels"
        return None

    def _closes(self, index: int, token: Token, closed: _Open | None) -> str | None:
        opened = self._stack.pop() if self._stack else None
        if opened is None or (opened.kind == "brace") != (token.text == "}"):
            return "has unbalanced brackets"
        before = self._pieces[index - 1]
        is_empty = before.kind == "function" or (before.kind == "open" and not opened.name)
        if self._want and not (
            opened.kind == "function" and (is_empty or before.kind == "separator")
        ):
            return "lacks an operand"
        if opened.kind == "open" and closed is not None and closed.name in _APPLIED:
            opened.name = closed.name  # (LAMBDA(x,x+1))(3): what stands in brackets is called
        self._want, self._closed = False, opened
        if opened.kind == "brace":
            uneven = len({*opened.widths, opened.width}) > 1
            return "has rows of different length in braces" if uneven else None
        return self._counted(opened, 0 if is_empty else opened.arguments + 1)

    def _counted(self, call: _Open, count: int) -> str | None:
        """Say so when a function has more or fewer arguments than it takes."""
        takes = SIGNATURES.get(call.name) if call.kind == "function" else None
        if takes is None or takes.least <= count <= takes.most:
            return None
        return f"gives {call.name} {arguments(count)}: it takes {takes.said}"

    def _separates(self, index: int, token: Token) -> str | None:
        if not self._stack:
            return _SEMICOLON if token.text == ";" else "has a separator outside brackets"
        inner = self._stack[-1]
        if token.text == ";" and inner.kind != "brace":
            return _SEMICOLON
        if self._want and inner.kind != "function":
            return "lacks an operand"
        if inner.kind == "open" and self._before(index) not in _REFERENCES:
            return "joins values that are no references"
        given = self._given(index, inner)
        if given in inner.names:
            return f"gives the name {given} twice in one {inner.name}"
        inner.names |= {given} if given else set()
        if token.text == ";":
            inner.widths.add(inner.width)
            inner.width = 1
        else:
            inner.width += 1
        inner.arguments += 1
        self._want = True
        return None

    def _given(self, index: int, call: _Open) -> str | None:
        """Return the name that the argument which ends here gives, in small letters."""
        names = call.name == "LAMBDA" or (call.name == "LET" and call.arguments % 2 == 0)
        if not names or self._pieces[index - 2].kind not in {"function", "separator"}:
            return None
        given = _parameter(self._pieces[index - 1], call.name)
        return given.lower() if given else None

    def _operates(self, index: int, token: Token) -> str | None:
        text = token.text
        if text in "%#":
            if self._want:
                return "lacks an operand"
            if text == "#" and self._before(index) not in {"ref", "name"}:
                return "asks for what a cell spilled by # without naming the cell"
        elif self._want and text not in "+-@":
            return "lacks an operand"
        else:
            self._want = True
        return None


def _marked(pieces: tuple[Token, ...]) -> list[Token]:
    """Give newer functions the prefix they are stored with, and LET and LAMBDA their names'."""
    given = _parameters(pieces)
    local = set(given.values())
    out: list[Token] = []
    for index, token in enumerate(pieces):
        if token.kind == "table" and index in given:  # LAMBDA(x,[y],…): one may be left out
            out.append(replace(token, kind="name", text=f"_xlop.{token.text[1:-1].strip()}"))
        elif token.kind == "function" and token.text[:-1].lower() in local:
            out.append(replace(token, text=f"_xlpm.{token.text}"))
        elif token.kind == "function":
            prefix = FUTURE.get(token.body)
            name = (prefix or "") + token.body
            text = f"{name}(" if prefix or token.text[:-1].upper() == token.body else token.text
            out.append(replace(token, text=text))
        elif token.kind == "name" and token.text.lower() in local:
            out.append(replace(token, text=f"_xlpm.{token.text}"))
        elif token.text == "#" and token.kind == "operator":  # A1#: what A1 spilled
            cell = next(i for i in range(len(out) - 1, -1, -1) if out[i].kind != "space")
            out[cell] = replace(out[cell], text=f"_xlfn.ANCHORARRAY({out[cell].text})")
        else:
            out.append(token)
    return out


def _parameters(pieces: tuple[Token, ...]) -> dict[int, str]:
    """Return the names that LET and LAMBDA give, in small letters, by their places."""
    names: dict[int, str] = {}
    stack: list[str] = []
    solid = [(place, token) for place, token in enumerate(pieces) if token.kind != "space"]
    for index, (place, token) in enumerate(solid):
        if token.kind in {"function", "open"}:
            stack.append(token.body)
        elif token.kind == "close" and stack:
            stack.pop()
        elif (
            stack
            and stack[-1] in {"LET", "LAMBDA"}
            and (name := _parameter(token, stack[-1]))
            and solid[index - 1][1].kind in {"function", "separator"}
            and index + 1 < len(solid)
            and solid[index + 1][1].kind == "separator"
        ):
            names[place] = name.lower()
    return names


def _parameter(token: Token, function: str) -> str | None:
    """Return the name a token gives, if it may; in brackets it is one that may be left out."""
    if token.kind == "name" and token.sheet is None:
        return None if token.text.lower().startswith(("_xlpm.", "_xlop.")) else token.text
    if token.kind == "table" and not token.body and function == "LAMBDA":
        inner = token.text[1:-1].strip()
        return inner if re.fullmatch(_NAME, inner) else None
    return None


# --- moving references --------------------------------------------------------------------------


def rewrite(formula: str, change: Callable[[Token], str]) -> str:
    """Return the formula with each token's text replaced by what `change` gives."""
    return "".join(change(token) for token in tokens(formula))


def shift(formula: str, rows: int, cols: int) -> str:
    """Move relative references, as a shared formula means them for another member."""

    def moved(token: Token) -> str:
        if token.kind != "ref":
            return token.text
        qualifier = token.text[: len(token.text) - len(token.body)]
        parts = [_moved(part, rows, cols) for part in token.body.split(":")]
        return qualifier + ":".join(part for part in parts if part) if all(parts) else "#REF!"

    return rewrite(formula, moved)


def leaving(formula: str, rows: int, cols: int) -> str | None:
    """Return the first reference that would leave the sheet if moved so far, None without one."""
    return next(
        (
            token.text
            for token in tokens(formula)
            if token.kind == "ref"
            and any(_leaves(part, rows, cols) for part in token.body.split(":"))
        ),
        None,
    )


def _leaves(part: str, rows: int, cols: int) -> bool:
    match = _BOUND.fullmatch(part)
    if match is None:
        return False
    lock_col, letters, lock_row, digits = match.groups()
    row_is_locked = lock_row or (lock_col and not letters)  # `$5`: the sign belongs to the row
    col = 1 if lock_col or not letters else column_number(letters) + cols
    row = 1 if row_is_locked or not digits else int(digits) + rows
    return not (1 <= col <= MAX_COL and 1 <= row <= MAX_ROW)


def _moved(part: str, rows: int, cols: int) -> str | None:
    match = _BOUND.fullmatch(part)
    if match is None:
        return part
    lock_col, letters, lock_row, digits = match.groups()
    if letters and not lock_col:
        col = column_number(letters) + cols
        col = (col - 1) % MAX_COL + 1  # shared formulas wrap around the sheet's edge
        letters = column_name(col)
    elif not letters and lock_col:  # `$5`: the sign belongs to the row
        lock_col, lock_row = "", lock_col
    if digits and not lock_row:
        digits = str((int(digits) + rows - 1) % MAX_ROW + 1)
    return f"{lock_col}{letters}{lock_row}{digits}"


def rename_sheet(formula: str, old: str, new: str) -> str:
    """Let references to one sheet follow its new name."""

    def renamed(token: Token) -> str:
        ends = _ends(token)
        if old.lower() not in map(str.lower, ends):
            return token.text
        return _qualified(token, [new if end.lower() == old.lower() else end for end in ends])

    return rewrite(formula, renamed)


def drop_sheet(formula: str, gone: str, order: Sequence[str]) -> str:
    """Turn references to a deleted sheet into `#REF!`; a range of sheets that ends there shrinks.

    `order` holds the names of the sheets as they stood before, the deleted one among them.
    """

    def dropped(token: Token) -> str:
        ends = _ends(token)
        if gone.lower() not in map(str.lower, ends):
            return token.text
        left = _shrunk(ends, gone, order)
        return _qualified(token, left) if left else "#REF!"

    return rewrite(formula, dropped)


def _ends(token: Token) -> list[str]:
    """Return the sheet a token names, or the first and last one of a range of sheets."""
    return [] if token.sheet is None or token.external else token.sheet.split(":")


def _shrunk(ends: list[str], gone: str, order: Sequence[str]) -> list[str]:
    """Return the ends of a range of sheets without the one that is gone; empty if none is left."""
    names = [name.lower() for name in order]
    if len(ends) != 2 or any(end.lower() not in names for end in ends):
        return []
    first, last = (names.index(end.lower()) for end in ends)
    if first == last:
        return []
    step = 1 if first < last else -1
    if ends[0].lower() == gone.lower():
        ends = [order[first + step], ends[1]]
    else:
        ends = [ends[0], order[last - step]]
    return ends if abs(first - last) > 1 else ends[:1]


def _qualified(token: Token, ends: list[str]) -> str:
    """Return a token's text with other sheets in front of it."""
    body = token.text[token.text.rindex("!") + 1 :] if token.kind != "error" else "#REF!"
    if all(quote_sheet(end) == end for end in ends):
        return f"{':'.join(ends)}!{body}"
    return "'" + ":".join(ends).replace("'", "''") + f"'!{body}"
