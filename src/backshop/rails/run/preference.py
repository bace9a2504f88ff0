"""The two preferences, their presets, and what a workflow recommends (R8.1–R8.9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from ..compile import Recommended
from ..session.events import Autonomy, Effective, PreferenceChange, RiskPolicy

AUTONOMY: tuple[Autonomy, ...] = get_args(Autonomy)  # rising
RISK: tuple[RiskPolicy, ...] = get_args(RiskPolicy)


@dataclass(frozen=True, slots=True)
class Preset:
    """A mode as people choose it."""

    id: str
    label: str
    values: Effective
    summary: str


PRESETS: Mapping[str, Preset] = {
    preset.id: preset
    for preset in (
        Preset(
            "guided",
            "Guided",
            Effective("guided", "conservative"),
            "The agent waits for you where a step asks for confirmation.",
        ),
        Preset(
            "full_auto",
            "Full auto (stops for you)",
            Effective("full_auto_stop_on_user_deps", "balanced"),
            "The agent goes on by itself and stops only for what only you can give.",
        ),
        Preset(
            "full_auto_nonstop",
            "Full auto (never stops)",
            Effective("full_auto_never_stop", "conservative"),
            "The agent never stops; what is missing is disclosed as a gap.",
        ),
    )
}


@dataclass(frozen=True, slots=True)
class Change:
    """A requested change; None leaves a preference as it is."""

    autonomy: Autonomy | None = None
    risk_policy: RiskPolicy | None = None


def applied(now: Effective, wanted: Change) -> Effective:
    """Return the preferences after a change."""
    return replace(
        now,
        autonomy=wanted.autonomy or now.autonomy,
        risk_policy=wanted.risk_policy or now.risk_policy,
    )


def lowest(one: Effective, other: Effective) -> Effective:
    """Return the more careful of both, each preference by itself."""
    return Effective(
        min(one.autonomy, other.autonomy, key=AUTONOMY.index),
        min(one.risk_policy, other.risk_policy, key=RISK.index),
    )


def granted(
    now: Effective, wanted: Change, *, only_careful: bool
) -> tuple[Effective, tuple[PreferenceChange, ...]]:
    """Return the preferences after a change, and what of it was not granted (R8.4).

    `only_careful` grants what makes a run more careful and nothing else.
    """
    if not only_careful:
        return applied(now, wanted), ()
    refused = []
    if wanted.autonomy is not None and _above(AUTONOMY, wanted.autonomy, now.autonomy):
        refused.append(PreferenceChange("autonomy", wanted.autonomy))
        wanted = replace(wanted, autonomy=None)
    if wanted.risk_policy is not None and _above(RISK, wanted.risk_policy, now.risk_policy):
        refused.append(PreferenceChange("riskPolicy", wanted.risk_policy))
        wanted = replace(wanted, risk_policy=None)
    return applied(now, wanted), tuple(refused)


def delta(before: Effective | None, after: Effective) -> tuple[PreferenceChange, ...]:
    """Return what changed; everything when there was nothing before."""
    found = []
    if before is None or before.autonomy != after.autonomy:
        found.append(PreferenceChange("autonomy", after.autonomy))
    if before is None or before.risk_policy != after.risk_policy:
        found.append(PreferenceChange("riskPolicy", after.risk_policy))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Excess:
    """A preference above what the author thinks safe."""

    key: str
    effective: str
    recommended: str


def excesses(effective: Effective, recommended: Recommended) -> tuple[Excess, ...]:
    """Return the preferences that exceed the recommendation (R8.9)."""
    found = []
    autonomy, risk = recommended.recommended_autonomy, recommended.recommended_risk_policy
    if _above(AUTONOMY, effective.autonomy, autonomy):
        found.append(Excess("autonomy", effective.autonomy, str(autonomy)))
    if _above(RISK, effective.risk_policy, risk):
        found.append(Excess("riskPolicy", effective.risk_policy, str(risk)))
    return tuple(found)


def highest_within(effective: Effective, recommended: Recommended) -> str:
    """Name the boldest combination that stays within the recommendation."""
    autonomy = recommended.recommended_autonomy or effective.autonomy
    risk = recommended.recommended_risk_policy or effective.risk_policy
    return f"{autonomy} with {risk}"


def wire(effective: Effective, wished: Sequence[PreferenceChange] = ()) -> dict[str, object]:
    """Return preferences as answers show them, with what the agent asked for and does not have."""
    found: dict[str, object] = {
        "autonomy": effective.autonomy,
        "riskPolicy": effective.risk_policy,
    }
    return {**found, "wished": {one.key: one.value for one in wished}} if wished else found


def _above(order: tuple[str, ...], value: str, limit: str | None) -> bool:
    return limit in order and order.index(value) > order.index(limit)
