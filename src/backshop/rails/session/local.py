"""What this machine notes about a session beside its record: workspace and origin (R4.4, R9.4)."""

from __future__ import annotations

import json
from dataclasses import dataclass

from backshop.base.codec import camel, decode_json, encode
from backshop.base.errors import ValidationFailed


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOrigin:
    """The bundle a session was imported from."""

    bundle_id: str
    session_id: str
    salvaged: bool = False  # of a damaged session: to be read, not continued (R9.5)


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Local:
    """Known to this machine only; never exported."""

    workspace: str | None = None
    origin: ImportOrigin | None = None


def read(text: str | None) -> Local:
    """Return what a stream's head says; a text that is not ours says nothing."""
    try:
        return decode_json(Local, text) if text else Local()
    except ValidationFailed:
        return Local()


def written(local: Local) -> str:
    """Return the text for the stream's head."""
    return json.dumps(encode(local), ensure_ascii=False, sort_keys=True)
