"""A stored tag of overrides: its fields, its limits, and what of it applies to a prompt (P3)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from backshop.base.canon import parse
from backshop.base.errors import ValidationFailed
from backshop.base.limits import (
    OVERRIDE_BODY_MAX_BYTES,
    OVERRIDE_FILE_MAX_BYTES,
    OVERRIDE_MAX_ENTRIES,
    OVERRIDE_PROVENANCE_MAX_BYTES,
)
from backshop.prompts.definition.descriptor import (
    Ignored,
    PromptDescriptor,
    Reason,
    Resolved,
    SectionDescriptor,
    SectionOverride,
    ToolDescriptor,
    ToolOverride,
)
from backshop.prompts.definition.template import parse as parse_template
from backshop.prompts.errors import OverridesError, PromptError
from backshop.prompts.name import check_key, check_namespace

FORMAT = 1
_HEX = re.compile(r"[0-9a-f]{64}")
_SECTION_FIELDS = {"mode", "expected_hash", "body", "summary", "provenance"}
_TOOL_FIELDS = {"expected_contract_hash", "description", "params", "provenance"}
_TOP_FIELDS = {"format", "namespace", "prompt_key", "tag", "revision", "sections", "tools"}


@dataclass(frozen=True, slots=True)
class Place:
    """Which prompt and tag a document belongs to; checked before it reaches a disk."""

    namespace: str
    prompt_key: str
    tag: str

    @classmethod
    def of(cls, namespace: str, prompt_key: str, tag: str) -> Place:
        """Return the place, or refuse a name that is no name."""
        check_namespace(namespace, reserved_ok=True, error=OverridesError)
        check_key(prompt_key, "prompt key", error=OverridesError)
        check_key(tag, "tag", error=OverridesError)
        return cls(namespace, prompt_key, tag)

    @property
    def name(self) -> str:
        """How the place is written: `ns/key@tag`."""
        return f"{self.namespace}/{self.prompt_key}@{self.tag}"


@dataclass(frozen=True, slots=True)
class Document:
    """One tag of one prompt as it is stored; entries are kept as they were found."""

    place: Place
    revision: int = 0
    sections: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    tools: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def to_data(self) -> dict[str, Any]:
        """Return the JSON of the file."""
        return {
            "format": FORMAT,
            "namespace": self.place.namespace,
            "prompt_key": self.place.prompt_key,
            "tag": self.place.tag,
            "revision": self.revision,
            "sections": dict(self.sections),
            "tools": dict(self.tools),
        }

    def to_bytes(self) -> bytes:
        """Return the file: sorted keys, two-space indent, final newline."""
        text = json.dumps(self.to_data(), ensure_ascii=False, indent=2, sort_keys=True)
        data = f"{text}\n".encode()
        if len(data) > OVERRIDE_FILE_MAX_BYTES:
            raise _wrong("TOO_LARGE", self.place, "the file would be larger than 1 MiB")
        if len(self.sections) + len(self.tools) > OVERRIDE_MAX_ENTRIES:
            raise _wrong("TOO_LARGE", self.place, f"more than {OVERRIDE_MAX_ENTRIES} entries")
        return data


def read_document(data: bytes, place: Place) -> Document:
    """Return the document of a file; a damaged one is an error, never skipped (P3.7)."""
    if len(data) > OVERRIDE_FILE_MAX_BYTES:
        raise _wrong("TOO_LARGE", place, "the file is larger than 1 MiB")
    try:
        value = parse(data.decode())
    except (ValidationFailed, UnicodeDecodeError) as error:
        raise _wrong("MALFORMED_JSON", place, str(error)) from error
    return check_document(value, place)


def check_document(value: Any, place: Place | None) -> Document:
    """Return parsed JSON as a document, checked field by field."""
    if not isinstance(value, dict):
        raise _wrong("MALFORMED_JSON", place, "not an object")
    if value.get("format") != FORMAT or isinstance(value.get("format"), bool):
        raise _wrong("UNSUPPORTED_VERSION", place, f"format is {value.get('format')!r}")
    names = [value.get(one) for one in ("namespace", "prompt_key", "tag")]
    if not all(isinstance(one, str) for one in names):
        raise _wrong("BAD_FIELD", place, "the header has fields that are not text")
    found = Place.of(*(str(one) for one in names))
    if place is not None and found != place:
        raise _wrong("HEADER_MISMATCH", place, f"the file says it is {found.name}")
    _refuse_unknown(value, _TOP_FIELDS, found, "the file")
    revision = value.get("revision")
    if not isinstance(revision, int) or isinstance(revision, bool) or revision < 1:
        raise _wrong("BAD_FIELD", found, "revision is not a positive integer")
    sections, tools = value.get("sections", {}), value.get("tools", {})
    if not isinstance(sections, dict) or not isinstance(tools, dict):
        raise _wrong("BAD_FIELD", found, "sections and tools are objects")
    if len(sections) + len(tools) > OVERRIDE_MAX_ENTRIES:
        raise _wrong("BAD_FIELD", found, f"more than {OVERRIDE_MAX_ENTRIES} entries")
    for path, entry in sections.items():
        check_section_entry(entry, found, path)
    for name, entry in tools.items():
        check_tool_entry(entry, found, name)
    return Document(found, revision, sections, tools)


def check_section_entry(entry: Any, place: Place, path: str) -> None:
    """Refuse an entry that is not what the format says."""
    for key in path.split("/"):
        check_key(key, "section path", error=OverridesError)
    if not isinstance(entry, dict):
        raise _wrong("BAD_FIELD", place, f"{path} is not an object")
    _refuse_unknown(entry, _SECTION_FIELDS, place, path)
    _check_text(entry, "body", place, path, needed=True)
    _check_text(entry, "summary", place, path)
    _check_hash(entry, "expected_hash", place, path)
    if entry.get("mode", "template") not in ("template", "literal"):
        raise _wrong("BAD_FIELD", place, f"{path}: mode is neither template nor literal")
    _check_provenance(entry, place, path)


def check_tool_entry(entry: Any, place: Place, name: str) -> None:
    """Refuse an entry that is not what the format says."""
    if not isinstance(entry, dict):
        raise _wrong("BAD_FIELD", place, f"tool {name} is not an object")
    _refuse_unknown(entry, _TOOL_FIELDS, place, name)
    _check_hash(entry, "expected_contract_hash", place, name)
    _check_text(entry, "description", place, name)
    _check_texts(entry, "params", place, name)
    _check_provenance(entry, place, name)


def _refuse_unknown(value: dict[str, Any], known: set[str], place: Place, where: str) -> None:
    unknown = value.keys() - known
    if unknown:
        raise _wrong("BAD_FIELD", place, f"{where}: unknown field {min(unknown)!r}")


def _check_text(
    entry: dict[str, Any], name: str, place: Place, where: str, *, needed: bool = False
) -> None:
    value = entry.get(name)
    if value is None and name not in entry and not needed:
        return
    if not isinstance(value, str) or any("\ud800" <= char <= "\udfff" for char in value):
        raise _wrong("BAD_FIELD", place, f"{where}: {name} is not text")


def _check_texts(entry: dict[str, Any], name: str, place: Place, where: str) -> None:
    value = entry.get(name, {})
    if not isinstance(value, dict):
        raise _wrong("BAD_FIELD", place, f"{where}: {name} is not an object")
    for key in value:
        _check_text(value, key, place, f"{where}.{name}", needed=True)


def _check_provenance(entry: dict[str, Any], place: Place, where: str) -> None:
    _check_texts(entry, "provenance", place, where)
    size = len(json.dumps(entry.get("provenance", {}), ensure_ascii=False).encode())
    if size > OVERRIDE_PROVENANCE_MAX_BYTES:
        raise _wrong("BAD_FIELD", place, f"{where}: the provenance is too long")


def _check_hash(entry: dict[str, Any], name: str, place: Place, where: str) -> None:
    value = entry.get(name)
    if not isinstance(value, str) or _HEX.fullmatch(value) is None:
        raise _wrong("BAD_FIELD", place, f"{where}: {name} is not a sha256 in hex")


def _wrong(code: str, place: Place | None, message: str) -> OverridesError:
    where = place.name if place else "bundle"
    return OverridesError(f"overrides {where}: {message}", code=code, path=where)


def resolve_document(document: Document | None, descriptor: PromptDescriptor) -> Resolved:
    """Return what of a document applies to a prompt, and why the rest does not (P3.6)."""
    if document is None:
        return Resolved()
    sections, tools, ignored = {}, {}, []
    for path, reason in section_reasons(document, descriptor):
        if reason is None:
            sections[path] = _section(document.sections[path])
        else:
            ignored.append(Ignored(path, reason, document.revision))
    for name, reason in tool_reasons(document, descriptor):
        if reason is None:
            tools[name] = _tool(document.tools[name])
        else:
            ignored.append(Ignored(f"tool:{name}", reason, document.revision))
    return Resolved(True, document.revision, sections, tools, tuple(ignored))


def section_reasons(
    document: Document, descriptor: PromptDescriptor
) -> Iterator[tuple[str, Reason | None]]:
    """Yield each section entry with None if it applies, else the reason it does not."""
    for path, entry in sorted(document.sections.items()):
        found = descriptor.section(path)
        if found is None:
            known = path in descriptor.fixed
            yield path, Reason.NOT_OVERRIDABLE if known else Reason.UNKNOWN_PATH
        elif entry["expected_hash"] != found.content_hash:
            yield path, Reason.STALE_HASH
        else:
            yield path, body_reason(entry["body"], entry.get("mode", "template"), found)


def body_reason(body: str, mode: str, section: SectionDescriptor) -> Reason | None:
    """Return why a text cannot stand in for a section's, or None if it can."""
    if len(body.encode()) > OVERRIDE_BODY_MAX_BYTES:
        return Reason.TOO_LARGE
    if mode not in section.modes:
        return Reason.MODE_MISMATCH
    if mode == "literal":
        return None
    try:
        slots = parse_template(body).slots
    except PromptError:
        return Reason.BAD_PLACEHOLDER
    fits = all(
        slot.name in section.fields and (slot.alone or slot.name not in section.blocks)
        for slot in slots
    )
    return None if fits else Reason.BAD_PLACEHOLDER


def tool_reasons(
    document: Document, descriptor: PromptDescriptor
) -> Iterator[tuple[str, Reason | None]]:
    """Yield each tool entry with None if it applies, else the reason it does not."""
    for name, entry in sorted(document.tools.items()):
        found = descriptor.tool(name)
        if found is None:
            yield name, Reason.UNKNOWN_TOOL
        else:
            yield name, tool_reason(entry, found)


def tool_reason(entry: Mapping[str, Any], tool: ToolDescriptor) -> Reason | None:
    """Return why an entry does not apply to a tool, or None if it does."""
    if entry["expected_contract_hash"] != tool.contract_hash:
        return Reason.STALE_TOOL
    texts = [entry.get("description", ""), *entry.get("params", {}).values()]
    if any(len(text.encode()) > OVERRIDE_BODY_MAX_BYTES for text in texts):
        return Reason.TOO_LARGE
    return None if set(entry.get("params", {})) <= set(tool.params) else Reason.STALE_TOOL


def _section(entry: Mapping[str, Any]) -> SectionOverride:
    return SectionOverride(
        mode=entry.get("mode", "template"),
        body=entry["body"],
        expected_hash=entry["expected_hash"],
        summary=entry.get("summary"),
        provenance=entry.get("provenance", {}),
    )


def _tool(entry: Mapping[str, Any]) -> ToolOverride:
    return ToolOverride(
        expected_contract_hash=entry["expected_contract_hash"],
        description=entry.get("description"),
        params=entry.get("params", {}),
        provenance=entry.get("provenance", {}),
    )
