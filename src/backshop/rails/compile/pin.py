"""A compiled workflow as bytes, and its name: the workflowHash (R2.4)."""

from __future__ import annotations

from backshop.base.canon import canonical, sha256_hex
from backshop.base.codec import decode_json, encode
from backshop.base.errors import ValidationFailed

from .model import SCHEMA_VERSION, Compiled


def snapshot(compiled: Compiled) -> bytes:
    """Return the canonical JSON that is stored and pinned."""
    return canonical(encode(compiled))


def workflow_hash(compiled: Compiled) -> str:
    """Return `sha256:` + hex of the snapshot."""
    return "sha256:" + sha256_hex(snapshot(compiled))


def load(data: bytes) -> Compiled:
    """Return the workflow a pinned snapshot holds.

    Raises:
        ValidationFailed: it is not a snapshot of a version this program knows (R2.8).
    """
    compiled = decode_json(Compiled, data)
    if compiled.schema_version != SCHEMA_VERSION:
        raise ValidationFailed(
            f"a compiled workflow of version {compiled.schema_version}; this program knows "
            f"{SCHEMA_VERSION}",
            reason="unknown_version",
        )
    return compiled
