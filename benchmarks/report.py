"""Interleaved rounds, medians, and one way to print them."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Mapping

ROUNDS = 9  # single runs on shared machines vary tenfold; medians of at least nine do not


def medians(
    works: Mapping[str, Callable[[], object]],
    rounds: int = ROUNDS,
    between: Callable[[str], object] = lambda _: None,
) -> dict[str, float]:
    """Run each work once a round, in turn, and return the median seconds of each.

    `between` gets the name of the work just done and puts things back, unmeasured.
    """
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            begun = time.perf_counter()
            work()
            times[name].append(time.perf_counter() - begun)
            between(name)
    return {name: statistics.median(taken) for name, taken in times.items()}


def row(what: str, figure: float, bar: float, *, at_least: bool = False, unit: str = "×") -> None:
    """Print one line of the table: what, the figure, the bar, and whether it is met."""
    met = figure >= bar if at_least else figure <= bar
    sign = "≥" if at_least else "≤"
    print(
        f"| {what} | {figure:.2f} {unit} | {sign} {bar:g} {unit} | {'yes' if met else 'NO'} |",
        flush=True,
    )


def fact(what: str, figure: float, unit: str = "×") -> None:
    """Print a figure that no bar is set for."""
    print(f"| {what} | {figure:.2f} {unit} | – | – |", flush=True)


def head() -> None:
    """Print the table's heading."""
    print("| what | measured | bar | met |\n|---|---|---|---|", flush=True)


def child_env(**more: str) -> dict[str, str]:
    """Return the surroundings of a measured program: as a person's, with compiled modules kept."""
    kept = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, **more}
