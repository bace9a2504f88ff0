"""Checks over the expanded steps: ids, contracts, assessments, loops, tokens (R1.10-R1.31)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from backshop.rails.definition import template
from backshop.rails.definition.finding import Findings
from backshop.rails.definition.workflow import Assessment, LoopType, Origin, Step, StepKind
from backshop.rails.packs import PACKS

from .fields import did_you_mean, nearest
from .model import CompiledStep, LoopControl

STEP_ID = re.compile(r"[a-z0-9_-]{1,64}")
STEP_ID_MAX_CHARS = 160  # of an expanded id
LOOP_LIMIT_HIGH = 100
LONG_PROMPT_CHARS = 8192


def check_step_ids(authored: Sequence[Step], expanded: Sequence[Step], findings: Findings) -> None:
    """Every authored id is well-formed, every expanded id is there once (R1.10)."""
    for step in everything(authored):
        if step.id and STEP_ID.fullmatch(step.id) is None:
            message = f"`{step.id[:80]}` is not a step id: {STEP_ID.pattern}"
            findings.error("WF_STEP_ID_INVALID", f"{step.pointer}/id", message, mended(step.id))
        elif step.id.startswith("wr-"):
            message = "ids beginning with `wr-` are reserved for injected steps"
            findings.error(
                "WF_STEP_ID_INVALID", f"{step.pointer}/id", message, step.id.removeprefix("wr-")
            )
    seen: dict[str, Step] = {}
    for step in everything(expanded):
        other = seen.setdefault(step.id, step)
        if other is not step and other != step:  # one step may be the body of two loops
            message = f"`{step.id}` is the id of another step too (at {other.pointer})"
            findings.error("WF_STEP_ID_DUPLICATE", f"{step.pointer}/id", message)
        if len(step.id) > STEP_ID_MAX_CHARS:
            message = f"the expanded id has {len(step.id)} characters, at most {STEP_ID_MAX_CHARS}"
            findings.error("WF_STEP_ID_INVALID", f"{step.pointer}/id", message)


def mended(step_id: str) -> str:
    """Return the nearest well-formed id: lower case, `_` for everything else."""
    return re.sub(r"[^a-z0-9_-]", "_", step_id.lower())[:64] or "step"


def everything(steps: Sequence[Step]) -> Iterator[Step]:
    """Yield steps with their bodies, in order."""
    for step in steps:
        yield step
        yield from everything(step.body)


def check_contract(step: Step, findings: Findings) -> None:
    """A contract is one of the registry's (R1.29)."""
    use = step.contract
    if use is None or use.contract_ref in PACKS:
        return
    message = f"unknown contract `{use.contract_ref}`{did_you_mean(use.contract_ref, PACKS)}"
    findings.error("WF_CONTRACT_UNKNOWN", step.pointer, message, nearest(use.contract_ref, PACKS))


def check_assessments(declared: Mapping[str, Assessment], step: Step, findings: Findings) -> None:
    """Refs name declared assessments, consequences name levels of them (R1.31)."""
    code = "WF_ASSESSMENT_INVALID"
    for index, ref in enumerate(step.assessment_refs):
        if ref not in declared:
            message = f"no assessment `{ref}` is declared{did_you_mean(ref, declared)}"
            findings.error(code, f"{step.pointer}/assessmentRefs/{index}", message)
    known = {ref: declared[ref] for ref in step.assessment_refs if ref in declared}
    pairs = set()
    for index, one in enumerate(step.consequences):
        pointer = f"{step.pointer}/assessmentConsequences/{index}"
        if not step.assessment_refs:
            findings.error(code, pointer, "consequences need `assessmentRefs` on the same step")
            continue
        if (one.level, one.for_assessment) in pairs:
            findings.error(code, pointer, f"level `{one.level}` has two consequences here")
        pairs.add((one.level, one.for_assessment))
        if one.for_assessment is not None and one.for_assessment not in step.assessment_refs:
            hint = did_you_mean(one.for_assessment, step.assessment_refs)
            message = f"`{one.for_assessment}` is not an assessment of this step{hint}"
            findings.error(code, f"{pointer}/when/forAssessment", message)
            continue
        scoped = [known[key] for key in known if one.for_assessment in {None, key}]
        levels = {level for each in scoped for part in each.dimensions for level in part.levels}
        if levels and one.level not in levels:
            message = f"no dimension has the level `{one.level}`{did_you_mean(one.level, levels)}"
            findings.error(code, f"{pointer}/when/anyEqualsLevel", message)


def check_unique_assessments(assessments: Sequence[Assessment], findings: Findings) -> None:
    """Ids of assessments, and of dimensions inside one, are there once."""
    code = "WF_ASSESSMENT_INVALID"
    seen: set[str] = set()
    for index, one in enumerate(assessments):
        if one.id in seen:
            findings.error(code, f"/assessments/{index}/id", f"`{one.id}` is declared twice")
        seen.add(one.id)
        inner: set[str] = set()
        for at, part in enumerate(one.dimensions):
            if part.id in inner:
                pointer = f"/assessments/{index}/dimensions/{at}/id"
                findings.error(code, pointer, f"`{part.id}` is declared twice")
            inner.add(part.id)


def check_loop(step: Step, control: LoopControl | None, findings: Findings) -> None:
    """A loop has something to decide by, and a limit a person would wait for (R1.23, R1.25)."""
    rule = step.loop
    if rule is None:
        return
    if control is None:
        message = f"a {rule.type} loop needs `condition` or `conditionSource`"
        findings.error("WF_LOOP_INVALID", f"{step.pointer}/loop", message)
    elif (
        control is LoopControl.CONDITION
        and rule.type is LoopType.WHILE
        and rule.by_artifact is None
    ):
        message = "decided by context only: say so with conditionSource {kind: context_variable}"
        findings.warn("WW_CONTEXT_LOOP", f"{step.pointer}/loop", message)
    if rule.max_iterations > LOOP_LIMIT_HIGH:
        message = f"up to {rule.max_iterations} iterations; is that meant?"
        findings.warn("WW_LOOP_LIMIT_HIGH", f"{step.pointer}/loop/maxIterations", message)


def check_texts(step: Step, compiled: CompiledStep, findings: Findings) -> None:
    """Warn about tokens that stay as written, and about prompts nobody reads to the end."""
    if step.kind is StepKind.LOOP or step.provenance.source is not Origin.AUTHORED:
        return
    texts = {
        "title": compiled.title,
        "promptBlocks" if step.blocks else "prompt": compiled.prompt,
        "agentRole": compiled.agent_role or "",
        "guidance": "\n".join(step.guidance),
    }
    texts |= {
        f"promptFragments/{at}/text": one.text
        for at, one in enumerate(step.fragments)
        if not one.id.startswith("wr-")
    }
    for key, text in texts.items():
        for token in dict.fromkeys(template.expressions(text)):
            message = f"`{token[:80]}` is not a context path and stays as it is"
            findings.warn("WW_EXPRESSION_TOKEN", f"{step.pointer}/{key}", message)
    if len(compiled.prompt) > LONG_PROMPT_CHARS:
        key = "promptBlocks" if step.blocks else "prompt"
        message = f"{len(compiled.prompt)} characters; agents follow shorter prompts better"
        findings.warn("WW_LONG_PROMPT", f"{step.pointer}/{key}", message)
