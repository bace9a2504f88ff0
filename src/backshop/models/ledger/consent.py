"""What the person allowed to leave the machine, and what that covers (M4.6, M4.7)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from backshop.base.canon import canonical, sha256_hex


class ConsentMode(StrEnum):
    """Ask before anything leaves, or let everything pass and note it."""

    ASK = "ask"
    ALLOW_ALL = "allow_all"


@dataclass(frozen=True, slots=True)
class ScopeFile:
    """A file the person brought in, as it was imported."""

    path: str
    import_sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class ScopeText:
    """A context item's source text."""

    category: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Scope:
    """Everything the person brought in that a call could carry."""

    files: tuple[ScopeFile, ...] = ()
    context: tuple[ScopeText, ...] = ()

    def hash(self) -> str:
        """Return the sha256 of the sorted, canonical scope."""
        files = sorted(
            (
                {"path": f.path, "import_sha256": f.import_sha256, "size": f.size}
                for f in self.files
            ),
            key=canonical,
        )
        context = sorted(
            ({"category": c.category, "sha256": c.sha256} for c in self.context), key=canonical
        )
        return sha256_hex(canonical({"files": files, "context": context}))

    def within(self, other: Scope) -> bool:
        """Return whether nothing here is new to `other`."""
        return not self.new_items(other)

    def new_items(self, other: Scope) -> tuple[str, ...]:
        """Return the paths and categories that `other` does not hold, under whatever name."""
        contents, texts = {f.import_sha256 for f in other.files}, set(other.context)
        files = (f.path for f in self.files if f.import_sha256 not in contents)
        context = (c.category for c in self.context if c not in texts)
        return (*sorted(set(files)), *sorted(set(context)))

    def joined(self, other: Scope) -> Scope:
        """Return both scopes together (M4.7: material of a command joins the recorded one)."""
        return Scope(
            tuple(dict.fromkeys((*self.files, *other.files))),
            tuple(dict.fromkeys((*self.context, *other.context))),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent:
    """One permission: this content, to this model of this provider, at this host."""

    workbench_id: str
    provider_id: str
    model_id: str
    host: str
    scope: Scope
    granted_at: str
    persisted: bool

    def covers(self, *, provider_id: str, model_id: str, host: str, scope: Scope) -> bool:
        """Return whether a call with this scope may be made under this permission."""
        return (self.provider_id, self.model_id, self.host) == (
            provider_id,
            model_id,
            host,
        ) and scope.within(self.scope)


def covering(
    consents: Iterable[Consent],
    *,
    workbench_id: str,
    provider_id: str,
    model_id: str,
    host: str,
    scope: Scope,
) -> Consent | None:
    """Return the newest permission that covers a call, or None: then the person is asked."""
    found = None
    for one in consents:
        if one.workbench_id == workbench_id and one.covers(
            provider_id=provider_id, model_id=model_id, host=host, scope=scope
        ):
            found = one
    return found


def nearest(
    consents: Iterable[Consent],
    *,
    workbench_id: str,
    provider_id: str,
    model_id: str,
    host: str,
) -> Consent | None:
    """Return the newest permission for this model, whatever its scope."""
    found = None
    for one in consents:
        if (one.workbench_id, one.provider_id, one.model_id, one.host) == (
            workbench_id,
            provider_id,
            model_id,
            host,
        ):
            found = one
    return found
