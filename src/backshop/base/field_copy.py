"""A dataclass made from another one: the fields they share are named by neither side again."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields
from typing import Any, TypeVar

MadeT = TypeVar("MadeT")


def made_from(
    kind: type[MadeT], source: Any, /, *, without: Collection[str] = (), **given: Any
) -> MadeT:
    """Return a `kind` with every field of `source` but those named `without`, and those given.

    A field that `kind` does not have is refused (TypeError): what is left out is said.
    """
    taken = (one.name for one in fields(source) if one.name not in without)
    return kind(**{**{name: getattr(source, name) for name in taken}, **given})
