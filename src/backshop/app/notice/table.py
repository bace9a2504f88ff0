"""The one table from committed facts to the notifications the specs name (B19, W4, M16, R7.26).

A row says which notifications a kind of fact is announced by and what they carry. Nothing here
reads anything but the fact and the record it made, so that any process derives the same
notifications in the same order, live or long after.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from .outcome import RESTORED_ITEMS, publish_failed

PER_FACT = 16  # positions are `seq * PER_FACT + index`: a fact has fewer notifications than this

Data = Mapping[str, Any]


class Look(Protocol):
    """What a row may ask about the bench of a fact."""

    def record(self, workbench_id: str, message_id: str) -> tuple[Data, int] | None:
        """Return a record of the conversation and the position of the fact that made it."""
        ...

    def has_draft(self, workbench_id: str) -> bool:
        """Say whether there is a Draft now."""
        ...

    def used(self, workbench_id: str, run_id: str | None) -> Data | None:
        """Return what a run, or else the whole workbench, has used by now."""
        ...

    def clutter(self, workbench_id: str) -> Data | None:
        """Return how crowded a workbench is, None if that is what was said of it last (B16.8)."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """What a row gets to see of a committed event."""

    seq: int
    stream: str
    kind: str
    scope_a: str | None
    scope_b: str | None
    at: str
    data: Data
    look: Look

    @property
    def name(self) -> str:
        """The id of the bench or session whose fact it is."""
        return self.stream.partition(":")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """An event as every door sends it; `position` is None for a signal (W4.1)."""

    name: str
    payload: Data
    position: int | None = None
    workbench_id: str | None = None
    session_id: str | None = None

    @property
    def params(self) -> dict[str, Any]:
        """All a client gets: whose it is, where it stands, and its own fields."""
        about = {
            "workbench_id": self.workbench_id,
            "session_id": self.session_id,
            "position": self.position,
        }
        return {**{key: value for key, value in about.items() if value is not None}, **self.payload}


Row = tuple[str, Callable[[Fact], Data | None]]


def notifications(fact: Fact) -> list[Notification]:
    """Return what a fact is announced by, in order; mostly one, often none."""
    kind, _, name = fact.stream.partition(":")
    subject = _subject(kind, name, fact.data)
    of_bench = subject is not None and subject.startswith("wb_")
    made = []
    for index, (event, payload) in enumerate(TABLE.get(fact.kind, ())):
        data = payload(fact)
        if data is not None:
            made.append(
                Notification(
                    name=event,
                    payload=data,
                    position=None if is_signal(event) else fact.seq * PER_FACT + index,
                    workbench_id=subject if of_bench else None,
                    session_id=None if of_bench else subject,
                )
            )
    return made


def _subject(kind: str, name: str, data: Data) -> str | None:
    """Return the workbench or session a fact is about."""
    if kind == "prompt-session":  # a workbench has one
        return f"wb_{name.partition('_')[2]}"
    named = {"bench": name, "session": name, "people": data.get("subject")}
    return named.get(kind, data.get("session_id") if kind == "home" else None)


def is_signal(name: str) -> bool:
    """Say whether an event has no position and is not replayed (W4.1)."""
    return name in SIGNALS or name.endswith(("Progress", "Warning"))


CLUTTER = "WorkbenchClutterChanged"
ONCE_A_SECOND = frozenset({"UsageUpdated"})  # M16: the newest one is enough

SIGNALS = frozenset(
    {
        "UsageUpdated",
        CLUTTER,
        "WorkshopAssistantStream",
        "WorkshopToolComplete",
        "WorkshopToolExecuting",
    }
)


def _pick(*keys: str, **fixed: Any) -> Callable[[Fact], Data]:
    """Carry these fields of the fact as they are, and the fixed ones."""
    return lambda fact: {**{key: fact.data[key] for key in keys if key in fact.data}, **fixed}


def _paths(files: Any) -> list[str]:
    return [one["path"] for one in files or ()]


def _files(fact: Fact) -> Data:
    data = fact.data
    match fact.kind:
        case "files.added":
            return _changed(updated=_paths(data["files"]))
        case "files.removed":
            return _changed(removed=data["paths"])
        case "file.renamed":
            return _changed(added=[data["new_path"]], removed=[data["path"]])
        case "checkpoint.restored" | "bench.created":
            return _changed()
        case _:
            return _changed(updated=_paths(data.get("files")), removed=data.get("removed", ()))


def _changed(added: Any = (), removed: Any = (), updated: Any = ()) -> Data:
    return {"added": list(added), "removed": list(removed), "updated": list(updated)}


def _draft_open(fact: Fact) -> Data:
    source = fact.data.get("source")
    made = {"has_draft": True, "draft_id": fact.data["draft_id"]}
    if fact.kind == "draft.created":
        made["created_at"] = fact.at
    return {**made, "source": source["kind"]} if isinstance(source, dict) else made


def _checkpoint(fact: Fact) -> Data:
    picked = _pick("checkpoint_id", "reason", "description")(fact)
    return {**picked, "created_at": fact.at}


def _revision(fact: Fact) -> Data:
    return {
        "draft_revision_id": fact.data["revision_id"],
        "message_id": fact.data.get("message_id"),
    }


def _run(status: str) -> Callable[[Fact], Data]:
    return lambda fact: {
        "sessionId": fact.name,
        "runId": fact.scope_a,
        "nodeId": fact.scope_b,
        "status": status,
    }


def _session(reason: str) -> Callable[[Fact], Data]:
    return lambda fact: {"sessionId": fact.name, "reason": reason}


def _whole_session(fact: Fact) -> Data:
    return {"sessionId": fact.data["session_id"], "reason": fact.data["reason"]}


def _workflows(fact: Fact) -> Data:
    workflow_id = fact.data.get("workflow_id")
    return {} if workflow_id is None else {"workflowId": workflow_id}


def _message(key: str) -> Row:
    """Announce the record whose id stands under `key`, if this fact is the one that made it."""

    def payload(fact: Fact) -> Data | None:
        message_id = fact.data.get(key)
        if not isinstance(message_id, str):
            return None
        if message_id.startswith("draft_"):
            message_id = f"msg_{message_id.partition('_')[2]}"
        found = fact.look.record(fact.name, message_id)
        return None if found is None or found[1] != fact.seq else {"message": found[0]}

    return ("WorkshopMessageAdded", payload)


def _kept(fact: Fact) -> Data | None:
    """Announce more text of a record that is there; who hears the signals has it already."""
    message_id = fact.data["message_id"]
    found = fact.look.record(fact.name, message_id)
    return None if found is None or found[1] == fact.seq else {"message_id": message_id}


def _progress(fact: Fact) -> Data:
    return _item(fact.data, fact.data, fact.data["attempt"])


def _item(data: Data, item: Data, attempt: int) -> Data:
    return {
        "turn_id": data["turn_id"],
        "current_item": item["number"],
        "total_items": item["total"],
        "item_label": item["label"],
        "attempt": attempt,
    }


def _begun(key: str) -> Row:
    """Announce the phase of the step a turn comes to, unless it goes on in that phase."""

    def payload(fact: Fact) -> Data | None:
        data, step = fact.data, fact.data.get(key)
        if not step or (key == "next" and step["phase"] == data["phase"]):
            return None
        return {"turn_id": data["turn_id"], "phase": step["phase"]}

    return ("WorkshopPhaseStarted", payload)


def _item_begun(key: str) -> Row:
    """Announce the item a turn comes to."""

    def payload(fact: Fact) -> Data | None:
        step = fact.data.get(key)
        if not step or step.get("number") is None:
            return None
        return _item(fact.data, step, 1)

    return ("WorkshopImplementProgress", payload)


def _tried_again(fact: Fact) -> Data | None:
    """Announce the next attempt at an item, if there is one."""
    data = fact.data
    return _item(data, data, data["attempt"] + 1) if data.get("total") else None


def _phase_left(fact: Fact) -> Data | None:
    """Announce the end of a phase where the next step is of another one."""
    data = fact.data
    if not data.get("phase") or data["phase"] == (data.get("next") or {}).get("phase"):
        return None
    return {"turn_id": data["turn_id"], "phase": data["phase"], "aborted": "next" not in data}


def _phase_over(fact: Fact) -> Data | None:
    """Announce the end of the phase a turn ends in."""
    data = fact.data
    if data.get("aborted") is None:
        return None
    return {"turn_id": data["turn_id"], "phase": data["phase"], "aborted": data["aborted"]}


def _again(fact: Fact) -> Data | None:
    if not fact.data.get("is_again"):
        return None
    picked = {"from_message_id": fact.data["user_message_id"]}
    return {**picked, "target_message_id": fact.data.get("replaces")}


def _completed(fact: Fact) -> Data:
    status = fact.data.get("record_status", "interrupted")
    return {"message_id": fact.data["message_id"], "status": status}


def _finished(fact: Fact) -> Data:
    picked = _pick("turn_id", "message_id")(fact)
    status = fact.data.get("status", "paused")
    return {**picked, "status": status, "has_draft": fact.look.has_draft(fact.name)}


def _used(fact: Fact) -> Data | None:
    if not fact.stream.startswith("bench:"):
        return None
    run_id = fact.data.get("run_id")
    usage = fact.look.used(fact.name, run_id)
    return None if usage is None else {"run_id": run_id, "usage": usage}


def _rewound_draft(fact: Fact) -> Data:
    return {"has_draft": fact.data.get("tree") is not None}


def _head(fact: Fact) -> Data:
    picked = _pick("draft_revision_id")(fact)
    return {"conversation_head_id": fact.data["to_head_id"], **picked}


def _not_a_rewind(payload: Callable[[Fact], Data]) -> Callable[[Fact], Data | None]:
    return lambda fact: None if fact.data.get("is_rewind") else payload(fact)


TABLE: dict[str, tuple[Row, ...]] = {
    "bench.created": (("WorkbenchFilesChanged", _files),),
    "bench.renamed": (("WorkbenchChanged", _pick("name")),),
    "bench.deleted": (("WorkbenchChanged", _pick(deleted=True)),),
    "bench.undeleted": (("WorkbenchChanged", _pick(deleted=False)),),
    "bench.recovered": (("BenchHealthChanged", _pick(health="ok", reason="recovered")),),
    "files.added": (("WorkbenchFilesChanged", _files),),
    "files.removed": (("WorkbenchFilesChanged", _files),),
    "file.renamed": (("WorkbenchFilesChanged", _files),),
    "files.restored": (("WorkbenchFilesChanged", _files),),
    "published.adopted": (("WorkbenchFilesChanged", _files),),
    "published.repaired": (("WorkbenchFilesChanged", _files),),
    "draft.created": (("DraftStateChanged", _draft_open), _message("draft_id")),
    "draft.batch_applied": (
        ("DraftStateChanged", _draft_open),
        ("WorkshopDraftRevisionCreated", _revision),
    ),
    "draft.restored": (("DraftStateChanged", _draft_open),),
    "draft.changes_requested": (
        ("DraftStateChanged", _draft_open),
        ("WorkshopDraftRevisionCreated", _revision),
    ),
    "draft.rebased": (("DraftStateChanged", _draft_open),),
    "draft.rewound": (("DraftStateChanged", _rewound_draft),),
    "draft.deletions_confirmed": (("DraftStateChanged", _draft_open),),
    **dict.fromkeys(
        ("comment.added", "comment.answered", "comment.resolved", "comment.withdrawn"),
        (("ReviewCommentsChanged", _pick("draft_id", "comment_id")),),
    ),
    "draft.published": (
        ("DraftStateChanged", _pick("draft_id", has_draft=False)),
        ("WorkbenchFilesChanged", _files),
        _message("message_id"),
    ),
    "draft.discarded": (
        ("DraftStateChanged", _pick("draft_id", has_draft=False)),
        _message("message_id"),
    ),
    "draft.brought_back": (("DraftStateChanged", _draft_open), _message("message_id")),
    "checkpoint.created": (("CheckpointCreated", _checkpoint),),
    "checkpoint.pinned": (("CheckpointPinned", _pick("checkpoint_id", "pinned")),),
    "checkpoint.restored": (
        ("CheckpointRestored", _not_a_rewind(_pick("checkpoint_id"))),
        ("WorkbenchFilesChanged", _files),
        *(("ContextChanged", payload) for payload in RESTORED_ITEMS),
        _message("message_id"),
    ),
    "folder.followed": (("FolderChanged", _pick()),),
    "folder.write_began": (("FolderChanged", _pick()),),
    "folder.files_written": (("FolderChanged", _pick()),),
    "folder.taken": (("FolderChanged", _pick()),),
    "folder.conflict_settled": (("FolderChanged", _pick()),),
    "bench.noted": (("DraftPublishFailed", publish_failed),),
    "workshop.message_sent": (_message("message_id"),),
    "workshop.model_switched": (
        ("WorkshopModelSwitched", lambda fact: {"model_id": fact.data["to_model_id"]}),
        _message("message_id"),
    ),
    "workshop.turn_started": (
        ("WorkshopRegenerateStarted", _again),
        _begun("step"),
        _item_begun("step"),
    ),
    "workshop.turn_resumed": (_begun("step"), _item_begun("step")),
    "workshop.step_ended": (
        ("WorkshopPhaseCompleted", _phase_left),
        _begun("next"),
        _item_begun("next"),
    ),
    "workshop.turn_moved": (
        ("WorkshopPhaseCompleted", _phase_left),
        _begun("step"),
        _item_begun("step"),
    ),
    "workshop.phase_started": (("WorkshopPhaseStarted", _pick("turn_id", "phase")),),
    "workshop.phase_ended": (("WorkshopPhaseCompleted", _pick("turn_id", "phase", "aborted")),),
    "workshop.item_started": (("WorkshopImplementProgress", _progress),),
    "workshop.item_attempt_failed": (("WorkshopImplementProgress", _tried_again),),
    "workshop.item_left_unfinished": (("WorkshopImplementProgress", _tried_again),),
    "workshop.answer_streamed": (
        _message("message_id"),
        ("WorkshopMessageUpdated", _kept),
    ),
    "workshop.answer_withdrawn": (("WorkshopMessageUpdated", _pick("message_id")),),
    "workshop.turn_ended": (
        ("WorkshopPhaseCompleted", _phase_over),
        _message("message_id"),
        ("WorkshopAssistantMessageComplete", _completed),
        _message("notice_id"),
        ("WorkshopTurnFinished", _finished),
    ),
    "workshop.turn_paused": (
        ("WorkshopPhaseCompleted", _phase_over),
        _message("message_id"),
        ("WorkshopAssistantMessageComplete", _completed),
        _message("notice_id"),
        ("WorkshopTurnFinished", _finished),
    ),
    "workshop.note_added": (_message("message_id"),),
    "workshop.notes_read": (("WorkshopNotesRead", _pick("turn_id", "message_ids")),),
    "workshop.cancel_asked": (("WorkshopRunCancelRequested", _pick("turn_id")),),
    "workshop.proposal_made": (
        ("WorkshopProposalReady", _pick("proposal_id")),
        _message("notice_id"),
    ),
    "workshop.proposal_closed": (_message("notice_id"),),
    "workshop.rewound": (_message("message_id"), ("WorkshopUndoCompleted", _head)),
    "workshop.redone": (_message("message_id"), ("WorkshopRedoCompleted", _head)),
    "workshop.regenerated": (
        _message("message_id"),
        (
            "WorkshopRegenerateCompleted",
            lambda fact: {"message_id": fact.data.get("new_message_id")},
        ),
    ),
    "workshop.noticed": (_message("message_id"),),
    "workshop.run_refused": (_message("message_id"),),
    "workshop.compressed": (_message("message_id"), _message("summary_message_id")),
    "checkpoints.pruned": (("CheckpointsPruned", _pick("checkpoint_ids", "reason")),),
    "prompt.digest_updated": (
        ("DigestChanged", lambda fact: {"source": fact.data["item"]["source"]}),
    ),
    "prompt.digest_cleared": (("DigestChanged", lambda fact: {"source": None}),),
    "prompt.workspace_fingerprinted": (
        (
            "DigestStaleChanged",
            lambda fact: {
                "stale": fact.data.get("compared_to", "") not in ("", fact.data["fingerprint"])
            },
        ),
    ),
    "context.changed": (("ContextChanged", _pick("category", "action")),),
    "consent.granted": (
        ("EgressConsentChanged", _pick("provider_id", "model_id", consented=True)),
    ),
    "consent.revoked": (
        ("EgressConsentChanged", _pick("provider_id", "model_id", consented=False)),
    ),
    "people.user_added": (("PeopleChanged", _pick()),),
    "people.user_removed": (("PeopleChanged", _pick()),),
    "people.invited": (("PeopleChanged", _pick()),),
    "people.invite_taken": (),
    "people.invite_withdrawn": (("PeopleChanged", _pick()),),
    "people.access_set": (("AccessChanged", _pick("user_id", "role")),),
    "provider.changed": (("ProvidersChanged", _pick("provider_id", "status")),),
    "model.called": (("UsageUpdated", _used),),
    "session.changed": (("RailsSessionChanged", _whole_session),),
    "workflows.changed": (("RailsWorkflowsChanged", _workflows),),
    "session_created": (("RailsSessionChanged", _session("created")),),
    "session_output_appended": (("RailsSessionChanged", _session("notes")),),
    "run_started": (("RailsRunChanged", _run("started")),),
    "node_created": (("RailsRunChanged", _run("advanced")),),
    "checkpoint_recorded": (("RailsRunChanged", _run("checkpointed")),),
    "validation_performed": (("RailsRunChanged", _run("validated")),),
    "preferences_changed": (("RailsRunChanged", _run("preferences")),),
    "context_set": (("RailsRunChanged", _run("context")),),
    "user_input_recorded": (("RailsRunChanged", _run("input")),),
    "gap_recorded": (("RailsRunChanged", _run("gap")),),
}

for _kind in (
    *("files.added", "files.removed", "file.renamed", "files.restored", "published.adopted"),
    "checkpoint.restored",
    *(
        "draft.batch_applied",
        "draft.rewound",
        "draft.published",
        "draft.discarded",
        "draft.brought_back",
    ),
    *("context.changed", "workshop.message_sent", "workshop.model_switched", "workshop.rewound"),
    *("workshop.redone", "workshop.answer_streamed", "workshop.answer_withdrawn"),
    "workshop.turn_ended",
    *("workshop.turn_paused", "workshop.compressed"),
):  # what the bar depends on (B16.8); the hub weighs it when it has time, so the row is empty
    TABLE[_kind] = (*TABLE[_kind], (CLUTTER, _pick()))
