"""Packs the engine itself understands: loops, capabilities, gaps, inputs, assessments."""

from __future__ import annotations

from .shape import (
    CAPABILITIES,
    COUNT,
    DIVERGENCE_REASONS,
    SEVERITY,
    list_of,
    object_of,
    one_of,
    pack,
    text,
)

ENGINE = (
    pack(
        "loop_control",
        "Whether a loop goes on",
        {"decision": one_of("continue", "stop")},
        {
            "loopId": text(high=64),
            "summary": text(high=1024),
            "metadata": object_of(
                {},
                {
                    "reason": text(high=1024),
                    "issuesFound": COUNT,
                    "iterationIndex": COUNT,
                    "confidence": {"type": "number", "minimum": 0, "maximum": 100},
                },
            ),
        },
        example={"decision": "stop"},
    ),
    pack(
        "capability_observation",
        "Whether a capability works here",
        {
            "capability": one_of(*CAPABILITIES),
            "status": one_of("available", "unavailable", "unknown"),
        },
        {
            "attempt": object_of(
                {"result": one_of("success", "failure")},
                {"failureCode": one_of("tool_missing", "tool_error", "policy_blocked", "unknown")},
            ),
            "remediation": text(high=500),
        },
        example={
            "capability": "web_browsing",
            "status": "unavailable",
            "attempt": {"result": "failure", "failureCode": "tool_missing"},
            "remediation": "Example: add a browsing tool, or paste the sources.",
        },
    ),
    pack(
        "workflow_divergence",
        "A departure from the workflow",
        {"reason": one_of(*DIVERGENCE_REASONS), "summary": text(1, 1024)},
        {"relatedStepId": text()},
        example={
            "reason": "efficiency_skip",
            "summary": "Example: skipped the second scan; the first was exhaustive.",
            "relatedStepId": "example-step",
        },
        aliases=("workflow_divergence",),
    ),
    pack(
        "gaps",
        "Something missing, or found again",
        {"severity": SEVERITY, "summary": text(1, 1024)},
        {"detail": text(high=200), "resolvesGapId": text()},
        kind="wr.gap",
        example={"severity": "warning", "summary": "Example: no design doc was available."},
    ),
    pack(
        "user_input",
        "What the person decided or gave",
        {"inputId": text(1, 64), "decision": one_of("approved", "rejected", "provided")},
        {"summary": text(high=1024)},
        example={
            "inputId": "approval",
            "decision": "approved",
            "summary": "Example: approved, as long as the totals stay.",
        },
    ),
    pack(
        "assessment",
        "Levels of a declared assessment",
        {
            "dimensions": {
                "type": "object",
                "minProperties": 1,
                "additionalProperties": {
                    "anyOf": [text(1), object_of({"level": text(1)}, {"rationale": text(0, 512)})]
                },
            }
        },
        {"assessmentId": text(1, 64), "summary": text(high=1024)},
        example={"assessmentId": "readiness", "dimensions": {"evidence": "high"}},
    ),
    pack(
        "verification_report",
        "What was checked and how it came out",
        {
            "checks": list_of(
                object_of(
                    {"name": text(1), "result": one_of("pass", "fail", "skipped")},
                    {"evidence": text(high=1024)},
                ),
                least=1,
            ),
            "summary": text(1, 1024),
        },
        example={
            "checks": [
                {
                    "name": "Example: unit tests of the parser",
                    "result": "pass",
                    "evidence": "Example: 212 passed in 3.1 s",
                }
            ],
            "summary": "Example: all checks pass.",
        },
    ),
    pack(
        "coordinator_signal",
        "A message to whoever coordinates the run",
        {
            "signalKind": one_of(
                "progress", "finding", "data_needed", "approval_needed", "blocked"
            ),
            "payload": {"type": "object"},
        },
        {"sessionId": text()},
        example={"signalKind": "progress", "payload": {"done": 3, "of": 5}},
    ),
)
