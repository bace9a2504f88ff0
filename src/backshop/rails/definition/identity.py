"""Ids of workflows: namespaced or legacy, whose they are, what to rename one to (R1.4-R1.8)."""

from __future__ import annotations

import re
from collections.abc import Collection
from enum import StrEnum

from backshop.base.canon import sha256_hex

from .finding import Findings

ID_MAX_CHARS = 64
NAME_MAX_CHARS = 40
RESERVED = "wr"
_NAMESPACED = re.compile(r"[a-z][a-z0-9_-]*\.[a-z][a-z0-9_-]*")
_LEGACY = re.compile(r"[a-z0-9_-]{3,64}")


class SourceKind(StrEnum):
    """Where workflow files come from (R3.1)."""

    BUNDLED = "bundled"
    USER = "user"
    PROJECT = "project"
    GIT = "git"


class IdStatus(StrEnum):
    """Whether an id says whose workflow it is."""

    NAMESPACED = "namespaced"
    LEGACY = "legacy"


class WorkflowKind(StrEnum):
    """A routine is a workflow that others call; both can be started."""

    WORKFLOW = "workflow"
    ROUTINE = "routine"


_NAMESPACES = {
    SourceKind.BUNDLED: RESERVED,
    SourceKind.USER: "user",
    SourceKind.PROJECT: "project",
    SourceKind.GIT: "repo",
}


def id_status(workflow_id: str) -> IdStatus | None:
    """Return the status of an id, None when it is no id at all."""
    if 3 <= len(workflow_id) <= ID_MAX_CHARS and _NAMESPACED.fullmatch(workflow_id):
        return IdStatus.NAMESPACED
    if _LEGACY.fullmatch(workflow_id):
        return IdStatus.LEGACY
    return None


def namespace_of(workflow_id: str) -> str:
    """Return the part before the dot, empty for a legacy id."""
    return workflow_id.partition(".")[0] if "." in workflow_id else ""


def kind_of(workflow_id: str, folders: Collection[str] = ()) -> WorkflowKind:
    """Return the kind; `folders` are the directories between the source's root and the file."""
    name = workflow_id.rpartition(".")[2]
    is_routine = "routines" in folders or name.startswith("routine-")
    return WorkflowKind.ROUTINE if is_routine else WorkflowKind.WORKFLOW


def suggested_id(
    workflow_id: str,
    kind: SourceKind,
    source_ref: str,
    *,
    namespace: str | None = None,
    taken: Collection[str] = (),
) -> str:
    """Propose a namespaced id, the same on every machine and at every time (R1.7)."""
    name = re.sub(r"[^a-z0-9_]", "_", workflow_id.rpartition(".")[2].lower())
    if not name[:1].isalpha():
        name = f"w_{name}"
    proposal = f"{namespace or _NAMESPACES[kind]}.{name[:NAME_MAX_CHARS]}"
    if proposal in taken:
        return f"{proposal}_{sha256_hex(f'{kind}:{source_ref}'.encode())[:4]}"
    return proposal


def check_id(
    workflow_id: str, kind: SourceKind, findings: Findings, *, suggestion: str, saving: bool = False
) -> None:
    """Note what is wrong with an id for a file from this kind of source."""
    status = id_status(workflow_id)
    if status is None:
        message = (
            f"`{workflow_id[:80]}` is not an id: two parts of lower-case letters, digits, `_` and "
            "`-` around one dot, such as project.review"
        )
        findings.error("WF_ID_INVALID", "/id", message, suggestion)
    elif status is IdStatus.LEGACY and saving:
        message = f"`{workflow_id}` has no namespace; new workflows need one"
        findings.error("WF_ID_LEGACY_SAVE", "/id", message, suggestion)
    elif status is IdStatus.LEGACY:
        message = f"`{workflow_id}` has no namespace"
        findings.warn("WW_LEGACY_ID", "/id", message, suggestion)
    elif namespace_of(workflow_id) == RESERVED and kind is not SourceKind.BUNDLED:
        message = f"`{workflow_id}`: the namespace `{RESERVED}` belongs to bundled workflows"
        findings.error("WF_ID_RESERVED", "/id", message, suggestion)
