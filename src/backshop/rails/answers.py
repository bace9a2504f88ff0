"""The shapes of the tools' structured content, for schemas and tests (R7.4–R7.14)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from backshop.base.codec import camel

from .session.events import Autonomy, GapReason, Resolution, RiskPolicy

Json = dict[str, object]
WarningCode = Literal[
    "WORKFLOW_DRIFT",
    "WORKFLOW_SOURCE_MISSING",
    "BINDING_DRIFT",
    "MODE_EXCEEDS_RECOMMENDATION",
    "NOTES_MISSING",
    "NOTES_TRUNCATED",
    "CAPABILITY_DEGRADED",
    "LOOP_LIMIT_REACHED",
    "REFERENCE_UNRESOLVED",
    "LEGACY_WORKFLOW_ID",
    "WORKFLOW_ID_ALIASED",
    "LEVEL_NORMALIZED",
    "ARTIFACT_UNRECOGNISED",
    "FILES_OF_ANOTHER_BRANCH",
    "AUTOMATION_NOT_GRANTED",
    "INPUT_CLAIMED",
    "TURN_FACTS",
]  # R8.10


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Warned:
    """A warning."""

    code: WarningCode
    message: str
    details: Json | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class FoundProblem:
    """A finding about a workflow file."""

    code: str
    severity: Literal["error", "warning"]
    pointer: str
    message: str
    fix: str | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class NextCall:
    """The exact call to make next."""

    tool: str
    arguments: Json


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class LoopPlace:
    """Which pass of a loop a step stands in."""

    loop_id: str
    iteration: int
    max_iterations: int


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class ContractShown:
    """The typed output a step must have."""

    contract_ref: str
    required: bool
    shape: Json
    example: Json


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class PendingStep:
    """The step to do."""

    step_id: str
    title: str
    prompt: str
    require_confirmation: bool
    collapsed: bool
    agent_role: str | None = None
    model_tier: str | None = None
    loop: LoopPlace | None = None
    output_contract: ContractShown | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlace:
    """Where the answer belongs."""

    session_id: str
    run_id: str
    resume_ref: str
    workflow_id: str


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """The preferences in force."""

    autonomy: Autonomy
    risk_policy: RiskPolicy
    wished: Json | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class GapShown:
    """A gap this call recorded."""

    gap_id: str
    severity: Literal["info", "warning", "critical"]
    reason: GapReason
    summary: str
    resolution: Resolution
    evidence_refs: tuple[Json, ...] | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Blocker:
    """Why the step is still pending, and what to do about it."""

    code: str
    pointer: Json
    message: str
    suggested_fix: str | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """What was wrong with the outputs."""

    issues: tuple[str, ...]
    suggestions: tuple[str, ...]


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactShown:
    """The beginning of an artifact."""

    kind: str
    preview: str


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class HandedIn:
    """What a blocked step has got so far; it counts with the next call."""

    notes_markdown: str | None = None
    artifact_kinds: tuple[str, ...] | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class PersonSaid:
    """The words with which the person answered what a step asks of them."""

    input_id: str
    decision: Literal["approved", "rejected", "provided"]
    words: str


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Guidance:
    """Advice and references of the whole workflow."""

    meta_guidance: tuple[str, ...] | None = None
    preconditions: tuple[str, ...] | None = None
    clarification_prompts: tuple[str, ...] | None = None
    references: tuple[Json, ...] | None = None
    omitted: int | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class RecapEntry:
    """The notes and artifacts of one step."""

    node_id: str
    step_id: str
    title: str
    notes_markdown: str
    artifacts: tuple[ArtifactShown, ...] | None = None
    person_said: tuple[PersonSaid, ...] | None = None
    checkpoint: bool | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class RecapShown:
    """What happened so far, the newest entries that fit."""

    entries: tuple[RecapEntry, ...]
    truncated: bool
    omitted_entries: int
    policy: Literal["kept_most_recent"]


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """One branch that already leads on from a node."""

    node_id: str
    step_id: str
    title: str
    cause: str
    is_preferred: bool
    snippet: str


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Branches:
    """What became of a node that was rewound to."""

    children: tuple[Child, ...]
    omitted_children: int
    downstream: RecapShown


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class ForkShown:
    """A branch was made."""

    from_node_id: str
    siblings: tuple[str, ...]


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointShown:
    """The node a checkpoint made."""

    node_id: str


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """Where a run stands: the answer of start, continue and checkpoint."""

    kind: Literal["ok", "blocked"]
    state_token: str
    checkpoint_token: str
    is_complete: bool
    pending: PendingStep | None
    next_intent: Literal[
        "perform_pending_then_continue", "await_user_confirmation", "rehydrate_only", "complete"
    ]
    next_call: NextCall | None
    session: RunPlace
    preferences: Mode
    warnings: tuple[Warned, ...]
    gaps: tuple[GapShown, ...]
    ack_token: str | None = None
    session_token: str | None = None
    blockers: tuple[Blocker, ...] | None = None
    retryable: bool | None = None
    validation: Validation | None = None
    example: Json | None = None
    handed_in: HandedIn | None = None
    person_said: tuple[PersonSaid, ...] | None = None
    step_context: Json | None = None
    goal: str | None = None
    guidance: Guidance | None = None
    fork: ForkShown | None = None
    checkpoint: CheckpointShown | None = None
    recap: RecapShown | None = None
    branches: Branches | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPlace:
    """A session."""

    session_id: str
    title: str | None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class SessionAnswer:
    """A session's tokens."""

    kind: Literal["ok"]
    session: SessionPlace
    session_token: str
    checkpoint_token: str
    next_call: NextCall


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowRow:
    """A workflow that can be started."""

    workflow_id: str
    name: str
    description: str
    version: str
    kind: Literal["workflow", "routine"]
    id_status: Literal["namespaced", "legacy"]
    suggested_id: str | None = None
    source_kind: str
    workflow_hash: str
    step_count: int
    canonical_id: str | None = None
    recommended: Json | None = None
    capabilities: dict[str, str] | None = None
    examples: tuple[object, ...] | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidFile:
    """A file that cannot run."""

    file: str
    findings: tuple[FoundProblem, ...]


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """The answer of list_workflows."""

    workflows: tuple[WorkflowRow, ...]
    invalid: tuple[InvalidFile, ...]
    warnings: tuple[FoundProblem, ...]
    next_cursor: str | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Inspected:
    """The answer of inspect_workflow."""

    workflow_id: str
    workflow_hash: str
    mode: Literal["metadata", "preview", "compiled"]
    id_status: Literal["namespaced", "legacy"]
    source_kind: str
    metadata: Json
    references: tuple[Json, ...]
    warnings: tuple[Warned, ...]
    canonical_id: str | None = None
    suggested_id: str | None = None
    outline: tuple[Json, ...] | None = None
    compiled: Json | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Work that can be resumed; a session without runs has tokens of its own (R7.30)."""

    session_id: str
    run_id: str | None
    resume_ref: str | None
    workflow_id: str | None
    title: str | None
    status: str
    pending_step_id: str | None
    git_branch: str | None
    snippet: str
    why_matched: tuple[str, ...]
    confidence: Literal["strong", "medium", "weak"]
    next_call: NextCall
    state_token: str | None = None
    session_token: str | None = None
    checkpoint_token: str | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """The answer of resume_session."""

    candidates: tuple[Candidate, ...]
    total_eligible: int
    matched: int
    recommended: int | None
