"""The whole file as one change: what is left where changes cannot be told apart."""

from __future__ import annotations

from backshop.base.place import FILE, Place

from ..protocol import Source
from .change_unit import ChangeUnit, Relocated, unit_id


def whole_file(
    before: Source, after: Source, tied: str, *, group: str = "other", label: str = "the whole file"
) -> ChangeUnit:
    """Return the one change that puts a whole content in the place of another; `tied` says why."""
    return ChangeUnit(
        id=unit_id("file", before.sha256, after.sha256),
        kind="file",
        group=group,
        label=label,
        place=FILE,
        tied=tied,
    )


def relocated_file(before: Source, after: Source) -> Relocated:
    """Return where the whole file is: it is itself."""
    return Relocated(place=Place(), is_touched=before.sha256 != after.sha256)
