"""Opaque handles: mint and verify the four kinds of token (R6.1–R6.9).

A token names a node (or a session) and, for an acknowledgement, an attempt, under a keyed hash.
Nothing is stored when one is minted, so read-only calls stay free of writes.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from dataclasses import dataclass
from enum import StrEnum

from ..errors import RailsError

MAC_BYTES = 16
ID_BYTES = 16
HASH_BYTES = 8
VERSION = "v1"
_SHOWN = {"st": "stateToken", "ack": "ackToken", "chk": "checkpointToken", "ses": "sessionToken"}


class Kind(StrEnum):
    """What a token is good for, by its prefix."""

    STATE = "st"
    ACK = "ack"
    CHECKPOINT = "chk"
    SESSION = "ses"

    @property
    def shown(self) -> str:
        """The argument that takes this kind."""
        return _SHOWN[self.value]


@dataclass(frozen=True, slots=True)
class Keys:
    """The key ring: the key that signs, and the one before it that still verifies (R6.3)."""

    current: bytes
    previous: bytes | None = None


@dataclass(frozen=True, slots=True)
class Token:
    """What a verified token says; `node_id` or `session_id`, never both."""

    kind: Kind
    node_id: str | None = None
    session_id: str | None = None
    attempt_id: str | None = None
    workflow_prefix: str | None = None  # first 16 hex digits of the workflow hash


def state_token(keys: Keys, node_id: str, workflow_hash: str) -> str:
    """Return the handle of a node."""
    prefix = bytes.fromhex(workflow_hash.removeprefix("sha256:")[: 2 * HASH_BYTES])
    return _mint(keys, Kind.STATE, _raw(node_id) + prefix)


def ack_token(keys: Keys, node_id: str, attempt_id: str) -> str:
    """Return the right to acknowledge a node's pending step, once."""
    return _mint(keys, Kind.ACK, _raw(node_id) + _raw(attempt_id))


def checkpoint_token(keys: Keys, node_id: str, attempt_id: str) -> str:
    """Return the right to append one checkpoint to a node."""
    return _mint(keys, Kind.CHECKPOINT, b"\x00" + _raw(node_id) + _raw(attempt_id))


def session_checkpoint_token(keys: Keys, session_id: str, attempt_id: str) -> str:
    """Return the right to append one checkpoint to a session without a run."""
    return _mint(keys, Kind.CHECKPOINT, b"\x01" + _raw(session_id) + _raw(attempt_id))


def session_token(keys: Keys, session_id: str) -> str:
    """Return the handle of a session."""
    return _mint(keys, Kind.SESSION, _raw(session_id))


def verify(keys: Keys, text: object, expected: Kind) -> Token:
    """Return what a token says, or refuse it with the first check of R6.9 that it fails."""
    kind, payload, mac = _parse(text, expected)
    if not any(
        hmac.compare_digest(mac, _mac(key, kind, payload))
        for key in (keys.current, keys.previous)
        if key is not None
    ):
        raise RailsError(
            "TOKEN_BAD_SIGNATURE",
            f"the {expected.shown} was not made by this store, or its key was rotated away",
            "Copy the token exactly from an answer of this server; if it is lost, call"
            " resume_session.",
        )
    return _read(kind, payload)


def _parse(text: object, expected: Kind) -> tuple[Kind, bytes, bytes]:
    if not isinstance(text, str):
        raise _malformed(expected, "it is not text")
    clean = _cleaned(text)
    head, _, rest = clean.partition(".")
    version, dot, body = rest.partition(".")
    if head not in _SHOWN or not dot:
        raise _malformed(expected, "it does not begin like a token")
    if version != VERSION:
        if version[:1] != "v" or not version[1:].isdecimal() or not version.isascii():
            raise _malformed(expected, "it does not begin like a token")
        raise RailsError(
            "TOKEN_UNSUPPORTED_VERSION",
            f"the {expected.shown} has a version this server does not know",
            "Use a token of this server; call resume_session if there is none.",
        )
    kind = Kind(head)
    if kind is not expected:
        raise _malformed(expected, f"it is the kind {kind.shown}")
    data = _decoded(body, expected)
    if not _fits(kind, data):
        raise _malformed(expected, "its length is wrong")
    return kind, data[:-MAC_BYTES], data[-MAC_BYTES:]


def _cleaned(text: str) -> str:
    """Forgive surrounding white space and one pair of quotes or backticks (R6.8)."""
    clean = text.strip()
    if len(clean) > 1 and clean[0] == clean[-1] and clean[0] in "\"'`":
        clean = clean[1:-1].strip()
    return clean


def _decoded(body: str, expected: Kind) -> bytes:
    if len(body) > 128 or not body.isascii():
        raise _malformed(expected, "its length or alphabet is wrong")
    try:
        data = base64.b64decode(body + "=" * (-len(body) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise _malformed(expected, "its alphabet is wrong") from error
    if _encoded(data) != body:
        raise _malformed(expected, "its encoding is not canonical")
    return data


def _fits(kind: Kind, data: bytes) -> bool:
    match kind:
        case Kind.STATE:
            return len(data) == ID_BYTES + HASH_BYTES + MAC_BYTES
        case Kind.ACK:
            return len(data) == 2 * ID_BYTES + MAC_BYTES
        case Kind.CHECKPOINT:
            return len(data) == 1 + 2 * ID_BYTES + MAC_BYTES and data[0] in (0, 1)
        case Kind.SESSION:
            return len(data) == ID_BYTES + MAC_BYTES


def _read(kind: Kind, payload: bytes) -> Token:
    match kind:
        case Kind.STATE:
            return Token(
                kind,
                node_id=_id("node", payload[:ID_BYTES]),
                workflow_prefix=payload[ID_BYTES:].hex(),
            )
        case Kind.ACK:
            return Token(
                kind,
                node_id=_id("node", payload[:ID_BYTES]),
                attempt_id=_id("att", payload[ID_BYTES:]),
            )
        case Kind.CHECKPOINT:
            owner, attempt = payload[1 : 1 + ID_BYTES], _id("att", payload[1 + ID_BYTES :])
            if payload[0]:
                return Token(kind, session_id=_id("sess", owner), attempt_id=attempt)
            return Token(kind, node_id=_id("node", owner), attempt_id=attempt)
        case Kind.SESSION:
            return Token(kind, session_id=_id("sess", payload))


def _mint(keys: Keys, kind: Kind, payload: bytes) -> str:
    return _prefix(kind) + _encoded(payload + _mac(keys.current, kind, payload))


def _mac(key: bytes, kind: Kind, payload: bytes) -> bytes:
    return hmac.new(key, _prefix(kind).encode() + payload, hashlib.sha256).digest()[:MAC_BYTES]


def _prefix(kind: Kind) -> str:
    return f"{kind.value}.{VERSION}."


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _raw(rails_id: str) -> bytes:
    tail = rails_id.partition("_")[2].upper()
    return base64.b32decode(tail + "=" * (-len(tail) % 8))[:ID_BYTES]


def _id(prefix: str, raw: bytes) -> str:
    return f"{prefix}_{base64.b32encode(raw).decode().rstrip('=').lower()}"


def _malformed(expected: Kind, why: str) -> RailsError:
    return RailsError(
        "TOKEN_INVALID_FORMAT",
        f"the {expected.shown} cannot be read: {why}",
        f"Send the {expected.shown} exactly as an answer of this server gave it; if it is lost,"
        " call resume_session.",
        details={"expectedKind": expected.shown},
    )
