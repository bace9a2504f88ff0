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


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a workbench's content goes: to this model of this provider, at this host."""

    workbench_id: str
    provider_id: str
    model_id: str
    host: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent(Destination):
    """One permission: this content, to this destination."""

    scope: Scope
    granted_at: str
    persisted: bool

    def is_for(self, to: Destination) -> bool:
        """Say whether it is this destination that content may go to."""
        own = (self.workbench_id, self.provider_id, self.model_id, self.host)
        return own == (to.workbench_id, to.provider_id, to.model_id, to.host)


def covering(consents: Iterable[Consent], to: Destination, scope: Scope) -> Consent | None:
    """Return the newest permission that covers a call, or None: then the person is asked."""
    return nearest((one for one in consents if scope.within(one.scope)), to)


def nearest(consents: Iterable[Consent], to: Destination) -> Consent | None:
    """Return the newest permission for this destination, whatever its scope."""
    return next((one for one in reversed(tuple(consents)) if one.is_for(to)), None)
