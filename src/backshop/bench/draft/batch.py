"""The Draft: written in batches, corrected by the person (B7, B8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from backshop.base import paths, tree
from backshop.base.canon import canonical, parse, sha256_hex
from backshop.base.errors import BackshopError, LimitExceeded, NotFound, ValidationFailed
from backshop.base.field_copy import made_from
from backshop.base.ids import BlobId, MessageId, RevisionId, TreeId, check_id
from backshop.base.paths import BenchPath

from .. import decide, requests
from ..answers import Batched, Corrected, DraftState
from ..errors import BenchDamaged
from ..lifecycle import lifecycle
from ..repository import BenchRepository, Commit
from ..review import effect as effects
from ..revision import Draft
from ..state import BenchState
from ..values import PathChange, Selection, Source

PREFLIGHT_FROM_BYTES = 16 * 1024 * 1024  # B3.10
NOTE_MAX_CHARS = 280


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """Content for one path of a batch; `blob` is in the store already. None deletes."""

    path: str
    blob: BlobId | None
    size: int = 0
    note: str | None = None
    effects: bytes | None = None
    old_path: str | None = None
    mode: tree.Mode | None = None
    """None keeps the mode of the file that is there."""
    is_import: bool = False
    """Whether the person brought the content in, and no agent made it."""
    selection: Selection | None = None
    """Which changes of the file this leaves out (B25)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """Who writes: recorded with the batch and with the Draft it may open."""

    source: Source
    actor: str = "agent"
    kind: str = "batch"
    message_id: MessageId | None = None
    run_id: str | None = None
    lease: str | None = None
    """The run lease the writer holds; without it a write is refused while somebody has one."""


PERSON = Author(source=Source(kind="system"), actor="user")


def state_of(desk: BenchRepository, request: requests.BenchRequest) -> DraftState:
    """Say whether there is a Draft."""
    return lifecycle.draft_state(desk, desk.state(request.workbench_id))


def create(desk: BenchRepository, request: requests.DraftCreate) -> Batched:
    """Begin a Draft without a write; the one there is, if there is one (B20)."""
    ids = desk.new_batch()
    with desk.locked(request.workbench_id, lost_ok=True):
        done = desk.commit(
            request.workbench_id,
            lambda s: decide.open_draft(s, ids.draft, ids.opening, PERSON.source, "user"),
        )
    draft = decide.require_draft(done.state)
    existed = draft.draft_id != ids.draft
    return Batched(
        draft_id=draft.draft_id,
        draft_revision_id=draft.revision_id,
        warnings=("draft_exists",) if existed else done.warnings,
    )


def apply_batch(
    desk: BenchRepository, bench_id: str, puts: Sequence[Put], author: Author
) -> Batched:
    """Write to the Draft: all of it or nothing; the first write opens it (B8.1–B8.4)."""
    if not puts:
        raise LimitExceeded("a batch has at least one operation", reason="too_large")
    require_limits(desk, puts)
    if author.actor != "user" and any(put.blob is None or put.old_path is not None for put in puts):
        raise ValidationFailed(
            "only the person deletes or renames files", reason="delete_not_allowed"
        )
    for put in puts:  # what is no path is refused before anybody has to wait for the bench
        paths.bench_path(put.path)
    with desk.locked(bench_id, run=author.lease, lost_ok=True) as state:
        return write(desk, bench_id, state, puts, author)


def require_limits(desk: BenchRepository, puts: Sequence[Put]) -> None:
    """Refuse a batch that is too large (B8.4), or for which the disk has no room (B3.10)."""
    most, size = desk.settings, sum(put.size for put in puts)
    if len(puts) > most.batch_operations:
        raise LimitExceeded(
            f"a batch has at most {most.batch_operations} operations", reason="too_large"
        )
    if len({put.path for put in puts}) > most.batch_files:
        raise LimitExceeded(f"a batch touches at most {most.batch_files} files", reason="too_large")
    if size > most.batch_bytes:
        raise LimitExceeded(f"a batch brings at most {most.batch_bytes} bytes", reason="too_large")
    if size > PREFLIGHT_FROM_BYTES:
        desk.require_disk()


def write(
    desk: BenchRepository,
    bench_id: str,
    state: BenchState,
    puts: Sequence[Put],
    author: Author,
    commit: Commit | None = None,
) -> Batched:
    """Record a batch on a bench that is locked and of this state."""
    base = state.published if state.draft is None else state.draft.tree
    files: dict[BenchPath, tree.File | None] = {}
    made: list[PathChange] = []
    reports: list[bytes] = []
    for put in puts:
        put = _with_earlier(desk, state, put)
        made.append(_change(desk, state, base, put, files))
        reports += [put.effects] if put.effects else []
    built = desk.grow(base, files)
    ids = desk.new_batch()
    wish = made_from(
        decide.BatchWish,
        author,
        without=("lease",),
        built_on=base,
        tree=built.id,
        changes=made,
        after=desk.totals_with(state, base, files, built.id),
    )
    done = (commit or desk.commit)(
        bench_id,
        lambda now: decide.batch(now, wish, ids),
        blobs=(*built.nodes.values(), *reports),
        keep=[change.effects_ref for change in made if change.effects_ref],
        lease=author.lease,
    )
    draft = done.state.draft
    return Batched(
        draft_id=draft.draft_id if draft else None,
        draft_revision_id=draft.revision_id if draft else None,
        no_changes=draft is None or draft.revision_id != ids.revision,
        warnings=done.warnings,
    )


def _with_earlier(desk: BenchRepository, state: BenchState, put: Put) -> Put:
    """Let the report of a write tell what earlier ones did to the same content (B12.21)."""
    draft = state.draft
    known = None if draft is None else draft.changes.get(put.path)
    if draft is None or known is None or known.effects_ref is None or put.effects is None:
        return put
    now = tree.lookup(draft.tree, known.path, desk.store.load_tree)
    if now is None or now.sha256 != known.after_sha256:
        return put  # something else came between, and took what was written back
    try:
        earlier, later = parse(desk.store.blobs.read(known.effects_ref)), parse(put.effects)
    except BackshopError:
        return put  # a lost report costs a hint, never a write (B12.19)
    assert isinstance(earlier, dict)
    assert isinstance(later, dict)
    return replace(put, effects=canonical(effects.joined(earlier, later)))


def _change(
    desk: BenchRepository,
    state: BenchState,
    base: TreeId,
    put: Put,
    files: dict[BenchPath, tree.File | None],
) -> PathChange:
    path = paths.parse(put.path, max_depth=state.limits.max_depth).path
    if put.size > state.limits.max_file_bytes:
        raise LimitExceeded("a file would be larger than this workbench takes", reason="too_large")
    old_path = None if put.old_path is None else paths.bench_path(put.old_path)
    before = tree.lookup(base, old_path or path, desk.store.load_tree)
    if put.blob is None and old_path is None:
        if before is None:
            desk.find(base, path)  # refuses with the path that was meant
        files[path] = None
        return PathChange(
            op="delete",
            path=path,
            before_sha256=before.sha256 if before else None,
            selection=put.selection,
        )
    if old_path is not None:
        moved = desk.find(base, old_path)
        desk.require_free(base, path)
        files[old_path], files[path] = None, moved
        return PathChange(op="rename", path=path, old_path=old_path, after_sha256=moved.sha256)
    assert put.blob is not None
    if not desk.store.blobs.has(put.blob):
        raise NotFound("the content to write is not in the store", reason="missing_blob")
    known = before.sha256 if before else None
    mode = put.mode or (before.mode if before else "644")
    files[path] = tree.File(put.blob, put.size, mode)
    return PathChange(
        op="update" if before else "create",
        path=path,
        before_sha256=known,
        after_sha256=put.blob,
        note=put.note[:NOTE_MAX_CHARS] if put.note else None,
        effects_ref=_report_name(put.effects),
        import_size=put.size if put.is_import and put.blob != known else None,
        selection=put.selection,
    )


def _report_name(effects: bytes | None) -> BlobId | None:
    return BlobId(sha256_hex(effects)) if effects else None


# ---------------------------------------------------------------- the person's corrections


def delete_path(desk: BenchRepository, request: requests.DraftPath) -> Batched:
    """Delete a path of the Draft (B8.9)."""
    return _person(desk, request, [Put(path=request.path, blob=None)])


def rename_path(desk: BenchRepository, request: requests.DraftPath) -> Batched:
    """Rename a path of the Draft."""
    if request.new_path is None:
        raise ValidationFailed("a rename needs a new path", reason="bad_params")
    return _person(
        desk, request, [Put(path=request.new_path, blob=BlobId("0" * 64), old_path=request.path)]
    )


def revert_path(desk: BenchRepository, request: requests.DraftPath) -> Batched:
    """Bring a path back to what it was when the Draft began; a new revision.

    Of a renamed file either name means both: it is where it was, and no longer where it is.
    """
    path = paths.bench_path(request.path)
    decide.require_draft(desk.state(request.workbench_id))
    with desk.locked(request.workbench_id) as state:
        draft = decide.require_draft(state)
        puts = [_as_it_was(desk, draft, one) for one in _names(desk, draft, path)]
        return write(desk, request.workbench_id, state, puts, PERSON)


def taken_back(desk: BenchRepository, draft: Draft, path: BenchPath) -> Put:
    """Return what an agent writes to take back the Draft's change of a file (B8.23).

    Raises:
        NotFound: neither the Draft nor what it began with has the file.
        ValidationFailed: the change is the person's own.
    """
    was, now = (
        tree.lookup(one, path, desk.store.load_tree) for one in (draft.base_tree, draft.tree)
    )
    if was is None and now is None:
        desk.find(draft.tree, path)  # refuses with the path that was meant
    if now is None or path in draft.brought or len(_names(desk, draft, path)) > 1:
        raise ValidationFailed(
            "the person deleted, renamed or wrote this file: only they take that back",
            reason="persons_change",
        )
    return _as_it_was(desk, draft, path)


def _names(desk: BenchRepository, draft: Draft, path: BenchPath) -> tuple[BenchPath, ...]:
    """Return the path, or both names of the file where the review calls it renamed (B11.5)."""
    ends = [tree.lookup(one, path, desk.store.load_tree) for one in (draft.base_tree, draft.tree)]
    if all(ends):
        return (path,)  # there at both ends: no half of a rename, and nothing has to be compared
    change = desk.compare.find(draft.base_tree, draft.tree, path)
    if change is None or change.old_path is None:
        return (path,)
    return (change.path, change.old_path)


def _as_it_was(desk: BenchRepository, draft: Draft, path: BenchPath) -> Put:
    old = tree.lookup(draft.base_tree, path, desk.store.load_tree)
    if old is None:
        return Put(path=path, blob=None)
    return Put(path=path, blob=old.sha256, size=old.size, mode=old.mode)


def _person(desk: BenchRepository, request: requests.DraftPath, puts: Sequence[Put]) -> Batched:
    paths.bench_path(request.path)
    decide.require_draft(desk.state(request.workbench_id))
    return apply_batch(desk, request.workbench_id, puts, PERSON)


def undo(desk: BenchRepository, request: requests.DraftUndo) -> Corrected:
    """Take back what the person did to the Draft by hand last (B8.22)."""
    made = None if request.revision_id is None else check_id(request.revision_id, "rev")
    with desk.locked(request.workbench_id) as state:
        found = decide.correction(state, made)
        done = _brought_back(desk, request.workbench_id, state, found.before)
    return Corrected(
        draft_id=done.draft_id,
        draft_revision_id=done.draft_revision_id,
        paths=found.paths,
        warnings=done.warnings,
    )


def restore_revision(desk: BenchRepository, request: requests.DraftRestoreRevision) -> Batched:
    """Bring an earlier revision of the Draft back."""
    wanted = RevisionId(check_id(request.revision_id, "rev"))
    with desk.locked(request.workbench_id) as state:
        return _brought_back(desk, request.workbench_id, state, wanted)


def _brought_back(
    desk: BenchRepository, bench_id: str, state: BenchState, wanted: RevisionId
) -> Batched:
    """Make the Draft of a bench that is locked what one of its revisions holds."""
    fresh = desk.new_revision()
    decide.restore_revision(state, wanted, fresh)  # refuses before contents are looked at
    found = state.revision(wanted)
    assert found is not None
    assert found.tree is not None
    shown = decide.require_draft(state).tree  # what it has in common with that is there
    lost = desk.soundness.beyond(shown, found.tree, thorough=True)
    if lost:
        raise BenchDamaged(
            "this revision lacks contents", reason=lost[0].reason, detail=lost[0].path
        )
    done = desk.commit(bench_id, lambda s: decide.restore_revision(s, wanted, fresh))
    draft = decide.require_draft(done.state)
    return Batched(
        draft_id=draft.draft_id, draft_revision_id=draft.revision_id, warnings=done.warnings
    )
