"""Policies: when a tool may be called (P1.18)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..events import ToolInvoked
from ..slices import SessionView
from .workspace import Files, PathRead, composed


class ReadBeforeWrite:
    """Denies writing over a file that the model has not read in this session (P1.18)."""

    def __init__(
        self,
        section_key: str = "vfs",
        writes: Sequence[str] = ("write_text_file", "edit_text_file"),
    ) -> None:
        self._section_key = section_key
        self._writes = frozenset(writes)

    def check(
        self, tool_name: str, params: object | None, session_view: SessionView | None
    ) -> str | None:
        """Return why the write is denied, or None."""
        given = getattr(params, "path", None)
        if tool_name not in self._writes or session_view is None or not isinstance(given, str):
            return None
        path = composed(given)  # the file the tool is going to write
        if Files.of(session_view, self._section_key).get(path) is None:
            return None
        if PathRead(self._section_key, path) in session_view[PathRead].all():
            return None
        return f"read {path} before you write it"


class After:
    """Denies a tool until others have succeeded in this session: `After({"b": {"a"}})` (P1.18)."""

    def __init__(self, required: Mapping[str, set[str] | frozenset[str]]) -> None:
        self._required = {name: frozenset(needs) for name, needs in required.items()}

    def check(
        self, tool_name: str, params: object | None, session_view: SessionView | None
    ) -> str | None:
        """Return why the call is denied, or None."""
        needs = self._required.get(tool_name, frozenset())
        done: set[str] = set()
        if session_view is not None:
            done = {one.tool for one in session_view[ToolInvoked].all() if one.ok}
        missing = sorted(needs - done)
        return f"call {', '.join(missing)} first" if missing else None
