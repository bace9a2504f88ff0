"""The conversation of a bench and the built-in agent.

Names load when they are asked for: what was said is read without the agent (S2.4, B11.8).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .conversation import events as _facts  # noqa: F401  - known to the store from here on

if TYPE_CHECKING:
    from .again.service import AGAIN_COMMANDS, Again
    from .answers import (
        Answered,
        BenchUsage,
        CancelAnswer,
        Conversation,
        Nothing,
        PlanView,
        RedoDone,
        SavedWorkflow,
        Sent,
        State,
        Undone,
        WorkflowsAsking,
        message_of,
    )
    from .commands import COMMANDS
    from .companion_stream import sessions_of_others, sister_streams
    from .context_processing import CONTEXT_COMMANDS, Contextual
    from .conversation.change_count import changes_said, counted
    from .conversation.repository import Conversations, chosen_model
    from .conversation.turn_facts import TurnFacts, told
    from .digest.forms import DigestShown, PartShown
    from .digest.service import DIGEST_COMMANDS, Digests
    from .draft_subject import (
        checkpoint_stories,
        draft_facts,
        draft_request,
        draft_summary,
        last_request,
        unanswered_requests,
    )
    from .errors import TurnActive
    from .history.fork import retell
    from .prompt.catalog import agent_tools, workshop_prompts
    from .prompt.clutter_report import CLUTTER_COMMANDS, Cluttering
    from .prompt.gathering import Gatherer
    from .service import Workshop
    from .tool.allowance import WorkLimits
    from .tool.recall import RECALL_TOOL, AgentSpace
    from .turn.context import Settings
    from .turn.mcp_turn import Outside
    from .turn.worker_turn import OlderWorker, TurnQueue, turns_of

__all__ = [
    "AGAIN_COMMANDS",
    "CLUTTER_COMMANDS",
    "COMMANDS",
    "CONTEXT_COMMANDS",
    "DIGEST_COMMANDS",
    "RECALL_TOOL",
    "Again",
    "AgentSpace",
    "Answered",
    "BenchUsage",
    "CancelAnswer",
    "Cluttering",
    "Contextual",
    "Conversation",
    "Conversations",
    "DigestShown",
    "Digests",
    "Gatherer",
    "Nothing",
    "OlderWorker",
    "Outside",
    "PartShown",
    "PlanView",
    "RedoDone",
    "SavedWorkflow",
    "Sent",
    "Settings",
    "State",
    "TurnActive",
    "TurnFacts",
    "TurnQueue",
    "Undone",
    "WorkLimits",
    "WorkflowsAsking",
    "Workshop",
    "agent_tools",
    "changes_said",
    "checkpoint_stories",
    "chosen_model",
    "counted",
    "draft_facts",
    "draft_request",
    "draft_summary",
    "last_request",
    "message_of",
    "retell",
    "sessions_of_others",
    "sister_streams",
    "told",
    "turns_of",
    "workshop_prompts",
    "unanswered_requests",
]

_HOMES = {
    "AGAIN_COMMANDS": "again.service",
    "Again": "again.service",
    "SavedWorkflow": "answers",
    "WorkflowsAsking": "answers",
    "CLUTTER_COMMANDS": "prompt.clutter_report",
    "COMMANDS": "commands",
    "CONTEXT_COMMANDS": "context_processing",
    "DIGEST_COMMANDS": "digest.service",
    "RECALL_TOOL": "tool.recall",
    "AgentSpace": "tool.recall",
    "Answered": "answers",
    "BenchUsage": "answers",
    "CancelAnswer": "answers",
    "Conversations": "conversation.repository",
    "Cluttering": "prompt.clutter_report",
    "Contextual": "context_processing",
    "Conversation": "answers",
    "DigestShown": "digest.forms",
    "Digests": "digest.service",
    "Gatherer": "prompt.gathering",
    "TurnQueue": "turn.worker_turn",
    "Nothing": "answers",
    "OlderWorker": "turn.worker_turn",
    "Outside": "turn.mcp_turn",
    "PartShown": "digest.forms",
    "PlanView": "answers",
    "RedoDone": "answers",
    "Sent": "answers",
    "Settings": "turn.context",
    "State": "answers",
    "TurnActive": "errors",
    "TurnFacts": "conversation.turn_facts",
    "Undone": "answers",
    "WorkLimits": "tool.allowance",
    "Workshop": "service",
    "agent_tools": "prompt.catalog",
    "changes_said": "conversation.change_count",
    "counted": "conversation.change_count",
    "chosen_model": "conversation.repository",
    "checkpoint_stories": "draft_subject",
    "draft_facts": "draft_subject",
    "draft_request": "draft_subject",
    "draft_summary": "draft_subject",
    "unanswered_requests": "draft_subject",
    "last_request": "draft_subject",
    "message_of": "answers",
    "retell": "history.fork",
    "sessions_of_others": "companion_stream",
    "sister_streams": "companion_stream",
    "told": "conversation.turn_facts",
    "turns_of": "turn.worker_turn",
    "workshop_prompts": "prompt.catalog",
}


def __getattr__(name: str) -> Any:
    """Load the module a name lives in."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
