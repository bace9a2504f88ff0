"""The conversation of a bench and the built-in agent."""

from .contextual import CONTEXT_COMMANDS, Contextual

__all__ = ["CONTEXT_COMMANDS", "Contextual"]
