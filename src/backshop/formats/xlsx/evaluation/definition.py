"""How a function is done: value by value, with its arguments whole, or by deciding what to compute.

Which arguments are values and which may be ranges is in `syntax.signature`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class Scalar:
    """A function of single values; arrays are gone through value by value.

    `takes` has a letter for each argument: n number, w whole number, t text, b truth, d day,
    v any value but errors, e any value. The last letter stands for all that follow.
    """

    call: Callable[..., Any]
    takes: str
    dated: bool = False  # wants to know the date system first
    of_arrays: bool = True  # False: a range of cells is an error in Excel


@dataclass(frozen=True, slots=True)
class Whole:
    """A function that gets the formula and its arguments; where one value belongs it gets one."""

    call: Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Lazy:
    """A function that gets the formula, its arguments unread, and whether it takes arrays."""

    call: Callable[..., Any]


Definition: TypeAlias = Scalar | Whole | Lazy


def scalars(calls: Mapping[str, Callable[..., Any]], takes: str) -> dict[str, Definition]:
    """Return functions of single values that take the same arguments."""
    return {name: Scalar(call, takes) for name, call in calls.items()}


def wholes(calls: Mapping[str, Callable[..., Any]]) -> dict[str, Definition]:
    """Return functions that get their arguments whole."""
    return {name: Whole(call) for name, call in calls.items()}
