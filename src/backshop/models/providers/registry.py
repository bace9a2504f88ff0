"""Which wire speaks for a provider; plugins come in by the entry point `backshop.models`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import entry_points

from backshop.base.errors import NotFound, ValidationFailed

from ..catalog.catalog import SCRIPTED, AdapterKind, Catalog, ModelRecord, ProviderRecord
from ..egress.stream import Wire
from ..script.script import Task
from ..wires.scripted import ScriptedWire, bundled, bundled_names

_LOG = logging.getLogger(__name__)
_GROUP = "backshop.models"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """A provider from outside: its record, its models, and how it is spoken to.

    The entry point names one of these, or a function that returns one.
    """

    provider: ProviderRecord
    models: tuple[ModelRecord, ...]
    wire: Wire


@dataclass(slots=True)
class Wires:
    """Finds the wire of a provider. SDKs load when their wire is first used (S2.4)."""

    plugins: Mapping[str, Plugin] = field(default_factory=dict)
    scripts: dict[str, ScriptedWire] = field(default_factory=dict)

    def of(self, provider: ProviderRecord, model: ModelRecord | None = None) -> Wire:
        """Return the wire for a provider; an offline model has a script of its own.

        Raises:
            NotFound: there is no such script, or the plugin is gone.
        """
        if provider.adapter is AdapterKind.SCRIPTED:
            return self._script(model.wire_name if model else "echo")
        if provider.adapter is AdapterKind.PLUGIN:
            found = self.plugins.get(provider.provider_id)
            if found is None:
                raise NotFound("the provider's plugin is not there", reason="unknown_provider")
            return found.wire
        wire: Wire = import_module(f"backshop.models.wires.{provider.adapter.value}")
        return wire

    def tasks(self, model: ModelRecord) -> tuple[Task, ...]:
        """Return what an offline model can do; other models have no list (M15.9)."""
        if model.provider_id != SCRIPTED:
            return ()
        try:
            return self._script(model.wire_name).script.tasks
        except NotFound:
            return ()  # a name without a script

    def flow(self, model: ModelRecord) -> str | None:
        """Return the flow of turns an offline model's script is written for, if for one."""
        if model.provider_id != SCRIPTED:
            return None
        try:
            return self._script(model.wire_name).script.flow
        except NotFound:
            return None

    def require(self, model: ModelRecord) -> None:
        """Refuse an offline model whose script is not there (M15.11).

        Raises:
            ValidationFailed: `unknown_model`, with the scripts there are.
        """
        if model.provider_id != SCRIPTED:
            return
        try:
            self._script(model.wire_name)
        except NotFound as error:
            known = sorted({*bundled_names(), *self.scripts})
            raise ValidationFailed(
                error.message,
                reason="unknown_model",
                hints=tuple(f"{SCRIPTED}:{one}" for one in known),
            ) from error

    def _script(self, name: str) -> ScriptedWire:
        if name not in self.scripts:
            self.scripts[name] = bundled(name)
        return self.scripts[name]


def load_plugins(problems: Callable[[str, str], None] | None = None) -> dict[str, Plugin]:
    """Return the installed plugins by provider id; one that fails is reported and skipped."""
    found: dict[str, Plugin] = {}
    for entry in entry_points(group=_GROUP):
        try:
            loaded = entry.load()
            plugin = loaded() if callable(loaded) else loaded
            if not isinstance(plugin, Plugin):
                raise TypeError("it is no backshop.models.Plugin")
            if plugin.provider.adapter is not AdapterKind.PLUGIN:
                raise TypeError("its adapter is not `plugin`")
            found[plugin.provider.provider_id] = plugin
        except Exception as error:  # a plugin's loading is somebody else's code
            _LOG.warning("the model plugin %s cannot be used", entry.name, exc_info=True)
            if problems is not None:
                problems(entry.name, str(error))
    return found


def with_plugins(catalog: Catalog, plugins: Mapping[str, Plugin]) -> Catalog:
    """Return the catalog with the plugins' providers; they replace no built-in one."""
    new = [one for name, one in plugins.items() if name not in catalog.providers]
    return catalog.joined(
        providers=[one.provider for one in new],
        models=[model for one in new for model in one.models],
    )
