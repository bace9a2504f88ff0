"""Which changes a file has and the file with some of them, whatever its kind (F34)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from backshop.base.place import FILE, Place

from .dispatch import BUILTIN, HERE, OFFICE, Dispatcher
from .errors import FormatError, fail
from .output import write_file
from .protocol import Kind, Source
from .selection.change_unit import ChangeUnit, Relocated
from .selection.whole_file import relocated_file, whole_file

PARTED = frozenset({Kind.TEXT, Kind.CSV, *OFFICE})
"""The kinds whose changes are told apart."""
_OFFER = HERE + "selection.offer"
_RAISED = frozenset({"not_found", "worker_crashed", "disk_full", "guard_refused"})
_READ_WHOLE = "files of this kind are taken or left as a whole"


class Separation:
    """Tells changes apart and puts files together, each in a worker under its limits."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._do = dispatcher

    def separate(self, before: Source, after: Source) -> list[ChangeUnit]:
        """Return the changes between two contents of a file; the whole file where it must be one.

        Raises:
            FormatError: `not_found`, or the worker was lost.
        """
        if before.sha256 == after.sha256:
            return []
        try:
            module = self._parted(before, after)
            found = (
                _READ_WHOLE
                if module is None
                else self._do.map_call(_OFFER, "separate", module, before, after)
            )
        except FormatError as error:
            if error.reason in _RAISED:
                raise
            found = f"the changes cannot be told apart: {error}"
        if isinstance(found, str):
            return [whole_file(before, after, found)]
        assert isinstance(found, list)
        return found

    def compose(self, before: Source, after: Source, left_out: frozenset[str], out: Path) -> None:
        """Write the file before with all changes but those left out.

        Raises:
            FormatError: `not_found` for a change that there is not, `verify_failed`.
        """
        units = {unit.id for unit in self.separate(before, after)}
        unknown = sorted(left_out - units)
        if unknown:
            raise fail("not_found", f"there is no change {unknown[0]!r}", hints=unknown)
        if left_out in (frozenset(), units):
            write_file(out, (before if left_out else after).path.read_bytes())
            return
        kind = self._do.classify(after).kind
        kept = frozenset(units - left_out) if kind in OFFICE else None
        args = (BUILTIN[kind], before, after, left_out, out, kept)
        self._do.write_call(_OFFER, "compose", out, *args)

    def relocate(self, before: Source, after: Source, places: Sequence[Place]) -> list[Relocated]:
        """Return where places of one version of a file are in another.

        Raises:
            FormatError: a place that the first version does not have, as a read fails.
        """
        inside = [place for place in places if not place.is_file]
        found: list[Relocated] = []
        if inside:
            found = self._inside(before, after, inside)
        told = iter(found)
        return [relocated_file(before, after) if place.is_file else next(told) for place in places]

    def _inside(self, before: Source, after: Source, places: list[Place]) -> list[Relocated]:
        module, kind = self._do.readable(before)
        try:
            other = self._do.readable(after)[1]
        except FormatError as error:
            if error.reason in _RAISED:
                raise
            other = None  # what is there now cannot be read, so nothing is where it was
        if other is not kind:
            for place in places:
                self.require_place(before, place)
            return [Relocated(place=None, is_touched=True) for _ in places]
        found = self._do.map_call(_OFFER, "relocate", module, before, after, tuple(places))
        assert isinstance(found, list)
        return found

    def require_place(self, source: Source, place: Place) -> Place:
        """Return a place as it is counted in the file, or fail as a read of it would."""
        if place.is_file:
            return FILE
        module, _ = self._do.readable(source)
        found = self._do.map_call(_OFFER, "require_place", module, source, place)
        assert isinstance(found, Place)
        return found

    def _parted(self, before: Source, after: Source) -> str | None:
        """Return the module that tells changes of two files apart, None where they stay whole."""
        kinds = [self._do.classify(one) for one in (before, after)]
        if not all(one.writable for one in kinds) or kinds[0].kind is not kinds[1].kind:
            return None
        if kinds[1].kind not in PARTED:
            return None
        if kinds[1].kind in OFFICE and kinds[0].mime != kinds[1].mime:  # a workbook got macros
            return None
        for one in (before, after):
            self._do.readable(one)
        return BUILTIN[kinds[1].kind]
