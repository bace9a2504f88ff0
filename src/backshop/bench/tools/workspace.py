"""A bench as tools see it: reads from the active view, writes to the Draft and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from backshop.base import paths, tree
from backshop.base.canon import canonical
from backshop.base.errors import BackshopError, NotFound, ValidationFailed
from backshop.base.ids import TreeId
from backshop.base.paths import BenchPath
from backshop.bench.answers import Batched
from backshop.bench.audit.note import note
from backshop.bench.draft import batch
from backshop.bench.repository import Commit
from backshop.bench.review.effect import ERRORS_LISTED, SPELLING
from backshop.bench.service import Bench
from backshop.bench.state import BenchState
from backshop.formats import NOTED, Applied, FormatError, Source, for_people, named_files
from backshop.prompts import ToolResult

REFUSALS_NOTED = 20  # of one caller
_SHOWN_CHARS = 200
_NEAR = 3
_ALIKE = 0.6  # of 1: how like a path must be to be named
_PREFIXES = ("./", "draft/", "published/")
VERSIONS = ("published", "draft")
NO_DRAFT = "no_draft"
Make = Callable[[Source | None, Path], Applied]


@dataclass(frozen=True, slots=True)
class Workspace:
    """One bench for one caller. `author` says who writes; a Draft opens with the first write."""

    bench: Bench
    bench_id: str
    author: batch.Author
    commit: Commit | None = None
    """How a batch is committed, where more than the batch belongs to the same moment."""
    sight: Callable[[], int] | None = field(default=None, kw_only=True)
    """Refuses a picture where no more are to be shown, else says how many may follow (W26.4)."""
    refused_paths: list[str] = field(default_factory=list, kw_only=True)
    """What was refused as a path, as far as it is noted."""

    def require_sight(self) -> int | None:
        """Return how many pictures may follow one, None where nobody counts them.

        Raises:
            LimitExceeded: as many were shown as are to be.
        """
        return None if self.sight is None else self.sight()

    def state(self) -> BenchState:
        """Return the bench as it is now."""
        return self.bench.desk.state(self.bench_id)

    def path(self, raw: str) -> tuple[BenchPath, list[str]]:
        """Return the bench path a caller means, and warnings about what was forgiven (W7.5)."""
        warnings: list[str] = []
        for prefix in _PREFIXES:
            folder = prefix.rstrip("/")
            if raw.startswith(prefix) and not (folder != "." and self._has_folder(folder)):
                raw = raw[len(prefix) :]
                warnings.append("path_normalised")
        try:
            return paths.bench_path(raw), warnings
        except ValidationFailed as error:
            self._refused(raw, error)
            raise

    def _refused(self, raw: str, error: ValidationFailed) -> None:
        """Note a path that is none; a caller that goes on and on is noted so often (B4.10)."""
        if len(self.refused_paths) < REFUSALS_NOTED:
            shown = raw[:_SHOWN_CHARS].encode(errors="replace").decode()
            self.refused_paths.append(shown)
            desk, actor = self.bench.desk, self.author.actor
            note(desk, self.bench_id, "tool_refused", paths=[shown], error=error, actor=actor)

    def source(self, raw: str, version: str | None = None) -> Source:
        """Return a file, ready to be read: of the active view, or of the version that is named."""
        path, _ = self.path(raw)
        try:
            return self.file(path, self.bench.desk.find(self._tree(version), path))
        except NotFound as error:
            if error.reason != NO_DRAFT:
                error.hints = error.hints or self.near(path)
            raise

    def named(self, operations: Any) -> dict[str, Source]:
        """Return the files that operations name beside the one they change, ready to be read."""
        found = {}
        for raw, where in named_files(operations).items():
            try:
                found[raw] = self.source(raw)
            except BackshopError as error:
                error.detail = f"{where}: {error.detail}" if error.detail else where
                raise
        return found

    def _tree(self, version: str | None) -> TreeId:
        """Return the tree that a version means; without one it is that of the active view."""
        state = self.state()
        if version is None:
            return _active(state)
        if version not in VERSIONS:
            error = ValidationFailed("version is published or draft", reason="bad_value")
            error.hints = VERSIONS
            raise error
        if version == "published":
            return state.published
        if state.draft is None:
            raise NotFound("this workbench has no Draft", reason=NO_DRAFT)
        return state.draft.tree

    def look(
        self,
        raw: str,
        ask: Callable[[Source], Mapping[str, Any]],
        version: str | None = None,
    ) -> dict[str, Any]:
        """Return what a format says about a file, and what was forgiven."""
        return noted(dict(ask(self.source(raw, version))), raw, self.path(raw)[1])

    def near(self, path: str) -> tuple[str, ...]:
        """Return the paths a typing mistake may have meant, the closest first (F3.1)."""
        names = [str(name) for name in self.entries()]
        return tuple(get_close_matches(path, names, n=_NEAR, cutoff=_ALIKE))

    def entries(self) -> dict[BenchPath, tree.File]:
        """Return every file of the active view."""
        return self.bench.desk.entries(_active(self.state()))

    def write(self, raw: str, make: Make, note: str | None) -> dict[str, Any]:
        """Let a format write a file from what the active view holds, and record it as a batch.

        The writer gets a private folder; what it wrote is verified by the format and becomes one
        atomic change of the Draft. A failure leaves the Draft byte for byte as it was (B8.3).
        """
        path, warnings = self.path(raw)
        desk = self.bench.desk
        with desk.locked(self.bench_id, run=self.author.lease, lost_ok=True) as state:
            put, result = self._put(state, path, make, note)
            done = batch.write(desk, self.bench_id, state, [put], self.author, self.commit)
        answer = noted(result, raw, [*warnings, *done.warnings])
        same = {"no_changes": True} if done.no_changes else {}
        return answer | same | {"draft_revision_id": done.draft_revision_id}

    def write_all(
        self, wishes: Sequence[tuple[str, Make, str | None]]
    ) -> tuple[Batched, list[dict[str, Any]]]:
        """Let formats write several files (path, writer, note) and record them as one batch.

        Returns the batch, and what each writer says it did.
        """
        found = [(self.path(raw)[0], make, note) for raw, make, note in wishes]
        desk = self.bench.desk
        with desk.locked(self.bench_id, run=self.author.lease, lost_ok=True) as state:
            made = [self._put(state, path, make, note) for path, make, note in found]
            puts = [put for put, _ in made]
            done = batch.write(desk, self.bench_id, state, puts, self.author, self.commit)
        return done, [result for _, result in made]

    def write_those(
        self,
        paths: Sequence[BenchPath],
        make: Callable[[Source, Path], Applied | None],
        note: str | None,
        check: Callable[[Sequence[Applied]], None],
    ) -> tuple[Batched, list[Applied]]:
        """Let formats write those of some files that need it, and record them as one batch.

        `make` gives nothing for a file that stays; `check` may still refuse what was made, and
        then nothing is recorded. Limits are those of every batch (B8.4).
        """
        desk = self.bench.desk
        with desk.locked(self.bench_id, run=self.author.lease, lost_ok=True) as state:
            made: list[Applied] = []
            puts: list[batch.Put] = []
            for path in paths:
                source = self.file(path, desk.find(_active(state), path))
                with desk.views.staging(state.id, desk.new_tx()) as folder:
                    applied = make(source, folder / "out")
                    if applied is not None:
                        made.append(applied)
                        puts.append(self._kept(path, folder / "out", applied, note))
                batch.require_limits(desk, puts)
            check(made)
            done = batch.write(desk, self.bench_id, state, puts, self.author, self.commit)
        return done, made

    def take_back(self, raw: str) -> dict[str, Any]:
        """Take back the Draft's change of one file, as a batch of its own (B8.23)."""
        path, warnings = self.path(raw)
        desk = self.bench.desk
        with desk.locked(self.bench_id, run=self.author.lease, lost_ok=True) as state:
            draft = state.draft
            if draft is None:
                raise NotFound("this workbench has no Draft", reason="no_draft")
            put = batch.taken_back(desk, draft, path)
            done = batch.write(desk, self.bench_id, state, [put], self.author, self.commit)
        became = "unchanged" if done.no_changes else "removed" if put.blob is None else "restored"
        answer = {"path": path, "became": became, "draft_revision_id": done.draft_revision_id}
        return noted(answer, raw, [*warnings, *done.warnings])

    def _kept(self, path: BenchPath, out: Path, applied: Applied, note: str | None) -> batch.Put:
        """Keep what a format wrote, with its report, for a batch."""
        blobs = self.bench.desk.store.blobs
        blob = blobs.put(out)
        return batch.Put(
            path=path,
            blob=blob,
            size=blobs.size(blob),
            note=_note(note, applied),
            effects=_report(applied),
        )

    def _put(
        self, state: BenchState, path: BenchPath, make: Make, note: str | None
    ) -> tuple[batch.Put, dict[str, Any]]:
        """Let a format write one file into a private folder; its content, and what was done."""
        desk = self.bench.desk
        existing = tree.lookup(_active(state), path, desk.store.load_tree)
        source = None if existing is None else self.file(path, existing)
        with desk.views.staging(state.id, desk.new_tx()) as folder:
            out = folder / "out"
            try:
                applied = make(source, out)
            except FormatError as error:
                if source is None and error.reason == "not_found":
                    error.hints = (*self.near(path), *error.hints)
                raise
            put = self._kept(path, out, applied, note)
        return put, dict(applied.told())

    def file(self, path: str, file: tree.File) -> Source:
        """Return a file of any tree of the bench, ready to be read."""
        blob = self.bench.desk.store.blobs.path(file.sha256)
        return self.bench.formats.source(blob, path, file.sha256)

    def _has_folder(self, name: str) -> bool:
        return any(path.startswith(f"{name}/") for path in self.entries())


def _active(state: BenchState) -> TreeId:
    return state.published if state.draft is None else state.draft.tree


def _note(given: str | None, applied: Applied) -> str | None:
    """Return what a write says it did, and what a reader of the file would not see (B13.2)."""
    said = [given] if given else [for_people(text) for _, text in applied.changes]
    said += [one.where for one in applied.warnings if one.code in NOTED and one.where]
    return "; ".join(said) or None


def _report(applied: Applied) -> bytes:
    """Return what the review keeps of a write: effects, new errors, formulas without result.

    `settled` are the cells that got another content or result, as ranges (F16.13, F24.10, F24.15).
    """
    result: Mapping[str, Any] = applied.to_json()
    effects = dict(result.get("effects") or {})
    errors = result.get("new_errors") or ()
    listed = [f"{one.get('sheet')}!{one.get('cell')}" for one in errors]
    effects["new_errors"] = listed[:ERRORS_LISTED]
    effects["totals"] = {**(effects.get("totals") or {}), "new_errors": len(listed)}
    told = applied.effects.told
    effects["settled"] = [
        one.where for one in (*told.changed, *told.recalculated) if one.kind == "cell"
    ]
    left = (result.get("recalculated") or {}).get("uncomputed")
    if left:
        effects["uncomputed"] = left
    effects |= SPELLING
    return canonical(json.loads(json.dumps(effects, default=list)))


def noted(result: dict[str, Any], raw: str, codes: Sequence[str]) -> dict[str, Any]:
    """Add warnings about a path, and about folders (B3.12), to what a format answered."""
    if not codes:
        return result
    found = result.get("warnings")
    more = [{"code": code, "count": 1, "where": raw} for code in codes]
    return {**result, "warnings": [*(found if isinstance(found, list) else []), *more]}


def answered(work: Callable[[], Any], message: str = "") -> ToolResult:
    """Run a tool's work; what is refused comes back as an answer the model can act on."""
    try:
        return ToolResult(ok=True, message=message, value=work())
    except FormatError as error:
        return refused(error.reason or "failed", error)
    except NotFound as error:
        return refused(NO_DRAFT if error.reason == NO_DRAFT else "not_found", error)
    except BackshopError as error:
        return refused(error.reason or error.code.lower(), error)


def refused(code: str, error: BackshopError) -> ToolResult:
    """Return a refusal with the hints that help to correct the call."""
    value: dict[str, Any] = {"error_code": error.code, "reason": code}
    if error.detail:
        value["detail"] = error.detail
    if error.hints:
        value["hints"] = list(error.hints)
    return ToolResult.failure(code, error.message, value)
