"""Workflows for agents: authored as data, compiled, pinned, executed from facts."""

from .asker import Asker
from .builtin_driver import Driving, Standing
from .catalog import service as definitions
from .catalog.authoring import Authoring, Checked, Saved, SourceText, starting_point
from .catalog.builtin import Builtin, builtins
from .catalog.catalog import Catalog
from .catalog.declared_input import Declared, DeclaredInput, file_input, name_input
from .catalog.git import read_sources as read_git_sources
from .catalog.git import sources as git_places
from .catalog.service import (
    DEFINITION_COMMANDS,
    Definitions,
)
from .catalog.source import Places
from .catalog.team_workflow import Shelf
from .commands import COMMANDS
from .definition.finding import Finding, Severity
from .definition.identity import SourceKind
from .errors import RailsError
from .observer import RunObserver
from .repository import Located
from .requests import (
    CheckpointWorkflow,
    ContinueWorkflow,
    InspectWorkflow,
    ListWorkflows,
    ResumeSession,
    StartSession,
    StartWorkflow,
)
from .run.answer import Answer, resume_ref
from .run.inputs import Request, Submitted
from .run.joint_append import Arrived, Beside
from .run.pending import Pending
from .run.preference import PRESETS
from .service import Rails
from .session.home_event import announcing
from .settings import Settings
from .studio import answer as studio_answers
from .studio import request as studio_requests
from .studio.request import (
    SessionDelete,
    SessionExport,
    SessionGet,
    SessionImport,
    SessionSetKeep,
    SessionsList,
)
from .studio.service import STUDIO_COMMANDS, Studio
from .tools import TOOLS, RailsTool, offered
from .view import run as run_view
from .view import runs as runs_view
from .view import session as session_view
from .view import waiting as waiting_view
from .view.artifact import Shown
from .view.artifact import shown as shown_artifact

__all__ = [
    "COMMANDS",
    "DEFINITION_COMMANDS",
    "PRESETS",
    "STUDIO_COMMANDS",
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
    "ContinueWorkflow",
    "Declared",
    "DeclaredInput",
    "Definitions",
    "Driving",
    "Finding",
    "InspectWorkflow",
    "ListWorkflows",
    "Located",
    "Pending",
    "Places",
    "Rails",
    "RailsError",
    "RailsTool",
    "Request",
    "ResumeSession",
    "RunObserver",
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
    "definitions",
    "file_input",
    "git_places",
    "name_input",
    "offered",
    "read_git_sources",
    "resume_ref",
    "run_view",
    "runs_view",
    "session_view",
    "shown_artifact",
    "starting_point",
    "studio_answers",
    "studio_requests",
    "waiting_view",
]
