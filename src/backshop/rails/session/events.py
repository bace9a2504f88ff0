"""The facts of a rails session: a closed set, exactly what is stored (R4.2).

Run and node of a fact are its scope and stand beside it, not in it. Facts that an acknowledgement
produced hang on the node it created, so every branch carries its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from backshop.base.canon import sha256_hex
from backshop.base.codec import camel
from backshop.base.event import event, type_of

NodeKind = Literal["step", "checkpoint", "blocked_attempt"]
EdgeKind = Literal["acked_step", "checkpoint", "blocked_attempt"]
CauseKind = Literal[
    "tip_advance", "non_tip_advance", "intentional_fork", "checkpoint_created", "attempt_blocked"
]
Driver = Literal["mcp", "builtin", "cli"]
Autonomy = Literal["guided", "full_auto_stop_on_user_deps", "full_auto_never_stop"]
RiskPolicy = Literal["conservative", "balanced", "aggressive"]
Capability = Literal["delegation", "web_browsing"]
Json = dict[str, object]


@event("session_created")
@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCreated:
    """A workstream began."""


@event("observation_recorded")
@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class ObservationRecorded:
    """Something about where the work happens; the latest per key counts (R4.11)."""

    key: Literal["git_branch", "git_head_sha", "repo_root_hash", "workspace_name", "title"]
    value: Json  # {type, value}
    confidence: Literal["low", "med", "high"]


@camel
@dataclass(frozen=True, slots=True)
class Parent:
    """The node of another run of this session that started this one."""

    run_id: str
    node_id: str


@camel
@dataclass(frozen=True, slots=True)
class ReferenceStatus:
    """Whether a reference of the workflow was found when the run began."""

    id: str
    status: Literal["resolved", "unresolved"]


@camel
@dataclass(frozen=True, slots=True)
class Effective:
    """The preferences in force."""

    autonomy: Autonomy
    risk_policy: RiskPolicy


@event("run_started", v=2, upgraders={1: dict})  # 2: may say mode and context itself
@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """A pinned workflow is being executed."""

    workflow_id: str
    workflow_hash: str
    source_kind: str
    source_ref: str
    driver: Driver
    references: tuple[ReferenceStatus, ...]
    request_digest: str
    response_ref: str
    parent: Parent | None = None
    preferences: Effective | None = None  # these two of runs that say them here (R4.16)
    context: Json | None = None


@event("node_created")
@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCreated:
    """A position in a run; its snapshot says what is done and what is pending."""

    node_kind: NodeKind
    workflow_hash: str
    snapshot_ref: str
    parent_node_id: str | None = None  # absent for the root


@camel
@dataclass(frozen=True, slots=True)
class Cause:
    """Why an edge exists, and the event that says so."""

    kind: CauseKind
    event_id: str


@event("edge_created")
@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeCreated:
    """A node descends from another."""

    edge_kind: EdgeKind
    from_node_id: str
    to_node_id: str
    cause: Cause


@camel
@dataclass(frozen=True, slots=True)
class Outcome:
    """What an acknowledgement led to (R4.12); `blockers` only when blocked."""

    kind: Literal["advanced", "blocked"]
    to_node_id: str
    blockers: tuple[Json, ...] | None = None


@event("advance_recorded")
@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class AdvanceRecorded:
    """An acknowledgement was decided; it hangs on the node that was acknowledged."""

    attempt_id: str
    request_digest: str
    outcome: Outcome
    response_ref: str
    intent: Literal["ack_pending"] = "ack_pending"


@event("checkpoint_recorded")
@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointRecorded:
    """Progress was noted without advancing."""

    attempt_id: str
    to_node_id: str
    request_digest: str
    response_ref: str


@camel
@dataclass(frozen=True, slots=True)
class ValidationResult:
    """What a check of an output found."""

    valid: bool
    issues: tuple[str, ...]
    suggestions: tuple[str, ...]


@event("validation_performed")
@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationPerformed:
    """An output was checked against its contract."""

    validation_id: str
    attempt_id: str
    contract_ref: str
    result: ValidationResult


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """An output: notes in place (whole text by `full_ref` if cut), artifacts by hash (R4.13)."""

    payload_kind: Literal["notes", "artifact_ref"]
    notes_markdown: str | None = None
    full_ref: str | None = None
    sha256: str | None = None
    content_type: str | None = None
    byte_length: int | None = None
    kind: str | None = None


@event("node_output_appended")
@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class NodeOutputAppended:
    """The agent handed something in."""

    output_id: str
    output_channel: Literal["recap", "artifact"]
    payload: Payload
    supersedes_output_id: str | None = None


@event("session_output_appended")
@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOutputAppended:
    """A note or artifact of the session itself, outside any run (R4.23)."""

    output_id: str
    output_channel: Literal["recap", "artifact"]
    payload: Payload
    attempt_id: str
    request_digest: str
    supersedes_output_id: str | None = None


@event("context_set")
@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSet:
    """External inputs changed, for this node and what descends from it."""

    context_id: str
    source: Literal["initial", "agent_delta", "user"]
    set: Json
    removed: tuple[str, ...]


@camel
@dataclass(frozen=True, slots=True)
class PreferenceChange:
    """One preference and its new value."""

    key: Literal["autonomy", "riskPolicy"]
    value: str


@event("preferences_changed", v=2, upgraders={1: dict})  # 2: an agent's change says so
@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class PreferencesChanged:
    """The mode changed, from this node on. In version 1 an agent's change says `user`."""

    change_id: str
    source: Literal["user", "agent", "workflow_recommendation", "system"]
    delta: tuple[PreferenceChange, ...]
    effective: Effective


@event("preferences_wished")
@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class PreferencesWished:
    """An agent asked for more automation than it has; a person may allow it (R8.4)."""

    wish_id: str
    wanted: tuple[PreferenceChange, ...]


@event("capability_observed")
@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class CapabilityObserved:
    """What is known about an optional capability, and how well (R8.17)."""

    cap_obs_id: str
    capability: Capability
    status: Literal["available", "unavailable", "unknown"]
    provenance: Json


@event("user_input_recorded", v=2, upgraders={1: dict})  # 2: handed in by a person's own call
@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class UserInputRecorded:
    """What a person decided or provided for a step, or what an agent says they did (R8.21)."""

    user_input_id: str
    input_id: str
    reason: str
    summary: str
    provenance: Literal["agent_relayed", "studio", "person"]
    decision: Literal["approved", "rejected", "provided"] | None = None


@camel
@dataclass(frozen=True, slots=True)
class GapReason:
    """Why something is missing."""

    category: Literal[
        "user_only_dependency",
        "contract_violation",
        "capability_missing",
        "unexpected",
        "agent_reported",
    ]
    detail: str


@camel
@dataclass(frozen=True, slots=True)
class Resolution:
    """Whether a gap stands, or answers an earlier one."""

    kind: Literal["unresolved", "resolves"]
    resolves_gap_id: str | None = None


@event("gap_recorded")
@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class GapRecorded:
    """The run went on without something it should have had (R8.22)."""

    gap_id: str
    severity: Literal["info", "warning", "critical"]
    reason: GapReason
    summary: str
    resolution: Resolution
    evidence_refs: tuple[Json, ...] | None = None


@event("divergence_recorded")
@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class DivergenceRecorded:
    """The agent left the planned course on purpose and said why (R8.26)."""

    divergence_id: str
    reason: Literal[
        "missing_user_context",
        "capability_unavailable",
        "efficiency_skip",
        "safety_stop",
        "policy_constraint",
    ]
    summary: str
    related_step_id: str | None = None


@camel
@dataclass(frozen=True, slots=True)
class DimensionLevel:
    """One judged dimension of an assessment."""

    dimension_id: str
    level: str
    normalization: Literal["exact", "normalized"]
    rationale: str | None = None


@camel
@dataclass(frozen=True, slots=True)
class Fired:
    """A consequence that a level set off."""

    level: str
    guidance: str


@event("assessment_recorded")
@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class AssessmentRecorded:
    """A declared assessment was made."""

    assessment_record_id: str
    assessment_id: str
    attempt_id: str
    output_id: str
    dimensions: tuple[DimensionLevel, ...]
    fired_consequences: tuple[Fired, ...]


@event("warning_recorded")
@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class WarningRecorded:
    """Something the agent and the person should know."""

    warning_id: str
    code: str
    message: str
    details: Json


@camel
@dataclass(frozen=True, slots=True)
class TraceEntry:
    """One remark of the interpreter about its choice."""

    kind: Literal[
        "selected_next_step",
        "evaluated_condition",
        "skipped_step",
        "entered_loop",
        "exited_loop",
        "detected_non_tip_advance",
    ]
    summary: str
    refs: tuple[Json, ...] | None = None


@event("decision_trace_appended")
@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionTraceAppended:
    """Why the interpreter chose as it did (R4.15)."""

    trace_id: str
    entries: tuple[TraceEntry, ...]


Fact = (
    SessionCreated
    | ObservationRecorded
    | RunStarted
    | NodeCreated
    | EdgeCreated
    | AdvanceRecorded
    | CheckpointRecorded
    | ValidationPerformed
    | NodeOutputAppended
    | SessionOutputAppended
    | ContextSet
    | PreferencesChanged
    | PreferencesWished
    | CapabilityObserved
    | UserInputRecorded
    | GapRecorded
    | DivergenceRecorded
    | AssessmentRecorded
    | WarningRecorded
    | DecisionTraceAppended
)


@dataclass(frozen=True, slots=True)
class Scoped:
    """A fact with its place and the key that makes its append idempotent."""

    fact: Fact
    key: str
    run_id: str | None = None
    node_id: str | None = None
    dedupe_key: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "dedupe_key", f"{type_of(self.fact).name}:{self.key}")


def short_digest(data: bytes) -> str:
    """Return how a value enters a dedupe key (R4.10)."""
    return sha256_hex(data)[:32]
