"""What can be known of a function somebody hands over, before it is called."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, get_type_hints


def fits(function: Callable[..., object], *positional: object, **named: object) -> bool:
    """Say whether a function can be called with these arguments; True where nobody can tell."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some built-in functions tell nothing
        return True
    try:
        signature.bind(*positional, **named)
    except TypeError:
        return False
    return True


def is_async(function: object) -> bool:
    """Say whether calling a function gives something to be awaited."""
    return any(map(inspect.iscoroutinefunction, _bodies(function)))


def is_deferred(function: object) -> bool:
    """Say whether calling a function gives something to be awaited or iterated, not an answer."""
    return is_async(function) or is_generator(function)


def is_generator(function: object) -> bool:
    """Say whether calling a function gives an iterator."""
    return any(
        inspect.isgeneratorfunction(one) or inspect.isasyncgenfunction(one)
        for one in _bodies(function)
    )


def named_types(function: object) -> dict[str, Any]:
    """Return the types a function names, first the parameters; empty where they cannot be found."""
    body = function if inspect.isroutine(function) else _calling(function)
    try:
        return get_type_hints(body)
    except (NameError, TypeError, AttributeError):  # names that only a type checker knows
        return {}


def _bodies(function: object) -> tuple[object, ...]:
    """Return the function itself and, for an object that can be called, what calling it runs."""
    return (function, _calling(function))


def _calling(function: object) -> object:
    """Return what runs when an object is called."""
    return inspect.getattr_static(type(function), "__call__", None)
