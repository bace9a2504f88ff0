"""Warnings: what went less well than asked, said to the caller in a closed set of words (F3.3)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

_WARNING_CODES = """
alias_used ambiguous_dates ambiguous_match array_formula asset_exists breaks_validation
broken_references
circular_formula columns_by_position columns_left content_not_textual content_removed
control_chars_removed covers_cells date_1900_bug decimal_comma encoding_changed encoding_guessed
error_cells footer_skipped format_inferred formula_corrected formula_like_cells
header_skipped_on_append headers_written hidden_cells invalid_json layout_substituted long_rows
macros_may_name_sheet map_partial merged_redirect merged_skipped mixed_types no_match no_text_layer
non_finite non_numeric_amounts not_copied numeric_text occurrences_left order_added path_normalised
preamble_skipped ragged_rows range_not_extended references_by_place references_kept region_defaulted
replaced_existing rows_left rows_repaired sheet_defaulted sheet_name_changed short_rows
source_overwritten span_clipped style_value_ignored table_not_extended text_overflow textbox_added
tracked_changes_present truncated_to_fit uncached_formula
"""
WARNING_CODES = frozenset(_WARNING_CODES.split())
NOTED = frozenset({"macros_may_name_sheet", "range_not_extended", "table_not_extended"})
"""Warnings whose `where` is a sentence that a review and the facts of a turn show as it is."""


@dataclass(frozen=True, slots=True)
class Warn:
    """Something that went less well than asked, said to the caller (F1.7)."""

    code: str
    count: int = 1
    where: str | None = None

    def to_json(self) -> dict[str, str | int | None]:
        """Return the warning as the specification writes it."""
        return {"code": self.code, "count": self.count, "where": self.where}


class Warnings:
    """Collects warnings in the order they first appear, adding up equal ones."""

    def __init__(self, first: Iterable[Warn] = ()) -> None:
        self._counts: dict[tuple[str, str | None], int] = {}
        self.extend(first)

    def add(self, code: str, count: int = 1, where: str | None = None) -> None:
        """Note `code`; the same code at the same place is counted, not repeated."""
        if code not in WARNING_CODES:
            raise AssertionError(f"{code} is not a warning of F3.3")
        self._counts[code, where] = self._counts.get((code, where), 0) + count

    def extend(self, warnings: Iterable[Warn]) -> None:
        """Take over warnings collected elsewhere."""
        for warning in warnings:
            self.add(warning.code, warning.count, warning.where)

    def all(self) -> tuple[Warn, ...]:
        """Return what was collected."""
        return tuple(Warn(code, count, where) for (code, where), count in self._counts.items())
