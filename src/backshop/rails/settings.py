"""What can be configured about rails (R7.1, R8.11, R8.13)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from backshop.base.limits import BLOCKED_ATTEMPTS_MAX, RAILS_NOTES, RAILS_PRESET, RETENTION_DAYS

from .session.events import Driver


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings rails look at; tools are listed or not by their flags."""

    preset: str = RAILS_PRESET
    notes: str = RAILS_NOTES
    workspace: Path | None = None
    max_blocked: int = BLOCKED_ATTEMPTS_MAX
    retention_days: int = RETENTION_DAYS
    driver: Driver = "mcp"
    agent_may_automate: bool = False
    agent_may_approve: bool = False
    checkpoint_workflow: bool = True
    resume_session: bool = True
    start_session: bool = True
