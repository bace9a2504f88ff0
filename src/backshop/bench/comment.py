"""Comments on what a Draft holds: about which place, by whom, what was answered (B24).

They are part of the Draft, so that going back to one of its states brings the comments of then
back. A comment keeps the place it was made at and the files of that moment; where that place is
now is found by comparing the contents, whenever somebody asks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from backshop.base.acting import By
from backshop.base.ids import CommentId, MessageId, TreeId
from backshop.base.paths import BenchPath
from backshop.base.place import Place
from backshop.base.pmap import PMap


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Something said under a comment."""

    text: str
    at_ms: int
    by: By | None
    is_agent: bool
    """Whether an agent says it; what it says is a claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """What somebody remarked on a place of the Draft."""

    comment_id: CommentId
    number: int
    """Its place among all of the Draft, from 1: what people call it."""
    path: BenchPath
    """The path its file has now."""
    made_path: BenchPath
    """The path it had when the comment was made."""
    place: Place
    tree: TreeId
    """The Draft's files when it was made."""
    text: str
    quote: str | None
    """How that place began then."""
    at_ms: int
    by: By | None
    answers: tuple[Answer, ...] = ()
    is_resolved: bool = False
    resolved_ms: int | None = None
    resolved_by: By | None = None
    asked: tuple[MessageId, ...] = ()
    """The messages that asked an agent to see to it."""

    def answered(self, answer: Answer) -> Comment:
        """Return a copy with one more answer."""
        return replace(self, answers=(*self.answers, answer))

    def resolved(self, is_resolved: bool, at_ms: int, by: By | None) -> Comment:
        """Return a copy that a person calls done, or open again."""
        if not is_resolved:
            return replace(self, is_resolved=False, resolved_ms=None, resolved_by=None)
        return replace(self, is_resolved=True, resolved_ms=at_ms, resolved_by=by)


@dataclass(frozen=True, slots=True)
class Comments:
    """The comments of a Draft; a changed copy shares almost everything."""

    by_id: PMap[Comment] = field(default_factory=PMap)
    made: int = 0
    """How many were ever made: the number of the newest."""

    def __len__(self) -> int:
        return len(self.by_id)

    def find(self, comment_id: str) -> Comment | None:
        """Return a comment, or None."""
        return self.by_id.get(comment_id)

    def all(self) -> list[Comment]:
        """Return every comment, oldest first."""
        return sorted(self.by_id.values(), key=lambda one: one.number)

    def with_one(self, comment: Comment) -> Comments:
        """Return a copy with a comment that is new, or another than it was."""
        return Comments(self.by_id.put(comment.comment_id, comment), max(self.made, comment.number))

    def without(self, comment_id: str) -> Comments:
        """Return a copy without a comment; its number is not given again."""
        return Comments(self.by_id.drop(comment_id), self.made)

    def moved(self, path: BenchPath, new_path: BenchPath) -> Comments:
        """Return a copy in which the comments of a file follow it to its new name."""
        found = self
        for comment in self.by_id.values():
            if comment.path == path:
                found = found.with_one(replace(comment, path=new_path))
        return found

    def asked(self, comment_ids: Iterable[str], message_id: MessageId) -> Comments:
        """Return a copy in which a message asked an agent to see to these."""
        found = self
        for comment_id in comment_ids:
            one = self.by_id.get(comment_id)
            if one is not None and message_id not in one.asked:
                found = found.with_one(replace(one, asked=(*one.asked, message_id)))
        return found
