"""What of a conversation a call is told, in short where it would not fit (W17, M14)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from backshop.bench import clutter
from backshop.models import AdapterBase, Attendant, text_tokens
from backshop.prompts import PromptOverridesStore, Session

from ..conversation import decide
from ..conversation.events import Compressed
from ..conversation.repository import Committed, Conversations, Rule
from ..conversation.state import Turn, WorkshopState
from . import excerpt
from .bundled import build_prompt
from .clutter_report import weights_of
from .compression import compress
from .excerpt import Excerpt
from .gathering import Call, Gathered, Gatherer


class Telling:
    """Chooses what a turn's calls hear of what was said before."""

    def __init__(
        self,
        *,
        book: Conversations,
        gatherer: Gatherer,
        adapter: AdapterBase,
        session: Callable[[], Session],
        overrides: PromptOverridesStore | None,
        turn: Callable[[], Turn],
        commit: Callable[[Rule], Committed],
    ) -> None:
        self._book = book
        self._gatherer = gatherer
        self._adapter = adapter
        self._session = session
        self._overrides = overrides
        self._turn = turn
        self._commit = commit

    def excerpt(self, known: WorkshopState, turn: Turn) -> Excerpt:
        """Return the conversation up to the request, its older part in short if need be (M14)."""
        line = known.line(turn.user_message_id)
        summaries = [one for one in known.records.values() if one.type == "summary_message"]
        summaries.sort(key=lambda one: one.seq)
        given = excerpt.excerpt(line, summaries, turn.note)
        window = self._adapter.window_tokens
        if not excerpt.must_compress(
            given, window_tokens=window, clutter_score=self._score(given, known, window)
        ):
            return given
        return self._shortened(given, known)

    def _score(self, given: Excerpt, known: WorkshopState, window: int) -> float:
        """Return how crowded the bench is (B16.9)."""
        bench_id = known.bench.id
        call = Call(key="research", bench_id=bench_id, window_tokens=window, excerpt=given)
        return clutter(weights_of(self._gatherer, call), window).score

    def fitting(self, call: Call, known: WorkshopState) -> Gathered:
        """Gather a call's facts; one that would not fit gets its conversation in short (M14.1)."""
        gathered = self._gatherer.gather(call)
        if excerpt.split(call.excerpt) is None:
            return gathered
        prompt = build_prompt(call.key, gathered.facts)
        rendered = prompt.preview(session=self._session(), overrides_store=self._overrides)
        needed = rendered.tokens + text_tokens(gathered.facts.conversation_text)
        if not excerpt.must_compress(
            call.excerpt, window_tokens=self._adapter.window_tokens, prompt_tokens=needed
        ):
            return gathered
        return self._gatherer.gather(replace(call, excerpt=self._shortened(call.excerpt, known)))

    def _shortened(self, given: Excerpt, known: WorkshopState) -> Excerpt:
        """Sum up the older part of an excerpt, or leave it out, and record which (M14.2, M14.4)."""
        turn, attendant = self._turn(), Attendant()
        attendant.run_id, attendant.turn_id = turn.run_id, turn.turn_id
        made = compress(
            given,
            bench_id=_bench(known),
            window_tokens=self._adapter.window_tokens,
            gatherer=self._gatherer,
            adapter=self._adapter,
            session=self._session(),
            attendant=attendant,
            overrides_store=self._overrides,
        )
        if made is None:
            return given
        fact = Compressed(
            message_id=self._book.new_message(),
            first_id=known.records[made.first_id].message_id,
            last_id=known.records[made.last_id].message_id,
            count=made.count,
            text=made.text,
            model_id=made.model_id,
            summary_message_id=None if made.fallback else self._book.new_message(),
            fallback=made.fallback,
        )
        self._commit(lambda now: decide.compress(now, fact))
        return made.excerpt


def _bench(known: WorkshopState) -> str:
    return known.bench.id
