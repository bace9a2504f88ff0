"""The commands of this room (M16)."""

from __future__ import annotations

from typing import Any

from backshop.base.command import Command, Nothing

from .requests import (
    ConsentQuery,
    ConsentStatus,
    DefaultModel,
    Done,
    EgressList,
    GrantConsent,
    KeysMoved,
    ListEgress,
    Mode,
    ModelCapabilities,
    ModelList,
    ModelRequestById,
    MoveKeys,
    Probed,
    ProviderRequest,
    ProvidersStatus,
    RevokeConsent,
    SetApiKey,
    SetConsentMode,
    SetEnabled,
    SetReasoningEffort,
    StatusOnly,
    UpsertLocal,
    UsageQuery,
    UsageReport,
    Validated,
)
from .service import Models


def _command(
    name: str, summary: str, request: type, response: Any, run: Any, *, writes: bool = False
) -> Command[Models, Any, Any]:
    return Command(
        name=name,
        summary=summary,
        request=request,
        response=response,
        run=run,
        phase="settings",
        writes=writes,
    )


COMMANDS: tuple[Command[Models, Any, Any], ...] = (
    _command(
        "ProvidersGetStatus",
        "Say how every provider stands.",
        Nothing,
        ProvidersStatus,
        lambda models, _: models.providers.status(),
    ),
    _command(
        "ProvidersSetApiKey",
        "Check a key with its provider and store it.",
        SetApiKey,
        StatusOnly,
        lambda models, request: models.providers.set_api_key(request),
        writes=True,
    ),
    _command(
        "ProvidersClearApiKey",
        "Forget a provider's key.",
        ProviderRequest,
        StatusOnly,
        lambda models, request: models.providers.clear_api_key(request),
        writes=True,
    ),
    _command(
        "ProvidersMoveKeys",
        "Keep the master key of stored keys in the keyring, a file, or under a passphrase.",
        MoveKeys,
        KeysMoved,
        lambda models, request: models.providers.move_keys(request),
        writes=True,
    ),
    _command(
        "ProvidersSetEnabled",
        "Switch a provider on or off.",
        SetEnabled,
        StatusOnly,
        lambda models, request: models.providers.set_enabled(request),
        writes=True,
    ),
    _command(
        "ProvidersValidate",
        "Ask a provider whether it accepts its key.",
        ProviderRequest,
        Validated,
        lambda models, request: models.providers.validate(request),
        writes=True,
    ),
    _command(
        "ProvidersSetReasoningEffort",
        "Set how hard a provider's models think, per phase.",
        SetReasoningEffort,
        Done,
        lambda models, request: models.providers.set_reasoning_effort(request),
        writes=True,
    ),
    _command(
        "ProvidersUpsertLocal",
        "Add or change a server of your own.",
        UpsertLocal,
        StatusOnly,
        lambda models, request: models.providers.upsert_local(request),
        writes=True,
    ),
    _command(
        "ProvidersProbe",
        "Find out what a server of your own can do.",
        ProviderRequest,
        Probed,
        lambda models, request: models.providers.probe(request),
        writes=True,
    ),
    _command(
        "ProvidersRemove",
        "Forget a server of your own, with its key.",
        ProviderRequest,
        Done,
        lambda models, request: models.providers.remove(request),
        writes=True,
    ),
    _command(
        "ModelsListSupported",
        "List every model, and why one cannot be used if it cannot.",
        Nothing,
        ModelList,
        lambda models, _: models.models(),
    ),
    _command(
        "ModelsGetCapabilities",
        "Say what can be done with a model.",
        ModelRequestById,
        ModelCapabilities,
        lambda models, request: models.capabilities(request),
    ),
    _command(
        "UserGetDefaultModel",
        "Return the model new workbenches begin with.",
        Nothing,
        DefaultModel,
        lambda models, _: models.default_model(),
    ),
    _command(
        "UserSetDefaultModel",
        "Choose the model new workbenches begin with.",
        ModelRequestById,
        Done,
        lambda models, request: models.set_default_model(request),
        writes=True,
    ),
    _command(
        "UserGetConsentMode",
        "Say whether you are asked before content leaves.",
        Nothing,
        Mode,
        lambda models, _: models.permissions.mode(),
    ),
    _command(
        "UserSetConsentMode",
        "Ask before content leaves, or let everything pass.",
        SetConsentMode,
        Done,
        lambda models, request: models.permissions.set_mode(request),
        writes=True,
    ),
    _command(
        "EgressGetConsentStatus",
        "Say what may leave for a workbench's model, and what is new.",
        ConsentQuery,
        ConsentStatus,
        lambda models, request: models.permissions.status(request),
    ),
    _command(
        "EgressGrantWorkshopConsent",
        "Allow a workbench's content, as it is now, to go to a model.",
        GrantConsent,
        Done,
        lambda models, request: models.permissions.grant(request),
        writes=True,
    ),
    _command(
        "EgressRevokeConsent",
        "Take permissions back.",
        RevokeConsent,
        Done,
        lambda models, request: models.permissions.revoke(request),
        writes=True,
    ),
    _command(
        "EgressListEvents",
        "List what left the machine.",
        ListEgress,
        EgressList,
        lambda models, request: models.permissions.egress_events(request),
    ),
    _command(
        "UsageGet",
        "Say what was used, by model.",
        UsageQuery,
        UsageReport,
        lambda models, request: models.permissions.usage(request),
    ),
)
