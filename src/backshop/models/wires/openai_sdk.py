"""OpenAI's SDK, as both of its protocols use it: the client, its models, its errors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from backshop.base.errors import BackshopError
from backshop.models.egress import fault as egress_fault
from backshop.models.egress.gate import Channel

from .shape import Json

if TYPE_CHECKING:
    from openai import OpenAI


@contextmanager
def speaking(channel: Channel) -> Iterator[OpenAI]:
    """Give a client for one call; what the SDK raises meanwhile becomes an error of ours."""
    import openai  # over half a second: on first use

    try:
        with _client(channel) as client:
            yield client
    except (openai.OpenAIError, ValueError) as error:
        raise fault(error, channel) from error


def listed(channel: Channel) -> list[Json]:
    """Return the provider's models as it describes them, in the order of their names."""
    with speaking(channel) as client:
        try:
            found = [one.to_dict(warnings=False) for one in client.models.list().data]
        except (TypeError, AttributeError) as error:
            raise ValueError("this is no list of models") from error
    return sorted((one for one in found if isinstance(one.get("id"), str)), key=_name)


def fault(error: Exception, channel: Channel) -> BackshopError:
    """Return our error for one of the SDK's (M11.6)."""
    import openai

    from backshop.models.egress.transport import network_fault  # loaded with the SDK

    if isinstance(error, openai.APIStatusError):
        headers, text = dict(error.response.headers), error.response.text
        found = egress_fault.from_status(error.status_code, headers, text, now_ms=channel.now_ms())
        return channel.referred(found, text)
    if isinstance(error, openai.APIConnectionError):
        return network_fault(error)
    if isinstance(error, openai.APIError) and not isinstance(
        error, openai.APIResponseValidationError
    ):
        kind = error.code or error.type or "error"
        return egress_fault.from_code(str(kind), json.dumps(error.body, default=str))
    return network_fault(error)


def _name(model: Json) -> str:
    return str(model["id"])


def _client(channel: Channel) -> OpenAI:
    from openai import OpenAI

    client = OpenAI(
        api_key=channel.api_key,
        base_url=channel.provider.base_url,
        max_retries=0,
        timeout=None,
        http_client=channel.client(),
    )
    client._custom_headers = {}  # what OPENAI_CUSTOM_HEADERS put there
    return client
