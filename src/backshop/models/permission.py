"""What may leave the machine and what left: consent, its record, and usage (M4, M13.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from backshop.base.ambient import Clock, timestamp
from backshop.base.command import NOTHING, Nothing
from backshop.base.errors import ValidationFailed
from backshop.base.field_copy import made_from
from backshop.base.usage import ModelUsage, Used

from . import requests
from .call import ConsentGate
from .errors import no_model
from .ledger.consent import Consent, ConsentMode, Destination, Scope, ScopeText, covering, nearest
from .ledger.events import ConsentRevoked
from .ledger.ledger import Ledger
from .providers.preference import Choice

_LIMIT_MAX = 1000


class Permissions:
    """The person's permissions, and the record of what was done under them."""

    def __init__(
        self,
        *,
        choice: Choice,
        ledger: Ledger,
        gate: ConsentGate,
        clock: Clock,
        default_model: Callable[[], str | None],
    ) -> None:
        self._choice = choice
        self._ledger = ledger
        self._gate = gate
        self._clock = clock
        self._default_model = default_model

    def mode(self, _: Nothing = NOTHING) -> requests.Mode:
        """Say whether the person is asked."""
        return requests.Mode(mode=self._choice.consent_mode().value)

    def set_mode(self, request: requests.SetConsentMode) -> requests.Done:
        """Ask before content leaves, or let everything pass (M4.9).

        Raises:
            ValidationFailed: `bad_mode`, or `not_approved` for `allow_all` without approval.
        """
        if request.mode not in set(ConsentMode):
            raise ValidationFailed(
                f"there is no consent mode {request.mode[:32]!r}",
                reason="bad_mode",
                choices=tuple(one.value for one in ConsentMode),
            )
        if request.mode == ConsentMode.ALLOW_ALL and not request.approved:
            raise ValidationFailed("allow_all must be approved", reason="not_approved")
        self._choice.settings.put("consent.mode", request.mode)
        return requests.Done()

    def status(self, request: requests.ConsentQuery) -> requests.ConsentStatus:
        """Say what may leave for a workbench's model, and what is new (M4.11)."""
        scope = self._gate.scope(request.workbench_id)
        wanted = request.model_id or self._gate.model(request.workbench_id)
        wanted = wanted or self._default_model()
        if wanted is None:
            raise no_model()
        to = self._target(request.workbench_id, wanted)
        mode = self._choice.consent_mode()
        consents = self._ledger.consents()
        given = covering(consents, to, scope)
        near = nearest(consents, to)
        known = near.scope if near else Scope()
        return requests.ConsentStatus(
            consented=given is not None or mode is ConsentMode.ALLOW_ALL,
            asked=self._gate.asks_for(self._choice.catalog().provider(to.provider_id)),
            mode=mode.value,
            provider_id=to.provider_id,
            model_id=to.model_id,
            host=to.host,
            scope_hash=scope.hash(),
            persisted=bool(given and given.persisted),
            files=tuple(requests.ScopeItem(path=one.path, size=one.size) for one in scope.files),
            context=tuple(one.category for one in scope.context),
            new_items=() if given else scope.new_items(known),
        )

    def grant(self, request: requests.GrantConsent) -> requests.Done:
        """Allow a workbench's content, as it is now, to go to a model (M4.11).

        Raises:
            ValidationFailed: `scope_changed`, or a model of another provider.
        """
        to = self._target(request.workbench_id, request.model_id)
        if to.provider_id != request.provider_id:
            raise ValidationFailed("the model is another provider's", reason="unknown_provider")
        scope = self._gate.scope(request.workbench_id)
        if request.scope_hash != scope.hash():
            raise ValidationFailed("the content has changed since", reason="scope_changed")
        self._ledger.grant(
            made_from(
                Consent,
                to,
                scope=scope,
                granted_at=timestamp(self._clock.now_ms()),
                persisted=request.persist,
            )
        )
        return requests.Done()

    def join_context(self, workbench_id: str, model_id: str, category: str, sha256: str) -> None:
        """Count a text the person told us to send as part of what they allowed before (M4.7)."""
        known = nearest(self._ledger.consents(), self._target(workbench_id, model_id))
        if known is not None:
            added = Scope(context=(ScopeText(category, sha256),))
            self._ledger.grant(replace(known, scope=known.scope.joined(added)))

    def revoke(self, request: requests.RevokeConsent) -> requests.Done:
        """Take permissions back."""
        self._ledger.revoke(
            ConsentRevoked(
                workbench_id=request.workbench_id,
                provider_id=request.provider_id,
                model_id=request.model_id,
            )
        )
        return requests.Done()

    def egress_events(self, request: requests.ListEgress) -> requests.EgressList:
        """List what left the machine."""
        if not 1 <= request.limit <= _LIMIT_MAX:
            raise ValidationFailed(f"limit is 1 to {_LIMIT_MAX}", reason="bad_request")
        events = self._ledger.egress_events(
            request.workbench_id, run_id=request.run_id, after=request.after, limit=request.limit
        )
        return requests.EgressList(events=events)

    def usage(self, request: requests.UsageQuery) -> requests.UsageReport:
        """Say what was used, by model."""
        spent = self._ledger.spent(request.workbench_id)
        total = spent.get(f"run:{request.run_id}" if request.run_id else "", Used())
        prefix = "model:"
        models = [
            made_from(ModelUsage, one, model_id=name.removeprefix(prefix))
            for name, one in sorted(spent.items())
            if name.startswith(prefix) and not request.run_id
        ]
        return made_from(requests.UsageReport, total, by_model=tuple(models))

    def _target(self, workbench_id: str, model_id: str) -> Destination:
        catalog = self._choice.catalog()
        model, _ = catalog.resolve(model_id)
        provider = catalog.provider(model.provider_id)
        host = provider.hosts[0] if provider.hosts else ""
        return Destination(workbench_id, provider.provider_id, model.model_id, host)
