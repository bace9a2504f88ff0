"""Overrides in the event store: every revision is an event, nothing is lost (P3.17)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from backshop.base.ambient import Clock, Mint, SystemClock
from backshop.base.event import event
from backshop.prompts.errors import OverridesError

from .common import Change, DocumentStore, require_revision
from .document import Document, Place, check_document

if TYPE_CHECKING:
    from backshop.store import Event, Fold, Store

_KIND = "prompt-overrides"


@event("prompt.overrides_written")
@dataclass(frozen=True, slots=True, kw_only=True)
class OverridesWritten:
    """A tag of overrides got a new revision; the document is whole."""

    document: dict[str, Any]


@event("prompt.overrides_deleted")
@dataclass(frozen=True, slots=True, kw_only=True)
class OverridesDeleted:
    """A tag of overrides was removed."""


class StorePromptOverridesStore(DocumentStore):
    """Overrides kept where everything else is, with the same revisions as files have.

    `kind` of their streams tells apart what must not be seen beside each other (T1.1).
    """

    def __init__(self, store: Store, *, clock: Clock | None = None, kind: str = _KIND) -> None:
        super().__init__(clock)
        self._store = store
        self._kind = kind
        self._mint = Mint(clock or SystemClock())

    def _read(self, place: Place) -> Document | None:
        data = self._store.state(self._stream(place), _fold())
        return None if data is None else check_document(data, place)

    def _change(self, place: Place, change: Change, if_revision: int | None) -> Document:
        from backshop.store import NewEvent  # loaded on first use

        key = self._mint.new("evt")
        result: list[Document] = []

        def rule(data: dict[str, Any] | None) -> list[NewEvent]:
            before = Document(place) if data is None else check_document(data, place)
            require_revision(before, if_revision)
            after = change(before)
            if after is before and before.revision:
                result[:] = [before]
                return []
            after = replace(after, revision=after.revision + 1)
            after.to_bytes()  # the limits of a file hold here as well
            result[:] = [after]
            return [NewEvent(OverridesWritten(document=after.to_data()), key)]

        self._store.update(self._stream(place), _fold(), rule)
        return result[0]

    def _remove(self, place: Place) -> None:
        from backshop.store import NewEvent  # loaded on first use

        key = self._mint.new("evt")

        def rule(data: dict[str, Any] | None) -> list[NewEvent]:
            return [] if data is None else [NewEvent(OverridesDeleted(), key)]

        self._store.update(self._stream(place), _fold(), rule)

    def _stream(self, place: Place) -> str:
        return f"{self._kind}:{place.namespace}:{place.prompt_key}:{place.tag}"

    def _places(self) -> Iterator[Place]:
        for head in self._store.streams(self._kind):
            _, namespace, key, tag = head.stream.split(":", 3)
            place = Place.of(namespace, key, tag)
            if self._read(place) is not None:
                yield place


def _fold() -> Fold[dict[str, Any] | None]:
    from backshop.store import Fold  # loaded on first use

    return Fold("prompt-overrides", 1, None, _apply)


def _apply(state: dict[str, Any] | None, event: Event) -> dict[str, Any] | None:
    match event.fact:
        case OverridesWritten(document=document):
            return document
        case OverridesDeleted():
            return None
    raise OverridesError(f"{event.kind} does not belong here", code="UNSUPPORTED_VERSION")
