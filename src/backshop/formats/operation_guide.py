"""What can be asked of the write tools of office files, before a call and after a wrong one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from .errors import MAX_HINTS, FormatError, fail
from .kind import kind_of_name
from .protocol import Json

_PLACE = re.compile(r"operations(?:\[(\d{1,6})\])?")
_WRITTEN_WRONG = frozenset(
    ("unknown_op", "missing_field", "unknown_field", "bad_type", "bad_value", "bad_range")
)


def operation_sheet(kind: str, op: str | None = None) -> str:
    """Return the operations of `xlsx`, `docx` or `pptx` with fields, units and an example.

    With `op` that operation alone, or several that commas part, each with an example of its own.

    Raises:
        FormatError: `unsupported_format`, `unknown_op`; the hints name what there is.
    """
    from .capability import sheet  # loads all three formats: on first use

    return sheet(kind, op)


def explained(error: FormatError, name: str, operations: Json) -> FormatError:
    """Return a refusal of operations with how the operation in question is written (W7.13).

    Only where the mistake lies in how it was asked; `name` is that of the file.
    """
    place, kind = _PLACE.match(error.detail or ""), kind_of_name(name)
    if error.reason not in _WRITTEN_WRONG or place is None or kind is None:
        return error
    is_near = error.reason == "unknown_op" or (
        len(error.hints) == 1 and ".op:" in (error.detail or "")
    )
    near = error.hints[0] if is_near and error.hints else None
    if near is not None and " " in near:  # what can be done instead of what is not offered
        return error
    if error.reason == "unknown_op" and f"did you mean {near}?" not in (error.detail or ""):
        return error  # how to write what nobody meant would be asked for by saying it
    told = operation_sheet(kind.value, near or _named(operations, place[1]))
    kept = () if error.reason == "unknown_field" else error.hints[: MAX_HINTS - 1]
    return fail(error.reason, error.message, detail=error.detail, hints=(*kept, told))


def _named(operations: Json, index: str | None) -> str | None:
    """Return the name of the operation at a place; None where nothing is named."""
    listed = operations if isinstance(operations, Sequence) else [operations]
    at = -1 if index is None else int(index)
    item = listed[at] if 0 <= at < len(listed) else None
    found = item.get("op") if isinstance(item, Mapping) else None
    return found if isinstance(found, str) else None
