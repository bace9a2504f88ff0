"""Frames around text the product did not write: what stands in them is material, never orders."""

from __future__ import annotations

from backshop.prompts import delimit


def tool_answer(text: str, *, tool: str, path: str = "", entry_id: int | None = None) -> str:
    """Return a tool's answer in a frame it cannot close, named by tool, path and entry (W8.8)."""
    name = " ".join(part for part in (tool, path, f"#{entry_id}" if entry_id else "") if part)
    return delimit("data", name, text)
