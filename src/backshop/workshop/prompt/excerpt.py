"""What of a conversation a call is told: whole, from a summary on, or with a gap that is said.

Compression is decided here and carried out in `compress` (W17, M14). Records are read from the
active line, so what was rewound is in no prompt.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from backshop.base.codec import decode
from backshop.base.limits import CHARS_PER_TOKEN

from ..conversation.turn_facts import TurnFacts, told

EXCERPT_MAX_CHARS = 48_000  # W17.1
EXCERPT_SHARE = 0.15
KEPT_MESSAGES = 8  # M14.2
CLUTTER_TRIGGER = 0.85  # M14.1
RESERVE_TOKENS = 8_192
RESERVE_SHARE = 0.25

Role = Literal["user", "assistant", "summary"]
_ROLES: Mapping[str, Literal["user", "assistant"]] = {
    "user_message": "user",
    "assistant_message": "assistant",
}
_NOTES: Mapping[str, str] = {
    "model_switched": "(Note: another model answers from here on.)",
    "checkpoint_published": "(Note: the person published the Draft here.)",
    "checkpoint_restored": "(Note: the person restored an earlier checkpoint here.)",
    "draft_discarded": "(Note: the person discarded the Draft here.)",
    "draft_brought_back": "(Note: the person brought the discarded Draft back here.)",
}
ON_DRAFT = "(Note: the person has looked at the Draft and writes about it.)"
ADDED = "(The person asked for another answer to this, and added:)\n{}"
ADDED_MEANWHILE = "(While this was being worked on, the person added:)\n{}"
_UNFINISHED: Mapping[str, str] = {
    "interrupted": "(This answer was interrupted.)",
    "canceled": "(The person stopped this answer.)",
    "failed": "(This answer failed.)",
}


class Spoken(Protocol):
    """A record of the conversation, as far as prompts look at it (W2.2)."""

    @property
    def message_id(self) -> str: ...

    @property
    def type(self) -> str: ...

    @property
    def text(self) -> str: ...

    @property
    def status(self) -> str: ...

    @property
    def event_kind(self) -> str | None: ...

    @property
    def metadata(self) -> Mapping[str, object]: ...


@dataclass(frozen=True, slots=True)
class Line:
    """One message as a call is told it."""

    message_id: str
    role: Role
    text: str
    written: str | None = None
    """What its writer wrote, without what is said around it; the same as `text` if None."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The lines of a conversation, oldest first. `first_id` is where its beginning lies."""

    lines: tuple[Line, ...] = ()
    first_id: str = ""
    covered: int = 0
    """How many messages the leading summary stands for."""

    @property
    def chars(self) -> int:
        """How much text it is."""
        return sum(len(one.text) for one in self.lines)

    @property
    def said(self) -> tuple[str, ...]:
        """The texts people and the agent wrote, without summaries."""
        return tuple(one.text for one in self.lines if one.role != "summary")

    def asked(self, count: int) -> tuple[str, ...]:
        """Return what the person wrote in their newest messages, oldest first."""
        own = [one for one in self.lines if one.role == "user"][-count:]
        return tuple(one.text if one.written is None else one.written for one in own)

    def followed(self, message_id: str, answer: str, wish: str) -> Excerpt:
        """Return it with an answer that is not a record yet, and what is asked for next."""
        more = (Line(message_id, "assistant", answer), Line("request", "user", wish))
        return replace(self, lines=(*self.lines, *more))


@dataclass(frozen=True, slots=True)
class Split:
    """An excerpt parted for compression: what becomes a summary, what stays word for word."""

    older: tuple[Line, ...]
    newer: tuple[Line, ...]
    first_id: str
    last_id: str
    count: int


NOTHING_SAID = Excerpt()


def excerpt(
    line: Sequence[Spoken], summaries: Iterable[Spoken] = (), added: str | None = None
) -> Excerpt:
    """Return what a call is told of the active line, from its newest valid summary on (W17.1).

    `line` holds the records of the active line, oldest first; `summaries` the records of type
    `summary_message`, active or not: one counts while all it covers is on the line (W17.2). `added`
    is what the person adds to the last message this time (W24.7).
    """
    places = {record.message_id: place for place, record in enumerate(line)}
    newest: Spoken | None = None
    start = 0
    for one in summaries:
        covers = _covers(one)
        end = places.get(covers[1])
        if end is not None and covers[0] in places and end + 1 >= start:
            newest, start = one, end + 1
    lines = tuple(_lines(line[start:], added))
    first = line[0].message_id if line else ""
    if newest is None:
        return Excerpt(lines, first)
    head = Line(newest.message_id, "summary", newest.text)
    return Excerpt((head, *lines), first, _covers(newest)[2])


def budget_chars(window_tokens: int) -> int:
    """Return how long an excerpt may be (W17.1)."""
    return min(EXCERPT_MAX_CHARS, int(window_tokens * EXCERPT_SHARE * CHARS_PER_TOKEN))


def must_compress(
    given: Excerpt,
    *,
    window_tokens: int,
    clutter_score: float = 0.0,
    prompt_tokens: int = 0,
    output_tokens: int = 0,
) -> bool:
    """Say whether older messages have to be summed up before the call (M14.1)."""
    reserve = min(max(RESERVE_TOKENS, output_tokens), int(window_tokens * RESERVE_SHARE))
    wanted = (
        given.chars > budget_chars(window_tokens)
        or clutter_score > CLUTTER_TRIGGER
        or prompt_tokens > window_tokens - reserve
    )
    return wanted and split(given) is not None


def split(given: Excerpt) -> Split | None:
    """Part an excerpt before its newest messages; None when there is nothing older (M14.2)."""
    said = [one for one in given.lines if one.role != "summary"]
    older = said[:-KEPT_MESSAGES]
    if not older:
        return None
    head = tuple(one for one in given.lines if one.role == "summary")
    return Split(
        older=(*head, *older),
        newer=tuple(said[-KEPT_MESSAGES:]),
        first_id=given.first_id or older[0].message_id,
        last_id=older[-1].message_id,
        count=given.covered + len(older),
    )


def summarised(given: Excerpt, text: str) -> Excerpt:
    """Return the excerpt with its older part replaced by a summary."""
    return _shortened(given, text)


def omitted(given: Excerpt) -> Excerpt:
    """Return the excerpt without its older part, saying so where it stood (M14.4)."""
    parts = split(given)
    count = parts.count if parts else 0
    return _shortened(given, f"({count} earlier messages are left out here; they did not fit.)")


def as_material(lines: Iterable[Line]) -> str:
    """Return lines as the material of a summary."""
    names = {"user": "Person", "assistant": "Agent", "summary": "Summary of what came before"}
    return "\n\n".join(f"{names[one.role]}: {one.text}" for one in lines)


def _shortened(given: Excerpt, text: str) -> Excerpt:
    parts = split(given)
    if parts is None:
        return given
    head = Line(parts.last_id, "summary", text)
    return replace(given, lines=(head, *parts.newer), covered=parts.count)


def _lines(records: Sequence[Spoken], added: str | None) -> Iterable[Line]:
    """Yield the messages; notes about what the person did stand before the next message."""
    notes: list[str] = []
    said = _added(records, added)
    for one in records:
        if one.type == "system_event":
            note = _NOTES.get(one.event_kind or "")
            notes += [note] if note else []
            continue
        role = _ROLES.get(one.type)
        if role is None:
            continue
        after = [_UNFINISHED[one.status]] if one.status in _UNFINISHED else []
        after += _facts(one)
        more = said.get(one.message_id, ())
        after += [frame.format(wish) for frame, wish in more]
        if one.metadata.get("on_draft"):
            notes.append(ON_DRAFT)
        before = notes if role == "user" else []
        text = "\n\n".join(part for part in (*before, one.text, *after) if part.strip())
        if role == "user":
            notes = []
        if text:
            own = "\n\n".join((one.text, *(wish for _, wish in more)))
            yield Line(one.message_id, role, text, None if own == text else own)


def _added(records: Sequence[Spoken], added: str | None) -> dict[str, list[tuple[str, str]]]:
    """Return what the person added to messages, each with its frame.

    For another answer (W24.7), and to the agent at work (W27.5); `added` is the first of the turn
    that is asked for.
    """
    found: dict[str, list[tuple[str, str]]] = {}
    asked = ""
    for one in records:
        if one.type == "user_message":
            asked = one.message_id
        elif one.type == "assistant_message":
            note, notes = one.metadata.get("note"), one.metadata.get("notes")
            found[asked] = [(ADDED, note)] if isinstance(note, str) and note else []
            meanwhile = notes if isinstance(notes, list) else ()
            found[asked] += [(ADDED_MEANWHILE, str(wish)) for wish in meanwhile]
    return {**found, asked: [(ADDED, added)]} if added else found


def _facts(record: Spoken) -> list[str]:
    """Return what is true of the turn an answer ended, as the engine knows it (W11.20)."""
    data = record.metadata.get("facts")
    if not isinstance(data, dict):
        return []
    lines = told(decode(TurnFacts, data))
    return ["\n".join(("(Facts of this turn, from the log:", *lines)) + ")"] if lines else []


def _covers(summary: Spoken) -> tuple[str, str, int]:
    covers = summary.metadata.get("covers")
    if not isinstance(covers, Mapping):
        return "", "", 0
    count = covers.get("count")
    return (
        str(covers.get("first_id", "")),
        str(covers.get("last_id", "")),
        count if isinstance(count, int) else 0,
    )
