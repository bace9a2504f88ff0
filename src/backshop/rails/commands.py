"""The commands of rails: the tools, and what people do beside them (R7.26)."""

from __future__ import annotations

from typing import Any

from backshop.base.command import Command

from .asker import Asker
from .service import Rails
from .studio.service import STUDIO_COMMANDS
from .tools import TOOLS, RailsTool

PHASE = "rails"


def _tool(tool: RailsTool) -> Command[Rails, Any, Any]:
    return Command(
        name=tool.name,
        summary=f"{tool.title}.",
        request=tool.request,
        response=tool.answer,
        run=lambda rails, request, caller: (
            tool.run(rails, request, Asker(caller=caller)).structured
        ),
        for_caller=True,
        role=tool.role,
        anybody=tool.anybody,
        makes=tool.makes,
        server_paths=tool.server_paths,
        phase=PHASE,
        writes=not tool.read_only,
    )


COMMANDS: tuple[Command[Rails, Any, Any], ...] = (
    *map(_tool, TOOLS),
    *STUDIO_COMMANDS,
)
