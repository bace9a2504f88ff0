"""What the Workshop's commands take, field by field as in W3."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkbenchOnly:
    """A command about the conversation of one workbench."""

    workbench_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Redo:
    """Take the last rewind, restore or change of answers back.

    `message_id` is the record that says so (`redo_target_id` of the state); if it is not the last
    one any more, nothing is taken back.
    """

    workbench_id: str
    message_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GetConversation:
    """Read the conversation, oldest first; `before` pages backwards."""

    workbench_id: str
    limit: int = 200
    before: str | None = None
    include_inactive: bool = False
    include_tools: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SendUserMessage:
    """Send a message; running the agent on it is a command of its own."""

    workbench_id: str
    text: str
    mode: str = "agent"
    client_message_id: str | None = None
    origin: str = "rpc"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAgent:
    """Let the agent answer a message, or go on where it stopped.

    A workflow of the catalogue may drive the turn in place of the usual one (W13.10).
    """

    workbench_id: str
    message_id: str
    workflow_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamAssistantReply:
    """Answer a message with flow `compat`; a model that is named must be the active one."""

    workbench_id: str
    message_id: str
    model_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposeChanges:
    """Work out the changes that the last answer announced."""

    workbench_id: str
    basis: str = "ACTIVE_VIEW"


@dataclass(frozen=True, slots=True, kw_only=True)
class OneProposal:
    """A command about one proposal."""

    workbench_id: str
    proposal_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DismissProposal:
    """Let a proposal go; by default the one that waits."""

    workbench_id: str
    proposal_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Regenerate:
    """Answer a message again; by default the last one."""

    workbench_id: str
    message_id: str | None = None
    mode: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelRun:
    """Stop the running turn."""

    workbench_id: str
    turn_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GetPlan:
    """Read research, plan and reports of a turn; by default the newest."""

    workbench_id: str
    turn_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoToMessage:
    """Go back to a record of the conversation."""

    workbench_id: str
    message_id: str
    mode: str | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchModel:
    """Let another model answer."""

    workbench_id: str
    model_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetFlow:
    """Choose how turns are executed."""

    workbench_id: str
    flow: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GetToolLog:
    """List tool calls after an entry."""

    workbench_id: str
    after: int = 0
    limit: int = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class GetToolLogEntry:
    """Read one tool call with a slice of its result."""

    workbench_id: str
    entry_id: int
    offset: int = 0
    max_bytes: int = 16_384


@dataclass(frozen=True, slots=True, kw_only=True)
class DismissReminder:
    """Hide the reminder of a Draft for a while."""

    workbench_id: str
    draft_id: str
