"""Where a workbook that is no xlsx package comes from, and what is known of it (F40.10)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Origin:
    """What is known of a workbook of another format beside what stands in its cells."""

    format: str  # ods, xls, xlsb
    has_formulas: bool  # whether their texts are read, not only their results
    formulas: tuple[int, ...]  # how many there are, sheet by sheet
    security: dict[str, bool]

    @property
    def not_read(self) -> list[str]:
        """What of the workbook is not looked at, in words for people and models (F40.13)."""
        rest = ["looks", "charts", "pictures", "comments", "rules for cells"]
        return rest if self.has_formulas else ["formulas (only their results)", *rest]
