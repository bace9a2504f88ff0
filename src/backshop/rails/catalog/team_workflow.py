"""The user's workflows of a team: kept in the event store, shown in a folder here (T6.1).

Somebody alone edits the files in their home's folder. Where several machines serve one home, such
a folder would be a place of its own on each of them, so what is saved becomes an event and the
folder is a view that every process brings forward before it looks.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from backshop.base.ambient import Mint
from backshop.base.errors import BackshopError
from backshop.base.event import event
from backshop.store import Event, Fold, HeadMoved, NewEvent, Part, Plan, file_errors

from .folder import alone, put_file

if TYPE_CHECKING:
    from backshop.store import Store

STREAM = "workflows:user"
_NOTHING = -2
_LOG = logging.getLogger("backshop.rails")


@event("workflow.kept")
@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowKept:
    """A definition was saved for everybody; `replaces` names the file that goes."""

    file: str
    text: str
    replaces: str = ""


@event("workflow.removed")
@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowRemoved:
    """A definition was taken away for everybody."""

    file: str


def _apply(state: Mapping[str, str], event: Event) -> Mapping[str, str]:
    fact = event.fact
    if isinstance(fact, WorkflowRemoved):
        return {name: text for name, text in state.items() if name != fact.file}
    assert isinstance(fact, WorkflowKept)
    return {**{n: t for n, t in state.items() if n != fact.replaces}, fact.file: fact.text}


FOLD: Fold[Mapping[str, str]] = Fold("workflows", 1, {}, _apply)


class Moved(Exception):
    """Somebody saved or deleted meanwhile; look again."""


class Shelf:
    """Workflows in the event store. Safe for threads and for several processes on one folder."""

    def __init__(self, store: Store, folder: Path, mint: Mint) -> None:
        self.folder = folder
        self._store = store
        self._mint = mint
        self._lock = threading.Lock()
        self._shown = _NOTHING

    def bring(self) -> int:
        """Make the folder show what is kept; return up to which event."""
        last = self._store.position(STREAM)
        with self._lock:
            if last != self._shown:
                self._show()
                self._shown = last
        return last

    def keep(self, file: str, text: str, *, replaces: str, last: int) -> None:
        """Keep a definition, if nothing was changed since `last`.

        Raises:
            Moved: something was.
        """
        self._append(WorkflowKept(file=file, text=text, replaces=replaces), last)

    def remove(self, file: str, *, last: int) -> None:
        """Take a definition away, if nothing was changed since `last`.

        Raises:
            Moved: something was.
        """
        self._append(WorkflowRemoved(file=file), last)

    def _append(self, fact: WorkflowKept | WorkflowRemoved, last: int) -> None:
        try:
            new = NewEvent(fact, self._mint.new("evt"))
            self._store.append(Plan([Part(STREAM, [new], expected=last)]))
        except HeadMoved as error:
            raise Moved from error
        try:
            self.bring()
        except BackshopError as error:  # it happened for everybody; the next look shows it here
            _LOG.warning("saved workflows are not shown yet: %s (%s)", error.message, error.code)

    def _show(self) -> None:
        if self._store.position(STREAM) < 0 and not self.folder.exists():
            return
        with file_errors(), alone(self.folder):
            texts = self._store.state(STREAM, FOLD)  # now: nobody with an older one comes after
            for name, text in texts.items():
                path = self.folder / Path(name).name
                if not path.is_file() or path.read_bytes() != text.encode():
                    put_file(path, text)
            for path in self.folder.iterdir():
                if path.name not in texts:
                    path.unlink(missing_ok=True)
