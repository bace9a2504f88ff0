"""What the Workshop's commands take, field by field as in W3, B14.4 and P7.11."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkbenchOnly:
    """A command about the conversation of one workbench."""

    workbench_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Redo(WorkbenchOnly):
    """Take the last rewind, restore or change of answers back.

    `message_id` is the record that says so (`redo_target_id` of the state); if it is not the last
    one any more, nothing is taken back.
    """

    message_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GetConversation(WorkbenchOnly):
    """Read the conversation, oldest first; `before` pages backwards."""

    limit: int = 200
    before: str | None = None
    include_inactive: bool = False
    include_tools: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SendUserMessage(WorkbenchOnly):
    """Send a message; running the agent on it is a command of its own."""

    text: str
    mode: str = "agent"
    client_message_id: str | None = None
    origin: str = "rpc"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestChanges(WorkbenchOnly):
    """Ask for changes of the Draft that waits; running the agent on it is a command of its own.

    `text` and the comments become one message; without `comment_ids` every open one is brought up.
    """

    text: str = ""
    comment_ids: tuple[str, ...] | None = None
    mode: str = "agent"
    client_message_id: str | None = None
    origin: str = "rpc"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAgent(WorkbenchOnly):
    """Let the agent answer a message, or go on where it stopped.

    A workflow of the catalogue may drive the turn in place of the usual one (W13.10), and a turn
    that begins may have another flow than its workbench (W1.4), and another model this once.
    `inputs` are the files that the workflow asks for, by name (W25.4).
    """

    message_id: str
    workflow_id: str | None = None
    flow: str | None = None
    inputs: dict[str, str] | None = None
    model_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamAssistantReply(WorkbenchOnly):
    """Answer a message with flow `compat`; a model that is named must be the active one."""

    message_id: str
    model_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposeChanges(WorkbenchOnly):
    """Work out the changes that the last answer announced."""

    basis: str = "ACTIVE_VIEW"


@dataclass(frozen=True, slots=True, kw_only=True)
class OneProposal(WorkbenchOnly):
    """A command about one proposal."""

    proposal_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DismissProposal(WorkbenchOnly):
    """Let a proposal go; by default the one that waits."""

    proposal_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Regenerate(WorkbenchOnly):
    """Answer a message again; by default the last one.

    `note` is what the person adds to the message this time, `model_id` a model that answers this
    once.
    """

    message_id: str | None = None
    mode: str | None = None
    note: str | None = None
    model_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """Find workbenches and files by name, and messages by what they say (W27.10)."""

    query: str
    limit: int = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class AddNote(WorkbenchOnly):
    """Write something to the agent at work; it reads it before its next step (W27)."""

    text: str
    turn_id: str | None = None
    client_message_id: str | None = None
    origin: str = "rpc"


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelRun(WorkbenchOnly):
    """Stop the running turn."""

    turn_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GetPlan(WorkbenchOnly):
    """Read research, plan and reports of a turn; by default the newest."""

    turn_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveWorkflow(WorkbenchOnly):
    """Save a finished turn, by default the newest, as a workflow with its files as inputs.

    Without an id it gets one made of its name. One that is there already is replaced only with the
    hash of its file (`sourceHash` of `RailsWorkflowSource`).
    """

    name: str
    turn_id: str | None = None
    workflow_id: str | None = None
    scope: Literal["user", "project"] = "user"
    workspace_path: str | None = None
    expected_hash: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GetWorkflowInputs(WorkbenchOnly):
    """Say what a workflow asks for, without an id of every one that people wrote.

    With `inputs` they are checked as they are when it begins.
    """

    workflow_id: str | None = None
    inputs: dict[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoToMessage(WorkbenchOnly):
    """Go back to a record of the conversation."""

    message_id: str
    mode: str | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchModel(WorkbenchOnly):
    """Let another model answer."""

    model_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetFlow(WorkbenchOnly):
    """Choose how turns are executed."""

    flow: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GetUsage(WorkbenchOnly):
    """Say what models used, the newest turns first; `before` a turn goes on, `turn_ids` picks."""

    limit: int = 200
    before: str | None = None
    turn_ids: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GetRunUsage:
    """Say what models used in one run, call by call."""

    run_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GetToolLog(WorkbenchOnly):
    """List tool calls after an entry, those of one turn or all."""

    after: int = 0
    limit: int = 100
    turn_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GetToolLogEntry(WorkbenchOnly):
    """Read one tool call with a slice of its result."""

    entry_id: int
    offset: int = 0
    max_bytes: int = 16_384


@dataclass(frozen=True, slots=True, kw_only=True)
class DismissReminder(WorkbenchOnly):
    """Hide the reminder of a Draft for a while."""

    draft_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextInput:
    """What an item is made from: `text` with a text, or `file` with a path and perhaps a note."""

    mode: str
    text: str | None = None
    source_path: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextProcess:
    """Let the model make a context item from a text or a file."""

    workbench_id: str
    category: str
    input: ContextInput
    overwrite_direct_edits: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestGet:
    """Which bench's digest."""

    workbench_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestRefresh:
    """Write the digest anew: `builder` without a model, `model` with one."""

    workbench_id: str
    mode: Literal["builder", "model"] = "builder"
    scope: Literal["session", "global"] = "session"
    tag: str | None = None
    focus: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestSet:
    """Write the digest by hand; pinned it stays whatever the files do."""

    workbench_id: str
    body: str
    pin: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptShow:
    """The prompts of a turn, found by a message of it; of one phase, or the last.

    `number` counts those of the phase from 1; without it the last one is meant.
    """

    workbench_id: str
    message_id: str | None = None
    turn_id: str | None = None
    phase: str | None = None
    number: int | None = None
