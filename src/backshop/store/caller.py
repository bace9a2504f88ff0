"""For whom something is done: what they see, what they may, and that what they begin is theirs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from backshop.base.ids import UserId

from .log.opening import NOTHING_BESIDE, Beginning


def _everything(subject: str) -> bool:
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Whoever a command runs for (T6.4); without more the home's owner, who may everything."""

    user: UserId | None = None
    sees: Callable[[str], bool] = _everything
    """Whether a bench or session is in their lists."""
    may_publish: Callable[[str], bool] = _everything
    """Whether they may change Published of a bench, where that follows from values."""
    beginning: Beginning = NOTHING_BESIDE
    """What goes beside the streams they begin."""


THE_OWNER = Caller()
