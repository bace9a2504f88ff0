"""Prompt text: blocks rendered in their fixed order, refs and bindings resolved (R1.12)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from backshop.rails.definition.finding import Findings
from backshop.rails.definition.workflow import Blocks, BlockValue, Ref, Slot, Text

from .fields import did_you_mean, nearest
from .refs import REFS, STEP_REFS_MAX_BYTES, ref_text

_BINDING = re.compile(r"\{\{wr\.bindings\.([^{}]*)\}\}")


def resolve_refs(blocks: Blocks, pointer: str, findings: Findings) -> Blocks:
    """Replace every ref by its text; unknown refs and too much text are noted."""
    used = [part for value in _values(blocks) for part in value if isinstance(part, Ref)]
    total = 0
    for ref in used:
        text = ref_text(ref.ref_id)
        if text is None:
            message = f"unknown prompt ref `{ref.ref_id}`{did_you_mean(ref.ref_id, REFS)}"
            findings.error("WF_REF_UNKNOWN", ref.pointer, message, nearest(ref.ref_id, REFS))
        total += len((text or "").encode())
    if total > STEP_REFS_MAX_BYTES:
        message = f"refs of one step add up to {total} bytes, at most {STEP_REFS_MAX_BYTES} fit"
        findings.error("WF_REF_BUDGET", f"{pointer}/promptBlocks", message)
    return Blocks(
        goal=_resolved(blocks.goal),
        constraints=tuple(map(_resolved, blocks.constraints)),
        procedure=tuple(map(_resolved, blocks.procedure)),
        output_required=blocks.output_required,
        verify=tuple(map(_resolved, blocks.verify)),
    )


def render(blocks: Blocks) -> str:
    """Return the prompt text of blocks whose refs are resolved."""
    sections = [
        ("Goal", joined(blocks.goal)),
        ("Constraints", _bullets(blocks.constraints)),
        (
            "Procedure",
            "\n".join(f"{n}. {joined(value)}" for n, value in enumerate(blocks.procedure, 1)),
        ),
        (
            "Required output",
            "\n".join(f"- **{key}**: {text}" for key, text in blocks.output_required),
        ),
        ("Check before you continue", _bullets(blocks.verify)),
    ]
    return "\n\n".join(f"## {heading}\n{text}" for heading, text in sections if text)


def joined(value: BlockValue) -> str:
    """Return the text of one value; parts follow each other without a separator."""
    return "".join(part.text for part in value if isinstance(part, Text)).rstrip("\n")


class Bindings:
    """What `{{wr.bindings.slot}}` stands for: the workspace's choice, else the default."""

    def __init__(
        self, slots: tuple[Slot, ...], chosen: Mapping[str, str], findings: Findings
    ) -> None:
        self._findings = findings
        self.resolved = {slot.slot_id: chosen.get(slot.slot_id, slot.default) for slot in slots}

    def apply(self, text: str, pointer: str) -> str:
        """Replace every binding in a text; no other `{{wr.` token may be in it."""

        def bound(match: re.Match[str]) -> str:
            slot = match[1]
            if slot in self.resolved:
                return self.resolved[slot]
            message = f"no extension point `{slot}`{did_you_mean(slot, self.resolved)}"
            self._findings.error("WF_BINDING_UNKNOWN", pointer, message)
            return ""

        text = _BINDING.sub(bound, text)
        if "{{wr." in text:
            self._findings.error(
                "WF_BINDING_UNKNOWN", pointer, "{{wr.…}} is reserved; only {{wr.bindings.<slot>}}"
            )
        return text


def _values(blocks: Blocks) -> list[BlockValue]:
    return [blocks.goal, *blocks.constraints, *blocks.procedure, *blocks.verify]


def _resolved(value: BlockValue) -> BlockValue:
    return tuple(
        Text(ref_text(part.ref_id) or "") if isinstance(part, Ref) else part for part in value
    )


def _bullets(values: tuple[BlockValue, ...]) -> str:
    return "\n".join(f"- {joined(value)}" for value in values)
