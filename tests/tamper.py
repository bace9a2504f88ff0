"""Changes a database behind the program's back.

In a process of its own: two SQLite libraries on one file in one process undo each other's locks,
and the program that has it open dies of a bus error.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

_CODE = """
import json, sqlite3, sys
database = sqlite3.connect(sys.argv[1], timeout=30)
with database:
    database.execute(*json.loads(sys.argv[2]))
database.close()
"""


def tamper(home: Path, sql: str, *params: object) -> None:
    """Run one statement on the database of a home that may be open here."""
    arguments = [str(home / "store.db"), json.dumps([sql, params])]
    subprocess.run([sys.executable, "-c", _CODE, *arguments], check=True, timeout=60)
