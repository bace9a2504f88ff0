"""Finds the fewest runs of lines that came or went between two versions of a sheet.

Lines that hold the same are matched first; where the distance between their numbers changes, lines
came or went. Of the places that would do for them the one is taken at which the fewest cells and
references differ, and of those the first.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import NamedTuple, Protocol

from .line_run import Axis, LineRun, Lines

_RUN_COST = 0.5  # matched lines that a run must be worth
_SEGMENTS = 400  # the heaviest ones; a sheet in so many pieces was written anew
_SLIDE = 5_000  # lines that a run is tried on before and behind its gap
_PLACES = 600  # tried for one run, fewer where there are many
_FEW_PLACES = 12
_RUNS = 250  # of one axis; a sheet with more was written anew
_TAIL_SHIFTS = 4  # tried behind the last matched line


class Match(NamedTuple):
    """A line of before that is one of now; `weight` is 1 for a line that holds all the same."""

    old: int
    new: int
    weight: float = 1.0


class Trace(NamedTuple):
    """Lines that a reference named before, and those it names now; None when it lost them."""

    old: tuple[int, int]
    new: tuple[int, int] | None


class Evidence(Protocol):
    """What is known of the lines of both versions."""

    @property
    def traces(self) -> Sequence[Trace]:
        """Where references lead, each pair once."""
        ...

    @property
    def olds(self) -> Sequence[int]:
        """The lines of before that are stored, rising."""
        ...

    @property
    def news(self) -> Sequence[int]:
        """Those of now."""
        ...

    def is_same(self, old: int, new: int) -> bool:
        """Whether two lines hold the same, whatever they look like."""
        ...

    def cost(self, old: int, new: int) -> float:
        """Return how many cells of two lines differ."""
        ...

    def held(self, line: int, *, is_new: bool) -> float:
        """Return how many cells of a line hold something."""
        ...


@dataclass(frozen=True, slots=True)
class _Segment:
    """Matched lines at one distance."""

    first: int  # line of before
    last: int
    shift: int
    weight: float


_START = _Segment(0, 0, 0, 0.0)


def search(axis: Axis, matches: Iterable[Match], evidence: Evidence) -> Lines:
    """Return the lines that came or went."""
    chain = _chain(_segments(matches))
    if len(chain) > _RUNS:
        return Lines(axis)
    runs: list[LineRun] = []
    for at, (one, two) in enumerate(pairwise(chain)):
        gap = _Gap(axis, (one, two), (runs, _rest(chain, at + 1)), evidence)
        runs.append(gap.best()[1])
    return Lines(axis, _joined([*runs, *_tail(axis, chain[-1], runs, evidence)]))


def agreement(lines: Lines, traces: Iterable[Trace]) -> tuple[int, int]:
    """Return how many references went along with the lines, and how many stayed behind."""
    agree = against = 0
    for trace in traces:
        now = lines.span(*trace.old)
        if now != trace.old:
            agree += now == trace.new
            against += trace.new == trace.old
    return agree, against


def _joined(runs: list[LineRun]) -> list[LineRun]:
    """Return runs of which no two touch."""
    found: list[LineRun] = []
    for run in sorted(runs):
        last = found[-1] if found else None
        if last is not None and last.is_gone == run.is_gone:
            end = last.at + last.count if run.is_gone else last.at
            if run.at == end:
                found[-1] = LineRun(last.at, run.is_gone, last.count + run.count)
                continue
        found.append(run)
    return found


# --- which lines are matched --------------------------------------------------------------------


def _segments(matches: Iterable[Match]) -> list[_Segment]:
    found: list[_Segment] = []
    for old, new, weight in sorted(matches):
        last = found[-1] if found else None
        if last is not None and last.shift == new - old and last.last < old:
            found[-1] = _Segment(last.first, old, last.shift, last.weight + weight)
        else:
            found.append(_Segment(old, old, new - old, weight))
    if len(found) > _SEGMENTS:
        found = sorted(found, key=lambda one: (-one.weight, one.first))[:_SEGMENTS]
        found.sort(key=lambda one: (one.first, one.shift))
    return found


def _chain(segments: list[_Segment]) -> list[_Segment]:
    """Return the rising row of segments that is worth most, those at one distance joined."""
    best: list[tuple[float, int]] = []  # what each is worth at the end of a row, and what is before
    for at, one in enumerate(segments):
        worth, before = (0.0 if one.shift == 0 else -_RUN_COST), -1
        if one.first + one.shift < 1:
            worth = -1.0
        for other, (so_far, _) in enumerate(best[:at]):
            if _follows(segments[other], one):
                cost = 0.0 if segments[other].shift == one.shift else _RUN_COST
                if so_far - cost >= worth:
                    worth, before = so_far - cost, other
        best.append((worth + one.weight, before))
    ends = [(worth, -at) for at, (worth, _) in enumerate(best)]
    top = max(ends, default=(0.0, 1))
    row: list[_Segment] = []
    at = -top[1] if top[0] > 0 else -1
    while at >= 0:
        row.append(segments[at])
        at = best[at][1]
    return _merged([_START, *row[::-1]])


def _follows(one: _Segment, two: _Segment) -> bool:
    return one.last < two.first and one.last + one.shift < two.first + two.shift


def _merged(row: list[_Segment]) -> list[_Segment]:
    found = row[:1]
    for one in row[1:]:
        last = found[-1]
        if last.shift == one.shift:
            found[-1] = _Segment(last.first, one.last, last.shift, last.weight + one.weight)
        else:
            found.append(one)
    return found


def _rest(chain: list[_Segment], at: int) -> list[LineRun]:
    """Return the runs behind a segment, each at the last place it can have."""
    return [
        LineRun(two.first - max(0, one.shift - two.shift), two.shift < one.shift, abs(by))
        for one, two in pairwise(chain[at:])
        for by in (two.shift - one.shift,)
    ]


# --- where they came or went --------------------------------------------------------------------


class _Gap:
    """The lines between two segments at different distances: between them others came or went."""

    def __init__(
        self,
        axis: Axis,
        ends: tuple[_Segment, _Segment],
        around: tuple[list[LineRun], list[LineRun]],
        evidence: Evidence,
    ) -> None:
        self._axis, self._around, self._evidence = axis, around, evidence
        self._one, self._two = ends
        self._by = self._two.shift - self._one.shift
        self._gone = max(0, -self._by)
        self._low, self._high = self._reach()
        last = self._high + self._gone
        self._traces = [
            one for one in evidence.traces if any(self._low - 1 <= end <= last for end in one.old)
        ]
        self._lines = self._stored(last)
        self._above = self._summed(self._one.shift)
        self._behind = self._summed(self._two.shift)
        self._held = [0.0, *accumulate(evidence.held(at, is_new=False) for at in self._lines)]

    def best(self) -> tuple[float, LineRun]:
        """Return the run beside which the fewest cells and references differ, and all that does."""
        _, cost, at = min((*self._cost(at), at) for at in self._places())
        return cost, self._run(at)

    def as_it_is(self) -> float:
        """Return how many cells and references differ if no lines came or went here."""
        return round(self._above[-1] + self._wrong([]), 3)

    def is_moving(self, run: LineRun) -> bool:
        """Whether a line that holds something stands behind the place."""
        behind = self._held[bisect_left(self._lines, run.at + self._gone)]
        return self._held[-1] > behind

    def _run(self, at: int) -> LineRun:
        return LineRun(at, self._by < 0, abs(self._by))

    def _cost(self, at: int) -> tuple[float, float]:
        """Return how many cells and references differ beside the run, and with what is in it."""
        above = bisect_left(self._lines, at)
        behind = bisect_left(self._lines, at + self._gone)
        beside = self._above[above] + self._behind[-1] - self._behind[behind]
        beside += self._wrong([self._run(at)])
        if self._gone:
            inside = self._held[behind] - self._held[above]
        else:
            first = at + self._one.shift
            came = _between(self._evidence.news, first, first + self._by - 1)
            inside = sum(self._evidence.held(line, is_new=True) for line in came[:_SLIDE])
        return round(beside, 3), round(beside + inside, 3)

    def _wrong(self, run: list[LineRun]) -> int:
        if not self._traces:
            return 0
        lines = Lines(self._axis, [*self._around[0], *run, *self._around[1]])
        return sum(lines.span(*one.old) != one.new for one in self._traces)

    def _reach(self) -> tuple[int, int]:
        """Return the first and the last place; equal lines on both sides do not hold it."""
        one, two, is_same = self._one, self._two, self._evidence.is_same
        low, high, gone = one.last + 1, two.first - self._gone, self._gone
        shift = one.shift if gone else two.shift  # where a line goes that the run passes upwards
        for _ in range(_SLIDE):
            if low - 1 < max(1, one.first) or not is_same(low - 1 + gone, low - 1 + shift):
                break
            low -= 1
        for _ in range(_SLIDE if two.weight else 0):
            if high + gone > two.last or not is_same(high, high + one.shift):
                break
            high += 1
        return low, max(low, high)

    def _places(self) -> list[int]:
        """Return the places that may make a difference."""
        found = {self._low, self._high}
        for line in (*self._lines, *(end for trace in self._traces for end in trace.old)):
            found.update((line, line + 1, line - self._gone, line - self._gone + 1))
        most = max(_FEW_PLACES, _PLACES // (1 + len(self._around[0]) + len(self._around[1])))
        return sorted(at for at in found if self._low <= at <= self._high)[:most]

    def _stored(self, last: int) -> list[int]:
        """Return the lines of before at which something is stored before, or may be now."""
        found = {*_between(self._evidence.olds, self._low, last)}
        for shift in (self._one.shift, self._two.shift):
            news = _between(self._evidence.news, self._low + shift, last + shift)
            found.update(line - shift for line in news)
        return sorted(found)[:_SLIDE]

    def _summed(self, shift: int) -> list[float]:
        return [0.0, *accumulate(self._evidence.cost(at, at + shift) for at in self._lines)]


def _between(lines: Sequence[int], first: int, last: int) -> Sequence[int]:
    return lines[bisect_left(lines, first) : bisect_right(lines, last)]


# --- behind the last matched line ---------------------------------------------------------------


def _tail(axis: Axis, last: _Segment, runs: list[LineRun], evidence: Evidence) -> list[LineRun]:
    """Return the run behind all matched lines, if one makes fewer cells and references differ.

    Lines only came where others had to move for them: a reference that reaches further is no sign.
    """
    traces = [one for one in evidence.traces if one.old[1] > last.last]
    ends = [*evidence.olds[-1:], *(end for one in traces for end in one.old)]
    ends += [line - last.shift for line in evidence.news[-1:]]
    found: tuple[float, LineRun] | None = None
    for by in _tail_shifts(last, traces, evidence):
        first = max([last.last, *ends]) + 1 + abs(by)
        edge = _Segment(first, first, last.shift + by, 0.0)
        gap = _Gap(axis, (last, edge), (runs, []), evidence)
        cost, run = gap.best()
        saved = gap.as_it_is() - cost
        is_moved = run.is_gone or gap.is_moving(run)
        if is_moved and saved > _RUN_COST and (found is None or saved > found[0]):
            found = saved, run
    return [] if found is None else [found[1]]


def _tail_shifts(last: _Segment, traces: list[Trace], evidence: Evidence) -> list[int]:
    """Return the distances that lines behind the last matched one may have, beyond its own."""
    told: Counter[int] = Counter()
    for trace in traces:
        if trace.new is not None:
            told[trace.new[1] - trace.old[1] - last.shift] += 1
    if evidence.olds and evidence.news:
        told[evidence.news[-1] - evidence.olds[-1] - last.shift] += 1
    del told[0]
    order = sorted(told, key=lambda by: (-told[by], abs(by), by))
    return order[:_TAIL_SHIFTS]
