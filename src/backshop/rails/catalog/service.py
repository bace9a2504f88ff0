"""The commands about definitions: check, read, write, delete, sync, what there is (R7.26)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from backshop.base.codec import camel
from backshop.base.command import Command, Nothing, method_command

from ..definition.finding import Finding
from ..definition.identity import SourceKind
from ..errors import invalid
from ..session import workspace
from ..session.home_event import Announce, WorkflowsChanged, silent
from . import git
from .authoring import Authoring, Checked, Saved
from .builtin import Builtin, builtins
from .catalog import Catalog
from .source import GitSource

Target = Literal["user", "project"]
_PLACE = {"description": "Absolute path of the project; default: the configured workspace"}
_TARGET = {"description": "user: this home's workflows; project: .backshop/workflows of it"}
_EXPECTED = {"description": "sourceHash of the file it may replace, empty: none; default: any"}
_SEEN = {"description": "sourceHash of the file that may go; default: any"}


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowValidate:
    """Give a path or a source; JSON and YAML are told apart by how the text begins."""

    path: str | None = None
    source: str | None = None
    strict: bool = False
    workspace_path: str | None = field(default=None, metadata=_PLACE)


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowValidated:
    """`workflowHash` is there when it can run."""

    valid: bool
    workflow_id: str | None = None
    workflow_hash: str | None = None
    findings: tuple[Finding, ...] = ()


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowSource:
    """Which definition to show as it was written."""

    workflow_id: str
    workspace_path: str | None = field(default=None, metadata=_PLACE)


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowText:
    """A definition as it was written; `file` names source and path inside it."""

    workflow_id: str
    file: str
    format: Literal["json", "yaml"]
    source: str
    source_hash: str


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowSave:
    """A definition to write; its id says which file it replaces."""

    source: str
    target: Target = field(metadata=_TARGET)
    workspace_path: str | None = field(default=None, metadata=_PLACE)
    expected_hash: str | None = field(default=None, metadata=_EXPECTED)


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowCopy:
    """A workflow to save under another id."""

    workflow_id: str
    new_id: str
    target: Target = field(metadata=_TARGET)
    workspace_path: str | None = field(default=None, metadata=_PLACE)


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowNew:
    """The id of a workflow to begin."""

    workflow_id: str
    name: str | None = None
    target: Target = field(metadata=_TARGET)
    workspace_path: str | None = field(default=None, metadata=_PLACE)


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowDelete:
    """The id of a workflow to take away."""

    workflow_id: str
    target: Target = field(metadata=_TARGET)
    workspace_path: str | None = field(default=None, metadata=_PLACE)
    expected_hash: str | None = field(default=None, metadata=_SEEN)


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowDeleted:
    """A file that is gone; `uncovered` is the one that answers to the id now, if any does."""

    workflow_id: str
    path: str
    uncovered: str | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowSaved:
    """A file that was written."""

    workflow_id: str
    workflow_hash: str | None
    path: str
    replaced: bool
    source_hash: str
    findings: tuple[Finding, ...] = ()


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class RepositorySynced:
    """How one repository went; `error` is there when it failed."""

    url: str
    ref: str
    commit: str | None = None
    error: str | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class SourcesSynced:
    """All configured repositories, in their order."""

    repositories: tuple[RepositorySynced, ...]


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltinsListed:
    """Everything authors can use."""

    builtins: tuple[Builtin, ...]


class Definitions:
    """The facade of those commands."""

    def __init__(
        self,
        authoring: Authoring,
        catalog: Catalog,
        *,
        default_workspace: Path | None = None,
        repositories: tuple[GitSource, ...] = (),
        clones: Path | None = None,
        announce: Announce = silent,
    ) -> None:
        self._authoring = authoring
        self._catalog = catalog
        self._default = default_workspace
        self._repositories = repositories
        self._clones = clones
        self._announce = announce

    def workflow_validate(self, request: WorkflowValidate) -> WorkflowValidated:
        """Check a text or a file.

        Raises:
            RailsError: `VALIDATION_ERROR`, neither or both were given or the file is unreadable.
        """
        place = self._workspace(request.workspace_path)
        if (request.path is None) == (request.source is None):
            raise invalid("give path or source", "Send exactly one of path and source.")
        if request.path is not None:
            checked = self._authoring.validate_file(
                Path(request.path), strict=request.strict, workspace=place
            )
        else:
            text = request.source or ""
            checked = self._authoring.validate(
                text, is_yaml=is_yaml(text), strict=request.strict, workspace=place
            )
        return _validated(checked)

    def workflow_source(self, request: WorkflowSource) -> WorkflowText:
        """Return a definition as it was written."""
        found = self._authoring.source(request.workflow_id, self._workspace(request.workspace_path))
        return WorkflowText(
            workflow_id=found.workflow_id,
            file=found.file,
            format="yaml" if found.is_yaml else "json",
            source=found.text,
            source_hash=found.source_hash,
        )

    def workflow_save(self, request: WorkflowSave) -> WorkflowSaved:
        """Write a definition that passes every check."""
        return self._saved(
            self._authoring.save(
                request.source,
                target=SourceKind(request.target),
                is_yaml=is_yaml(request.source),
                workspace=self._workspace(request.workspace_path),
                expected=request.expected_hash,
            )
        )

    def workflow_copy(self, request: WorkflowCopy) -> WorkflowSaved:
        """Save a workflow under another id."""
        return self._saved(
            self._authoring.copy(
                request.workflow_id,
                new_id=request.new_id,
                target=SourceKind(request.target),
                workspace=self._workspace(request.workspace_path),
            )
        )

    def workflow_new(self, request: WorkflowNew) -> WorkflowSaved:
        """Write a commented starting point."""
        return self._saved(
            self._authoring.new(
                request.workflow_id,
                name=request.name,
                target=SourceKind(request.target),
                workspace=self._workspace(request.workspace_path),
            )
        )

    def workflow_delete(self, request: WorkflowDelete) -> WorkflowDeleted:
        """Take a definition away; runs that began with it keep theirs."""
        gone = self._authoring.delete(
            request.workflow_id,
            target=SourceKind(request.target),
            workspace=self._workspace(request.workspace_path),
            expected=request.expected_hash,
        )
        self._announce(WorkflowsChanged(workflow_id=gone.workflow_id))
        return WorkflowDeleted(
            workflow_id=gone.workflow_id, path=str(gone.path), uncovered=gone.uncovered
        )

    def sources_sync(self, _: Nothing) -> SourcesSynced:
        """Fetch the configured repositories of workflows."""
        done = git.sync(self._repositories, self._clones) if self._clones else ()
        self._announce(WorkflowsChanged())
        return SourcesSynced(
            repositories=tuple(
                RepositorySynced(url=one.url, ref=one.ref, commit=one.commit, error=one.error)
                for one in done
            )
        )

    def builtins_list(self, _: Nothing) -> BuiltinsListed:
        """Return what authors can use."""
        return BuiltinsListed(builtins=builtins(self._catalog.look().library))

    def _saved(self, saved: Saved) -> WorkflowSaved:
        self._announce(WorkflowsChanged(workflow_id=saved.workflow_id))
        return WorkflowSaved(
            workflow_id=saved.workflow_id,
            workflow_hash=saved.checked.workflow_hash,
            path=str(saved.path),
            replaced=saved.replaced,
            source_hash=saved.source_hash,
            findings=saved.checked.findings,
        )

    def _workspace(self, path: str | None) -> Path | None:
        return workspace.checked(path) or self._default


def is_yaml(text: str) -> bool:
    """Tell the two notations apart: a JSON definition begins with a brace."""
    return not text.lstrip("\ufeff \t\r\n").startswith("{")


def _validated(checked: Checked) -> WorkflowValidated:
    return WorkflowValidated(
        valid=checked.is_valid,
        workflow_id=checked.workflow_id,
        workflow_hash=checked.workflow_hash,
        findings=checked.findings,
    )


_PATH = ("workspace_path",)
_command = partial(method_command, phase="rails")
_read = partial(_command, role="read", anybody=True)
_own = partial(_command, role="owner", writes=True)

DEFINITION_COMMANDS: tuple[Command[Definitions, Any, Any], ...] = (
    _read(
        "RailsWorkflowValidate",
        "Check a workflow definition and list all findings.",
        Definitions.workflow_validate,
        server_paths=("path", *_PATH),
    ),
    _read(
        "RailsWorkflowSource",
        "Show a workflow definition as it was written.",
        Definitions.workflow_source,
        server_paths=_PATH,
    ),
    _own(
        "RailsWorkflowSave",
        "Save a workflow definition that passes every check.",
        Definitions.workflow_save,
        server_paths=_PATH,
    ),
    _own(
        "RailsWorkflowCopy",
        "Save a workflow under another id.",
        Definitions.workflow_copy,
        server_paths=_PATH,
    ),
    _own(
        "RailsWorkflowNew",
        "Write a commented starting point for a workflow.",
        Definitions.workflow_new,
        server_paths=_PATH,
    ),
    _own(
        "RailsWorkflowDelete",
        "Take a workflow definition away; runs that began with it go on.",
        Definitions.workflow_delete,
        server_paths=_PATH,
    ),
    _own(
        "RailsSourcesSync",
        "Fetch the configured repositories of workflows.",
        Definitions.sources_sync,
    ),
    _read("RailsBuiltinsList", "List what workflow authors can use.", Definitions.builtins_list),
)
