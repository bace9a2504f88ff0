"""Interleaved rounds, medians, and one way to print them."""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Callable, Mapping
from pathlib import Path

_KEPT = "FIGURES_FILE"  # a file that gets the rows too, for tools/proof.py
_NAME = "FIGURES_OF"  # no name of the product: the programs that are measured would refuse it
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
    _tell(what, f"{figure:.2f} {unit}", f"{'≥' if at_least else '≤'} {bar:g} {unit}", met)


def fact(what: str, figure: float, unit: str = "×") -> None:
    """Print a figure that no bar is set for."""
    _tell(what, f"{figure:.2f} {unit}", None, None)


def begin(benchmark: str) -> None:
    """Say whose rows come next."""
    os.environ[_NAME] = benchmark


def _tell(what: str, figure: str, bar: str | None, met: bool | None) -> None:
    said = {True: "yes", False: "NO", None: "–"}[met]
    print(f"| {what} | {figure} | {bar or '–'} | {said} |", flush=True)
    if kept := os.environ.get(_KEPT):
        name = os.environ.get(_NAME, "")
        row = {"benchmark": name, "what": what, "figure": figure, "bar": bar, "met": met}
        with Path(kept).open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def head() -> None:
    """Print the table's heading."""
    print("| what | measured | bar | met |\n|---|---|---|---|", flush=True)


def child_env(**more: str) -> dict[str, str]:
    """Return the surroundings of a measured program: as a person's, with compiled modules kept."""
    kept = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, **more}
