"""What a loop may do: the tools of its phase, and how much direct work goes without a plan.

Counts come from the calls of the loop itself, so that the rule needs no clock and no store (W7.1,
W11.33).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from backshop.base.limits import (
    WORK_CALLS_MAX,
    WORK_FILES_MAX,
    WORK_REQUESTS_MAX,
    WORK_WRITES_MAX,
)

from .phase import REQUEST_PLAN, WRITING_TOOLS, Phase

ONLY_ANSWERS = "This turn only answers: nothing can be changed in it."
WANTS_PLAN = (
    "Not run: direct work has reached its limit ({}). Call request_plan with what you found and "
    "the items that are left; what you wrote stays. If nothing is left, write the answer."
)
SOON = (
    "Notice: direct work is near its limit ({}). Finish soon, or call request_plan with the items "
    "that are left."
)
IGNORED_MAX = 2  # answers with refused writes, after which the engine asks for the plan itself
_NEAR = 2 / 3


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkLimits:
    """How much a turn does directly before it has to plan."""

    requests: int = WORK_REQUESTS_MAX
    calls: int = WORK_CALLS_MAX
    writes: int = WORK_WRITES_MAX
    files: int = WORK_FILES_MAX


@dataclass(slots=True)
class Allowance:
    """Says of each call of one loop whether it may be made."""

    phase: Phase
    mode: str = "agent"
    limits: WorkLimits | None = None
    """Of direct work; None where a plan says what is to be done."""
    requests: int = 0
    calls: int = 0
    writes: int = 0
    files: set[str] = field(default_factory=set)
    ignored: set[int] = field(default_factory=set)
    """The answers with writes that were refused because a plan is wanted, by their number."""
    is_said: bool = False

    def refusal(self, tool: str) -> str | None:
        """Return why a tool may not be used now, in a sentence."""
        if tool not in self.phase.tools:
            return self.phase.why or f"{tool} is not used here."
        if self.mode == "ask" and (tool in WRITING_TOOLS or tool == REQUEST_PLAN):
            return ONLY_ANSWERS
        reached = self._reached(1.0, self.requests - 1)  # calls of the present one are part of it
        if tool in WRITING_TOOLS and reached:
            self.ignored.add(self.requests)
            return WANTS_PLAN.format(reached)
        return None

    def asked(self) -> None:
        """Count a request that was answered with calls."""
        self.requests += 1

    def called(self, tool: str, path: str, *, ok: bool) -> str | None:
        """Count a call; return what the model is told about the limits, once."""
        self.calls += 1
        if tool in WRITING_TOOLS and ok:
            self.writes += 1
            self.files |= {path} if path else set()
        near = self._reached(_NEAR, self.requests)
        if not near or self.is_said or self.mode == "ask":
            return None
        self.is_said = True
        return SOON.format(near)

    @property
    def is_planned_for(self) -> bool:
        """Whether the model went on writing although it was told twice that a plan is wanted."""
        return len(self.ignored) >= IGNORED_MAX

    def _reached(self, share: float, requests: int) -> str:
        if self.limits is None:
            return ""
        counted = (
            (requests, self.limits.requests, "requests"),
            (self.calls, self.limits.calls, "calls"),
            (self.writes, self.limits.writes, "writes"),
            (len(self.files), self.limits.files, "files written one by one"),
        )
        for count, most, what in counted:
            if count >= most * share:
                return f"{count} of {most} {what}"
        return ""
