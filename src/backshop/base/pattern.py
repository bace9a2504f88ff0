"""Patterns of authors and models, matched in bounded work whatever they say (R1.18, P6.5).

The usual engine backtracks, so a hostile pattern can hold a process for hours and nothing can
stop it. This one follows all possibilities at once: work grows with the text, is counted, and
ends at a fixed number of steps with `TooCostly`. The same pattern and text therefore give the same
answer on every machine. Not supported, because they need backtracking: back references and
look-around.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

MAX_PATTERN_CHARS = 1000
MAX_PROGRAM = 4000  # instructions after counted repeats are written out
MAX_WORK = 100_000  # instructions visited in one search, at most about 0.1 s
MAX_REPEAT = 1000
MAX_GROUPS = 50  # groups inside groups

_FLAGS_FIRST = re.compile(r"\(\?([imsu]+)\)")

Test = Callable[[str], bool]


class BadPattern(ValueError):
    """The expression cannot be read, or needs what this engine does not do."""


class TooCostly(ValueError):
    """Whether the expression matches takes more steps than there may be: it is not known."""


@dataclass(frozen=True, slots=True)
class _Char:
    """Consume one character that passes the test."""

    test: Test


@dataclass(frozen=True, slots=True)
class _Split:
    """Go on at all of these places, counted from here."""

    targets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Assert:
    """Go on if the place between two characters is such a one; kinds: ^ $ A Z b B."""

    kind: str


_Instruction = _Char | _Split | _Assert | None  # None: the end of the pattern is reached
_START, _WORD, _NEWLINE, _OTHER = "start", "word", "newline", "other"
_END = ""  # the character after the last one
_FOUND = -1  # where a search ends that matches


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled expression."""

    program: tuple[_Instruction, ...]
    multiline: bool

    source: str = ""

    def search(self, text: str) -> bool:
        """Say whether the expression matches anywhere in `text`.

        Raises:
            TooCostly: that takes more than `MAX_WORK` steps.
        """
        return Search(self, MAX_WORK).matches(text)

    def reach(self, state: frozenset[int], before: str, char: str) -> tuple[set[int], int]:
        """Follow everything that consumes nothing; a match may begin at every place."""
        reached: set[int] = set()
        todo = [0, *state]
        while todo:
            at = todo.pop()
            if at in reached:
                continue
            reached.add(at)
            instruction = self.program[at]
            if isinstance(instruction, _Split):
                todo.extend(at + offset for offset in instruction.targets)
            elif isinstance(instruction, _Assert) and self._stands(instruction, before, char):
                todo.append(at + 1)
        return reached, len(reached)

    def step(self, reached: set[int], char: str) -> tuple[frozenset[int], bool]:
        """Consume a character; say also whether the end was reached before it."""
        onwards, found = set(), False
        for at in reached:
            instruction = self.program[at]
            if instruction is None:
                found = True
            elif isinstance(instruction, _Char) and char and instruction.test(char):
                onwards.add(at + 1)
        return frozenset(onwards), found

    def _stands(self, place: _Assert, before: str, char: str) -> bool:
        after = _OTHER if char == _END else _kind(char)
        match place.kind:
            case "^":
                return before == _START or (self.multiline and before == _NEWLINE)
            case "$":
                return char == _END or (self.multiline and after == _NEWLINE)
            case "A":
                return before == _START
            case "Z":
                return char == _END
            case "b":
                return (before == _WORD) != (after == _WORD)
            case _:
                return (before == _WORD) == (after == _WORD)


class Search:
    """One pattern over any number of texts; what was worked out for one serves the others."""

    def __init__(self, pattern: Pattern, most_work: int) -> None:
        self._pattern = pattern
        self._most = most_work
        self._work = 0
        self._known: list[dict[str, int]] = []  # by state: where a character leads
        self._states: list[tuple[frozenset[int], str]] = []
        self._numbers: dict[tuple[frozenset[int], str], int] = {}
        self._number(frozenset(), _START)

    def matches(self, text: str) -> bool:
        """Say whether the pattern matches anywhere in a text.

        Raises:
            TooCostly: this search took more steps than it may, with the texts before.
        """
        return self.first_end(text) is not None

    def first_end(self, text: str) -> int | None:
        """Return where the match that ends first ends in a text, None without one.

        Raises:
            TooCostly: this search took more steps than it may, with the texts before.
        """
        known, state = self._known, 0
        for place, char in enumerate(text):
            after = known[state].get(char)
            state = self._learnt(state, char) if after is None else after
            if state == _FOUND:
                return place
        end = known[state].get(_END)
        found = (self._learnt(state, _END) if end is None else end) == _FOUND
        return len(text) if found else None

    def _learnt(self, state: int, char: str) -> int:
        places, before = self._states[state]
        reached, visited = self._pattern.reach(places, before, char)
        self._work += visited
        if self._work > self._most:
            said = self._pattern.source[:60]
            raise TooCostly(f"pattern too costly: /{said}/ takes more than {self._most:,} steps")
        onwards, found = self._pattern.step(reached, char)
        after = _FOUND if found else self._number(onwards, _kind(char))
        self._known[state][char] = after
        return after

    def _number(self, places: frozenset[int], before: str) -> int:
        key = (places, before)
        if key not in self._numbers:
            self._numbers[key] = len(self._states)
            self._states.append(key)
            self._known.append({})
        return self._numbers[key]


@lru_cache(maxsize=256)
def compiled(source: str, flags: str = "", *, max_chars: int = MAX_PATTERN_CHARS) -> Pattern:
    """Return the pattern of an expression; flags are letters of `imsu`, or stand first: `(?i)`.

    Raises:
        BadPattern: it cannot be read, is too long, or asks for the unsupported.
    """
    if len(source) > max_chars:
        raise BadPattern(f"longer than {max_chars} characters")
    if unknown := set(flags) - set("imsu"):
        raise BadPattern(f"unknown flag {''.join(sorted(unknown))!r}; known: i m s u")
    first = _FLAGS_FIRST.match(source)
    flags += first[1] if first else ""
    rest = source[first.end() :] if first else source
    reader = _Reader(rest, ignore_case="i" in flags, dot_all="s" in flags)
    return Pattern((*reader.whole(), None), "m" in flags, source)


_Code = list[_Instruction]


class _Reader:
    """Recursive descent; each method returns position-independent code."""

    def __init__(self, source: str, *, ignore_case: bool, dot_all: bool) -> None:
        self._source = source
        self._at = 0
        self._depth = 0
        self._ignore_case = ignore_case
        self._dot_all = dot_all

    def whole(self) -> _Code:
        code = self._alternatives()
        if self._at < len(self._source):
            raise BadPattern(f"unbalanced `)` at {self._at}")
        return code

    def _peek(self) -> str:
        return self._source[self._at : self._at + 1]

    def _take(self) -> str:
        char = self._peek()
        self._at += 1
        return char

    def _skip(self, text: str) -> bool:
        if not self._source.startswith(text, self._at):
            return False
        self._at += len(text)
        return True

    def _alternatives(self) -> _Code:
        branches = [self._sequence()]
        while self._skip("|"):
            branches.append(self._sequence())
        code = branches.pop()
        while branches:
            first = branches.pop()
            code = [_split(1, len(first) + 2), *first, _split(len(code) + 1), *code]
        return code

    def _sequence(self) -> _Code:
        code: _Code = []
        while (char := self._peek()) and char not in "|)":
            code += self._repeated()
            if len(code) > MAX_PROGRAM:
                raise BadPattern("repeats too much")
        return code

    def _repeated(self) -> _Code:
        start = self._at
        atom = self._atom()
        bounds = self._quantifier()
        if bounds is None:
            return atom
        if self._peek() == "?":
            self._take()  # lazy: the same matches, and only whether one exists is asked
        bare_place = len(atom) == 1 and isinstance(atom[0], _Assert)
        if bare_place or self._quantifier() is not None:
            raise BadPattern(f"nothing to repeat at {start}")
        least, most = bounds
        if len(atom) * max(least, most or 1) > MAX_PROGRAM:
            raise BadPattern("repeats too much")
        code = atom * least
        if most is None:
            return [*code, _split(1, len(atom) + 2), *atom, _split(-len(atom) - 1)]
        for _ in range(most - least):
            code += [_split(1, len(atom) + 1), *atom]
        return code

    def _quantifier(self) -> tuple[int, int | None] | None:
        for char, bounds in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self._skip(char):
                return bounds
        end = self._source.find("}", self._at)
        if self._peek() != "{" or end < 0:
            return None
        least, comma, most = self._source[self._at + 1 : end].partition(",")
        if not _digits(least) or (most and not _digits(most)):
            return None  # a brace that stands for itself
        self._at = end + 1
        low = int(least)
        high = int(most) if most else (None if comma else low)
        if low > MAX_REPEAT or (high is not None and not low <= high <= MAX_REPEAT):
            raise BadPattern(f"repeat counts go from 0 to {MAX_REPEAT}, smaller first")
        return low, high

    def _atom(self) -> _Code:
        char = self._take()
        match char:
            case "(":
                return self._group()
            case "[":
                return [_Char(self._set())]
            case ".":
                return [_Char(lambda c: True) if self._dot_all else _Char(lambda c: c != "\n")]
            case "^" | "$":
                return [_Assert(char)]
            case "\\":
                return [self._escape()]
            case "*" | "+" | "?":
                raise BadPattern(f"nothing to repeat at {self._at - 1}")
        return [_Char(self._literal(char))]

    def _group(self) -> _Code:
        if self._skip("?"):
            if self._skip("P<") or (self._peek() == "<" and self._name_follows()):
                end = self._source.find(">", self._at)
                if end < 0:
                    raise BadPattern("a group name is not closed")
                self._at = end + 1
            elif not self._skip(":"):
                raise BadPattern("look-around and inline flags are not supported")
        self._depth += 1
        if self._depth > MAX_GROUPS:
            raise BadPattern(f"groups nest at most {MAX_GROUPS} deep")
        code = self._alternatives()
        if not self._skip(")"):
            raise BadPattern("a `(` is not closed")
        self._depth -= 1
        return code

    def _name_follows(self) -> bool:
        return self._source[self._at + 1 : self._at + 2] not in {"=", "!", ""}

    def _escape(self) -> _Instruction:
        char = self._peek()
        if char and char in "bBAZ":
            self._take()
            return _Assert(char)
        if char.isdigit() and char != "0":
            raise BadPattern("back references are not supported")
        return _Char(self._class_or_literal())

    def _class_or_literal(self) -> Test:
        char = self._peek()
        if char and char in _CLASSES:
            self._take()
            return _CLASSES[char]
        return self._literal(self._escaped())

    def _escaped(self) -> str:
        """Read one escaped character; the backslash is taken already."""
        char = self._take()
        if not char:
            raise BadPattern("ends in a backslash")
        if char in _CONTROLS:
            return _CONTROLS[char]
        if char in "xu":
            width = 2 if char == "x" else 4
            digits = self._source[self._at : self._at + width]
            if len(digits) < width or any(digit not in _HEX for digit in digits):
                raise BadPattern(f"`\\{char}` needs {width} hexadecimal digits")
            self._at += width
            return chr(int(digits, 16))
        if char.isalnum():
            raise BadPattern(f"unknown escape `\\{char}`")
        return char

    def _set(self) -> Test:
        negated = self._skip("^")
        tests: list[Test] = []
        while True:
            if not self._peek():
                raise BadPattern("a `[` is not closed")
            if self._peek() == "]" and tests:
                self._take()
                break
            tests.append(self._set_item())
        return lambda char: any(test(char) for test in tests) != negated

    def _set_item(self) -> Test:
        char = self._take()
        if char == "\\":
            if self._peek() and self._peek() in _CLASSES:
                return _CLASSES[self._take()]
            char = "\b" if self._skip("b") else self._escaped()
        follows = self._source[self._at + 1 : self._at + 2]
        if self._peek() != "-" or follows in {"]", ""}:
            return self._literal(char)
        self._take()
        last = self._take()
        if last == "\\":
            last = self._escaped()
        if last < char:
            raise BadPattern(f"`{char}-{last}` is no range")
        return self._folded(lambda one: char <= one <= last)

    def _literal(self, char: str) -> Test:
        return self._folded(lambda one: one == char)

    def _folded(self, test: Test) -> Test:
        if not self._ignore_case:
            return test
        return lambda one: test(one) or test(one.lower()) or test(one.upper())


def _split(*offsets: int) -> _Split:
    return _Split(offsets)


def _digits(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _kind(char: str) -> str:
    if char == "\n":
        return _NEWLINE
    return _WORD if _CLASSES["w"](char) else _OTHER


_HEX = "0123456789abcdefABCDEF"
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "0": "\0"}
_CLASSES: dict[str, Test] = {
    "d": str.isdecimal,
    "D": lambda char: not char.isdecimal(),
    "w": lambda char: char.isalnum() or char == "_",
    "W": lambda char: not (char.isalnum() or char == "_"),
    "s": str.isspace,
    "S": lambda char: not char.isspace(),
}
