"""Pinned digests, in the event store, one stream a bench, out of the reach of free tags (P7.7).

A pin describes the files of one bench. It is no override that people name and share, so it is
kept where the bench is kept: every process of a home finds it, and no project's folder holds it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from backshop.base.ambient import Clock
from backshop.base.ids import check_id
from backshop.prompts import (
    DIGEST_KEY,
    LayeredOverridesStore,
    OverridesError,
    Prompt,
    PromptDescriptor,
    PromptOverridesStore,
    Resolved,
    SectionOverride,
    StorePromptOverridesStore,
)
from backshop.store import Store

from ..prompt.bundled import NAMESPACE, build_prompt
from ..prompt.inputs import PromptInputs

PIN_KEY = "research"
"""The prompt whose overrides hold the pinned digest of a bench, for all its prompts."""


def pin_tag(bench_id: str) -> str:
    """Return the tag a bench's pinned digest is kept under; commands about tags refuse it."""
    return check_id(bench_id, "wb").lower()


def pin_stream(bench_id: str) -> str:
    """Return the stream of a bench's pinned digest; it goes when the bench goes."""
    return f"prompt-overrides:{NAMESPACE}:{PIN_KEY}:{pin_tag(bench_id)}"


def bare_prompt(key: str = PIN_KEY) -> Prompt[Any]:
    """Return a bundled prompt without facts, for its descriptor."""
    return build_prompt(key, PromptInputs())


class Pins:
    """The pinned digests of a home; `overrides` is where they were kept before."""

    def __init__(self, store: Store, overrides: PromptOverridesStore, clock: Clock) -> None:
        self._kept = StorePromptOverridesStore(store, clock=clock)
        self._before = overrides

    def of(self, bench_id: str) -> SectionOverride | None:
        """Return what is pinned for a bench, if anything is."""
        found = self.opened(bench_id).resolve(bare_prompt().descriptor, pin_tag(bench_id))
        return found.sections.get(DIGEST_KEY)

    def overrides(self, bench_id: str) -> PromptOverridesStore:
        """Return the overrides that calls about a bench are rendered with."""
        return BenchOverrides(self._before, self, bench_id)

    def opened(self, bench_id: str) -> StorePromptOverridesStore:
        """Return the store that holds the pin of a bench, under `PIN_KEY` and `pin_tag`.

        A pin that is still a file moves here first; it is looked for as long as the bench never
        had one here.
        """
        tag = pin_tag(bench_id)
        if self._kept.load(NAMESPACE, PIN_KEY, tag) is None:
            found = self._before.load(NAMESPACE, PIN_KEY, tag)
            if found is not None:
                self._kept.import_({"format": 1, "files": [found]}, on_conflict="skip")
                with suppress(OverridesError):  # it stands here; a file that stays is not read
                    self._before.delete(NAMESPACE, PIN_KEY, tag)
        return self._kept

    def put(self, bench_id: str, body: str, provenance: Mapping[str, str]) -> None:
        """Pin a text for a bench."""
        self.opened(bench_id).set_override(
            NAMESPACE,
            PIN_KEY,
            pin_tag(bench_id),
            DIGEST_KEY,
            body,
            descriptor=bare_prompt().descriptor,
            mode="literal",
            provenance=provenance,
        )

    def clear(self, bench_id: str) -> None:
        """Forget what is pinned for a bench."""
        tag = pin_tag(bench_id)
        self.opened(bench_id).unset(NAMESPACE, PIN_KEY, tag, section=DIGEST_KEY)


class BenchOverrides(LayeredOverridesStore):
    """The overrides of a home, with the digest that is pinned for one bench."""

    def __init__(self, overrides: PromptOverridesStore, pins: Pins, bench_id: str) -> None:
        super().__init__([overrides])
        self._pins = pins
        self._bench_id = bench_id

    def resolve(self, descriptor: PromptDescriptor, tag: str = "latest") -> Resolved:
        """Return what applies; of digests only the bench's own, whatever prompt asks (P7.7)."""
        found = super().resolve(descriptor, tag)
        if descriptor.namespace != NAMESPACE:
            return found
        own = self._pins.of(self._bench_id)
        sections = {key: one for key, one in found.sections.items() if key != DIGEST_KEY}
        if own is not None:
            sections[DIGEST_KEY] = own
        return Resolved(found.found, found.revision, sections, found.tools, found.ignored)
