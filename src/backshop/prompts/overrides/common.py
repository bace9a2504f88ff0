"""What every overrides store does alike; a kind of store adds how a document is kept."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from backshop.base.ambient import Clock, SystemClock, timestamp
from backshop.prompts.definition.descriptor import (
    DEFAULT_TAG,
    Mode,
    OnConflict,
    PromptDescriptor,
    Reason,
    Resolved,
    SectionDescriptor,
    SectionKey,
    Seedable,
)
from backshop.prompts.errors import OverridesError

from .document import (
    Document,
    Place,
    body_reason,
    check_document,
    check_section_entry,
    check_tool_entry,
    resolve_document,
    section_reasons,
    tool_reason,
    tool_reasons,
)

Change = Callable[[Document], Document]
BUNDLE_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Finding:
    """An entry as `doctor` shows it: `ok`, or the reason it does not apply."""

    entry: str
    state: str
    provenance: Mapping[str, str]


class DocumentStore(ABC):
    """The protocol of P3.14 over four primitives on documents."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()

    @abstractmethod
    def _read(self, place: Place) -> Document | None:
        """Return the document of a place, or None."""

    @abstractmethod
    def _change(self, place: Place, change: Change, if_revision: int | None) -> Document:
        """Apply a pure change under the place's lock and store revision + 1."""

    @abstractmethod
    def _remove(self, place: Place) -> None:
        """Forget a place; a missing one is fine."""

    @abstractmethod
    def _places(self) -> Iterator[Place]:
        """Yield every place, in no particular order."""

    def resolve(self, descriptor: PromptDescriptor, tag: str = DEFAULT_TAG) -> Resolved:
        """Return what applies to this prompt under `tag`, and what cannot."""
        place = Place.of(descriptor.namespace, descriptor.key, tag)
        return resolve_document(self._read(place), descriptor)

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
        """Store a section's text; return the new revision.

        The descriptor may be left out if `section` came from `prompt.find_section_key`.
        """
        place = Place.of(namespace, prompt_key, tag)
        found = find_entry(place, section, descriptor)
        entry: dict[str, Any] = {
            "mode": mode or found.mode,
            "expected_hash": found.content_hash,
            "body": body,
        }
        if summary is not None:
            entry["summary"] = summary
        if provenance:
            entry["provenance"] = dict(provenance)
        check_section_entry(entry, place, found.path)
        reason = body_reason(body, entry["mode"], found)
        if reason is not None:
            raise OverridesError(
                f"this text cannot stand in for {found.path}", code=reason, path=found.path
            )

        def change(now: Document) -> Document:
            return replace(now, sections={**now.sections, found.path: entry})

        return self._change(place, change, if_revision).revision

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
        """Store a tool's description; return the new revision."""
        place = Place.of(namespace, prompt_key, tag)
        _check_identity(place, descriptor)
        found = descriptor.tool(tool)
        if found is None:
            raise OverridesError(f"{tool!r} takes no override", code=Reason.UNKNOWN_TOOL)
        if set(params or {}) - set(found.params):
            raise OverridesError(f"{tool!r} has no such parameter", code="BAD_FIELD")
        entry: dict[str, Any] = {"expected_contract_hash": found.contract_hash}
        if description is not None:
            entry["description"] = description
        if params:
            entry["params"] = dict(params)
        if provenance:
            entry["provenance"] = dict(provenance)
        check_tool_entry(entry, place, tool)
        reason = tool_reason(entry, found)
        if reason is not None:
            raise OverridesError(f"this text cannot stand in for that of {tool}", code=reason)

        def change(now: Document) -> Document:
            return replace(now, tools={**now.tools, tool: entry})

        return self._change(place, change, if_revision).revision

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
        """Remove one entry if it is there; return the revision."""
        place = Place.of(namespace, prompt_key, tag)
        path = "/".join(section) if isinstance(section, tuple) else section
        before = self._read(place)
        if before is None or (path not in before.sections and tool not in before.tools):
            return before.revision if before else 0

        def change(now: Document) -> Document:
            return replace(
                now,
                sections={one: entry for one, entry in now.sections.items() if one != path},
                tools={one: entry for one, entry in now.tools.items() if one != tool},
            )

        return self._change(place, change, if_revision).revision

    def delete(self, namespace: str, prompt_key: str, tag: str) -> None:
        """Remove a tag; a missing one is fine."""
        self._remove(Place.of(namespace, prompt_key, tag))

    def tags(self, namespace: str, prompt_key: str) -> tuple[str, ...]:
        """Return the tags of a prompt, sorted."""
        return tuple(
            sorted(
                place.tag
                for place in self._places()
                if (place.namespace, place.prompt_key) == (namespace, prompt_key)
            )
        )

    def prompts(self) -> tuple[tuple[str, str], ...]:
        """Return the (namespace, key) pairs that have any tag, sorted."""
        return tuple(sorted({(place.namespace, place.prompt_key) for place in self._places()}))

    def load(self, namespace: str, prompt_key: str, tag: str) -> dict[str, Any] | None:
        """Return a tag as it is stored, or None."""
        found = self._read(Place.of(namespace, prompt_key, tag))
        return None if found is None else found.to_data()

    def seed(self, prompt: Seedable, tag: str = DEFAULT_TAG) -> dict[str, Any]:
        """Create a tag from the prompt's own texts, or return the one there is, untouched."""
        own = prompt.descriptor
        place = Place.of(own.namespace, own.key, tag)
        there = self._read(place)
        if there is not None:
            return there.to_data()
        hashes = {one.path: one.content_hash for one in own.sections}
        contracts = {one.name: one.contract_hash for one in own.tools}
        sections = {
            path: {"mode": "template", "expected_hash": hashes[path], "body": text}
            for path, text in prompt.templates.items()
        }
        tools = {
            name: {"expected_contract_hash": contracts[name], "description": text}
            for name, text in prompt.tool_texts.items()
        }

        def change(now: Document) -> Document:
            return now if now.revision else replace(now, sections=sections, tools=tools)

        return self._change(place, change, None).to_data()

    def export(
        self, namespace: str | None = None, prompt_key: str | None = None, tag: str | None = None
    ) -> dict[str, Any]:
        """Return a bundle of every matching tag (P3.16)."""
        wanted = (namespace, prompt_key, tag)
        places = [
            place
            for place in self._places()
            if all(
                want in (None, has)
                for want, has in zip(
                    wanted, (place.namespace, place.prompt_key, place.tag), strict=True
                )
            )
        ]
        found = [self._read(place) for place in sorted(places, key=lambda place: place.name)]
        return {
            "format": BUNDLE_FORMAT,
            "exported_at": timestamp(self._clock.now_ms()),
            "files": [one.to_data() for one in found if one is not None],
        }

    def import_(
        self, bundle: Mapping[str, Any], *, on_conflict: OnConflict = "fail"
    ) -> tuple[str, ...]:
        """Check a whole bundle, then store it; return what was written as `ns/key@tag`."""
        documents = _bundled(bundle)
        if on_conflict not in ("fail", "skip", "replace"):
            raise OverridesError(f"{on_conflict!r} is no choice", code="BAD_FIELD")
        taken = [one.place for one in documents if self._read(one.place) is not None]
        if taken and on_conflict == "fail":
            raise OverridesError(f"{taken[0].name} exists already", code="CONFLICT")
        written = []
        for document in documents:
            if document.place in taken and on_conflict == "skip":
                continue
            if self._put(document, over=on_conflict == "replace"):
                written.append(document.place.name)
            elif on_conflict == "fail":
                raise OverridesError(f"{document.place.name} exists already", code="CONFLICT")
        return tuple(written)

    def _put(self, document: Document, *, over: bool) -> bool:
        """Store a document as it is; `over` another one as its next revision, else not at all.

        False where somebody stored another one since it was looked for, which stays.
        """
        is_stored = True

        def change(now: Document) -> Document:
            nonlocal is_stored
            is_stored = over or not now.revision
            if not is_stored:
                return now
            # `_change` counts one up: a fresh place keeps the revision it was exported with.
            base = now.revision or document.revision - 1
            return replace(document, revision=base)

        self._change(document.place, change, None)
        return is_stored

    def check_writable(
        self, descriptor: PromptDescriptor, tag: str, section: str | tuple[str, ...]
    ) -> None:
        """Raise what `set_override` would raise for this place, writing nothing."""
        place = Place.of(descriptor.namespace, descriptor.key, tag)
        find_entry(place, section, descriptor)
        self._require_writable(place)

    def _require_writable(self, place: Place) -> None:
        """Raise if a write could not succeed; a kind of store that can tell more adds to it."""
        self._read(place)

    def doctor(self, descriptor: PromptDescriptor, tag: str = DEFAULT_TAG) -> tuple[Finding, ...]:
        """Return every entry of a tag with its state and provenance (P3.16, P3.18)."""
        document = self._read(Place.of(descriptor.namespace, descriptor.key, tag))
        if document is None:
            return ()
        found = [
            Finding(path, reason or "ok", document.sections[path].get("provenance", {}))
            for path, reason in section_reasons(document, descriptor)
        ]
        found += [
            Finding(f"tool:{name}", reason or "ok", document.tools[name].get("provenance", {}))
            for name, reason in tool_reasons(document, descriptor)
        ]
        return tuple(found)

    def rebase(self, descriptor: PromptDescriptor, tag: str, section: str) -> int:
        """Bind a stale entry to the section's wording of today; return the new revision."""
        place = Place.of(descriptor.namespace, descriptor.key, tag)
        found = find_entry(place, section, descriptor)
        before = self._read(place)
        if before is None or found.path not in before.sections:
            raise OverridesError(f"nothing is stored for {found.path}", code=Reason.UNKNOWN_PATH)

        def change(now: Document) -> Document:
            entry = {**now.sections[found.path], "expected_hash": found.content_hash}
            return replace(now, sections={**now.sections, found.path: entry})

        return self._change(place, change, None).revision


def require_revision(document: Document, if_revision: int | None) -> None:
    """Refuse a write made on another revision."""
    if if_revision is not None and if_revision != document.revision:
        raise OverridesError(
            f"{document.place.name} is at revision {document.revision}", code="REVISION_CONFLICT"
        )


def find_entry(
    place: Place, section: str | tuple[str, ...], descriptor: PromptDescriptor | None
) -> SectionDescriptor:
    """Return the section an override is for: by path, or by a key that is unique."""
    if descriptor is None and isinstance(section, SectionKey):
        descriptor, section = section.descriptor, section.path
    if descriptor is None:
        raise OverridesError(
            "without a descriptor no hash can be stored; pass one, or a key from find_section_key",
            code="DESCRIPTOR_NEEDED",
        )
    _check_identity(place, descriptor)
    path = "/".join(section) if isinstance(section, tuple) else str(section)
    exact = descriptor.section(path)
    if exact is not None:
        return exact
    alike = [one for one in descriptor.sections if one.path.split("/")[-1] == path]
    if len(alike) == 1:
        return alike[0]
    code = Reason.NOT_OVERRIDABLE if path in descriptor.fixed else Reason.UNKNOWN_PATH
    raise OverridesError(
        f"{path!r} names {len(alike)} sections", code="AMBIGUOUS_SECTION" if alike else code
    )


def _check_identity(place: Place, descriptor: PromptDescriptor) -> None:
    if (place.namespace, place.prompt_key) != (descriptor.namespace, descriptor.key):
        raise OverridesError(
            f"the descriptor is of {descriptor.namespace}/{descriptor.key}", code="HEADER_MISMATCH"
        )


def _bundled(bundle: Mapping[str, Any]) -> list[Document]:
    files = bundle.get("files") if isinstance(bundle, Mapping) else None
    if not isinstance(files, list) or bundle.get("format") != BUNDLE_FORMAT:
        raise OverridesError("this is no bundle of overrides", code="UNSUPPORTED_VERSION")
    documents = [check_document(one, None) for one in files]
    if len({one.place for one in documents}) != len(documents):
        raise OverridesError("the bundle names a tag twice", code="BAD_FIELD")
    return documents
