"""The settings a bench works with (S3); their defaults stand in `base.limits`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from backshop.base.limits import (
    BATCH_FILES_MAX,
    BATCH_MAX_BYTES,
    BATCH_OPERATIONS_MAX,
    BENCH_PROFILE,
    DISK_RESERVE_BYTES,
    FULL_VIEW_MAX_FILES,
    RECALCULATE,
    REVISIONS_MAX,
    TRASH_DAYS,
)

from .state import PROFILES
from .style.choice import KEYWORDS
from .values import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchSettings:
    """What new workbenches begin with, and bounds that hold for all of them."""

    profile: str = BENCH_PROFILE
    limits: Limits | None = None
    """Limits of new workbenches in place of the profile's (B6.4)."""
    batch_operations: int = BATCH_OPERATIONS_MAX
    batch_files: int = BATCH_FILES_MAX
    batch_bytes: int = BATCH_MAX_BYTES
    trash_days: int = TRASH_DAYS
    full_view_max: int = FULL_VIEW_MAX_FILES
    max_revisions: int = REVISIONS_MAX
    checkpoint_max_bytes: int | None = None  # B10.6
    disk_reserve_bytes: int = DISK_RESERVE_BYTES
    recalculate: bool = RECALCULATE
    style_keywords: Mapping[str, Sequence[str]] = field(default_factory=lambda: KEYWORDS)
    default_model: Callable[[], str | None] = lambda: None
    """Asked when a workbench is made: the model the person chose for new ones (M2.6)."""

    def new_limits(self, profile: str | None) -> tuple[Limits, str]:
        """Return limits and their name for a new workbench; a profile asked for goes first."""
        if profile is None and self.limits is not None:
            return self.limits, "custom"
        wanted = profile or self.profile
        return PROFILES[wanted], wanted
