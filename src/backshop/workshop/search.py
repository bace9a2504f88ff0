"""Words found in the names of workbenches and files and in what was said (W27.10).

Nothing is kept for it: the logs of the benches a person may see are read, newest change first, for
as long as a search may take, and the answer says when that was not all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from backshop.base.ambient import timestamp
from backshop.base.errors import BackshopError, ValidationFailed
from backshop.bench import requests as bench_requests
from backshop.bench.answers import BenchInfo
from backshop.store import Caller

from . import requests
from .answers import FileHit, MessageHit, SearchHits
from .conversation.repository import Conversations
from .conversation.state import NOTE, Record, WorkshopState

QUERY_MAX_CHARS = 200
HITS_MAX = 100
SEARCH_S = 2.0
EXCERPT_CHARS = 160
_RULE = re.compile(r"^[ \t:|-]{3,}$|^[ \t]*(?:`{3}|~{3}).*$", re.MULTILINE)
_EDGE = re.compile(r"^[ \t]*(?:#{1,6}[ \t]|>|[-*+][ \t]|\|)|\|[ \t]*$", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\[\]\n]+)\]\([^()\n]{0,2000}\)")
_MARK = re.compile(r"`|\*\*|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)")
_BENCHES = 200  # the longest page there is (B5.3)
_SAID = ("user_message", "assistant_message")


def search(book: Conversations, request: requests.Search, caller: Caller) -> SearchHits:
    """Return what has every word of a query, letter case aside.

    Raises:
        ValidationFailed: there is no word, or there are too many.
    """
    words = tuple(dict.fromkeys(request.query.casefold().split()))
    if not words or len(request.query) > QUERY_MAX_CHARS or not 1 <= request.limit <= HITS_MAX:
        raise ValidationFailed(
            f"a search has 1 to {QUERY_MAX_CHARS} characters and at most {HITS_MAX} hits",
            reason="bad_params",
        )
    found = _Found(words, request.limit)
    until = book.clock.monotonic() + SEARCH_S
    for bench in benches_of(book, caller, include_trash=False):
        if book.clock.monotonic() > until or found.is_full:
            found.is_whole = False
            break
        found.look(book, bench)
    return SearchHits(
        workbenches=tuple(found.benches[: request.limit]),
        files=tuple(found.files[: request.limit]),
        messages=tuple(found.messages[: request.limit]),
        is_whole=found.is_whole,
        not_read=found.not_read,
    )


def benches_of(book: Conversations, caller: Caller, *, include_trash: bool) -> Iterator[BenchInfo]:
    """Yield the benches somebody may see, newest change first."""
    wish = bench_requests.WorkbenchList(limit=_BENCHES, include_trash=include_trash)
    while True:
        page = book.bench.list(wish, caller)
        yield from page.workbenches
        if page.next_cursor is None:
            return
        wish = replace(wish, cursor=page.next_cursor)


class _Found:
    """What a search has found so far."""

    def __init__(self, words: Sequence[str], limit: int) -> None:
        self._words = words
        self._limit = limit
        self.benches: list[BenchInfo] = []
        self.files: list[FileHit] = []
        self.messages: list[MessageHit] = []
        self.is_whole = True
        self.not_read = 0

    @property
    def is_full(self) -> bool:
        return len(self.messages) >= self._limit and len(self.files) >= self._limit

    def look(self, book: Conversations, bench: BenchInfo) -> None:
        """Look through one bench; one that cannot be read is counted."""
        if self._fits(bench.name):
            self.benches.append(bench)
        try:
            known = book.state(bench.workbench_id)
            paths = self._paths(book, known)
        except BackshopError:
            self.not_read += 1
            return
        self.files += (
            FileHit(workbench_id=bench.workbench_id, bench_name=bench.name, path=path)
            for path in paths
        )
        self.messages += (
            MessageHit(
                workbench_id=bench.workbench_id,
                bench_name=bench.name,
                message_id=one.message_id,
                role="agent" if one.type == "assistant_message" else "person",
                created_at=timestamp(one.created_ms),
                excerpt=excerpt_of(unmarked(one), self._words[0]),
            )
            for one in _said(known)
            if self._fits(one.text)
        )
        for hits in (self.files, self.messages):
            if len(hits) > self._limit:
                self.is_whole = False

    def _paths(self, book: Conversations, known: WorkshopState) -> list[str]:
        bench = known.bench
        tree = bench.published if bench.draft is None else bench.draft.tree
        return [path for path in sorted(book.bench.desk.entries(tree)) if self._fits(path)]

    def _fits(self, text: str) -> bool:
        folded = text.casefold()
        return all(word in folded for word in self._words)


def _said(known: WorkshopState) -> list[Record]:
    """Return what was said and is part of the conversation, newest first."""
    line = known.active_line()
    there = {one.message_id for one in line}
    notes = (
        one
        for one in known.records.values()
        if one.event_kind == NOTE and one.parent_id in there and known.is_turn_active(one.turn_id)
    )
    said = [*(one for one in line if one.type in _SAID), *notes]
    return sorted(said, key=lambda one: one.seq, reverse=True)


def unmarked(said: Record) -> str:
    """Return what was said without the marks that agents set texts with; people's stay theirs."""
    if said.type != "assistant_message":
        return said.text
    plain = _LINK.sub(r"\1", _EDGE.sub("", _RULE.sub("", said.text)))
    return _MARK.sub("", plain).replace(" | ", " · ")


def excerpt_of(text: str, word: str) -> str:
    """Return the part of a text around a word, in one line."""
    plain = " ".join(text.split())
    at = max(0, plain.casefold().find(word) - EXCERPT_CHARS // 3)
    start = 0 if at < EXCERPT_CHARS // 4 else plain.find(" ", at) + 1
    part = plain[start : start + EXCERPT_CHARS]
    return f"{'… ' if start else ''}{part}{' …' if start + EXCERPT_CHARS < len(plain) else ''}"
