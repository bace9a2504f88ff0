"""The bundled prompts: facts in, a prompt out (P7.1–P7.4).

Every call of the Workshop is one of these prompts; nothing else puts prompt text together. Values
stand in sections as they are and are never read as templates.
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
    Section,
    WorkspaceDigest,
    delimit,
)

from ..cut import cut_bytes
from . import text as prompt_text
from .context_prompt import ContextAnswer
from .inputs import Artifacts, PromptInputs, Report

NAMESPACE = "backshop/workshop"
_TITLE_MAX_CHARS = 120
_RESEARCH_IN_SUMMARY_BYTES = 16 * KIB  # W6.2
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
        "research": PromptKind("Research", "research", conversation=True),
        "plan": PromptKind("Plan", "plan", ("research",)),
        "implement": PromptKind("Implement", "implement", ("plan", "item", "reports", "failure")),
        "summary": PromptKind("Summary", "summary", ("research", "plan", "reports", "changes")),
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
    today: date


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
        _phase(key, kind, facts),
        *_tools(key, facts),
        _Manifest(_manifest(facts)),
        *_contents(facts),
        WorkspaceDigest(overflow="summary"),
        *_told(facts),
        *_artifacts(kind, facts.artifacts),
        *_request(kind, facts),
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
    shown = "(the text of this step in the workflow wr.rpi)"
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
    many = facts.max_turns > 1
    return MarkdownSection(
        "This phase",
        "${step}\n\n${budget}\n\n${notes}\nToday is ${today}.",
        key="phase",
        params=PhaseParams,
        default_params=PhaseParams(
            step=step,
            budget=prompt_text.BUDGET.format(facts.max_turns) if many else prompt_text.BUDGET_ONE,
            notes=facts.notes,
            today=facts.today,
        ),
        stability="static",
    )


def _tools(key: str, facts: PromptInputs) -> Iterable[Section]:
    if not facts.tools:
        return
    writes = any(tool.effects == "write" for tool in facts.tools)
    text = prompt_text.TOOLS + (prompt_text.WRITES if writes else "")
    yield BenchSection(text, tools=facts.tools, stability="static")


def _manifest(facts: PromptInputs) -> ManifestParams:
    shown = {one.path: one.is_map for one in facts.contents}
    can_map = any(tool.name == "get_file_map" for tool in facts.tools)
    return ManifestParams(
        complete=facts.complete,
        lines=tuple(
            f"{one.line}{_mark(one, shown, facts, can_map)}" for one in facts.listing.files
        ),
        folders=tuple(one.line for one in facts.listing.folders),
    )


def _mark(one: FileFact, shown: Mapping[str, bool], facts: PromptInputs, can_map: bool) -> str:
    """Say where a file's content stands, or why it does not (W6.4, W6.5, W6.8)."""
    if one.path in shown:
        return " — map below" if shown[one.path] else " — whole text below"
    if one.path in facts.failed:
        return f" — present, but its content is unavailable: {facts.failed[one.path]}"
    if not one.readable:
        return " — present, content unavailable"
    return " — map: use get_file_map" if can_map else ""


def _contents(facts: PromptInputs) -> Iterable[Section]:
    maps = [one for one in facts.contents if one.is_map]
    texts = [one for one in facts.contents if not one.is_map]
    if maps:
        children = [
            _Text(
                _title(one.path),
                delimit("map", one.path, one.text),
                key=_file_key(one.path),
                stability="workspace",
            )
            for one in maps
        ]
        yield _Text("Maps", "", key="maps", children=children, stability="workspace")
    if texts:
        children = [
            _Text(
                _title(one.path),
                delimit("file", one.path, one.text),
                key=_file_key(one.path),
                overflow="drop",
                stability="workspace",
            )
            for one in texts
        ]
        yield _Text("Small files", "", key="inline-files", children=children, stability="workspace")


def _told(facts: PromptInputs) -> Iterable[Section]:
    told = facts.injected
    if told.situation is not None:
        yield _Text("Situation", told.situation.text, key="situation", stability="workspace")
    if told.skills:
        yield _group("Skills", "skills", told.skills, "workspace")
    if told.styles:
        yield _group("Styles", "styles", told.styles, "turn")


def _group(title: str, key: str, told: tuple[ContextText, ...], stability: str) -> Section:
    children = [_Text(_title(one.name), one.text, key=one.key, stability=stability) for one in told]
    return _Text(title, "", key=key, children=children, stability=stability)


def _artifacts(kind: PromptKind, given: Artifacts) -> Iterable[Section]:
    is_summary = "changes" in kind.artifacts
    texts: dict[str, tuple[str, str]] = {
        "research": (
            "Research",
            cut_bytes(given.research, _RESEARCH_IN_SUMMARY_BYTES) if is_summary else given.research,
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
        "changes": ("What changed", _changes(given)),
        "material": ("Material", given.material),
    }
    children = [
        _Text(texts[name][0], delimit("data", name, texts[name][1]), key=name)
        for name in kind.artifacts
        if texts[name][1]
    ]
    if children:
        yield _Text("Artifacts", "", key="artifacts", children=children)


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
