"""Effort, sampling and tool choice by model and phase: the request profile (M5–M7)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from backshop.base.errors import ValidationFailed

from ..messages import ModelRequest, Purpose, ToolChoice
from .catalog import ModelRecord, Sampling
from .strict_schema import StrictLimits, can_be_strict, strict_names

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")  # weakest first
DEFAULT_EFFORT = "medium"
REMINDER = "Call one of the tools before you answer."
_REASONS = re.compile(r"gpt-(?:[5-9]|\d\d)|o\d")  # wire names of OpenAI's that think (M5.4)


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
            case Purpose.IMPLEMENT | Purpose.WORK:
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
    reminder: str | None
    """What is said instead where a tool is required and the model takes no such choice (M6.1).

    It stays where it was said, so that what was sent is not altered."""
    strict_response: bool

    @property
    def tool_choice(self) -> str:
        """The choice of tools in OpenAI's words."""
        if self.tool_none:
            return "none"
        return "required" if self.tool_required else "auto"


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
    fixed = model.sampling is Sampling.DETERMINISTIC and not is_reasoning(model)
    wants = bool(request.tools) and request.tool_choice is ToolChoice.FIRST_TURN_REQUIRED
    can_require = model.supports.tool_choice_required
    return Profile(
        effort=nearest_effort(request.effort or DEFAULT_EFFORT, model.efforts),
        temperature=0 if fixed else None,
        top_p=1 if fixed else None,
        tools=bool(request.tools),
        tool_required=wants and can_require and not request.has_tool_result,
        reminder=REMINDER if wants and not can_require else None,
        tool_none=bool(request.tools) and request.tool_choice is ToolChoice.NONE,
        strict_response=schema is not None and model.supports.structured_output,
    )


def is_reasoning(model: ModelRecord) -> bool:
    """Say whether a model thinks before it answers; such models take no sampling (M5.4)."""
    return bool(model.efforts) or _REASONS.match(model.wire_name) is not None


def strict_tools(
    request: ModelRequest, model: ModelRecord, limits: StrictLimits
) -> frozenset[str] | None:
    """Return the names of the tools that are sent strict; None where the word is not sent."""
    if not model.supports.strict_tools:
        return None
    return strict_names(request.tools, limits) if request.is_strict else frozenset()


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


def check_efforts(provider_id: str, efforts: Efforts, allowed: tuple[str, ...]) -> Efforts:
    """Return the efforts if a model of this provider lists each of them (M7.1).

    Raises:
        ValidationFailed: `bad_effort`.
    """
    for value in (efforts.research, efforts.plan, efforts.implement):
        if value not in allowed:
            raise ValidationFailed(
                f"{provider_id} has no effort {value[:16]!r}", reason="bad_effort", choices=allowed
            )
    return efforts
