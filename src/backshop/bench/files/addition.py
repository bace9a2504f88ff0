"""Copies of the person's files come in: judged as a whole, read once, durable together (B6).

First every source is looked at and gets its place; then all are read into one batch of contents.
A refusal at any point leaves nothing behind, not even content nobody refers to.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from backshop.base import paths, tree
from backshop.base.errors import LimitExceeded, ValidationFailed
from backshop.base.ids import BlobId, FileId
from backshop.base.paths import BenchPath, collision_key
from backshop.base.progress import report
from backshop.formats import FormatError, classify

from .. import decide, requests
from ..answers import Added, AddResult
from ..errors import SourceUnreadable
from ..repository import BenchRepository
from ..retry import decided_again
from ..state import BenchState
from ..values import FileFact
from ..view.folder_scan import content_name
from . import source as files_source
from .source import Skip, SourceGate

SOURCES_MAX = 10_000
SKIPPED_MAX = 20_000  # an answer with one line for each has to end somewhere
_CONFLICTS = ("reject", "skip", "keep_both", "replace")


@dataclass(frozen=True, slots=True)
class _Planned:
    """A source that has a place: its number among the results, path and fate."""

    place: int
    source: Path
    path: BenchPath
    status: str
    normalized_from: str | None


@dataclass(slots=True)
class _Adding:
    """One request on its way: what is said of each source, and what the tree will get."""

    keys: dict[str, BenchPath]
    results: list[AddResult]
    planned: list[_Planned]
    conflicts: list[BenchPath]
    size_bytes: int = 0
    modes: dict[BenchPath, tree.Mode] = field(default_factory=dict)

    def skip(self, source: Path, reason: str, detail: str | None = None) -> None:
        """Say that a source is passed over."""
        self.results.append(
            AddResult(source_path=str(source), status="skipped", reason=reason, detail=detail)
        )


@decided_again
def add(desk: BenchRepository, request: requests.WorkbenchFilesAdd) -> Added:
    """Copy files in; conflicts and limits are judged for the request as a whole."""
    if not 1 <= len(request.source_paths) <= SOURCES_MAX:
        raise ValidationFailed("give 1 to 10,000 sources", reason="bad_params")
    if request.on_conflict not in _CONFLICTS:
        raise ValidationFailed(
            "there is no such way to settle a conflict", reason="bad_params", hints=_CONFLICTS
        )
    folder = "" if request.dest_dir is None else f"{paths.bench_path(request.dest_dir)}/"
    with desk.locked(request.workbench_id, damaged_ok=True) as state:
        gate = SourceGate(desk.store.home, state.limits.max_file_bytes)
        healed = _heal(desk, state, request, gate)
        desk.require_whole(state, lost_ok=True)
        decide.require_no_draft(state)
        adding = _planned(gate, state, request, folder, healed)
        if adding.conflicts:
            raise ValidationFailed(
                "files of these names are there already",
                reason="duplicate",
                detail=", ".join(adding.conflicts[: decide.LISTED_PATHS]),
            )
        if not adding.planned:
            return Added(add_results=tuple(adding.results))
        desk.require_disk(2 * adding.size_bytes)  # as contents, and in Published's folder
        facts = _read(desk, request.workbench_id, state, adding, gate)
        return _commit(desk, request, state, adding, facts)


# ---------------------------------------------------------------- places


def _planned(
    gate: SourceGate,
    state: BenchState,
    request: requests.WorkbenchFilesAdd,
    folder: str,
    healed: Mapping[Path, Collection[str]],
) -> _Adding:
    keys = {collision_key(path): BenchPath(path) for path in state.files.records}
    adding = _Adding(keys, [], [], [])
    for found in _found(request):
        if not isinstance(found, tuple) and folder + found.relative in healed.get(found.source, ()):
            path, said = folder + found.relative, str(found.source)
            adding.results.append(AddResult(source_path=said, status="repaired", path=path))
            continue
        if request.recursive:
            _require_end(adding, state)
        if isinstance(found, tuple):
            adding.skip(*found)
            continue
        try:
            size = gate.look(found.source)
            _place(adding, state, request.on_conflict, found, folder, size)
        except Skip as skip:
            adding.skip(found.source, skip.reason, skip.detail)
    return adding


def _found(
    request: requests.WorkbenchFilesAdd,
) -> Iterator[files_source.FoundSource | tuple[Path, str]]:
    for text in request.source_paths:
        source = files_source.given_path(text)
        yield from files_source.found_sources(source, recursive=request.recursive)


def _require_end(adding: _Adding, state: BenchState) -> None:
    """Refuse to walk on where more was planned than fits, or passed over than can be told."""
    have, limit = len(state.files.records), state.limits.max_files
    if len(adding.keys) > max(have, limit):
        raise LimitExceeded(
            "the workbench would hold too many files",
            reason="too_large",
            detail=f"max_files have={have} adding={len(adding.planned)} limit={limit}",
        )
    if len(adding.results) - len(adding.planned) > SKIPPED_MAX:
        raise LimitExceeded(
            "too many files were passed over", reason="too_large", detail=f"limit={SKIPPED_MAX}"
        )


def _place(
    adding: _Adding,
    state: BenchState,
    on_conflict: str,
    found: files_source.FoundSource,
    folder: str,
    size_bytes: int,
) -> None:
    parsed = _target(folder + found.relative, state.limits.max_depth)
    path, status = parsed.path, "added"
    taken = adding.keys.get(collision_key(path))
    if taken is not None and on_conflict == "reject":
        adding.conflicts.append(taken)
        return
    if taken is not None and on_conflict == "skip":
        raise Skip("duplicate")
    if taken is not None and on_conflict == "keep_both":
        path = _free(path, adding.keys)
    elif taken is not None:
        path, status = taken, "updated"
    adding.keys[collision_key(path)] = path
    place = len(adding.results)
    adding.results.append(AddResult(source_path=str(found.source), status=status, path=path))
    adding.planned.append(_Planned(place, found.source, path, status, parsed.normalized_from))
    adding.size_bytes += size_bytes


def _target(raw: str, max_depth: int) -> paths.Parsed:
    try:
        return paths.parse(raw, max_depth=max_depth)
    except ValidationFailed as error:
        too_deep = error.detail == "too_deep"
        if too_deep:
            raise Skip("depth_limit") from error
        raise Skip("invalid_name", error.message) from error


def _free(path: BenchPath, keys: dict[str, BenchPath]) -> BenchPath:
    folder, _, name = path.rpartition("/")
    for number in range(1, SOURCES_MAX + 1):
        candidate = f"{folder}/{files_source.numbered(name, number)}".lstrip("/")
        if collision_key(candidate) not in keys:
            return paths.bench_path(candidate)
    raise Skip("duplicate")


def _heal(
    desk: BenchRepository, state: BenchState, request: requests.WorkbenchFilesAdd, gate: SourceGate
) -> dict[Path, set[str]]:
    """Write contents of the bench that are damaged anew from sources that hold them (B2.11).

    Returns the sources with the paths they healed. Only a damaged bench costs reading them here.
    """
    lost = desk.soundness.of_heads(state)
    healed: dict[Path, set[str]] = {}
    if not lost:
        return healed
    known = dict(_named(request, gate))
    while useful := [one for one in lost if one.sha256 in known]:
        for one in useful:
            assert one.sha256 is not None
            source = known[one.sha256]
            with desk.store.blobs.batch() as batch:
                if gate.take(source, batch).blob != one.sha256:
                    raise SourceUnreadable(
                        "a source changed while it was read", reason="unreadable"
                    )
            healed.setdefault(source, set()).add(one.path)
        lost = desk.soundness.of_heads(state)
        if lost == useful:
            break
    return healed


def _named(request: requests.WorkbenchFilesAdd, gate: SourceGate) -> Iterator[tuple[BlobId, Path]]:
    """Yield the sources that can be taken by the names of their contents."""
    for found in _found(request):
        if isinstance(found, tuple):
            continue
        with suppress(Skip, OSError):
            gate.look(found.source)
            yield content_name(found.source), found.source


# ---------------------------------------------------------------- contents


def _read(
    desk: BenchRepository, bench_id: str, state: BenchState, adding: _Adding, gate: SourceGate
) -> dict[BenchPath, FileFact]:
    """Read every source once; all contents are durable when this returns, or none is there."""
    facts: dict[BenchPath, FileFact] = {}
    room = _Room(state, len(adding.planned))
    with desk.store.blobs.batch() as batch:
        for number, one in enumerate(adding.planned):
            report("files read", number, len(adding.planned))
            try:
                taken = gate.take(one.source, batch)
            except Skip as skip:
                said = str(one.source)
                result = AddResult(source_path=said, status="skipped", reason=skip.reason)
                adding.results[one.place] = result
                continue
            fact = FileFact(
                path=one.path,
                file_id=_identity(desk, state, facts, one.path),
                sha256=taken.blob,
                size=taken.size,
                imported=True,
            )
            room.take(facts.get(one.path), fact)
            facts[one.path] = fact
            adding.modes[one.path] = taken.mode
            adding.results[one.place] = _result(one, fact, taken.head)
        desk.require_growth(bench_id, room.growth)  # a refusal inside the batch leaves nothing
    return facts


class _Room:
    """Counts what really comes in, and refuses as soon as it is too much (B6.9)."""

    def __init__(self, state: BenchState, adding: int) -> None:
        self._limits = state.limits
        self._records = state.files.records
        self._files = len(state.files.records)
        self._bytes = self._had_bytes = state.files.total_bytes
        self._adding = adding

    @property
    def growth(self) -> int:
        """By how many bytes Published grows; replaced files count off."""
        return self._bytes - self._had_bytes

    def take(self, before: FileFact | None, fact: FileFact) -> None:
        """Count a file; `before` is what the same request had put at its path."""
        old = self._records.get(fact.path)
        size_before = before.size if before else (old.size if old else 0)
        had = before is not None or old is not None
        have, limit = len(self._records), self._limits
        self._files += not had
        self._bytes += fact.size - size_before
        if self._files > limit.max_files and not had:
            raise LimitExceeded(
                "the workbench would hold too many files",
                reason="too_large",
                detail=f"max_files have={have} adding={self._adding} limit={limit.max_files}",
            )
        if self._bytes > limit.max_total_bytes:
            raise LimitExceeded(
                "the workbench would hold too many bytes",
                reason="too_large",
                detail=f"max_total_bytes have={self._bytes} limit={limit.max_total_bytes}",
            )


def _identity(
    desk: BenchRepository, state: BenchState, facts: dict[BenchPath, FileFact], path: BenchPath
) -> FileId:
    """Return the identity of what a path held before, or a new one (B6.5)."""
    if path in facts:
        return facts[path].file_id
    record = state.files.records.get(path)
    return record.file_id if record else desk.new_file()


def _result(one: _Planned, fact: FileFact, head: bytes) -> AddResult:
    return AddResult(
        source_path=str(one.source),
        status=one.status,
        path=one.path,
        file_id=fact.file_id,
        opaque_notice=True if _is_opaque(one.path, head) else None,
        normalized_from=one.normalized_from,
    )


def _is_opaque(path: str, head: bytes) -> bool:
    try:
        return classify(path, head).opaque
    except FormatError:
        return False


# ---------------------------------------------------------------- the change


def _commit(
    desk: BenchRepository,
    request: requests.WorkbenchFilesAdd,
    state: BenchState,
    adding: _Adding,
    facts: dict[BenchPath, FileFact],
) -> Added:
    results = tuple(adding.results)
    files: dict[BenchPath, tree.File | None] = {
        path: tree.File(fact.sha256, fact.size, adding.modes[path]) for path, fact in facts.items()
    }
    built = desk.grow(state.published, files)
    if built.id == state.published:  # nothing came, or the same bytes again (B6.12)
        return Added(add_results=results)
    replaced = sum(path in state.files.records for path in facts)
    kept = None
    if replaced:
        kept = decide.checkpoint(
            state,
            desk.new_checkpoint(),
            "auto",
            f"Before replacing {replaced} {'file' if replaced == 1 else 'files'}",
            desk.totals(state),
            "before_replace",
        )
    sizes = sum(fact.size for fact in facts.values())
    gone = sum(record.size for path in facts if (record := state.files.records.get(path)))
    after = decide.Totals(
        len(state.files.records) + len(facts) - replaced, state.files.total_bytes + sizes - gone
    )
    done = desk.commit(
        request.workbench_id,
        lambda now: decide.add(
            decide.unmoved(now, state), built.id, list(facts.values()), after, kept
        ),
        blobs=tuple(built.nodes.values()),
    )
    return Added(add_results=results, warnings=done.warnings)
