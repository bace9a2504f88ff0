"""What can be asked of the write tools of office files, as text (W7.11)."""

from __future__ import annotations


def operation_sheet(kind: str, op: str | None = None) -> str:
    """Return the operations of `xlsx`, `docx` or `pptx` with fields, units and an example.

    With `op` that operation alone, with an example of its own.

    Raises:
        FormatError: `unsupported_format`, `unknown_op`; the hints name what there is.
    """
    from .capability import sheet  # loads all three formats: on first use

    return sheet(kind, op)
