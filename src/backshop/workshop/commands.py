"""The Workshop's commands: name ↔ request ↔ facade method (W3)."""

from __future__ import annotations

from typing import Any

from backshop.base.command import Command, commands_of
from backshop.models import DefaultModel

from . import answers, metrics, requests
from .service import Workshop

_command = commands_of("workshop")


COMMANDS: tuple[Command[Workshop, Any, Any], ...] = (
    _command("WorkshopGetState", "Say where the conversation of a workbench stands.", requests.WorkbenchOnly, answers.State, Workshop.get_state, role="read"),
    _command("WorkshopGetConversation", "Return a page of the conversation.", requests.GetConversation, answers.Conversation, Workshop.get_conversation, role="read"),
    _command("WorkshopSendUserMessage", "Send a message, without running the agent on it.", requests.SendUserMessage, answers.Sent, Workshop.send_user_message, writes=True, role="write"),
    _command("WorkshopRunAgent", "Let the agent answer a message, or go on where it stopped.", requests.RunAgent, answers.Answered, Workshop.run_agent, writes=True, role="write"),
    _command("WorkshopStreamAssistantReply", "Answer a message with flow compat.", requests.StreamAssistantReply, answers.Replied, Workshop.stream_assistant_reply, writes=True, role="write"),
    _command("WorkshopProposeChanges", "Work out the changes that the last answer announced.", requests.ProposeChanges, answers.Proposed, Workshop.propose_changes, writes=True, role="write"),
    _command("WorkshopGetProposal", "Return proposed changes.", requests.OneProposal, answers.ProposalView, Workshop.get_proposal, role="read"),
    _command("WorkshopDismissProposal", "Let proposed changes go.", requests.DismissProposal, answers.Nothing, Workshop.dismiss_proposal, writes=True, role="write"),
    _command("WorkshopApplyProposal", "Make proposed changes in the Draft, all or none.", requests.OneProposal, answers.Applied, Workshop.apply_proposal, writes=True, role="write"),
    _command("WorkshopRegenerate", "Answer a message again.", requests.Regenerate, answers.Answered, Workshop.regenerate, writes=True, role="write", for_caller=True),
    _command("WorkshopCancelRun", "Stop the running turn.", requests.CancelRun, answers.CancelAnswer, Workshop.cancel_run, writes=True, role="write"),
    _command("WorkshopGetPlan", "Return research, plan and reports of a turn.", requests.GetPlan, answers.PlanView, Workshop.get_plan, role="read"),
    _command("WorkshopUndoToMessage", "Go back to a record of the conversation.", requests.UndoToMessage, answers.Undone, Workshop.undo_to_message, writes=True, role="write", for_caller=True),
    _command("WorkshopRedo", "Take the last rewind back.", requests.Redo, answers.RedoDone, Workshop.redo, writes=True, role="write", for_caller=True),
    _command("WorkshopSwitchModel", "Let another model answer from the next turn on.", requests.SwitchModel, answers.Nothing, Workshop.switch_model, writes=True, role="write"),
    _command("WorkbenchGetDefaultModel", "Return the model of a workbench where nobody switched to one.", requests.WorkbenchOnly, DefaultModel, Workshop.get_default_model, role="read"),
    _command("WorkbenchSetDefaultModel", "Choose the model of a workbench where nobody switched to one.", requests.SwitchModel, answers.Nothing, Workshop.set_default_model, writes=True, role="write"),
    _command("WorkshopSetFlow", "Choose how turns are executed.", requests.SetFlow, answers.Nothing, Workshop.set_flow, writes=True, role="write"),
    _command("WorkshopGetToolLog", "List tool calls.", requests.GetToolLog, answers.ToolLog, Workshop.get_tool_log, role="read"),
    _command("WorkshopGetToolLogEntry", "Return one tool call with a slice of its result.", requests.GetToolLogEntry, answers.ToolLogEntry, Workshop.get_tool_log_entry, role="read"),
    _command("WorkshopGetMetrics", "Count turns, items, tool calls and rewinds.", requests.WorkbenchOnly, metrics.Metrics, Workshop.get_metrics, role="read"),
    _command("WorkshopDismissReminder", "Hide the reminder of a Draft for a while.", requests.DismissReminder, answers.Nothing, Workshop.dismiss_reminder, writes=True, role="write"),
)  # fmt: skip
