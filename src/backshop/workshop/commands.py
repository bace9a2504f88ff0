"""The Workshop's commands: name ↔ facade method (W3)."""

from __future__ import annotations

from functools import partial
from typing import Any

from backshop.base.command import Command, method_command

from .service import Workshop

_command = partial(method_command, phase="workshop")

COMMANDS: tuple[Command[Workshop, Any, Any], ...] = (
    _command("WorkshopGetState", "Say where the conversation of a workbench stands.", Workshop.get_state, role="read"),
    _command("WorkshopGetConversation", "Return a page of the conversation.", Workshop.get_conversation, role="read"),
    _command("WorkshopSendUserMessage", "Send a message, without running the agent on it.", Workshop.send_user_message, writes=True, role="write"),
    _command("WorkshopRequestChanges", "Ask for changes of the Draft; nothing answers it yet.", Workshop.request_changes, writes=True, role="write"),
    _command("WorkshopRunAgent", "Let the agent answer a message, or go on where it stopped.", Workshop.run_agent, writes=True, role="write"),
    _command("WorkshopStreamAssistantReply", "Answer a message with flow compat.", Workshop.stream_assistant_reply, writes=True, role="write"),
    _command("WorkshopProposeChanges", "Work out the changes that the last answer announced.", Workshop.propose_changes, writes=True, role="write"),
    _command("WorkshopGetProposal", "Return proposed changes.", Workshop.get_proposal, role="read"),
    _command("WorkshopDismissProposal", "Let proposed changes go.", Workshop.dismiss_proposal, writes=True, role="write"),
    _command("WorkshopApplyProposal", "Make proposed changes in the Draft, all or none.", Workshop.apply_proposal, writes=True, role="write"),
    _command("WorkshopRegenerate", "Answer a message again.", Workshop.regenerate, writes=True, role="write", for_caller=True),
    _command("WorkshopAddNote", "Write to the agent at work; it reads it before its next step.", Workshop.add_note, writes=True, role="write"),
    _command("WorkshopCancelRun", "Stop the running turn.", Workshop.cancel_run, writes=True, role="write"),
    _command("WorkshopGetPlan", "Return research, plan and reports of a turn.", Workshop.get_plan, role="read"),
    _command("WorkshopUndoToMessage", "Go back to a record of the conversation.", Workshop.undo_to_message, writes=True, role="write", for_caller=True),
    _command("WorkshopRedo", "Take the last rewind back.", Workshop.redo, writes=True, role="write", for_caller=True),
    _command("WorkshopSwitchModel", "Let another model answer from the next turn on.", Workshop.switch_model, writes=True, role="write"),
    _command("WorkbenchGetDefaultModel", "Return the model of a workbench where nobody switched to one.", Workshop.get_default_model, role="read"),
    _command("WorkbenchSetDefaultModel", "Choose the model of a workbench where nobody switched to one.", Workshop.set_default_model, writes=True, role="write"),
    _command("WorkshopSetFlow", "Choose how turns are executed.", Workshop.set_flow, writes=True, role="write"),
    _command("WorkshopGetToolLog", "List tool calls.", Workshop.get_tool_log, role="read"),
    _command("WorkshopGetToolLogEntry", "Return one tool call with a slice of its result.", Workshop.get_tool_log_entry, role="read"),
    _command("WorkshopGetMetrics", "Count turns, items, tool calls and rewinds.", Workshop.get_metrics, role="read"),
    _command("WorkshopGetUsage", "Say what models used for a workbench, by model and by turn.", Workshop.get_usage, role="read"),
    _command("WorkshopGetRunUsage", "Say what models used in one run, call by call.", Workshop.get_run_usage, role="read"),
    _command("WorkshopListUsage", "Say what models used for every workbench, and in all.", Workshop.list_usage, role="read", anybody=True, for_caller=True),
    _command("WorkshopSearch", "Find workbenches and files by name, and messages by what they say.", Workshop.search, role="read", anybody=True, for_caller=True),
    _command("WorkshopDismissReminder", "Hide the reminder of a Draft for a while.", Workshop.dismiss_reminder, writes=True, role="write"),
)  # fmt: skip
