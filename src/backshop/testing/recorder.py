"""Turns live calls into a script: call a real model once, replay it offline ever after (M15.7)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from backshop.base.redact import MASK, Redactor
from backshop.models import (
    AdapterBase,
    Cancel,
    Done,
    ModelRequest,
    StreamEvent,
    TextDelta,
    ToolCallDone,
    UsageReported,
)


class Recorder(AdapterBase):
    """Passes everything to another adapter and keeps what came back, without secrets.

    >>> recorder = Recorder(live)
    >>> recorder.evaluate(prompt, session=Session())
    >>> recorder.save(Path("review.json"), name="review")
    >>> scripted(Path("review.json")).evaluate(prompt, session=Session())
    """

    def __init__(self, live: AdapterBase, *, redactor: Redactor | None = None) -> None:
        super().__init__(
            adapter_name=live.adapter_name,
            model_id=live.model_id,
            capabilities=live.capabilities,
            prompt_budget_tokens=live.prompt_budget_tokens,
            workbench_id=live.workbench_id,
        )
        self._live = live
        self._redactor = redactor or Redactor()
        self.steps: list[dict[str, Any]] = []

    def complete(self, request: ModelRequest, cancel: Cancel) -> Iterator[StreamEvent]:
        """Make the call and remember its answer; an attempt that failed is not replayed."""
        heard: dict[str, Any] = {"literal": True, "text": "", "tool_calls": []}
        for event in self._live.complete(request, cancel):
            match event:
                case TextDelta(text=text):
                    heard["text"] += text  # whole, so that no secret hides between two pieces
                case ToolCallDone(name=name, arguments=arguments):
                    heard["tool_calls"].append({"name": name, "arguments": self._object(arguments)})
                case UsageReported(usage=usage):
                    heard["usage"] = {
                        "input_tokens": usage.input_tokens,
                        "output_tokens": usage.output_tokens,
                    }
                case Done(finish_reason=reason):
                    self.steps.append(self._step(request, {**heard, "finish": reason.value}))
                case _:
                    pass
            yield event

    def script(self, name: str) -> dict[str, Any]:
        """Return what was heard as a script; each step is played once, in order."""
        return {"name": name, "steps": self.steps}

    def save(self, path: Path, name: str) -> None:
        """Write the script to a file."""
        text = json.dumps(self.script(name), ensure_ascii=False, indent=1)
        path.write_text(text + "\n", encoding="utf-8")

    def _step(self, request: ModelRequest, heard: dict[str, Any]) -> dict[str, Any]:
        heard["text"] = self._redactor.scrub(heard["text"])
        respond = {key: value for key, value in heard.items() if value not in ([], "")}
        return {"when": {"purpose": request.purpose.value}, "respond": respond}

    def _object(self, arguments: Any) -> Any:
        """Return arguments as the object they are; a provider may send them as text."""
        try:
            given = json.loads(arguments) if isinstance(arguments, str) else arguments
        except ValueError:
            given = {}
        return self._cleaned(given)

    def _cleaned(self, value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            return {key: self._cleaned(item, str(key)) for key, item in value.items()}
        if isinstance(value, list):
            return [self._cleaned(item, name) for item in value]
        if not isinstance(value, str):
            return value
        is_secret = self._redactor.scrub(f"{name}: x") != f"{name}: x"
        return MASK if is_secret else self._redactor.scrub(value)
