"""The audit log: what happened to a bench, read off its facts (B17)."""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from backshop.base.ambient import timestamp
from backshop.base.codec import encode
from backshop.base.errors import NotFound, ValidationFailed
from backshop.store import Event

from .. import requests
from ..answers import AuditEntry, AuditPage, AuditText, acted
from ..repository import BenchRepository, stream_of

KINDS = {
    "bench.created": "bench_created",
    "bench.renamed": "bench_renamed",
    "bench.limits_set": "limits_changed",
    "bench.deleted": "bench_deleted",
    "bench.undeleted": "bench_undeleted",
    "files.added": "files_added",
    "files.removed": "files_removed",
    "file.renamed": "file_renamed",
    "files.restored": "files_restored",
    "files.extracted": "files_extracted",
    "originals.bound": "originals_bound",
    "original.written": "original_written",
    "published.adopted": "published_repaired",
    "published.repaired": "published_repaired",
    "draft.created": "draft_created",
    "draft.batch_applied": "batch_applied",
    "draft.restored": "draft_rewound",
    "draft.rewound": "draft_rewound",
    "draft.changes_requested": "changes_requested",
    "draft.rebased": "draft_rebased",
    "draft.deletions_confirmed": "deletions_confirmed",
    "comment.added": "comment_added",
    "comment.answered": "comment_answered",
    "comment.resolved": "comment_resolved",
    "comment.withdrawn": "comment_withdrawn",
    "draft.published": "draft_published",
    "draft.discarded": "draft_discarded",
    "draft.brought_back": "draft_brought_back",
    "checkpoint.created": "checkpoint_created",
    "checkpoint.restored": "checkpoint_restored",
    "checkpoint.pinned": "checkpoint_pinned",
    "checkpoints.pruned": "checkpoint_pruned",
    "context.changed": "context_changed",
    "bench.recovered": "recovery",
    "folder.followed": "folder_followed",
    "folder.write_began": "folder_write_began",
    "folder.files_written": "folder_written",
    "folder.taken": "folder_taken",
    "folder.conflict_settled": "folder_settled",
}
OTHERS = {  # facts other rooms note in the same stream; read without knowing their types
    "revisions.pruned": "revisions_pruned",
    "egress.sent": "egress_call",
    "egress.blocked": "egress_blocked",
    "workshop.model_switched": "model_switched",
    "workshop.turn_started": "run_started",
    "workshop.turn_ended": "run_finished",
    "consent.granted": "consent_granted",
    "consent.revoked": "consent_revoked",
    "people.access_set": "access_changed",
}
_HOME = "home"  # where consents are kept: they are the person's, and outlive a restore (B10.11)
_PEOPLE = "people:home"  # who may do what (T6.4)
_ACCESS = "people.access_set"
PAGE_MAX = 1000
_LISTED = 50
_REFS = (
    *("draft_id", "checkpoint_id", "revision_id", "batch_id", "run_id", "message_id"),
    *("comment_id", "turn_id", "pre_restore_checkpoint_id", "parent_bench_id"),
)
_COUNTED = ("added", "modified", "deleted", "renamed")


def page(desk: BenchRepository, request: requests.AuditList) -> AuditPage:
    """Return entries after a position, oldest first (B17.4)."""
    if not 1 <= request.limit <= PAGE_MAX:
        raise ValidationFailed("a page has 1 to 1000 entries", reason="bad_params")
    if desk.raw_state(request.workbench_id).bench_id is None:
        raise NotFound("there is no such workbench", reason="not_found")
    entries: list[AuditEntry] = []
    names = desk.names()
    before: Event | None = None
    for event in _events(desk, request.workbench_id):
        kind = _kind(event, before)
        before = event
        if event.seq <= request.after_seq or kind is None:
            continue
        if request.kinds is not None and kind not in request.kinds:
            continue
        if len(entries) == request.limit:
            return AuditPage(entries=tuple(entries), next_after_seq=entries[-1].seq)
        entries.append(replace(_entry(event, kind), by=acted(event.by, names)))
    return AuditPage(entries=tuple(entries))


def _events(desk: BenchRepository, bench_id: str) -> Iterator[Event]:
    """Yield the facts of a bench, and those of the home that are about it, in their order."""
    about = (
        event
        for event in desk.store.read(_HOME)
        if event.kind in OTHERS and event.data.get("workbench_id") == bench_id
    )
    access = (
        event
        for event in desk.store.read(_PEOPLE)
        if event.kind == _ACCESS and event.data.get("subject") == bench_id
    )
    own = desk.store.read(stream_of(bench_id))
    return heapq.merge(own, about, access, key=lambda event: event.seq)


def export(desk: BenchRepository, request: requests.BenchRequest) -> AuditText:
    """Return every entry, one JSON object a line (B17.4)."""
    lines: list[str] = []
    after: int | None = 0
    while after is not None:
        asked = requests.AuditList(
            workbench_id=request.workbench_id, after_seq=after, limit=PAGE_MAX
        )
        found = page(desk, asked)
        lines += [json.dumps(encode(one), ensure_ascii=False) for one in found.entries]
        after = found.next_after_seq
    return AuditText(jsonl="".join(f"{line}\n" for line in lines), entries=len(lines))


def _kind(event: Event, before: Event | None) -> str | None:
    """Return what an event is called in the log, None when it is not for it (B17.2)."""
    data = event.data
    if event.kind == "bench.noted":
        return str(data["kind"])
    if event.kind == "bench.created" and data.get("fork_mode"):
        return "bench_forked"
    if event.kind == "files.added" and before is not None:
        is_replacing = before.data.get("trigger") == "before_replace"
        return "files_replaced" if is_replacing else "files_added"
    if event.kind in ("draft.batch_applied", "draft.rewound"):
        own = {"rescan": "draft_rescanned", "rollback": "draft_rolled_back"}
        return own.get(str(data.get("kind")), KINDS[event.kind])
    return KINDS.get(event.kind) or OTHERS.get(event.kind)


def _entry(event: Event, kind: str) -> AuditEntry:
    data = event.data
    paths = [change["path"] for change in data.get("changes", ())]
    paths += [file["path"] for file in data.get("files", ())]
    paths += [*data.get("paths", ()), *data.get("removed", ())]
    paths += [data[key] for key in ("path", "new_path") if key in data]
    shown = ("user_id", "role") if event.kind == _ACCESS else _REFS
    refs = [f"{name}={data[name]}" for name in shown if data.get(name)]
    tx_id = event.dedupe_key.partition(":")[0]
    return AuditEntry(
        seq=event.seq,
        at=timestamp(event.at_ms),
        actor=str(data.get("actor", "user" if event.kind == _ACCESS else "system")),
        kind=kind,
        paths=tuple(paths[:_LISTED]),
        refs=tuple([*refs, f"tx_id={tx_id}"] if tx_id.startswith("tx_") else refs),
        counts=_counts(data, len(paths)),
        error=data.get("error") if event.kind == "bench.noted" else None,
        provider_id=data.get("provider_id"),
        model_id=data.get("model_id") or data.get("to_model_id"),
        scope_hash=data.get("scope_hash"),
    )


def _counts(data: Mapping[str, Any], paths: int) -> dict[str, int] | None:
    """Return how much of what there was: files by change, or paths."""
    counted = data.get("counts")
    if isinstance(counted, Sequence) and len(counted) == len(_COUNTED):
        return dict(zip(_COUNTED, counted, strict=True))
    if "count" in data:
        return {"files": int(data["count"])}
    return {"paths": paths} if paths else None
