"""The bundled prompts: facts in, a prompt out (P7.1–P7.4).

Every call of the Workshop is one of these prompts; nothing else puts prompt text together. Values
stand in sections as they are and are never read as templates. What is the same for every call comes
first: rules, tools, context items and the list of files as the system's text; then, behind the
conversation, what the turn is about; last what this phase is about (P7.2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import Any

from backshop.base.canon import sha256_hex
from backshop.base.limits import KIB
from backshop.bench import ContextText, FileFact
from backshop.prompts import (
    MarkdownSection,
    Prompt,
    PromptRenderError,
    RenderContext,
    Role,
    Section,
    Stability,
    WorkspaceDigest,
    delimit,
)

from ..cut import cut_bytes
from . import text as prompt_text
from .context_prompt import ContextAnswer
from .inputs import Artifacts, PromptInputs, Report, Shown

NAMESPACE = "backshop/workshop"
_TITLE_MAX_CHARS = 120
_RESEARCH_LATER_BYTES = 16 * KIB  # W6.2
_REPORTS_IN_ITEM_BYTES = 4 * KIB
_REPORTS_IN_SUMMARY_BYTES = 16 * KIB


@dataclass(frozen=True, slots=True)
class PromptKind:
    """What is fixed about one bundled prompt."""

    name: str
    purpose: str
    artifacts: tuple[str, ...] = ()
    conversation: bool = False
    step: str = ""
    output: type | None = None


KINDS: Mapping[str, PromptKind] = MappingProxyType(
    {
        "work": PromptKind("Work", "work", ("failure", "found"), conversation=True),
        "research": PromptKind("Research", "research", ("found",), conversation=True),
        "plan": PromptKind("Plan", "plan", ("research", "found"), conversation=True),
        "implement": PromptKind(
            "Implement",
            "implement",
            ("research", "plan", "item", "reports", "failure", "found"),
            conversation=True,
        ),
        "summary": PromptKind(
            "Summary", "summary", ("research", "plan", "reports", "changes"), conversation=True
        ),
        "reply": PromptKind("Reply", "reply", conversation=True, step=prompt_text.REPLY),
        "proposal": PromptKind(
            "Proposal", "proposal", conversation=True, step=prompt_text.PROPOSAL
        ),
        "compression": PromptKind(
            "Compression", "compression", ("material",), step=prompt_text.COMPRESSION
        ),
        "context-process": PromptKind(
            "Context item",
            "context_process",
            ("material",),
            output=ContextAnswer,
        ),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseParams:
    """What the `phase` section says."""

    step: str
    budget: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnParams:
    """What the `turn` section says."""

    today: date
    mode: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestParams:
    """The file lines; a prompt renders only when every file is among them (P7.4)."""

    complete: bool
    lines: tuple[str, ...]
    folders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestParams:
    """The person's message."""

    text: str


class BenchSection(MarkdownSection):
    """The tools over a bench, for selectors a workspace (P6.1)."""

    def __init__(self, template: str, **attributes: Any) -> None:
        super().__init__("Tools", template, key="tools", kinds=("bench", "workspace"), **attributes)


class _Text(Section):
    """A section whose text was decided before: shown as it is, never a template."""

    def __init__(self, title: str, text: str, **attributes: Any) -> None:
        self._text = text
        super().__init__(title, accepts_overrides=False, **attributes)

    def body(self, context: RenderContext) -> str:
        """Return the text."""
        return self._text


class _Manifest(Section):
    """Every file of the workbench; refuses to render without."""

    def __init__(self, params: ManifestParams) -> None:
        super().__init__(
            "Files",
            key="manifest",
            params=ManifestParams,
            default_params=params,
            accepts_overrides=False,
            kinds=("always",),
            stability="workspace",
        )

    def body(self, context: RenderContext) -> str:
        """Return the lines, or raise `MANIFEST_INCOMPLETE`."""
        params = context.params
        if not isinstance(params, ManifestParams) or not params.complete:
            raise PromptRenderError(
                "the list of files is not complete", code="MANIFEST_INCOMPLETE", path=context.path
            )
        if not params.lines and not params.folders:
            return prompt_text.EMPTY_BENCH
        parts = ["\n".join(params.lines)] if params.lines else []
        if params.folders:
            lead = "Folders whose other files are not listed here; page with list_files:"
            parts.append("\n".join((lead, *params.folders)))
        return "\n\n".join(parts)


def build_prompt(key: str, facts: PromptInputs) -> Prompt[Any]:
    """Return the bundled prompt of this key for these facts; its values need no params.

    Raises:
        KeyError: there is no such prompt.
    """
    kind = KINDS[key]
    sections = (
        MarkdownSection(
            "Rules",
            prompt_text.RULES,
            key="rules",
            accepts_overrides=False,
            kinds=("always",),
            stability="static",
        ),
        *_tools(facts),
        *_told(facts),
        _Manifest(_manifest(facts)),
        _turn(facts),
        *_draft(facts),
        WorkspaceDigest(overflow="summary", role="user"),
        *_shown("at-hand", "Files at hand", facts.at_hand, "workspace", _elsewhere(facts)),
        *_sheets(facts),
        *_styles(facts),
        *_left_out(facts),
        *_shown("changed", "Files of this phase", facts.changed, "turn"),
        *_artifacts(kind, facts.artifacts),
        *_request(kind, facts),
        _phase(key, kind, facts),
    )
    return Prompt.bundled(
        NAMESPACE,
        key,
        sections=sections,
        name=f"Workshop: {kind.name}",
        include_conversation=kind.conversation,
        output=kind.output,
        allow_extra_keys=kind.output is not None,
        purpose=kind.purpose,
    )


def bundled_prompts(tools: Callable[[str], tuple[Any, ...]]) -> tuple[Prompt[Any], ...]:
    """Return the prompts of turns on an empty bench, for lists, lint and overrides (P7.12).

    `tools` gives the tools of a prompt's key, so that their descriptions can be looked up too.
    """
    shown = "(the text of this step in the workflow wr.auto or wr.rpi)"
    return tuple(
        build_prompt(key, PromptInputs(step=shown if not kind.step else "", tools=tools(key)))
        for key, kind in KINDS.items()
    )


def _phase(key: str, kind: PromptKind, facts: PromptInputs) -> Section:
    step = "\n\n".join(
        part.strip("\n")
        for part in (facts.step or kind.step, prompt_text.NO_CHANGE if key == "implement" else "")
        if part.strip()
    )
    many = facts.max_turns > 2
    return MarkdownSection(
        "This phase",
        "${step}\n\n${budget}\n\n${notes}",
        key="phase",
        params=PhaseParams,
        default_params=PhaseParams(
            step=step,
            budget=prompt_text.BUDGET.format(facts.max_turns) if many else prompt_text.BUDGET_ONE,
            notes=facts.notes,
        ),
        role="user",
    )


def _turn(facts: PromptInputs) -> Section:
    return MarkdownSection(
        "This turn",
        "Today is ${today}. ${mode}",
        key="turn",
        params=TurnParams,
        default_params=TurnParams(
            today=facts.today,
            mode=prompt_text.MODES.get(facts.mode, ""),
        ),
        role="user",
        stability="workspace",
    )


def _draft(facts: PromptInputs) -> Iterable[Section]:
    """Say what a request for changes is about: the Draft as it was when the turn began."""
    if facts.draft is None:
        return
    said = prompt_text.ABOUT_DRAFT if facts.mode == "ask" else prompt_text.CHANGE_DRAFT
    parts = [prompt_text.DRAFT_SO_FAR, said, prompt_text.DRAFT_READ if facts.tools else ""]
    changed = "\n".join(("Changed so far:", *(facts.draft or ("- nothing",))))
    text = "\n\n".join((" ".join(one.strip() for one in parts if one), changed))
    yield _Text("The Draft so far", text, key="draft", role="user", stability="workspace")


def _tools(facts: PromptInputs) -> Iterable[Section]:
    if facts.tools:
        yield BenchSection(
            prompt_text.TOOLS + prompt_text.WRITES, tools=facts.tools, stability="static"
        )


def _manifest(facts: PromptInputs) -> ManifestParams:
    return ManifestParams(
        complete=facts.complete,
        lines=tuple(one.line for one in facts.listing.files),
        folders=tuple(one.line for one in facts.listing.folders),
    )


def _elsewhere(facts: PromptInputs) -> str:
    """Say of a file at hand that is too large where its content is to be had (W6.14)."""
    return prompt_text.MAP_BY_TOOL if facts.tools else prompt_text.NOT_SHOWN


def _shown(
    key: str, title: str, shown: Shown, stability: Stability, elsewhere: str = ""
) -> Iterable[Section]:
    """Give files with their sizes and, each in its frame, what is in them (W6.4, W6.5)."""
    if not shown.files:
        return
    forms = {one.path: "map" if one.is_map else "file" for one in shown.contents}
    children = [
        _Text(
            _title(one.path),
            delimit(forms[one.path], one.path, one.text),
            key=_file_key(one.path),
            overflow="drop",
            stability=stability,
        )
        for one in shown.contents
    ]
    marks = ((one, _mark(one, forms, shown.failed) or elsewhere) for one in shown.files)
    lines = "\n".join(f"{one.detail}{mark}" for one, mark in marks)
    yield _Text(title, lines, key=key, children=children, role="user", stability=stability)


def _mark(one: FileFact, forms: Mapping[str, str], failed: Mapping[str, str]) -> str:
    """Say where a file's content stands, or why it does not (W6.4, W6.5, W6.8)."""
    if one.path in forms:
        return " — map below" if forms[one.path] == "map" else " — whole text below"
    if one.path in failed:
        return f" — present, but its content is unavailable: {failed[one.path]}"
    return "" if one.readable else " — present, content unavailable"


def _sheets(facts: PromptInputs) -> Iterable[Section]:
    if facts.sheets:
        text = "\n\n".join(facts.sheets.values())
        yield _Text("Operations", text, key="operations", role="user")


def _told(facts: PromptInputs) -> Iterable[Section]:
    told = facts.injected
    if told.situation is not None:
        yield _Text("Situation", told.situation.text, key="situation", stability="workspace")
    if told.skills:
        yield _group("Skills", "skills", told.skills)


def _styles(facts: PromptInputs) -> Iterable[Section]:
    if facts.injected.styles:
        yield _group("Styles", "styles", facts.injected.styles, role="user", stability="turn")


def _left_out(facts: PromptInputs) -> Iterable[Section]:
    if facts.left_out:
        yield _Text("Left out", "\n".join(facts.left_out), key="left-out", role="user")


def _group(
    title: str,
    key: str,
    told: tuple[ContextText, ...],
    *,
    role: Role = "system",
    stability: Stability = "workspace",
) -> Section:
    children = [_Text(_title(one.name), one.text, key=one.key, stability=stability) for one in told]
    return _Text(title, "", key=key, children=children, role=role, stability=stability)


def _artifacts(kind: PromptKind, given: Artifacts) -> Iterable[Section]:
    is_summary = "changes" in kind.artifacts
    is_whole = kind.purpose == "plan"  # what the plan is made of
    texts: dict[str, tuple[str, str]] = {
        "research": (
            "Research",
            given.research if is_whole else cut_bytes(given.research, _RESEARCH_LATER_BYTES),
        ),
        "plan": ("Plan", given.plan),
        "item": ("Current item", given.item),
        "reports": (
            "Reports of finished items",
            _reports(
                given.reports, _REPORTS_IN_SUMMARY_BYTES if is_summary else _REPORTS_IN_ITEM_BYTES
            ),
        ),
        "failure": ("What went wrong before", given.failure),
        "found": ("What earlier calls brought", given.found),
        "changes": ("What changed", _changes(given)),
        "material": ("Material", given.material),
    }
    children = [
        _Text(texts[name][0], delimit("data", name, texts[name][1]), key=name)
        for name in kind.artifacts
        if texts[name][1]
    ]
    if children:
        yield _Text("Artifacts", "", key="artifacts", children=children, role="user")


def _reports(reports: tuple[Report, ...], max_bytes: int) -> str:
    """Return the reports, the newest whole as long as there is room."""
    kept: list[str] = []
    room = max_bytes
    for one in reversed(reports):
        text = f"Item {one.number}: {one.label}\n{one.text}"
        shown = cut_bytes(text, max(room, 0))
        room -= len(shown.encode()) + 2
        if room < 0:
            break
        kept.append(shown)
    left_out = len(reports) - len(kept)
    head = [f"({left_out} earlier reports left out)"] if left_out else []
    return "\n\n".join((*head, *reversed(kept)))


def _changes(given: Artifacts) -> str:
    lines = [
        f"- {one.path} ({one.kind}, {one.size_bytes} bytes){f': {one.summary}' * bool(one.summary)}"
        for one in given.changes
    ]
    said = [f"- {one}" for one in given.outcomes]
    files = "\n".join(("Changed files:", *lines)) if lines else "No file was changed."
    return "\n\n".join((files, *(["\n".join(("To be mentioned:", *said))] if said else [])))


def _request(kind: PromptKind, facts: PromptInputs) -> Iterable[Section]:
    if not kind.conversation and facts.request:
        yield MarkdownSection(
            "Request",
            "${text}",
            key="request",
            params=RequestParams,
            default_params=RequestParams(text=facts.request),
            accepts_overrides=False,
            role="user",
        )


def _file_key(path: str) -> str:
    return f"f-{sha256_hex(path.encode())[:12]}"


def _title(text: str) -> str:
    plain = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return plain[:_TITLE_MAX_CHARS] or "file"
