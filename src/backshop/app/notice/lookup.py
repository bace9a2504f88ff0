"""What notifications need to know of a bench beyond the fact itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from backshop.base.codec import encode
from backshop.base.command import Ask
from backshop.base.errors import BackshopError
from backshop.base.ids import MessageId
from backshop.store import Store

from .table import Data

if TYPE_CHECKING:  # loaded with the first record somebody hears of (S2.4)
    from backshop.workshop import Conversations


class Looker:
    """Records and Drafts of benches; a bench that cannot be read has neither."""

    def __init__(self, store: Store, book: Callable[[], Conversations], ask: Ask) -> None:
        self._store = store
        self._book = book
        self._ask = ask
        self._bars: dict[str, tuple[str, float]] = {}

    def record(self, workbench_id: str, message_id: str) -> tuple[Data, int] | None:
        """Return a record of the conversation and the position of the fact that made it."""
        from backshop.workshop import message_of

        book = self._book()
        try:
            found = book.state(workbench_id).records.get(MessageId(message_id))
            names = book.desk.names()
        except BackshopError:  # thrown away or damaged: nobody can look at it
            return None
        if found is None:
            return None
        return encode(message_of(found, active=True, names=names)), found.seq

    def has_draft(self, workbench_id: str) -> bool:
        """Say whether there is a Draft now."""
        try:
            return self._book().state(workbench_id).bench.draft is not None
        except BackshopError:  # thrown away or damaged
            return False

    def clutter(self, workbench_id: str) -> Data | None:
        """Return how crowded a workbench is, None if that is what was said of it last."""
        from backshop.workshop import Cluttering, requests

        try:
            wish = requests.WorkbenchOnly(workbench_id=workbench_id)
            bar = self._ask(Cluttering.get_clutter, wish)
        except BackshopError:  # thrown away or damaged
            return None
        seen = (bar.level, round(bar.score, 2))
        if self._bars.get(workbench_id) == seen:
            return None
        self._bars[workbench_id] = seen
        told: Data = encode(bar)
        return told

    def used(self, workbench_id: str, run_id: str | None) -> Data | None:
        """Return what a run, or else the whole workbench, has used by now."""
        from backshop.models import spent_of

        try:
            spent = spent_of(self._store, workbench_id, run_id)
        except BackshopError:  # damaged: nobody can count it
            return None
        found: Data = encode(spent.usage)
        return found
