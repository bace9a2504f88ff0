"""A change unit: the smallest change of a file that can be taken or left by itself."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from backshop.base.place import Place

ID_CHARS = 16
TEXT_MAX_CHARS = 200
GROUPS = ("text", "values", "formulas", "looks", "structure", "other")
"""What changes are of, for taking or leaving all of one sort ("all style changes" are `looks`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeUnit:
    """One change that can be taken or left, whatever is decided about the others.

    Its id is made of where it stands in the file *before* and of both its sides, so that it is the
    same whichever of the other changes are there: the units between the file before and a file
    with some changes left out are exactly the others.
    """

    id: str
    kind: str
    """`lines`, `row`, `cell`, `paragraph`, `table`, `slide`, `shape`, `sheet`, `part` or `file`."""
    group: str
    label: str
    """Where, in words, as it counts after the change: `Budget!B4`, `lines 12–14`, `slide 3`."""
    place: Place | None = None
    """Where it shows after the change; None for what is gone."""
    before: str | None = None
    """How it began, cut; None for what was not there."""
    after: str | None = None
    tied: str | None = None
    """Why it is larger than a person would like, in words; None where it is as small as it gets."""


def unit_id(kind: str, *parts: object) -> str:
    """Return the id of a unit: of its kind, its place before the change, and both its sides."""
    told = "\x1f".join([kind, *(repr(one) for one in parts)])
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:ID_CHARS]


def shortened(text: str | None) -> str | None:
    """Return a text as short as a list of changes shows it."""
    if text is None or len(text) <= TEXT_MAX_CHARS:
        return text
    return f"{text[: TEXT_MAX_CHARS - 1]}…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Relocated:
    """Where a place of one version of a file is in another."""

    place: Place | None
    """None: it is gone."""
    is_touched: bool
    """Whether what stands there is another than it was."""
