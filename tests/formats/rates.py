"""How many edits of files others made went without loss, and why the others were refused.

tools/proof.py prints what is recorded here as a rate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from backshop.formats.errors import FormatError


@dataclass
class Rate:
    """The edits one test tried."""

    corpus: str
    """What was edited: `workbooks`, `operations on decks`."""
    edited: int = 0
    refused: Counter[str] = field(default_factory=Counter)

    def refuse(self, error: FormatError) -> None:
        """Count an edit that was refused with a reason."""
        self.refused[error.reason] += 1

    def record(self, record_property: Callable[[str, object], None]) -> None:
        """Tell what was tried and how it ended."""
        record_property("corpus", self.corpus)
        record_property("tried", self.edited + self.refused.total())
        record_property("edited without loss", self.edited)
        for reason, count in sorted(self.refused.items()):
            record_property(f"refused: {reason}", count)
