"""Looks into the files that differ between two trees for what people should see first (B13.10).

Each content is looked into once; what it holds is kept under its hash. The price is that of the
files that differ, whatever else there is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backshop.base import tree
from backshop.base.errors import BackshopError
from backshop.base.ids import TreeId
from backshop.formats import FormatError, Formats, Source

from ..first_look import ContentGone, FirstLook, HostAdded, content_gone, hosts_added, kept
from ..repository import BenchRepository
from ..tree.difference import Change

FILES_MAX = 200
"""Changed files that are looked into; the others are counted."""
_NOTHING_TO_SEE = frozenset(("unsupported_format",))  # pictures, PDF: no tool writes them


def look_into(desk: BenchRepository, formats: Formats, before: TreeId, after: TreeId) -> FirstLook:
    """Return the hosts that are new and what is gone between two trees."""
    changes = desk.compare.changes(before, after)
    hosts: list[HostAdded] = []
    gone: list[ContentGone] = []
    unread: list[str] = []
    for change in changes[:FILES_MAX]:
        if change.after is None:
            gone.append(ContentGone(path=change.path))
            continue
        try:
            old, new = _held(desk, formats, change)
        except FormatError as error:
            if error.reason not in _NOTHING_TO_SEE:
                unread.append(change.path)
            continue
        except BackshopError:  # a content that is lost is told of by the review itself (B12.19)
            unread.append(change.path)
            continue
        if new["hosts_left_out"]:
            unread.append(change.path)
        hosts += hosts_added(change.path, old, new)
        gone += content_gone(change.path, old, new)
    listed, more = kept(hosts)
    return FirstLook(
        hosts=listed,
        hosts_more=more,
        gone=tuple(gone),
        unread=tuple(unread),
        left_out=max(0, len(changes) - FILES_MAX),
    )


def _held(
    desk: BenchRepository, formats: Formats, change: Change
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return what a file held and holds; one that cannot be read any more held nothing."""
    new = formats.get_inventory(_source(desk, formats, change.path, change.after))
    try:
        old = formats.get_inventory(
            _source(desk, formats, change.old_path or change.path, change.before)
        )
    except FormatError:
        old = formats.get_inventory(None)  # then all that is there now is new
    return old, new


def _source(
    desk: BenchRepository, formats: Formats, path: str, file: tree.File | None
) -> Source | None:
    if file is None:
        return None
    return formats.source(desk.store.blobs.path(file.sha256), path, file.sha256)
