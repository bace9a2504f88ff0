"""The resolve phase: ask the overrides store once per prompt that sections come from (P3.6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..errors import PromptRenderError
from ..name import check_key
from .descriptor import DEFAULT_TAG, PromptDescriptor, PromptOverridesStore, Resolved
from .section import Diagnostic
from .tree import Node

Overrides = dict[tuple[str, str], Resolved]


def resolve(
    own: PromptDescriptor,
    nodes: Sequence[Node],
    store: PromptOverridesStore | None,
    tag: str | None,
) -> tuple[Overrides, tuple[Diagnostic, ...]]:
    """Return what applies, by (namespace, key) of origin, and what was found on the way."""
    if store is None:
        return {}, ()
    name = DEFAULT_TAG if tag is None else check_key(tag, "tag", error=PromptRenderError)
    origins = {(own.namespace, own.key): own}
    for node in nodes:
        if node.origin is not None:
            known = node.origin.descriptor
            origins[(known.namespace, known.key)] = known
    found: Overrides = {}
    diagnostics: list[Diagnostic] = []
    for identity, descriptor in origins.items():
        found[identity] = answer = store.resolve(descriptor, name)
        diagnostics.extend(_ignored(answer, descriptor, name))
    if name != DEFAULT_TAG and not any(one.found for one in found.values()):
        message = f"no overrides are stored under tag {name!r}"
        diagnostics.append(Diagnostic("TAG_NOT_FOUND", message, data={"tag": name}))
    return found, tuple(diagnostics)


def _ignored(resolved: Resolved, descriptor: PromptDescriptor, tag: str) -> Iterator[Diagnostic]:
    for one in resolved.ignored:
        yield Diagnostic(
            "OVERRIDE_IGNORED",
            f"the override of {one.entry} under tag {tag!r} does not apply: {one.reason}",
            one.entry,
            data={
                "namespace": descriptor.namespace,
                "prompt_key": descriptor.key,
                "tag": tag,
                "revision": str(one.revision),
                "entry": one.entry,
                "reason": str(one.reason),
            },
        )
