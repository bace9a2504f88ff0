"""The condition language of workflows: closed, total, without surprises (R1.18-R1.21).

A condition stays the JSON object it was written as. `problems` says what is wrong with one,
`judged` evaluates one, `describe` puts one into words for traces.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from backshop.base import pattern
from backshop.base.pattern import TooCostly

from . import template

Value = object
Context = Mapping[str, object]

MAX_DEPTH = 32  # deeper conditions are refused; nobody can read them

_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
_TRUE, _FALSE = frozenset({"true", "1", "yes"}), frozenset({"false", "0", "no"})


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong, and where: a JSON Pointer relative to the condition."""

    pointer: str
    message: str


def judged(condition: Mapping[str, Value] | None, context: Context) -> bool | TooCostly:
    """Say whether a condition holds, or why that cannot be said within the work there may be.

    None and `{}` hold, a malformed one does not. What cannot be said of a part cannot be said of
    the whole: under a `not`, "no match" would turn into a yes.
    """
    try:
        return _holds(condition, context)
    except TooCostly as error:
        return error


def holds(condition: Mapping[str, Value] | None, context: Context) -> bool:
    """Say whether a condition holds; one that cannot be judged does not (R1.21)."""
    return judged(condition, context) is True


def _holds(condition: Mapping[str, Value] | None, context: Context) -> bool:
    if not condition:
        return True
    match condition:
        case {"and": list() | tuple() as parts}:
            return all(isinstance(part, Mapping) and _holds(part, context) for part in parts)
        case {"or": list() | tuple() as parts}:
            return any(isinstance(part, Mapping) and _holds(part, context) for part in parts)
        case {"not": Mapping() as part}:
            return not _holds(part, context)
        case {"var": str() as var, **rest}:
            value = template.lookup(var, context)
            if not rest:
                return truthy(value)
            (name, wanted), *more = rest.items()
            operator = OPERATORS.get(name)
            return operator is not None and not more and operator(value, wanted)
        case _:
            return False


def equal(left: Value, right: Value) -> bool:
    """Compare the forgiving way of R1.20."""
    if left is None or right is None:
        return left is right
    if isinstance(left, str) and isinstance(right, str):
        return left.strip().lower() == right.strip().lower()
    if isinstance(right, str):
        left, right = right, left
    if isinstance(left, str):
        if isinstance(right, bool):
            return left.strip().lower() in (_TRUE if right else _FALSE)
        if isinstance(right, int | float):
            return _number(left) == right
        return False
    return _same(left, right)


def truthy(value: Value) -> bool:
    """Judge a bare `{var}`: an empty list is true, as the real files expect."""
    return not (value is None or value is False or value == "" or _is_zero(value))


def problems(condition: Value) -> tuple[Problem, ...]:
    """Return everything that makes a condition invalid, outermost first."""
    return tuple(_problems(condition, "", 0))


def describe(condition: Mapping[str, Value] | None) -> str:
    """Put a condition into words, for people who read traces."""
    if not condition:
        return "always"
    match condition:
        case {"and": list() | tuple() as parts}:
            return _joined(parts, " and ", "always")
        case {"or": list() | tuple() as parts}:
            return _joined(parts, " or ", "never")
        case {"not": Mapping() as part}:
            return f"not ({describe(part)})"
        case {"var": str() as var, **rest}:
            return " ".join([var, *(f"{name} {_shown(value)}" for name, value in rest.items())])
        case _:
            return "malformed"


def variables(condition: Mapping[str, Value] | None) -> Iterator[str]:
    """Yield the paths a condition looks at."""
    for key, value in (condition or {}).items():
        if key == "var" and isinstance(value, str):
            yield value
        parts = value if isinstance(value, list | tuple) else (value,)
        if key in {"and", "or", "not"}:
            for part in parts:
                if isinstance(part, Mapping):
                    yield from variables(part)


def _number(value: Value) -> int | float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value
    if isinstance(value, str) and _NUMBER.fullmatch(text := value.strip()):
        return float(text)
    return None


def _ordered(compare: Callable[[float, float], bool]) -> Callable[[Value, Value], bool]:
    def operator(left: Value, right: Value) -> bool:
        one, other = _number(left), _number(right)
        return one is not None and other is not None and compare(one, other)

    return operator


def _textual(compare: Callable[[str, str], bool]) -> Callable[[Value, Value], bool]:
    def operator(left: Value, right: Value) -> bool:
        wanted = _plain(right)
        if isinstance(left, list | tuple):
            return any(compare(_plain(item), wanted) for item in left)
        return compare(_plain(left), wanted)

    return operator


def _matches(left: Value, right: Value) -> bool:
    if not isinstance(right, str):
        return False
    try:
        compiled = pattern.compiled(right, "i")
    except pattern.BadPattern:
        return False
    texts = left if isinstance(left, list | tuple) else (left,)
    return any(compiled.search("" if text is None else template.show(text)) for text in texts)


def _within(left: Value, right: Value) -> bool:
    return isinstance(right, list | tuple) and any(equal(left, item) for item in right)


OPERATORS: dict[str, Callable[[Value, Value], bool]] = {
    "equals": equal,
    "not_equals": lambda left, right: not equal(left, right),
    "gt": _ordered(lambda one, other: one > other),
    "gte": _ordered(lambda one, other: one >= other),
    "lt": _ordered(lambda one, other: one < other),
    "lte": _ordered(lambda one, other: one <= other),
    "in": _within,
    "contains": _textual(lambda text, wanted: wanted in text),
    "startsWith": _textual(lambda text, wanted: text.startswith(wanted)),
    "endsWith": _textual(lambda text, wanted: text.endswith(wanted)),
    "matches": _matches,
}


def _same(left: Value, right: Value) -> bool:
    """Deep equality of JSON values, where true is not 1."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(_same, left, right))
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    return left == right


def _plain(value: Value) -> str:
    return "" if value is None else template.show(value).strip().lower()


def _is_zero(value: Value) -> bool:
    return isinstance(value, int | float) and value == 0


def _shown(value: Value) -> str:
    return f'"{value}"' if isinstance(value, str) else template.show(value)


def _joined(parts: list[Value] | tuple[Value, ...], word: str, empty: str) -> str:
    texts = [f"({describe(part)})" for part in parts if isinstance(part, Mapping)]
    return word.join(texts) or empty


def _problems(condition: Value, pointer: str, depth: int) -> Iterator[Problem]:
    if not isinstance(condition, Mapping):
        yield Problem(pointer, f"a condition is an object, not {template.type_name(condition)}")
        return
    if depth > MAX_DEPTH:
        yield Problem(pointer, f"conditions nest at most {MAX_DEPTH} deep")
        return
    keys = set(condition)
    if not keys:
        return
    if "var" in keys:
        yield from _leaf_problems(condition, pointer)
    elif len(keys) == 1 and keys & {"and", "or"}:
        (key, parts) = next(iter(condition.items()))
        if not isinstance(parts, list | tuple):
            yield Problem(f"{pointer}/{key}", f"`{key}` takes a list of conditions")
            return
        for index, part in enumerate(parts):
            yield from _problems(part, f"{pointer}/{key}/{index}", depth + 1)
    elif keys == {"not"}:
        yield from _problems(condition["not"], f"{pointer}/not", depth + 1)
    else:
        yield Problem(pointer, f"not a form of condition: {_listed(keys)}")


def _leaf_problems(condition: Mapping[str, Value], pointer: str) -> Iterator[Problem]:
    var = condition["var"]
    if not isinstance(var, str) or not var:
        yield Problem(f"{pointer}/var", "`var` is the name of a context key")
    operators = [key for key in condition if key != "var"]
    if len(operators) > 1:
        yield Problem(pointer, f"one operator per condition, not {_listed(operators)}; use `and`")
    for name in operators:
        here, wanted = f"{pointer}/{name}", condition[name]
        if name not in OPERATORS:
            yield Problem(here, f"unknown operator `{name}`; known: {', '.join(OPERATORS)}")
        elif name == "in" and not isinstance(wanted, list | tuple):
            yield Problem(here, "`in` takes a list")
        elif name in {"gt", "gte", "lt", "lte"} and _number(wanted) is None:
            yield Problem(here, f"`{name}` takes a number")
        elif name == "matches":
            yield from _pattern_problems(wanted, here)


def _pattern_problems(wanted: Value, pointer: str) -> Iterator[Problem]:
    if not isinstance(wanted, str):
        yield Problem(pointer, "`matches` takes a regular expression")
        return
    try:
        pattern.compiled(wanted, "i")
    except pattern.BadPattern as error:
        yield Problem(pointer, f"bad regular expression: {error}")


def _listed(names: Value) -> str:
    return ", ".join(f"`{name}`" for name in sorted(map(str, names)))  # type: ignore[call-overload]
