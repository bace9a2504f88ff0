"""Providers, models and consent: what may be called, with which key, and what may leave."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from backshop.base.command import NOTHING

from .bench import BENCH
from .door import Door, DoorGroup, clean, pass_door, remember_bench, table, word

if TYPE_CHECKING:
    from backshop.models.requests import (
        ConsentStatus,
        EgressList,
        ModelList,
        Probed,
        ProvidersStatus,
        ProviderStatus,
    )

_ESTIMATED = "?"


@click.group(cls=DoorGroup)
def provider() -> None:
    """Keys and servers: who may be called."""


@provider.command("list")
@pass_door
def list_providers(door: Door) -> None:
    """Show how every provider stands."""
    from backshop.models import Providers  # loaded when needed (S2.4)

    door.ask(Providers.status, NOTHING, _providers)


def _providers(found: ProvidersStatus) -> str:
    rows = [
        (
            *(one.provider_id, one.status, _key(one), str(len(one.models))),
            one.attention or one.last_error or "",
        )
        for one in found.providers
    ]
    note = f"\nmaster key: {found.secrets_source}"
    if found.secrets_source == "file":
        note += " (protects against accidental disclosure only)"
    return table(rows, ("provider", "status", "key", "models", "note")) + note


@provider.command("set-key")
@click.argument("name")
@pass_door
def set_key(door: Door, name: str) -> None:
    """Store a key for NAME, read from the terminal or standard input, never from arguments."""
    from backshop.models import Providers, requests  # loaded when needed (S2.4)

    if sys.stdin.isatty():
        key = click.prompt(f"Key for {clean(name)}", hide_input=True)
    else:
        key = sys.stdin.readline()
    wish = requests.SetApiKey(provider_id=name, api_key=key.strip())
    with door.shop() as shop:
        done = shop.ask(Providers.set_api_key, wish)
        known = shop.ask(Providers.status, NOTHING).providers
    why = next((one.last_error for one in known if one.provider_id == name), None)
    door.show(done, lambda one: f"{name}: {one.status}" + (_unchecked(name, why) if why else ""))


def _unchecked(name: str, why: str) -> str:
    """Say that a key is kept though nobody could be asked about it (M3.2)."""
    return (
        f"\nthe key is kept, but it could not be checked ({clean(why)});"
        f" `backshop provider test {word(name)}` checks it again"
    )


@provider.command("move-keys")
@click.argument("to", type=click.Choice(["keyring", "file", "passphrase"]))
@pass_door
def move_keys(door: Door, to: str) -> None:
    """Keep the master key of stored keys elsewhere.

    With `passphrase` nothing is kept: BACKSHOP_SECRETS_PASSPHRASE must be set whenever keys are
    used.
    """
    from backshop.models import Providers, requests  # loaded when needed (S2.4)

    wish = requests.MoveKeys(to=to)
    door.ask(Providers.move_keys, wish, lambda done: f"master key: {done.secrets_source}")


@provider.command("remove-key")
@click.argument("name")
@pass_door
def remove_key(door: Door, name: str) -> None:
    """Forget the key of NAME."""
    from backshop.models import Providers, requests  # loaded when needed (S2.4)

    wish = requests.ProviderRequest(provider_id=name)
    door.ask(Providers.clear_api_key, wish, lambda done: f"{name}: {done.status}")


@provider.command()
@click.argument("name")
@pass_door
def test(door: Door, name: str) -> None:
    """Ask NAME whether it accepts its key."""
    from backshop.models import Providers, requests  # loaded when needed (S2.4)

    with door.shop() as shop:
        found = shop.ask(Providers.validate, requests.ProviderRequest(provider_id=name))
    door.show(found, lambda one: "accepted" if one.ok else f"not accepted: {one.error}")
    if not found.ok:
        raise click.exceptions.Exit(1)


@provider.command()
@click.argument("name")
@click.option(
    "--preset",
    default="custom",
    help="ollama, vllm, llamacpp, lmstudio or custom.",
    show_default=True,
)
@click.option("--url", help="Where the server answers; the preset's address if left out.")
@click.option("--model", "models", multiple=True, help="A model it offers; may be given often.")
@click.option(
    "--allow-private-host", is_flag=True, help="Allow a server in a private network, by http too."
)
@click.option("--needs-key", is_flag=True, help="The server asks for a key.")
@pass_door
def add(
    door: Door,
    name: str,
    preset: str,
    url: str | None,
    models: tuple[str, ...],
    allow_private_host: bool,
    needs_key: bool,
) -> None:
    """Add or change the OpenAI-compatible server NAME, such as local-ollama."""
    from backshop.models import Providers, requests  # loaded when needed (S2.4)

    wish = requests.UpsertLocal(
        provider_id=name,
        preset=preset,
        base_url=url or None,
        models=models or None,
        allow_private_host=allow_private_host,
        needs_key=needs_key,
    )
    door.ask(Providers.upsert_local, wish, lambda done: f"{name}: {done.status}")


@provider.command()
@click.argument("name")
@pass_door
def remove(door: Door, name: str) -> None:
    """Forget a server of your own, with its key."""
    from backshop.models import Providers, requests  # loaded when needed (S2.4)

    wish = requests.ProviderRequest(provider_id=name)
    door.ask(Providers.remove, wish, lambda _: f"{name} is gone")


@provider.command()
@click.argument("name")
@pass_door
def probe(door: Door, name: str) -> None:
    """Find out what a server of your own can do."""
    from backshop.models import Providers, requests  # loaded when needed (S2.4)

    door.ask(Providers.probe, requests.ProviderRequest(provider_id=name), _probed)


def _probed(found: Probed) -> str:
    lines = [
        "models: " + ", ".join(map(clean, found.models)),
        "can: " + ", ".join(flag for flag, value in asdict(found.supports).items() if value),
        f"window: {found.context_tokens} tokens",
        "take pictures: " + (", ".join(map(clean, found.pictures)) or "none that the server says"),
    ]
    return "\n".join([*lines, *(f"note: {clean(one)}" for one in found.warnings)])


@provider.command()
@click.argument("name")
@click.argument("research")
@click.argument("plan")
@click.argument("implement")
@pass_door
def effort(door: Door, name: str, research: str, plan: str, implement: str) -> None:
    """Set how hard the models of NAME think in each phase: none, low, medium, high …"""
    from backshop.models import Providers, requests  # loaded when needed (S2.4)

    wish = requests.SetReasoningEffort(
        provider_id=name, research_effort=research, plan_effort=plan, implement_effort=implement
    )
    door.ask(Providers.set_reasoning_effort, wish, lambda _: f"{name}: efforts are set")


@click.group(cls=DoorGroup)
def model() -> None:
    """Which models there are, and which one new workbenches begin with."""


@model.command("list")
@pass_door
def list_models(door: Door) -> None:
    """Show every model, and why one cannot be used if it cannot."""
    from backshop.models import Models  # loaded when needed (S2.4)

    with door.shop() as shop:
        chosen = shop.ask(Models.default_model, NOTHING).model_id
        found = shop.ask(Models.models, NOTHING)
    door.show(found, lambda listed: _models(listed, chosen))


def _models(found: ModelList, chosen: str | None) -> str:
    rows = [
        (
            "*" if one.is_default else "",
            one.model_id,
            f"{one.context_tokens_estimate:,}" + (_ESTIMATED if one.approximate else ""),
            " ".join(one.efforts),
            one.invalid_reason or one.unavailable_reason or "",
        )
        for one in found.models
    ]
    shown = table(rows, ("", "model", "window", "efforts", "cannot be used"))
    if any(one.approximate for one in found.models):
        shown += f"\n{_ESTIMATED} a guess: the provider does not say"
    if any(one.is_default for one in found.models):
        return shown
    if chosen is None:
        return f"{shown}\nthere is no model yet: `provider set-key` or `provider add` brings one"
    return f"{shown}\nthe model you chose is not there any more: {chosen}"


@model.command()
@click.argument("model_id")
@click.option(
    "--bench", callback=remember_bench, help="Only for this workbench, from its next turn on."
)
@pass_door
def use(door: Door, model_id: str, bench: str | None) -> None:
    """Let new workbenches begin with MODEL_ID, or let one workbench use it from now on."""
    if bench is not None:
        with door.shop() as shop:
            shop.workshop(bench).use_model(model_id)
        door.show({}, lambda _: f"{bench} uses {model_id}")
        return
    from backshop.models import ModelRequestById, Models  # loaded when needed (S2.4)

    wish = ModelRequestById(model_id=model_id)
    door.ask(Models.set_default_model, wish, lambda _: f"new workbenches use {model_id}")


@click.group(cls=DoorGroup)
def consent() -> None:
    """What may leave the machine, and what left."""


@consent.command("list")
@BENCH
@click.option(
    "--model", "model_id", help="For which model; the one this workbench uses if left out."
)
@click.option("--sent", is_flag=True, help="Show what left the machine instead.")
@pass_door
def list_consent(door: Door, bench: str, model_id: str | None, sent: bool) -> None:
    """Show what a workbench would send and whether you agreed to it."""
    from backshop.models import Permissions, requests  # loaded when needed (S2.4)

    with door.shop() as shop:
        bench_id = shop.bench_id(bench)
        if sent:
            listed = requests.ListEgress(workbench_id=bench_id)
            door.show(shop.ask(Permissions.egress_events, listed), _sent)
            return
        wish = requests.ConsentQuery(workbench_id=bench_id, model_id=model_id)
        door.show(shop.ask(Permissions.status, wish), _status)


@consent.command()
@BENCH
@click.option(
    "--model", "model_id", help="For which model; the one this workbench uses if left out."
)
@pass_door
def grant(door: Door, bench: str, model_id: str | None) -> None:
    """Allow a workbench's content, as it is now, to go to a model, until you revoke it."""
    from backshop.models import Permissions, requests  # loaded when needed (S2.4)

    with door.shop() as shop:
        wish = requests.ConsentQuery(workbench_id=shop.bench_id(bench), model_id=model_id)
        status = shop.ask(Permissions.status, wish)
        agreed = requests.GrantConsent(
            workbench_id=wish.workbench_id,
            provider_id=status.provider_id,
            model_id=status.model_id,
            scope_hash=status.scope_hash,
            persist=True,
        )
        shop.ask(Permissions.grant, agreed)
        door.show(shop.ask(Permissions.status, wish), _status)


@consent.command()
@BENCH
@click.option("--provider", "provider_id", help="Only this provider.")
@click.option("--model", "model_id", help="Only this model.")
@pass_door
def revoke(door: Door, bench: str, provider_id: str | None, model_id: str | None) -> None:
    """Take permissions back."""
    from backshop.models import Permissions, requests  # loaded when needed (S2.4)

    with door.shop() as shop:
        wish = requests.RevokeConsent(
            workbench_id=shop.bench_id(bench), provider_id=provider_id, model_id=model_id
        )
        door.show(shop.ask(Permissions.revoke, wish), lambda _: "revoked")


@consent.command()
@click.argument("value", required=False, type=click.Choice(["ask", "allow_all"]))
@click.option("--yes", is_flag=True, help="Approve that everything may leave unasked.")
@pass_door
def mode(door: Door, value: str | None, yes: bool) -> None:
    """Show or set whether you are asked before content leaves."""
    from backshop.models import Permissions, requests  # loaded when needed (S2.4)

    with door.shop() as shop:
        if value is not None:
            shop.ask(Permissions.set_mode, requests.SetConsentMode(mode=value, approved=yes))
        door.show(shop.ask(Permissions.mode, NOTHING), lambda one: one.mode)


def _key(one: ProviderStatus) -> str:
    if one.auth == "none":
        return "not needed"
    return f"…{one.key_hint} ({one.key_source})" if one.key_hint else "none"


def _status(found: ConsentStatus) -> str:
    if found.provider_id == "scripted":
        return f"{found.model_id} is a script on this machine: nothing leaves, nobody has to agree"
    if not found.asked:
        return f"{found.model_id} stays on this machine; not asked for (consent.for_local)"
    said = "may leave" if found.consented else "may NOT leave yet"
    kept = ", kept" if found.persisted else ""
    head = f"{found.model_id} at {found.host or 'this machine'}: {said} ({found.mode}{kept})"
    new = set(found.new_items)
    rows = [("new" if one.path in new else "", one.path, f"{one.size:,}") for one in found.files]
    rows += [("new" if one in new else "", one, "context") for one in found.context]
    return f"{head}\n{table(rows, ('', 'what', 'bytes'))}" if rows else head


def _sent(found: EgressList) -> str:
    rows = [
        (
            *(one.at, one.kind, one.model_id or one.provider_id),
            *(one.host, f"{one.bytes_out:,}", one.status),
        )
        for one in found.events
    ]
    return table(rows, ("when", "what", "model", "host", "bytes", "outcome"))
