"""The digest of a bench kept up to date without a model: at the start of every turn (P7.6, P7.7).

A text a person or a model wrote is kept as long as the files have not moved far from it; then the
builder writes a new one and hands the old one down as notes. Nothing here runs while rendering.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from backshop.base.errors import BackshopError
from backshop.bench import BenchManifest, Manifests, Reading, unheard
from backshop.prompts import (
    DIGEST_KEY,
    DigestItem,
    Manifest,
    ManifestChange,
    PromptOverridesStore,
    Session,
    Transaction,
    WorkspaceFingerprint,
    build_digest,
    compare,
    read_manifest,
)

from ..cut import cut_bytes
from .pin import bare_prompt

KEPT_CHANGES_MAX = 25  # P7.7
KEPT_CHANGES_SHARE = 0.2
_NOTES_MAX_BYTES = 8_192
_MAPS_MAX = 30  # P7.8: how many documents the builder describes
_MAPPED = frozenset(("csv", "xlsx", "docx", "odt", "pptx", "pdf", "image"))


class Action(StrEnum):
    """What to do with the digest before a turn."""

    KEEP = "keep"
    BUILD = "build"
    BUILD_ON = "build_on"
    """Build, and hand the present text down as notes."""
    CLEAR = "clear"


@dataclass(frozen=True, slots=True)
class Standing:
    """How the files stand to the newest digest."""

    manifest: Manifest
    change: ManifestChange
    newest: DigestItem | None

    @property
    def is_stale(self) -> bool:
        """Whether files have changed since the digest was written."""
        known = self.newest.fingerprint if self.newest else ""
        return bool(known) and known != self.manifest.fingerprint


def decide(standing: Standing, *, has_override: bool) -> Action:
    """Return what to do (P7.7)."""
    newest = standing.newest
    if newest is None or not newest.body.strip():
        return Action.KEEP if has_override else Action.BUILD
    if newest.source == "builder":
        if has_override:
            return Action.CLEAR
        return Action.BUILD if standing.is_stale else Action.KEEP
    if not standing.is_stale:
        return Action.KEEP
    allowed = max(1, int(len(standing.manifest.entries) * KEPT_CHANGES_SHARE))
    near = standing.change.count <= min(KEPT_CHANGES_MAX, allowed)
    return Action.KEEP if near else Action.BUILD_ON


def standing_of(session: Session | Transaction, files: BenchManifest) -> Standing:
    """Compare the files with what the newest digest was written from."""
    now = files.fingerprinted
    newest = session.workspace_digest.latest()
    if newest is None or not newest.fingerprint:
        return Standing(now, ManifestChange((), (), ()), newest)
    if newest.fingerprint == now.fingerprint:
        return Standing(now, ManifestChange((), (), ()), newest)
    try:
        before = read_manifest(session.get(newest.fingerprint))
    except (BackshopError, ValueError, TypeError):
        before = Manifest(())  # forgotten: everything counts as changed
    return Standing(now, compare(before, now), newest)


def note_fingerprint(session: Session | Transaction, standing: Standing) -> None:
    """Tell the session the state of the files, so that a digest shows when it is stale (P7.6)."""
    now, newest, change = standing.manifest, standing.newest, standing.change
    item = WorkspaceFingerprint(
        fingerprint=now.fingerprint,
        files=len(now.entries),
        compared_to=newest.fingerprint if newest else "",
        added=len(change.added),
        removed=len(change.removed),
        changed=len(change.changed),
        manifest_ref=session.put(now.data),
    )
    if session[WorkspaceFingerprint].latest() != item:
        session.dispatch(item)


def refresh(
    session: Session,
    files: BenchManifest,
    manifests: Manifests,
    *,
    overrides: PromptOverridesStore | None = None,
    reading: Reading = unheard,
) -> Action:
    """Bring the digest up to date before a turn, in one append; return what was done.

    Calls no model. What the builder writes has earlier notes at its end (P7.7, P7.8).
    """
    standing = standing_of(session, files)
    action = decide(standing, has_override=has_override(overrides))
    newest, together = standing.newest, session.begin()
    match action:
        case Action.CLEAR:
            together.workspace_digest.clear()
        case Action.BUILD:
            keep(together, draw(files, manifests, reading=reading))
        case Action.BUILD_ON if newest is not None:
            keep(together, draw(files, manifests, notes=newest.body, reading=reading))
    note_fingerprint(together, standing_of(together, files))
    together.commit()
    return action


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A digest of the builder's, not kept yet."""

    body: str
    summary: str
    fingerprint: str


def draw(
    files: BenchManifest, manifests: Manifests, *, notes: str = "", reading: Reading = unheard
) -> Drawn:
    """Let the builder look at the files; nothing is kept."""
    by_path = {one.path: one for one in files.files}
    documents = [one for one in files.files if one.readable and one.kind in _MAPPED][:_MAPS_MAX]

    def read(path: str, max_bytes: int) -> bytes | None:
        return manifests.read(by_path[path], max_bytes)

    made = build_digest(files.fingerprinted, manifests.maps(documents, reading), read)
    body = made.digest
    if notes.strip():
        body += f"\n\n#### Earlier notes\n\n{cut_bytes(notes.strip(), _NOTES_MAX_BYTES)}"
    return Drawn(body=body, summary=made.summary, fingerprint=files.fingerprinted.fingerprint)


def keep(session: Session | Transaction, drawn: Drawn) -> DigestItem:
    """Make what the builder wrote the digest."""
    return session.workspace_digest.set(
        DIGEST_KEY,
        drawn.body,
        source="builder",
        summary=drawn.summary,
        fingerprint=drawn.fingerprint,
    )


def has_override(overrides: PromptOverridesStore | None) -> bool:
    """Say whether a stored digest would be shown if the session had none."""
    if overrides is None:
        return False
    found = overrides.resolve(bare_prompt().descriptor, "latest").sections.get(DIGEST_KEY)
    return found is not None and bool(found.body.strip())
