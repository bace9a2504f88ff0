"""Prompts of sections, tools, sessions, overrides and the workspace digest."""

from .errors import PromptError, PromptValidationError
from .slices import SessionView
from .tool import Cancel, Effects, Tool, ToolContext, ToolResult, ToolSession

__all__ = [
    "Cancel",
    "Effects",
    "PromptError",
    "PromptValidationError",
    "SessionView",
    "Tool",
    "ToolContext",
    "ToolResult",
    "ToolSession",
]
