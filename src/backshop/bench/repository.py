"""What every part of the bench stands on: states by id, one way to commit, one way to lock."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol

from backshop.base import ids, tree
from backshop.base.ambient import Clock, Mint
from backshop.base.errors import BackshopError, DiskFull, NotFound, ValidationFailed
from backshop.base.limits import REVISIONS_MAX
from backshop.base.paths import BenchPath
from backshop.formats import Formats
from backshop.store import (
    NOTHING_BESIDE,
    Beginning,
    Event,
    Fold,
    NewEvent,
    Pin,
    Store,
    StreamNotHealthy,
    Write,
)

from . import decide
from .answers import Names
from .decide import Totals
from .decide.retention import Needed, beyond_bytes, nothing_more
from .errors import BenchBusy, BenchDamaged
from .events import BenchEvent, CheckpointsPruned
from .fold import apply
from .settings import BenchSettings
from .state import BenchState
from .tree.difference import Comparer
from .tree.soundness import Damage, Soundness
from .view.copy import Copies
from .view.folder import Views

Announce = Callable[[str, str, Mapping[str, Any]], None]
"""Sends a signal about a bench: its id, the signal's name, its fields (W4.1)."""
Room = Callable[[str, int], None]
"""Refuses so many bytes more in Published of a bench when that is too much for its owner (T6.5)."""
Rule = Callable[[BenchState], Sequence[object]]
"""Decides facts of the bench; facts of the conversation may stand among them."""


def unheard(bench_id: str, name: str, payload: Mapping[str, Any]) -> None:
    """Nobody follows."""


_TOTALS_KEPT = 10_000
CONVERSATION = "workshop."
"""How the stored names of the conversation's facts begin; they live in the same stream."""
CALLS = ("consent.", "egress.", "model.", "provider.")
"""How those of calls to models begin, which are noted there too."""


def _apply(state: BenchState, event: Event) -> BenchState:
    if event.kind.startswith((CONVERSATION, *CALLS)):
        return state  # not even read: a process without those rooms does not know their facts
    fact = event.fact
    if not isinstance(fact, BenchEvent):
        return state  # an attempt that was noted
    return apply(replace(state, by=event.by), fact, event.at_ms, event.seq)


FOLD: Fold[BenchState] = Fold("bench", 10, BenchState(), _apply)


@dataclass(frozen=True, slots=True)
class Committed:
    """A change that stands; warnings say what went less well than asked."""

    state: BenchState
    warnings: tuple[str, ...] = ()


class BenchRepository:
    """Store, views, ids and clock of one home, as the bench uses them."""

    def __init__(
        self,
        store: Store,
        mint: Mint,
        clock: Clock,
        formats: Formats,
        settings: BenchSettings | None = None,
        *,
        announce: Announce = unheard,
        room: Room | None = None,
        names: Callable[[], Names] = dict,
    ) -> None:
        self.store = store
        self.settings = settings or BenchSettings()
        self.clock = clock
        self.compare = Comparer(store, formats)
        self.views = Views(store, clock, self.settings.full_view_max)
        self.soundness = Soundness(store)
        self.copies = Copies(store, self.views, self.state)
        store.blobs.heal_from(self.copies.of)
        self.announce = announce
        self.room = room
        self.names = names
        """What the people of the home are called; without them, nobody has a name."""
        self._mint = mint
        self._totals: dict[ids.TreeId, Totals] = {}

    # ------------------------------------------------------------ ids

    def new_bench(self) -> ids.BenchId:
        """Return a fresh id; so do the methods below, each of its kind."""
        return ids.BenchId(self._mint.new("wb"))

    def new_file(self) -> ids.FileId:
        """Return a file identity."""
        return ids.FileId(self._mint.new("file"))

    def new_checkpoint(self) -> ids.CheckpointId:
        """Return a checkpoint id."""
        return ids.CheckpointId(self._mint.new("cp"))

    def new_message(self) -> ids.MessageId:
        """Return the id of a conversation record."""
        return ids.MessageId(self._mint.new("msg"))

    def new_comment(self) -> ids.CommentId:
        """Return a comment id."""
        return ids.CommentId(self._mint.new("cmt"))

    def new_revision(self) -> ids.RevisionId:
        """Return a revision id."""
        return ids.RevisionId(self._mint.new("rev"))

    def new_batch(self) -> decide.BatchIds:
        """Return the ids a batch may need."""
        return decide.BatchIds(
            batch=ids.BatchId(self._mint.new("batch")),
            draft=ids.DraftId(self._mint.new("draft")),
            opening=self.new_revision(),
            revision=self.new_revision(),
        )

    def new_tx(self) -> str:
        """Return a transaction id."""
        return self._mint.new("tx")

    # ------------------------------------------------------------ reading

    def state(self, bench_id: str) -> BenchState:
        """Return the bench as it is now.

        Raises:
            NotFound: there is none, or it lies in the trash.
        """
        state = self.raw_state(bench_id)
        decide.require_exists(state)
        return state

    def raw_state(self, bench_id: str) -> BenchState:
        """Return the state even of a bench in the trash."""
        return raw_state(self.store, bench_id)

    def entries(self, tree_id: ids.TreeId) -> dict[BenchPath, tree.File]:
        """Return every file of a tree."""
        return dict(tree.walk(tree_id, self.store.load_tree))

    def find(self, tree_id: ids.TreeId, path: BenchPath) -> tree.File:
        """Return one file of a tree.

        Raises:
            NotFound: with the path that was probably meant.
        """
        found = tree.lookup(tree_id, path, self.store.load_tree)
        if found is None:
            near = tree.similar(tree_id, path, self.store.load_tree)
            raise NotFound("there is no such file", reason="not_found", hints=tuple(near))
        return found

    def require_free(self, tree_id: ids.TreeId, path: BenchPath) -> None:
        """Refuse a path that is taken by exactly this spelling; others the tree refuses (B4.4)."""
        if tree.lookup(tree_id, path, self.store.load_tree) is not None:
            raise ValidationFailed(
                "a file of this name is there already", reason="path_collision", detail=path
            )

    def totals(self, state: BenchState) -> Totals:
        """Return how much Published holds."""
        return Totals(len(state.files.records), state.files.total_bytes)

    def totals_after(self, state: BenchState, tree_id: ids.TreeId) -> Totals:
        """Return how much a tree holds that differs a little from Published."""
        known = self._totals.get(tree_id)
        if known is not None:
            return known
        changes = tree.diff(state.published, tree_id, self.store.load_tree)
        return self._summed(self.totals(state), ((c.before, c.after) for c in changes), tree_id)

    def totals_with(
        self,
        state: BenchState,
        base: ids.TreeId,
        files: Mapping[BenchPath, tree.File | None],
        built: ids.TreeId,
    ) -> Totals:
        """Return how much a tree holds that was built from another one with these files."""
        before = (tree.lookup(base, path, self.store.load_tree) for path in files)
        pairs = zip(before, files.values(), strict=True)
        return self._summed(self.totals_after(state, base), pairs, built)

    def _summed(
        self,
        start: Totals,
        pairs: Iterable[tuple[tree.File | None, tree.File | None]],
        tree_id: ids.TreeId,
    ) -> Totals:
        """Add what came and take off what went; remembered, so that a batch costs its own size."""
        count, size = start.files, start.bytes
        for before, after in pairs:
            count += (after is not None) - (before is not None)
            size += (after.size if after else 0) - (before.size if before else 0)
        if len(self._totals) >= _TOTALS_KEPT:
            self._totals.clear()
        self._totals[tree_id] = Totals(count, size)
        return Totals(count, size)

    # ------------------------------------------------------------ writing

    def require_disk(self, size_bytes: int = 0) -> None:
        """Refuse before anything is written when the disk is as good as full (B3.10)."""
        need = size_bytes + self.settings.disk_reserve_bytes
        free = shutil.disk_usage(self.store.home).free
        if free < need:
            raise DiskFull(
                "there is too little room on the disk",
                reason="disk_full",
                detail=f"need={need} free={free}",
            )

    def require_room(self, bench_id: str, state: BenchState, facts: Sequence[object]) -> None:
        """Refuse facts that bring more into Published than its owner may store (T6.5).

        It is asked before the append, which holds no other bench: two at the same moment may pass.
        """
        if self.room is not None:
            after = decide.with_facts(state, [one for one in facts if isinstance(one, BenchEvent)])
            self.require_growth(bench_id, after.files.total_bytes - state.files.total_bytes)

    def require_growth(self, bench_id: str, more_bytes: int) -> None:
        """Refuse so many bytes more in Published if its owner may not store them."""
        if self.room is not None and more_bytes > 0:
            self.room(bench_id, more_bytes)

    @contextmanager
    def locked(
        self,
        bench_id: str,
        *,
        run: str | None = None,
        damaged_ok: bool = False,
        lost_ok: bool = False,
    ) -> Iterator[BenchState]:
        """Hold the bench and give its state.

        With `lost_ok` single contents may be lost: the command is about other files, or fails
        where it needs one of them.

        Raises:
            BenchBusy: another run has the lease (B3.8).
            BenchDamaged: contents are missing, and the command is not one that helps (B3.11).
        """
        self.state(bench_id)  # refuses before the lock makes a folder
        with self.views.locked(ids.BenchId(ids.check_id(bench_id, "wb"))):
            holder = self.store.leases.holder(stream_of(bench_id))
            if holder is not None and holder != run:
                raise BenchBusy("an agent is at work here", reason="turn_active")
            state = self.state(bench_id)
            if not damaged_ok:
                self.require_whole(state, lost_ok=lost_ok)
            yield state

    def require_whole(self, state: BenchState, *, lost_ok: bool = False) -> None:
        """Refuse a bench that lacks contents which no copy could heal (B3.11)."""
        lost = self.soundness.of_heads(state)
        if lost_ok:  # a list of files that is gone is more than one file
            lost = [one for one in lost if not one.path]
        if lost:
            raise damaged(lost)

    def lost_paths(self, state: BenchState) -> tuple[str, ...]:
        """Return the files of a bench whose contents cannot be had, at most so many."""
        return tuple(dict.fromkeys(one.path for one in self.soundness.of_heads(state) if one.path))

    def commit(
        self,
        bench_id: str,
        rule: Rule,
        *,
        blobs: Sequence[bytes] = (),
        keep: Sequence[ids.BlobId] = (),
        lease: str | None = None,
        beginning: Beginning = NOTHING_BESIDE,
    ) -> Committed:
        """Append what the rule decides as one transaction, then bring the folders along.

        `blobs` are stored with it; `keep` names those among them that no tree leads to. With a
        `lease` it is refused when the run lease has passed to somebody else. A bench that it
        makes has `beginning` beside it.
        """
        tx_id = self.new_tx()

        def write(state: BenchState) -> Write:
            return written(
                tx_id,
                state,
                rule(state),
                blobs=blobs,
                keep=keep,
                lease=lease,
                max_revisions=self.settings.max_revisions,
            )

        known = self.raw_state(bench_id)
        self.require_room(bench_id, known, rule(known))  # refuses before the lock makes a folder
        with self.views.locked(ids.BenchId(ids.check_id(bench_id, "wb"))):
            before = self.store.position(stream_of(bench_id))
            state, _done = self.store.update(stream_of(bench_id), FOLD, write, beginning=beginning)
            if self.store.position(stream_of(bench_id)) == before or not state.exists:
                return Committed(state)
            warnings = tuple(self.views.project(state))
            return Committed(self._capped(bench_id, state), warnings)

    def _capped(self, bench_id: str, state: BenchState) -> BenchState:
        """Let checkpoints go that keep more bytes than the person wants kept (B10.6)."""
        most = self.settings.checkpoint_max_bytes
        if most is None or not state.checkpoints:
            return state

        def write(now: BenchState) -> Write:
            return written(self.new_tx(), now, [fact])

        try:
            gone = beyond_bytes(state, self.store.load_tree, most)
            if not gone:
                return state
            fact = CheckpointsPruned(checkpoint_ids=tuple(gone), reason="bytes")
            return self.store.update(stream_of(bench_id), FOLD, write)[0]
        except (BackshopError, ValueError):
            # what was asked for stands; a damaged checkpoint, or a store that is full just now,
            # only means that nothing is let go this time
            return state

    def grow(self, base: ids.TreeId, changes: dict[BenchPath, tree.File | None]) -> tree.Built:
        """Return a changed tree; its new nodes are stored with the commit."""
        return tree.change(base, changes, self.store.load_tree)


def damaged(lost: Sequence[Damage]) -> BenchDamaged:
    """Return the error for contents that cannot be had."""
    return BenchDamaged(
        "contents of this workbench are missing or altered",
        reason=lost[0].reason,
        detail=", ".join(one.path for one in lost if one.path),
    )


class Commit(Protocol):
    """A way to commit what a rule decides: the desk's own, or one that adds facts to it."""

    def __call__(
        self,
        bench_id: str,
        rule: Rule,
        *,
        blobs: Sequence[bytes] = (),
        keep: Sequence[ids.BlobId] = (),
        lease: str | None = None,
    ) -> Committed:
        """Append, then bring the folders along."""
        ...


def written(
    tx_id: str,
    state: BenchState,
    facts: Sequence[object],
    *,
    blobs: Sequence[bytes] = (),
    keep: Sequence[ids.BlobId] = (),
    lease: str | None = None,
    max_revisions: int = REVISIONS_MAX,
    needed: Needed = nothing_more,
) -> Write:
    """Return what a bench's stream gets for these facts: with retention, and the pins they need.

    Facts of the conversation may stand among them; they pin nothing. `needed` names revisions that
    stay.
    """
    after = decide.with_facts(state, [one for one in facts if isinstance(one, BenchEvent)])
    pruned = decide.prune(after, max_revisions, needed)
    after = decide.with_facts(after, pruned)
    events = [NewEvent(fact, f"{tx_id}:{number}") for number, fact in enumerate([*facts, *pruned])]
    fresh, stale = decide.pins(state, after)
    pins = [Pin(ref, "tree") for ref in fresh] + [Pin(ref, "review") for ref in keep]
    return Write(events, pins, blobs, lease, stale)


def raw_state(store: Store, bench_id: str) -> BenchState:
    """Return the state of a bench, even of one in the trash.

    Raises:
        BenchDamaged: its log cannot be read.
    """
    try:
        return store.state(stream_of(bench_id), FOLD)
    except StreamNotHealthy as error:
        raise BenchDamaged(error.message, reason=error.reason) from error


def published_bytes(store: Store, bench_id: str) -> int:
    """Return how much Published holds, also in the trash; of a damaged bench nobody knows."""
    try:
        return raw_state(store, bench_id).files.total_bytes
    except BenchDamaged:
        return 0


def stream_of(bench_id: str) -> str:
    """Return the stream of a bench; the id is checked first."""
    return f"bench:{ids.check_id(bench_id, 'wb')}"
