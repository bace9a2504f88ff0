"""`Prompts`: the prompts of a home and what people stored in place of their words (P7.12)."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from backshop.base import codec
from backshop.base.command import Nothing
from backshop.base.errors import NotFound, ValidationFailed

from . import answers, requests
from .definition.lint import lint
from .definition.output import output_schema
from .definition.prompt import Prompt
from .overrides import DocumentStore

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

    def list(self, _: Nothing) -> answers.PromptList:
        """Return every prompt."""
        rows = (
            answers.PromptRow(
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
        return answers.PromptList(prompts=tuple(rows))

    def get(self, wish: requests.PromptName) -> answers.PromptShown:
        """Return a prompt with its sections and its descriptor."""
        one = self.find(wish.namespace, wish.key)
        fields = {entry.path: entry.fields for entry in one.descriptor.sections}
        return answers.PromptShown(
            namespace=wish.namespace,
            key=wish.key,
            name=one.display_name,
            purpose=one.purpose,
            descriptor=one.descriptor,
            sections=tuple(
                answers.SectionRow(
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

    def render(self, wish: requests.RenderRequest) -> answers.PromptRender:
        """Return exactly what a model would receive; no model is called and nothing recorded.

        `params` holds the values of each params type under the type's name.
        """
        one = self.find(wish.namespace, wish.key)
        _require_free(wish.tag)
        rendered = one.preview(
            *_values(one, wish.params),
            overrides_store=self.overrides,
            overrides_tag=wish.tag,
            response_format=wish.response_format,
            budget_tokens=wish.budget_tokens,
        )
        return answers.rendered_row(rendered)

    def lint(self, wish: requests.PromptFilter) -> answers.Findings:
        """Return what is legal and still not wise in the prompts asked for."""
        rows = (
            answers.FindingRow(
                code=found.code,
                message=found.message,
                path=found.path,
                namespace=one.namespace,
                key=one.key,
            )
            for one in self._chosen(wish.namespace, wish.key)
            for found in lint(one)
        )
        return answers.Findings(findings=tuple(rows))

    def overrides_list(self, wish: requests.PromptFilter) -> answers.TagList:
        """Return every stored tag, also of prompts that are not known here."""
        rows = []
        for space, name in self.overrides.prompts():
            if wish.namespace in (None, space) and wish.key in (None, name):
                rows += [self._tag(space, name, tag) for tag in self._tags(space, name)]
        return answers.TagList(tags=tuple(rows))

    def _tags(self, namespace: str, key: str) -> tuple[str, ...]:
        found = self.overrides.tags(namespace, key)
        return tuple(tag for tag in found if _BENCH_TAG.fullmatch(tag) is None)

    def _tag(self, namespace: str, key: str, tag: str) -> answers.TagRow:
        data = self._stored(namespace, key, tag)
        names = (*data["sections"], *(f"tool:{name}" for name in data["tools"]))
        return answers.TagRow(
            namespace=namespace,
            key=key,
            tag=tag,
            revision=data["revision"],
            entries=tuple(sorted(names)),
        )

    def overrides_get(self, wish: requests.TaggedPrompt) -> answers.Stored:
        """Return a tag as it is stored.

        Raises:
            NotFound: `unknown_tag`.
        """
        return answers.Stored(document=self._stored(wish.namespace, wish.key, wish.tag))

    def _stored(self, namespace: str, key: str, tag: str) -> dict[str, Any]:
        _require_free(tag)
        found = self.overrides.load(namespace, key, tag)
        if found is None:
            raise NotFound(
                f"nothing is stored for {namespace} {key} under {tag!r}", reason="unknown_tag"
            )
        return found

    def overrides_set(self, wish: requests.SetRequest) -> answers.Revised:
        """Store the text of a section or of a tool."""
        descriptor = self.find(wish.namespace, wish.key).descriptor
        _require_free(wish.tag)
        if (wish.section is None) == (wish.tool is None):
            raise ValidationFailed("name a section or a tool", reason="bad_request")
        note = {"source": "user"}
        if wish.section is not None:
            revision = self.overrides.set_override(
                wish.namespace,
                wish.key,
                wish.tag,
                wish.section,
                wish.body,
                descriptor=descriptor,
                mode=wish.mode,
                provenance=note,
                if_revision=wish.if_revision,
            )
            return answers.Revised(revision=revision)
        revision = self.overrides.set_tool_override(
            wish.namespace,
            wish.key,
            wish.tag,
            wish.tool or "",
            descriptor=descriptor,
            description=wish.body,
            provenance=note,
            if_revision=wish.if_revision,
        )
        return answers.Revised(revision=revision)

    def overrides_unset(self, wish: requests.UnsetRequest) -> answers.Revised:
        """Remove one entry."""
        _require_free(wish.tag)
        revision = self.overrides.unset(
            wish.namespace,
            wish.key,
            wish.tag,
            section=wish.section,
            tool=wish.tool,
            if_revision=wish.if_revision,
        )
        return answers.Revised(revision=revision)

    def overrides_delete(self, wish: requests.TaggedPrompt) -> Nothing:
        """Remove a tag."""
        _require_free(wish.tag)
        self.overrides.delete(wish.namespace, wish.key, wish.tag)
        return Nothing()

    def overrides_seed(self, wish: requests.TaggedPrompt) -> answers.Stored:
        """Create a tag from the prompt's own words, or return the one there is."""
        _require_free(wish.tag)
        prompt = self.find(wish.namespace, wish.key)
        return answers.Stored(document=self.overrides.seed(prompt, wish.tag))

    def overrides_export(self, wish: requests.PromptFilter) -> answers.Bundle:
        """Return a bundle of every matching tag."""
        bundle = self.overrides.export(wish.namespace, wish.key, wish.tag)
        files = [one for one in bundle["files"] if _BENCH_TAG.fullmatch(one["tag"]) is None]
        return answers.Bundle(bundle={**bundle, "files": files})

    def overrides_import(self, wish: requests.ImportRequest) -> answers.Imported:
        """Store a bundle; say what was written."""
        files = wish.bundle.get("files")
        for one in files if isinstance(files, list) else ():
            if isinstance(one, Mapping) and isinstance(one.get("tag"), str):
                _require_free(one["tag"])
        written = self.overrides.import_(wish.bundle, on_conflict=wish.on_conflict)
        return answers.Imported(written=written)

    def overrides_doctor(self, wish: requests.PromptFilter) -> answers.Doctored:
        """Return every stored entry with `ok` or the reason it does not apply."""
        rows = []
        for row in self.overrides_list(wish).tags:
            if wish.tag not in (None, row.tag):
                continue
            known = self._prompts.get((row.namespace, row.key))
            found = self.overrides.doctor(known.descriptor, row.tag) if known else ()
            states = {one.entry: (one.state, dict(one.provenance)) for one in found}
            for entry in row.entries:
                state, provenance = states.get(entry, ("UNKNOWN_PROMPT", {}))
                rows.append(
                    answers.EntryRow(
                        namespace=row.namespace,
                        key=row.key,
                        tag=row.tag,
                        entry=entry,
                        state=str(state),
                        provenance=provenance,
                    )
                )
        return answers.Doctored(entries=tuple(rows))

    def overrides_rebase(self, wish: requests.RebaseRequest) -> answers.Rebased:
        """Show how an entry differs from today's wording and, confirmed, bind it to that."""
        one = self.find(wish.namespace, wish.key)
        stored = self._stored(wish.namespace, wish.key, wish.tag)["sections"].get(wish.section)
        if stored is None:
            raise NotFound(f"nothing is stored for {wish.section}", reason="unknown_entry")
        source = one.templates.get(wish.section, "")
        lines = difflib.unified_diff(
            source.split("\n"), stored["body"].split("\n"), "source", "override", lineterm=""
        )
        revision = None
        if wish.confirm:
            revision = self.overrides.rebase(one.descriptor, wish.tag, wish.section)
        return answers.Rebased(entry=wish.section, diff="\n".join(lines), revision=revision)

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
