"""A secret of a home in a file of its own: made on first use, readable by its owner only."""

from __future__ import annotations

import os
import secrets
import tempfile
from pathlib import Path

from backshop.base.system import durability, file_name
from backshop.store import file_error

SECRET_BYTES = 32


def secret_of(home: Path, name: str) -> str:
    """Return the secret kept in `<home>/<name>`, making it if there is none."""
    path = home / name
    try:
        if found := _stored(path):
            return found
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, temp = tempfile.mkstemp(prefix=f".{name}-", dir=home)  # for its owner only
        try:
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(secrets.token_urlsafe(SECRET_BYTES))
                file.flush()
                durability.sync(file.fileno())
            file_name.link(temp, path)
        except FileExistsError:  # another process was first, or what is there is no secret
            if not _stored(path):
                Path(temp).replace(path)
        finally:
            Path(temp).unlink(missing_ok=True)
        return path.read_text(encoding="ascii").strip()
    except OSError as error:
        raise file_error(error) from error


def _stored(path: Path) -> str | None:
    """Return the secret in the file; an empty or cut one would let anybody in."""
    try:
        text = path.read_bytes().decode("ascii", "replace").strip()
    except FileNotFoundError:
        return None
    return text if len(text) >= SECRET_BYTES else None
