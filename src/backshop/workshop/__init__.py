"""The conversation of a bench and the built-in agent."""

from .answers import message_of
from .commands import COMMANDS
from .contextual import CONTEXT_COMMANDS, Contextual
from .service import Workshop

__all__ = ["COMMANDS", "CONTEXT_COMMANDS", "Contextual", "Workshop", "message_of"]
