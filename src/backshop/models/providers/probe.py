"""Finds out what an OpenAI-compatible server can do, with a few fixed requests (M6.6)."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

from .. import messages
from ..catalog.catalog import ModelRecord, Supports
from ..catalog.told import ModelFacts
from ..egress.gate import Channel
from ..egress.stream import Wire, complete
from ..requests import Probed
from . import ollama
from .description import described
from .provider import LocalServer, local_model

_TOOL = messages.ToolSpec(
    name="answer",
    description="Give the answer.",
    parameters={
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
        "additionalProperties": False,
    },
)
_OUTPUT_TOKENS = 256
_MODELS_MAX = 200
_SHOWN_MAX = 20  # models that are asked about one by one


def probe(
    wire: Wire, channel: Channel, server: LocalServer, at: str
) -> tuple[Probed, LocalServer, dict[str, ModelFacts]]:
    """Return what was found, the server's record with it, and which models take pictures.

    Raises:
        ModelError: the server cannot even list its models.
    """
    told = described(wire, channel)
    provider_id = channel.provider.provider_id
    usable = (name for name in told if messages.MODEL_ID.fullmatch(f"{provider_id}:{name}"))
    names = tuple(islice(usable, _MODELS_MAX))
    wanted = [name for name in server.models if name in names] or list(names)
    warnings: list[str] = []
    supports = Supports()
    if wanted:
        model = local_model(channel.provider.provider_id, wanted[0], server)
        supports, warnings = _try_all(wire, channel, model)
    else:
        warnings.append("the server offers no model")
    kept = server.models or tuple(names)
    windows = {name: told[name].context_tokens for name in wanted}
    if server.preset == "ollama" and wanted and (own := ollama.window(channel, wanted[0])):
        windows[wanted[0]] = own  # the model is loaded by now, so the server knows
    eyes = {name: told[name].vision for name in wanted}
    if server.preset == "ollama":
        eyes |= {name: ollama.vision(channel, name) for name in wanted[:_SHOWN_MAX]}
    known = next((windows[name] for name in wanted[:1] if windows[name]), None)
    found = replace(
        server,
        supports=supports,
        models=kept,
        probed_at=at,
        context_tokens=known or server.context_tokens,
        windows={name: size for name, size in windows.items() if size is not None},
    )
    window = local_model(channel.provider.provider_id, "x", found).context_tokens_estimate
    probed = Probed(
        models=names,
        supports=supports,
        context_tokens=window,
        pictures=tuple(name for name in wanted if eyes[name]),
        warnings=tuple(warnings),
    )
    return probed, found, {name: ModelFacts(vision=sees) for name, sees in eyes.items()}


def _try_all(wire: Wire, channel: Channel, model: ModelRecord) -> tuple[Supports, list[str]]:
    """Try one ability after another; what fails clears its flag and says what to change."""
    warnings: list[str] = []
    supports = Supports(strict_tools=False)
    plain = _ask(wire, channel, replace(model, supports=supports), tools=False)
    if _failed(plain):
        supports = replace(supports, usage=False)
        plain = _ask(wire, channel, replace(model, supports=supports), tools=False)
    if _failed(plain):
        warnings.append(f"a plain streamed call fails: {_why(plain)}")
        return replace(supports, streaming=False, tools=False), warnings
    if not any(isinstance(event, messages.UsageReported) for event in plain):
        supports = replace(supports, usage=False)
        warnings.append("the server reports no usage; tokens are estimated")
    for change, hint in (
        ({}, ""),
        ({"parallel_flag": False}, "parallel_tool_calls is not known to the server"),
        ({"parallel_flag": False, "tool_choice_required": False}, "a call cannot be forced"),
    ):
        tried = replace(supports, **change)
        events = _ask(wire, channel, replace(model, supports=tried), tools=True)
        if any(isinstance(event, messages.ToolCallDone) for event in events):
            warnings += [hint] if hint else []
            return _try_strict(wire, channel, model, tried, warnings)
    warnings.append(
        "no tool call came back: the model calls none, or the server runs without tool support"
    )
    return replace(supports, tools=False), warnings


def _try_strict(
    wire: Wire, channel: Channel, model: ModelRecord, supports: Supports, warnings: list[str]
) -> tuple[Supports, list[str]]:
    tried = replace(supports, strict_tools=True)
    events = _ask(wire, channel, replace(model, supports=tried), tools=True)
    if any(isinstance(event, messages.ToolCallDone) for event in events):
        return tried, warnings
    return supports, [*warnings, "strict schemas are refused; tools are checked here instead"]


def _ask(
    wire: Wire, channel: Channel, model: ModelRecord, *, tools: bool
) -> list[messages.StreamEvent]:
    request = messages.ModelRequest(
        model_id=model.model_id,
        messages=(messages.Message(role=messages.Role.USER, text="Answer with the word yes."),),
        tools=(_TOOL,) if tools else (),
        max_output_tokens=_OUTPUT_TOKENS,
    )
    return list(complete(wire, request, model, channel))


def _failed(events: list[messages.StreamEvent]) -> bool:
    return not isinstance(events[-1], messages.Done)


def _why(events: list[messages.StreamEvent]) -> str:
    last = events[-1]
    return last.error.error_code if isinstance(last, messages.Failed) else "no end"
