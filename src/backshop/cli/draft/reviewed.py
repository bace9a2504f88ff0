"""What `backshop review` showed last, so that `backshop publish` means just that (B9.15).

The terminal's own memory, one small file for each workbench in the cache of the home; where
nobody reviewed, `publish` takes the Draft as it is.
"""

from __future__ import annotations

import errno
import json
from pathlib import Path

import click

from backshop.bench import ChangeSet


def remember(home: Path, bench_id: str, shown: ChangeSet) -> None:
    """Keep which tree of which Draft was shown.

    A home that can only be read is reviewed all the same: nothing is published from there.
    """
    path = _path(home, bench_id)
    temp = path.with_suffix(".tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temp.write_text(json.dumps({"draft_id": shown.draft_id, "tree": shown.tree}))
        temp.replace(path)
    except OSError as error:
        if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
            return
        raise click.UsageError(
            f"what was shown could not be noted ({error.strerror}); "
            f"publish with --tree {shown.tree}"
        ) from error


def recall(home: Path, bench_id: str, draft_id: str | None) -> str | None:
    """Return the tree of this Draft that was shown last, or None if none was."""
    try:
        shown = json.loads(_path(home, bench_id).read_text(encoding="utf-8"))
        return str(shown["tree"]) if shown["draft_id"] == draft_id else None
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise click.UsageError(
            "what `backshop review` showed cannot be read; review again, or say --tree"
        ) from error


def _path(home: Path, bench_id: str) -> Path:
    return home / "cache" / "terminal" / f"{bench_id}.json"
