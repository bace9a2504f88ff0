"""Changes of the Draft taken or left one by one; what remains is made anew from the set (B25).

A file of which changes are left out is Published's content with the others in it, whatever order
people chose them in: it is composed from the two contents and the set, never from what is there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from backshop.base import paths, tree
from backshop.base.errors import LimitExceeded, NotFound, ValidationFailed
from backshop.base.ids import BlobId, TreeId
from backshop.base.paths import BenchPath
from backshop.base.place import FILE, Place
from backshop.formats import GROUPS, ChangeUnit, Formats, Source, spelled, unit_id

from .. import decide, requests
from ..repository import BenchRepository
from ..review.change_set import offset_of, standing
from ..revision import Draft
from ..state import BenchState
from ..tree.difference import Change, Kept
from ..values import Selection
from .batch import PERSON, Put, write

PAGE_MAX = 5000
FILES_MAX = 500  # of one choice that names no file
_KEPT_UNITS = 32
_RENAMED = "the file was renamed: it is taken or left whole"
_CAME = "the file is new: it is taken or left whole"
_WENT = "the file is deleted: it is taken or left whole"
_OTHER_KIND = "what the file may be run as changed: it is taken or left whole"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeInfo:
    """One change that can be taken or left."""

    id: str
    kind: str
    group: str
    label: str
    is_left: bool
    place: Place | None = None
    place_text: str | None = None
    before: str | None = None
    after: str | None = None
    tied: str | None = None
    """Why it is not smaller; None where it is as small as it gets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCount:
    """How many changes of one sort there are, and how many of them are left out."""

    group: str
    count: int
    left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeList:
    """A page of the changes of one file; the counts are of all of them."""

    path: str
    changes: tuple[ChangeInfo, ...]
    total: int
    left_count: int
    groups: tuple[GroupCount, ...]
    tree: str
    """The Draft's files the list is about."""
    old_path: str | None = None
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChosen:
    """How many changes a file has, and how many are left out of it now."""

    path: str
    count: int
    left_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What was taken or left; `draft_revision_id` is what `DraftUndo` takes back."""

    draft_id: str
    draft_revision_id: str
    tree: str
    files: tuple[FileChosen, ...]
    no_changes: bool = False
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Whole:
    """A changed file with all its changes in, and which of them are left out now."""

    change: Change
    tree: TreeId
    units: tuple[ChangeUnit, ...]
    left: frozenset[str]

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(one.id for one in self.units)


class Selections:
    """Takes and leaves changes of Drafts."""

    def __init__(self, desk: BenchRepository, formats: Formats) -> None:
        self._desk = desk
        self._formats = formats
        self._units: Kept[tuple[str, str, str], tuple[ChangeUnit, ...]] = Kept(_KEPT_UNITS)

    def page(self, request: requests.ReviewListChanges) -> ChangeList:
        """Return the changes of one file, and which of them are left out."""
        if not 1 <= request.limit <= PAGE_MAX:
            raise ValidationFailed(f"a page has 1 to {PAGE_MAX} changes", reason="bad_params")
        draft = decide.require_draft(self._desk.state(request.workbench_id))
        found = self._whole(draft, paths.bench_path(request.path))
        start = offset_of(request.cursor)
        shown = found.units[start : start + request.limit]
        more = start + request.limit < len(found.units)
        return ChangeList(
            path=found.change.path,
            old_path=found.change.old_path,
            changes=tuple(_info(one, one.id in found.left) for one in shown),
            total=len(found.units),
            left_count=len(found.left),
            groups=_groups(found),
            tree=draft.tree,
            next_cursor=str(start + request.limit) if more else None,
        )

    def leave(self, request: requests.ChangeChoice) -> Chosen:
        """Leave changes out of the Draft."""
        return self._choose(request, is_leaving=True)

    def take(self, request: requests.ChangeChoice) -> Chosen:
        """Take changes into the Draft again that were left out."""
        return self._choose(request, is_leaving=False)

    def left(self, draft: Draft) -> dict[BenchPath, tuple[ChangeInfo, ...]]:
        """Return the changes that the person left out of a Draft, file by file."""
        found = {}
        for path in (BenchPath(one) for one in sorted(draft.selections)):
            if standing(self._desk, draft, path) is not None:
                whole = self._whole(draft, path)
                units = (one for one in whole.units if one.id in whole.left)
                found[path] = tuple(_info(one, True) for one in units)
        return found

    # ------------------------------------------------------------ choosing

    def _choose(self, request: requests.ChangeChoice, *, is_leaving: bool) -> Chosen:
        _require_wish(request)
        decide.require_draft(self._desk.state(request.workbench_id))
        with self._desk.locked(request.workbench_id, lost_ok=True) as state:
            draft = decide.require_draft(state)
            puts: list[Put] = []
            files: list[FileChosen] = []
            for found in self._meant(draft, request):
                wanted = _wanted(found, request)
                left = found.left | wanted if is_leaving else found.left - wanted
                if left != found.left:
                    puts += self._puts(state, draft, found, left)
                    files.append(
                        FileChosen(
                            path=found.change.path, count=len(found.units), left_count=len(left)
                        )
                    )
            return self._written(request.workbench_id, state, puts, files)

    def _written(
        self, bench_id: str, state: BenchState, puts: Sequence[Put], files: Sequence[FileChosen]
    ) -> Chosen:
        if not puts:
            draft = decide.require_draft(state)
            return Chosen(
                draft_id=draft.draft_id,
                draft_revision_id=draft.revision_id,
                tree=draft.tree,
                files=(),
                no_changes=True,
            )
        done = write(self._desk, bench_id, state, puts, PERSON)
        draft = decide.require_draft(self._desk.state(bench_id))
        return Chosen(
            draft_id=draft.draft_id,
            draft_revision_id=draft.revision_id,
            tree=draft.tree,
            files=tuple(files),
            no_changes=done.no_changes,
            warnings=done.warnings,
        )

    def _meant(self, draft: Draft, request: requests.ChangeChoice) -> Iterator[_Whole]:
        if request.path is not None:
            yield self._whole(draft, paths.bench_path(request.path))
            return
        changed = [one.path for one in self._desk.compare.changes(draft.base_tree, draft.tree)]
        chosen = (BenchPath(one) for one in draft.selections)
        still = [path for path in chosen if standing(self._desk, draft, path) is not None]
        every = list(dict.fromkeys([*changed, *still]))
        if len(every) > FILES_MAX:
            raise LimitExceeded(
                f"the Draft changes {len(every)} files, at most {FILES_MAX} are chosen at once",
                reason="too_large",
            )
        for path in sorted(every):
            yield self._whole(draft, path)

    def _puts(
        self, state: BenchState, draft: Draft, found: _Whole, left: frozenset[str]
    ) -> list[Put]:
        """Return what makes a file what remains of its changes."""
        change = found.change
        names = (change.path,) if change.old_path is None else (change.path, change.old_path)
        if left in (found.ids, frozenset()):
            side = draft.base_tree if left else found.tree
            ends = [(name, self._file(side, name)) for name in names]
        else:
            ends = [(change.path, self._composed(state, found, left))]
        own = None if not ends else ends[0][1]
        selection = Selection(
            tree=found.tree,
            after=None if change.after is None else change.after.sha256,
            result=None if own is None else own.sha256,
            left_out=tuple(sorted(left)),
        )
        return [
            _put(path, file, selection if path == change.path else None)
            for path, file in ends
            if file is not None or self._file(draft.tree, path) is not None
        ]

    def _composed(self, state: BenchState, found: _Whole, left: frozenset[str]) -> tree.File:
        """Make the file with some of its changes; it is stored, and nothing else happens yet."""
        change = found.change
        assert change.before is not None
        assert change.after is not None
        before, after = (
            self._source(change.path, change.before),
            self._source(change.path, change.after),
        )
        with self._desk.views.staging(state.id, self._desk.new_tx()) as folder:
            out = folder / "out"
            self._formats.compose(before, after, left, out)
            size = out.stat().st_size
            return tree.File(self._desk.store.blobs.put(out), size, change.after.mode)

    # ------------------------------------------------------------ what there is

    def _whole(self, draft: Draft, path: BenchPath) -> _Whole:
        """Return a changed file with all its changes in.

        Raises:
            NotFound: the Draft changes nothing of it.
        """
        chosen = standing(self._desk, draft, path)
        side = draft.tree if chosen is None else chosen.tree
        change = self._desk.compare.find(draft.base_tree, side, path)
        if change is None:
            raise NotFound("the Draft does not change this path", reason="not_found")
        units = self._separated(change)
        known = {one.id for one in units}
        left = frozenset() if chosen is None else known.intersection(chosen.left_out)
        return _Whole(change=change, tree=side, units=units, left=frozenset(left))

    def _separated(self, change: Change) -> tuple[ChangeUnit, ...]:
        before, after = change.before, change.after
        if before is None or after is None:
            return (_file_unit(change, _CAME if before is None else _WENT),)
        if change.old_path is not None:
            return (_file_unit(change, _RENAMED),)
        if before.sha256 == after.sha256:
            return (_file_unit(change, _OTHER_KIND),)
        sides = self._source(change.path, before), self._source(change.path, after)
        return self._units.get(
            (change.path, before.sha256, after.sha256),
            lambda: tuple(self._formats.separate(*sides)),
        )

    def _file(self, tree_id: TreeId, path: BenchPath) -> tree.File | None:
        return tree.lookup(tree_id, path, self._desk.store.load_tree)

    def _source(self, path: str, file: tree.File) -> Source:
        blob = self._desk.store.blobs.path(file.sha256)
        return self._formats.source(blob, path, file.sha256)


def _require_wish(request: requests.ChangeChoice) -> None:
    if request.group is not None and request.group not in GROUPS:
        raise ValidationFailed(f"group is one of {', '.join(GROUPS)}", reason="bad_params")
    if request.ids is not None and request.path is None:
        raise ValidationFailed("changes are named together with their file", reason="bad_params")


def _wanted(found: _Whole, request: requests.ChangeChoice) -> frozenset[str]:
    """Return the changes of a file that a choice is about."""
    strange = [one for one in request.ids or () if one not in found.ids]
    if strange:
        raise NotFound(
            "the file has no such change", reason="change_not_found", detail=", ".join(strange[:20])
        )
    return frozenset(
        one.id
        for one in found.units
        if (request.ids is None or one.id in request.ids) and request.group in (None, one.group)
    )


def _put(path: BenchPath, file: tree.File | None, selection: Selection | None) -> Put:
    if file is None:
        return Put(path=path, blob=None, selection=selection)
    blob = BlobId(file.sha256)
    return Put(path=path, blob=blob, size=file.size, mode=file.mode, selection=selection)


def _file_unit(change: Change, tied: str) -> ChangeUnit:
    sides = [one and (one.sha256, one.mode) for one in (change.before, change.after)]
    return ChangeUnit(
        id=unit_id("file", change.old_path, change.path, *sides),
        kind="file",
        group="structure",
        label=change.path,
        place=None if change.after is None else FILE,
        tied=tied,
    )


def _info(unit: ChangeUnit, is_left: bool) -> ChangeInfo:
    return ChangeInfo(
        id=unit.id,
        kind=unit.kind,
        group=unit.group,
        label=unit.label,
        is_left=is_left,
        place=unit.place,
        place_text=None if unit.place is None else spelled(unit.place),
        before=unit.before,
        after=unit.after,
        tied=unit.tied,
    )


def _groups(found: _Whole) -> tuple[GroupCount, ...]:
    every = Counter(one.group for one in found.units)
    left = Counter(one.group for one in found.units if one.id in found.left)
    return tuple(
        GroupCount(group=group, count=every[group], left=left[group]) for group in _present(every)
    )


def _present(counts: Iterable[str]) -> list[str]:
    there = set(counts)
    return [group for group in GROUPS if group in there]
