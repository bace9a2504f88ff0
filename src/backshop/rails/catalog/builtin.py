"""What workflow authors can use, listed from the compiler's own registries (R11.5)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from backshop.base.codec import camel

from ..compile import Library
from ..compile.expand import PROBE, arguments
from ..compile.features import FEATURES
from ..compile.refs import REFS
from ..definition.workflow import Definition
from ..packs import CAPABILITIES, CAPABILITY_OBSERVATION, PACKS
from ..run.preference import PRESETS

SUMMARY_MAX_CHARS = 280


@camel
@dataclass(frozen=True, slots=True, kw_only=True)
class Builtin:
    """One thing to use; `insert_text` is what to write into a definition (JSON)."""

    id: str
    kind: str
    title: str
    summary: str
    insert_text: str
    args_schema: dict[str, object] | None = None
    config_schema: dict[str, object] | None = None
    artifact_kinds: tuple[str, ...] | None = None
    implies_contract: str | None = None
    example: dict[str, object] | None = None


def builtins(library: Library) -> tuple[Builtin, ...]:
    """Return everything there is, by kind and id."""
    found = (
        *_templates(library),
        *_features(),
        *_contracts(),
        *_refs(),
        *_capabilities(),
        *_presets(),
    )
    return tuple(sorted(found, key=lambda one: (one.kind, one.id)))


def _templates(library: Library) -> Iterator[Builtin]:
    when = {"enum": ["early_if_required", "always"]}
    yield Builtin(
        id=PROBE,
        kind="template",
        title="Check a capability",
        summary="A step that tries an optional capability for real and reports what happened.",
        args_schema={
            "type": "object",
            "properties": {"capability": {"enum": list(CAPABILITIES)}, "when": when},
            "required": ["capability"],
        },
        implies_contract=CAPABILITY_OBSERVATION,
        insert_text=_call(PROBE, {"capability": "web_browsing", "when": "early_if_required"}),
    )
    for template_id, routine in library.routines.items():
        names = arguments(routine)
        kinds: dict[str, object] = {"type": ["string", "number", "boolean"]}
        yield Builtin(
            id=template_id,
            kind="template",
            title=routine.name,
            summary=_short(routine.description),
            args_schema={
                "type": "object",
                "properties": dict.fromkeys(names, kinds),
                "required": list(names),
            },
            implies_contract=_last_contract(routine),
            insert_text=_call(template_id, dict.fromkeys(names, "")),
        )


def _features() -> Iterator[Builtin]:
    for feature in FEATURES.values():
        settings = {key: {"enum": list(values)} for key, values in feature.settings.items()}
        yield Builtin(
            id=feature.id,
            kind="feature",
            title=feature.title,
            summary=_short(feature.summary),
            config_schema={"type": "object", "properties": settings} if settings else None,
            insert_text=json.dumps(feature.id),
        )


def _contracts() -> Iterator[Builtin]:
    for pack in PACKS.values():
        yield Builtin(
            id=pack.contract_ref,
            kind="contract",
            title=pack.title,
            summary=f"A step with this contract sends an artifact of kind {pack.kind}.",
            artifact_kinds=(pack.kind, *pack.aliases),
            example=pack.example,
            insert_text=json.dumps({"outputContract": {"contractRef": pack.contract_ref}}),
        )


def _refs() -> Iterator[Builtin]:
    for ref_id, (title, text) in REFS.items():
        yield Builtin(
            id=ref_id,
            kind="ref",
            title=title,
            summary=_short(text),
            insert_text=json.dumps({"kind": "ref", "refId": ref_id}),
        )


def _capabilities() -> Iterator[Builtin]:
    titles = {"delegation": "Subagents", "web_browsing": "Web browsing"}
    for capability in CAPABILITIES:
        yield Builtin(
            id=capability,
            kind="capability",
            title=titles[capability],
            summary="required puts a check at the beginning, preferred asks to try and fall back, "
            "disabled forbids it.",
            insert_text=json.dumps({"capabilities": {capability: "preferred"}}),
        )


def _presets() -> Iterator[Builtin]:
    for preset in PRESETS.values():
        autonomy, risk = preset.values.autonomy, preset.values.risk_policy
        yield Builtin(
            id=preset.id,
            kind="preset",
            title=preset.label,
            summary=_short(preset.summary),
            insert_text=json.dumps(
                {
                    "recommendedPreferences": {
                        "recommendedAutonomy": autonomy,
                        "recommendedRiskPolicy": risk,
                    }
                }
            ),
        )


def _call(template_id: str, args: dict[str, str]) -> str:
    return json.dumps({"templateCall": {"templateId": template_id, "args": args}})


def _last_contract(routine: Definition) -> str | None:
    last = routine.steps[-1] if routine.steps else None
    return last.contract.contract_ref if last and last.contract else None


def _short(text: str) -> str:
    return text if len(text) <= SUMMARY_MAX_CHARS else text[: SUMMARY_MAX_CHARS - 1] + "…"
