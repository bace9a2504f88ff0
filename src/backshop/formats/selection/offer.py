"""Calls what the module of a kind offers for changes one by one, inside a worker.

A module offers `separate(before, after)`, `compose(before, after, left_out, out)`,
`relocate(before, after, places)` and `require_place(source, place)`; one that has no such function
knows its files only whole.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

from backshop.base.place import Place

from ..errors import FormatError, fail
from ..protocol import Applied, Source
from .change_unit import ChangeUnit, Relocated


def separate(module: str, before: Source, after: Source) -> list[ChangeUnit] | str:
    """Return the changes between two files, or why they are not told apart."""
    offered = _offered(module, "separate")
    if offered is None:
        return "changes of this kind of file are not told apart"
    found = offered(before, after)
    assert isinstance(found, list)
    return found


def compose(
    module: str,
    before: Source,
    after: Source,
    left_out: frozenset[str],
    out: Path,
    kept: frozenset[str] | None,
) -> Applied:
    """Write the file with some changes; those between it and the file before must be `kept`.

    Raises:
        FormatError: `verify_failed`; nothing is left at `out`.
    """
    offered = _offered(module, "compose")
    if offered is None:
        raise fail("unsupported_format", f"{after.name!r} is taken or left as a whole")
    verified = offered(before, after, left_out, out)
    digest = hashlib.sha256(out.read_bytes()).hexdigest()
    made = Source(out, digest, after.name, after.limits)
    if kept is not None and not _has_exactly(
        kept, verified, lambda: separate(module, before, made)
    ):
        out.unlink()
        raise fail("verify_failed", "the file would not have exactly the changes that stay")
    return Applied(name=after.name, size_bytes=made.size_bytes, sha256=digest)


def _has_exactly(
    kept: frozenset[str], verified: object, again: Callable[[], list[ChangeUnit] | str]
) -> bool:
    """Whether a file has these changes; a module may have found it out from more than the file."""
    if isinstance(verified, frozenset):
        return verified == kept
    found = again()
    return not isinstance(found, str) and {unit.id for unit in found} == kept


def relocate(
    module: str, before: Source, after: Source, places: Sequence[Place]
) -> list[Relocated]:
    """Return where places of one file are in another.

    Raises:
        FormatError: `bad_selector` where a kind has no places in its files.
    """
    offered = _offered(module, "relocate")
    if offered is None:
        raise _only_whole(before)
    found = offered(before, after, places)
    assert isinstance(found, list)
    return found


def require_place(module: str, source: Source, place: Place) -> Place:
    """Return a place of a file as it is counted, or fail as a read would."""
    offered = _offered(module, "require_place")
    if offered is None:
        raise _only_whole(source)
    found = offered(source, place)
    assert isinstance(found, Place)
    return found


def _offered(module: str, name: str) -> Callable[..., object] | None:
    found: object = getattr(import_module(module), name, None)
    return found if callable(found) else None


def _only_whole(source: Source) -> FormatError:
    return fail("bad_selector", f"{source.name!r} has no places but the whole file")
