"""One attempt at a call with key, consent, budget and record (M4.10, M4.12, M13)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from backshop.base.ambient import Clock
from backshop.base.errors import BackshopError
from backshop.base.usage import Used
from backshop.prompts import CancelToken, PromptRendered

from . import messages
from .catalog.catalog import Auth, Catalog, ModelRecord, ProviderRecord
from .catalog.profile import Efforts
from .egress.gate import Egress, EgressKind, Errand, Outgoing
from .egress.policy import is_loopback_url
from .egress.retry import Cancel
from .egress.stream import complete
from .errors import ConsentRequired, ContextExhausted, ProviderNotConfigured, RequestRejected
from .ledger.consent import ConsentMode, Destination, Scope, covering
from .ledger.events import EgressCompleted, ModelCalled
from .ledger.ledger import Ledger, Scopes
from .ledger.usage import Budget, check_budget, estimated, request_tokens, text_only_tokens, usd
from .providers import ollama
from .providers.registry import Wires

_CUT_SHARE = 0.6  # M6.5
_CUT_FROM_TOKENS = 2000
_WINDOW_ASKED_S = 5.0
_WINDOW_BELIEVED_S = 60.0  # a model that nobody asks is unloaded after minutes
_NEVER = CancelToken()
_STRICT, _FORCED, _PICTURES = "strict", "forced", "pictures"
_CHOICE_WORDS = ("tool_choice", "tool choice")
_STRICT_WORDS = ("strict", "grammar", "schema")
_PICTURE_WORDS = ("image", "picture", "vision", "multimodal", "mmproj")
_NEVER_WORDS = ("support", "vision", "multimodal", "mmproj")  # of a model that has no eyes at all
_NOT_SENT = (
    "(This picture was not sent: the provider does not take it. You have not seen it; read the "
    "file instead, and do not say what it looks like.)"
)


class Choices(Protocol):
    """What the person chose, as a call needs to know it."""

    def catalog(self) -> Catalog:
        """Return every provider and model."""
        ...

    def key(self, provider: ProviderRecord) -> str | None:
        """Return a provider's key."""
        ...

    def efforts(self, provider_id: str) -> Efforts:
        """Return a provider's efforts per phase."""
        ...

    def consent_mode(self) -> ConsentMode:
        """Return whether the person is asked."""
        ...

    def asks_for_local(self) -> bool:
        """Return whether servers on this machine need consent too."""
        ...

    def budget(self) -> Budget:
        """Return the caps on one workbench."""
        ...


class ConsentGate:
    """Checks consent right before each request, and notes what leaves (M4.10)."""

    def __init__(self, choices: Choices, ledger: Ledger, scopes: Scopes | None) -> None:
        self._choices = choices
        self._ledger = ledger
        self._scopes = scopes
        self._open: dict[int, tuple[str, ...]] = {}
        self._lock = threading.Lock()

    def scope(self, workbench_id: str) -> Scope:
        """Return what a workbench holds now."""
        return self._scopes.scope(workbench_id) if self._scopes else Scope()

    def model(self, workbench_id: str) -> str | None:
        """Return the model a workbench uses next, if it has one of its own."""
        return self._scopes.model(workbench_id) if self._scopes else None

    def asks_for(self, provider: ProviderRecord) -> bool:
        """Say whether content needs a person's consent to go to a provider (M4.5)."""
        if not provider.hosts:
            return False
        return not is_loopback_url(provider.base_url) or self._choices.asks_for_local()

    def admit(self, errand: Errand, provider: ProviderRecord, host: str) -> str | None:
        """Return the hash of the content that may leave, or refuse.

        A call without a workbench carries nothing of one: whoever makes it knows its content.
        """
        if errand.kind is not EgressKind.CALL or errand.workbench_id is None:
            return None
        if not self.asks_for(provider):
            return None
        scope = self.scope(errand.workbench_id)
        if self._choices.consent_mode() is ConsentMode.ALLOW_ALL:
            return scope.hash()
        to = Destination(errand.workbench_id, provider.provider_id, errand.model_id or "", host)
        if covering(self._ledger.consents(), to, scope) is None:
            raise ConsentRequired(
                f"{provider.display_name} may not receive this workbench's content yet",
                provider_id=provider.provider_id,
                model_id=errand.model_id,
                scope_hash=scope.hash(),
            )
        return scope.hash()

    def note(self, outgoing: Outgoing) -> None:
        """Record a request before it is sent."""
        if outgoing.blocked is not None:
            self._ledger.blocked(outgoing)
            return
        call_id = self._ledger.sent(outgoing, self._choices.consent_mode().value)
        with self._lock:
            key = id(outgoing.errand)
            self._open[key] = (*self._open.get(key, ()), call_id)

    def take(self, errand: Errand) -> tuple[str, ...]:
        """Return the ids of the records of what left for an errand, once."""
        with self._lock:
            return self._open.pop(id(errand), ())


class Caller:
    """Makes calls on behalf of the person."""

    def __init__(
        self,
        *,
        choices: Choices,
        ledger: Ledger,
        gate: ConsentGate,
        egress: Egress,
        wires: Wires,
        clock: Clock,
        cooled: Callable[[str, int], None],
    ) -> None:
        self._choices = choices
        self._ledger = ledger
        self._gate = gate
        self._egress = egress
        self._wires = wires
        self._clock = clock
        self._cooled = cooled
        self._windows: dict[str, tuple[float, int | None]] = {}
        """What a server of Ollama gives a model, and until when that is believed (M6.10)."""
        self._refused: dict[str, frozenset[str]] = {}
        """What providers refused of requests to a model while this process runs (M9.11, M16.5)."""

    def attempt(
        self, request: messages.ModelRequest, cancel: Cancel
    ) -> Iterator[messages.StreamEvent]:
        """Make one attempt; the last event is `Done` or `Failed`."""
        try:
            model, provider, key = self.usable(request.model_id)
            self._within_budget(request, model)
            self._within_window(request, model, provider, key)
        except BackshopError as error:
            yield messages.Failed(error.info("workshop", subphase="stream"))
            return
        if request.effort is None:
            efforts = self._choices.efforts(provider.provider_id)
            request = replace(request, effort=efforts.of(request.purpose))
        known = self._refused.get(model.model_id, frozenset())
        request = _without(request, known)
        refused: str | None = None
        for event in self._sent(request, model, provider, key, cancel):
            refused = _refusal(event, request)
            if refused is None:
                yield event
            elif refused != _PICTURES or _says(event, _NEVER_WORDS):
                self._refused[model.model_id] = known | {refused}
        if refused is not None:
            again = _without(request, frozenset((refused,)))
            yield from self._sent(again, model, provider, key, cancel)

    def _sent(
        self,
        request: messages.ModelRequest,
        model: ModelRecord,
        provider: ProviderRecord,
        key: str | None,
        cancel: Cancel,
    ) -> Iterator[messages.StreamEvent]:
        """Send one request, and record what became of it."""
        errand = Errand(
            kind=EgressKind.CALL,
            purpose=request.purpose,
            model_id=model.model_id,
            workbench_id=request.workbench_id,
            run_id=request.run_id,
        )
        channel = self._egress.open(provider, key, errand, cancel, call_s=request.timeout_s)
        wire = self._wires.of(provider, model)
        record = _Record(request, model, self._clock)
        try:
            for event in complete(wire, request, model, channel):
                checked = _cut_by_server(event, record, provider)
                record.see(checked)
                yield checked
        finally:
            self._settle(record, provider, errand)

    def usable(self, model_id: str) -> tuple[ModelRecord, ProviderRecord, str | None]:
        """Return a model with its provider and key, if it can be called (M2.2).

        Raises:
            ProviderNotConfigured: the provider is disabled or its key is missing.
            ValidationFailed: there is no such model.
        """
        catalog = self._choices.catalog()
        model, _ = catalog.resolve(model_id)
        provider = catalog.provider(model.provider_id)
        if not provider.enabled:
            raise ProviderNotConfigured(
                f"{provider.display_name} is switched off",
                reason="disabled",
                provider_id=provider.provider_id,
                model_id=model_id,
            )
        key = self._choices.key(provider) if provider.auth is Auth.API_KEY else None
        if provider.auth is Auth.API_KEY and key is None:
            raise ProviderNotConfigured(
                f"there is no key for {provider.display_name}",
                reason="no_key",
                provider_id=provider.provider_id,
                model_id=model_id,
            )
        return model, provider, key

    def check_consent(self, model_id: str, workbench_id: str | None) -> None:
        """Raise `ConsentRequired` when a call for this workbench would be refused (P5.11)."""
        model, provider, _ = self.usable(model_id)
        errand = Errand(kind=EgressKind.CALL, model_id=model.model_id, workbench_id=workbench_id)
        if provider.hosts:
            self._gate.admit(errand, provider, provider.hosts[0])

    def _within_budget(self, request: messages.ModelRequest, model: ModelRecord) -> None:
        budget = self._choices.budget()
        if budget.tokens is None and budget.usd is None:
            return
        spent = self._ledger.spent(request.workbench_id).get("", Used())
        check_budget(budget, spent, request, model.price)

    def _within_window(
        self,
        request: messages.ModelRequest,
        model: ModelRecord,
        provider: ProviderRecord,
        key: str | None,
    ) -> None:
        """Refuse what a server of Ollama would cut without a word (M6.10); it is not sent."""
        if provider.preset != "ollama" or not is_loopback_url(provider.base_url):
            return
        needed = request_tokens(request)
        if needed <= _CUT_FROM_TOKENS:
            return
        given = self._window(model, provider, key)
        if given is not None and needed > given:
            raise ContextExhausted(
                f"the server gives {model.wire_name} {given} tokens (by OLLAMA_CONTEXT_LENGTH or"
                f" num_ctx), and the request needs about {needed}",
                reason="server_window",
                hints=ollama.LARGER,
                provider_id=provider.provider_id,
                model_id=model.model_id,
            )

    def _window(self, model: ModelRecord, provider: ProviderRecord, key: str | None) -> int | None:
        now = self._clock.monotonic()
        until, given = self._windows.get(model.model_id, (0.0, None))
        if now >= until:
            errand = Errand(kind=EgressKind.PROBE, model_id=model.model_id)
            channel = self._egress.open(provider, key, errand, _NEVER, call_s=_WINDOW_ASKED_S)
            given = ollama.window(channel, model.wire_name)
            for call_id in self._gate.take(errand):
                ended = EgressCompleted(call_id=call_id, status="ok", duration_ms=0)
                self._ledger.ended(None, ended)
            self._windows[model.model_id] = (now + _WINDOW_BELIEVED_S, given)
        return given

    def _settle(self, record: _Record, provider: ProviderRecord, errand: Errand) -> None:
        usage, price = record.usage(), usd(record.usage(), record.model.price)
        prompt = record.request.prompt
        sent = prompt if isinstance(prompt, PromptRendered) else None
        for call_id in self._gate.take(errand):
            self._ledger.ended(
                errand.workbench_id,
                EgressCompleted(
                    call_id=call_id,
                    status=record.status,
                    tokens_in=usage.input_tokens,
                    tokens_out=usage.output_tokens,
                    tokens_cached=usage.cached_input_tokens,
                    tokens_cache_write=usage.cache_write_tokens,
                    usd_estimate=price,
                    duration_ms=record.duration_ms(),
                ),
            )
        if record.answered or sent is not None:
            self._ledger.called(
                errand.workbench_id,
                ModelCalled(
                    model_id=record.model.model_id,
                    purpose=errand.purpose.value,
                    usage=usage,
                    usd_estimate=price,
                    status=record.status,
                    run_id=errand.run_id,
                    prompt=sent,
                    is_answered=record.answered,
                ),
            )
        if record.wait_ms is not None:
            self._cooled(provider.provider_id, record.wait_ms)


class _Record:
    """What an attempt came to, gathered as it streams."""

    def __init__(self, request: messages.ModelRequest, model: ModelRecord, clock: Clock) -> None:
        self.request = request
        self.model = model
        self.status = "canceled"  # unless an end is seen
        self.answered = False
        self.wait_ms: int | None = None
        self._clock = clock
        self._start = clock.monotonic()
        self._text: list[str] = []
        self._arguments: list[str] = []
        self._reported: messages.Usage | None = None

    def see(self, event: messages.StreamEvent) -> None:
        """Take an event in."""
        match event:
            case messages.TextDelta(text=text):
                self.answered = True
                self._text.append(text)
            case messages.ToolCallDone(arguments=arguments):
                self.answered = True
                self._arguments.append(str(arguments))
            case messages.UsageReported(usage=usage):
                self.answered = True
                self._reported = usage
            case messages.Done(finish_reason=reason):
                self.status = reason.value
            case messages.Failed(error=error):
                self.status = error.error_code
                if error.error_code == "PROVIDER_RATE_LIMITED":
                    self.wait_ms = error.retry.after_ms
            case _:
                pass

    def usage(self) -> messages.Usage:
        """Return what the provider counted, else an estimate; nothing when nothing came."""
        if self._reported is not None:
            return self._reported
        if not self.answered:
            return messages.Usage(estimated=True)
        return estimated(self.request, "".join(self._text), self._arguments)

    def duration_ms(self) -> int:
        """Return how long it took so far."""
        return max(0, int((self._clock.monotonic() - self._start) * 1000))


def _refusal(event: messages.StreamEvent, request: messages.ModelRequest) -> str | None:
    """Return what a request can be sent without, if its provider refuses it for that (M9.11)."""
    if any(one.images for one in request.messages) and _says(event, _PICTURE_WORDS):
        return _PICTURES
    if not request.tools:
        return None
    is_forced = request.tool_choice is messages.ToolChoice.FIRST_TURN_REQUIRED
    if is_forced and _says(event, _CHOICE_WORDS):
        return _FORCED
    if request.is_strict and _says(event, _STRICT_WORDS):
        return _STRICT
    return None


def _says(event: messages.StreamEvent, words: Sequence[str]) -> bool:
    """Whether a provider that refuses the request says one of these words."""
    if not isinstance(event, messages.Failed) or event.error.error_code != RequestRejected.code:
        return False
    said = event.error.message.lower()
    return any(word in said for word in words)


def _without(request: messages.ModelRequest, refused: frozenset[str]) -> messages.ModelRequest:
    """Return the request without what its provider refuses."""
    if _STRICT in refused:
        request = replace(request, is_strict=False)
    is_forced = request.tool_choice is messages.ToolChoice.FIRST_TURN_REQUIRED
    if _FORCED in refused and is_forced:
        request = replace(request, tool_choice=messages.ToolChoice.AUTO)
    if _PICTURES in refused:
        request = replace(request, messages=tuple(map(_unseen, request.messages)))
    return request


def _unseen(message: messages.Message) -> messages.Message:
    """Return a message without its pictures, which says so (M16.5)."""
    if not message.images:
        return message
    return replace(message, images=(), text=f"{message.text}\n\n{_NOT_SENT}")


def _cut_by_server(
    event: messages.StreamEvent, record: _Record, provider: ProviderRecord
) -> messages.StreamEvent:
    """Notice a local server that cut the prompt without saying so (M6.5)."""
    if not isinstance(event, messages.Done) or not provider.is_local:
        return event
    counted, guess = record.usage(), text_only_tokens(record.request)
    if counted.estimated or guess <= _CUT_FROM_TOKENS:
        return event
    if counted.input_tokens >= _CUT_SHARE * guess:
        return event
    error = ContextExhausted(
        "the server read only part of the prompt",
        reason="prompt_cut_by_server",
        detail=f"estimate: {guess} reported: {counted.input_tokens}",
        provider_id=provider.provider_id,
        model_id=record.request.model_id,
    )
    return messages.Failed(error.info("workshop", subphase="stream"))
