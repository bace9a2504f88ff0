"""Asks whether a person has the role a command needs; the role stands in `commands` (T6.4, T6.5).

This is the one place where that is asked: no command and no door does it again.

A call without a user is the home's owner: the person at the machine, a script, the login link. A
call with one is checked here before the command runs, whatever door it came through.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from backshop.base.command import Command
from backshop.base.errors import AccessDenied
from backshop.base.ids import UserId
from backshop.store import NOTHING_BESIDE, Caller

from ..notice.hub import Listener
from ..people.people import People, Role
from ..people.quota import Limiter

if TYPE_CHECKING:
    from backshop.rails import Rails


class AccessGate:
    """Checks a person's call before it runs, and what it gives back."""

    def __init__(
        self,
        people: People,
        rails: Callable[[], Rails],
        limiter: Limiter,
    ) -> None:
        self._people = people
        self._rails = rails
        self._limiter = limiter

    def admit(self, command: Command[Any, Any, Any], request: Any, user: UserId) -> None:
        """Let the call pass or refuse it.

        Raises:
            AccessDenied: the person is gone, or lacks the role.
            LimitExceeded: `user_limit`.
        """
        state = self._people.state
        if user not in state.users:
            raise AccessDenied("this token is not valid any more", reason="user_removed")
        self._limiter.count(user)
        self.require_no_path(user, command, request)
        if getattr(request, "reuse", False):  # what is there may be somebody else's
            raise AccessDenied("only the home's owner reuses a workbench", reason="owner_only")
        subjects = self._subjects(request)
        if command.role == "owner" or not (subjects or command.anybody):
            raise AccessDenied("this is for the home's owner", reason="owner_only")
        role = Role(command.role)
        for subject in sorted(subjects):
            has = state.role(user, subject)
            if not has.includes(role):
                raise AccessDenied(
                    f"this needs the role {role.value!r}, yours is {has.value!r}", reason="role"
                )
        self._limiter.count_about(subjects)

    def admit_to(self, user: UserId | None, subject: str, role: Role) -> None:
        """Let somebody's use of one thing pass, and count it, for tools that are no commands.

        Raises:
            AccessDenied: the person is gone, or lacks the role.
            LimitExceeded: `user_limit`.
        """
        if user is not None:
            self._limiter.count(user)
            self.require(user, subject, role)
            self._limiter.count_about({subject})

    def require(self, user: UserId | None, subject: str, role: Role) -> None:
        """Refuse a person without this role; for doors that hand out what no command does.

        Raises:
            AccessDenied: the person is gone, or lacks the role.
        """
        if user is not None and not self._people.state.role(user, subject).includes(role):
            raise AccessDenied(f"this needs the role {role.value!r}", reason="role")

    def require_no_path(
        self, user: UserId | None, command: Command[Any, Any, Any], request: Any
    ) -> None:
        """Refuse a person who names a path of the server, whatever their role (S7.5).

        Raises:
            AccessDenied: `paths`.
        """
        if user is not None and names_server_path(command, request):
            raise AccessDenied("only the home's owner names paths of the server", reason="paths")

    def listener(self, user: UserId | None) -> Listener | None:
        """Return who follows events, and so hears of their own alone; None hears all."""
        return None if user is None else Listener(user, lambda: self._people.state)

    def caller(self, command: Command[Any, Any, Any], user: UserId) -> Caller:
        """Return for whom the command runs: what they see, and that what they make is theirs.

        Going back changes Published or not by what is asked and what happened before, so the rule
        that decides it is told who may (`WorkshopUndoToMessage`, `WorkshopRegenerate`,
        `WorkshopRedo`).
        """
        state = self._people.state
        return Caller(
            user=user,
            sees=lambda subject: state.role(user, subject).includes(Role.READ),
            may_publish=lambda bench: state.role(user, bench).includes(Role.PUBLISH),
            beginning=self._people.giving(user) if command.makes else NOTHING_BESIDE,
        )

    def filtered(self, response: Any) -> Any:
        """Leave out of an answer to a person the places on the disk."""
        from backshop.bench import (  # loaded by now if the command is of there
            DraftFolder,
            FolderState,
            Opened,
            Scope,
        )

        if isinstance(response, DraftFolder | FolderState):
            return replace(response, folder=None)
        if isinstance(response, Opened) and response.folder is not None:
            return replace(response, folder=replace(response.folder, folder=None))
        return replace(response, sandbox_root=None) if isinstance(response, Scope) else response

    def _subjects(self, request: Any) -> set[str]:
        bench = getattr(request, "workbench_id", None)
        if isinstance(bench, str):
            return {bench}
        return self._rails().sessions_of(request)


def names_server_path(command: Command[Any, Any, Any], request: object) -> bool:
    """Say whether a decoded request names a path of the machine the server runs on.

    Free JSON in it, such as the context of a run, is data: nothing there is opened.
    """
    return bool(command.server_paths) and _names(request, frozenset(command.server_paths))


def _names(value: object, names: frozenset[str]) -> bool:
    if is_dataclass(value):
        parts = ((one.name, getattr(value, one.name)) for one in fields(value))
        return any(
            (name in names and part is not None and part != ()) or _names(part, names)
            for name, part in parts
        )
    return isinstance(value, tuple) and any(_names(part, names) for part in value)
