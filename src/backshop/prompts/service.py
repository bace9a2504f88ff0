"""`Prompts`: the prompts of a home and what people stored in place of their words (P7.12)."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from backshop.base import codec
from backshop.base.errors import NotFound, ValidationFailed

from .definition.descriptor import DEFAULT_TAG, Mode, OnConflict
from .definition.lint import lint
from .definition.output import output_schema
from .definition.prompt import Prompt
from .overrides import DocumentStore
from .rows import (
    EntryRow,
    FindingRow,
    PromptRender,
    PromptRow,
    PromptShown,
    Rebased,
    SectionRow,
    TagRow,
    rendered_row,
)

GROUP = "backshop.prompts"
_BENCH_TAG = re.compile(r"wb_[0-9a-hjkmnp-tv-z]{26}")
"""The id of a bench in lower case: what is kept under it is that bench's alone (P7.7)."""


class Prompts:
    """Prompts by namespace and key, and the store of their overrides.

    A tag that is the id of a bench is none of ours: it is refused, and left out of what is listed.
    """

    def __init__(self, prompts: Iterable[Prompt[Any]], overrides: DocumentStore) -> None:
        self._prompts = {(one.namespace, one.key): one for one in prompts}
        self.overrides = overrides

    def find(self, namespace: str, key: str) -> Prompt[Any]:
        """Return a prompt.

        Raises:
            NotFound: `unknown_prompt`, with those there are as hints.
        """
        found = self._prompts.get((namespace, key))
        if found is None:
            known = tuple(f"{space} {name}" for space, name in sorted(self._prompts))
            raise NotFound(
                f"there is no prompt {namespace} {key}", reason="unknown_prompt", hints=known[:10]
            )
        return found

    def list(self) -> tuple[PromptRow, ...]:
        """Return every prompt."""
        return tuple(
            PromptRow(
                namespace=one.namespace,
                key=one.key,
                name=one.display_name,
                purpose=one.purpose,
                sections=sum(1 for _ in one.walk()),
                tools=tuple(tool.name for node in one.walk() for tool in node.section.tools),
                tags=self._tags(one.namespace, one.key),
            )
            for _, one in sorted(self._prompts.items())
        )

    def get(self, namespace: str, key: str) -> PromptShown:
        """Return a prompt with its sections and its descriptor."""
        one = self.find(namespace, key)
        fields = {entry.path: entry.fields for entry in one.descriptor.sections}
        return PromptShown(
            namespace=namespace,
            key=key,
            name=one.display_name,
            purpose=one.purpose,
            descriptor=one.descriptor,
            sections=tuple(
                SectionRow(
                    path=node.name,
                    number=node.number,
                    title=node.section.title,
                    role=node.section.role,
                    stability=node.section.stability,
                    overridable=node.section.overridable,
                    params=node.section.params.__name__ if node.section.params else None,
                    fields=fields.get(node.name, ()),
                    template=node.section.template(),
                )
                for node in one.walk()
            ),
            output_schema=output_schema(one.output) if one.output is not None else None,
        )

    def render(
        self,
        namespace: str,
        key: str,
        params: Mapping[str, Any],
        *,
        tag: str | None = None,
        response_format: bool = False,
        budget_tokens: int | None = None,
    ) -> PromptRender:
        """Return exactly what a model would receive; no model is called and nothing recorded.

        `params` holds the values of each params type under the type's name.
        """
        one = self.find(namespace, key)
        _require_free(tag)
        rendered = one.preview(
            *_values(one, params),
            overrides_store=self.overrides,
            overrides_tag=tag,
            response_format=response_format,
            budget_tokens=budget_tokens,
        )
        return rendered_row(rendered)

    def lint(self, namespace: str | None = None, key: str | None = None) -> tuple[FindingRow, ...]:
        """Return what is legal and still not wise in the prompts asked for."""
        return tuple(
            FindingRow(
                code=found.code,
                message=found.message,
                path=found.path,
                namespace=one.namespace,
                key=one.key,
            )
            for one in self._chosen(namespace, key)
            for found in lint(one)
        )

    def overrides_list(
        self, namespace: str | None = None, key: str | None = None
    ) -> tuple[TagRow, ...]:
        """Return every stored tag, also of prompts that are not known here."""
        rows = []
        for space, name in self.overrides.prompts():
            if namespace in (None, space) and key in (None, name):
                rows += [self._tag(space, name, tag) for tag in self._tags(space, name)]
        return tuple(rows)

    def _tags(self, namespace: str, key: str) -> tuple[str, ...]:
        found = self.overrides.tags(namespace, key)
        return tuple(tag for tag in found if _BENCH_TAG.fullmatch(tag) is None)

    def _tag(self, namespace: str, key: str, tag: str) -> TagRow:
        data = self.overrides_get(namespace, key, tag)
        names = (*data["sections"], *(f"tool:{name}" for name in data["tools"]))
        return TagRow(
            namespace=namespace,
            key=key,
            tag=tag,
            revision=data["revision"],
            entries=tuple(sorted(names)),
        )

    def overrides_get(self, namespace: str, key: str, tag: str = DEFAULT_TAG) -> dict[str, Any]:
        """Return a tag as it is stored.

        Raises:
            NotFound: `unknown_tag`.
        """
        _require_free(tag)
        found = self.overrides.load(namespace, key, tag)
        if found is None:
            raise NotFound(
                f"nothing is stored for {namespace} {key} under {tag!r}", reason="unknown_tag"
            )
        return found

    def overrides_set(
        self,
        namespace: str,
        key: str,
        tag: str,
        body: str,
        *,
        section: str | None = None,
        tool: str | None = None,
        mode: Mode | None = None,
        if_revision: int | None = None,
    ) -> int:
        """Store the text of a section or of a tool; return the new revision."""
        descriptor = self.find(namespace, key).descriptor
        _require_free(tag)
        if (section is None) == (tool is None):
            raise ValidationFailed("name a section or a tool", reason="bad_request")
        note = {"source": "user"}
        if section is not None:
            return self.overrides.set_override(
                namespace,
                key,
                tag,
                section,
                body,
                descriptor=descriptor,
                mode=mode,
                provenance=note,
                if_revision=if_revision,
            )
        return self.overrides.set_tool_override(
            namespace,
            key,
            tag,
            tool or "",
            descriptor=descriptor,
            description=body,
            provenance=note,
            if_revision=if_revision,
        )

    def overrides_unset(
        self,
        namespace: str,
        key: str,
        tag: str,
        *,
        section: str | None = None,
        tool: str | None = None,
        if_revision: int | None = None,
    ) -> int:
        """Remove one entry; return the revision."""
        _require_free(tag)
        return self.overrides.unset(
            namespace, key, tag, section=section, tool=tool, if_revision=if_revision
        )

    def overrides_delete(self, namespace: str, key: str, tag: str) -> None:
        """Remove a tag."""
        _require_free(tag)
        self.overrides.delete(namespace, key, tag)

    def overrides_seed(self, namespace: str, key: str, tag: str) -> dict[str, Any]:
        """Create a tag from the prompt's own words, or return the one there is."""
        _require_free(tag)
        return self.overrides.seed(self.find(namespace, key), tag)

    def overrides_export(
        self, namespace: str | None = None, key: str | None = None, tag: str | None = None
    ) -> dict[str, Any]:
        """Return a bundle of every matching tag."""
        bundle = self.overrides.export(namespace, key, tag)
        files = [one for one in bundle["files"] if _BENCH_TAG.fullmatch(one["tag"]) is None]
        return {**bundle, "files": files}

    def overrides_import(
        self, bundle: Mapping[str, Any], on_conflict: OnConflict = "fail"
    ) -> tuple[str, ...]:
        """Store a bundle; return what was written."""
        files = bundle.get("files")
        for one in files if isinstance(files, list) else ():
            if isinstance(one, Mapping) and isinstance(one.get("tag"), str):
                _require_free(one["tag"])
        return self.overrides.import_(bundle, on_conflict=on_conflict)

    def overrides_doctor(
        self, namespace: str | None = None, key: str | None = None, tag: str | None = None
    ) -> tuple[EntryRow, ...]:
        """Return every stored entry with `ok` or the reason it does not apply."""
        rows = []
        for row in self.overrides_list(namespace, key):
            if tag not in (None, row.tag):
                continue
            known = self._prompts.get((row.namespace, row.key))
            found = self.overrides.doctor(known.descriptor, row.tag) if known else ()
            states = {one.entry: (one.state, dict(one.provenance)) for one in found}
            for entry in row.entries:
                state, provenance = states.get(entry, ("UNKNOWN_PROMPT", {}))
                rows.append(
                    EntryRow(
                        namespace=row.namespace,
                        key=row.key,
                        tag=row.tag,
                        entry=entry,
                        state=str(state),
                        provenance=provenance,
                    )
                )
        return tuple(rows)

    def overrides_rebase(
        self, namespace: str, key: str, tag: str, section: str, *, confirm: bool = False
    ) -> Rebased:
        """Show how an entry differs from today's wording and, confirmed, bind it to that."""
        one = self.find(namespace, key)
        stored = self.overrides_get(namespace, key, tag)["sections"].get(section)
        if stored is None:
            raise NotFound(f"nothing is stored for {section}", reason="unknown_entry")
        source = one.templates.get(section, "")
        lines = difflib.unified_diff(
            source.split("\n"), stored["body"].split("\n"), "source", "override", lineterm=""
        )
        revision = None
        if confirm:
            revision = self.overrides.rebase(one.descriptor, tag, section)
        return Rebased(entry=section, diff="\n".join(lines), revision=revision)

    def _chosen(self, namespace: str | None, key: str | None) -> Iterable[Prompt[Any]]:
        if namespace is not None and key is not None:
            return (self.find(namespace, key),)
        return tuple(
            one
            for (space, name), one in sorted(self._prompts.items())
            if namespace in (None, space) and key in (None, name)
        )


def _require_free(tag: str | None) -> None:
    if tag is not None and _BENCH_TAG.fullmatch(tag) is not None:
        raise ValidationFailed(
            "what is kept under the id of a workbench is its own digest", reason="bench_tag"
        )


def _values(prompt: Prompt[Any], params: Mapping[str, Any]) -> list[object]:
    types = {one.__name__: one for one in prompt.params_types}
    unknown = sorted(params.keys() - types.keys())
    if unknown:
        raise ValidationFailed(
            f"{unknown[0]!r} is no params type of this prompt",
            reason="bad_request",
            hints=tuple(sorted(types)),
        )
    return [codec.decode(types[name], data) for name, data in sorted(params.items())]


def installed_prompts() -> tuple[Prompt[Any], ...]:
    """Return the prompts that installed packages offer under the entry point `backshop.prompts`.

    An entry point names a Prompt or a list of them; one that fails to load is left out with a
    line in the log.
    """
    import logging
    from importlib.metadata import entry_points

    found: list[Prompt[Any]] = []
    for point in entry_points(group=GROUP):
        try:
            value = point.load()
            several = value if isinstance(value, (list, tuple)) else (value,)
            if not all(isinstance(one, Prompt) for one in several):
                raise TypeError(f"{point.value} is no prompt")
        except Exception:  # somebody else's package: the product runs without it
            logging.getLogger(GROUP).exception("the prompts of %s do not load", point.name)
            continue
        found += several
    return tuple(found)
