"""What a step demands of whoever acknowledges it: contract, levels, inputs, confirmation."""

from __future__ import annotations

import re

from backshop.rails.definition.workflow import (
    NO_CONFIRMATION,
    Check,
    Confirmation,
    ConfirmationKind,
    Consequence,
    ContractUse,
    UserInput,
)

from .fields import Fields

CONTEXT_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,127}")
NAME = re.compile(r"[a-z0-9_-]{1,64}")
USER_REASONS = (
    "needs_user_secret_or_token",
    "needs_user_account_access",
    "needs_user_artifact",
    "needs_user_choice",
    "needs_user_approval",
    "needs_user_environment_action",
)  # R8.20
CHOICE_KINDS = (
    "preference_tradeoff",
    "scope_boundary",
    "irreversible_action",
    "external_side_effect",
    "policy_or_compliance",
)


def read_confirmation(owner: Fields) -> Confirmation:
    """Read `requireConfirmation` in any of its forms (R1.17)."""
    if not owner.has("requireConfirmation"):
        return NO_CONFIRMATION
    value = owner.raw("requireConfirmation")
    if isinstance(value, bool):
        return Confirmation(kind=ConfirmationKind.CONFIRM) if value else NO_CONFIRMATION
    if not isinstance(value, dict) or "kind" not in value:
        condition = owner.condition("requireConfirmation")
        return Confirmation(kind=ConfirmationKind.CONFIRM, condition=condition)
    fields = owner.members("requireConfirmation")
    assert fields is not None
    kinds = (ConfirmationKind.COORDINATOR_EVAL, ConfirmationKind.HUMAN_APPROVAL)
    kind = fields.choice("kind", kinds)
    condition = fields.condition("condition")
    fields.done()
    return (
        Confirmation(kind=ConfirmationKind(kind), condition=condition) if kind else NO_CONFIRMATION
    )


def read_contract(owner: Fields) -> ContractUse | None:
    """Read the typed output a step must have (R1.29)."""
    by_output, by_contract = owner.members("output"), owner.members("outputContract")
    hints: dict[str, str] = {}
    first = second = None
    required = True
    if by_output is not None:
        first = by_output.text("contractRef")
        hints = by_output.mapping("hints")
        by_output.done()
    if by_contract is not None:
        second = by_contract.text("contractRef", required=True)
        required = by_contract.flag("required", default=True)
        by_contract.done()
    if first and second and first != second:
        owner.findings.error(
            "WF_CONTRACT_CONFLICT",
            owner.pointer,
            f"`output` asks for {first}, `outputContract` for {second}",
        )
    ref = second or first
    if ref is None:
        return None
    return ContractUse(contract_ref=ref, required=required, hints=hints or None)


def read_consequences(owner: Fields) -> tuple[Consequence, ...]:
    """Read which levels ask for more work (R1.31)."""
    found = []
    code = "WF_ASSESSMENT_INVALID"
    for fields in owner.each("assessmentConsequences", code=code):
        when, effect = fields.members("when"), fields.members("effect")
        fields.need("when")
        fields.need("effect")
        fields.done()
        if when is None or effect is None:
            continue
        effect.choice("kind", ("require_followup",), required=True)
        found.append(
            Consequence(
                level=when.text("anyEqualsLevel", required=True) or "",
                for_assessment=when.text("forAssessment"),
                guidance=effect.text("guidance", 1, 512, required=True) or "",
            )
        )
        when.done()
        effect.done()
    if len(found) > 10:
        owner.findings.error(code, owner.at("assessmentConsequences"), "at most 10 consequences")
    return tuple(found)


def read_user_inputs(owner: Fields) -> tuple[UserInput, ...]:
    """Read what only the person can give (R8.20)."""
    found = [_user_input(fields) for fields in owner.each("userInputs")]
    if len(found) > 8:
        owner.error("userInputs", f"{len(found)} inputs, at most 8 fit")
    ids = [one.id for one in found]
    if len(set(ids)) < len(ids):
        owner.error("userInputs", "two inputs have the same id")
    return tuple(found)


def _user_input(fields: Fields) -> UserInput:
    one = UserInput(
        id=fields.text("id", required=True, pattern=NAME) or "",
        reason=fields.choice("reason", USER_REASONS, required=True) or "",
        prompt=fields.text("prompt", 1, 512, required=True) or "",
        context_key=fields.text("contextKey", pattern=CONTEXT_KEY),
        choice_kind=fields.choice("choiceKind", CHOICE_KINDS),
        options=fields.texts("options"),
    )
    if (one.reason == "needs_user_choice") != fields.has("choiceKind"):
        fields.error("choiceKind", "`choiceKind` goes with the reason needs_user_choice")
    fields.done()
    return one


def read_check(owner: Fields, key: str, parts: tuple[str, str]) -> Check | None:
    """Read a `verification` or `audit` (R1.28)."""
    fields = owner.members(key)
    if fields is None:
        return None
    texts = {part: fields.text(part) or "" for part in parts}
    fields.done()
    if not any(texts.values()):
        owner.error(key, f"`{key}` has {' or '.join(f'`{part}`' for part in parts)}")
    return Check(**texts)
