"""The compiled workflow: what is hashed, pinned and executed (R2.2, R2.3).

Everything an interpreter needs is inside: bodies are inline, routines are expanded, prompt blocks
are text, contracts carry their schemas. Conditions and validation criteria are kept as the JSON
they were written in, checked; `rails.conditions.holds` evaluates the former. Optional parts that
are absent are None here and missing from the JSON.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from backshop.base.codec import camel

SCHEMA_VERSION = 1

ConditionData = dict[str, object]
"""A checked condition of R1.18."""


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


class LoopControl(StrEnum):
    """What decides about the next iteration (R1.25)."""

    ARTIFACT = "artifact"
    CONDITION = "condition"
    COUNT = "count"
    ITEMS = "items"


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
class Loop:
    """How often a body runs. Names have their defaults filled in (R1.24).

    `condition` belongs to control `condition`, `count` to `count` (a number or a context key),
    `items` to `items` (a context key). `uses_item_fields`: some body text says
    `{{itemVar.field}}`, so items must be objects (R1.25).
    """

    type: LoopType
    control: LoopControl
    max_iterations: int
    iteration_var: str = "currentIteration"
    item_var: str | None = None
    index_var: str | None = None
    condition: ConditionData | None = None
    count: int | str | None = None
    items: str | None = None
    uses_item_fields: bool = False


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Who put the step there; `origin_id` names the template, feature or step it comes from."""

    source: Origin = Origin.AUTHORED
    origin_id: str | None = None


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledStep:
    """One step, ready to be selected and rendered (R2.3).

    `prompt` of a parallel step is its authored introduction, possibly empty; the rest of its
    text is generated from `delegations` (R1.30). A loop has `loop` and `body` and no prompt.
    `probe` names the capability a probe step observes. `function_refs` are ids of
    `Compiled.functions` in the order they are shown (R1.34). `validation` is one rule or one
    `{and|or|not}` composition of R1.32.
    """

    step_id: str
    kind: StepKind = StepKind.STANDARD
    title: str
    prompt: str = ""
    agent_role: str | None = None
    model_tier: str | None = None
    guidance: tuple[str, ...] = ()
    fragments: tuple[Fragment, ...] = ()
    require_confirmation: Confirmation = Confirmation()
    run_condition: ConditionData | None = None
    contract: ContractUse | None = None
    validation: dict[str, object] | None = None
    assessment_refs: tuple[str, ...] = ()
    consequences: tuple[Consequence, ...] = ()
    user_inputs: tuple[UserInput, ...] = ()
    notes_optional: bool = False
    function_refs: tuple[str, ...] = ()
    delegations: tuple[Delegation, ...] | None = None
    loop: Loop | None = None
    body: tuple[CompiledStep, ...] | None = None
    probe: str | None = None
    provenance: Provenance = Provenance()
    collapsed: bool = False


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
class Contract:
    """A pack as it was when the run began: JSON Schema 2020-12 and a valid example (R8.24).

    The artifact kind it is about is `example["kind"]`.
    """

    contract_ref: str
    schema: dict[str, object]
    example: dict[str, object]


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
class Function:
    """A definition that some step refers to; `id` is unique, `scope` says where it was given."""

    id: str
    name: str
    scope: str
    definition: str
    parameters: tuple[dict[str, object], ...] = ()


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


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """A whole workflow. Its digest is the workflowHash (`compile.workflow_hash`)."""

    schema_version: int = SCHEMA_VERSION
    workflow_id: str
    name: str
    description: str
    version: str
    agent_role: str | None = None
    model_tier: str | None = None
    capabilities: dict[str, str]
    features: tuple[FeatureUse, ...] = ()
    recommended_preferences: Recommended = Recommended()
    contracts: tuple[Contract, ...] = ()
    assessments: tuple[Assessment, ...] = ()
    functions: tuple[Function, ...] = ()
    references: tuple[Reference, ...] = ()
    bindings: dict[str, str]
    meta_guidance: tuple[str, ...] = ()
    preconditions: tuple[str, ...] = ()
    clarification_prompts: tuple[str, ...] = ()
    steps: tuple[CompiledStep, ...]

    def walk(self) -> Iterator[CompiledStep]:
        """Yield every step, loops before their bodies, in authored order."""
        for step in self.steps:
            yield from _walk(step)


def _walk(step: CompiledStep) -> Iterator[CompiledStep]:
    yield step
    for inner in step.body or ():
        yield from _walk(inner)
