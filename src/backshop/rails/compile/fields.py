"""Reading JSON objects member by member, noting every problem and stopping at none (R1.2)."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator, Mapping

from backshop.rails.definition import condition as definition_condition
from backshop.rails.definition import template
from backshop.rails.definition.finding import Findings, escaped
from backshop.rails.definition.workflow import ConditionData

_KNOWN_MAX = 500  # comparing with more takes too long for a hint
_WORD_MAX_CHARS = 200


class Fields:
    """The members of one object. What is never asked for is unknown, and `done` says so.

    Readers return None (or nothing) for what is absent or wrong, so that reading can go on; a
    definition with an error in its findings is never run.
    """

    def __init__(
        self,
        data: Mapping[str, object],
        pointer: str,
        findings: Findings,
        *,
        code: str = "WF_SCHEMA",
        strict: bool = False,
    ) -> None:
        self.data = data
        self.pointer = pointer
        self.findings = findings
        self.strict = strict
        self._code = code
        self._asked: set[str] = set()

    def at(self, key: str | int) -> str:
        """Return the pointer of a member."""
        return f"{self.pointer}/{escaped(str(key))}"

    def error(self, key: str, message: str, fix: str | None = None) -> None:
        """Note that a member is wrong."""
        self.findings.error(self._code, self.at(key), message, fix)

    def has(self, key: str) -> bool:
        """Say whether a member is there, which also makes it known."""
        self._asked.add(key)
        return key in self.data

    def raw(self, key: str) -> object:
        """Return a member as it is, None when absent."""
        self._asked.add(key)
        return self.data.get(key)

    def need(self, key: str) -> None:
        """Note a required member that is absent."""
        if not self.has(key):
            self.findings.error(self._code, self.pointer, f"`{key}` is missing")

    def text(
        self,
        key: str,
        low: int = 1,
        high: int | None = None,
        *,
        required: bool = False,
        pattern: re.Pattern[str] | None = None,
    ) -> str | None:
        """Read a text of `low` to `high` characters."""
        if required:
            self.need(key)
        if not self.has(key):
            return None
        return self._checked_text(self.data[key], key, low, high, pattern)

    def choice(self, key: str, options: Collection[str], *, required: bool = False) -> str | None:
        """Read a word of a closed set."""
        value = self.text(key, required=required)
        if value is not None and value not in options:
            self.error(
                key, f"`{value}` is not one of {', '.join(options)}", nearest(value, options)
            )
            return None
        return value

    def flag(self, key: str, *, default: bool = False) -> bool:
        """Read a boolean."""
        value = self.raw(key) if self.has(key) else default
        if isinstance(value, bool):
            return value
        self.error(key, f"`{key}` is true or false, not {template.type_name(value)}")
        return default

    def integer(self, key: str, low: int, high: int) -> int | None:
        """Read an integer within bounds."""
        if not self.has(key):
            return None
        value = self.data[key]
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self.error(key, f"`{key}` is an integer from {low} to {high}")
            return None
        return value

    def texts(
        self, key: str, low: int = 1, high: int | None = None, *, unique: bool = False
    ) -> tuple[str, ...]:
        """Read a list of texts."""
        found = []
        for index, item in enumerate(self.items(key)):
            text = self._checked_text(item, f"{key}/{index}", low, high, None)
            if text is None:
                continue
            if unique and text in found:
                pointer = f"{self.pointer}/{key}/{index}"
                self.findings.error(self._code, pointer, f"`{key}` says the same twice")
            found.append(text)
        return tuple(found)

    def items(self, key: str) -> list[object]:
        """Read a list."""
        if not self.has(key):
            return []
        value = self.data[key]
        if isinstance(value, list):
            return value
        self.error(key, f"`{key}` is a list, not {template.type_name(value)}")
        return []

    def members(self, key: str, *, code: str | None = None) -> Fields | None:
        """Read an object."""
        if not self.has(key):
            return None
        return self.inner(key, self.data[key], code=code)

    def each(self, key: str, *, code: str | None = None) -> Iterator[Fields]:
        """Read a list of objects."""
        for index, item in enumerate(self.items(key)):
            fields = self.inner(f"{key}/{index}", item, code=code)
            if fields is not None:
                yield fields

    def inner(self, where: str, value: object, *, code: str | None = None) -> Fields | None:
        """Return the members of a value found at `where`, which must be an object."""
        code = code or self._code
        pointer = f"{self.pointer}/{where}"
        if not isinstance(value, Mapping):
            self.findings.error(code, pointer, f"an object, not {template.type_name(value)}")
            return None
        return Fields(value, pointer, self.findings, code=code, strict=self.strict)

    def mapping(self, key: str) -> dict[str, str]:
        """Read an object whose members are all texts."""
        found = {}
        fields = self.members(key)
        for name in fields.data if fields else ():
            assert fields is not None
            value = fields.data[name]
            if isinstance(value, str):
                found[name] = value
            else:
                fields.error(name, f"a text, not {template.type_name(value)}")
        return found

    def condition(self, key: str) -> ConditionData | None:
        """Read a condition; what is wrong with it is `WF_CONDITION_INVALID`."""
        if not self.has(key):
            return None
        return self.checked_condition(self.data[key], self.at(key))

    def checked_condition(self, value: object, pointer: str) -> ConditionData | None:
        """Return a condition if it is sound."""
        found = definition_condition.problems(value)
        for problem in found:
            self.findings.error("WF_CONDITION_INVALID", pointer + problem.pointer, problem.message)
        return dict(value) if isinstance(value, Mapping) and not found else None

    def done(self, *also_known: str) -> None:
        """Note every member nobody asked for (R1.3)."""
        for key in self.data:
            if key in self._asked or key in also_known:
                continue
            known = self._asked | set(also_known)
            message = f"unknown field `{key}`{did_you_mean(key, known)}"
            fix = nearest(key, known)
            if self.strict:
                self.findings.error("WF_SCHEMA", self.at(key), message, fix)
            else:
                self.findings.warn("WW_UNKNOWN_FIELD", self.at(key), message, fix)

    def _checked_text(
        self, value: object, key: str, low: int, high: int | None, pattern: re.Pattern[str] | None
    ) -> str | None:
        if not isinstance(value, str):
            quoted = "; put it in quotes" if isinstance(value, int | float) else ""
            message = f"a text, not {template.type_name(value)}{quoted}"
        elif value == "" and low == 0:
            return value
        elif len(value) < low or not value.strip():
            message = f"a text of at least {max(low, 1)} characters"
        elif high is not None and len(value) > high:
            message = f"{len(value)} characters, at most {high} fit"
        elif pattern is not None and pattern.fullmatch(value) is None:
            message = f"`{value[:80]}` does not match {pattern.pattern}"
        else:
            return value
        self.findings.error(self._code, f"{self.pointer}/{key}", message)
        return None


def nearest(word: str, known: Collection[str]) -> str | None:
    """Return the known word that looks most like `word`, if any does."""
    if len(known) > _KNOWN_MAX or len(word) > _WORD_MAX_CHARS:
        return None
    found = difflib.get_close_matches(word, sorted(known), n=1, cutoff=0.6)
    return found[0] if found else None


def did_you_mean(word: str, known: Collection[str]) -> str:
    """Return the end of a sentence that proposes the nearest known word."""
    found = nearest(word, known)
    return f"; did you mean `{found}`?" if found else ""
