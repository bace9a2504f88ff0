"""Sums up the older part of a conversation with one call, or leaves it out and says so (M14)."""

from __future__ import annotations

from dataclasses import dataclass

from backshop.models import AdapterBase, Attendant, PromptEvaluationError
from backshop.prompts import PromptOverridesStore, Session

from . import excerpt as excerpts
from .bundled import build_prompt
from .excerpt import Excerpt
from .gathering import Call, Gatherer
from .inputs import Artifacts

OUTPUT_MAX_TOKENS = 2_000  # M14.2
OMITTED = "omitted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compressed:
    """What was done with the older messages; `fallback` is set when they were left out."""

    excerpt: Excerpt
    first_id: str
    last_id: str
    count: int
    model_id: str
    text: str = ""
    fallback: str | None = None

    @property
    def said(self) -> str:
        """What people are told; calling a cut a summary would be a lie (M14.4)."""
        if self.fallback is None:
            return f"{self.count} earlier messages were summed up for the model."
        return f"{self.count} earlier messages were left out for the model; they did not fit."


def compress(
    given: Excerpt,
    *,
    bench_id: str,
    window_tokens: int,
    gatherer: Gatherer,
    adapter: AdapterBase,
    session: Session,
    attendant: Attendant | None = None,
    overrides_store: PromptOverridesStore | None = None,
) -> Compressed | None:
    """Return the excerpt with a summary in place of its older part; None if there is none.

    A call that fails leaves the older part out instead, and the turn goes on (W17.3). Only the
    person's wish to stop is passed on.

    Raises:
        PromptEvaluationError: the person cancelled.
        ManifestUnavailable: no call may be made without the list of files.
    """
    parts = excerpts.split(given)
    if parts is None:
        return None
    material = excerpts.as_material(parts.older)
    gathered = gatherer.gather(
        Call(
            key="compression",
            bench_id=bench_id,
            window_tokens=window_tokens,
            artifacts=Artifacts(material=material),
            request="Sum up the material.",
        )
    )
    text = ""
    try:
        response = adapter.attended(
            build_prompt("compression", gathered.facts),
            attendant=attendant or Attendant(),
            overrides_store=overrides_store,
            max_output_tokens=OUTPUT_MAX_TOKENS,
            session=session,
        )
        if response.finish_reason in ("stop", "length"):
            text = (response.text or "").strip()
    except PromptEvaluationError as error:
        if error.error.error_code == "USER_CANCELED":
            raise
    return Compressed(
        excerpt=excerpts.summarised(given, text) if text else excerpts.omitted(given),
        first_id=parts.first_id,
        last_id=parts.last_id,
        count=parts.count,
        model_id=adapter.model_id,
        text=text,
        fallback=None if text else OMITTED,
    )
