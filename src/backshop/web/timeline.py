"""A session over time as lanes of bars, ready for a template (U6.12).

Time runs to the right at one scale. Where nothing happened for long the axis is broken: idle hours
would press everything else together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from backshop.rails import session_view

WIDTH, MARGIN, END = 1040, 24, 70
IDLE_WIDTH, STEP_LEAST, BAR_LEAST, DOT = 64, 14, 4, 8
FINE_MS = 2000  # ticks that stand closer are told with tenths of a second
IDLE_LEAST_MS = 60_000
IDLE_SHARE = 8  # a pause this many times the usual one is idle time
HEAD, ROW, NAME = 34, 22, 26
TICK_STEP = 130
LABEL_LEAST, CHAR_WIDTH = 64, 7
NAME_MAX_CHARS = 90
ZOOMS = (1, 2, 4, 8)
MOMENTS_MAX = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One thing of a timeline: a step with the time until it was handed in, or a note."""

    x: int
    y: int
    begins: int
    kind: str
    title: str
    label: str
    shown: str
    """What of the title has room on the bar."""
    lane: int
    run_id: str | None
    node_id: str | None
    run_title: str
    at: str
    took: str
    now: str
    """Where the run stood then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """One run, or the session's own notes."""

    y: int
    height: int
    name: str
    run_id: str | None
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A time on the axis."""

    x: int
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """Time in which nothing happened, drawn narrower than it is."""

    x: int
    width: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """What happened in a session; one lane per run and one for its own notes."""

    lanes: tuple[Lane, ...]
    marks: tuple[Mark, ...]
    ticks: tuple[Tick, ...]
    pauses: tuple[Pause, ...]
    width: int
    height: int
    left_out: int
    """Earlier ones, which there is no room for."""
    is_fine: bool
    """Whether ticks are told with tenths of a second."""


def timeline(session: session_view.SessionPage, *, zoom: int = 1) -> Timeline:
    """Return the timeline of a session, its newest part (R10.3, R10.10)."""
    every = session.timeline or ()
    moments = every[-MOMENTS_MAX:]
    names = {one.run_id: one.title or one.workflow_id for one in session.run_list}
    if not names or any(one.run_id is None for one in moments):
        names[None] = "Session notes"  # type: ignore[index]  # the lane of no run
    scale = _Scale(_times(moments), WIDTH * zoom - MARGIN - END)
    lanes, marks, y = [], [], HEAD
    for number, (run_id, name) in enumerate(names.items()):
        drawn, rows = _lane_marks(moments, scale, run_id, name, number, y + NAME)
        marks += drawn
        height = NAME + rows * ROW
        lanes.append(
            Lane(
                y=y, height=height, name=cut(name, NAME_MAX_CHARS), run_id=run_id, number=number % 6
            )
        )
        y += height + 10
    ticks = tuple(scale.ticks())
    order = {(one.run_id, one.node_id, one.at): at for at, one in enumerate(moments)}
    marks.sort(key=lambda one: order[one.run_id, one.node_id, one.at])
    return Timeline(
        lanes=tuple(lanes),
        marks=tuple(marks),
        ticks=ticks,
        pauses=tuple(scale.pauses()),
        width=max(scale.end, WIDTH),
        height=y,
        left_out=len(every) - len(moments),
        is_fine=_is_fine(ticks),
    )


def lasted(ms: int) -> str:
    """Return a length of time for people: 40 ms, 1.4 s, 12 s, 2 min 5 s, 3 h 12 min, 2 d 4 h."""
    if ms < 1000:
        return f"{ms} ms"
    if ms < 10_000:
        return f"{ms / 1000:.1f} s".replace(".0 s", " s")
    seconds = round(ms / 1000)
    for name, size, next_name, next_size in (
        ("d", 86_400, "h", 3_600),
        ("h", 3_600, "min", 60),
        ("min", 60, "s", 1),
    ):
        if seconds >= size:
            rest = seconds % size // next_size
            return f"{seconds // size} {name}" + (f" {rest} {next_name}" if rest else "")
    return f"{seconds} s"


def between(begin: str, end: str) -> str:
    """Return how long it was from one recorded time to another."""
    return lasted(max(0, read_time(end) - read_time(begin)))


def read_time(at: str) -> int:
    """Return a recorded time in milliseconds."""
    return round(datetime.fromisoformat(at).timestamp() * 1000)


def cut(text: str, most: int) -> str:
    """Return a text on one line, shortened with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def _times(moments: Sequence[session_view.Moment]) -> list[int]:
    every = {read_time(one.at) for one in moments}
    every |= {read_time(one.began_at) for one in moments if one.began_at}
    return sorted(every)


class _Scale:
    """Where a time stands on an axis that is as wide as it may be."""

    def __init__(self, times: Sequence[int], width: int) -> None:
        self._times = times
        steps = [after - before for before, after in pairwise(times)]
        usual = sorted(steps)[len(steps) // 2] if steps else 0
        idle = max(IDLE_LEAST_MS, IDLE_SHARE * usual)
        self._is_idle = [one > idle for one in steps]
        busy_ms = sum(one for one, rests in zip(steps, self._is_idle, strict=True) if not rests)
        room = max(width - IDLE_WIDTH * sum(self._is_idle), width // 2)
        self._per_ms = room / busy_ms if busy_ms else 0.0
        self._places = [float(MARGIN)]
        for one, rests in zip(steps, self._is_idle, strict=True):
            step = IDLE_WIDTH if rests else max(STEP_LEAST, one * self._per_ms)
            self._places.append(self._places[-1] + step)
        self.end = round(self._places[-1]) + END
        self._place = dict(zip(times, self._places, strict=False))  # without times: none

    def x(self, at_ms: int) -> int:
        """Return the place of a time that stands on the axis."""
        return round(self._place[at_ms])

    def pauses(self) -> Iterator[Pause]:
        """Yield where the axis is broken."""
        for at, rests in enumerate(self._is_idle):
            if rests:
                long = self._times[at + 1] - self._times[at]
                yield Pause(x=round(self._places[at]), width=IDLE_WIDTH, text=lasted(long))

    def ticks(self) -> Iterator[Tick]:
        """Yield times to read the axis by: where it begins anew, and between at even steps."""
        free = -1.0
        for at, place in enumerate(self._places[: len(self._times)]):
            begins = at == 0 or self._is_idle[at - 1]
            if begins and place >= free - TICK_STEP / 2:
                yield Tick(x=round(place), at=_stamp(self._times[at]))
                free = place + TICK_STEP
            is_last = at == len(self._times) - 1
            while not is_last and not self._is_idle[at] and free <= self._places[at + 1] - END:
                step_ms = self._times[at + 1] - self._times[at]
                share = max(0.0, free - place) / (self._places[at + 1] - place)
                at_ms = self._times[at] + round(share * step_ms)
                yield Tick(x=round(max(free, place)), at=_stamp(at_ms))
                free = max(free, place) + TICK_STEP


def _is_fine(ticks: Sequence[Tick]) -> bool:
    times = [read_time(one.at) for one in ticks]
    return any(after - before < FINE_MS for before, after in pairwise(times))


def _stamp(at_ms: int) -> str:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at_ms)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _lane_marks(
    moments: Sequence[session_view.Moment],
    scale: _Scale,
    run_id: str | None,
    name: str,
    lane: int,
    top: int,
) -> tuple[list[Mark], int]:
    """Return the marks of a lane and how many rows they take: bars that overlap stand apart."""
    found, ends = list[Mark](), list[int]()
    for one in (moment for moment in moments if moment.run_id == run_id):
        end = scale.x(read_time(one.at))
        begin = scale.x(read_time(one.began_at)) if one.began_at else end
        row = next((n for n, last in enumerate(ends) if last <= begin), len(ends))
        ends[row : row + 1] = [end]
        mark = _mark(one, name, lane, begin, end)
        found.append(replace(mark, y=top + row * ROW))
    return found, max(1, len(ends))


def _mark(one: session_view.Moment, name: str, lane: int, begin: int, end: int) -> Mark:
    took = between(one.began_at, one.at) if one.began_at else ""
    title = "Note of the session" if one.run_id is None else one.completed or "Start"
    now = "" if one.run_id is None else f"then at {one.title}"
    words = KINDS.get(one.node_kind, "")
    room = end - begin
    shown = cut(title, (room - 3 * DOT) // CHAR_WIDTH) if room >= LABEL_LEAST else ""
    said = [words, title, took, now, _clock(one.at)]
    return Mark(
        x=end,
        y=0,
        begins=min(begin + DOT, end - BAR_LEAST),
        kind=one.node_kind,
        title=title,
        label=", ".join(filter(None, said)),
        shown=shown,
        lane=lane,
        run_id=one.run_id,
        node_id=one.node_id,
        run_title=name,
        at=one.at,
        took=took,
        now=now,
    )


KINDS = {"checkpoint": "checkpoint", "blocked_attempt": "blocked attempt"}


def _clock(at: str) -> str:
    return f"{at[:10]} {at[11:19]} UTC"
