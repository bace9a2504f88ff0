"""What can be the case with a conversation, from the point of view of the person in it."""

from __future__ import annotations

from backshop.base.errors import BackshopError


class TurnActive(BackshopError):
    """The agent is at work here; only one turn runs at a time."""

    code = "BENCH_BUSY"


class DraftInTheWay(BackshopError):
    """A Draft waits for review; the next message comes after it."""

    code = "DRAFT_EXISTS"


class PublishedMoved(BackshopError):
    """Published is another one since that point; the person says what becomes of the files."""

    code = "CONFLICT_PUBLISHED_CHANGED"
    actions = ("rewind_chat_only", "discard_draft_and_rewind", "restore_checkpoint")


class RevisionPruned(BackshopError):
    """What the Draft was at that point is not kept any more."""

    code = "REVISION_PRUNED"


class ModelUnavailable(BackshopError):
    """The model of this conversation cannot be called."""

    code = "PROVIDER_NOT_CONFIGURED"


class DraftUnreadable(BackshopError):
    """No state of the Draft up to that point can be read."""

    code = "STORAGE_CORRUPT"


class CallGivenUp(BackshopError):
    """A call of a tool took longer than it may; what it would have written was not kept."""

    code = "TOOL_WORKER_UNAVAILABLE"
