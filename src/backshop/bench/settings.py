"""The numbers a person can set for all workbenches (S3), with what holds when they do not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from .state import PROFILES
from .styling import KEYWORDS
from .values import Limits

MIB = 1024 * 1024
MAX_REVISIONS = 200  # B8.15


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchSettings:
    """What new workbenches begin with, and bounds that hold for all of them."""

    profile: str = "standard"
    limits: Limits | None = None
    """Limits of new workbenches in place of the profile's (B6.4)."""
    batch_operations: int = 500  # B8.4
    batch_files: int = 200
    batch_bytes: int = 256 * MIB
    trash_days: int = 7  # B5.6
    full_view_max: int = 0  # B2.10
    max_revisions: int = MAX_REVISIONS
    checkpoint_max_bytes: int | None = None  # B10.6
    disk_reserve_bytes: int = 64 * MIB  # B3.10
    recalculate: bool = True  # F24.11
    style_keywords: Mapping[str, Sequence[str]] = field(default_factory=lambda: KEYWORDS)
    default_model: Callable[[], str | None] = lambda: None
    """Asked when a workbench is made: the model the person chose for new ones (M2.6)."""

    def new_limits(self, profile: str | None) -> tuple[Limits, str]:
        """Return limits and their name for a new workbench; a profile asked for goes first."""
        if profile is None and self.limits is not None:
            return self.limits, "custom"
        wanted = profile or self.profile
        return PROFILES[wanted], wanted
