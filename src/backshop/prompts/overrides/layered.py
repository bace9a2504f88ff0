"""Layers of overrides: the first layer whose entry applies wins; writes go to the first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from backshop.prompts.definition.descriptor import (
    DEFAULT_TAG,
    Mode,
    OnConflict,
    PromptDescriptor,
    PromptOverridesStore,
    Resolved,
    SectionOverride,
    Seedable,
    ToolOverride,
)
from backshop.prompts.errors import OverridesError

from .common import BUNDLE_FORMAT


class LayeredOverridesStore:
    """Several stores seen as one: a project's before a person's (P3.17)."""

    def __init__(self, layers: Sequence[PromptOverridesStore]) -> None:
        if not layers:
            raise OverridesError("layers of overrides need at least one store", code="BAD_FIELD")
        self.layers = tuple(layers)

    def resolve(self, descriptor: PromptDescriptor, tag: str = DEFAULT_TAG) -> Resolved:
        """Return, per entry, what the first layer that applies says."""
        answers = [layer.resolve(descriptor, tag) for layer in self.layers]
        sections: dict[str, SectionOverride] = {}
        tools: dict[str, ToolOverride] = {}
        for answer in reversed(answers):
            sections.update(answer.sections)
            tools.update(answer.tools)
        found = next((answer for answer in answers if answer.found), Resolved())
        ignored = tuple(one for answer in answers for one in answer.ignored)
        return Resolved(found.found, found.revision, sections, tools, ignored)

    def set_override(
        self,
        namespace: str,
        prompt_key: str,
        tag: str,
        section: str | tuple[str, ...],
        body: str,
        *,
        descriptor: PromptDescriptor | None = None,
        mode: Mode | None = None,
        summary: str | None = None,
        provenance: Mapping[str, str] | None = None,
        if_revision: int | None = None,
    ) -> int:
        """Store a section's text in the first layer."""
        return self.layers[0].set_override(
            namespace,
            prompt_key,
            tag,
            section,
            body,
            descriptor=descriptor,
            mode=mode,
            summary=summary,
            provenance=provenance,
            if_revision=if_revision,
        )

    def set_tool_override(
        self,
        namespace: str,
        prompt_key: str,
        tag: str,
        tool: str,
        *,
        descriptor: PromptDescriptor,
        description: str | None = None,
        params: Mapping[str, str] | None = None,
        provenance: Mapping[str, str] | None = None,
        if_revision: int | None = None,
    ) -> int:
        """Store a tool's description in the first layer."""
        return self.layers[0].set_tool_override(
            namespace,
            prompt_key,
            tag,
            tool,
            descriptor=descriptor,
            description=description,
            params=params,
            provenance=provenance,
            if_revision=if_revision,
        )

    def unset(
        self,
        namespace: str,
        prompt_key: str,
        tag: str,
        *,
        section: str | tuple[str, ...] | None = None,
        tool: str | None = None,
        if_revision: int | None = None,
    ) -> int:
        """Remove one entry of the first layer."""
        return self.layers[0].unset(
            namespace, prompt_key, tag, section=section, tool=tool, if_revision=if_revision
        )

    def delete(self, namespace: str, prompt_key: str, tag: str) -> None:
        """Remove a tag of the first layer."""
        self.layers[0].delete(namespace, prompt_key, tag)

    def tags(self, namespace: str, prompt_key: str) -> tuple[str, ...]:
        """Return the tags of any layer, sorted."""
        return tuple(
            sorted({tag for layer in self.layers for tag in layer.tags(namespace, prompt_key)})
        )

    def prompts(self) -> tuple[tuple[str, str], ...]:
        """Return the prompts of any layer, sorted."""
        return tuple(sorted({one for layer in self.layers for one in layer.prompts()}))

    def load(self, namespace: str, prompt_key: str, tag: str) -> dict[str, Any] | None:
        """Return a tag from the first layer that has it, or None."""
        answers = (layer.load(namespace, prompt_key, tag) for layer in self.layers)
        return next((answer for answer in answers if answer is not None), None)

    def seed(self, prompt: Seedable, tag: str = DEFAULT_TAG) -> dict[str, Any]:
        """Create a tag in the first layer, or return the one there is."""
        return self.layers[0].seed(prompt, tag)

    def export(
        self, namespace: str | None = None, prompt_key: str | None = None, tag: str | None = None
    ) -> dict[str, Any]:
        """Return a bundle of every matching tag; of tags in several layers, the first one's."""
        bundles = [layer.export(namespace, prompt_key, tag) for layer in self.layers]
        files: dict[tuple[str, str, str], dict[str, Any]] = {}
        for bundle in reversed(bundles):
            for one in bundle["files"]:
                files[(one["namespace"], one["prompt_key"], one["tag"])] = one
        return {
            "format": BUNDLE_FORMAT,
            "exported_at": bundles[0]["exported_at"],
            "files": [files[key] for key in sorted(files)],
        }

    def import_(
        self, bundle: Mapping[str, Any], *, on_conflict: OnConflict = "fail"
    ) -> tuple[str, ...]:
        """Store a bundle in the first layer."""
        return self.layers[0].import_(bundle, on_conflict=on_conflict)

    def check_writable(
        self, descriptor: PromptDescriptor, tag: str, section: str | tuple[str, ...]
    ) -> None:
        """Ask the first layer."""
        self.layers[0].check_writable(descriptor, tag, section)
