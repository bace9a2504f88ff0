"""Comments on the Draft: made, answered, resolved, and where their places are now (B24)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from backshop.base import paths, tree
from backshop.base.acting import Acted, acting_by
from backshop.base.ambient import timestamp
from backshop.base.errors import ValidationFailed
from backshop.base.ids import BlobId, TreeId, check_id
from backshop.base.labels import headline
from backshop.base.limits import COMMENT_QUOTE_CHARS
from backshop.base.paths import BenchPath
from backshop.base.place import FILE, Place
from backshop.formats import (
    FormatError,
    Formats,
    Relocated,
    Selector,
    Source,
    fail,
    parse_place,
    spelled,
)

from .. import decide, requests
from ..answers import Done, acted
from ..comment import Answer, Comment
from ..repository import BenchRepository
from ..revision import Draft
from ..tree.difference import Kept
from .change_set import offset_of

STATES = ("open", "resolved", "all")
PAGE_MAX = 1000
_KEPT_PLACES = 20_000
_NO_SUCH_PLACE = {
    "bad_selector": "places in such a file are written otherwise",
    "bad_range": "the file does not go that far",
    "bad_index": "the file has nothing by that number",
    "unknown_sheet": "the workbook has no such sheet",
    "unknown_slide": "the deck has no such slide",
    "no_match": "the file does not have these words",
}
"""Why a place that somebody typed is not there, by the reason a read has for it."""
_GONE = Relocated(place=None, is_touched=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerInfo:
    """Something said under a comment."""

    text: str
    at: str
    is_agent: bool
    by: Acted | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CommentInfo:
    """A comment, and what became of its place; `is_touched` and `is_gone` say what is so."""

    comment_id: str
    number: int
    path: str
    text: str
    at: str
    made_at_place: str
    """The place it was made at, in words."""
    is_resolved: bool
    is_touched: bool
    """Whether what stands at its place is another than when the comment was made."""
    is_gone: bool
    """Whether its place, or its whole file, is there no more."""
    place: Place | None = None
    """Where its place is now; None where it is gone."""
    place_text: str | None = None
    """The same in words; empty for the whole file."""
    quote: str | None = None
    """How the place began when the comment was made."""
    by: Acted | None = None
    answers: tuple[AnswerInfo, ...] = ()
    resolved_at: str | None = None
    resolved_by: Acted | None = None
    asked: int = 0
    """How often an agent was asked to see to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommentAdded:
    """The id of a comment, and what people call it."""

    comment_id: str
    number: int
    place: Place
    place_text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CommentList:
    """A page of comments; the counts are of all of the Draft."""

    comments: tuple[CommentInfo, ...]
    total: int
    open_count: int
    draft_id: str
    next_cursor: str | None = None


class Discussion:
    """What people and agents say about a Draft, place by place."""

    def __init__(self, desk: BenchRepository, formats: Formats) -> None:
        self._desk = desk
        self._formats = formats
        self._places: Kept[tuple[str, str, str, Place], Relocated] = Kept(_KEPT_PLACES)

    # ------------------------------------------------------------ what people do

    def add(self, request: requests.ReviewAddComment) -> CommentAdded:
        """Remark on a place of the Draft, which has to be there."""
        path = paths.bench_path(request.path)
        draft = decide.require_draft(self._desk.state(request.workbench_id))
        file = self._desk.find(draft.tree, path)
        place = FILE if request.place is None else request.place
        source = self._source(path, file.sha256)
        if request.at is None:
            place = FILE if place.is_file else self._formats.require_place(source, place)
        else:
            if request.place is not None:
                raise ValidationFailed("a place is told once", reason="bad_params")
            place = self._typed_place(source, request.at)
        wish = decide.CommentWish(
            comment_id=self._desk.new_comment(),
            path=path,
            place=place,
            tree=draft.tree,
            text=request.text,
            quote=self._quote(source, place),
        )
        done = self._desk.commit(request.workbench_id, lambda now: decide.add_comment(now, wish))
        made = decide.require_comment(done.state, wish.comment_id)
        return CommentAdded(
            comment_id=made.comment_id, number=made.number, place=place, place_text=spelled(place)
        )

    def answer_by_person(self, request: requests.ReviewAnswerComment) -> Done:
        """Say something under a comment as a person."""
        return self.answer(request, "user")

    def answer(self, request: requests.ReviewAnswerComment, actor: str) -> Done:
        """Say something under a comment; `actor` is `user`, `agent` or `mcp:…`."""
        wanted = check_id(request.comment_id, "cmt")
        done = self._desk.commit(
            request.workbench_id,
            lambda now: decide.answer_comment(now, wanted, request.text, actor),
        )
        return Done(warnings=done.warnings)

    def resolve(self, request: requests.ReviewResolveComment) -> Done:
        """Call a comment done, or open again."""
        wanted = check_id(request.comment_id, "cmt")
        done = self._desk.commit(
            request.workbench_id,
            lambda now: decide.resolve_comment(now, wanted, request.resolved),
        )
        return Done(warnings=done.warnings)

    def withdraw(self, request: requests.ReviewCommentId) -> Done:
        """Take a comment back."""
        wanted = check_id(request.comment_id, "cmt")
        person = acting_by().person
        done = self._desk.commit(
            request.workbench_id, lambda now: decide.withdraw_comment(now, wanted, person)
        )
        return Done(warnings=done.warnings)

    # ------------------------------------------------------------ what is there

    def page(self, request: requests.ReviewListComments) -> CommentList:
        """Return comments with what became of their places."""
        if request.state not in STATES or not 1 <= request.limit <= PAGE_MAX:
            raise ValidationFailed(
                f"state is one of {', '.join(STATES)}, a page has 1 to {PAGE_MAX} comments",
                reason="bad_params",
            )
        path = None if request.path is None else paths.bench_path(request.path)
        draft = decide.require_draft(self._desk.state(request.workbench_id))
        every = draft.comments.all()
        wanted = [
            one
            for one in every
            if path in (None, one.path)
            and (request.state == "all" or one.is_resolved == (request.state == "resolved"))
        ]
        start = offset_of(request.cursor)
        shown = wanted[start : start + request.limit]
        more = start + request.limit < len(wanted)
        return CommentList(
            comments=self.told(draft, shown),
            total=len(wanted),
            open_count=sum(not one.is_resolved for one in every),
            draft_id=draft.draft_id,
            next_cursor=str(start + request.limit) if more else None,
        )

    def told(self, draft: Draft, comments: Sequence[Comment]) -> tuple[CommentInfo, ...]:
        """Return comments of a Draft as answers have them."""
        names = self._desk.names()
        found = self._relocated(draft, comments)
        return tuple(
            CommentInfo(
                comment_id=one.comment_id,
                number=one.number,
                path=one.path,
                text=one.text,
                at=timestamp(one.at_ms),
                made_at_place=spelled(one.place),
                is_resolved=one.is_resolved,
                is_touched=now.is_touched,
                is_gone=now.place is None,
                place=now.place,
                place_text=None if now.place is None else spelled(now.place),
                quote=one.quote,
                by=acted(one.by, names),
                answers=tuple(self._answer(answer) for answer in one.answers),
                resolved_at=None if one.resolved_ms is None else timestamp(one.resolved_ms),
                resolved_by=acted(one.resolved_by, names),
                asked=len(one.asked),
            )
            for one, now in zip(comments, found, strict=True)
        )

    def _answer(self, one: Answer) -> AnswerInfo:
        return AnswerInfo(
            text=one.text,
            at=timestamp(one.at_ms),
            is_agent=one.is_agent,
            by=acted(one.by, self._desk.names()),
        )

    # ------------------------------------------------------------ places

    def _relocated(self, draft: Draft, comments: Iterable[Comment]) -> list[Relocated]:
        """Return where the places of comments are now; each pair of contents is compared once."""
        found: list[Relocated | None] = []
        waiting: dict[tuple[str, str, str], list[tuple[int, Place]]] = {}
        for number, one in enumerate(comments):
            found.append(None)
            then = self._content(one.tree, one.made_path)
            now = self._content(draft.tree, one.path) or self._content(draft.tree, one.made_path)
            if now is None:
                found[number] = _GONE
            elif then is None or then == now:
                found[number] = Relocated(place=one.place, is_touched=then is None)
            elif one.place.is_file:
                found[number] = Relocated(place=FILE, is_touched=True)
            else:
                known = self._places.peek((one.path, then, now, one.place))
                found[number] = known
                if known is None:
                    pair = (str(one.path), then, now)
                    waiting.setdefault(pair, []).append((number, one.place))
        for key, places in waiting.items():
            for (number, place), where in zip(places, self._moved(key, places), strict=True):
                found[number] = where
                self._keep((*key, place), where)
        return [_GONE if one is None else one for one in found]

    def _keep(self, key: tuple[str, str, str, Place], where: Relocated) -> None:
        self._places.get(key, lambda: where)

    def _moved(
        self, key: tuple[str, str, str], places: Sequence[tuple[int, Place]]
    ) -> list[Relocated]:
        path, then, now = key
        before, after = (self._source(path, BlobId(one)) for one in (then, now))
        wanted = [place for _, place in places]
        try:
            return self._formats.relocate(before, after, wanted)
        except FormatError:  # what cannot be read any more still has its file
            return [Relocated(place=FILE, is_touched=True) for _ in wanted]

    def _content(self, tree_id: TreeId, path: BenchPath) -> str | None:
        found = tree.lookup(tree_id, path, self._desk.store.load_tree)
        return None if found is None else found.sha256

    def _source(self, path: str, sha256: BlobId) -> Source:
        return self._formats.source(self._desk.store.blobs.path(sha256), path, sha256)

    def _typed_place(self, source: Source, at: str) -> Place:
        """Return the place somebody typed; one that is not there is told in their own words.

        Raises:
            FormatError: with the reason a read would give.
        """
        place = FILE
        try:
            place = parse_place(at, self._formats.classify(source).kind)
            return self._formats.require_place(source, place)
        except FormatError as error:
            if error.reason not in _NO_SUCH_PLACE:
                raise
            is_ours = not place.is_file and error.reason == "bad_selector"  # names of fields
            is_slide = error.reason == "unknown_slide"
            hints = self._slides(source) if is_slide else () if is_ours else error.hints
            typed = at.strip()[:COMMENT_QUOTE_CHARS]
            message = f"{typed!r} is no place in {source.name}: {_NO_SUCH_PLACE[error.reason]}"
            if error.reason == "unknown_sheet" and hints:
                message += f", but {', '.join(hints)}"
            raise fail(error.reason, message, hints=hints) from error

    def _slides(self, source: Source) -> tuple[str, ...]:
        """Return which slides there are, as places in words count them (F44.4)."""
        count = self._formats.get_info(source)["slide_count"]
        return (f"slide 1 to {count}",) if count else ()

    def _quote(self, source: Source, place: Place) -> str | None:
        """Return how a place begins, so that one that is gone can still be told."""
        if place.is_file or (place.shape is not None and place.words is None):
            return None  # a slide is read as a whole, and is not what a shape says
        if place.words is not None:
            return headline(place.words, COMMENT_QUOTE_CHARS)
        try:
            said = self._formats.read(source, _selector(place)).text
        except FormatError:
            return None  # a hint for people; the comment stands without it
        return headline(_without_frame(said, place), COMMENT_QUOTE_CHARS) or None


def _without_frame(text: str, place: Place) -> str:
    """Return what stands at a place, without what a read says about it (F8, F10.4, F11)."""
    lines = text.splitlines()
    if place.sheet is not None:  # sheet, columns, the header above a range, then numbered rows
        rows = [line.split("\t")[1:] for line in lines if line[:1].isdecimal()]
        return " · ".join(cell for row in rows for cell in row if cell)
    if place.slide_index is not None:
        return " ".join([lines[0].partition(": ")[2], *lines[1:]]) if lines else ""
    return " ".join(lines[1:]) if place.page is not None else text


def _selector(place: Place) -> Selector:
    """Return what reads a place."""
    given = asdict(place)
    fields = {name: given[name] for name in ("sheet", "range", "slide_index", "line_start")}
    if place.line_start is not None:
        fields["line_count"] = (place.line_end or place.line_start) - place.line_start + 1
    if place.row_start is not None:  # the header stands before the first row
        fields["line_start"] = place.row_start + 1
        fields["line_count"] = (place.row_end or place.row_start) - place.row_start + 1
    if place.paragraph is not None:
        fields["paragraphs"] = f"{place.paragraph}-{place.paragraph_end or place.paragraph}"
    if place.page is not None:
        fields["pages"] = str(place.page)
    return Selector(**fields)
