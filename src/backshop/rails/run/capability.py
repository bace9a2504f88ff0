"""Optional capabilities: what was observed, how well, and what is still needed (R8.14–R8.19)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..compile import CompiledStep
from ..packs import CAPABILITIES
from ..session.state import Observed
from .contract import SUPPLY, conforms
from .inputs import Artifact
from .reason import Reason

PROBE_TEMPLATE = "wr.templates.capability_probe"


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One valid observation artifact, with the provenance the server gives it."""

    capability: str
    status: str
    provenance: Mapping[str, object]
    remediation: str | None = None

    @property
    def is_strong(self) -> bool:
        """Whether it counts for a required capability."""
        return self.provenance["enforcementGrade"] == "strong"


def observations(step: CompiledStep, artifacts: Iterable[Artifact]) -> list[Observation]:
    """Return what the artifacts of an acknowledgement say about capabilities (R8.17)."""
    found = []
    for artifact in artifacts:
        if not _is_observation(artifact):
            continue
        remediation = artifact.get("remediation")
        found.append(
            Observation(
                capability=str(artifact["capability"]),
                status=str(artifact["status"]),
                provenance=_provenance(step, artifact),
                remediation=remediation if isinstance(remediation, str) else None,
            )
        )
    return found


def places(artifacts: Sequence[Artifact]) -> frozenset[int]:
    """Return where the observations stand among the artifacts that were sent."""
    return frozenset(at for at, one in enumerate(artifacts) if _is_observation(one))


def _is_observation(artifact: Artifact) -> bool:
    kind = "wr.capability_observation"
    return artifact["kind"] == kind and not conforms(kind, artifact)


def after(before: Mapping[str, Observed], seen: Iterable[Observation]) -> Mapping[str, Observed]:
    """Return the status of every capability once the observations count."""
    now = dict(before)
    for one in seen:
        known = now.get(one.capability, Observed())
        now[one.capability] = Observed(one.status if one.is_strong else known.enforced, one.status)
    return now


def probe_reason(
    step: CompiledStep, now: Mapping[str, Observed], seen: Iterable[Observation], level: str | None
) -> Reason | None:
    """Return why a probe of a required capability cannot be passed."""
    capability = step.probe
    if capability is None or level != "required":
        return None
    status = now.get(capability, Observed()).enforced
    if status == "available":
        return None
    said = [one.remediation for one in seen if one.capability == capability and one.remediation]
    fix = said[-1] if said else SUPPLY.get(capability, "")
    word = "unavailable" if status == "unavailable" else "unknown"
    return Reason(
        detail=f"required_capability_{word}",
        pointer={"kind": "capability", "capability": capability},
        message=f"This workflow needs {capability}, which is {word} here.",
        fix=f"{fix} Then try it again and send a new observation with the tokens of this answer.",
    )


def degraded(
    requested: Mapping[str, str], seen: Iterable[Observation], warned: frozenset[str]
) -> list[str]:
    """Return preferred capabilities newly reported unavailable, each once (R8.18)."""
    return sorted(
        {
            one.capability
            for one in seen
            if one.status == "unavailable"
            and requested.get(one.capability) == "preferred"
            and f"CAPABILITY_DEGRADED:{one.capability}" not in warned
        }
    )


def _provenance(step: CompiledStep, artifact: Artifact) -> Mapping[str, object]:
    attempt = artifact.get("attempt")
    status = artifact["status"]
    if step.probe is not None and step.probe == artifact["capability"]:
        result = "success" if status == "available" else "failure"
        detail: dict[str, object] = {
            "probeTemplateId": PROBE_TEMPLATE,
            "probeStepId": step.step_id,
            "result": result,
        }
        return {"kind": "probe_step", "enforcementGrade": "strong", "detail": detail}
    if isinstance(attempt, Mapping):
        detail = {"attemptContext": "workflow_step", "result": attempt["result"]}
        if attempt["result"] == "failure":
            detail["failureCode"] = attempt.get("failureCode", "unknown")
        return {"kind": "attempted_use", "enforcementGrade": "strong", "detail": detail}
    claim = "available" if status == "available" else "unavailable"
    detail = {"claimedBy": "agent", "claim": claim}
    return {"kind": "manual_claim", "enforcementGrade": "weak", "detail": detail}


__all__ = [
    "CAPABILITIES",
    "Observation",
    "after",
    "degraded",
    "observations",
    "places",
    "probe_reason",
]
