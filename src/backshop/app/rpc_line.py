"""JSON-RPC over a pair of streams: requests line by line, notifications in between (S5.1, S5.2).

`rpc.subscribe {workbench_id?, session_id?, after?}` answers `{subscription, position}`; from then
on the events come as JSON-RPC notifications. `rpc.unsubscribe {subscription}` ends them. A command
that may take minutes runs beside the others, so that it can be canceled by the same client.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from backshop.base.canon import parse
from backshop.base.errors import ValidationFailed

from .command.rpc import Asked, answer, asked_for, refusal
from .notice.hub import About, Subscription
from .shop import Backshop

SUBSCRIBE, UNSUBSCRIBE = "rpc.subscribe", "rpc.unsubscribe"
LONG = frozenset(
    {
        "ContextProcess",
        "DigestRefresh",
        "WorkshopRegenerate",
        "WorkshopRunAgent",
        "WorkshopStreamAssistantReply",
    }
)
_WAIT_S = 0.5


class RpcLine:
    """One client. `write` gets every document that is due, whole, one at a time."""

    def __init__(self, shop: Backshop, version: str, write: Callable[[Any], None]) -> None:
        self._shop = shop
        self._version = version
        self._write = write
        self._lock = threading.Lock()
        self._open: dict[int, Subscription] = {}
        self._last = 0
        self._work: list[threading.Thread] = []
        self._followers: list[threading.Thread] = []

    def take(self, line: bytes) -> None:
        """Answer one line; what is long goes on beside the next ones."""
        asked = _asked(line)
        if asked is not None and asked.method in (SUBSCRIBE, UNSUBSCRIBE):
            answered = self._subscription(asked)
            self._send(answered if asked.is_answered else None)
        elif asked is not None and asked.method in LONG:
            thread = threading.Thread(target=self._answer, args=(line,), daemon=True)
            self._work.append(thread)
            thread.start()
        else:
            self._answer(line)

    def subscribe(self) -> None:
        """Let every event come as a notification from now on."""
        self._begin({})

    def close(self) -> None:
        """Wait for what is still being worked on, then end every subscription."""
        for thread in self._work:
            thread.join()
        for one in list(self._open.values()):
            one.close()
        for thread in self._followers:
            thread.join(_WAIT_S * 4)

    def _answer(self, line: bytes) -> None:
        self._send(answer(self._shop.commands, line, self._version))

    def _send(self, document: Any | None) -> None:
        if document is not None:
            with self._lock:
                self._write(document)

    def _subscription(self, asked: Asked) -> dict[str, Any]:
        params = asked.params or {}
        try:
            if not isinstance(params, dict):
                raise ValidationFailed("params are an object", reason="bad_request")
            result = self._end(params) if asked.method == UNSUBSCRIBE else self._begin(params)
        except Exception as error:  # a surface's outermost handler
            return refusal(asked.id, error, "workbench")
        return {"jsonrpc": "2.0", "id": asked.id, "result": result}

    def _begin(self, params: dict[str, Any]) -> dict[str, Any]:
        after = params.get("after")
        if after is not None and (type(after) is not int or after < 0):
            raise ValidationFailed("after is a position", reason="bad_request")
        about = About(
            workbench_id=_text(params, "workbench_id"), session_id=_text(params, "session_id")
        )
        stack = ExitStack()
        position = self._shop.hub.position
        subscription = stack.enter_context(self._shop.hub.subscribe(about, after=after))
        self._last += 1
        number = self._last
        self._open[number] = subscription
        thread = threading.Thread(target=self._follow, args=(number, subscription, stack))
        thread.daemon = True
        self._followers.append(thread)
        thread.start()
        return {"subscription": number, "position": position}

    def _end(self, params: dict[str, Any]) -> dict[str, Any]:
        number = params.get("subscription")
        found = self._open.pop(number, None) if type(number) is int else None
        if found is None:
            raise ValidationFailed("there is no such subscription", reason="bad_request")
        found.close()
        return {}

    def _follow(self, number: int, subscription: Subscription, stack: ExitStack) -> None:
        with stack:
            while not subscription.closed and not subscription.lagged:
                for note in subscription.wait(_WAIT_S):
                    self._send({"jsonrpc": "2.0", "method": note.name, "params": note.params})
        self._open.pop(number, None)


def _asked(line: bytes) -> Asked | None:
    """Return what a line asks for; where it is no request, `answer` says what is wrong with it."""
    try:
        return asked_for(parse(line))
    except ValidationFailed:
        return None


def _text(params: dict[str, Any], name: str) -> str | None:
    value = params.get(name)
    if value is not None and not isinstance(value, str):
        raise ValidationFailed(f"{name} is a text", reason="bad_request")
    return value
