"""People who share a home: who they are, and what each may do with which bench or session (T6.4).

A home of one person has nobody listed here and needs none of it: whoever sits at the machine is
its owner and may do everything.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from typing import Any, assert_never

from backshop.base.acting import OWNER, acting_user
from backshop.base.ambient import Clock, Mint, timestamp
from backshop.base.command import Command, Nothing, method_command
from backshop.base.errors import AccessDenied, NotFound, ValidationFailed
from backshop.base.event import event
from backshop.base.ids import UserId, check_id
from backshop.base.paths import as_seen, is_line
from backshop.store import Beginning, Event, Fold, NewEvent, Part, Store

from .invitation import (
    INVITE_DAYS,
    INVITES_MAX,
    TOKEN_PREFIX,
    Invite,
    InviteInfo,
    InviteMade,
    Invites,
    InviteTaken,
    InviteWithdrawn,
    UserInvite,
    UserInvited,
    UserInviteWithdraw,
)
from .login_link import end_logins

STREAM = "people:home"
NAME_MAX_CHARS = 80
THE_OWNER = "the home's owner"
USERS_MAX = 10_000
_TOKEN_BYTES = 32
_DAY_MS = 86_400_000
_TOKEN_PREFIX = "bsu_"  # noqa: S105  # how a personal token is recognised, not a token


class Role(StrEnum):
    """What a person may do; each role includes the ones before it."""

    NONE = "none"
    READ = "read"
    WRITE = "write"
    PUBLISH = "publish"

    def includes(self, other: Role) -> bool:
        """Say whether this role may do what `other` may."""
        order = tuple(Role)
        return order.index(self) >= order.index(other)


@event("people.user_added")
@dataclass(frozen=True, slots=True, kw_only=True)
class UserAdded:
    """Somebody got a personal token; only its hash is kept."""

    user_id: UserId
    name: str
    token_sha256: str


@event("people.user_removed")
@dataclass(frozen=True, slots=True, kw_only=True)
class UserRemoved:
    """Somebody's token and rights ended."""

    user_id: UserId


@event("people.access_set")
@dataclass(frozen=True, slots=True, kw_only=True)
class AccessChanged:
    """A person's role on one bench or session; `owner` when it is theirs."""

    subject: str
    user_id: UserId
    role: Role
    owner: bool = False


PeopleEvent = UserAdded | UserRemoved | AccessChanged | UserInvited | InviteTaken | InviteWithdrawn


@dataclass(frozen=True, slots=True)
class User:
    """One person."""

    user_id: UserId
    name: str
    token_sha256: str
    added_ms: int


@dataclass(frozen=True, slots=True)
class Grant:
    """What one person may do with one thing; whoever made it stays its owner, whatever the role."""

    role: Role = Role.NONE
    owner: bool = False
    giver: str | None = field(default=None, compare=False)
    """Who gave it, as events call them (T1.6)."""


@dataclass(frozen=True, slots=True)
class PeopleState:
    """Everybody, and every grant."""

    users: Mapping[UserId, User] = field(default_factory=dict)
    by_token: Mapping[str, UserId] = field(default_factory=dict)
    grants: Mapping[tuple[str, UserId], Grant] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    """What everybody was called who was ever here: the log goes on naming them."""
    invites: Mapping[str, Invite] = field(default_factory=dict)
    """Links that nobody has used yet, by the hash of their token; some have expired (T6.7)."""

    def role(self, user_id: UserId, subject: str) -> Role:
        """Return what a person may do with a bench or session; nobody unknown may anything."""
        found = self.grants.get((subject, user_id))
        return found.role if found is not None and user_id in self.users else Role.NONE


def apply(
    state: PeopleState, fact: PeopleEvent, at_ms: int, giver: str | None = None
) -> PeopleState:
    """Return the state after a fact."""
    match fact:
        case UserAdded(user_id=user_id, name=name, token_sha256=token):
            user = User(user_id, name, token, at_ms)
            return replace(
                state,
                users={**state.users, user_id: user},
                by_token={**state.by_token, token: user_id},
                names={**state.names, user_id: name},
            )
        case UserRemoved(user_id=user_id):
            return PeopleState(
                names=state.names,
                invites=state.invites,
                users={k: v for k, v in state.users.items() if k != user_id},
                by_token={k: v for k, v in state.by_token.items() if v != user_id},
                grants={k: v for k, v in state.grants.items() if k[1] != user_id},
            )
        case AccessChanged(subject=subject, user_id=user_id, role=role, owner=owner):
            had = state.grants.get((subject, user_id), Grant())
            grant = Grant(role, owner or had.owner, giver)
            grants = {k: v for k, v in state.grants.items() if k != (subject, user_id)}
            # What somebody was making when they were removed is nobody's.
            if grant != Grant() and user_id in state.users:
                grants[subject, user_id] = grant
            return replace(state, grants=grants)
        case UserInvited() as made:
            invite = Invite(
                made.invite_id,
                made.name,
                made.token_sha256,
                made.expires_ms,
                made.subject,
                made.role,
                at_ms,
            )
            lasting = {k: v for k, v in state.invites.items() if v.expires_ms > at_ms}
            return replace(state, invites={**lasting, made.token_sha256: invite})
        case InviteTaken(invite_id=gone) | InviteWithdrawn(invite_id=gone):
            kept = {k: v for k, v in state.invites.items() if v.invite_id != gone}
            return replace(state, invites=kept)
    assert_never(fact)


def _apply(state: PeopleState, stored: Event) -> PeopleState:
    fact = stored.fact
    if not isinstance(fact, PeopleEvent):
        return state
    return apply(state, fact, stored.at_ms, None if stored.by is None else stored.by.person)


FOLD: Fold[PeopleState] = Fold("people", 5, PeopleState(), _apply)


# ---------------------------------------------------------------- requests and answers


@dataclass(frozen=True, slots=True, kw_only=True)
class UserAdd:
    """Let somebody in; the token is shown once."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UserRemove:
    """End somebody's token and rights."""

    user_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UserLogout:
    """Log somebody out in every browser; without a person, the home's owner."""

    user_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessSet:
    """Give somebody a role on one bench or one session."""

    user_id: str
    role: Role
    workbench_id: str | None = None
    session_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessList:
    """List who may do what, of one bench or session or of all."""

    workbench_id: str | None = None
    session_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMade:
    """A new person; the token cannot be shown again."""

    user_id: str
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserInfo:
    """One person as a list shows them."""

    user_id: str
    name: str
    added_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Users:
    """Everybody who has a token."""

    users: tuple[UserInfo, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessInfo:
    """One grant."""

    user_id: str
    name: str
    subject: str
    role: Role
    owner: bool
    given_by: str | None = None
    """The name of who gave it; not known of what 0.1.0 recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessGrants:
    """Who may do what."""

    access: tuple[AccessInfo, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """It is done."""


class People:
    """The people of one home."""

    def __init__(self, store: Store, mint: Mint, clock: Clock) -> None:
        self._store = store
        self._mint = mint
        self._clock = clock
        self._told: list[Callable[[UserId], None]] = []

    def on_removal(self, told: Callable[[UserId], None]) -> None:
        """Be told of everybody whom this process removes from now on, after it is recorded."""
        self._told.append(told)

    @property
    def state(self) -> PeopleState:
        """Everybody and their roles, as of now."""
        return self._store.state(STREAM, FOLD)

    def names(self) -> Mapping[str, str]:
        """Return what everybody is or was called here; nothing in a home of one person (T1.6)."""
        return named(self.state)

    def who(self, token: str) -> UserId | None:
        """Return whose personal token this is, or None.

        Tokens have 256 random bits and are looked up by their hash, so nothing can be learnt from
        how long an answer takes.
        """
        if not token.startswith(_TOKEN_PREFIX):
            return None
        return self.state.by_token.get(_hash(token))

    def user_add(self, request: UserAdd) -> UserMade:
        """Let somebody in with a token of their own."""
        name = _checked_name(request.name)
        user_id = UserId(self._mint.new("user"))
        token = _TOKEN_PREFIX + secrets.token_urlsafe(_TOKEN_BYTES)

        def rule(state: PeopleState) -> Iterator[PeopleEvent]:
            _require_new(state, name)
            yield UserAdded(user_id=user_id, name=name, token_sha256=_hash(token))

        self._commit(rule)
        return UserMade(user_id=user_id, token=token)

    def invite(self, request: UserInvite) -> InviteMade:
        """Make a link that lets one person in, once (T6.7)."""
        name, subject = _checked_name(request.name), request.workbench_id
        role = Role(request.role) if request.role in set(Role) else None
        if (role in (None, Role.NONE)) is not (subject is None):
            raise ValidationFailed("name a workbench together with a role", reason="bad_params")
        if subject is not None and self._store.head(_stream(check_id(subject, "wb"))) is None:
            raise NotFound("there is no such workbench", reason="not_found")
        now_ms = self._clock.now_ms()
        token = TOKEN_PREFIX + secrets.token_urlsafe(_TOKEN_BYTES)
        made = UserInvited(
            invite_id=self._mint.new("inv"),
            name=name,
            token_sha256=_hash(token),
            expires_ms=now_ms + INVITE_DAYS * _DAY_MS,
            subject=subject,
            role=role.value if role else None,
        )

        def rule(state: PeopleState) -> Iterator[PeopleEvent]:
            _require_new(state, name)
            waiting = [one for one in state.invites.values() if one.expires_ms > now_ms]
            if any(as_seen(one.name) == as_seen(name) for one in waiting):
                raise ValidationFailed(f"{name!r} is invited already", reason="name_taken")
            if len(waiting) >= INVITES_MAX:
                raise ValidationFailed("too many invitations wait", reason="bad_params")
            yield made

        self._commit(rule)
        ends = timestamp(made.expires_ms)
        return InviteMade(invite_id=made.invite_id, expires_at=ends, token=token)

    def invited(self, token: str) -> Invite | None:
        """Return the invitation of a link that still lets somebody in, or None."""
        found = self.state.invites.get(_hash(token)) if token.startswith(TOKEN_PREFIX) else None
        return found if found and found.expires_ms > self._clock.now_ms() else None

    def take_up(self, token: str) -> UserMade:
        """Let the invited person in; of several who try at once the first.

        Raises:
            AccessDenied: `invite_over`: it was used, withdrawn or has expired.
        """
        user_id = UserId(self._mint.new("user"))
        own = _TOKEN_PREFIX + secrets.token_urlsafe(_TOKEN_BYTES)

        def rule(state: PeopleState) -> Iterator[PeopleEvent]:
            found = state.invites.get(_hash(token))
            if found is None or found.expires_ms <= self._clock.now_ms():
                raise AccessDenied("this invitation is over", reason="invite_over")
            _require_new(state, found.name)
            yield UserAdded(user_id=user_id, name=found.name, token_sha256=_hash(own))
            yield InviteTaken(invite_id=found.invite_id, user_id=user_id)
            if found.subject and found.role:
                role = Role(found.role)
                yield AccessChanged(subject=found.subject, user_id=user_id, role=role)

        self._commit(rule)
        return UserMade(user_id=user_id, token=own)

    def invite_list(self, request: Nothing) -> Invites:
        """List the links that still let somebody in."""
        now_ms = self._clock.now_ms()
        rows = sorted(self.state.invites.values(), key=lambda one: one.made_ms)
        return Invites(
            invites=tuple(
                InviteInfo(
                    invite_id=one.invite_id,
                    name=one.name,
                    made_at=timestamp(one.made_ms),
                    expires_at=timestamp(one.expires_ms),
                    workbench_id=one.subject,
                    role=one.role,
                )
                for one in rows
                if one.expires_ms > now_ms
            )
        )

    def invite_withdraw(self, request: UserInviteWithdraw) -> Settled:
        """Make a link worth nothing."""
        invite_id = check_id(request.invite_id, "inv")

        def rule(state: PeopleState) -> Iterator[PeopleEvent]:
            if all(one.invite_id != invite_id for one in state.invites.values()):
                raise NotFound("there is no such invitation", reason="not_found")
            yield InviteWithdrawn(invite_id=invite_id)

        self._commit(rule)
        return Settled()

    def user_list(self, request: Nothing) -> Users:
        """List everybody."""
        rows = sorted(self.state.users.values(), key=lambda user: user.name)
        return Users(
            users=tuple(
                UserInfo(user_id=one.user_id, name=one.name, added_at=timestamp(one.added_ms))
                for one in rows
            )
        )

    def user_remove(self, request: UserRemove) -> Settled:
        """End a token and every right that hung on it; what the person made stays."""
        user_id = UserId(check_id(request.user_id, "user"))

        def rule(state: PeopleState) -> Iterator[PeopleEvent]:
            _require(state, user_id)
            yield UserRemoved(user_id=user_id)

        self._commit(rule)
        for told in self._told:
            told(user_id)
        return Settled()

    def user_logout(self, request: UserLogout) -> Settled:
        """End every login of somebody; their token lets them in again."""
        if request.user_id is not None:
            _require(self.state, UserId(check_id(request.user_id, "user")))
        end_logins(self._store, request.user_id)
        return Settled()

    def access_set(self, request: AccessSet) -> Settled:
        """Give a role, or take it away with `none`."""
        subject = subject_of(request)
        if subject is None:
            raise ValidationFailed("name one workbench or one session", reason="bad_params")
        if self._store.head(_stream(subject)) is None:
            raise NotFound("there is no such workbench or session", reason="not_found")
        user_id = UserId(check_id(request.user_id, "user"))
        self.grant(subject, user_id, request.role, by=acting_user())
        return Settled()

    def access_list(self, request: AccessList) -> AccessGrants:
        """List grants."""
        wanted, state = subject_of(request), self.state
        names = named(state)
        return AccessGrants(
            access=tuple(
                AccessInfo(
                    user_id=user_id,
                    name=state.users[user_id].name,
                    subject=subject,
                    role=grant.role,
                    owner=grant.owner,
                    given_by=names.get(grant.giver or ""),
                )
                for (subject, user_id), grant in sorted(state.grants.items())
                if wanted in (None, subject)
            )
        )

    def grant(self, subject: str, user_id: UserId, role: Role, *, by: UserId | None) -> None:
        """Record a role; one that is in force already is not recorded again.

        Raises:
            AccessDenied: its maker has less then, and neither they nor the home's owner wants it.
        """

        def rule(state: PeopleState) -> Iterator[PeopleEvent]:
            _require(state, user_id)
            had = state.grants.get((subject, user_id), Grant())
            if had.role is role:
                return
            if had.owner and not role.includes(had.role) and by not in (None, user_id):
                raise AccessDenied(
                    "only its maker and the home's owner take this role", reason="owner_only"
                )
            yield AccessChanged(subject=subject, user_id=user_id, role=role, owner=had.owner)

        self._commit(rule)

    def giving(self, user_id: UserId) -> Beginning:
        """Return what makes every workbench and session somebody begins their own (T6.4)."""

        def part(stream: str) -> Part | None:
            kind, _, subject = stream.partition(":")
            fact = AccessChanged(subject=subject, user_id=user_id, role=Role.PUBLISH, owner=True)
            made = Part(STREAM, [NewEvent(fact, self._mint.new("tx"))])
            return made if kind in ("bench", "session") else None

        return Beginning((STREAM,), part)

    def _commit(self, rule: Any) -> None:
        key = self._mint.new("tx")

        def write(state: PeopleState) -> list[NewEvent]:
            return [NewEvent(fact, f"{key}:{n}") for n, fact in enumerate(rule(state))]

        self._store.update(STREAM, FOLD, write)


def _checked_name(given: str) -> str:
    name = given.strip()
    if not as_seen(name) or len(name) > NAME_MAX_CHARS or not is_line(name):
        raise ValidationFailed(
            f"a name is one line of 1 to {NAME_MAX_CHARS} characters", reason="bad_name"
        )
    return name


def _require_new(state: PeopleState, name: str) -> None:
    if any(as_seen(user.name) == as_seen(name) for user in state.users.values()):
        raise ValidationFailed(f"{name!r} is here already", reason="name_taken")
    if len(state.users) >= USERS_MAX:
        raise ValidationFailed("there are too many people", reason="bad_params")


def named(state: PeopleState) -> Mapping[str, str]:
    """Return what people are called, the home's owner too where there are others."""
    return {**state.names, OWNER: THE_OWNER} if state.names else {}


def subject_of(request: Any) -> str | None:
    """Return the one bench or session a request names."""
    bench, session = request.workbench_id, request.session_id
    if bench is not None and session is not None:
        raise ValidationFailed("name a workbench or a session, not both", reason="bad_params")
    if bench is not None:
        return check_id(bench, "wb")
    return None if session is None else str(session)


def _stream(subject: str) -> str:
    return f"bench:{subject}" if subject.startswith("wb_") else f"session:{subject}"


def _require(state: PeopleState, user_id: UserId) -> None:
    if user_id not in state.users:
        raise NotFound("there is no such person", reason="not_found")


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


_command = partial(method_command, phase="settings")


_changing = partial(_command, writes=True)

COMMANDS: tuple[Command[People, Any, Any], ...] = (
    _changing("UserAdd", "Let somebody in with a token.", People.user_add, role="owner"),
    _command("UserList", "List the people who have a token.", People.user_list, role="owner"),
    _changing("UserInvite", "Let one person in by a link.", People.invite, role="owner"),
    _command("UserInviteList", "List links that wait.", People.invite_list, role="owner"),
    _changing(
        "UserInviteWithdraw", "Make a link worth nothing.", People.invite_withdraw, role="owner"
    ),
    _changing("UserRemove", "End somebody's token and rights.", People.user_remove, role="owner"),
    _changing("UserLogout", "Log somebody out in every browser.", People.user_logout, role="owner"),
    _changing("AccessSet", "Give somebody a role, or take it.", People.access_set, role="publish"),
    _command("AccessList", "List who may do what.", People.access_list, role="read"),
)
