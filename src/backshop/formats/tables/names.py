"""Names of columns: as the file has them, where SQL can use them (F25.2)."""

from __future__ import annotations

from collections.abc import Sequence

from .order import RESERVED
from .syntax import fold


def column_names(headers: Sequence[str | None]) -> list[str]:
    """Return a name for every column: blank ones are counted, repeated ones numbered.

    DuckDB keeps no two names apart by case, and some names are taken by the row number.
    """
    names: list[str] = []
    taken = set(RESERVED)
    plain = [(header or "").replace("\0", "") for header in headers]  # DuckDB has no NUL in names
    wanted = set(map(fold, plain))
    for position, header in enumerate(plain, 1):
        base = header if header.strip() else f"column_{position}"
        name, number = base, 2
        while fold(name) in taken or (name != base and fold(name) in wanted):
            name, number = f"{base}_{number}", number + 1
        taken.add(fold(name))
        names.append(name)
    return names
