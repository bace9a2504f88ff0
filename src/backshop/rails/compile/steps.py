"""The schema pass for steps: standard, loop, parallel, template call (R1.9-R1.17, R1.23)."""

from __future__ import annotations

import re

from backshop.rails.definition import workflow
from backshop.rails.packs import LOOP_CONTROL

from . import demands
from .criteria import read_criteria
from .fields import Fields
from .functions import read_function_calls, read_functions

MODEL_TIERS = ("lightweight", "mid", "heavy")
STEP_TYPES = ("loop", "parallel", "template_call")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
MAX_LOOP_DEPTH = 4
MAX_ITERATIONS = 1000
_LOOP = "WF_LOOP_INVALID"


def read_steps(owner: Fields, key: str, depth: int = 0) -> tuple[workflow.Step, ...]:
    """Read a list of steps; `depth` counts the loops around it."""
    return tuple(_step(fields, depth) for fields in owner.each(key))


def _step(fields: Fields, depth: int) -> workflow.Step:
    step_type = fields.choice("type", STEP_TYPES)
    if step_type == "loop":
        return _loop_step(fields, depth)
    if step_type == "parallel":
        return _parallel_step(fields)
    return _standard_step(fields, must_call=step_type == "template_call")


def _standard_step(fields: Fields, *, must_call: bool) -> workflow.Step:
    prompt = fields.text("prompt", 1, 32768)
    blocks = _blocks(fields)
    call = _call(fields)
    sources = [key for key in ("prompt", "promptBlocks", "templateCall") if fields.has(key)]
    if len(sources) != 1 or (must_call and sources != ["templateCall"]):
        given = " and ".join(f"`{key}`" for key in sources) or "none"
        wanted = "`templateCall`" if must_call else "one of prompt, promptBlocks, templateCall"
        fields.findings.error(
            "WF_PROMPT_SOURCE", fields.pointer, f"a step has exactly {wanted}; this one has {given}"
        )
    step = _common(fields, workflow.StepKind.STANDARD, prompt=prompt, blocks=blocks, call=call)
    fields.done("askForFiles", "hasValidation")
    return step


def _parallel_step(fields: Fields) -> workflow.Step:
    delegations = tuple(_delegation(one) for one in fields.each("parallelDelegations"))
    if not delegations:
        fields.error("parallelDelegations", "a parallel step has at least one delegation")
    prompt = fields.text("prompt", 1, 32768)
    synthesis = _synthesis(fields)
    step = _common(
        fields,
        workflow.StepKind.PARALLEL,
        prompt=prompt,
        delegations=delegations,
        synthesis=synthesis,
    )
    fields.done("askForFiles", "hasValidation")
    return step


def _common(
    fields: Fields,
    kind: workflow.StepKind,
    *,
    prompt: str | None = None,
    blocks: workflow.Blocks | None = None,
    call: workflow.TemplateCall | None = None,
    delegations: tuple[workflow.Delegation, ...] = (),
    synthesis: workflow.Synthesis | None = None,
) -> workflow.Step:
    for key in ("askForFiles", "hasValidation"):
        fields.flag(key)
    return workflow.Step(
        pointer=fields.pointer,
        kind=kind,
        id=fields.text("id", required=True) or "",
        title=fields.text("title", 1, 128, required=True) or "",
        prompt=prompt,
        blocks=blocks,
        call=call,
        agent_role=fields.text("agentRole", 10, 1024),
        model_tier=fields.choice("modelTier", MODEL_TIERS),
        guidance=fields.texts("guidance"),
        fragments=_fragments(fields),
        confirmation=demands.read_confirmation(fields),
        run_condition=fields.condition("runCondition"),
        contract=demands.read_contract(fields),
        validation=read_criteria(fields),
        assessment_refs=fields.texts("assessmentRefs", unique=True),
        consequences=demands.read_consequences(fields),
        user_inputs=demands.read_user_inputs(fields),
        notes_optional=fields.flag("notesOptional"),
        functions=read_functions(fields),
        function_refs=fields.texts("functionReferences"),
        function_calls=read_function_calls(fields),
        audit=demands.read_check(fields, "audit", ("prompt", "rubric")),
        verification=demands.read_check(fields, "verification", ("prompt", "command")),
        delegations=delegations,
        synthesis=synthesis,
    )


def _loop_step(fields: Fields, depth: int) -> workflow.Step:
    if depth >= MAX_LOOP_DEPTH:
        fields.findings.error(
            _LOOP, fields.pointer, f"loops nest at most {MAX_LOOP_DEPTH} deep; this one is deeper"
        )
        return workflow.Step(pointer=fields.pointer, id=fields.text("id") or "", title="")
    by_ref = isinstance(fields.raw("body"), str)
    body_ref = fields.text("body") if by_ref else None
    body = () if by_ref else read_steps(fields, "body", depth + 1)
    if not body and not body_ref:
        fields.findings.error(_LOOP, fields.at("body"), "a loop has a body")
    demands.read_confirmation(fields)  # accepted without effect (R1.23)
    step = workflow.Step(
        pointer=fields.pointer,
        kind=workflow.StepKind.LOOP,
        id=fields.text("id", required=True) or "",
        title=fields.text("title", 1, 128, required=True) or "",
        run_condition=fields.condition("runCondition"),
        notes_optional=fields.flag("notesOptional"),
        functions=read_functions(fields),
        loop=_loop_rule(fields),
        body=body,
        body_ref=body_ref,
    )
    fields.done()
    return step


def _loop_rule(owner: Fields) -> workflow.LoopRule | None:
    fields = owner.members("loop", code=_LOOP)
    if fields is None:
        owner.findings.error(_LOOP, owner.pointer, "a loop step says how it loops in `loop`")
        return None
    word = fields.choice("type", tuple(workflow.LoopType), required=True)
    fields.need("maxIterations")
    limit = fields.integer("maxIterations", 1, MAX_ITERATIONS)
    by_artifact, condition = _condition_source(fields)
    rule = workflow.LoopRule(
        type=workflow.LoopType(word or workflow.LoopType.WHILE),
        max_iterations=limit or 1,
        by_artifact=by_artifact,
        condition=fields.condition("condition") if fields.has("condition") else condition,
        count=_count(fields),
        items=fields.text("items", pattern=demands.CONTEXT_KEY),
        iteration_var=fields.text("iterationVar", pattern=VARIABLE),
        item_var=fields.text("itemVar", pattern=VARIABLE),
        index_var=fields.text("indexVar", pattern=VARIABLE),
    )
    fields.done()
    if word == workflow.LoopType.FOR:
        fields.need("count")
    if word == workflow.LoopType.FOR_EACH:
        fields.need("items")
    return rule


def _count(fields: Fields) -> int | str | None:
    if isinstance(fields.raw("count"), str):
        return fields.text("count", pattern=demands.CONTEXT_KEY)
    return fields.integer("count", 0, MAX_ITERATIONS)


def _condition_source(owner: Fields) -> tuple[bool | None, dict[str, object] | None]:
    fields = owner.members("conditionSource")
    if fields is None:
        return None, None
    kind = fields.choice("kind", ("artifact_contract", "context_variable"), required=True)
    if kind == "artifact_contract":
        ref = fields.text("contractRef", required=True)
        if ref is not None and ref != LOOP_CONTROL:
            fields.error("contractRef", f"loops are decided by {LOOP_CONTROL}", LOOP_CONTROL)
        fields.text("loopId")
        fields.done()
        return True, None
    fields.need("condition")
    condition = fields.condition("condition")
    fields.done()
    return (False if kind else None), condition


def _blocks(owner: Fields) -> workflow.Blocks | None:
    fields = owner.members("promptBlocks")
    if fields is None:
        return None
    blocks = workflow.Blocks(
        goal=_block_value(fields, "goal", fields.raw("goal")) if fields.has("goal") else (),
        constraints=_block_values(fields, "constraints"),
        procedure=_block_values(fields, "procedure"),
        output_required=tuple(fields.mapping("outputRequired").items()),
        verify=_block_values(fields, "verify"),
    )
    fields.done()
    if blocks.is_empty:
        owner.findings.error(
            "WF_PROMPT_BLOCKS_EMPTY", fields.pointer, "at least one block says something"
        )
    return blocks


def _block_values(fields: Fields, key: str) -> tuple[workflow.BlockValue, ...]:
    values = (
        _block_value(fields, f"{key}/{index}", item) for index, item in enumerate(fields.items(key))
    )
    return tuple(value for value in values if value)


def _block_value(fields: Fields, where: str, value: object) -> workflow.BlockValue:
    if isinstance(value, str):
        return (workflow.Text(value),) if value.strip() else ()
    if not isinstance(value, list) or not value:
        fields.findings.error(
            "WF_SCHEMA", f"{fields.pointer}/{where}", "a text or a non-empty list of parts"
        )
        return ()
    parts: list[workflow.Text | workflow.Ref] = []
    for index, item in enumerate(value):
        part = fields.inner(f"{where}/{index}", item)
        if part is None:
            continue
        if part.choice("kind", ("text", "ref"), required=True) == "ref":
            parts.append(workflow.Ref(part.text("refId", required=True) or "", part.at("refId")))
        else:
            parts.append(workflow.Text(part.text("text", 0, required=True) or ""))
        part.done("text", "refId")
    return tuple(parts)


def _call(owner: Fields) -> workflow.TemplateCall | None:
    fields = owner.members("templateCall")
    if fields is None:
        return None
    args = fields.members("args")
    call = workflow.TemplateCall(
        template_id=fields.text("templateId", required=True) or "",
        args=dict(args.data) if args else {},
    )
    fields.done()
    return call


def _fragments(owner: Fields) -> tuple[workflow.Fragment, ...]:
    found: dict[str, workflow.Fragment] = {}
    for fields in owner.each("promptFragments", code="WF_FRAGMENT_INVALID"):
        fragment = workflow.Fragment(
            id=fields.text("id", required=True) or "",
            when=fields.condition("when"),
            text=fields.text("text", required=True) or "",
        )
        fields.done()
        if fragment.id in found:
            fields.error("id", f"`{fragment.id}` is declared twice in this step")
        if "{{wr." in fragment.text:
            fields.error("text", "fragments are rendered late and cannot hold {{wr.…}} tokens")
        found[fragment.id] = fragment
    return tuple(found.values())


def _delegation(fields: Fields) -> workflow.Delegation:
    workflow_id = fields.text("workflowId", required=True) or ""
    tools = fields.texts("allowedTools") if fields.has("allowedTools") else None
    one = workflow.Delegation(
        workflow_id=workflow_id,
        goal=fields.text("goal") or f"Run {workflow_id}",
        run_condition=fields.condition("runCondition"),
        context_mapping=fields.mapping("contextMapping"),
        args=fields.mapping("args"),
        model_tier=fields.choice("modelTier", MODEL_TIERS),
        allowed_tools=tools,
    )
    fields.done()
    return one


def _synthesis(owner: Fields) -> workflow.Synthesis | None:
    fields = owner.members("synthesis")
    if fields is None:
        return None
    synthesis = workflow.Synthesis(
        prompt=fields.text("prompt") or "", contract=demands.read_contract(fields)
    )
    fields.done("output")
    if not synthesis.prompt and synthesis.contract is None:
        owner.error("synthesis", "`synthesis` has `prompt` or `outputContract`")
    return synthesis
