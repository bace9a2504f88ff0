"""Every prompt that comes with the product, for lists, lint, previews and overrides (P7.12)."""

from __future__ import annotations

from typing import Any

from backshop.bench import TOOLS
from backshop.prompts import Prompt, Tool

from ..tool.recall import RECALL_TOOL
from .bundled import bundled_prompts
from .gathering import tools_of


def agent_tools() -> tuple[Tool, ...]:
    """Return the tools of the agent, in the order of W7.1."""
    return (*TOOLS, RECALL_TOOL)


def workshop_prompts() -> tuple[Prompt[Any], ...]:
    """Return the prompts of turns and of context items."""
    return bundled_prompts(lambda key: tools_of(key, "auto"))
