"""A conversation told again in another workbench: the fact it becomes there (B5.7)."""

from __future__ import annotations

from dataclasses import dataclass

from backshop.base.event import event
from backshop.base.ids import MessageId


@dataclass(frozen=True, slots=True, kw_only=True)
class CopiedRecord:
    """A record as it stood in the workbench it was said in."""

    message_id: MessageId
    type: str
    role: str
    text: str
    created_ms: int
    parent_id: MessageId | None = None
    advances_head: bool = True
    status: str = "complete"
    event_kind: str | None = None
    metadata_json: str = "{}"


@event("workshop.conversation_copied")
@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationCopied:
    """Records of the workbench this one was made from, oldest first."""

    records: tuple[CopiedRecord, ...]
    actor: str = "user"
