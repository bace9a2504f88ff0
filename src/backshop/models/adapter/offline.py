"""The scripted adapter for use without a home: tests, examples, demonstrations (P5.21)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from backshop.base.ambient import SystemClock
from backshop.base.codec import decode

from ..catalog.catalog import SCRIPTED, ProviderRecord, builtin, scripted_model
from ..egress.gate import Egress, EgressKind, Errand, Outgoing
from ..egress.retry import Cancel
from ..egress.stream import complete
from ..errors import EgressBlocked
from ..loop.response import Capabilities
from ..messages import ModelRequest, StreamEvent
from ..script.script import Script, Step
from ..wires.scripted import ScriptedWire, from_file
from .adapter import AdapterBase


class ScriptedAdapter(AdapterBase):
    """Answers from a script. Keeps every request, and knows which steps were not played."""

    def __init__(self, wire: ScriptedWire, name: str) -> None:
        super().__init__(
            adapter_name=SCRIPTED,
            model_id=f"{SCRIPTED}:{name}",
            capabilities=Capabilities(reports_usage=False),
            window_tokens=scripted_model(f"{SCRIPTED}:{name}").context_tokens_estimate,
        )
        self._wire = wire
        self._model = scripted_model(self.model_id)
        self._egress = Egress(clock=SystemClock(), gate=_Shut(), offline=True)

    @property
    def requests(self) -> Sequence[ModelRequest]:
        """Everything that was asked, in order."""
        return tuple(self._wire.requests)

    @property
    def leftover(self) -> tuple[Step, ...]:
        """The steps that were not played as often as they were to be."""
        return self._wire.leftover

    def complete(self, request: ModelRequest, cancel: Cancel) -> Iterator[StreamEvent]:
        """Play the next step; no socket is involved."""
        provider = builtin().provider(SCRIPTED)
        errand = Errand(kind=EgressKind.CALL, purpose=request.purpose, model_id=request.model_id)
        channel = self._egress.open(provider, None, errand, cancel)
        yield from complete(self._wire, request, self._model, channel)


def scripted(
    script: Script | Path | Sequence[Mapping[str, Any] | Step], *, name: str = "script"
) -> ScriptedAdapter:
    """Return an adapter that plays a script: steps, a whole script, or a file.

    >>> scripted([{"respond": {"text": "Hello"}}]).model_id
    'scripted:script'

    Raises:
        ValidationFailed: the steps or the file are no script.
    """
    if isinstance(script, Path):
        return ScriptedAdapter(from_file(script), name)
    if isinstance(script, Script):
        return ScriptedAdapter(ScriptedWire(script), script.name)
    steps = tuple(one if isinstance(one, Step) else decode(Step, dict(one)) for one in script)
    return ScriptedAdapter(ScriptedWire(Script(name=name, steps=steps)), name)


class _Shut:
    """Nothing leaves: the offline model needs no way out."""

    def admit(self, errand: Errand, provider: ProviderRecord, host: str) -> str | None:
        """Refuse."""
        raise EgressBlocked("the offline model sends nothing", reason="offline")

    def note(self, outgoing: Outgoing) -> None:
        """Keep no record of what cannot happen."""
