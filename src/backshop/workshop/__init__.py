"""The conversation of a bench and the built-in agent."""

from .answers import message_of
from .bundle import agent_tools, workshop_prompts
from .cluttering import CLUTTER_COMMANDS, Cluttering
from .commands import COMMANDS
from .contextual import CONTEXT_COMMANDS, Contextual
from .digest import DIGEST_COMMANDS, Digests
from .errors import TurnActive
from .handing import Hands
from .outside import Outside
from .params import Gatherer
from .recall import RECALL_TOOL, AgentSpace
from .run import Settings
from .service import Workshop

__all__ = [
    "CLUTTER_COMMANDS",
    "COMMANDS",
    "CONTEXT_COMMANDS",
    "DIGEST_COMMANDS",
    "RECALL_TOOL",
    "AgentSpace",
    "Cluttering",
    "Contextual",
    "Digests",
    "Gatherer",
    "Hands",
    "Outside",
    "Settings",
    "TurnActive",
    "Workshop",
    "agent_tools",
    "message_of",
    "workshop_prompts",
]
