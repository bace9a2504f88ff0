"""Login links: each lets one browser in, once, at whichever server of the home it is opened.

A link is signed with the secret all servers share; that it was used is a fact in the log, and the
fact's key lets one of several who open it at the same moment in.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass
from hashlib import sha256

from backshop.base.ambient import Clock
from backshop.base.event import event
from backshop.store import NewEvent, Part, Plan, Store

STREAM = "login:home"
LINK_HOURS = 24
_HOUR_MS = 3_600_000
_NONCE_BYTES = 24


@event("login.link_used")
@dataclass(frozen=True, slots=True, kw_only=True)
class LinkUsed:
    """A browser was let in by a link, which lets nobody else in."""

    link_sha256: str


class Links:
    """Makes links and spends them."""

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
        used = sha256(token.encode()).hexdigest()
        fact = NewEvent(LinkUsed(link_sha256=used), f"link:{used}")
        return not self._store.append(Plan((Part(STREAM, [fact]),))).replayed

    def _sign(self, head: str) -> str:
        return hmac.new(self._secret, f"link {head}".encode(), sha256).hexdigest()
