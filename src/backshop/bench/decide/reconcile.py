"""Rules for a Draft whose Published moved: take theirs, ours or both, and go on (B9.16)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from backshop.base import tree
from backshop.base.errors import NotFound, ValidationFailed
from backshop.base.ids import RevisionId, TreeId
from backshop.base.paths import BenchPath, bench_path, collision_key
from backshop.bench.errors import PublishedChanged
from backshop.bench.events import BenchEvent, CheckpointCreated, DraftRebased, PublishedAdopted
from backshop.bench.state import BenchState

from .refuse import Totals, require_draft, require_room

KEEP = ("theirs", "ours", "both")
CHOICES = tuple(f"keep_{word}" for word in KEEP)  # of a refused publish


@dataclass(frozen=True, slots=True)
class Three:
    """One path on three sides: when the Draft began, now in Published, in the Draft."""

    path: BenchPath
    base: tree.File | None
    theirs: tree.File | None
    ours: tree.File | None

    @property
    def clashes(self) -> bool:
        """Whether both sides changed it, differently."""
        return self.ours != self.base and self.ours != self.theirs


@dataclass(frozen=True, slots=True)
class Settled:
    """What becomes of one path; `copy_path` is where our version is kept beside theirs."""

    path: BenchPath
    keep: str
    copy_path: BenchPath | None = None


def settle(
    paths: Sequence[Three],
    keep: str,
    choices: Mapping[BenchPath, str],
    taken: Sequence[BenchPath],
) -> tuple[list[Settled], dict[BenchPath, tree.File | None]]:
    """Decide each path; return what was decided and what changes in the Draft.

    What only they changed comes along, unless ours is asked for. Both versions are kept only where
    there are two: theirs stays where it is, ours gets a name of its own.
    """
    strange = [path for path in choices if path not in {one.path for one in paths}]
    if strange:
        raise NotFound("nobody else changed this path", reason="not_found", detail=strange[0])
    for word in (keep, *choices.values()):
        if word not in KEEP:
            raise ValidationFailed("keep theirs, ours or both", reason="bad_params", hints=KEEP)
    names = {collision_key(path) for path in taken}
    settled: list[Settled] = []
    files: dict[BenchPath, tree.File | None] = {}
    for one in paths:
        wish = choices.get(one.path, keep)
        if wish == "both" and (not one.clashes or one.ours is None):
            wish = "theirs"
        elif wish == "both" and one.theirs is None:
            wish = "ours"
        copy = None
        if wish != "ours":
            files[one.path] = one.theirs
        if wish == "both":
            copy = next(name for name in _copies(one.path) if collision_key(name) not in names)
            names.add(collision_key(copy))
            files[copy] = one.ours
        settled.append(Settled(one.path, wish, copy))
    return settled, files


@dataclass(frozen=True, slots=True, kw_only=True)
class RebaseWish:
    """A Draft put on what Published is now; its tree is built and stored."""

    built_on: tuple[TreeId, TreeId]
    """Published and Draft this was decided on."""
    published: TreeId
    tree: TreeId
    after: Totals
    adopted: PublishedAdopted | None
    checkpoint: CheckpointCreated | None
    paths: tuple[BenchPath, ...]


def rebase(state: BenchState, wish: RebaseWish, revision_id: RevisionId) -> list[BenchEvent]:
    """Take what others did into Published, and let the Draft begin from there (B9.16)."""
    draft = require_draft(state)
    if wish.built_on != (state.published, draft.tree):
        raise PublishedChanged("the files changed while this was decided", reason="batch_stale")
    require_room(state, wish.after, len(wish.paths))
    taken: list[BenchEvent] = []
    if wish.adopted is not None and wish.checkpoint is not None:
        taken = [wish.checkpoint, wish.adopted]
    return [
        *taken,
        DraftRebased(
            draft_id=draft.draft_id,
            base_tree=wish.published,
            base_generation=state.generation + bool(taken),
            tree=wish.tree,
            revision_id=revision_id,
            paths=wish.paths,
        ),
    ]


def _copies(path: BenchPath) -> Iterator[BenchPath]:
    folder, slash, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    if not stem:
        stem, dot, ending = name, "", ""
    yield bench_path(f"{folder}{slash}{stem} (draft){dot}{ending}")
    for number in range(2, 100_000):
        yield bench_path(f"{folder}{slash}{stem} (draft {number}){dot}{ending}")
