"""The Command value: an operation of the product, said once and served by every door (S5.1)."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Generic, Literal, Protocol, TypeVar, get_args

Facade = TypeVar("Facade")
Request = TypeVar("Request")
Response = TypeVar("Response")

Needed = Literal["read", "write", "publish", "owner"]
Made = Literal["workbench", "session"]

_NAME = re.compile(r"[A-Z][A-Za-z]+|[a-z][a-z_]+")


@dataclass(frozen=True, slots=True)
class Command(Generic[Facade, Request, Response]):
    """A named operation: typed request in, typed response out, run against one facade.

    `run` gets the facade and the request and, with `for_caller`, whoever calls: their lists show
    what they may see, and what they make is theirs. `phase` goes into the envelope of its errors
    (M11.2); `writes` says whether it can change anything. `summary` is one sentence for help texts
    and the reference.

    The rest is its policy for people who share a home (T6.4). `role` is what they need on every
    workbench and session a request names; `owner`: no role is enough, it is for the home's owner.
    A request that names none is for the home's owner too, except where `anybody` may ask. What the
    command `makes` belongs to whoever asked. `server_paths` are the fields of its request, however
    deep, that name a place on the server's disk, which only the home's owner may (S7.5).
    """

    name: str
    summary: str
    request: type[Request]
    response: Any
    run: Callable[..., Response] = field(repr=False)
    _: KW_ONLY
    role: Needed
    anybody: bool = False
    makes: Made | None = None
    server_paths: tuple[str, ...] = ()
    phase: str = "workbench"
    writes: bool = False
    for_caller: bool = False

    def __post_init__(self) -> None:
        if _NAME.fullmatch(self.name) is None:
            raise ValueError(f"{self.name!r} is not a command name")
        if self.role not in get_args(Needed):
            raise ValueError(f"{self.name} needs a role: one of {', '.join(get_args(Needed))}")
        if self.makes and not self.for_caller:
            raise ValueError(f"{self.name} makes what belongs to its caller, and takes none")
        if self.role == "owner" and (self.anybody or self.makes):
            raise ValueError(f"{self.name} is for the home's owner and cannot be for anybody")

    def answer(self, facade: Facade, request: Request, caller: object) -> Response:
        """Run for somebody."""
        if self.for_caller:
            return self.run(facade, request, caller)
        return self.run(facade, request)


def method_command(
    name: str, summary: str, run: Callable[..., Any], **policy: Any
) -> Command[Any, Any, Any]:
    """Return the command that takes and answers what a method of a facade does."""
    kinds = inspect.get_annotations(run, eval_str=True)
    _, asked, *_ = inspect.signature(run).parameters
    return Command(name, summary, kinds[asked], kinds["return"], run, **policy)


@dataclass(frozen=True, slots=True, kw_only=True)
class Nothing:
    """A request without fields."""


NOTHING = Nothing()


class Ask(Protocol):
    """Runs the command that a method of a facade is: typed request in, typed answer out."""

    def __call__(
        self, method: Callable[[Facade, Request], Response], request: Request, /
    ) -> Response: ...
