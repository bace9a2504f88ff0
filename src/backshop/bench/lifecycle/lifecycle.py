"""Making, opening, listing, naming, limiting, forking and throwing away benches (B5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from backshop.base.ambient import timestamp
from backshop.base.errors import BackshopError, DiskFull, ValidationFailed
from backshop.base.ids import BenchId, RevisionId
from backshop.formats import Kind
from backshop.store import Caller, WriteFailed

from .. import decide, requests
from ..answers import (
    BenchInfo,
    BenchList,
    Created,
    Done,
    DraftState,
    Opened,
    RoundInfo,
    Scope,
    acted,
)
from ..audit import note
from ..errors import BenchDamaged
from ..events import Recovered
from ..folder import standing, taking, write_back
from ..repository import BenchRepository, stream_of
from ..revision import Draft
from ..state import PROFILES, BenchState
from ..tree.soundness import UNREADABLE
from ..values import Limits

PAGE_MAX = 200
_LOOKED_AT_FILES = 20_000  # of one page of the list; the rest of it is judged by its log
_DAY_MS = 86_400_000


def create(desk: BenchRepository, request: requests.WorkbenchCreate, caller: Caller) -> Created:
    """Make an empty bench, unless one of its name will do (B5.1)."""
    if request.reuse and (there := _of_name(desk, request.name, caller)) is not None:
        return Created(workbench_id=there, created=False)
    bench_id = desk.new_bench()
    if request.profile is not None and request.profile not in PROFILES:
        raise ValidationFailed("there is no such profile", reason="bad_limits")
    limits, profile = desk.settings.new_limits(request.profile)
    model_id = desk.settings.default_model()
    facts = decide.create(bench_id, request.name, limits, profile, model_id=model_id)
    desk.commit(bench_id, lambda _: facts, beginning=caller.beginning)
    return Created(workbench_id=bench_id, created=True if request.reuse else None)


def _of_name(desk: BenchRepository, name: str, caller: Caller) -> BenchId | None:
    """Return the bench of a name that the caller sees; of several the newest."""
    wanted = decide.name_of(name, default=None)
    for head in reversed(desk.store.streams("bench")):
        bench_id = head.stream.partition(":")[2]
        with suppress(BenchDamaged):  # its name cannot be read
            state = desk.raw_state(bench_id)
            if state.exists and state.name == wanted and caller.sees(bench_id):
                return BenchId(bench_id)
    return None


def open_bench(desk: BenchRepository, request: requests.BenchRequest) -> Opened:
    """Bring folders in line with the log if need be, and say all there is to show (B5.2)."""
    state = desk.state(request.workbench_id)  # refuses before a folder is made for the lock
    desk.soundness.forget(BenchId(request.workbench_id))
    recovery: list[str] = []
    found: standing.Seen | None = None
    if desk.store.is_read_only:
        outside = _published_edits(desk, state, mark=False)
    else:
        state, recovery, outside, found = _recovered(desk, request)
    health, reason = health_of(desk, state)
    return Opened(
        workbench=info(state, health),
        draft=draft_state(desk, state),
        health=health,
        health_reason=reason,
        outside_changes=outside,
        folder=None if state.folder is None else standing.told(desk, state, found),
        recovery=tuple(recovery),
    )


def _recovered(
    desk: BenchRepository, request: requests.BenchRequest
) -> tuple[BenchState, list[str], tuple[str, ...], standing.Seen | None]:
    """Bring folders in line with the log.

    Returns what they show, what had to be done, what others changed in Published, and what was
    found in the folder that the bench follows.
    """
    with desk.views.locked(BenchId(request.workbench_id)):
        state = desk.state(request.workbench_id)
        recovery = [*desk.views.recover(state), *_salvaged(desk, state)]
        recovery += _anomalies(desk, state)
        found: standing.Seen | None = None
        if state.folder is not None:
            state, done, found = _followed(desk, state)
            recovery += done
        if recovery:
            desk.commit(request.workbench_id, lambda _: [Recovered(actions=tuple(recovery))])
        return state, recovery, _published_edits(desk, state, mark=True), found


def _followed(
    desk: BenchRepository, state: BenchState
) -> tuple[BenchState, list[str], standing.Seen | None]:
    """Go on with a write-back that was begun, and take in what others did (B23.12, B23.15)."""
    assert state.folder is not None
    is_busy = desk.store.leases.holder(stream_of(state.id)) is not None
    done: list[str] = []
    if state.folder.aims[-1:] == (state.published,) and not is_busy:
        written = write_back.brought_or_told(desk, state)
        done = ["folder_written"] if written is not None and written.written else []
        state = desk.state(state.id)
    state, found = taking.refreshed(desk, state)
    return state, done, found


def _published_edits(desk: BenchRepository, state: BenchState, *, mark: bool) -> tuple[str, ...]:
    """Return what others changed in the Published folder, unless there are too many to look at."""
    if len(state.files.records) > _LOOKED_AT_FILES:
        return ()  # publishing looks, and so does a repair
    try:
        return tuple(one.path for one in desk.views.outside(state, "published", mark=mark))
    except (*UNREADABLE, DiskFull, WriteFailed):
        return ()  # as health says, or the folder cannot be looked at at all


def _anomalies(desk: BenchRepository, state: BenchState) -> list[str]:
    """Replace what is neither file nor folder in a view, and note it (B4.7)."""
    try:
        found = desk.views.replace_odd(state)
    except (BackshopError, OSError):  # a damaged bench shows what it can
        return []
    for paths in found.values():
        note.note(desk, state.id, "sandbox_anomaly", paths=paths)
    return [f"{name.rpartition('/')[2]}_anomaly_replaced" for name in found]


def _salvaged(desk: BenchRepository, state: BenchState) -> list[str]:
    """Keep bytes that another program wrote over contents of the heads (B2.11)."""
    lost = desk.soundness.of_heads(state)
    altered = [(one.path, one.sha256) for one in lost if one.reason == "altered_blob"]
    named = [(path, blob) for path, blob in altered if blob is not None]
    return ["altered_bytes_salvaged"] if desk.views.salvage_blobs(state.id, named) else []


def list_benches(
    desk: BenchRepository, request: requests.WorkbenchList, caller: Caller
) -> BenchList:
    """List the benches that the caller sees, damaged ones too, newest change first (B5.3)."""
    if not 1 <= request.limit <= PAGE_MAX:
        raise ValidationFailed("a page has 1 to 200 workbenches", reason="bad_params")
    found: list[BenchInfo] = []
    states: dict[str, BenchState] = {}
    for head in reversed(desk.store.streams("bench")):
        bench_id = head.stream.partition(":")[2]
        if not caller.sees(bench_id):
            continue
        try:
            state = desk.raw_state(bench_id)
        except BenchDamaged:
            found.append(_damaged(bench_id, head.created_ms))
            continue
        if state.bench_id is not None and (state.exists or request.include_trash):
            states[bench_id] = state
            found.append(info(state, "ok"))
    found.sort(key=lambda one: (one.updated_at, one.workbench_id), reverse=True)
    start = _after(found, request.cursor)
    page = found[start : start + request.limit]
    more = start + request.limit < len(found)
    return BenchList(
        workbenches=tuple(_with_health(desk, states, page)),
        next_cursor=page[-1].workbench_id if more else None,
    )


def _with_health(
    desk: BenchRepository, states: Mapping[str, BenchState], page: Sequence[BenchInfo]
) -> Iterator[BenchInfo]:
    """Say of each bench whether its contents are there, as far as that is cheap (B5.3)."""
    left = _LOOKED_AT_FILES
    for one in page:
        state = states.get(one.workbench_id)
        left -= one.file_count
        if state is None or left < 0 or not desk.soundness.of_heads(state):
            yield one
        else:
            yield replace(one, health="damaged")


def rename(desk: BenchRepository, request: requests.WorkbenchRename) -> Done:
    """Give a bench another name."""
    done = desk.commit(request.workbench_id, lambda s: decide.rename(s, request.new_name))
    return Done(warnings=done.warnings)


def set_limits(desk: BenchRepository, request: requests.WorkbenchSetLimits) -> Scope:
    """Choose a profile, or give limits (B6.4)."""
    if (request.profile is None) == (request.limits is None):
        raise ValidationFailed("give a profile or limits", reason="bad_params")
    if request.profile is not None and request.profile not in PROFILES:
        raise ValidationFailed("there is no such profile", reason="bad_limits")
    values = request.limits
    limits = (
        PROFILES[request.profile or "standard"]
        if values is None
        else Limits(
            max_files=values.max_files,
            max_file_bytes=values.max_file_bytes,
            max_total_bytes=values.max_total_bytes,
            max_depth=values.max_depth,
        )
    )
    profile = request.profile or "custom"
    desk.commit(request.workbench_id, lambda s: decide.set_limits(s, limits, profile))
    return scope(desk, requests.BenchRequest(workbench_id=request.workbench_id))


def scope(desk: BenchRepository, request: requests.BenchRequest) -> Scope:
    """Say how much a bench may hold."""
    state = desk.state(request.workbench_id)
    limits = state.limits
    return Scope(
        limits=requests.LimitValues(
            max_files=limits.max_files,
            max_file_bytes=limits.max_file_bytes,
            max_total_bytes=limits.max_total_bytes,
            max_depth=limits.max_depth,
        ),
        profile=state.profile,
        supported_types=tuple(kind.value for kind in Kind if kind is not Kind.BINARY),
        sandbox_root=str(desk.views.folder(BenchId(request.workbench_id))),
    )


# ---------------------------------------------------------------- how it is


def health_of(desk: BenchRepository, state: BenchState) -> tuple[str, str | None]:
    """Return `ok`, `degraded` or `damaged`, and why it is not the first (B3.11)."""
    if not desk.store.health(stream_of(state.id)).is_healthy:
        return "damaged", "log_damaged"
    lost = desk.soundness.of_heads(state)
    if lost:
        return "damaged", lost[0].reason
    if desk.views.is_stale(state):
        return "degraded", "view_stale"
    files, context = state.published, state.context_tree
    for kept in reversed(state.checkpoints):  # each against the next younger: they differ little
        lost = desk.soundness.beyond(files, kept.tree)
        lost = lost or desk.soundness.beyond(context, kept.context_tree)
        if lost:
            return "degraded", f"checkpoint_{lost[0].reason}"
        files, context = kept.tree, kept.context_tree
    newer = state.published if state.draft is None else state.draft.tree
    for one in reversed(state.revisions.kept):
        assert one.tree is not None, "what is kept has its Draft"
        lost = desk.soundness.beyond(newer, one.tree)
        if lost:
            return "degraded", f"revision_{lost[0].reason}"
        newer = one.tree
    return "ok", None


def info(state: BenchState, health: str) -> BenchInfo:
    """Return a bench in one line."""
    return BenchInfo(
        workbench_id=state.id,
        name=state.name,
        created_at=timestamp(state.created_ms),
        updated_at=timestamp(state.updated_ms),
        file_count=len(state.files.records),
        total_bytes=state.files.total_bytes,
        published_generation=state.generation,
        has_draft=state.draft is not None,
        health=health,
        deleted_at=None if state.deleted_ms is None else timestamp(state.deleted_ms),
        parent_workbench_id=state.parent_bench_id,
        fork_mode=state.fork_mode,
        forked_at=timestamp(state.created_ms) if state.fork_mode else None,
        forked_from_message_id=state.forked_from,
        folder_name=None if state.folder is None else Path(state.folder.folder).name,
    )


def draft_state(desk: BenchRepository, state: BenchState) -> DraftState:
    """Say whether there is a Draft, how old, and whether others wrote into its folder."""
    draft = state.draft
    if draft is None or state.bench_id is None:
        gone = state.returnable
        return DraftState(
            has_draft=False,
            state="NO_DRAFT",
            discarded_draft_id=None if gone is None else gone.draft_id,
            discarded_message_id=None if gone is None else state.discarded_message_id,
        )
    try:
        outside = desk.views.outside(state, "draft")
    except (*UNREADABLE, DiskFull, WriteFailed):
        # what the folder should hold is gone, as health says, or it cannot be looked at at all
        outside = []
    source = (
        draft.source.kind if draft.source.ref is None else f"{draft.source.kind}:{draft.source.ref}"
    )
    return DraftState(
        has_draft=True,
        state="DRAFT_READY",
        draft_id=draft.draft_id,
        created_at=timestamp(draft.created_ms),
        last_activity_at=timestamp(draft.activity_ms),
        source=source,
        base_generation=draft.base_generation,
        tree=draft.tree,
        revision_id=RevisionId(draft.revision_id),
        reminder=reminder(draft.created_ms, draft.activity_ms, desk.clock.now_ms()),
        outside_changes=tuple(one.path for one in outside),
        stale_reason="published_changed" if state.is_draft_left_behind else None,
        undoable=() if draft.correction is None else draft.correction.paths,
        writers=tuple(one for by in draft.writers if (one := acted(by, desk.names()))),
        rounds=sum(not one.is_question for one in draft.rounds),
        last_round=_last_round(draft),
    )


def _last_round(draft: Draft) -> RoundInfo | None:
    last = draft.last_look
    if last is None:
        return None
    return RoundInfo(message_id=last.message_id, tree=last.tree, at=timestamp(last.at_ms))


def reminder(created_ms: int, activity_ms: int, now_ms: int) -> str:
    """Return `stale`, `age` or `none` (B7.8); both limits are strict."""
    if now_ms - activity_ms > 7 * _DAY_MS:
        return "stale"
    return "age" if now_ms - created_ms > _DAY_MS else "none"


def _damaged(bench_id: str, created_ms: int) -> BenchInfo:
    return BenchInfo(
        workbench_id=bench_id,
        name="(damaged)",
        created_at=timestamp(created_ms),
        updated_at=timestamp(created_ms),
        file_count=0,
        total_bytes=0,
        published_generation=0,
        has_draft=False,
        health="damaged",
    )


def _after(found: Sequence[BenchInfo], cursor: str | None) -> int:
    if cursor is None:
        return 0
    for place, one in enumerate(found):
        if one.workbench_id == cursor:
            return place + 1
    raise ValidationFailed("the cursor is not of this list", reason="bad_params")
