"""A session as one JSON document that can be carried elsewhere and checked whole (R9.1–R9.4).

Building and checking are pure; `transfer` does the reading and storing. Nothing in a bundle is
believed before all of it has been checked.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from backshop.base.canon import canonical, digest, parse, sha256_hex
from backshop.base.errors import ValidationFailed
from backshop.base.ids import did
from backshop.base.limits import BUNDLE_MAX_BYTES

from ..errors import RailsError
from ..run.plan import event_id

Json = dict[str, object]
VERSION = 1
MANIFEST = "sha256_manifest_v1"
ZERO = "sha256:" + "0" * 64
NOTES_TYPE = "text/markdown"
ARTIFACT_TYPE = "application/json"
_ENVELOPE = ("v", "eventIndex", "eventId", "kind", "dedupeKey", "data", "timestampMs", "prevHash")


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a session consists of; blobs by their bare hash."""

    session_id: str
    events: Sequence[Json]  # in wire form, complete with hashes
    pins: Sequence[tuple[str, str]]  # (bare hash, kind)
    snapshots: Mapping[str, bytes]
    workflows: Mapping[str, bytes]
    artifacts: Mapping[str, bytes]
    is_salvaged: bool = False

    @property
    def bundle_id(self) -> str:
        """Equal content, equal id (R9.2)."""
        head = str(self.events[-1]["hash"]) if self.events else ZERO
        return did("bundle", self.session_id, head)


def document(content: Content, *, exported_at: str, version: str) -> Json:
    """Return the bundle of a session."""
    session: Json = {
        "sessionId": content.session_id,
        "events": list(content.events),
        "pins": [{"ref": f"sha256:{ref}", "kind": kind} for ref, kind in content.pins],
        "snapshots": {f"sha256:{k}": parse(v) for k, v in content.snapshots.items()},
        "pinnedWorkflows": {f"sha256:{k}": parse(v) for k, v in content.workflows.items()},
        "artifacts": {f"sha256:{k}": _encoded(v) for k, v in content.artifacts.items()},
    }
    found: Json = {
        "bundleSchemaVersion": VERSION,
        "bundleId": content.bundle_id,
        "exportedAt": exported_at,
        "producer": {"appVersion": version},
        "integrity": {"kind": MANIFEST, "entries": _manifest(session)},
        "session": session,
    }
    return {**found, "salvaged": True} if content.is_salvaged else found


def checked(text: str) -> Content:
    """Return what a bundle holds, once everything about it has been proved (R9.3).

    Raises:
        RailsError: one of the `BUNDLE_` codes.
    """
    found = _parsed(text)
    if found.get("bundleSchemaVersion") != VERSION:
        raise bad("BUNDLE_UNSUPPORTED_VERSION", "its version is not known to this program")
    session = _shaped(found)
    _prove_integrity(found, session)
    content = _content(session, is_salvaged=found.get("salvaged") is True)
    _prove_chain(content)
    if not content.is_salvaged:  # of a damaged session what is left may come (R9.5)
        _prove_complete(content)
    if found.get("bundleId") != content.bundle_id:
        raise bad("BUNDLE_INTEGRITY_FAILED", "its id does not follow from its content")
    return content


def ids_of(content: Content) -> tuple[set[str], set[str]]:
    """Return the runs and nodes a bundle brings."""
    runs, nodes = set(), set()
    for event in content.events:
        scope = event.get("scope")
        if isinstance(scope, Mapping):
            runs |= {str(scope["runId"])} if "runId" in scope else set()
            nodes |= {str(scope["nodeId"])} if "nodeId" in scope else set()
    return runs, nodes


_PREFIXES = frozenset(
    {
        *("sess", "run", "node", "evt", "out", "gap", "chg", "wsh", "cap"),
        *("div", "trc", "val", "asm", "ctx", "wrn", "uin", "att"),
    }
)


def is_id(text: str) -> bool:
    """Say whether a text is one of our derived or random ids."""
    prefix, _, tail = text.partition("_")
    return prefix in _PREFIXES and len(tail) == 26 and tail.isalnum() and tail.islower()


# ------------------------------------------------------------ checks


def _parsed(text: str) -> Json:
    if len(text) > BUNDLE_MAX_BYTES or _size(text) > BUNDLE_MAX_BYTES:
        raise bad("BUNDLE_INVALID_FORMAT", f"it is larger than {BUNDLE_MAX_BYTES} bytes")
    try:
        found = parse(text)
    except ValidationFailed as error:
        raise bad("BUNDLE_INVALID_FORMAT", "it is not JSON") from error
    if not isinstance(found, dict):
        raise bad("BUNDLE_INVALID_FORMAT", "it is not a JSON object")
    return dict(found)


def _size(text: str) -> int:
    return len(text.encode(errors="surrogatepass"))


def _shaped(found: Json) -> Json:
    session = found.get("session")
    if not isinstance(session, dict):
        raise bad("BUNDLE_INVALID_FORMAT", "it has no session")
    kinds: dict[str, type] = {
        "sessionId": str,
        "events": list,
        "pins": list,
        "snapshots": dict,
        "pinnedWorkflows": dict,
        "artifacts": dict,
    }
    for name, kind in kinds.items():
        if not isinstance(session.get(name), kind):
            raise bad("BUNDLE_INVALID_FORMAT", f"session.{name} is missing or of the wrong kind")
    if not session["events"] or not is_id(str(session["sessionId"])):
        raise bad("BUNDLE_INVALID_FORMAT", "it holds no session")
    for event in session["events"]:
        if not isinstance(event, dict) or any(name not in event for name in _ENVELOPE):
            raise bad("BUNDLE_INVALID_FORMAT", "an event lacks a part of its envelope")
        if not isinstance(event["data"], dict) or not isinstance(event["v"], int):
            raise bad("BUNDLE_INVALID_FORMAT", "an event is not well formed")
    return session


def _prove_integrity(found: Json, session: Json) -> None:
    integrity = found.get("integrity")
    if not isinstance(integrity, dict) or integrity.get("kind") != MANIFEST:
        raise bad("BUNDLE_INTEGRITY_FAILED", "its digests are of a kind not known here")
    entries = integrity.get("entries")
    try:
        wanted = _manifest(session)
    except (ValidationFailed, KeyError, TypeError, AttributeError, ValueError) as error:
        raise bad("BUNDLE_INVALID_FORMAT", "a part of it cannot be read") from error
    if entries != wanted:
        raise bad("BUNDLE_INTEGRITY_FAILED", "its content does not match its digests")


def _content(session: Json, *, is_salvaged: bool) -> Content:
    pins = []
    for pin in _listed(session, "pins"):
        if not isinstance(pin, dict) or not isinstance(pin.get("ref"), str):
            raise bad("BUNDLE_INVALID_FORMAT", "a pin is not well formed")
        pins.append((str(pin["ref"]).removeprefix("sha256:"), str(pin.get("kind"))))
    return Content(
        session_id=str(session["sessionId"]),
        events=[dict(one) for one in _listed(session, "events")],
        pins=pins,
        snapshots=_blobs(session, "snapshots", canonical),
        workflows=_blobs(session, "pinnedWorkflows", canonical),
        artifacts=_blobs(session, "artifacts", _raw),
        is_salvaged=is_salvaged,
    )


def _listed(session: Json, name: str) -> list[dict[str, object]]:
    found = session[name]
    assert isinstance(found, list)
    return found


def _blobs(session: Json, name: str, read: Callable[[object], bytes]) -> dict[str, bytes]:
    """Return blobs whose names are their hashes; anything else is no bundle of ours."""
    found = session[name]
    assert isinstance(found, dict)
    blobs = {}
    for ref, value in found.items():
        data, bare = read(value), ref.removeprefix("sha256:")
        if sha256_hex(data) != bare:
            raise bad("BUNDLE_INTEGRITY_FAILED", f"an entry of {name} is not what its name says")
        blobs[bare] = data
    return blobs


def _prove_chain(content: Content) -> None:
    previous = ZERO
    for index, event in enumerate(content.events):
        if event["eventIndex"] != index:
            raise bad("BUNDLE_EVENT_ORDER_INVALID", f"event {index} is not in its place")
        hashed = {key: event[key] for key in _ENVELOPE}
        if "scope" in event:
            hashed["scope"] = event["scope"]
        hashed["stream"] = f"session:{content.session_id}"
        if event["prevHash"] != previous or event.get("hash") != digest(hashed):
            raise bad("BUNDLE_HASH_CHAIN_INVALID", f"event {index} breaks the chain")
        if event["eventId"] != event_id(content.session_id, str(event["dedupeKey"])):
            raise bad("BUNDLE_HASH_CHAIN_INVALID", f"event {index} has another id than its own")
        previous = str(event["hash"])


def _prove_complete(content: Content) -> None:
    for event in content.events:
        data = event["data"]
        assert isinstance(data, dict)
        if event["kind"] == "node_created":
            if _bare(data.get("snapshotRef")) not in content.snapshots:
                raise bad("BUNDLE_MISSING_SNAPSHOT", "a node's snapshot is not in it")
            if _bare(data.get("workflowHash")) not in content.workflows:
                raise bad("BUNDLE_MISSING_PINNED_WORKFLOW", "a run's workflow is not in it")
        payload = data.get("payload")
        if isinstance(payload, dict):
            for name in ("sha256", "fullRef"):
                if payload.get(name) and _bare(payload[name]) not in content.artifacts:
                    raise bad("BUNDLE_MISSING_ARTIFACT", "an artifact is not in it")


def _bare(ref: object) -> str:
    return str(ref).removeprefix("sha256:")


# ------------------------------------------------------------ digests


def _manifest(session: Json) -> list[Json]:
    return sorted(_entries(session), key=lambda one: str(one["path"]))


def _entries(session: Json) -> Iterator[Json]:
    yield _entry("session/events", canonical(session["events"]))
    yield _entry("session/pins", canonical(session["pins"]))
    for name in ("snapshots", "pinnedWorkflows"):
        values = session[name]
        assert isinstance(values, dict)
        for ref, value in values.items():
            yield _entry(f"session/{name}/{ref}", canonical(value))
    artifacts = session["artifacts"]
    assert isinstance(artifacts, dict)
    for ref, value in artifacts.items():
        yield _entry(f"session/artifacts/{ref}", _raw(value))


def _entry(path: str, data: bytes) -> Json:
    return {"path": path, "sha256": f"sha256:{sha256_hex(data)}", "bytes": len(data)}


def _encoded(data: bytes) -> Json:
    try:
        text, encoding = data.decode(), "utf8"
    except UnicodeDecodeError:
        text, encoding = base64.b64encode(data).decode(), "base64"
    kind = ARTIFACT_TYPE if data[:1] == b"{" else NOTES_TYPE
    return {"contentType": kind, "encoding": encoding, "data": text}


def _raw(value: object) -> bytes:
    if not isinstance(value, dict) or not isinstance(value.get("data"), str):
        raise bad("BUNDLE_INVALID_FORMAT", "an artifact is not well formed")
    text = value["data"]
    if value.get("encoding") == "utf8":
        return str(text).encode(errors="surrogatepass")
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise bad("BUNDLE_INVALID_FORMAT", "an artifact is not base64") from error


def bad(code: str, why: str) -> RailsError:
    """Return the refusal of a bundle."""
    return RailsError(
        code,
        f"the bundle cannot be imported: {why}",
        "Export it again with `backshop session export`; nothing was stored.",
    )
