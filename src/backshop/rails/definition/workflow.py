"""The authored workflow, read and typed: what a definition file says (R1).

Texts are as written: nothing is expanded, resolved or rendered here. Every step knows the JSON
Pointer it was read at, so that whatever is found later can be reported at its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from backshop.base.codec import camel

ConditionData = dict[str, object]
"""A condition of R1.18, as written."""


class StepKind(StrEnum):
    """What a compiled step is; templates are gone by now."""

    STANDARD = "standard"
    LOOP = "loop"
    PARALLEL = "parallel"


class Origin(StrEnum):
    """Where a step comes from."""

    AUTHORED = "authored"
    TEMPLATE = "template_injected"
    FEATURE = "feature_injected"


class LoopType(StrEnum):
    """The four loops of R1.23."""

    WHILE = "while"
    UNTIL = "until"
    FOR = "for"
    FOR_EACH = "forEach"


class ConfirmationKind(StrEnum):
    """R1.17: `confirm` pauses guided runs, `human_approval` blocks without the person (R8.21)."""

    NONE = "none"
    CONFIRM = "confirm"
    COORDINATOR_EVAL = "coordinator_eval"
    HUMAN_APPROVAL = "human_approval"


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """Whether a person should look first; it applies when `condition` holds (absent = always)."""

    kind: ConfirmationKind = ConfirmationKind.NONE
    condition: ConditionData | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Fragment:
    """Text added to the prompt while `when` holds (absent = always), in declared order.

    The context a fragment is judged with is overlaid with `wr_autonomy` and `wr_risk_policy`,
    the node's effective preferences: that is how `wr.features.mode_guidance` speaks (R1.36).
    """

    id: str
    when: ConditionData | None = None
    text: str


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class ContractUse:
    """The typed output a step must have (R1.29); hints are shown, never enforced."""

    contract_ref: str
    required: bool = True
    hints: dict[str, str] | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Consequence:
    """A level that asks for more work before the step counts (R1.31)."""

    level: str
    for_assessment: str | None = None
    guidance: str


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class UserInput:
    """Something only the person can give (R8.20)."""

    id: str
    reason: str
    prompt: str
    context_key: str | None = None
    choice_kind: str | None = None
    options: tuple[str, ...] = ()


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Delegation:
    """One child run a parallel step asks for (R1.30); `goal` has its default filled in."""

    workflow_id: str
    goal: str
    run_condition: ConditionData | None = None
    context_mapping: dict[str, str]
    args: dict[str, str]
    model_tier: str | None = None
    allowed_tools: tuple[str, ...] | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Who put the step there; `origin_id` names the template, feature or step it comes from."""

    source: Origin = Origin.AUTHORED
    origin_id: str | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureUse:
    """A feature the workflow switched on, with its settings."""

    id: str
    config: dict[str, str] | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Recommended:
    """The highest preferences the author thinks safe (R8.9)."""

    recommended_autonomy: str | None = None
    recommended_risk_policy: str | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """One question of an assessment and its possible answers."""

    id: str
    purpose: str
    levels: tuple[str, ...]
    required: bool = True


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """A declared self-check (R1.31)."""

    id: str
    purpose: str
    dimensions: tuple[Dimension, ...]


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A pointer to a document; resolved at start, never inlined (R1.35)."""

    id: str
    title: str
    source: str
    purpose: str
    authoritative: bool
    resolve_from: str = "workspace"


NO_CONFIRMATION = Confirmation()
AUTHORED = Provenance()
NO_RECOMMENDATION = Recommended()


@dataclass(frozen=True, slots=True)
class Text:
    """Literal text inside a block."""

    text: str


@dataclass(frozen=True, slots=True)
class Ref:
    """A prompt ref (R1.37), replaced by its text when compiled."""

    ref_id: str
    pointer: str


BlockValue = tuple[Text | Ref, ...]
"""The parts of one value; they are joined without a separator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """A prompt in parts (R1.12)."""

    goal: BlockValue = ()
    constraints: tuple[BlockValue, ...] = ()
    procedure: tuple[BlockValue, ...] = ()
    output_required: tuple[tuple[str, str], ...] = ()
    verify: tuple[BlockValue, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether no block says anything."""
        return not (
            self.goal or self.constraints or self.procedure or self.output_required or self.verify
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateCall:
    """Steps taken from elsewhere (R1.27)."""

    template_id: str
    args: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter of a function; `type` is a JSON type name or empty for any."""

    name: str
    type: str = ""
    required: bool = False
    options: tuple[object, ...] = ()
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionDefinition:
    """A piece of text that steps refer to by name (R1.34)."""

    name: str
    definition: str
    parameters: tuple[Parameter, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionCall:
    """A use of a function with arguments."""

    pointer: str
    name: str
    args: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """An extension point: a name that a workspace may bind to another id (R1.38)."""

    slot_id: str
    purpose: str
    default: str
    accepted_kinds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The `verification` or `audit` of a step: it becomes a step of its own (R1.28)."""

    prompt: str = ""
    command: str = ""
    rubric: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthesis:
    """What to do with the results of parallel delegations (R1.30)."""

    prompt: str = ""
    contract: ContractUse | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopRule:
    """How a loop was written; `by_artifact` is None when the source of its decision is open."""

    type: LoopType
    max_iterations: int
    by_artifact: bool | None = None
    condition: ConditionData | None = None
    count: int | str | None = None
    items: str | None = None
    iteration_var: str | None = None
    item_var: str | None = None
    index_var: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One authored step of any kind (R1.9-R1.11, R1.23, R1.30).

    A loop has a `body`, or in `body_ref` the id of the top-level step that is its body.
    """

    pointer: str
    id: str
    title: str
    kind: StepKind = StepKind.STANDARD
    prompt: str | None = None
    blocks: Blocks | None = None
    call: TemplateCall | None = None
    agent_role: str | None = None
    model_tier: str | None = None
    guidance: tuple[str, ...] = ()
    fragments: tuple[Fragment, ...] = ()
    confirmation: Confirmation = NO_CONFIRMATION
    run_condition: ConditionData | None = None
    contract: ContractUse | None = None
    validation: dict[str, object] | None = None
    assessment_refs: tuple[str, ...] = ()
    consequences: tuple[Consequence, ...] = ()
    user_inputs: tuple[UserInput, ...] = ()
    notes_optional: bool = False
    functions: tuple[FunctionDefinition, ...] = ()
    function_refs: tuple[str, ...] = ()
    function_calls: tuple[FunctionCall, ...] = ()
    audit: Check | None = None
    verification: Check | None = None
    delegations: tuple[Delegation, ...] = ()
    synthesis: Synthesis | None = None
    loop: LoopRule | None = None
    body: tuple[Step, ...] = ()
    body_ref: str | None = None
    probe: str | None = None
    provenance: Provenance = AUTHORED


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A workflow file. What comes after `steps` has no influence on the hash (R2.4)."""

    id: str
    name: str
    description: str
    version: str
    agent_role: str | None = None
    model_tier: str | None = None
    capabilities: Mapping[str, str] = field(default_factory=dict)
    features: tuple[FeatureUse, ...] = ()
    recommended: Recommended = NO_RECOMMENDATION
    assessments: tuple[Assessment, ...] = ()
    functions: tuple[FunctionDefinition, ...] = ()
    references: tuple[Reference, ...] = ()
    slots: tuple[Slot, ...] = ()
    meta_guidance: tuple[str, ...] = ()
    preconditions: tuple[str, ...] = ()
    clarification_prompts: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    about: str | None = None
    examples: tuple[object, ...] = ()
    tags: tuple[str, ...] = ()
    metrics_profile: str | None = None
    spec_version: int | None = None
