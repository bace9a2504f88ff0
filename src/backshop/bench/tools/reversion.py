"""`revert_file`: the Draft's own change of one file is taken back (B8.23)."""

from __future__ import annotations

from dataclasses import dataclass

from backshop.prompts import Tool, ToolContext, ToolResult

from .workspace import Workspace, answered


@dataclass(frozen=True, slots=True, kw_only=True)
class RevertFile:
    """Arguments of revert_file."""

    path: str


def _revert(params: RevertFile, *, context: ToolContext) -> ToolResult:
    room = context.resource(Workspace)
    return answered(lambda: room.take_back(params.path))


REVERT_FILE = Tool(
    "revert_file",
    "Take a Draft file back to Published.",
    RevertFile,
    _revert,
    effects="write",
)
