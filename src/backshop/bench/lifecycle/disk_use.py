"""A bench's folders as people see them: what the Draft's one holds, what all take on disk (B2.12).

The Draft's folder holds the files the Draft changes; all of them only for whoever asks.
"""

from __future__ import annotations

import os
from pathlib import Path

from backshop.base.ids import BenchId
from backshop.base.tree import EMPTY

from .. import decide, requests
from ..answers import BenchSize, DraftFolder
from ..repository import BenchRepository, stream_of
from ..view.folder import VIEWS
from ..view.folder_scan import entries

_BLOCK = 512  # what `st_blocks` counts in, whatever the file system's own is


def draft_folder(desk: BenchRepository, request: requests.DraftFolderChoice) -> DraftFolder:
    """Say what the Draft's folder holds; with `whole`, make it hold that first."""
    decide.require_draft(desk.state(request.workbench_id))
    with desk.locked(request.workbench_id) as state:
        draft = decide.require_draft(state)
        if request.whole is None:
            found = desk.views.outside(state, "draft", mark=True)
        else:
            if request.whole:
                desk.require_disk(desk.totals_after(state, draft.tree).bytes)
            found = desk.views.complete(state, whole=request.whole)
        head = desk.views.heads(state)["draft"]
    assert head is not None, "a Draft has a folder"
    folder = desk.views.folder(BenchId(request.workbench_id)) / "draft"
    return DraftFolder(
        whole=head.base == EMPTY,
        files=sum(1 for _ in entries(str(folder))),
        outside_changes=tuple(one.path for one in found),
        folder=str(folder),
    )


def size(desk: BenchRepository, request: requests.BenchRequest) -> BenchSize:
    """Say what a bench takes on disk: contents once, and its folders beside them."""
    state = desk.state(request.workbench_id)
    bench = desk.views.folder(BenchId(request.workbench_id))
    taken = {name: _taken(bench / name) for name in (*VIEWS, "meta/salvage")}
    return BenchSize(
        published_bytes=taken["published"],
        draft_bytes=taken["draft"],
        salvage_bytes=taken["meta/salvage"],
        folder_bytes=_taken(bench),
        content_bytes=desk.store.content_bytes(stream_of(request.workbench_id)),
        file_bytes=state.files.total_bytes,
    )


def _taken(folder: Path) -> int:
    """Return the bytes of a folder on disk, as the file system counts them."""
    total = 0
    for _, entry in entries(str(folder)):
        try:
            total += os.lstat(entry.path).st_blocks * _BLOCK
        except FileNotFoundError:
            continue
    return total
