"""Invitations: a link that lets one person into a home, once, until it has expired (T6.7).

Facts of the stream of people, so that who takes one up is a person from the same append on. Only
the hash of a link's token is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from backshop.base.event import event
from backshop.base.ids import UserId

INVITE_DAYS = 7
INVITES_MAX = 200
TOKEN_PREFIX = "bsi_"  # noqa: S105  # how the token of a link is recognised, not a token


@event("people.invited")
@dataclass(frozen=True, slots=True, kw_only=True)
class UserInvited:
    """Somebody may come in with a link; with a subject they have that role there then."""

    invite_id: str
    name: str
    token_sha256: str
    expires_ms: int
    subject: str | None = None
    role: str | None = None


@event("people.invite_taken")
@dataclass(frozen=True, slots=True, kw_only=True)
class InviteTaken:
    """Somebody came in with the link, which lets nobody else in."""

    invite_id: str
    user_id: UserId


@event("people.invite_withdrawn")
@dataclass(frozen=True, slots=True, kw_only=True)
class InviteWithdrawn:
    """The link lets nobody in any more."""

    invite_id: str


InviteEvent = UserInvited | InviteTaken | InviteWithdrawn


@dataclass(frozen=True, slots=True)
class Invite:
    """A link that nobody has used yet."""

    invite_id: str
    name: str
    token_sha256: str
    expires_ms: int
    subject: str | None
    role: str | None
    made_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UserInvite:
    """Let one person in by a link, with a role on one workbench if one is named."""

    name: str
    workbench_id: str | None = None
    role: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UserInviteWithdraw:
    """Make a link worth nothing."""

    invite_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InviteMade:
    """A link that nobody has used; its token cannot be shown again."""

    invite_id: str
    expires_at: str
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class InviteInfo:
    """A link that waits, as a list shows it."""

    invite_id: str
    name: str
    made_at: str
    expires_at: str
    workbench_id: str | None = None
    role: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Invites:
    """The links that still let somebody in."""

    invites: tuple[InviteInfo, ...]
