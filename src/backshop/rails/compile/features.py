"""Features: what a workflow can switch on for all of its steps (R1.36)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from backshop.rails.definition.finding import Findings, escaped
from backshop.rails.definition.workflow import FeatureUse, Fragment, Step, StepKind, Text

from .fields import did_you_mean, nearest


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """One feature: the lines it adds to every step, and its settings with their values."""

    id: str
    title: str
    summary: str
    constraints: tuple[str, ...] = ()
    procedure: tuple[str, ...] = ()
    verify: tuple[str, ...] = ()
    settings: dict[str, tuple[str, ...]] = field(default_factory=dict)


_ALL = (
    Feature(
        id="wr.features.capabilities",
        title="Optional capabilities",
        summary="Optional capabilities are tried before they are relied on, with a fallback.",
        constraints=(
            "Do not assume that an optional capability (subagents, web browsing) is there: try it "
            "before you rely on it.",
        ),
        procedure=(
            "Where an optional capability would help, name the fallback first; if the attempt "
            "fails, use the fallback and report it with a `wr.capability_observation` artifact.",
        ),
        settings={
            "probeVisibility": ("collapsed", "visible"),
            "recordObservationsAs": ("artifact", "event"),
        },
    ),
    Feature(
        id="wr.features.durable_recap_guidance",
        title="Notes that last",
        summary="Notes are the record of the run: per step, specific.",
        constraints=(
            "Your notes are the durable record of this step; the chat may be lost at any time.",
        ),
        verify=(
            "The notes cover this step only and are specific: names, places, numbers, decisions "
            "with their reason, what is open.",
        ),
    ),
    Feature(
        id="wr.features.memory_context",
        title="Memory, if there is any",
        summary="A memory tool is used when there is one and never depended on.",
        procedure=(
            "If you have a memory tool, ask it for what concerns this step and check what it "
            "says; if you have none, go on without it.",
        ),
    ),
    Feature(
        id="wr.features.mode_guidance",
        title="What the mode asks for",
        summary="Each step says what the current autonomy and risk policy ask for.",
        settings={"verbosity": ("short", "full")},
    ),
    Feature(
        id="wr.features.output_contracts",
        title="Typed outputs",
        summary="Artifacts go into output.artifacts; a refused one is corrected and sent again.",
        constraints=(
            "Where a step requires an artifact, send it in `output.artifacts`, not inside the "
            "notes.",
        ),
        procedure=(
            "If the answer is blocked because of an artifact, correct exactly what it names and "
            "send it again with the tokens of that answer.",
        ),
        settings={"enforce": ("block_in_blocking_modes_gap_in_never_stop",)},
    ),
    Feature(
        id="wr.features.subagent_guidance",
        title="Delegated work",
        summary="Delegated results are evidence; the main agent decides and synthesises.",
        constraints=(
            "Results of delegated work are evidence, not decisions: you check, weigh and decide.",
        ),
        verify=("What came from delegated work was checked and put together in your own words.",),
    ),
)
FEATURES: dict[str, Feature] = {one.id: one for one in _ALL}
MODE_GUIDANCE = "wr.features.mode_guidance"

# (fragment id, context key, value, short text, what the full text adds)
_MODES = (
    (
        "wr-mode-guided",
        "wr_autonomy",
        "guided",
        "Mode guided: where this step asks for confirmation, wait for the person.",
        "Ask what only the person can know, one question at a time, and propose an answer.",
    ),
    (
        "wr-mode-full-auto",
        "wr_autonomy",
        "full_auto_stop_on_user_deps",
        "Mode full auto: do not ask; decide, and note the decision with its reason.",
        "Stop only for what nobody but the person can give.",
    ),
    (
        "wr-mode-nonstop",
        "wr_autonomy",
        "full_auto_never_stop",
        "Mode full auto without stops: never wait; state assumptions and report gaps.",
        "Prefer the assumption that is easiest to undo.",
    ),
    (
        "wr-risk-conservative",
        "wr_risk_policy",
        "conservative",
        "Risk policy conservative: choose what can be undone, and verify before you go on.",
        "When in doubt do less, and say what you left.",
    ),
    (
        "wr-risk-balanced",
        "wr_risk_policy",
        "balanced",
        "Risk policy balanced: take ordinary risks, and verify what would be costly to get wrong.",
        "Say which risks you took.",
    ),
    (
        "wr-risk-aggressive",
        "wr_risk_policy",
        "aggressive",
        "Risk policy aggressive: prefer progress, and verify at the end.",
        "Never hide a doubt: note it and go on.",
    ),
)


def check_features(uses: Sequence[FeatureUse], findings: Findings) -> tuple[FeatureUse, ...]:
    """Return the known features once each in lexical order, noting what is wrong."""
    found: dict[str, FeatureUse] = {}
    for index, use in enumerate(uses):
        pointer = f"/features/{index}"
        feature = FEATURES.get(use.id)
        if feature is None:
            message = f"unknown feature `{use.id}`{did_you_mean(use.id, FEATURES)}"
            findings.error("WF_FEATURE_UNKNOWN", pointer, message, nearest(use.id, FEATURES))
            continue
        for key, value in (use.config or {}).items():
            allowed = feature.settings.get(key, ())
            if value not in allowed:
                wanted = f"one of {', '.join(allowed)}" if allowed else "not a setting of it"
                message = f"`{key}` of {use.id} is {wanted}"
                findings.error("WF_FEATURE_CONFIG", f"{pointer}/config/{escaped(key)}", message)
        found.setdefault(use.id, use)
    return tuple(found[key] for key in sorted(found))


def apply_features(step: Step, uses: Sequence[FeatureUse]) -> Step:
    """Add the lines of the features to a step: to its blocks, or else to its guidance."""
    if step.kind is StepKind.LOOP or step.probe is not None:
        return step
    features = [FEATURES[use.id] for use in uses]
    step = replace(step, fragments=(*step.fragments, *_mode_fragments(uses)))
    if step.blocks is None:
        lines = [
            line for one in features for line in (*one.constraints, *one.procedure, *one.verify)
        ]
        return replace(step, guidance=tuple(dict.fromkeys((*step.guidance, *lines))))
    blocks = replace(
        step.blocks,
        constraints=(*step.blocks.constraints, *_values(one.constraints for one in features)),
        procedure=(*step.blocks.procedure, *_values(one.procedure for one in features)),
        verify=(*step.blocks.verify, *_values(one.verify for one in features)),
    )
    return replace(step, blocks=blocks)


def _values(groups: Iterable[tuple[str, ...]]) -> tuple[tuple[Text], ...]:
    return tuple((Text(line),) for lines in groups for line in lines)


def _mode_fragments(uses: Sequence[FeatureUse]) -> tuple[Fragment, ...]:
    use = next((one for one in uses if one.id == MODE_GUIDANCE), None)
    if use is None:
        return ()
    full = (use.config or {}).get("verbosity") == "full"
    return tuple(
        Fragment(
            id=fragment_id,
            when={"var": key, "equals": value},
            text=f"{short} {more}" if full else short,
        )
        for fragment_id, key, value, short, more in _MODES
    )
