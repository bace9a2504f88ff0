"""Workflows for agents: authored as data, compiled, pinned, executed from facts."""

from .catalog import Catalog
from .commands import COMMANDS
from .errors import RailsError
from .inputs import Request, Submitted
from .preferences import PRESETS
from .requests import (
    CheckpointWorkflow,
    ContinueWorkflow,
    InspectWorkflow,
    ListWorkflows,
    ResumeSession,
    StartSession,
    StartWorkflow,
)
from .respond import Answer
from .service import Rails
from .settings import Settings
from .sources import Places
from .tools import TOOLS, RailsTool, tools

__all__ = [
    "COMMANDS",
    "PRESETS",
    "TOOLS",
    "Answer",
    "Catalog",
    "CheckpointWorkflow",
    "ContinueWorkflow",
    "InspectWorkflow",
    "ListWorkflows",
    "Places",
    "Rails",
    "RailsError",
    "RailsTool",
    "Request",
    "ResumeSession",
    "Settings",
    "StartSession",
    "StartWorkflow",
    "Submitted",
    "tools",
]
