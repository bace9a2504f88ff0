"""What a step requires, checked together: contract, assessments, criteria (R1.29–R1.33, R8.24–25).

Every check gives findings as data; `reasons` decides what they mean in a mode.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from backshop.base import pattern
from backshop.base.canon import canonical
from backshop.base.limits import ISSUE_MAX_BYTES, ISSUES_MAX_BYTES, SUGGESTION_MAX_BYTES
from backshop.base.pattern import TooCostly

from ..compile import Assessment, Compiled, CompiledStep, Contract
from ..definition import condition as definition_condition
from ..definition import template
from ..errors import cut
from ..packs import ASSESSMENT, PACKS
from ..session.events import DimensionLevel, Fired, ValidationResult
from . import form
from .inputs import Artifact, Submitted
from .reason import Reason

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

CRITERIA_REF = "wr.validationCriteria"
SUPPLY = {
    "web_browsing": "Add a browsing tool to the client, or hand over the source material.",
    "delegation": "Enable subagents in the client.",
}
"""How a person can supply a capability."""
SHOWN_REQUIREMENTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One requirement that was checked, and the reason it gives if it is not met."""

    contract_ref: str
    result: ValidationResult
    reason: Reason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessed:
    """An accepted assessment; `index` is its artifact's place in the output."""

    assessment_id: str
    index: int
    dimensions: tuple[DimensionLevel, ...]
    fired: tuple[tuple[str, Fired], ...]  # dimension and what its level set off


def kinds_of(contract: Contract) -> tuple[str, ...]:
    """Return the artifact kinds a pinned contract is about; the usual one first."""
    match contract.schema.get("properties"):
        case {"kind": {"const": str() as kind}}:
            pack = PACKS.get(contract.contract_ref)
            return (kind, *(pack.aliases if pack else ()))
        case {"kind": {"enum": list() as kinds}}:
            return tuple(map(str, kinds))
        case _:
            return (str(contract.example.get("kind", "")),)


def contract_of(compiled: Compiled, contract_ref: str) -> Contract | None:
    """Return the pinned contract of that name; its example begins with its kind."""
    for contract in compiled.contracts:
        if contract.contract_ref == contract_ref:
            kind = {key: contract.example[key] for key in ("kind",) if key in contract.example}
            return replace(contract, example={**kind, **contract.example})
    return None


def asked_of(compiled: Compiled, step: CompiledStep) -> Contract | None:
    """Return the contract of a step; that of a probe is about its own capability (R8.15)."""
    contract = contract_of(compiled, step.contract.contract_ref) if step.contract else None
    if contract is None or step.probe is None:
        return contract
    properties = contract.schema.get("properties")
    assert isinstance(properties, Mapping)
    narrow = {**properties, "capability": {"const": step.probe}}
    example = {**contract.example, "capability": step.probe}
    if "remediation" in example:
        example["remediation"] = f"Example: {SUPPLY.get(step.probe, '')}"
    return replace(contract, schema={**contract.schema, "properties": narrow}, example=example)


def form_of(contract: Contract) -> dict[str, object]:
    """Return the artifact of a contract as it is to be filled in (R8.33)."""
    kind = {"kind": kinds_of(contract)[0]}
    return {**kind, **form.required(contract.schema, kind)}


def shape_of(contract: Contract) -> dict[str, object]:
    """Return everything an artifact of a contract can hold; `name?` may be left out."""
    kind = {"kind": kinds_of(contract)[0]}
    return {**kind, **form.shape(contract.schema, kind)}


def problems(schema: Mapping[str, object], value: Any) -> list[str]:
    """Return `path: problem` for everything in `value` that its schema does not allow."""
    errors = _validator(canonical(schema)).iter_errors(value)
    return sorted(f"{_where(error.absolute_path)}: {error.message}" for error in errors)


def conforms(kind: str, artifact: Artifact) -> list[str]:
    """Return what is wrong with an artifact of a registered kind; empty for other kinds."""
    for pack in PACKS.values():
        if kind == pack.kind or kind in pack.aliases:
            found = problems(pack.schema, {**artifact, "kind": pack.kind})
            return found or list(form.blanks(artifact))
    return []


def check_contract(compiled: Compiled, step: CompiledStep, sent: Submitted) -> Check | None:
    """Check the typed output of a step: the last artifact of its kind (R8.24)."""
    use, contract = step.contract, asked_of(compiled, step)
    if use is None or contract is None:
        return None
    kinds, wanted = kinds_of(contract), form_of(contract)
    mine = [one for one in sent.artifacts if one["kind"] in kinds]
    if not mine:
        if not use.required:
            return None
        message = f"This step needs a {kinds[0]} artifact; {_sent(sent)}."
        return _failed(use.contract_ref, "missing_required_output", message, [], wanted)
    issues = problems(contract.schema, {**mine[-1], "kind": kinds[0]})
    issues += [one for one in form.blanks(mine[-1]) if not _is_said(one, issues)]
    issues += form.copies(contract.schema, contract.example, mine[-1])
    if not issues:
        return Check(contract_ref=use.contract_ref, result=ValidationResult(True, (), ()))
    message = f"The {kinds[0]} artifact is not valid: {issues[0]}"
    return _failed(use.contract_ref, "invalid_required_output", message, issues, wanted)


def check_criteria(
    step: CompiledStep, sent: Submitted, context: Mapping[str, object]
) -> Check | None:
    """Check the notes against the step's validation criteria (R1.32)."""
    if step.validation is None or step.contract is not None:
        return None
    try:
        issues = list(_unmet(step.validation, sent.notes or "", context))
    except TooCostly as error:
        issues = [f"whether the notes are valid cannot be said: {error}"]
    if not issues:
        return Check(contract_ref=CRITERIA_REF, result=ValidationResult(True, (), ()))
    return Check(
        contract_ref=CRITERIA_REF,
        result=ValidationResult(False, _fit(issues, ISSUE_MAX_BYTES), ()),
        reason=Reason(
            detail="invalid_required_output",
            pointer={"kind": "output_contract", "contractRef": CRITERIA_REF},
            message=f"output.notesMarkdown does not meet the step's criteria: {issues[0]}",
            fix="Send output.notesMarkdown so that it meets: " + "; ".join(issues),
        ),
    )


def check_assessments(
    compiled: Compiled, step: CompiledStep, sent: Submitted
) -> tuple[list[Check], list[Assessed]]:
    """Check every assessment the step refers to (R8.25)."""
    declared = {one.id: one for one in compiled.assessments}
    checks, accepted = [], []
    for ref in step.assessment_refs:
        assessment = declared[ref]
        found = _assessment_artifact(step, ref, sent)
        wanted = assessment_form(assessment)
        if found is None:
            message = f"This step needs a wr.assessment artifact for {ref}; {_sent(sent)}."
            checks.append(_failed(ASSESSMENT, "missing_required_output", message, [], wanted))
            continue
        index, artifact = found
        issues = conforms("wr.assessment", artifact)
        levels: list[DimensionLevel] = []
        if not issues:
            levels, issues = _levels(assessment, artifact)
        if issues:
            message = f"The assessment {ref} is not valid: {issues[0]}"
            checks.append(_failed(ASSESSMENT, "invalid_required_output", message, issues, wanted))
            continue
        checks.append(Check(contract_ref=ASSESSMENT, result=ValidationResult(True, (), ())))
        fired = tuple(_fired(step, ref, levels))
        accepted.append(
            Assessed(assessment_id=ref, index=index, dimensions=tuple(levels), fired=fired)
        )
    return checks, accepted


def followups(assessed: Assessed) -> Iterator[Reason]:
    """Yield a reason for every consequence that fired."""
    for dimension_id, fired in assessed.fired:
        yield Reason(
            detail="assessment_followup_required",
            pointer={
                "kind": "assessment_dimension",
                "assessmentId": assessed.assessment_id,
                "dimensionId": dimension_id,
            },
            message=f"{assessed.assessment_id}.{dimension_id} is {fired.level}: {fired.guidance}",
            fix=f"{fired.guidance} Then send a new wr.assessment with the tokens of this answer.",
        )


def assessment_form(assessment: Assessment) -> dict[str, object]:
    """Return an assessment as it is to be filled in: each dimension with its levels."""
    dimensions = {one.id: form.one_of(one.levels) for one in assessment.dimensions}
    return {"kind": "wr.assessment", "assessmentId": assessment.id, "dimensions": dimensions}


def requirements(validation: Mapping[str, object] | None) -> list[str]:
    """Put validation criteria into words, at most five (R1.32)."""
    return list(_described(validation or {}))[:SHOWN_REQUIREMENTS]


def fit_issues(issues: list[str]) -> list[str]:
    """Return issues within the budgets of an answer (R7.14)."""
    return list(_fit(issues, ISSUE_MAX_BYTES))


def fit_suggestions(suggestions: list[str]) -> list[str]:
    """Return suggestions within the budgets of an answer (R7.14)."""
    return list(_fit(suggestions, SUGGESTION_MAX_BYTES))


def _assessment_artifact(
    step: CompiledStep, ref: str, sent: Submitted
) -> tuple[int, Artifact] | None:
    found = None
    for index, one in enumerate(sent.artifacts):
        if one["kind"] != "wr.assessment":
            continue
        named = one.get("assessmentId")
        if named == ref or (named is None and len(step.assessment_refs) == 1):
            found = (index, one)
    return found


def _levels(assessment: Assessment, artifact: Artifact) -> tuple[list[DimensionLevel], list[str]]:
    given = artifact["dimensions"]
    assert isinstance(given, Mapping)
    known = {one.id: one for one in assessment.dimensions}
    issues = [f"dimensions.{name}: unknown dimension" for name in given if name not in known]
    levels = []
    for dimension in assessment.dimensions:
        if dimension.id not in given:
            if dimension.required:
                issues.append(f"dimensions.{dimension.id}: missing")
            continue
        value = given[dimension.id]
        said = value if isinstance(value, str) else value["level"]
        rationale = None if isinstance(value, str) else value.get("rationale")
        level = _level(said, dimension.levels)
        if level is None:
            options = ", ".join(dimension.levels)
            issues.append(f"dimensions.{dimension.id}: {said!r} is none of {options}")
            continue
        how = "exact" if level == said else "normalized"
        levels.append(DimensionLevel(dimension.id, level, how, rationale))  # type: ignore[arg-type]  # one of both words
    return levels, sorted(issues)


def _level(said: str, levels: tuple[str, ...]) -> str | None:
    if said in levels:
        return said
    for level in levels:
        if level.strip().lower() == said.strip().lower():
            return level
    return None


def _fired(
    step: CompiledStep, ref: str, levels: list[DimensionLevel]
) -> Iterator[tuple[str, Fired]]:
    for consequence in step.consequences:
        if consequence.for_assessment not in (None, ref):
            continue
        for one in levels:
            if one.level == consequence.level:
                yield one.dimension_id, Fired(one.level, consequence.guidance)


def _failed(
    ref: str, detail: str, message: str, issues: list[str], wanted: Mapping[str, object]
) -> Check:
    shown = json.dumps(wanted, ensure_ascii=False)
    suggestion = (
        f"Send output.artifacts = [{shown}], every <…> replaced by what is so, with the tokens of"
        " this answer."
    )
    return Check(
        contract_ref=ref,
        result=ValidationResult(
            False,
            _fit(issues or [message], ISSUE_MAX_BYTES),
            _fit([suggestion], SUGGESTION_MAX_BYTES),
        ),
        reason=Reason(
            detail=detail,
            pointer={"kind": "output_contract", "contractRef": ref},
            message=message,
            fix=suggestion,
        ),
    )


def _is_said(blank: str, issues: list[str]) -> bool:
    where = blank.partition(": ")[0]
    return any(issue.startswith(f"{where}: ") for issue in issues)


def _sent(sent: Submitted) -> str:
    return "no artifacts were sent" if not sent.artifacts else f"sent were: {sent.kinds}"


def _unmet(rule: Mapping[str, object], notes: str, context: Mapping[str, object]) -> Iterator[str]:
    """Yield the message of everything the notes do not meet."""
    match rule:
        case {"and": list() | tuple() as parts}:
            for part in parts:
                yield from _unmet(part, notes, context)
        case {"or": list() | tuple() as parts}:
            failures = [list(_unmet(part, notes, context)) for part in parts]
            if failures and all(failures):
                yield " or ".join(one[0] for one in failures)
        case {"not": Mapping() as part}:
            if not list(_unmet(part, notes, context)):
                yield "not allowed: " + ("; ".join(_described(part)) or "this")
        case _:
            condition = rule.get("condition")
            if (
                isinstance(condition, Mapping)
                and definition_condition.judged(condition, context) is False
            ):
                return
            if not _meets(rule, notes):
                wanted = "; ".join(_described(rule))
                yield f"{rule['message']} ({wanted})" if rule.get("message") else wanted


def _meets(rule: Mapping[str, object], notes: str) -> bool:
    match rule:
        case {"type": "contains", "value": str() as value}:
            return value in notes
        case {"type": "regex", "pattern": str() as source}:
            return pattern.compiled(source, str(rule.get("flags") or "")).search(notes)
        case {"type": "length"}:
            low, high = rule.get("min"), rule.get("max")
            above = not isinstance(low, int) or len(notes) >= low
            return above and (not isinstance(high, int) or len(notes) <= high)
        case {"type": "schema", "schema": Mapping() as schema}:
            try:
                return not problems(schema, json.loads(notes))
            except (ValueError, RecursionError):
                return False
        case _:
            return True


def _described(rule: Mapping[str, object]) -> Iterator[str]:
    for key in ("and", "or"):
        parts = rule.get(key)
        if isinstance(parts, list | tuple):
            for part in parts:
                yield from _described(part)
            return
    inner = rule.get("not")
    if isinstance(inner, Mapping):
        yield "not: " + "; ".join(_described(inner))
        return
    match rule:
        case {"type": "contains", "value": value}:
            yield f"notes contain {template.show(value)!r}"
        case {"type": "regex", "pattern": source}:
            yield f"notes match /{source}/"
        case {"type": "length"}:
            low, high = rule.get("min", 0), rule.get("max")
            yield (
                f"notes have {low} to {high} characters"
                if high
                else f"notes have at least {low} characters"
            )
        case {"type": "schema"}:
            yield "notes are JSON of the authored schema"


def _fit(items: list[str], most_bytes: int) -> tuple[str, ...]:
    found: list[str] = []
    left = ISSUES_MAX_BYTES
    for item in items:
        shown = cut(item, most_bytes)
        left -= len(shown.encode())
        if left < 0:
            break
        found.append(shown)
    return tuple(found)


def _where(path: Any) -> str:
    return ".".join(str(part) for part in path) or "(whole)"


@lru_cache(maxsize=128)
def _validator(schema: bytes) -> Validator:
    # loaded on first use: half of the cost of a whole server start
    from jsonschema import Draft202012Validator, ValidationError
    from jsonschema.validators import extend

    def max_bytes(validator: object, limit: int, value: object, schema: object) -> Iterator[object]:
        if isinstance(value, str) and len(value.encode(errors="replace")) > limit:
            yield ValidationError(f"longer than {limit} bytes")

    kind: Any = extend(  # type: ignore[no-untyped-call]  # the library has no types here
        Draft202012Validator, {"x-maxBytes": max_bytes}
    )
    checker: Validator = kind(json.loads(schema))
    return checker
