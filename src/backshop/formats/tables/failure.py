"""DuckDB's exceptions as errors of the closed set, with nothing of the machine in their text."""

from __future__ import annotations

import re

import duckdb

from ..errors import FormatError, fail

DETAIL_MAX_CHARS = 500  # F26.8
_QUOTED_PATH = re.compile(r"""(["'])(?:[A-Za-z]:\\|/)[^"'\n]*\1""")
_PATH = re.compile(r"(?<![\w.:/])(?:[A-Za-z]:\\|/)(?:[^\s\"'/\\]+[/\\])+[^\s\"']*")
_DAMAGE = (duckdb.IOException, duckdb.SerializationException, duckdb.FatalException)
_NARROWER = "aggregate, or filter more narrowly, so that less has to be read"


def sql_error(error: duckdb.Error) -> FormatError:
    """Return what went wrong in words of F3, DuckDB's own text in `detail` (F26.7, F26.8)."""
    detail = describe(error)
    if isinstance(error, duckdb.InterruptException):
        return too_long()
    if isinstance(error, duckdb.OutOfMemoryException):
        return fail("memory_limit", "the query needs more memory than it may use", detail=detail)
    if isinstance(error, duckdb.PermissionException):  # the guard should have seen it
        return fail("sql_forbidden_table", "a query sees only the table data", detail=detail)
    if isinstance(error, duckdb.IOException) and "no space left" in str(error).lower():
        return fail("disk_full", "there is no room for the table on the disk")
    if isinstance(error, _DAMAGE) or type(error) is duckdb.Error:  # a checksum that is wrong
        return fail("corrupt_file", "the table file is damaged", detail=detail)
    return fail("sql_error", "DuckDB refused the query", detail=detail)


def too_long() -> FormatError:
    """Return the error for a query that used its time."""
    return fail("sql_timeout", "the query took too long", hints=[_NARROWER])


def describe(error: duckdb.Error) -> str:
    """Return the exception's text without paths of this machine, cut to its first part."""
    text = _PATH.sub("<path>", _QUOTED_PATH.sub(r"\1<path>\1", str(error)))
    return text[:DETAIL_MAX_CHARS]
