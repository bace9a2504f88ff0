"""Where workflow files lie: folders, files, the bindings of a workspace (R3.1-R3.4)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from backshop.base.canon import parse
from backshop.base.errors import ValidationFailed

from ..compile.parse import SOURCE_MAX_BYTES, SUFFIXES, parse_source
from ..compile.read import BINDING_MAX_CHARS, read_definition
from ..definition.finding import Finding, Findings, Severity, TooManyFindings, has_error
from ..definition.identity import IdStatus, SourceKind, WorkflowKind, id_status, kind_of
from ..definition.workflow import Definition

MAX_DEPTH = 4
MAX_FILES = 2000
BUNDLED = Path(__file__).parent / "bundled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One directory of workflow files; `name` is how it is called in messages."""

    kind: SourceKind
    root: Path
    name: str
    namespace: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GitSource:
    """A repository of workflows, read from its local clone (R3.2)."""

    url: str
    ref: str
    path: str = ""
    namespace: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The configured sources; the project's come with the workspace of each call (R3.4)."""

    bundled_dirs: tuple[Path, ...] = ()
    user_dirs: tuple[Path, ...] = ()
    git: tuple[Source, ...] = ()

    def sources(self, workspace: Path | None) -> tuple[Source, ...]:
        """Return all sources, those that win first (R3.5)."""
        project = (
            (workspace / ".backshop" / "workflows", workspace / "workflows") if workspace else ()
        )
        return (
            *_named(SourceKind.PROJECT, project),
            *self.git,
            *_named(SourceKind.USER, self.user_dirs),
            *_named(SourceKind.BUNDLED, (BUNDLED, *self.bundled_dirs)),
        )


def _named(kind: SourceKind, roots: Sequence[Path]) -> Iterator[Source]:
    for number, root in enumerate(roots):
        yield Source(kind=kind, root=root, name=kind if number == 0 else f"{kind}-{number + 1}")


@dataclass(frozen=True, slots=True)
class Stamp:
    """What tells one state of a file from another without reading it."""

    path: Path
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Parsed:
    """A file's content; `data` is None when it could not be read."""

    data: object
    findings: tuple[Finding, ...]
    definition: Definition | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A workflow file with an id, and where it was found."""

    workflow_id: str
    source: Source
    ref: str
    stamp: Stamp
    parsed: Parsed = field(repr=False)

    @property
    def kind(self) -> WorkflowKind:
        """Workflow or routine (R1.8)."""
        return kind_of(self.workflow_id, self.ref.split("/")[:-1])

    @property
    def id_status(self) -> IdStatus:
        """Whether the id is namespaced."""
        return id_status(self.workflow_id) or IdStatus.LEGACY

    @property
    def file(self) -> str:
        """The file as messages name it: source and path inside it."""
        return f"{self.source.name}:{self.ref}"


@dataclass(frozen=True, slots=True)
class Invalid:
    """A file that cannot run, with every reason."""

    file: str
    findings: tuple[Finding, ...]


def warning(code: str, pointer: str, message: str) -> Finding:
    """Return a warning about a source or a file in it."""
    return Finding(code=code, severity=Severity.WARNING, pointer=pointer, message=message)


def read_file(stamp: Stamp) -> Parsed:
    """Read and type one file."""
    findings = Findings()
    if stamp.size > SOURCE_MAX_BYTES:
        message = f"{stamp.size} bytes; a definition has at most {SOURCE_MAX_BYTES}"
        findings.error("WF_PARSE", "", message)
        return Parsed(None, findings.all, None)
    try:
        source = stamp.path.read_bytes()
    except OSError as error:
        findings.error("WF_PARSE", "", f"the file cannot be read: {error.strerror}")
        return Parsed(None, findings.all, None)
    data = parse_source(source, findings, is_yaml=stamp.path.suffix != ".json")
    if has_error(findings.all):
        return Parsed(None, findings.all, None)
    try:
        definition = read_definition(data, findings)
    except TooManyFindings:
        definition = None
    return Parsed(data, findings.all, definition)


def scan(source: Source, warnings: list[Finding]) -> Iterator[Stamp]:
    """Yield the files of a source in the order of their names (R3.3)."""
    if not source.root.is_dir():
        return
    for count, stamp in enumerate(_files(source.root, source, 1, warnings)):
        if count == MAX_FILES:
            message = f"{source.name} holds more than {MAX_FILES} files; the rest is not read"
            warnings.append(warning("WW_SOURCE_UNREADABLE", "", message))
            return
        yield stamp


def _files(folder: Path, source: Source, depth: int, warnings: list[Finding]) -> Iterator[Stamp]:
    try:
        with os.scandir(folder) as scan:
            found = sorted(scan, key=lambda one: one.name)
    except OSError as error:
        message = f"a folder of {source.name} cannot be read: {error.strerror}"
        warnings.append(warning("WW_SOURCE_UNREADABLE", "", message))
        return
    for one in found:
        path = folder / one.name
        if one.is_symlink():
            continue
        if one.is_dir():
            if depth < MAX_DEPTH and not one.name.startswith("."):
                yield from _files(path, source, depth + 1, warnings)
        elif one.is_file() and path.suffix in SUFFIXES:
            try:
                status = one.stat(follow_symlinks=False)
            except OSError:  # gone since the folder was listed
                continue
            yield Stamp(path, status.st_size, status.st_mtime_ns)


def read_bindings(
    workspace: Path | None, warnings: list[Finding]
) -> Mapping[str, Mapping[str, str]]:
    """Read which ids a workspace puts into the slots of workflows (R1.38)."""
    file = workspace / ".backshop" / "bindings.json" if workspace else None
    if file is None or not file.is_file():
        return {}
    try:
        data = parse(file.read_bytes())
    except (OSError, ValidationFailed) as error:
        warnings.append(warning("WW_SOURCE_UNREADABLE", "", f"bindings.json: {error}"))
        return {}
    if not isinstance(data, dict):
        warnings.append(warning("WW_SOURCE_UNREADABLE", "", "bindings.json is not an object"))
        return {}
    return {
        workflow_id: {
            slot: chosen
            for slot, chosen in slots.items()
            if isinstance(chosen, str) and len(chosen) <= BINDING_MAX_CHARS
        }
        for workflow_id, slots in data.items()
        if isinstance(slots, dict)
    }
