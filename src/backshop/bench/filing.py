"""The person's own files: listed, added, removed, renamed, and copied out again (B6)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from backshop.base import paths, tree
from backshop.base.ambient import timestamp
from backshop.base.errors import ValidationFailed
from backshop.base.ids import BlobId, FileId
from backshop.base.paths import BenchPath, collision_key
from backshop.formats import FormatError, classify

from . import decide, requests, sources
from .answers import (
    Added,
    AddResult,
    Extracted,
    FileEntry,
    FileList,
    PathResult,
    Removed,
    Renamed,
)
from .desk import Desk
from .events import FileFact, FilesExtracted
from .review import statuses
from .state import BenchState

SOURCES_MAX = 10_000
_CONFLICTS = ("reject", "skip", "keep_both", "replace")
_HEAD_BYTES = 64 * 1024


# ---------------------------------------------------------------- list


def list_files(desk: Desk, request: requests.WorkbenchFilesList) -> FileList:
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
    return FileList(
        files=tuple(
            entry(desk, state, path, entries[path], status.get(path, (None,))[0]) for path in page
        ),
        total=len(wanted),
        next_cursor=page[-1] if more else None,
    )


def entry(
    desk: Desk, state: BenchState, path: BenchPath, file: tree.File, status: str | None
) -> FileEntry:
    """Return one file with what its first bytes say it is (B6.2, B6.3)."""
    record = state.files.records.get(path)
    kind, mime, access, readable, reason = kind_of(desk, path, file.sha256)
    return FileEntry(
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
        import_sha256=record.import_sha256 if record else None,
        added_at=timestamp(record.added_ms) if record else None,
        modified_at=timestamp(record.modified_ms) if record else None,
        draft_status=status,
    )


def kind_of(desk: Desk, path: str, blob: BlobId) -> tuple[str, str, str, bool, str | None]:
    """Return kind, mime type, access class, whether it can be read, and if not why."""
    with desk.store.blobs.open(blob) as file:
        head = file.read(_HEAD_BYTES)
    try:
        found = classify(path, head)
    except FormatError as error:
        return "binary", "application/octet-stream", "read_only", False, error.reason
    if found.opaque:
        return found.kind.value, found.mime, "opaque", False, None
    access = "read_write" if found.writable and not found.macro else "read_only"
    return found.kind.value, found.mime, access, True, None


# ---------------------------------------------------------------- add


@dataclass(slots=True)
class _Adding:
    """One add request on its way: what the tree will get, and what is said of each source."""

    entries: dict[BenchPath, tree.File]
    keys: dict[str, BenchPath]
    results: list[AddResult]
    changes: dict[BenchPath, tree.File | None]
    facts: list[FileFact]
    replaced: int = 0


def add(desk: Desk, request: requests.WorkbenchFilesAdd) -> Added:
    """Copy files in; conflicts and limits are judged for the request as a whole (B6.6–B6.9)."""
    if not 1 <= len(request.source_paths) <= SOURCES_MAX:
        raise ValidationFailed("give 1 to 10,000 sources", reason="bad_params")
    if request.on_conflict not in _CONFLICTS:
        raise ValidationFailed("there is no such way to settle a conflict", reason="bad_params")
    folder = "" if request.dest_dir is None else f"{paths.bench_path(request.dest_dir)}/"
    with desk.locked(request.workbench_id) as state:
        decide.require_no_draft(state)
        adding = _Adding(desk.entries(state.published), {}, [], {}, [])
        adding.keys = {collision_key(path): path for path in adding.entries}
        for text in request.source_paths:
            _add_source(desk, state, request, adding, sources.given_path(text), folder)
        if not adding.changes:
            return Added(add_results=tuple(adding.results))
        return _commit_add(desk, request, state, adding)


def _commit_add(
    desk: Desk, request: requests.WorkbenchFilesAdd, state: BenchState, adding: _Adding
) -> Added:
    built = desk.grow(state.published, adding.changes)
    if built.id == state.published:  # replaced by the same bytes: nothing changed (B6.12)
        return Added(add_results=tuple(adding.results))
    after = _sum(adding)
    kept = None
    if adding.replaced:
        text = f"Before replacing {adding.replaced} files"
        kept = decide.checkpoint(
            state, desk.new_checkpoint(), "auto", text, desk.totals(state), "before_replace"
        )
    done = desk.commit(
        request.workbench_id,
        lambda now: decide.add(now, built.id, adding.facts, after, kept),
        blobs=tuple(built.nodes.values()),
    )
    return Added(add_results=tuple(adding.results), warnings=done.warnings)


def _sum(adding: _Adding) -> decide.Totals:
    files = {**adding.entries, **{p: f for p, f in adding.changes.items() if f is not None}}
    return decide.Totals(len(files), sum(file.size for file in files.values()))


def _add_source(
    desk: Desk,
    state: BenchState,
    request: requests.WorkbenchFilesAdd,
    adding: _Adding,
    source: Path,
    folder: str,
) -> None:
    limit = state.limits.max_files
    for found in sources.found_sources(source, recursive=request.recursive, limit=limit):
        if isinstance(found, tuple):
            skipped, reason = found
            adding.results.append(
                AddResult(source_path=str(skipped), status="skipped", reason=reason)
            )
            continue
        try:
            _add_file(desk, state, request.on_conflict, adding, found, folder)
        except sources.Skip as skip:
            adding.results.append(
                AddResult(source_path=str(found.source), status="skipped", reason=skip.reason)
            )


def _add_file(
    desk: Desk,
    state: BenchState,
    on_conflict: str,
    adding: _Adding,
    found: sources.Found,
    folder: str,
) -> None:
    parsed = _target(folder + found.relative, state.limits.max_depth)
    taken = adding.keys.get(collision_key(parsed.path))
    if taken is not None and on_conflict == "reject":
        raise ValidationFailed(
            "a file of this name is there already", reason="duplicate", detail=taken
        )
    if taken is not None and on_conflict == "skip":
        raise sources.Skip("duplicate")
    blob, size = sources.store_source(
        found.source, desk.store.blobs, desk.store.home, state.limits.max_file_bytes
    )
    path, status = parsed.path, "added"
    if taken is not None and on_conflict == "keep_both":
        path = _free(parsed.path, adding.keys)
    elif taken is not None:
        path, status = taken, "updated"
        adding.replaced += 1
    file_id = _identity(desk, state, path) if status == "updated" else desk.new_file()
    _note(desk, adding, path, tree.File(blob, size), file_id)
    opaque = kind_of(desk, path, blob)[2] == "opaque"
    adding.results.append(
        AddResult(
            source_path=str(found.source),
            status=status,
            path=path,
            file_id=file_id,
            opaque_notice=True if opaque else None,
            normalized_from=parsed.normalized_from,
        )
    )


def _note(desk: Desk, adding: _Adding, path: BenchPath, file: tree.File, file_id: FileId) -> None:
    adding.changes[path] = file
    adding.keys[collision_key(path)] = path
    adding.facts = [fact for fact in adding.facts if fact.path != path]
    adding.facts.append(
        FileFact(path=path, file_id=file_id, sha256=file.sha256, size=file.size, imported=True)
    )


def _target(raw: str, max_depth: int) -> paths.Parsed:
    try:
        return paths.parse(raw, max_depth=max_depth)
    except ValidationFailed as error:
        too_deep = error.detail == "too_deep"
        raise sources.Skip("depth_limit" if too_deep else "invalid_name") from error


def _identity(desk: Desk, state: BenchState, path: BenchPath) -> FileId:
    record = state.files.records.get(path)
    return record.file_id if record else desk.new_file()


def _free(path: BenchPath, keys: dict[str, BenchPath]) -> BenchPath:
    folder, _, name = path.rpartition("/")
    for number in range(1, SOURCES_MAX + 1):
        candidate = f"{folder}/{sources.numbered(name, number)}".lstrip("/")
        if collision_key(candidate) not in keys:
            return paths.bench_path(candidate)
    raise sources.Skip("duplicate")


# ---------------------------------------------------------------- remove, rename, extract


def remove(desk: Desk, request: requests.WorkbenchFilesRemove) -> Removed:
    """Take files out of Published, keeping a checkpoint (B6.13)."""
    with desk.locked(request.workbench_id) as state:
        decide.require_no_draft(state)
        results, wanted = _resolved(desk, state, request.workbench_paths, "removed")
        if not wanted:
            return Removed(remove_results=tuple(results))
        built = desk.grow(state.published, dict.fromkeys(wanted))
        text = f"Before removing {len(wanted)} files"
        kept = decide.checkpoint(
            state, desk.new_checkpoint(), "auto", text, desk.totals(state), "before_remove"
        )
        done = desk.commit(
            request.workbench_id,
            lambda now: decide.remove(now, built.id, wanted, kept),
            blobs=tuple(built.nodes.values()),
        )
    return Removed(
        remove_results=tuple(results), checkpoint_id=kept.checkpoint_id, warnings=done.warnings
    )


def rename(desk: Desk, request: requests.WorkbenchFileRename) -> Renamed:
    """Give a Published file another path, keeping a checkpoint (B6.16)."""
    with desk.locked(request.workbench_id) as state:
        decide.require_no_draft(state)
        path = paths.bench_path(request.path)
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
            lambda now: decide.rename_file(now, built.id, path, new_path, kept),
            blobs=tuple(built.nodes.values()),
        )
    return Renamed(path=new_path, checkpoint_id=kept.checkpoint_id, warnings=done.warnings)


def extract(desk: Desk, request: requests.WorkbenchFilesExtract) -> Extracted:
    """Copy Published files to a folder outside; nothing there is overwritten (B6.14)."""
    target = sources.require_destination(request.destination_dir, desk.store.home)
    with desk.locked(request.workbench_id) as state:
        decide.require_no_draft(state)
        entries = desk.entries(state.published)
        wanted = request.workbench_paths
        if wanted is None:
            results: list[PathResult] = []
            chosen = list(entries)
        else:
            results, chosen = _resolved(desk, state, wanted, "extracted")
            results = [result for result in results if result.status != "extracted"]
        results += [_extracted(desk, target, path, entries[path]) for path in chosen]
        count = sum(result.status == "extracted" for result in results)
        desk.commit(request.workbench_id, lambda _: [FilesExtracted(count=count)])
    return Extracted(extract_results=tuple(results))


def _extracted(desk: Desk, target: Path, path: BenchPath, file: tree.File) -> PathResult:
    try:
        final = sources.copy_out(file.sha256, desk.store.blobs, target, path)
    except sources.Skip as skip:
        return PathResult(path=path, status="failed", reason=skip.reason)
    return PathResult(path=path, status="extracted", final_path=str(final))


def _resolved(
    desk: Desk, state: BenchState, wanted: Iterable[str], verb: str
) -> tuple[list[PathResult], list[BenchPath]]:
    """Say of each path whether it is there; return those that are."""
    results: list[PathResult] = []
    found: list[BenchPath] = []
    for raw in wanted:
        try:
            path = paths.bench_path(raw)
        except ValidationFailed:
            results.append(PathResult(path=raw, status="failed", reason="invalid_path"))
            continue
        if path in found:
            results.append(PathResult(path=path, status="skipped", reason="duplicate_request"))
        elif tree.lookup(state.published, path, desk.store.load_tree) is None:
            results.append(PathResult(path=path, status="failed", reason="not_found"))
        else:
            results.append(PathResult(path=path, status=verb))
            found.append(path)
    return results, found


def _place(wanted: list[BenchPath], cursor: str) -> int:
    """Return where the page after `cursor` begins; the path itself may be gone by now."""
    return sum(path.encode() <= cursor.encode() for path in wanted)
