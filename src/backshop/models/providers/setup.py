"""The commands that set up providers: keys, servers of one's own, efforts, status (M3, M7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from backshop.base.ambient import Clock, timestamp
from backshop.base.command import NOTHING, Nothing
from backshop.base.errors import ValidationFailed
from backshop.base.limits import TRANSIENT_DELAYS_S, VALIDATION_S
from backshop.base.redact import Redactor
from backshop.prompts import CancelToken

from .. import errors, requests
from ..catalog.catalog import AdapterKind, Auth, Catalog, ProviderRecord
from ..catalog.profile import Efforts, check_efforts
from ..catalog.told import ModelFacts
from ..egress.gate import Egress, EgressKind, Errand
from ..egress.policy import origin
from ..messages import MODEL_ID, Purpose
from . import provider as providers_provider
from .description import described
from .listening import listening
from .preference import Choice
from .probe import probe
from .provider import LocalServer, Status
from .registry import Wires
from .secret import Secrets

_HINT_CHARS = 4
_HINT_FROM_CHARS = 16  # of a shorter key the hint would be too large a part


class Providers:
    """The providers of one home."""

    def __init__(
        self,
        *,
        choice: Choice,
        secrets: Secrets,
        redactor: Redactor,
        egress: Egress,
        wires: Wires,
        clock: Clock,
        settled: Callable[[Errand, str], None],
        changed: Callable[[str, str], None] = lambda provider_id, status: None,
    ) -> None:
        self._choice = choice
        self._secrets = secrets
        self._redactor = redactor
        self._egress = egress
        self._wires = wires
        self._clock = clock
        self._settled = settled
        self._changed = changed
        self._cooldowns: dict[str, int] = {}

    def cool(self, provider_id: str, wait_ms: int) -> None:
        """Note that a provider asked to wait (M10.6)."""
        self._cooldowns[provider_id] = self._clock.now_ms() + wait_ms

    def status(self, _: Nothing = NOTHING) -> requests.ProvidersStatus:
        """Say how every provider stands (M3.1)."""
        catalog = self._choice.catalog()
        found = tuple(self._status(catalog, one) for one in catalog.providers.values())
        try:
            source = self._secrets.source
        except errors.SecretsUnreadable:
            source = "unreadable"
        return requests.ProvidersStatus(providers=found, secrets_source=source)

    def set_api_key(self, request: requests.SetApiKey) -> requests.StatusOnly:
        """Check a key with its provider and store it (M3.2).

        Raises:
            AuthFailed: the provider refuses it; nothing is stored.
        """
        provider = self._choice.catalog().provider(request.provider_id)
        if provider.auth is not Auth.API_KEY:
            raise ValidationFailed("this provider takes no key", reason="no_key_needed")
        key = providers_provider.check_key(request.api_key)
        self._redactor.learn([key])
        error, told = self._check(provider, key)
        if isinstance(error, errors.AuthFailed):
            raise error
        self._choice.settle_default()  # one that answers stays, whatever comes
        self._secrets.put(provider.provider_id, key)
        self._remember(provider, error, told)
        self._choice.settle_default()
        return self._told(provider.provider_id)

    def clear_api_key(self, request: requests.ProviderRequest) -> requests.StatusOnly:
        """Forget a provider's key; running calls finish."""
        provider = self._choice.catalog().provider(request.provider_id)
        self._secrets.remove(provider.provider_id)
        return self._told(provider.provider_id)

    def move_keys(self, request: requests.MoveKeys) -> requests.KeysMoved:
        """Keep the master key of all stored keys elsewhere (M3.9)."""
        self._secrets.move(request.to)
        return requests.KeysMoved(secrets_source=self._secrets.source)

    def set_enabled(self, request: requests.SetEnabled) -> requests.StatusOnly:
        """Switch a provider on or off."""
        provider = self._choice.catalog().provider(request.provider_id)
        self._choice.book.change(provider.provider_id, enabled=request.enabled)
        return self._told(provider.provider_id)

    def validate(self, request: requests.ProviderRequest) -> requests.Validated:
        """Ask a provider whether it accepts its key (M3.3)."""
        provider = self._choice.catalog().provider(request.provider_id)
        if provider.adapter is AdapterKind.SCRIPTED:
            return requests.Validated(ok=True)
        key = self._choice.key(provider)
        if provider.auth is Auth.API_KEY and key is None:
            return requests.Validated(ok=False, error="PROVIDER_NOT_CONFIGURED: no_key")
        error, told = self._check(provider, key)
        self._remember(provider, error, told)
        self._told(provider.provider_id)
        return requests.Validated(
            ok=error is None, error=providers_provider.error_line(error) if error else None
        )

    def set_reasoning_effort(self, request: requests.SetReasoningEffort) -> requests.Done:
        """Set how hard a provider's models think, per phase (M7.1)."""
        catalog = self._choice.catalog()
        provider = catalog.provider(request.provider_id)
        efforts = Efforts(
            research=request.research_effort,
            plan=request.plan_effort,
            implement=request.implement_effort,
        )
        check_efforts(provider.provider_id, efforts, _offered_efforts(catalog, provider))
        self._choice.book.change(provider.provider_id, efforts=efforts)
        self._told(provider.provider_id)
        return requests.Done()

    def upsert_local(self, request: requests.UpsertLocal) -> requests.StatusOnly:
        """Add or change a server of the person's own (M3.5)."""
        providers_provider.check_local_id(request.provider_id)
        if request.preset not in providers_provider.PRESETS:
            raise ValidationFailed(
                f"there is no preset {request.preset[:32]!r}",
                reason="bad_preset",
                choices=tuple(providers_provider.PRESETS),
            )
        url = request.base_url or providers_provider.PRESETS[request.preset]
        providers_provider.check_base_url(url, allow_private_host=request.allow_private_host)
        for name in request.models or ():
            if MODEL_ID.fullmatch(f"{request.provider_id}:{name}") is None:
                raise ValidationFailed(f"{name[:64]!r} is no model name", reason="unknown_model")
        before = self._choice.book.of(request.provider_id).local
        server = LocalServer(
            preset=request.preset,
            base_url=url,
            models=request.models
            if request.models is not None
            else before.models
            if before
            else (),
            allow_private_host=request.allow_private_host,
            needs_key=request.needs_key,
        )
        if before is not None and origin(before.base_url) != origin(url):
            self._secrets.remove(request.provider_id)  # it was given to another server
        self._choice.settle_default()
        self._choice.book.change(request.provider_id, local=server)
        self._choice.settle_default()
        return self._told(request.provider_id)

    def find_local(self, _: Nothing = NOTHING) -> requests.ServersFound:
        """Look which servers answer at their usual address on this machine (M6.11)."""
        added = {
            origin(one.local.base_url): name
            for name, one in self._choice.book.all().items()
            if one.local is not None
        }
        return requests.ServersFound(
            servers=tuple(
                requests.ServerFound(
                    provider_id=added.get(origin(url), f"local-{preset}"),
                    preset=preset,
                    base_url=url,
                    is_added=origin(url) in added,
                )
                for preset, url in listening()
            )
        )

    def probe(self, request: requests.ProviderRequest) -> requests.Probed:
        """Find out what a server of the person's own can do (M6.6)."""
        provider = self._choice.catalog().provider(request.provider_id)
        kept = self._choice.book.of(provider.provider_id)
        if kept.local is None:
            raise ValidationFailed("only servers you added are probed", reason="not_local")
        errand = Errand(kind=EgressKind.PROBE, purpose=Purpose.OTHER)
        key = self._choice.key(provider) if provider.auth is Auth.API_KEY else None
        channel = self._egress.open(provider, key, errand, CancelToken())
        now = timestamp(self._clock.now_ms())
        status = "failed"
        try:
            found, server, eyes = probe(self._wires.of(provider), channel, kept.local, now)
            status = "ok"
        finally:
            self._settled(errand, status)
        told = {name: one for name, one in eyes.items() if not one.is_empty}  # the rest is in it
        self._choice.book.change(provider.provider_id, local=server, told=told)
        self._choice.settle_default()
        self._told(provider.provider_id)
        return found

    def remove(self, request: requests.ProviderRequest) -> requests.Done:
        """Forget a server of the person's own, with its key."""
        provider = self._choice.catalog().provider(request.provider_id)
        if not provider.is_local:
            raise ValidationFailed("a built-in provider stays", reason="not_local")
        self._secrets.remove(provider.provider_id)
        self._choice.book.remove(provider.provider_id)
        self._changed(provider.provider_id, Status.NOT_CONFIGURED.value)
        return requests.Done()

    def _check(
        self, provider: ProviderRecord, key: str | None
    ) -> tuple[errors.ModelError | None, dict[str, ModelFacts]]:
        """List the provider's models once, again after a short wait.

        Return what went wrong, and what it told of them.
        """
        cancel = CancelToken()
        for wait_s in (TRANSIENT_DELAYS_S[0], None):
            errand = Errand(kind=EgressKind.VALIDATION)
            channel = self._egress.open(provider, key, errand, cancel, call_s=VALIDATION_S)
            try:
                told = described(self._wires.of(provider), channel)
            except errors.ModelError as error:
                self._settled(errand, error.code)
                transient = isinstance(
                    error, errors.NetworkUnavailable | errors.ProviderUnavailable
                )
                if wait_s is None or not transient or error.reason == "timeout":
                    return error, {}
                cancel.wait(wait_s)
            else:
                self._settled(errand, "ok")
                return None, told
        return None, {}

    def _remember(
        self,
        provider: ProviderRecord,
        error: errors.ModelError | None,
        told: Mapping[str, ModelFacts],
    ) -> None:
        """Keep how a check ended, and what was told of models we know (M1.10)."""
        book, name = self._choice.book, provider.provider_id
        if error is not None:
            book.change(name, last_error=providers_provider.error_line(error))
            return
        known = {one.wire_name for one in self._choice.catalog().models_of(name)}
        kept = {one: told[one] for one in sorted(known & set(told)) if not told[one].is_empty}
        now = timestamp(self._clock.now_ms())
        book.change(name, last_validated_at=now, last_error=None, told=kept)

    def _told(self, provider_id: str) -> requests.StatusOnly:
        """Announce how a provider stands now (M16), and answer with it."""
        catalog = self._choice.catalog()
        status = self._status(catalog, catalog.provider(provider_id)).status
        self._changed(provider_id, status)
        return requests.StatusOnly(status=status)

    def _status(self, catalog: Catalog, provider: ProviderRecord) -> requests.ProviderStatus:
        kept = self._choice.book.of(provider.provider_id)
        attention: str | None = None
        key, source = None, "none"
        if provider.auth is Auth.API_KEY:
            try:
                key, source = self._choice.key_and_source(provider)
            except errors.KeyUnusable as error:
                attention = error.reason
        word = Status.CONFIGURED
        if not provider.enabled:
            word = Status.DISABLED
        elif attention or (kept.last_error and (key or provider.auth is Auth.NONE)):
            word = Status.NEEDS_ATTENTION
        elif provider.auth is Auth.API_KEY and key is None:
            word = Status.NOT_CONFIGURED
        cooldown = self._cooldowns.get(provider.provider_id, 0)
        efforts = _offered_efforts(catalog, provider)
        return requests.ProviderStatus(
            provider_id=provider.provider_id,
            display_name=provider.display_name,
            auth=provider.auth.value,
            status=word.value,
            enabled=provider.enabled,
            key_source=source,
            key_hint=key[-_HINT_CHARS:] if key and len(key) >= _HINT_FROM_CHARS else None,
            models=tuple(one.model_id for one in catalog.models_of(provider.provider_id)),
            attention=attention,
            last_validated_at=kept.last_validated_at,
            last_error=kept.last_error,
            cooldown_until=timestamp(cooldown) if cooldown > self._clock.now_ms() else None,
            rpi_reasoning=(kept.efforts or Efforts()) if efforts else None,
        )


def _offered_efforts(catalog: Catalog, provider: ProviderRecord) -> tuple[str, ...]:
    models = catalog.models_of(provider.provider_id)
    return tuple(dict.fromkeys(effort for one in models for effort in one.efforts))
