"""Typed ids: `<prefix>_<ULID>` (B1.3), and derived ids where a retry must agree (R4.3)."""

from __future__ import annotations

import base64
import hashlib
import re
from typing import NewType

from .canon import canonical
from .errors import ValidationFailed

BenchId = NewType("BenchId", str)
DraftId = NewType("DraftId", str)
RevisionId = NewType("RevisionId", str)
CheckpointId = NewType("CheckpointId", str)
BatchId = NewType("BatchId", str)
FileId = NewType("FileId", str)
MessageId = NewType("MessageId", str)
TurnId = NewType("TurnId", str)
ProposalId = NewType("ProposalId", str)
ToolResultId = NewType("ToolResultId", str)
PromptSessionId = NewType("PromptSessionId", str)
UserId = NewType("UserId", str)
CommentId = NewType("CommentId", str)
BlobId = NewType("BlobId", str)
"""Bare sha256 hex of a blob's bytes."""
TreeId = NewType("TreeId", str)
"""Bare sha256 hex of a tree object's bytes."""

_NOUNS = {
    "wb": "a workbench",
    "draft": "a Draft",
    "rev": "a revision",
    "cp": "a checkpoint",
    "batch": "a batch of changes",
    "tx": "a transaction",
    "file": "a file",
    "msg": "a message",
    "turn": "a turn",
    "prop": "a proposal",
    "tr": "a tool result",
    "ps": "a prompt session",
    "evt": "an event",
    "user": "a person",
    "cmt": "a comment",
    "inv": "an invitation",
}
_SHOWN_CHARS = 40
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_ID = re.compile(rf"({'|'.join(_NOUNS)})_[0-9A-HJKMNP-TV-Z]{{26}}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


def check_id(text: str, *prefixes: str) -> str:
    """Return `text` if it is a well-formed id (of one of `prefixes`, if given).

    Ids are checked here before they are joined to any path or query.
    """
    match = _ID.fullmatch(text)
    if match is None or (prefixes and match[1] not in prefixes):
        wanted = " or ".join(_NOUNS[one] for one in prefixes) or "anything"
        shown = text if len(text) <= _SHOWN_CHARS else f"{text[: _SHOWN_CHARS - 1]}…"
        raise ValidationFailed(f"{shown!r} is not the id of {wanted}", reason="bad_id")
    return text


def check_sha256(text: str) -> str:
    """Return `text` if it is a bare sha256 in lower-case hex."""
    if _SHA256.fullmatch(text) is None:
        raise ValidationFailed("not a sha256 in hex", reason="bad_id")
    return text


def ulid(at_ms: int, entropy: int) -> str:
    """Return 26 Crockford characters: 48 bits of time, 80 bits of entropy."""
    number = (at_ms & (2**48 - 1)) << 80 | entropy & (2**80 - 1)
    return "".join(CROCKFORD[number >> shift & 31] for shift in range(125, -1, -5))


def b32(data: bytes) -> str:
    """Return RFC 4648 base32, lower case, without padding."""
    return base64.b32encode(data).decode().rstrip("=").lower()


def did(prefix: str, *parts: str | int) -> str:
    """Return an id derived from stable parts: the same parts always give the same id."""
    return f"{prefix}_{b32(hashlib.sha256(canonical(list(parts))).digest()[:16])}"
