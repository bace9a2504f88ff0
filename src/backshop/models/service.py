"""`Models`: the facade of this room, and adapters that call models on the person's behalf."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from backshop.base.ambient import Clock, Mint
from backshop.base.codec import decode
from backshop.base.command import NOTHING, Nothing
from backshop.base.field_copy import made_from
from backshop.base.outbox import Outbox
from backshop.base.redact import Redactor
from backshop.store import Store

from . import errors, requests
from .adapter.adapter import AdapterBase
from .call import Caller, ConsentGate
from .catalog.catalog import SCRIPTED, Auth, Catalog, ModelRecord, ProviderRecord
from .catalog.profile import Efforts, adjusted
from .egress.gate import Egress, Errand
from .egress.retry import Cancel
from .ledger.events import EgressCompleted
from .ledger.ledger import Ledger, Scopes
from .loop.response import Capabilities
from .messages import ModelRequest, Purpose, StreamEvent
from .permission import Permissions
from .providers.preference import Choice
from .providers.provider import Settings
from .providers.registry import Plugin, Wires
from .providers.secret import UNLOCK_ENV, Secrets
from .providers.setup import Providers
from .providers.vault import Vault
from .script.script import Script, Step
from .wires.scripted import ScriptedWire

_LOG = logging.getLogger(__name__)
EFFORTS_DEFAULT = Efforts()
_RESERVE_TOKENS = 8192  # M14.1
_RESERVE_SHARE = 0.25


class ModelAdapter(AdapterBase):
    """Calls one model of the registry."""

    def __init__(
        self,
        caller: Caller,
        model: ModelRecord,
        provider: ProviderRecord,
        workbench_id: str | None,
        workspace: object | None = None,
        efforts: Efforts = EFFORTS_DEFAULT,
        flow: str | None = None,
    ) -> None:
        window = model.context_tokens_estimate
        supports = model.supports
        super().__init__(
            adapter_name=provider.adapter.value,
            model_id=model.model_id,
            capabilities=Capabilities(
                streaming=supports.streaming,
                tools=supports.tools,
                native_output=supports.structured_output and provider.auth is Auth.API_KEY,
                reports_usage=supports.usage,
                pictures=supports.vision,
                flow=flow,
            ),
            prompt_budget_tokens=window - min(_RESERVE_TOKENS, int(window * _RESERVE_SHARE)),
            workbench_id=workbench_id,
            workspace=workspace,
            window_tokens=window,
        )
        self._caller = caller
        self._efforts = efforts
        self._adjusted = adjusted(efforts, model.efforts)

    @property
    def adjusted_efforts(self) -> tuple[tuple[str, str, str], ...]:
        """Phase, effort wanted and effort used, where this model lacks what is set (M7.2)."""
        return self._adjusted

    def effort_of(self, purpose: Purpose) -> str:
        """Return how hard the model thinks in calls of a purpose, as the person set it (M7.1)."""
        return self._efforts.of(purpose)

    def complete(self, request: ModelRequest, cancel: Cancel) -> Iterator[StreamEvent]:
        """Make one attempt through the guarded way out."""
        yield from self._caller.attempt(request, cancel)

    def check_consent(self) -> None:
        """Raise `ConsentRequired` when the workbench's content may not go to this model."""
        self._caller.check_consent(self.model_id, self.workbench_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPlaces:
    """Where keys come from: the environment, and where the key of the stored ones is kept."""

    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    vault: Vault | None = None


class Models:
    """Providers and models of one home: what there is, what is allowed, and the calls."""

    def __init__(
        self,
        *,
        store: Store,
        settings: Settings,
        home: Path,
        clock: Clock,
        mint: Mint,
        scopes: Scopes | None = None,
        keys: KeyPlaces | None = None,
        plugins: Mapping[str, Plugin] | None = None,
        formats: tuple[str, ...] = (),
        redactor: Redactor | None = None,
        **network: Any,
    ) -> None:
        self.redactor = redactor or Redactor()
        self._mint = mint
        self._formats = formats
        places = keys or KeyPlaces()
        env = places.environ
        passphrase = env.get(UNLOCK_ENV) or None
        self.redactor.learn([passphrase] if passphrase else [])
        secrets = Secrets(home, clock=clock, vault=places.vault, passphrase=passphrase)
        self._choice = Choice(settings, secrets, self.redactor, env, plugins or {})
        self._ledger = Ledger(store, mint)
        self._gate = ConsentGate(self._choice, self._ledger, scopes)
        self._wires = wires = Wires(plugins=plugins or {})
        self._egress = egress = Egress(clock=clock, gate=self._gate, keep=self._keep, **network)
        self.redactor.learn([egress.proxy.password] if egress.proxy else [])
        self.providers = Providers(
            choice=self._choice,
            secrets=secrets,
            redactor=self.redactor,
            egress=egress,
            wires=wires,
            clock=clock,
            settled=self._settled,
            changed=self._ledger.changed,
        )
        self.permissions = Permissions(
            choice=self._choice,
            ledger=self._ledger,
            gate=self._gate,
            clock=clock,
            default_model=lambda: self.default_model().model_id,
        )
        self._caller = Caller(
            choices=self._choice,
            ledger=self._ledger,
            gate=self._gate,
            egress=egress,
            wires=wires,
            clock=clock,
            cooled=self.providers.cool,
        )

    def adapter(
        self,
        model_id: str | None = None,
        *,
        workbench_id: str | None = None,
        workspace: object | None = None,
    ) -> ModelAdapter:
        """Return an adapter for a model, by default the person's own choice.

        `workspace` is what tools work on where a prompt brings no files of its own.

        Raises:
            ValidationFailed: there is no such model.
            ProviderNotConfigured: it cannot be called: no key, or switched off.
        """
        wanted = model_id or self.default_model().model_id
        if wanted is None:
            raise errors.no_model()
        model, provider, _ = self._caller.usable(wanted)
        self._wires.require(model)
        efforts = self._choice.efforts(provider.provider_id)
        flow = self._wires.flow(model)
        return ModelAdapter(self._caller, model, provider, workbench_id, workspace, efforts, flow)

    def close(self) -> None:
        """Close the connections to providers that were kept for the next call."""
        self._egress.close()

    def play(self, name: str, steps: Sequence[Mapping[str, Any]]) -> ScriptedWire:
        """Let the offline model `scripted:<name>` play these steps; for tests and examples.

        Raises:
            ValidationFailed: the steps are no script.
        """
        made = ScriptedWire(Script(name=name, steps=tuple(decode(Step, dict(s)) for s in steps)))
        self._wires.scripts[name] = made
        return made

    def models(self, _: Nothing = NOTHING) -> requests.ModelList:
        """List every model, and why one cannot be used if it cannot (M2.2)."""
        catalog, default = self._choice.catalog(), self.default_model().model_id
        known = [self._model_status(catalog, one, default) for one in catalog.models.values()]
        bad = [
            requests.ModelStatus(
                model_id=one.model_id,
                provider_id=one.model_id.partition(":")[0],
                display_name=one.model_id,
                context_tokens_estimate=0,
                max_output_tokens=0,
                efforts=(),
                supports=None,
                unavailable_reason="invalid",
                invalid_reason=one.invalid_reason,
            )
            for one in catalog.invalid
        ]
        return requests.ModelList(models=(*known, *bad))

    def capabilities(self, request: requests.ModelRequestById) -> requests.ModelCapabilities:
        """Say what can be done with a model (M1.7)."""
        model, warnings = self._choice.catalog().resolve(request.model_id)
        return requests.ModelCapabilities(
            supports_file_read=True,
            supports_file_ops=model.supports.tools,
            supported_formats=self._formats,
            context_tokens=model.context_tokens_estimate,
            supports=model.supports,
            warnings=warnings,
            scripted=model.provider_id == SCRIPTED,
            suggestions=tuple(
                requests.Suggestion(
                    id=one.id,
                    title=one.title,
                    prompt=one.prompt,
                    follows=one.follows,
                    needs=one.needs,
                )
                for one in self._wires.tasks(model)
            ),
        )

    def default_model(self, _: Nothing = NOTHING) -> requests.DefaultModel:
        """Return the model new workbenches begin with, if there is one yet (M2.6)."""
        return requests.DefaultModel(model_id=self._choice.default_model())

    def resolved(self, model_id: str) -> tuple[str, tuple[str, ...]]:
        """Return the id a model is known by, and warnings where the one given is an old one.

        Raises:
            ValidationFailed: there is no such model.
        """
        model, warnings = self._choice.catalog().resolve(model_id)
        self._wires.require(model)
        return model.model_id, warnings

    def set_default_model(self, request: requests.ModelRequestById) -> requests.Done:
        """Choose the model new workbenches begin with; existing ones keep theirs."""
        model_id, _ = self.resolved(request.model_id)
        self._choice.settings.put("model.default", model_id)
        return requests.Done()

    def _model_status(
        self, catalog: Catalog, model: ModelRecord, default: str | None
    ) -> requests.ModelStatus:
        return made_from(
            requests.ModelStatus,
            model,
            is_default=model.model_id == default,
            unavailable_reason=self._choice.unavailable(catalog.provider(model.provider_id)),
        )

    def _keep(self, said: str) -> str:
        """Put what a provider said about an error into the log, without secrets."""
        reference = self._mint.new("evt")
        _LOG.warning("a provider refused (%s): %s", reference, self.redactor.scrub(said))
        return reference

    def joining(self, workbench_id: str, outbox: Outbox) -> AbstractContextManager[None]:
        """Let what calls for a workbench came to go with the appends of who works on it."""
        return self._ledger.joining(workbench_id, outbox)

    def _settled(self, errand: Errand, status: str) -> None:
        """Record how a request that is no call ended."""
        for call_id in self._gate.take(errand):
            ended = EgressCompleted(call_id=call_id, status=status, duration_ms=0)
            self._ledger.ended(errand.workbench_id, ended)
