"""The commands of this room (M16)."""

from __future__ import annotations

from functools import partial
from typing import Any

from backshop.base.command import Command, method_command

from .permission import Permissions
from .providers.setup import Providers
from .service import Models

_command = partial(method_command, phase="settings")
_look = partial(_command, role="read", anybody=True)
_read = partial(_command, role="read")
_publish = partial(_command, role="publish", writes=True)
_own = partial(_command, role="owner", writes=True)


COMMANDS: tuple[Command[Models, Any, Any], ...] = (
    _look(
        "ModelsListSupported",
        "List every model, and why one cannot be used if it cannot.",
        Models.models,
    ),
    _look("ModelsGetCapabilities", "Say what can be done with a model.", Models.capabilities),
    _look(
        "UserGetDefaultModel", "Return the model new workbenches begin with.", Models.default_model
    ),
    _own(
        "UserSetDefaultModel",
        "Choose the model new workbenches begin with.",
        Models.set_default_model,
    ),
)
PERMISSION_COMMANDS: tuple[Command[Permissions, Any, Any], ...] = (
    _look(
        "UserGetConsentMode", "Say whether you are asked before content leaves.", Permissions.mode
    ),
    _own(
        "UserSetConsentMode",
        "Ask before content leaves, or let everything pass.",
        Permissions.set_mode,
    ),
    _read(
        "EgressGetConsentStatus",
        "Say what may leave for a workbench's model, and what is new.",
        Permissions.status,
    ),
    _publish(
        "EgressGrantWorkshopConsent",
        "Allow a workbench's content, as it is now, to go to a model.",
        Permissions.grant,
    ),
    _publish("EgressRevokeConsent", "Take permissions back.", Permissions.revoke),
    _read("EgressListEvents", "List what left the machine.", Permissions.egress_events),
    _read("UsageGet", "Say what was used, by model.", Permissions.usage),
)
PROVIDER_COMMANDS: tuple[Command[Providers, Any, Any], ...] = (
    _look("ProvidersGetStatus", "Say how every provider stands.", Providers.status),
    _own(
        "ProvidersSetApiKey", "Check a key with its provider and store it.", Providers.set_api_key
    ),
    _own("ProvidersClearApiKey", "Forget a provider's key.", Providers.clear_api_key),
    _own(
        "ProvidersMoveKeys",
        "Keep the master key of stored keys in the keyring, a file, or under a passphrase.",
        Providers.move_keys,
    ),
    _own("ProvidersSetEnabled", "Switch a provider on or off.", Providers.set_enabled),
    _own("ProvidersValidate", "Ask a provider whether it accepts its key.", Providers.validate),
    _own(
        "ProvidersSetReasoningEffort",
        "Set how hard a provider's models think, per phase.",
        Providers.set_reasoning_effort,
    ),
    _own("ProvidersUpsertLocal", "Add or change a server of your own.", Providers.upsert_local),
    _own(
        "ProvidersFindLocal",
        "Look which servers of models answer on this machine.",
        Providers.find_local,
    ),
    _own("ProvidersProbe", "Find out what a server of your own can do.", Providers.probe),
    _own("ProvidersRemove", "Forget a server of your own, with its key.", Providers.remove),
)
