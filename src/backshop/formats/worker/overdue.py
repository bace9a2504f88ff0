"""The last word of a worker whose library does not hear that its time is up (F26.7).

A query is interrupted at its limit; some functions never look whether they are. A worker is then
ended from within: it says why, and dies. A program that uses the formats itself is never ended.
"""

from __future__ import annotations

from collections.abc import Callable

from ..errors import FormatError

_last_word: Callable[[FormatError], None] | None = None


def arm(last_word: Callable[[FormatError], None]) -> None:
    """Let this process be ended by `last_word`; a worker does so once, when it begins."""
    global _last_word  # a process has one end
    _last_word = last_word


def end(error: FormatError) -> None:
    """Say what is the case and end the process, if it is a worker; else return."""
    if _last_word is not None:
        _last_word(error)
