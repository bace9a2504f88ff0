"""What the person chose: settings, keys and servers, as calls and commands read them."""

from __future__ import annotations

from collections.abc import Mapping

from backshop.base.redact import Redactor

from ..catalog import catalog as catalogs
from ..catalog.catalog import SCRIPTED, Auth, Catalog, ProviderRecord
from ..catalog.profile import Efforts
from ..errors import KeyUnusable
from ..ledger.consent import ConsentMode
from ..ledger.usage import Budget
from . import provider as providers_provider
from .provider import ProviderBook, Settings
from .registry import Plugin, with_plugins
from .secret import Secrets


class Choice:
    """What the person chose, read from settings and the key store."""

    def __init__(
        self,
        settings: Settings,
        secrets: Secrets,
        redactor: Redactor,
        environ: Mapping[str, str],
        plugins: Mapping[str, Plugin],
    ) -> None:
        self.settings = settings
        self.book = ProviderBook(settings)
        self._secrets = secrets
        self._redactor = redactor
        self._environ = environ
        self._base = with_plugins(catalogs.builtin(), plugins)

    def catalog(self) -> Catalog:
        """Return every provider and model."""
        return providers_provider.assemble(self._base, self.book, self.settings.get("models"))

    def default_model(self) -> str | None:
        """Return the model the person chose; else the first that can answer, if there is one.

        A provider whose last check failed comes after all others.
        """
        chosen: str | None = self.settings.get("model.default")
        return chosen or self._first(is_checked=True) or self._first(is_checked=False)

    def _first(self, *, is_checked: bool) -> str | None:
        """Return the first model that can be called, of providers whose check went well or not.

        The offline model is nobody's default: it answers nothing but what it was written for.
        """
        catalog = self.catalog()
        for provider in catalog.providers.values():
            name = provider.provider_id
            if name == SCRIPTED or (self.book.of(name).last_error is None) is not is_checked:
                continue
            models = catalog.models_of(name)
            if models and self.unavailable(provider) is None:
                return models[0].model_id
        return None

    def settle_default(self) -> None:
        """Let the model that answers stay the default, whatever else is set up later (M2.6)."""
        found = None if self.settings.get("model.default") else self._first(is_checked=True)
        if found is not None:
            self.settings.put("model.default", found)

    def unavailable(self, provider: ProviderRecord) -> str | None:
        """Return why a provider's models cannot be called, None if they can (M2.2)."""
        if not provider.enabled:
            return "disabled"
        if provider.auth is Auth.NONE:
            return None
        try:
            return None if self.key(provider) else "no_key"
        except KeyUnusable:
            return "needs_attention"

    def key(self, provider: ProviderRecord) -> str | None:
        """Return a provider's key: the stored one, else the environment's (M3.6)."""
        return self.key_and_source(provider)[0]

    def key_and_source(self, provider: ProviderRecord) -> tuple[str | None, str]:
        """Return a key and where it comes from."""
        stored = self._secrets.get(provider.provider_id)
        found = stored or providers_provider.environment_key(provider, self._environ)
        self._redactor.learn([found])
        if found is None:
            return None, "none"
        return found, "store" if stored else "env"

    def efforts(self, provider_id: str) -> Efforts:
        """Return a provider's efforts per phase."""
        return self.book.of(provider_id).efforts or Efforts()

    def consent_mode(self) -> ConsentMode:
        """Return whether the person is asked."""
        return ConsentMode(self.settings.get("consent.mode") or ConsentMode.ASK)

    def asks_for_local(self) -> bool:
        """Return whether servers on this machine need consent too."""
        return bool(self.settings.get("consent.for_local"))

    def budget(self) -> Budget:
        """Return the caps on one workbench."""
        tokens, dollars = self.settings.get("budget.tokens"), self.settings.get("budget.usd")
        return Budget(tokens=tokens, usd=dollars)
