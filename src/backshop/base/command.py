"""The Command value: an operation of the product, said once and served by every door (S5.1)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

Facade = TypeVar("Facade")
Request = TypeVar("Request")
Response = TypeVar("Response")

_NAME = re.compile(r"[A-Z][A-Za-z]+|[a-z][a-z_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Command(Generic[Facade, Request, Response]):
    """A named operation: typed request in, typed response out, run against one facade.

    `phase` goes into the envelope of its errors (M11.2); `writes` says whether it can change
    anything. `summary` is one sentence for help texts and the reference.
    """

    name: str
    summary: str
    request: type[Request]
    response: Any
    run: Callable[[Facade, Request], Response] = field(repr=False)
    phase: str = "workbench"
    writes: bool = False

    def __post_init__(self) -> None:
        if _NAME.fullmatch(self.name) is None:
            raise ValueError(f"{self.name!r} is not a command name")


@dataclass(frozen=True, slots=True, kw_only=True)
class Nothing:
    """A request without fields."""


class Making(Protocol):
    """Makes a command of one phase."""

    def __call__(
        self,
        name: str,
        summary: str,
        request: type[Any],
        response: Any,
        run: Callable[[Any, Any], Any],
        *,
        phase: str = ...,
        writes: bool = False,
    ) -> Command[Any, Any, Any]: ...


def commands_of(phase: str) -> Making:
    """Return what makes the commands of a phase, so that a table of them reads as one."""

    def made(
        name: str,
        summary: str,
        request: type[Any],
        response: Any,
        run: Callable[[Any, Any], Any],
        *,
        phase: str = phase,
        writes: bool = False,
    ) -> Command[Any, Any, Any]:
        return Command(
            name=name,
            summary=summary,
            request=request,
            response=response,
            run=run,
            phase=phase,
            writes=writes,
        )

    return made
