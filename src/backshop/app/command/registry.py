"""The command registry: every operation once, under its name, bound to its facade (S5.1)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeVar

from backshop.base.acting import acting
from backshop.base.codec import decode, encode
from backshop.base.command import Command
from backshop.base.errors import BackshopError, NotFound, ValidationFailed
from backshop.base.ids import UserId
from backshop.base.telemetry import watch
from backshop.store import THE_OWNER, Caller

from ..operation.engine import LastErrors
from .access import AccessGate, names_server_path


@dataclass(frozen=True, slots=True)
class Bound:
    """A command and the facade it runs against."""

    command: Command[Any, Any, Any]
    facade: Any

    def run(self, request: Any, caller: Caller = THE_OWNER) -> Any:
        """Run with a typed request for somebody."""
        return self.command.answer(self.facade, request, caller)


Facade = TypeVar("Facade")
Asked = TypeVar("Asked")
Answer = TypeVar("Answer")
Offer = tuple[Iterable[Command[Any, Any, Any]], Any]
Load = Callable[[], Iterable[Offer]]


class Registry:
    """Every command of the product. Doors look up, decode, run, encode; they add nothing.

    Answers are typed values in this process; JSON is made of them where they leave it.

    A room can be offered instead of added: it is loaded when a name is asked for that nobody else
    has. What its names and modules usually begin with only decides who is asked first.
    """

    def __init__(self, gate: AccessGate | None = None) -> None:
        self._bound: dict[str, Bound] = {}
        self._by_method: dict[Callable[..., Any], str] = {}
        self._gate = gate
        self.errors = LastErrors()
        self._offers: list[tuple[tuple[str, ...], Load]] = []
        self._loading = threading.RLock()

    def add(self, commands: Iterable[Command[Any, Any, Any]], facade: Any) -> None:
        """Register commands; a name that is taken is a defect, and so is what has no policy."""
        for command in commands:
            if not isinstance(command, Command):
                raise ValueError(f"{command!r} is no command: nothing says who may run it")
            if command.name in self._bound:
                raise ValueError(f"the command {command.name} is registered twice")
            self._bound[command.name] = Bound(command, facade)
            self._by_method[command.run] = command.name

    def offer(self, usually: tuple[str, ...], load: Load) -> None:
        """Name a room whose commands and facades `load` gives when they are needed."""
        self._offers.append((usually, load))

    def __iter__(self) -> Iterator[Bound]:
        self._load(None)
        return iter(self._bound[name] for name in sorted(self._bound))

    def __contains__(self, name: str) -> bool:
        self._load(name)
        return name in self._bound

    def _load(self, name: str | None) -> None:
        """Load rooms until one has the name; without a name all of them."""
        if name in self._bound:
            return
        with self._loading:
            self._put_first(name)
            while self._offers and name not in self._bound:
                self._load_next()

    def _put_first(self, name: str | None) -> None:
        """Put the rooms that usually have the name first in line; the lock is held."""
        self._offers.sort(key=lambda offer: name is None or not name.startswith(offer[0]))

    def _load_next(self) -> None:
        """Load the room that is first in line; the lock is held."""
        for commands, facade in self._offers[0][1]():
            self.add(commands, facade)
        self._offers.pop(0)  # after it succeeded: a failure is told again, not forgotten

    def find(self, name: str) -> Bound:
        """Return a command by name.

        Raises:
            NotFound: with the nearest names as hints.
        """
        self._load(name)
        found = self._bound.get(name)
        if found is None:
            near = tuple(get_close_matches(name, self._bound, n=3))
            raise NotFound(f"there is no command {name!r}", reason="unknown_command", hints=near)
        return found

    def call(self, name: str, data: object, *, user: UserId | None = None) -> Any:
        """Run a command by name on parsed JSON and return parsed JSON: what leaves the process."""
        return encode(self.run(name, data, user=user))

    def run(self, name: str, data: object, *, user: UserId | None = None) -> Any:
        """Run a command by name on parsed JSON and return its typed answer.

        Without a user the caller is the home's owner; with one, access is checked first (T6.4).
        """
        bound = self.find(name)
        with watch("command", command=bound.command.name):
            return self._run(bound, decode(bound.command.request, data), user)

    def ask(
        self,
        method: Callable[[Facade, Asked], Answer],
        request: Asked,
        *,
        user: UserId | None = None,
    ) -> Answer:
        """Run the command that a method of a facade is: typed request in, typed answer out.

        For callers in this process that know what they ask; access is checked as everywhere.
        """
        bound = self._of(method)
        with watch("command", command=bound.command.name):
            answer: Answer = self._run(bound, request, user)
            return answer

    def _of(self, method: Callable[..., Any]) -> Bound:
        with self._loading:
            self._put_first(method.__module__)
            while method not in self._by_method and self._offers:
                self._load_next()
        if method not in self._by_method:
            raise ValueError(f"{method!r} is no command")
        return self._bound[self._by_method[method]]

    def _run(self, bound: Bound, request: Any, user: UserId | None) -> Any:
        caller = self.admitted(bound.command.name, request, user)
        try:
            with acting(user):
                answer = bound.run(request, caller)
        except BackshopError as error:
            self.errors.note(request, error.info(bound.command.phase))
            raise
        if self._gate is not None and user is not None:
            answer = self._gate.filtered(answer)
        return answer

    def admitted(self, name: str, request: Any, user: UserId | None) -> Caller:
        """Return for whom a command runs, if they may run it with this request.

        Raises:
            AccessDenied: they may not.
            LimitExceeded: they ask too often.
        """
        bound = self.find(name)
        if self._gate is None or user is None:
            return THE_OWNER
        self._gate.admit(bound.command, request, user)
        return self._gate.caller(bound.command, user)

    def names_server_path(self, name: str, data: object) -> bool:
        """Say whether a call names a path of this machine; one that cannot be run names none."""
        try:
            command = self.find(name).command
            return names_server_path(command, decode(command.request, data))
        except (NotFound, ValidationFailed):
            return False
