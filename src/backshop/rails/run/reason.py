"""Every reason why a step cannot be acknowledged: a blocker, or the same as a gap (R8.16).

Blocking modes show reasons as blockers and keep the step pending; never-stop turns the same
reasons into gaps and goes on. Nothing is ever both or neither.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from backshop.base.canon import canonical
from backshop.base.ids import did

from ..errors import cut
from ..session.events import Autonomy, GapReason, GapRecorded, Resolution

BLOCKERS_MAX = 10
MESSAGE_MAX_BYTES = 512
FIX_MAX_BYTES = 1024
SUMMARY_MAX_BYTES = 1024

Pointer = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of the table: category, detail and code are fixed together."""

    category: str
    code: str
    retryable: bool = True


_USER = "user_only_dependency"
_CONTRACT = "contract_violation"
_CAPABILITY = "capability_missing"
_ROWS: Mapping[str, _Row] = {
    "needs_user_secret_or_token": _Row(_USER, "USER_ONLY_DEPENDENCY"),
    "needs_user_account_access": _Row(_USER, "USER_ONLY_DEPENDENCY"),
    "needs_user_artifact": _Row(_USER, "USER_ONLY_DEPENDENCY"),
    "needs_user_choice": _Row(_USER, "USER_ONLY_DEPENDENCY"),
    "needs_user_approval": _Row(_USER, "USER_ONLY_DEPENDENCY"),
    "needs_user_environment_action": _Row(_USER, "USER_ONLY_DEPENDENCY"),
    "missing_required_output": _Row(_CONTRACT, "MISSING_REQUIRED_OUTPUT"),
    "invalid_required_output": _Row(_CONTRACT, "INVALID_REQUIRED_OUTPUT"),
    "missing_required_notes": _Row(_CONTRACT, "MISSING_REQUIRED_NOTES"),
    "assessment_followup_required": _Row(_CONTRACT, "ASSESSMENT_FOLLOWUP_REQUIRED"),
    "missing_context_key": _Row(_CONTRACT, "MISSING_CONTEXT_KEY"),
    "required_capability_unknown": _Row(_CAPABILITY, "REQUIRED_CAPABILITY_UNKNOWN"),
    "required_capability_unavailable": _Row(_CAPABILITY, "REQUIRED_CAPABILITY_UNAVAILABLE"),
    "invariant_violation": _Row("unexpected", "INVARIANT_VIOLATION", retryable=False),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why a step cannot simply be counted as done; `detail` is a key of the table."""

    detail: str
    pointer: Pointer
    message: str
    fix: str | None = None
    context: Mapping[str, object] = field(default_factory=dict)
    """What the next call's context should hold, as placeholders."""
    artifact: Mapping[str, object] | None = None
    """An artifact the next call should hold, as a form."""

    @property
    def category(self) -> str:
        """The group this reason belongs to."""
        return _ROWS[self.detail].category

    @property
    def code(self) -> str:
        """The blocker code."""
        return _ROWS[self.detail].code

    @property
    def is_retryable(self) -> bool:
        """Whether a better acknowledgement can get past it."""
        return _ROWS[self.detail].retryable

    @property
    def name(self) -> str:
        """`category:detail`, as snapshots keep it."""
        return f"{self.category}:{self.detail}"


def blocks(autonomy: Autonomy) -> bool:
    """Say whether this mode stops for reasons."""
    return autonomy != "full_auto_never_stop"


def ordered(reasons: Sequence[Reason]) -> list[Reason]:
    """Return reasons in the order blockers are listed."""
    return sorted(reasons, key=_order)


def blockers(reasons: Sequence[Reason]) -> list[dict[str, object]]:
    """Return what a blocked answer lists: at most ten, sorted, within their bytes."""
    found = [_blocker(reason, "") for reason in ordered(reasons)]
    left_out = len(found) - BLOCKERS_MAX
    if left_out > 0:
        last = ordered(reasons)[BLOCKERS_MAX - 1]
        found[BLOCKERS_MAX - 1 :] = [_blocker(last, f" ({left_out} more left out)")]
    return found


def gaps(found: Sequence[Reason], node_id: str) -> list[GapRecorded]:
    """Return the critical gaps that disclose reasons; reasons that look alike stay apart."""
    seen: dict[str, int] = {}
    disclosed = []
    for reason in found:
        own = gap_id(node_id, reason.category, reason.detail, reason.pointer)
        number = seen.get(own, 0)
        seen[own] = number + 1
        disclosed.append(_gap(reason, did("gap", own, number) if number else own))
    return disclosed


def _gap(reason: Reason, own_id: str) -> GapRecorded:
    return GapRecorded(
        gap_id=own_id,
        severity="critical",
        reason=GapReason(reason.category, reason.detail),  # type: ignore[arg-type]  # the table's
        summary=cut(reason.message, SUMMARY_MAX_BYTES),
        resolution=Resolution("unresolved"),
    )


def limit_gap(node_id: str, loop_id: str, iteration: int, max_iterations: int) -> GapRecorded:
    """Return the warning that a loop ended only because of its limit (R1.26)."""
    pointer = {"kind": "loop", "loopId": loop_id, "iteration": iteration}
    return GapRecorded(
        gap_id=gap_id(node_id, "unexpected", "loop_limit_reached", pointer),
        severity="warning",
        reason=GapReason("unexpected", "loop_limit_reached"),
        summary=cut(
            f"Loop {loop_id} ended at its limit: {iteration} passes were made and"
            f" maxIterations is {max_iterations}.",
            SUMMARY_MAX_BYTES,
        ),
        resolution=Resolution("unresolved"),
    )


def gap_id(node_id: str, category: str, detail: str, pointer: Pointer) -> str:
    """Return the id of an engine gap (R8.22)."""
    return did("gap", node_id, category, detail, canonical(dict(pointer)).decode())


def _blocker(reason: Reason, tail: str) -> dict[str, object]:
    message = cut(reason.message or reason.code, MESSAGE_MAX_BYTES - len(tail.encode())) + tail
    found: dict[str, object] = {
        "code": reason.code,
        "pointer": dict(reason.pointer),
        "message": message,
    }
    if reason.fix:
        found["suggestedFix"] = cut(reason.fix, FIX_MAX_BYTES)
    return found


def _order(reason: Reason) -> tuple[str, ...]:
    kind = str(reason.pointer.get("kind", ""))
    rest = [str(value) for key, value in reason.pointer.items() if key != "kind"]
    return (reason.code, kind, *rest, reason.message)
