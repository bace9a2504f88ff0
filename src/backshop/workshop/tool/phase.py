"""The phases of a turn: which tools each one has, how often it may ask, what people read (W7.1).

Prompts, budgets and offers all come from this table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from backshop.base.limits import (
    IMPLEMENT_TURNS_MAX,
    PLAN_TURNS_MAX,
    RESEARCH_TURNS_MAX,
)

from .receipt import RECALL


class PhaseKey(StrEnum):
    """The parts of a turn, in their order."""

    RESEARCH = "research"
    PLAN = "plan"
    IMPLEMENT = "implement"
    SUMMARY = "summary"


@dataclass(frozen=True, slots=True)
class Phase:
    """What a phase may use: the names of its tools, and how many times it asks the model."""

    key: PhaseKey
    tools: frozenset[str]
    max_turns: int


PLAN_TOOLS = frozenset(("read_file", "describe_operations", RECALL))
RESEARCH_TOOLS = PLAN_TOOLS | frozenset(
    (
        "list_files",
        "get_file_info",
        "get_file_map",
        "table_get_map",
        "table_describe",
        "table_stats",
        "table_read_rows",
        "table_query",
        "get_styles",
    )
)
_WRITING = frozenset(
    (
        "table_export",
        "table_update_from_export",
        "write_text_file",
        "edit_text_file",
        "xlsx_operations",
        "docx_operations",
        "pptx_operations",
        "copy_assets",
    )
)
ALL_TOOLS = RESEARCH_TOOLS | _WRITING
WRITING_TOOLS = _WRITING | {f"{kind}_copy_assets" for kind in ("xlsx", "docx", "pptx")}
"""The tools that write, also under names that older logs have."""

PHASES: Mapping[PhaseKey, Phase] = MappingProxyType(
    {
        PhaseKey.RESEARCH: Phase(PhaseKey.RESEARCH, RESEARCH_TOOLS, RESEARCH_TURNS_MAX),
        PhaseKey.PLAN: Phase(PhaseKey.PLAN, PLAN_TOOLS, PLAN_TURNS_MAX),
        PhaseKey.IMPLEMENT: Phase(PhaseKey.IMPLEMENT, ALL_TOOLS, IMPLEMENT_TURNS_MAX),
        PhaseKey.SUMMARY: Phase(PhaseKey.SUMMARY, frozenset(), 1),
    }
)


def phase_of(key: str) -> Phase | None:
    """Return the phase a prompt's key belongs to; None for prompts that are no phase."""
    return next((one for one in PHASES.values() if one.key == key), None)
