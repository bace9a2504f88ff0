"""Tables of delimited files and sheets, asked with SQL (F25 to F28)."""

from __future__ import annotations

from .cache import Cache
from .ingest import open_table
from .table import Table
from .tools import (
    Region,
    table_describe,
    table_export,
    table_get_map,
    table_query,
    table_read_rows,
    table_stats,
    table_update_from_export,
)
from .update import Update

__all__ = [
    "Cache",
    "Region",
    "Table",
    "Update",
    "open_table",
    "table_describe",
    "table_export",
    "table_get_map",
    "table_query",
    "table_read_rows",
    "table_stats",
    "table_update_from_export",
]
