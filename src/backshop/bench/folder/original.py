"""The person's own files that copies came from, and results written back to them (B26).

Each is exchanged with what is there only if that is still what was copied in; what became of it is
a fact of the bench. Whoever is killed on the way leaves every file old or new, and whoever comes
next goes on.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path, PurePosixPath

from backshop.base import tree
from backshop.base.errors import NotFound, ValidationFailed
from backshop.base.paths import BenchPath, bench_path
from backshop.store import file_error

from .. import requests
from ..answers import Done, WrittenBack, WroteBack
from ..events import OriginalsBound, OriginalWritten
from ..files.source import given_path
from ..repository import BenchRepository
from ..state import BenchState, OriginalFile
from ..values import Original
from .exchange import Keep, Wish, exchange_file


def bind(desk: BenchRepository, request: requests.WorkbenchBindOriginals) -> Done:
    """Remember where results go back to; what Published holds now is what was copied in.

    Raises:
        NotFound: Published has no such path.
        ValidationFailed: `bad_destination`, a target is not absolute or lies inside the home.
    """
    state = desk.state(request.workbench_id)
    home = desk.store.home.resolve()
    bound = []
    for one in request.originals:
        target, path = given_path(one.target), bench_path(one.path)
        if not target.is_absolute() or target.resolve().is_relative_to(home):
            raise ValidationFailed(
                "an original is a file outside the home, by its whole path",
                reason="bad_destination",
            )
        sha256 = desk.find(state.published, path).sha256
        bound.append(Original(path=path, target=str(target), sha256=sha256))
    fact = OriginalsBound(originals=tuple(bound))
    done = desk.commit(request.workbench_id, lambda _: [fact])
    return Done(warnings=done.warnings)


def write_back(desk: BenchRepository, request: requests.BenchRequest) -> WrittenBack:
    """Let the person's own files hold what is Published, one after the other.

    A file that Published has no more stays where it is. What was made here goes beside the
    originals, and replaces nothing.

    Raises:
        NotFound: `no_originals`, nobody said where results go back to.
        BenchBusy: an agent is at work.
    """
    with desk.locked(request.workbench_id) as state:
        if not len(state.originals):
            raise NotFound("this workbench has no originals", reason="no_originals")
        wanted = list(_wanted(desk, state))
    salvage = desk.views.salvage(state.id)
    done = []
    for path in wanted:
        with desk.locked(request.workbench_id) as now:
            one = original_of(now, path)
            file = tree.lookup(now.published, path, desk.store.load_tree)
            if file is None:
                continue

            found = _written(desk, now, path, one, file, partial(salvage.keep_open, path))
            done.append(found)
            _note(desk, now, found, file)
    return WrittenBack(files=tuple(done), salvaged=tuple(salvage.kept))


def original_of(state: BenchState, path: BenchPath) -> OriginalFile:
    """Return the file a path goes back to; of a path that was made here, the free place for it.

    That is where the nearest folder of the bench that has an original has it.
    """
    known = state.originals.get(path)
    if known is not None:
        return known
    folders: dict[PurePosixPath, set[str]] = {}
    for other, one in state.originals.items():
        above = PurePosixPath(other).parent
        folders.setdefault(above, set()).add(str(Path(one.target).parent))
    at, first = PurePosixPath(path), state.originals_folder
    for above in at.parents:
        if near := folders.get(above):
            folder = first if first in near else min(near)
            return OriginalFile(str(Path(folder) / at.relative_to(above)), None)
    return OriginalFile(str(Path(first) / at), None)


def _wanted(desk: BenchRepository, state: BenchState) -> Iterator[BenchPath]:
    """Yield the paths whose originals are not known to hold what is Published."""
    for path, file in desk.entries(state.published).items():
        known = state.originals.get(path)
        record = state.files.records.get(path)
        is_ours = record is not None and record.origin != "import"
        if known.sha256 != file.sha256 if known else is_ours:
            yield path


def _written(
    desk: BenchRepository,
    state: BenchState,
    path: BenchPath,
    one: OriginalFile,
    file: tree.File,
    keep: Keep,
) -> WroteBack:
    target = Path(one.target)
    wish = Wish(
        name=target.name,
        before=one.sha256,
        after=file.sha256,
        content=desk.store.blobs.path(file.sha256),
        mode=file.mode,
        owner=state.id,
    )
    try:
        if one.sha256 is None:
            target.parent.mkdir(parents=True, exist_ok=True)
        outcome = exchange_file(target, wish, keep)
    except OSError as error:
        detail = file_error(error).message
        return WroteBack(path=path, target=one.target, became="failed", detail=detail)
    return WroteBack(path=path, target=one.target, became=outcome.became.value)


def _note(desk: BenchRepository, state: BenchState, found: WroteBack, file: tree.File) -> None:
    """Let the bench know what became of a file, once."""
    fact = OriginalWritten(
        path=BenchPath(found.path),
        target=found.target,
        became=found.became,
        sha256=file.sha256 if found.is_done else None,
    )
    known = state.originals.get(found.path)
    if known is None or found.is_done or known.became != found.became:
        desk.commit(state.id, lambda _: [fact])
