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
from backshop.rails.definition import workflow

SCHEMA_VERSION = 1


class LoopControl(StrEnum):
    """What decides about the next iteration (R1.25)."""

    ARTIFACT = "artifact"
    CONDITION = "condition"
    COUNT = "count"
    ITEMS = "items"


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """How often a body runs. Names have their defaults filled in (R1.24).

    `condition` belongs to control `condition`, `count` to `count` (a number or a context key),
    `items` to `items` (a context key). `uses_item_fields`: some body text says
    `{{itemVar.field}}`, so items must be objects (R1.25).
    """

    type: workflow.LoopType
    control: LoopControl
    max_iterations: int
    iteration_var: str = "currentIteration"
    item_var: str | None = None
    index_var: str | None = None
    condition: workflow.ConditionData | None = None
    count: int | str | None = None
    items: str | None = None
    uses_item_fields: bool = False


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
    kind: workflow.StepKind = workflow.StepKind.STANDARD
    title: str
    prompt: str = ""
    agent_role: str | None = None
    model_tier: str | None = None
    guidance: tuple[str, ...] = ()
    fragments: tuple[workflow.Fragment, ...] = ()
    require_confirmation: workflow.Confirmation = workflow.NO_CONFIRMATION
    run_condition: workflow.ConditionData | None = None
    contract: workflow.ContractUse | None = None
    validation: dict[str, object] | None = None
    assessment_refs: tuple[str, ...] = ()
    consequences: tuple[workflow.Consequence, ...] = ()
    user_inputs: tuple[workflow.UserInput, ...] = ()
    notes_optional: bool = False
    function_refs: tuple[str, ...] = ()
    delegations: tuple[workflow.Delegation, ...] | None = None
    loop: Loop | None = None
    body: tuple[CompiledStep, ...] | None = None
    probe: str | None = None
    provenance: workflow.Provenance = workflow.AUTHORED
    collapsed: bool = False


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
class Function:
    """A definition that some step refers to; `id` is unique, `scope` says where it was given."""

    id: str
    name: str
    scope: str
    definition: str
    parameters: tuple[dict[str, object], ...] = ()


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
    features: tuple[workflow.FeatureUse, ...] = ()
    recommended_preferences: workflow.Recommended = workflow.NO_RECOMMENDATION
    contracts: tuple[Contract, ...] = ()
    assessments: tuple[workflow.Assessment, ...] = ()
    functions: tuple[Function, ...] = ()
    references: tuple[workflow.Reference, ...] = ()
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
