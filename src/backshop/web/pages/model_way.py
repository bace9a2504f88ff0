"""The ways to a model, for a bench whose model cannot answer: a key, a server here, the demo."""

from __future__ import annotations

from dataclasses import dataclass

from backshop.base.command import NOTHING
from backshop.base.errors import ValidationFailed
from backshop.models import Providers
from backshop.models.requests import ModelStatus, ProviderRequest, ProviderStatus, UpsertLocal
from backshop.workshop import Workshop
from backshop.workshop.requests import SwitchModel

from .kit import Redirect, Visit, route, tried

SERVERS = {"ollama": "Ollama", "lmstudio": "LM Studio", "llamacpp": "llama.cpp", "vllm": "vLLM"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """What can be done about a bench without a model; `model` is one that cannot answer."""

    model: ModelStatus | None
    providers: tuple[ProviderStatus, ...]
    may_set_up: bool


def ways(visit: Visit, model_id: str | None, models: tuple[ModelStatus, ...]) -> Ways | None:
    """Return the ways to a model, None where the bench has one that can answer (U3.22)."""
    own = next((one for one in models if one.model_id == model_id), None)
    if model_id is not None and (own is None or own.unavailable_reason is None):
        return None
    known, _ = tried(visit, Providers.status, NOTHING)
    keyed = (one for one in (known.providers if known else ()) if one.auth == "api_key")
    return Ways(model=own, providers=tuple(keyed), may_set_up=visit.user is None)


def use_server(visit: Visit) -> Redirect:
    """Add a server that answered, find out what it can do, and let its first model answer."""
    bench_id, preset = visit.params["bench_id"], str(visit.form.get("preset") or "")
    provider_id = str(visit.form.get("provider_id") or "")
    if preset not in SERVERS:
        raise ValidationFailed("there is no such kind of server", reason="bad_preset")
    found = visit.ask(Providers.find_local, NOTHING).servers
    if not any(one.provider_id == provider_id and one.is_added for one in found):
        visit.ask(Providers.upsert_local, UpsertLocal(provider_id=provider_id, preset=preset))
    probed = visit.ask(Providers.probe, ProviderRequest(provider_id=provider_id))
    if not probed.models:
        raise ValidationFailed(
            f"{SERVERS[preset]} answers, but it has no model: load one there first",
            reason="no_model",
        )
    wish = SwitchModel(workbench_id=bench_id, model_id=f"{provider_id}:{probed.models[0]}")
    visit.ask(Workshop.switch_model, wish)
    return Redirect(f"/bench/{bench_id}?stay=1")


ROUTES = (route("/bench/{bench_id}/use-server", use_server, "POST"),)
