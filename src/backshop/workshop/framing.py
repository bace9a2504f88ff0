"""Frames around text the product did not write: what stands in them is material, never orders."""

from __future__ import annotations

import re

from backshop.prompts import delimit

_CLOSING = re.compile(r"</(?=\s*workbench-)", re.IGNORECASE)


def tool_answer(text: str, *, tool: str, path: str = "", entry_id: int | None = None) -> str:
    """Return a tool's answer in a frame it cannot close, named by tool, path and entry (W8.8)."""
    name = " ".join(part for part in (tool, path, f"#{entry_id}" if entry_id else "") if part)
    return delimit("data", name, text)


def situation(text: str) -> str:
    """Return the situation of a workbench between its delimiters (B14.16)."""
    return f"<workbench-situation>\n{_kept_inside(text)}\n</workbench-situation>"


def skill(name: str, main: str, references: tuple[tuple[str, str], ...] = ()) -> str:
    """Return a skill: its main file, then each reference under its path (B14.16)."""
    shown = re.sub(r"[^\w.-]", "-", name)
    parts = (main.strip("\n"), *(f"## {path}\n\n{body}".strip("\n") for path, body in references))
    inside = "\n\n".join(_kept_inside(part) for part in parts)
    return f'<workbench-skill name="{shown}">\n{inside}\n</workbench-skill>'


def _kept_inside(text: str) -> str:
    return _CLOSING.sub("&lt;/", text)
