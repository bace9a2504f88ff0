"""The tools of rails as commands (R7.26)."""

from __future__ import annotations

from typing import Any

from backshop.base.command import Command
from backshop.store import Caller

from .asker import Asker
from .service import Rails
from .tools import TOOLS, RailsTool

PHASE = "rails"


def _tool(tool: RailsTool) -> Command[Rails, Any, Any]:
    def told(rails: Rails, request: Any, caller: Caller) -> dict[str, object]:
        return tool.run(rails, request, Asker(caller=caller)).structured

    return Command(
        name=tool.name,
        summary=f"{tool.title}.",
        request=tool.request,
        response=tool.answer,
        run=tool.facts or told,
        for_caller=tool.facts is None,
        role=tool.role,
        anybody=tool.anybody,
        makes=tool.makes,
        server_paths=tool.server_paths,
        phase=PHASE,
        writes=not tool.read_only,
    )


COMMANDS: tuple[Command[Rails, Any, Any], ...] = tuple(map(_tool, TOOLS))
