"""Whether a pinned workflow still is what its source says (R2.7), without looking twice."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from pathlib import Path

from .catalog import Catalog
from .compile import Compiled
from .errors import RailsError
from .judge import warning

Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a source said when it was last read; `stamps` tell whether to read it again."""

    stamps: tuple[tuple[str, int, int], ...]
    workflow_hash: str | None
    bindings: tuple[tuple[str, str], ...]


class Drift:
    """Compares pinned workflows with their sources; an unchanged file costs one look at it."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._lock = threading.Lock()
        self._seen: dict[tuple[str, Path | None], _Seen] = {}

    def warnings(self, pinned: Compiled, pinned_hash: str, workspace: Path | None) -> list[Json]:
        """Return what has changed since the run began; warnings only."""
        now = self._now(pinned.workflow_id, workspace)
        if now.workflow_hash is None:
            message = f"The source of {pinned.workflow_id} is gone or broken; the run goes on."
            return [warning("WORKFLOW_SOURCE_MISSING", message, workflowId=pinned.workflow_id)]
        found = []
        for slot, current in now.bindings:
            before = pinned.bindings.get(slot)
            if before is not None and before != current:
                message = f"The slot {slot} is bound to {current} now; the run keeps {before}."
                found.append(
                    warning("BINDING_DRIFT", message, slotId=slot, pinned=before, current=current)
                )
        if now.workflow_hash != pinned_hash:
            message = f"{pinned.workflow_id} has changed; the run keeps the text it began with."
            found.append(
                warning(
                    "WORKFLOW_DRIFT",
                    message,
                    workflowId=pinned.workflow_id,
                    pinnedHash=pinned_hash,
                    currentHash=now.workflow_hash,
                )
            )
        return found

    def _now(self, workflow_id: str, workspace: Path | None) -> _Seen:
        key = (workflow_id, workspace)
        with self._lock:
            known = self._seen.get(key)
        if known is not None and known.stamps and _stamps(known.stamps, workspace) == known.stamps:
            return known
        seen = self._look(workflow_id, workspace)
        with self._lock:
            self._seen[key] = seen
        return seen

    def _look(self, workflow_id: str, workspace: Path | None) -> _Seen:
        try:
            workflow = self._catalog.look(workspace).load(workflow_id)
        except RailsError:
            return _Seen((), None, ())
        file = str(workflow.entry.stamp.path)
        stamps = _stamps(((file, 0, 0),), workspace)
        bindings = tuple(sorted(workflow.compiled.bindings.items()))
        return _Seen(stamps, workflow.workflow_hash, bindings)


def _stamps(
    files: tuple[tuple[str, int, int], ...], workspace: Path | None
) -> tuple[tuple[str, int, int], ...]:
    names = [files[0][0]]
    if workspace is not None:
        names.append(str(workspace / ".backshop" / "bindings.json"))
    return tuple(_stamp(name) for name in names)


def _stamp(name: str) -> tuple[str, int, int]:
    try:
        status = os.stat(name)  # noqa: PTH116  # the one call of every advance
    except OSError:
        return name, -1, -1
    return name, status.st_size, status.st_mtime_ns
