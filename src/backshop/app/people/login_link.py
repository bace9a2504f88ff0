"""Login links and the logins they lead to, the same at whichever server of the home (S7.2).

A link lets one browser in, once. It is signed with the secret all servers share; that it was used
is a fact in the log, and the fact's key lets one of several who open it at the same moment in. That
a login is over, one or all of somebody's, is a fact there too: a cookie is good while none says so.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256

from backshop.base.ambient import Clock
from backshop.base.event import event
from backshop.store import Event, Fold, NewEvent, Part, Plan, Store

STREAM = "login:home"
LINK_HOURS = 24
COOKIE_DAYS = 30
OWNER = ""  # whoever has the login link is the home's owner
_HOUR_MS = 3_600_000
_NONCE_BYTES = 24


@event("login.link_used")
@dataclass(frozen=True, slots=True, kw_only=True)
class LinkUsed:
    """A browser was let in by a link, which lets nobody else in."""

    link_sha256: str


@event("login.ended")
@dataclass(frozen=True, slots=True, kw_only=True)
class LoginEnded:
    """A browser logged out: its cookie lets nobody in any more."""

    cookie_sha256: str


@event("login.all_ended")
@dataclass(frozen=True, slots=True, kw_only=True)
class LoginsEnded:
    """Every browser somebody was let in with is logged out; without a person, the owner's."""

    user_id: str | None = None


@dataclass(frozen=True, slots=True)
class LoginState:
    """Which logins are over."""

    ended: Mapping[str, int] = field(default_factory=dict)
    """Hashes of cookies, and when they ended; forgotten when no cookie lives as long."""
    rounds: Mapping[str, int] = field(default_factory=dict)
    """How often all logins of somebody were ended: a cookie is good in the round it was made in."""


def _apply(state: LoginState, stored: Event) -> LoginState:
    match stored.fact:
        case LoginEnded(cookie_sha256=cookie):
            since = stored.at_ms - (COOKIE_DAYS + 1) * 24 * _HOUR_MS
            kept = {one: at_ms for one, at_ms in state.ended.items() if at_ms >= since}
            return replace(state, ended={**kept, cookie: stored.at_ms})
        case LoginsEnded(user_id=user_id):
            name = user_id or OWNER
            return replace(state, rounds={**state.rounds, name: state.rounds.get(name, 0) + 1})
    return state


FOLD: Fold[LoginState] = Fold("login", 1, LoginState(), _apply)


def end_logins(store: Store, user_id: str | None) -> None:
    """End every login of somebody, without a person of the home's owner."""
    fact = NewEvent(LoginsEnded(user_id=user_id), f"all:{secrets.token_hex(16)}")
    store.append(Plan((Part(STREAM, [fact]),)))


class Links:
    """Makes links and spends them, and knows which logins are over."""

    def __init__(self, store: Store, secret: str, clock: Clock) -> None:
        self._store = store
        self._secret = secret.encode()
        self._clock = clock

    def new(self) -> str:
        """Return the token of a link that is good for a day."""
        head = f"{self._clock.now_ms()}.{secrets.token_urlsafe(_NONCE_BYTES)}"
        return f"{head}.{self._sign(head)}"

    def spend(self, token: str) -> bool:
        """Say whether a link lets somebody in; it does so once."""
        head, _, signature = token.rpartition(".")
        if not hmac.compare_digest(self._sign(head).encode(), signature.encode()):
            return False
        age_ms = self._clock.now_ms() - int(head.partition(".")[0])
        if not -_HOUR_MS * LINK_HOURS <= age_ms <= _HOUR_MS * LINK_HOURS:  # clocks may disagree
            return False
        used = _hash(token)
        fact = NewEvent(LinkUsed(link_sha256=used), f"link:{used}")
        return not self._store.append(Plan((Part(STREAM, [fact]),))).replayed

    def round_of(self, user: str) -> int:
        """Return the round a cookie for somebody is made in."""
        return self._store.state(STREAM, FOLD).rounds.get(user, 0)

    def is_over(self, cookie: str, user: str, made_in: int) -> bool:
        """Say whether a login has ended."""
        state = self._store.state(STREAM, FOLD)
        return made_in != state.rounds.get(user, 0) or _hash(cookie) in state.ended

    def end(self, cookie: str) -> None:
        """End one login."""
        fact = NewEvent(LoginEnded(cookie_sha256=_hash(cookie)), f"ended:{_hash(cookie)}")
        self._store.append(Plan((Part(STREAM, [fact]),)))

    def end_all(self, user: str) -> None:
        """End every login of somebody."""
        end_logins(self._store, user or None)

    def _sign(self, head: str) -> str:
        return hmac.new(self._secret, f"link {head}".encode(), sha256).hexdigest()


def _hash(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
