"""Effort, sampling and tool choice by model and phase: the request profile (M5–M7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from backshop.base.errors import ValidationFailed

from ..messages import ModelRequest, Purpose, ToolChoice
from .catalog import ModelRecord, Sampling
from .strict_schema import can_be_strict

EFFORTS = ("none", "low", "medium", "high", "xhigh", "max")  # weakest first
DEFAULT_EFFORT = "medium"
ALLOWED_EFFORTS: Mapping[str, tuple[str, ...]] = {  # M7.1
    "openai": ("none", "low", "medium", "high"),
    "openai-codex": ("low", "medium", "high", "xhigh"),
    "anthropic": ("low", "medium", "high", "max"),
    "google": ("low", "medium", "high"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Efforts:
    """How hard a provider's models think, per phase; everything else is medium (M7.2)."""

    research: str = DEFAULT_EFFORT
    plan: str = DEFAULT_EFFORT
    implement: str = DEFAULT_EFFORT

    def of(self, purpose: Purpose) -> str:
        """Return the effort a call of this purpose asks for."""
        match purpose:
            case Purpose.RESEARCH:
                return self.research
            case Purpose.PLAN:
                return self.plan
            case Purpose.IMPLEMENT:
                return self.implement
            case _:
                return DEFAULT_EFFORT


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What a request carries besides its messages; None means the field is not sent."""

    effort: str | None
    temperature: int | None
    top_p: int | None
    tools: bool
    tool_required: bool
    tool_none: bool
    strict_response: bool


def profile(request: ModelRequest, model: ModelRecord) -> Profile:
    """Return the profile of a request on a model.

    Raises:
        ValidationFailed: `model_without_tools`, or a response schema that cannot be strict.
    """
    if request.tools and not model.supports.tools:
        raise ValidationFailed(f"{model.model_id} cannot call tools", reason="model_without_tools")
    schema = request.response_schema
    if schema is not None and not can_be_strict(schema.schema):
        raise ValidationFailed("the response schema cannot be strict", reason="schema_not_strict")
    fixed = model.sampling is Sampling.DETERMINISTIC and not model.wire_name.startswith("gpt-5")
    wants = request.tool_choice is ToolChoice.FIRST_TURN_REQUIRED and not request.has_tool_result
    return Profile(
        effort=nearest_effort(request.effort or DEFAULT_EFFORT, model.efforts),
        temperature=0 if fixed else None,
        top_p=1 if fixed else None,
        tools=bool(request.tools),
        tool_required=bool(request.tools) and wants,
        tool_none=bool(request.tools) and request.tool_choice is ToolChoice.NONE,
        strict_response=schema is not None and model.supports.structured_output,
    )


def nearest_effort(wanted: str, offered: tuple[str, ...]) -> str | None:
    """Return the wanted effort, else the nearest lower one, else the lowest (M7.2)."""
    if not offered or wanted not in EFFORTS:
        return None
    ranked = sorted(offered, key=EFFORTS.index)
    lower = [one for one in ranked if EFFORTS.index(one) <= EFFORTS.index(wanted)]
    return lower[-1] if lower else ranked[0]


def adjusted(efforts: Efforts, offered: tuple[str, ...]) -> tuple[tuple[str, str, str], ...]:
    """Return phase, effort wanted and effort used, where a model lacks what is set (M7.2)."""
    found = []
    for purpose in (Purpose.RESEARCH, Purpose.PLAN, Purpose.IMPLEMENT):
        wanted = efforts.of(purpose)
        used = nearest_effort(wanted, offered)
        if used is not None and used != wanted:
            found.append((purpose.value, wanted, used))
    return tuple(found)


def check_efforts(provider_id: str, efforts: Efforts, offered: tuple[str, ...]) -> Efforts:
    """Return the efforts if this provider takes them (M7.1); `offered` is what its models list.

    Raises:
        ValidationFailed: `bad_effort`.
    """
    allowed = ALLOWED_EFFORTS.get(provider_id, offered)
    for value in (efforts.research, efforts.plan, efforts.implement):
        if value not in allowed:
            raise ValidationFailed(
                f"{provider_id} has no effort {value[:16]!r}", reason="bad_effort", choices=allowed
            )
    return efforts
