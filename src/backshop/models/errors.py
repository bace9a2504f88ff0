"""What can go wrong between the product and a model, each with its code of M11."""

from __future__ import annotations

from dataclasses import replace

from backshop.base.errors import BackshopError, ErrorInfo, Retry


class ModelError(BackshopError):
    """A call to a model did not end well; knows which provider and model it was."""

    def __init__(
        self,
        message: str,
        *,
        reason: str | None = None,
        detail: str | None = None,
        detail_ref: str | None = None,
        hints: tuple[str, ...] = (),
        choices: tuple[str, ...] = (),
        retry: Retry | None = None,
        provider_id: str | None = None,
        model_id: str | None = None,
        scope_hash: str | None = None,
    ) -> None:
        super().__init__(
            message,
            reason=reason,
            detail=detail,
            detail_ref=detail_ref,
            hints=hints,
            choices=choices,
            retry=retry,
        )
        self.provider_id = provider_id
        self.model_id = model_id
        self.scope_hash = scope_hash

    def info(self, phase: str, *, subphase: str | None = None) -> ErrorInfo:
        """Return this error as data, with the provider and model it is about."""
        return replace(
            super().info(phase, subphase=subphase),
            provider_id=self.provider_id,
            model_id=self.model_id,
            scope_hash=self.scope_hash,
        )


class ConsentRequired(ModelError):
    """The person has not allowed this content to go to this model; nothing was sent."""

    code = "EGRESS_CONSENT_REQUIRED"


class EgressBlocked(ModelError):
    """The request would leave the machine in a way the policy forbids; nothing was sent."""

    code = "EGRESS_BLOCKED_BY_POLICY"


class ProviderNotConfigured(ModelError):
    """No usable model: unknown key, disabled provider, or nothing chosen."""

    code = "PROVIDER_NOT_CONFIGURED"


def no_model() -> ProviderNotConfigured:
    """Return what is said where nobody chose a model and none could answer (M2.6)."""
    return ProviderNotConfigured(
        "there is no model yet",
        reason="no_model",
        hints=(
            "give a provider its key, or add a server of your own, in Settings",
            "scripted:demo answers without either, from prepared tasks",
        ),
    )


class AuthFailed(ModelError):
    """The provider does not accept the key."""

    code = "PROVIDER_AUTH_FAILED"


class RateLimited(ModelError):
    """The provider asks to wait, or the quota is used up."""

    code = "PROVIDER_RATE_LIMITED"


class ProviderUnavailable(ModelError):
    """The provider was reached and could not answer, or stopped in the middle."""

    code = "PROVIDER_UNAVAILABLE"


class RequestRejected(ModelError):
    """The provider refuses this request as it is."""

    code = "PROVIDER_REQUEST_REJECTED"


class BadResponse(ModelError):
    """The provider answered with something that is no answer."""

    code = "PROVIDER_BAD_RESPONSE"


class NetworkUnavailable(ModelError):
    """The provider could not be reached at all."""

    code = "NETWORK_UNAVAILABLE"


class ContextExhausted(ModelError):
    """The request does not fit into the model's window."""

    code = "CONTEXT_EXHAUSTED"


class BudgetReached(ModelError):
    """The next call would go over the budget the person set; it was not sent."""

    code = "BUDGET_CAP_REACHED"


class Canceled(ModelError):
    """The person stopped the call."""

    code = "USER_CANCELED"


class LoopDetected(ModelError):
    """The model makes the same call again and again."""

    code = "AGENT_LOOP_DETECTED"


class KeyUnusable(ModelError):
    """There is a key, and it cannot be used as it is."""

    code = "PROVIDER_NOT_CONFIGURED"


class SecretsUnreadable(KeyUnusable):
    """The key store cannot be opened with the master key at hand; it was left as it is."""
