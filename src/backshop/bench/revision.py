"""What the Draft was, revision by revision (B8.11).

Made for benches that are worked on for years: a further revision costs the same whatever came
before it. Those that can come back are few (B8.15) and in order; of the others only their places
are left, found by their id or by the record of the conversation they are bound to.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from backshop.base.acting import By
from backshop.base.ids import BlobId, DraftId, MessageId, RevisionId, TreeId
from backshop.base.paths import BenchPath
from backshop.base.pmap import PMap

from .comment import Comments
from .values import Import, PathChange, Selection, Source


@dataclass(frozen=True, slots=True)
class Correction:
    """A path the person reverted, deleted or renamed in the Draft, and the state before that."""

    before: RevisionId
    paths: tuple[BenchPath, ...]


@dataclass(frozen=True, slots=True)
class Round:
    """The person looked at the Draft and asked for changes of it (W24.1)."""

    message_id: MessageId
    tree: TreeId
    """What the Draft held when they looked."""
    at_ms: int
    is_question: bool = False
    """Whether they only asked about it: what changed since the look before is still new to them."""


@dataclass(frozen=True, slots=True)
class Draft:
    """The one changeable copy."""

    draft_id: DraftId
    base_tree: TreeId
    base_generation: int
    tree: TreeId
    revision_id: RevisionId
    source: Source
    created_ms: int
    activity_ms: int
    changes: PMap[PathChange] = field(default_factory=PMap)
    """The newest change of each path, for summaries and effect reports."""
    confirmed: PMap[BlobId] = field(default_factory=PMap)
    """Deletions the person agreed to: path → what is deleted."""
    brought: PMap[Import] = field(default_factory=PMap)
    """What the person put into its folder, whatever agents made of it since (B8.10, M4.6)."""
    writes: PMap[tuple[PathChange, ...]] = field(default_factory=PMap)
    """Every write to each path in its order, for the notes of all of them (B13.2)."""
    correction: Correction | None = None
    """What the person did to it by hand last, if nothing came after that (B8.22)."""
    writers: tuple[By, ...] = ()
    """Whose writes are in it, in the order they came first."""
    comments: Comments = field(default_factory=Comments)
    """What was remarked on it (B24)."""
    selections: PMap[Selection] = field(default_factory=PMap)
    """Files of which the person left changes out, for as long as nobody wrote them since (B25)."""
    anchors: frozenset[TreeId] = frozenset()
    """Files of earlier moments that comments and selections refer to; kept while it lives."""
    rounds: tuple[Round, ...] = ()
    """How often the person asked for changes of it, oldest first."""

    def anchored(self, tree: TreeId) -> Draft:
        """Return a copy that keeps these files too."""
        return self if tree in self.anchors else replace(self, anchors=self.anchors | {tree})

    @property
    def roots(self) -> set[TreeId]:
        """The trees it can be compared with, those its comments refer to, and its own."""
        look = () if self.last_look is None else (self.last_look.tree,)
        return {self.tree, self.base_tree, *look, *self.anchors}

    @property
    def last_look(self) -> Round | None:
        """The newest round in which changes were asked for."""
        return next((one for one in reversed(self.rounds) if not one.is_question), None)

    def is_asked_by(self, message_id: MessageId | None) -> bool:
        """Whether a message asks for changes of this Draft."""
        return any(one.message_id == message_id for one in self.rounds)

    def written(self, by: By | None) -> Draft:
        """Return a copy in which somebody has written too."""
        one = None if by is None else By(person=by.person, agent=by.agent)
        if one in (None, By(), *self.writers):
            return self
        return replace(self, writers=(*self.writers, one) if one else self.writers)


@dataclass(frozen=True, slots=True)
class Revision:
    """What the Draft was at one moment, summaries and confirmations included.

    `draft` None is "no Draft"; of a pruned one nothing but its place is left (B8.15).
    """

    revision_id: RevisionId
    kind: str
    draft: Draft | None
    created_ms: int
    draft_id: DraftId | None
    message_id: MessageId | None = None
    """The record of the conversation it is bound to; None before the first."""
    is_pruned: bool = False
    number: int = 0
    """Its place among all of the bench, from 0."""

    @property
    def tree(self) -> TreeId | None:
        """What the Draft held; None when there was none, or when it is not known any more."""
        return None if self.draft is None else self.draft.tree


@dataclass(frozen=True, slots=True)
class Revisions:
    """All revisions of a bench; a changed copy shares almost everything."""

    kept: tuple[Revision, ...] = ()
    """Those with a Draft, oldest first."""
    _by_id: PMap[Revision] = field(default_factory=PMap)
    _newest: PMap[Revision] = field(default_factory=PMap)
    """The last one bound to each record of the conversation."""

    def __len__(self) -> int:
        return len(self._by_id)

    def find(self, revision_id: RevisionId) -> Revision | None:
        """Return a revision, pruned or not, or None."""
        return self._by_id.get(revision_id)

    def all(self) -> list[Revision]:
        """Return every one, oldest first."""
        return sorted(self._by_id.values(), key=lambda one: one.number)

    def at(self, line: Sequence[MessageId]) -> Revision | None:
        """Return the newest one bound to the last of these records that has one (B8.14).

        A rewind binds the state of an earlier record to it anew: what is bound to a later one
        counts all the same, although it is older.
        """
        places = (*reversed(line), "")
        found = (self._newest.get(place) for place in places)
        return next((one for one in found if one is not None), None)

    def with_one(self, made: Revision) -> Revisions:
        """Return a copy with one more."""
        made = replace(made, number=len(self))
        return Revisions(
            self.kept if made.draft is None else (*self.kept, made),
            self._by_id.put(made.revision_id, made),
            self._newest.put(made.message_id or "", made),
        )

    def remarked(self, draft: Draft) -> Revisions:
        """Return a copy in which the present state of the Draft has what was remarked since."""
        own = self._by_id.get(draft.revision_id)
        if own is None or own.is_pruned:
            return self
        made = replace(own, draft=draft)
        kept = tuple(made if one.revision_id == made.revision_id else one for one in self.kept)
        newest, place = self._newest, made.message_id or ""
        if newest[place].revision_id == made.revision_id:
            newest = newest.put(place, made)
        return Revisions(kept, self._by_id.put(made.revision_id, made), newest)

    def without(self, gone: Collection[RevisionId]) -> Revisions:
        """Return a copy in which nothing but their places is left of these."""
        by_id, newest = self._by_id, self._newest
        for one in self.kept:
            if one.revision_id not in gone:
                continue
            stub = replace(one, draft=None, is_pruned=True)
            by_id = by_id.put(one.revision_id, stub)
            if newest[one.message_id or ""].revision_id == one.revision_id:
                newest = newest.put(one.message_id or "", stub)
        left = tuple(one for one in self.kept if one.revision_id not in gone)
        return Revisions(left, by_id, newest)

    def without_all(self) -> Revisions:
        """Return a copy in which none has a Draft any more (B8.16)."""
        return self.without({one.revision_id for one in self.kept})
