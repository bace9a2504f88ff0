"""What `backshop review` showed last, so that `backshop publish` means just that (B9.15).

The terminal's own memory, one small file for each workbench in the cache of the home; without it
`publish` takes the Draft as it is.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any


def remember(home: Path, bench_id: str, shown: dict[str, Any]) -> None:
    """Keep which tree of which Draft was shown."""
    path = _path(home, bench_id)
    temp = path.with_suffix(".tmp")
    with suppress(OSError):  # a home that can only be read is reviewed all the same
        path.parent.mkdir(parents=True, exist_ok=True)
        temp.write_text(json.dumps({"draft_id": shown["draft_id"], "tree": shown["tree"]}))
        temp.replace(path)


def recall(home: Path, bench_id: str, draft_id: str | None) -> str | None:
    """Return the tree of this Draft that was shown last, or None."""
    try:
        shown = json.loads(_path(home, bench_id).read_text(encoding="utf-8"))
        return str(shown["tree"]) if shown["draft_id"] == draft_id else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _path(home: Path, bench_id: str) -> Path:
    return home / "cache" / "terminal" / f"{bench_id}.json"
