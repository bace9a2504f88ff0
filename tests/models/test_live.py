"""A real small model behind llama.cpp's server, where one is running.

Start one with tool support (`llama-server --jinja -m MODEL.gguf`) and set LLAMA_SERVER_URL to its
address, such as http://127.0.0.1:8080/v1.
"""

from __future__ import annotations

import os

import pytest

from backshop.app import Backshop
from backshop.prompts import MarkdownSection, Prompt, Session

URL = os.environ.get("LLAMA_SERVER_URL")


@pytest.mark.skipif(URL is None, reason="LLAMA_SERVER_URL names no llama.cpp server")
def test_the_chat_wire_works_with_a_real_model(tmp_path):
    prompt = Prompt(
        "tests/live",
        "say",
        sections=[MarkdownSection("Say", "Answer with one word.", key="say", role="user")],
    )
    with Backshop.open(tmp_path) as shop:
        shop.call(
            "ProvidersUpsertLocal",
            {"provider_id": "local-live", "preset": "llamacpp", "base_url": URL},
        )
        found = shop.call("ProvidersProbe", {"provider_id": "local-live"})
        model = f"local-live:{found['models'][0]}"

        response = shop.models.adapter(model).evaluate(prompt, session=Session())

    assert response.text
    assert response.usage.output_tokens > 0
