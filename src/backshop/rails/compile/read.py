"""The schema pass: from parsed JSON to a `Definition`, with findings for all that is wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import get_args

from backshop.rails.definition import workflow
from backshop.rails.definition.finding import Findings
from backshop.rails.packs import CAPABILITIES
from backshop.rails.session.events import Autonomy, RiskPolicy

from .demands import NAME
from .fields import Fields, did_you_mean
from .functions import read_functions
from .steps import MODEL_TIERS, read_steps

SEMVER = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?", re.ASCII
)
SLOT_ID = re.compile(r"[a-z][a-z0-9_]{1,63}")
BINDING_MAX_CHARS = 160  # a binding names a workflow; longer ones could blow prompts up
LEVELS = ("required", "preferred", "disabled")
METRICS = ("coding", "review", "research", "design", "ticket", "none")


def read_definition(
    data: object, findings: Findings, *, strict: bool = False
) -> workflow.Definition | None:
    """Read a definition; None when it is not even an object with an id and steps."""
    if not isinstance(data, Mapping):
        findings.error("WF_SCHEMA", "", "a workflow is an object")
        return None
    top = Fields(data, "", findings, strict=strict)
    workflow_id = top.text("id", required=True)
    name = top.text("name", 1, 128, required=True)
    description = top.text("description", 1, 512, required=True)
    version = top.text("version", required=True, pattern=SEMVER)
    top.need("steps")
    steps = read_steps(top, "steps")
    if top.has("steps") and isinstance(top.raw("steps"), list) and not top.raw("steps"):
        top.error("steps", "a workflow has at least one step")
    definition = workflow.Definition(
        id=workflow_id or "",
        name=name or "",
        description=description or "",
        version=version or "",
        steps=steps,
        agent_role=top.text("agentRole", 10, 1024),
        model_tier=top.choice("modelTier", MODEL_TIERS),
        capabilities=_capabilities(top),
        features=_features(top),
        recommended=_recommended(top),
        assessments=tuple(_assessment(one) for one in top.each("assessments", code=_ASSESS)),
        functions=read_functions(top),
        references=_references(top),
        slots=tuple(_slot(one) for one in top.each("extensionPoints")),
        meta_guidance=top.texts("metaGuidance", 1, 256, unique=True),
        preconditions=top.texts("preconditions", 1, 256, unique=True),
        clarification_prompts=top.texts("clarificationPrompts", 1, 256, unique=True),
        about=top.text("about", 0, 4096),
        examples=_examples(top),
        tags=top.texts("tags"),
        metrics_profile=top.choice("metricsProfile", METRICS),
        spec_version=top.integer("validatedAgainstSpecVersion", 0, 1_000_000),
    )
    top.done("$schema")
    return definition if workflow_id else None


_ASSESS = "WF_ASSESSMENT_INVALID"


def _capabilities(top: Fields) -> dict[str, str]:
    fields = top.members("capabilities", code="WF_CAPABILITY_INVALID")
    found = {}
    for key, level in fields.data.items() if fields else ():
        assert fields is not None
        if key not in CAPABILITIES:
            known = ", ".join(CAPABILITIES)
            fields.error(key, f"unknown capability `{key}`; known: {known}")
        elif level not in LEVELS:
            fields.error(key, f"a capability is {', '.join(LEVELS)}")
        else:
            found[key] = str(level)
    return found


def _features(top: Fields) -> tuple[workflow.FeatureUse, ...]:
    found = []
    for index, item in enumerate(top.items("features")):
        if isinstance(item, str):
            found.append(workflow.FeatureUse(id=item))
            continue
        fields = top.inner(f"features/{index}", item)
        if fields is None:
            continue
        feature_id = fields.text("id", required=True)
        config = fields.mapping("config") if fields.has("config") else None
        fields.done()
        if feature_id:
            found.append(workflow.FeatureUse(id=feature_id, config=config or None))
    return tuple(found)


def _recommended(top: Fields) -> workflow.Recommended:
    fields = top.members("recommendedPreferences")
    if fields is None:
        return workflow.Recommended()
    recommended = workflow.Recommended(
        recommended_autonomy=fields.choice("recommendedAutonomy", get_args(Autonomy)),
        recommended_risk_policy=fields.choice("recommendedRiskPolicy", get_args(RiskPolicy)),
    )
    fields.done()
    return recommended


def _assessment(fields: Fields) -> workflow.Assessment:
    dimensions = tuple(_dimension(one) for one in fields.each("dimensions"))
    if not dimensions:
        fields.error("dimensions", "an assessment has at least one dimension")
    assessment = workflow.Assessment(
        id=fields.text("id", required=True, pattern=NAME) or "",
        purpose=fields.text("purpose", required=True) or "",
        dimensions=dimensions,
    )
    fields.done()
    return assessment


def _dimension(fields: Fields) -> workflow.Dimension:
    levels = fields.texts("levels", unique=True)
    if len(levels) < 2:
        fields.error("levels", "a dimension has at least two levels")
    dimension = workflow.Dimension(
        id=fields.text("id", required=True, pattern=NAME) or "",
        purpose=fields.text("purpose", required=True) or "",
        levels=levels,
        required=fields.flag("required", default=True),
    )
    fields.done()
    return dimension


def _references(top: Fields) -> tuple[workflow.Reference, ...]:
    found: dict[str, workflow.Reference] = {}
    for fields in top.each("references", code="WF_REFERENCE_INVALID"):
        reference = _reference(fields)
        if reference.id in found:
            fields.error("id", f"`{reference.id}` is declared twice")
        found[reference.id] = reference
    return tuple(found.values())


def _reference(fields: Fields) -> workflow.Reference:
    fields.need("authoritative")
    reference = workflow.Reference(
        id=fields.text("id", required=True) or "",
        title=fields.text("title", required=True) or "",
        source=fields.text("source", required=True) or "",
        purpose=fields.text("purpose", required=True) or "",
        authoritative=fields.flag("authoritative"),
        resolve_from=fields.choice("resolveFrom", ("workspace", "package")) or "workspace",
    )
    fields.done()
    return reference


def _slot(fields: Fields) -> workflow.Slot:
    slot = workflow.Slot(
        slot_id=fields.text("slotId", required=True, pattern=SLOT_ID) or "",
        purpose=fields.text("purpose", required=True) or "",
        default=fields.text("default", 1, BINDING_MAX_CHARS, required=True) or "",
        accepted_kinds=fields.texts("acceptedKinds"),
    )
    for kind in slot.accepted_kinds:
        if kind not in {"workflow", "routine"}:
            hint = did_you_mean(kind, ("workflow", "routine"))
            fields.error("acceptedKinds", f"`{kind}` is not workflow or routine{hint}")
    fields.done()
    return slot


def _examples(top: Fields) -> tuple[object, ...]:
    found = top.items("examples")
    if len(found) > 6:
        top.error("examples", f"{len(found)} examples, at most 6 fit")
    return tuple(found)
