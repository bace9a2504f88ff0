"""A state for folds of tests: snapshots hold values of the product and no others."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Total:
    """The sum of all numbers, and how many there were."""

    total: int = 0
    count: int = 0
