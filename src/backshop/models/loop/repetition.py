"""Notices when a model makes the same call again and again (W9.1, W9.2)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from backshop.base.canon import canonical, sha256_hex
from backshop.base.limits import LOOP_STOP_CALLS, LOOP_WARNING_CALLS, LOOP_WINDOW_CALLS

_SQL_FIELDS = frozenset(("query", "sql"))
_QUOTED = re.compile(r"('(?:[^']|'')*'|\"(?:[^\"]|\"\")*\")")


class Verdict(StrEnum):
    """What to do with a call."""

    RUN = "run"
    WARN = "warn"
    STOP = "stop"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopGuard:
    """The last calls of one loop. `see` gives a verdict and the guard after the call."""

    window: int = LOOP_WINDOW_CALLS
    warning: int = LOOP_WARNING_CALLS
    stop: int = LOOP_STOP_CALLS
    seen: tuple[str, ...] = ()

    def see(
        self, tool: str, arguments: Mapping[str, Any], tree_id: str = ""
    ) -> tuple[LoopGuard, Verdict]:
        """Count this call among the last ones; the same read after a write is a new call."""
        mark = fingerprint(tool, arguments, tree_id)
        seen = (*self.seen, mark)[-self.window :]
        count = seen.count(mark)
        verdict = Verdict.RUN
        if count >= self.stop:
            verdict = Verdict.STOP
        elif count >= self.warning:
            verdict = Verdict.WARN
        return replace(self, seen=seen), verdict


def fingerprint(tool: str, arguments: Mapping[str, Any], tree_id: str = "") -> str:
    """Return what makes two calls the same: tool, normalised arguments, state of the files."""
    return sha256_hex(canonical([tool, _plain("", arguments), tree_id]))


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(key, item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_plain(name, item) for item in value]
    if isinstance(value, str):
        return _plain_sql(value) if name in _SQL_FIELDS else value.strip()
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**53:
        return str(value)
    return value


def _plain_sql(text: str) -> str:
    parts = _QUOTED.split(text)
    outside = [re.sub(r"\s+", " ", part).lower() for part in parts[::2]]
    parts[::2] = outside
    return "".join(parts).strip()
