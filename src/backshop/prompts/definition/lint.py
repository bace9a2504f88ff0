"""What is legal in a prompt and still not wise (P1.24)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .prompt import Prompt
from .section import STABILITIES, Diagnostic


def lint(prompt: Prompt[Any]) -> tuple[Diagnostic, ...]:
    """Return the findings about a prompt, in document order."""
    return tuple(_unstable_prefix(prompt))


def _unstable_prefix(prompt: Prompt[Any]) -> Iterator[Diagnostic]:
    """PL001: what changes less often comes first, or providers cannot cache the beginning."""
    least, before = 0, ""
    for node in prompt.walk():
        if prompt.nodes[int(node.number.split(".")[0]) - 1].section.role == "user":
            continue
        rank = STABILITIES.index(node.section.stability)
        if rank < least:
            message = (
                f"{node.name} is {node.section.stability} and stands after {before}, "
                f"which is {STABILITIES[least]}"
            )
            yield Diagnostic("PL001", message, node.name)
        else:
            least, before = rank, node.name
