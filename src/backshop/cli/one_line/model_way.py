"""The ways to a model for somebody who has none: a key, a server on this machine, the demo."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from backshop.base.command import NOTHING
from backshop.base.errors import BackshopError

if TYPE_CHECKING:
    from backshop.app import Backshop

FIRST = "openai"  # the provider that is named as an example
_SHOWN = 3


class NoModel(BackshopError):
    """No model can be asked; nothing was changed."""

    code = "PROVIDER_NOT_CONFIGURED"
    actions = ()


def require_model(shop: Backshop, model_id: str | None) -> str:
    """Return the model that is asked for, or the person's own, if it can be called.

    Raises:
        NoModel: it cannot; the hints are the ways to one.
    """
    from backshop.models import ModelRequestById, Models  # loaded when needed (S2.4)

    wanted = model_id or shop.ask(Models.default_model, NOTHING).model_id
    if wanted is None:
        ways = tuple(_ways(shop, FIRST, ()))
        raise NoModel("there is no model yet", reason="model_unavailable", hints=ways)
    listed = {one.model_id: one for one in shop.ask(Models.models, NOTHING).models}
    found = listed.get(wanted)
    if found is None:  # a model that only its provider knows, or none
        shop.ask(Models.capabilities, ModelRequestById(model_id=wanted))
        return wanted
    why = found.invalid_reason or found.unavailable_reason
    if why is None:
        return wanted
    usable = [
        one.model_id
        for one in listed.values()
        if not (one.invalid_reason or one.unavailable_reason or one.provider_id == "scripted")
    ]
    raise NoModel(
        f"{wanted} cannot be asked: {why}",
        reason="model_unavailable",
        hints=tuple(_ways(shop, wanted.partition(":")[0], usable)),
    )


def _ways(shop: Backshop, provider: str, usable: Sequence[str]) -> list[str]:
    from backshop.models import Providers  # loaded when needed (S2.4)

    ways = []
    if usable:
        ways.append(f"another model that is ready: --model {' or '.join(usable[:_SHOWN])}")
        ways.append(f"`backshop model use {usable[0]}` makes it yours")
    known = provider if not provider.startswith("local-") else FIRST
    ways.append(f"a key: `backshop provider set-key {known}` (others: `backshop provider list`)")
    answering = shop.ask(Providers.find_local, NOTHING).servers
    for one in answering:
        add = f"backshop provider add {one.provider_id} --preset {one.preset}"
        ways.append(f"a server answers at {one.base_url}: `{add}`, then `backshop provider probe`")
    if not answering and not any(one.startswith("local-") for one in usable):
        ways.append(
            "a server on this machine (Ollama, llama.cpp, LM Studio, vLLM): start it, then"
            " `backshop provider add local-ollama --preset ollama`"
        )
    return [*ways, "only to see how it works, on the demo's files: --model scripted:demo"]
