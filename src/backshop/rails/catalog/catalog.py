"""Which workflow answers to an id, and what cannot run and why (R3.5-R3.9).

A look at the sources reads directories and files anew; unchanged files are neither parsed nor
compiled twice. Nothing found is dropped: what cannot run is reported with its findings.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from backshop.base.canon import digest

from .. import search
from ..compile import Compiled, Library, Outcome, compile_data, template_id, workflow_hash
from ..compile.fields import nearest
from ..definition.finding import Finding, Findings, Severity, has_error, ordered
from ..definition.identity import (
    RESERVED,
    IdStatus,
    SourceKind,
    WorkflowKind,
    check_id,
    id_status,
    namespace_of,
    suggested_id,
)
from ..definition.workflow import Definition
from ..errors import RailsError
from .source import (
    Entry,
    Invalid,
    Parsed,
    Places,
    Source,
    Stamp,
    read_bindings,
    read_file,
    scan,
    warning,
)


@dataclass(frozen=True, slots=True)
class Workflow:
    """A runnable workflow."""

    entry: Entry
    compiled: Compiled
    workflow_hash: str
    findings: tuple[Finding, ...]
    definition: Definition


@dataclass(slots=True)
class Cache:
    """What was parsed and compiled already, by the state of the file."""

    parsed: dict[Stamp, Parsed] = field(default_factory=dict)
    compiled: dict[tuple[Stamp, str, str], Outcome] = field(default_factory=dict)
    hashes: dict[tuple[Stamp, str, str], str] = field(default_factory=dict)

    def forget(self, files: int) -> None:
        """Start anew when most of what is kept must be about states that are gone."""
        if len(self.parsed) > 4 * files + 100 or len(self.compiled) > 8 * files + 100:
            self.parsed, self.compiled, self.hashes = {}, {}, {}


class Catalog:
    """The workflows of one installation."""

    def __init__(self, places: Places, bring: Callable[[], object] = int) -> None:
        self._places = places
        self._bring = bring
        """Makes folders show what is kept elsewhere, before they are looked at."""
        self._cache = Cache()

    def look(self, workspace: Path | None = None) -> Listing:
        """Look at all sources now."""
        self._bring()
        warnings: list[Finding] = []
        files = [
            (source, stamp)
            for source in self._places.sources(workspace)
            for stamp in scan(source, warnings)
        ]
        self._cache.forget(len(files))
        return Listing(files, warnings, read_bindings(workspace, warnings), self._cache)

    def rivals(self, workspace: Path | None) -> list[Stamp]:
        """Return the files that can shadow a bundled one: all but the bundled (R3.5)."""
        self._bring()
        sources = self._places.sources(workspace)
        return [
            stamp
            for source in sources
            if source.kind is not SourceKind.BUNDLED
            for stamp in scan(source, [])
        ]


class Listing:
    """Everything the sources hold at one moment."""

    def __init__(
        self,
        files: Sequence[tuple[Source, Stamp]],
        warnings: Sequence[Finding],
        bindings: Mapping[str, Mapping[str, str]],
        cache: Cache,
    ) -> None:
        self._files = files
        self._warnings = list(warnings)
        self._bindings = bindings
        self._cache = cache
        self._unreadable: list[Invalid] = []
        self._refused: dict[str, list[Entry]] = {}
        self._all: list[Entry] = []
        self.entries: dict[str, Entry] = {}
        self._sort()

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """Sources that could not be read, files that are shadowed."""
        return ordered(self._warnings)

    @cached_property
    def library(self) -> Library:
        """The bundled routines, which templates can call."""
        return Library(
            {
                template_id(entry.workflow_id): entry.parsed.definition
                for entry in self.entries.values()
                if entry.source.kind is SourceKind.BUNDLED
                and entry.kind is WorkflowKind.ROUTINE
                and entry.parsed.definition is not None
                and not has_error(entry.parsed.findings)
            }
        )

    def workflows(
        self, *, kind: WorkflowKind | None = None, query: str | None = None
    ) -> tuple[Workflow, ...]:
        """Return what can run: legacy ids first, then by namespace, kind and id (R3.7)."""
        wanted = search.words(query or "")
        outcomes = ((entry, self.compile(entry)) for entry in self.entries.values())
        found = [
            one
            for entry, outcome in outcomes
            if (one := self._workflow(entry, outcome)) is not None
            and (kind is None or entry.kind is kind)
            and _says(one.definition, wanted)
        ]
        return tuple(
            sorted(
                found,
                key=lambda one: (
                    namespace_of(one.entry.workflow_id),
                    one.entry.kind is WorkflowKind.ROUTINE,
                    one.entry.workflow_id,
                ),
            )
        )

    @property
    def invalid(self) -> tuple[Invalid, ...]:
        """Return what cannot run, by file (R3.9)."""
        broken = [
            Invalid(entry.file, findings)
            for entry in (*self.entries.values(), *_flat(self._refused))
            if has_error(findings := self.findings(entry))
        ]
        return tuple(sorted((*self._unreadable, *broken), key=lambda one: one.file))

    def find(self, workflow_id: str) -> Entry:
        """Return the file that answers to an id or alias.

        Raises:
            RailsError: `WORKFLOW_NOT_FOUND` with the nearest ids, `WORKFLOW_INVALID` for a file
                that may not have the id it has.
        """
        for candidate in (workflow_id, f"{RESERVED}.{workflow_id}"):
            entry = self.entries.get(candidate)
            if entry is None:
                continue
            if candidate == workflow_id or entry.source.kind is SourceKind.BUNDLED:
                return entry
        refused = self._refused.get(workflow_id)
        if refused:
            raise _invalid(refused[0], self.findings(refused[0]))
        near = self._nearest(workflow_id)
        raise RailsError(
            "WORKFLOW_NOT_FOUND",
            f"there is no workflow `{workflow_id[:80]}`",
            f"Did you mean {' or '.join(near)}? list_workflows shows all."
            if near
            else "Call list_workflows to see what there is.",
            details={"nearest": near},
        )

    def load(self, workflow_id: str) -> Workflow:
        """Return the runnable workflow that answers to an id or alias.

        Raises:
            RailsError: `WORKFLOW_NOT_FOUND`, or `WORKFLOW_INVALID` with the findings.
        """
        entry = self.find(workflow_id)
        workflow = self._workflow(entry, self.compile(entry))
        if workflow is None:
            raise _invalid(entry, self.findings(entry))
        return workflow

    def compile(self, entry: Entry) -> Outcome:
        """Compile a file, once per state of it, of its bindings and of the routines."""
        chosen = self.bindings_of(entry.workflow_id)
        key = (entry.stamp, digest(dict(chosen)), self._library_key)
        outcome = self._cache.compiled.get(key)
        if outcome is None:
            outcome = compile_data(entry.parsed.data, library=self.library, bindings=chosen)
            self._cache.compiled[key] = outcome
        return outcome

    def findings(self, entry: Entry) -> tuple[Finding, ...]:
        """Return all findings about a file, those about its id and place included."""
        return ordered([*self.compile(entry).findings, *self._id_findings(entry)])

    def files_of(self, workflow_id: str) -> tuple[Entry, ...]:
        """Return every file with this id, used or not."""
        return tuple(one for one in self._all if one.workflow_id == workflow_id)

    def bindings_of(self, workflow_id: str) -> Mapping[str, str]:
        """Return what the workspace puts into the slots of a workflow."""
        return self._bindings.get(workflow_id, {})

    def _workflow(self, entry: Entry, outcome: Outcome) -> Workflow | None:
        findings = self.findings(entry)
        if outcome.compiled is None or outcome.definition is None or has_error(findings):
            return None
        key = (entry.stamp, digest(dict(outcome.compiled.bindings)), self._library_key)
        if key not in self._cache.hashes:
            self._cache.hashes[key] = workflow_hash(outcome.compiled)
        return Workflow(
            entry=entry,
            compiled=outcome.compiled,
            workflow_hash=self._cache.hashes[key],
            findings=findings,
            definition=outcome.definition,
        )

    @cached_property
    def _library_key(self) -> str:
        stamps = [
            [str(entry.stamp.path), entry.stamp.size, str(entry.stamp.mtime_ns)]
            for entry in self.entries.values()
            if entry.kind is WorkflowKind.ROUTINE and entry.source.kind is SourceKind.BUNDLED
        ]
        return digest(sorted(stamps))

    def _sort(self) -> None:
        """Decide which file answers to which id (R3.5)."""
        by_source: dict[Source, dict[str, list[Entry]]] = {}
        for source, stamp in self._files:
            entry = self._entry(source, stamp)
            if entry is not None:
                self._all.append(entry)
                by_source.setdefault(source, {}).setdefault(entry.workflow_id, []).append(entry)
        for source, ids in by_source.items():
            for workflow_id, entries in ids.items():
                self._place(source, workflow_id, entries)
        self._suggest()

    def _place(self, source: Source, workflow_id: str, entries: list[Entry]) -> None:
        foreign = namespace_of(workflow_id) == RESERVED and source.kind is not SourceKind.BUNDLED
        if foreign or id_status(workflow_id) is None:
            self._refused.setdefault(workflow_id, []).extend(entries)
            return
        winner = self.entries.get(workflow_id)
        if winner is not None:
            for entry in entries:
                message = f"{entry.file} is not used: {winner.file} has the same id"
                self._warnings.append(warning("WW_SHADOWED", "/id", message))
            return
        self.entries[workflow_id] = entries[0]
        if len(entries) > 1:
            self._refused.setdefault(workflow_id, []).extend(entries[1:])

    def _entry(self, source: Source, stamp: Stamp) -> Entry | None:
        parsed = self._parsed(stamp)
        ref = stamp.path.relative_to(source.root).as_posix()
        if parsed.definition is None:
            findings = parsed.findings
            self._unreadable.append(Invalid(f"{source.name}:{ref}", findings))
            return None
        return Entry(
            workflow_id=parsed.definition.id, source=source, ref=ref, stamp=stamp, parsed=parsed
        )

    def _parsed(self, stamp: Stamp) -> Parsed:
        parsed = self._cache.parsed.get(stamp)
        if parsed is None:
            parsed = self._cache.parsed[stamp] = read_file(stamp)
        return parsed

    def _suggest(self) -> None:
        """Work out the suggestions, each free of the ids that exist and of earlier ones."""
        taken = {one for one in self.entries if id_status(one) is IdStatus.NAMESPACED}
        self._suggestions: dict[str, str] = {}
        for entry in sorted(
            (*self.entries.values(), *_flat(self._refused)), key=lambda one: one.file
        ):
            foreign = namespace_of(entry.workflow_id) == RESERVED
            legacy = id_status(entry.workflow_id) is not IdStatus.NAMESPACED
            if legacy or (foreign and entry.source.kind is not SourceKind.BUNDLED):
                proposal = suggested_id(
                    entry.workflow_id,
                    entry.source.kind,
                    entry.ref,
                    namespace=entry.source.namespace,
                    taken=taken,
                )
                taken.add(proposal)
                self._suggestions[entry.file] = proposal

    def suggestion(self, entry: Entry) -> str | None:
        """Return the namespaced id a file should get, None when it has one (R1.7)."""
        return self._suggestions.get(entry.file)

    def _id_findings(self, entry: Entry) -> tuple[Finding, ...]:
        findings = Findings()
        suggestion = self.suggestion(entry) or ""
        check_id(entry.workflow_id, entry.source.kind, findings, suggestion=suggestion)
        twins = [
            one.file
            for one in (
                self.entries.get(entry.workflow_id),
                *self._refused.get(entry.workflow_id, ()),
            )
            if one is not None and one.source == entry.source and one.file != entry.file
        ]
        if twins:
            message = f"`{entry.workflow_id}` is also the id of {', '.join(sorted(twins))}"
            findings.error("WF_ID_DUPLICATE", "/id", message)
        return findings.all

    def _nearest(self, workflow_id: str) -> list[str]:
        found: list[str] = []
        known = {one: one for one in self.entries} | {
            one.rpartition(".")[2]: one for one in self.entries
        }
        left = dict(known)
        while len(found) < 3 and (near := nearest(workflow_id, left)) is not None:
            if left[near] not in found:
                found.append(left[near])
            del left[near]
        return found


def _says(definition: Definition, wanted: Collection[str]) -> bool:
    """Say whether every word stands in what a workflow says of itself, be it as part of one."""
    parts = (definition.id, definition.name, definition.description, *definition.tags)
    text = "\n".join(parts)
    known, plain = search.Text(text), search.plain(text)
    return all(known.says(word) or word in plain for word in wanted)


def _invalid(entry: Entry, findings: Sequence[Finding]) -> RailsError:
    """Return the refusal of a file that is there and cannot run, with the reason."""
    found = [one for one in findings if one.severity is Severity.ERROR]
    first = found[0]
    fix = f" {first.fix}" if first.fix else ""
    return RailsError(
        "WORKFLOW_INVALID",
        f"`{entry.workflow_id}` ({entry.file}) has {len(found)} error(s), first {first.code} at"
        f" {first.pointer or 'the top'}: {first.message}",
        f"Correct {entry.file}.{fix} `backshop workflow validate` shows every finding.",
        details={"findings": [_brief(one) for one in found[:10]]},
    )


def _flat(groups: Mapping[str, Sequence[Entry]]) -> Iterator[Entry]:
    for entries in groups.values():
        yield from entries


def _brief(finding: Finding) -> dict[str, str]:
    return {"code": finding.code, "pointer": finding.pointer, "message": finding.message[:300]}
