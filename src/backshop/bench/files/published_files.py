"""The person's own files: listed, removed, renamed, and copied out again (B6)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from backshop.base import paths, tree
from backshop.base.ambient import timestamp
from backshop.base.errors import NotFound, ValidationFailed
from backshop.base.ids import BlobId
from backshop.base.paths import BenchPath
from backshop.formats import TAIL_BYTES, FormatError, Kind, check_end, classify, kind_of_name
from backshop.store import ReadOnlyHome, StorageCorrupt

from .. import answers, decide, requests
from ..events import FilesExtracted
from ..repository import BenchRepository
from ..retry import decided_again
from ..review.change_set import statuses
from ..state import BenchState
from . import source

_HEAD_BYTES = 64 * 1024
_UNKNOWN = "application/octet-stream"


# ---------------------------------------------------------------- list


def list_files(desk: BenchRepository, request: requests.WorkbenchFilesList) -> answers.FileList:
    """List a view; while there is a Draft, deleted entries are shown too (B6.5)."""
    state = desk.state(request.workbench_id)
    if request.view not in (None, "published", "draft"):
        raise ValidationFailed("a view is published or draft", reason="bad_params")
    if not 1 <= request.limit <= 1000:
        raise ValidationFailed("a page has 1 to 1000 files", reason="bad_params")
    draft = state.draft if request.view != "published" else None
    entries = desk.entries(draft.tree if draft else state.published)
    status = statuses(desk, draft) if draft else {}
    for path, (word, file) in status.items():
        if word == "DELETED":
            entries[path] = file
    wanted = sorted((p for p in entries if p.startswith(request.prefix)), key=str.encode)
    start = 0 if request.cursor is None else _place(wanted, request.cursor)
    page = wanted[start : start + request.limit]
    more = start + request.limit < len(wanted)
    return answers.FileList(
        files=tuple(
            entry(desk, state, path, entries[path], status.get(path, (None,))[0]) for path in page
        ),
        total=len(wanted),
        next_cursor=page[-1] if more else None,
    )


def entry(
    desk: BenchRepository, state: BenchState, path: BenchPath, file: tree.File, status: str | None
) -> answers.FileEntry:
    """Return one file with what its first bytes say it is (B6.2, B6.3)."""
    record = state.files.records.get(path)
    kind, mime, access, readable, reason = kind_of(desk, path, file.sha256)
    return answers.FileEntry(
        path=path,
        kind=kind,
        access=access,
        size=file.size,
        sha256=file.sha256,
        mime_type=mime,
        is_opaque=access == "opaque",
        readable=readable,
        unreadable_reason=reason,
        file_id=record.file_id if record else None,
        origin=record.origin if record else None,
        import_sha256=record.brought.sha256 if record and record.brought else None,
        added_at=timestamp(record.added_ms) if record else None,
        modified_at=timestamp(record.modified_ms) if record else None,
        draft_status=status,
    )


def kind_of(
    desk: BenchRepository, path: str, blob: BlobId
) -> tuple[str, str, str, bool, str | None]:
    """Return kind, mime type, access class, whether it can be read, and if not why."""
    promised = kind_of_name(path) or Kind.BINARY
    try:
        head, tail = _ends(desk, blob)
    except NotFound:  # one lost content costs its own file, not the list (T5.7)
        return promised.value, _UNKNOWN, "read_only", False, "missing_blob"
    except StorageCorrupt:
        return promised.value, _UNKNOWN, "read_only", False, "altered_blob"
    try:
        found = classify(path, head)
        check_end(found, tail)
    except FormatError as error:
        return promised.value, _UNKNOWN, "read_only", False, error.reason
    if found.opaque:
        return found.kind.value, found.mime, "opaque", False, None
    access = "read_write" if found.writable else "read_only"
    return found.kind.value, found.mime, access, True, None


def _ends(desk: BenchRepository, blob: BlobId) -> tuple[bytes, bytes]:
    """Return the first and the last bytes of a content."""
    with desk.store.blobs.open(blob) as file:
        head = file.read(_HEAD_BYTES)
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - TAIL_BYTES))
        return head, file.read()


# ---------------------------------------------------------------- remove, rename, extract


@decided_again
def remove(desk: BenchRepository, request: requests.WorkbenchFilesRemove) -> answers.Removed:
    """Take files out of Published, keeping a checkpoint (B6.13)."""
    with desk.locked(request.workbench_id, lost_ok=True) as state:
        decide.require_no_draft(state)
        results, wanted = _resolved(desk, state, request.workbench_paths, "removed")
        if not wanted:
            return answers.Removed(remove_results=tuple(results))
        built = desk.grow(state.published, dict.fromkeys(wanted))
        text = f"Before removing {len(wanted)} {'file' if len(wanted) == 1 else 'files'}"
        kept = decide.checkpoint(
            state, desk.new_checkpoint(), "auto", text, desk.totals(state), "before_remove"
        )
        done = desk.commit(
            request.workbench_id,
            lambda now: decide.remove(decide.unmoved(now, state), built.id, wanted, kept),
            blobs=tuple(built.nodes.values()),
        )
    return answers.Removed(
        remove_results=tuple(results), checkpoint_id=kept.checkpoint_id, warnings=done.warnings
    )


@decided_again
def rename(desk: BenchRepository, request: requests.WorkbenchFileRename) -> answers.Renamed:
    """Give a Published file another path, keeping a checkpoint (B6.16)."""
    path = paths.bench_path(request.path)
    paths.bench_path(request.new_path)
    with desk.locked(request.workbench_id, lost_ok=True) as state:
        decide.require_no_draft(state)
        new_path = paths.parse(request.new_path, max_depth=state.limits.max_depth).path
        file = desk.find(state.published, path)
        desk.require_free(state.published, new_path)
        built = desk.grow(state.published, {path: None, new_path: file})
        kept = decide.checkpoint(
            state,
            desk.new_checkpoint(),
            "auto",
            "Before renaming a file",
            desk.totals(state),
            "before_rename",
        )
        done = desk.commit(
            request.workbench_id,
            lambda now: decide.rename_file(
                decide.unmoved(now, state), built.id, path, new_path, kept
            ),
            blobs=tuple(built.nodes.values()),
        )
    return answers.Renamed(path=new_path, checkpoint_id=kept.checkpoint_id, warnings=done.warnings)


def extract(desk: BenchRepository, request: requests.WorkbenchFilesExtract) -> answers.Extracted:
    """Copy Published files to a folder outside; nothing there is overwritten (B6.14).

    It reads: a Draft that waits, an agent at work and damaged contents do not stand in its way.
    """
    target = source.require_destination(request.destination_dir, desk.store.home)
    state = desk.state(request.workbench_id)
    entries = desk.entries(state.published)
    wanted = request.workbench_paths
    if wanted is None:
        results = [answers.PathResult(path=path, status="extracted") for path in entries]
    else:
        results, _ = _resolved(desk, state, wanted, "extracted")
    results = [
        _extracted(desk, target, BenchPath(one.path), entries[BenchPath(one.path)])
        if one.status == "extracted"
        else one
        for one in results
    ]
    count = sum(result.status == "extracted" for result in results)
    warnings: tuple[str, ...] = ()
    try:
        desk.commit(request.workbench_id, lambda _: [FilesExtracted(count=count)])
    except ReadOnlyHome:  # nobody can note it there; the files are out all the same
        warnings = ("read_only",)
    return answers.Extracted(extract_results=tuple(results), warnings=warnings)


def _extracted(
    desk: BenchRepository, target: Path, path: BenchPath, file: tree.File
) -> answers.PathResult:
    try:
        final = source.copy_out(file, desk.store.blobs, target, path)
    except source.Skip as skip:
        return answers.PathResult(path=path, status="failed", reason=skip.reason)
    return answers.PathResult(path=path, status="extracted", final_path=str(final))


def _resolved(
    desk: BenchRepository, state: BenchState, wanted: Iterable[str], verb: str
) -> tuple[list[answers.PathResult], list[BenchPath]]:
    """Say of each path whether it is there; return those that are."""
    results: list[answers.PathResult] = []
    found: list[BenchPath] = []
    for raw in wanted:
        try:
            path = paths.bench_path(raw)
        except ValidationFailed:
            results.append(answers.PathResult(path=raw, status="failed", reason="invalid_path"))
            continue
        if path in found:
            results.append(
                answers.PathResult(path=path, status="skipped", reason="duplicate_request")
            )
        elif tree.lookup(state.published, path, desk.store.load_tree) is None:
            results.append(answers.PathResult(path=path, status="failed", reason="not_found"))
        else:
            results.append(answers.PathResult(path=path, status=verb))
            found.append(path)
    return results, found


def _place(wanted: list[BenchPath], cursor: str) -> int:
    """Return where the page after `cursor` begins; the path itself may be gone by now."""
    return sum(path.encode() <= cursor.encode() for path in wanted)
