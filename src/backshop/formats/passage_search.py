"""Searches the text of one file, passage by passage, in bounded work (F33)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module

from backshop.base.pattern import BadPattern, Search, TooCostly, compiled

from .errors import fail
from .find import Needle, Span
from .protocol import Found, JsonObject, Passage, Source, TextQuery

MAX_WORK = 300_000  # about half a second, besides 0.1 s for each MB of text
_AROUND_CHARS = 40  # told on either side of a match
_MATCH_CHARS = 60  # told of the match itself

Spans = Callable[[str], tuple[int, Span]]
"""How often a text has what is looked for, and where first."""


def search(module: str, source: Source, query: TextQuery) -> Found:
    """Return how often a file has what is looked for, and where; `module` is that of its format.

    Raises:
        FormatError: `bad_value` for an expression that cannot be read or costs too much.
    """
    looked = _expression(query) if query.is_regex else _literal(query)
    count = seen = read = 0
    places: list[JsonObject] = []
    gaps: Counter[str] = Counter()
    ended: JsonObject | None = None
    for passage in _passages(module, source):
        if passage.gap:
            gaps[passage.gap] += 1
            continue
        read += len(passage.text)
        if read > query.max_chars:
            ended = passage.where
            break
        times, span = looked(passage.text)
        if not times:
            continue
        count += times
        seen += 1
        if query.skip < seen <= query.skip + query.places:
            told = {**passage.where, "text": excerpt(passage.text, span)}
            places.append(told | ({"count": times} if times > 1 else {}))
    more = max(0, seen - query.skip - len(places))
    return Found(
        count=count, places=tuple(places), more_places=more, gaps=dict(gaps), searched_to=ended
    )


def _passages(module: str, source: Source) -> Iterator[Passage]:
    reader = import_module(module)
    offered = getattr(reader, "passages", None)
    if offered is not None:
        yield from offered(source)
        return
    for number, line in enumerate(reader.extract_lines(source), 1):
        yield Passage({"extracted_line": number}, line)


def _literal(query: TextQuery) -> Spans:
    needle = Needle(query.text, match_case=query.match_case)

    def looked(text: str) -> tuple[int, Span]:
        spans = needle.spans(text)
        return (len(spans), spans[0]) if spans else (0, (0, 0))

    return looked


def _expression(query: TextQuery) -> Spans:
    """Look for an expression; the engine says where a match ends, and a passage counts once."""
    try:
        wanted = Search(compiled(query.text, "" if query.match_case else "i"), MAX_WORK)
    except BadPattern as error:
        raise fail("bad_value", f"not a regular expression: {error}") from error

    def looked(text: str) -> tuple[int, Span]:
        try:
            end = wanted.first_end(text)
        except TooCostly as error:
            raise fail("bad_value", str(error)) from error
        return (0, (0, 0)) if end is None else (1, (end, end))

    return looked


def excerpt(text: str, span: Span) -> str:
    """Return a match with some text around it, on one line."""
    start = max(0, span[0] - _AROUND_CHARS)
    end = min(len(text), min(span[1], span[0] + _MATCH_CHARS) + _AROUND_CHARS)
    shown = " ".join(text[start:end].split())
    return ("…" if start else "") + shown + ("…" if end < len(text) else "")
