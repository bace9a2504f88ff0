"""The conversation of a bench and the built-in agent.

Names load when they are asked for: what was said is read without the agent (S2.4, B11.8).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import events as _facts  # noqa: F401  - known to the store from here on

if TYPE_CHECKING:
    from .answers import (
        Answered,
        CancelAnswer,
        Conversation,
        Nothing,
        PlanView,
        RedoDone,
        Sent,
        State,
        Undone,
        message_of,
    )
    from .book import Book, chosen_model
    from .bundle import agent_tools, workshop_prompts
    from .cluttering import CLUTTER_COMMANDS, Cluttering
    from .commands import COMMANDS
    from .contextual import CONTEXT_COMMANDS, Contextual
    from .copying import retell
    from .digest import DIGEST_COMMANDS, Digests
    from .errors import TurnActive
    from .handing import Hands, OlderWorker, turns_of
    from .outside import Outside
    from .params import Gatherer
    from .recall import RECALL_TOOL, AgentSpace
    from .run import Settings
    from .service import Workshop
    from .sisters import sister_streams
    from .summing import draft_facts, draft_summary
    from .turnfacts import TurnFacts, told

__all__ = [
    "CLUTTER_COMMANDS",
    "COMMANDS",
    "CONTEXT_COMMANDS",
    "DIGEST_COMMANDS",
    "RECALL_TOOL",
    "AgentSpace",
    "Answered",
    "Book",
    "CancelAnswer",
    "Cluttering",
    "Contextual",
    "Conversation",
    "Digests",
    "Gatherer",
    "Hands",
    "Nothing",
    "OlderWorker",
    "Outside",
    "PlanView",
    "RedoDone",
    "Sent",
    "Settings",
    "State",
    "TurnActive",
    "TurnFacts",
    "Undone",
    "Workshop",
    "agent_tools",
    "chosen_model",
    "draft_facts",
    "draft_summary",
    "message_of",
    "retell",
    "sister_streams",
    "told",
    "turns_of",
    "workshop_prompts",
]

_HOMES = {
    "CLUTTER_COMMANDS": "cluttering",
    "COMMANDS": "commands",
    "CONTEXT_COMMANDS": "contextual",
    "DIGEST_COMMANDS": "digest",
    "RECALL_TOOL": "recall",
    "AgentSpace": "recall",
    "Answered": "answers",
    "CancelAnswer": "answers",
    "Book": "book",
    "Cluttering": "cluttering",
    "Contextual": "contextual",
    "Conversation": "answers",
    "Digests": "digest",
    "Gatherer": "params",
    "Hands": "handing",
    "Nothing": "answers",
    "OlderWorker": "handing",
    "Outside": "outside",
    "PlanView": "answers",
    "RedoDone": "answers",
    "Sent": "answers",
    "Settings": "run",
    "State": "answers",
    "TurnActive": "errors",
    "TurnFacts": "turnfacts",
    "Undone": "answers",
    "Workshop": "service",
    "agent_tools": "bundle",
    "chosen_model": "book",
    "draft_facts": "summing",
    "draft_summary": "summing",
    "message_of": "answers",
    "retell": "copying",
    "sister_streams": "sisters",
    "told": "turnfacts",
    "turns_of": "handing",
    "workshop_prompts": "bundle",
}


def __getattr__(name: str) -> Any:
    """Load the module a name lives in."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
