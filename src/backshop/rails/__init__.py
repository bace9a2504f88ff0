"""Workflows for agents: authored as data, compiled, pinned, executed from facts."""

from .artifact import Shown
from .artifact import shown as shown_artifact
from .asker import Asker
from .asks import (
    SessionDelete,
    SessionExport,
    SessionGet,
    SessionImport,
    SessionSetKeep,
    SessionsList,
)
from .authoring import Authoring, Checked, Saved, SourceText, starting_point
from .beside import Arrived, Beside
from .builtins import Builtin, builtins
from .catalog import Catalog
from .commands import COMMANDS
from .company import Company
from .definitions import DEFINITION_COMMANDS, Definitions
from .driving import Driving, Standing
from .errors import RailsError
from .finding import Finding, Severity
from .git import read_sources as read_git_sources
from .git import sources as git_places
from .identity import SourceKind
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
from .respond import Answer, resume_ref
from .service import Rails
from .sessions import Located
from .settings import Settings
from .shelf import Shelf
from .sources import Places
from .studio import Studio
from .tools import TOOLS, RailsTool, offered
from .wholes import announcing

__all__ = [
    "COMMANDS",
    "DEFINITION_COMMANDS",
    "PRESETS",
    "TOOLS",
    "Answer",
    "Arrived",
    "Asker",
    "Authoring",
    "Beside",
    "Builtin",
    "Catalog",
    "Checked",
    "CheckpointWorkflow",
    "Company",
    "ContinueWorkflow",
    "Definitions",
    "Driving",
    "Finding",
    "InspectWorkflow",
    "ListWorkflows",
    "Located",
    "Places",
    "Rails",
    "RailsError",
    "RailsTool",
    "Request",
    "ResumeSession",
    "Saved",
    "SessionDelete",
    "SessionExport",
    "SessionGet",
    "SessionImport",
    "SessionSetKeep",
    "SessionsList",
    "Settings",
    "Severity",
    "Shelf",
    "Shown",
    "SourceKind",
    "SourceText",
    "Standing",
    "StartSession",
    "StartWorkflow",
    "Studio",
    "Submitted",
    "announcing",
    "builtins",
    "git_places",
    "offered",
    "read_git_sources",
    "resume_ref",
    "shown_artifact",
    "starting_point",
]
