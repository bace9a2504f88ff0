"""The phases of a turn: which tools each one may use, and how often it may ask (W7.1).

Every phase is offered the same tools, so that requests begin alike; this table says which of them
it may use, and budgets come from it too.
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
    WORK_TURNS_MAX,
)

from .receipt import RECALL

REQUEST_PLAN, REPORT_FAILURE = "request_plan", "report_failure"


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
    why: str = ""
    """Why it does not use the others, in a sentence."""


PLAN_TOOLS = frozenset(("read_file", "describe_operations", RECALL))
RESEARCH_TOOLS = PLAN_TOOLS | frozenset(
    (
        "list_files",
        "get_file_info",
        "get_file_map",
        "search_files",
        "table_get_map",
        "table_describe",
        "table_stats",
        "table_read_rows",
        "table_query",
        "get_styles",
        "view_page",
    )
)
FROM_TABLES = frozenset(("table_export", "table_update_from_export"))
"""The tools that read their `path` and write their `target_path`."""
_WRITING = FROM_TABLES | frozenset(
    (
        "write_text_file",
        "edit_text_file",
        "replace_in_files",
        "revert_file",
        "xlsx_operations",
        "docx_operations",
        "pptx_operations",
        "copy_assets",
    )
)
ALL_TOOLS = RESEARCH_TOOLS | _WRITING
WRITING_TOOLS = _WRITING | {f"{kind}_copy_assets" for kind in ("xlsx", "docx", "pptx")}
"""The tools that write, also under names that older logs have."""
WORK = "work"
"""The prompt of direct work; to everybody who watches it is Implement, item 1 of 1 (W11.32)."""
SUMMARY_TURNS_MAX = 2  # the second only for a model that calls a tool all the same

PHASES: Mapping[str, Phase] = MappingProxyType(
    {
        WORK: Phase(PhaseKey.IMPLEMENT, ALL_TOOLS | {REQUEST_PLAN, REPORT_FAILURE}, WORK_TURNS_MAX),
        PhaseKey.RESEARCH: Phase(
            PhaseKey.RESEARCH,
            RESEARCH_TOOLS,
            RESEARCH_TURNS_MAX,
            "This phase only finds out; files are changed when the plan is carried out.",
        ),
        PhaseKey.PLAN: Phase(
            PhaseKey.PLAN,
            PLAN_TOOLS,
            PLAN_TURNS_MAX,
            "This phase writes the plan; it may only read parts of files.",
        ),
        PhaseKey.IMPLEMENT: Phase(
            PhaseKey.IMPLEMENT,
            ALL_TOOLS | {REPORT_FAILURE},
            IMPLEMENT_TURNS_MAX,
            "This item belongs to a plan already; report what it lacks at the end of your text.",
        ),
        PhaseKey.SUMMARY: Phase(
            PhaseKey.SUMMARY,
            frozenset(),
            SUMMARY_TURNS_MAX,
            "This phase only writes the answer, from what is there.",
        ),
    }
)


def phase_of(key: str) -> Phase | None:
    """Return the phase a prompt's key belongs to; None for prompts that are no phase."""
    return PHASES.get(key)
