"""A provider on this machine: speaks HTTP over a plain socket, so that it can also misbehave."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Reply:
    """An answer: its chunks are written one by one; `hang` keeps the connection open after them."""

    chunks: list[bytes]
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = "text/event-stream"
    hang: bool = False
    pause_s: float = 0.0
    head_pause_s: float = 0.0  # between the bytes of the head
    before: Callable[[], None] | None = None
    then: Callable[[], Callable[[], None]] | None = None
    """Called after the chunks; what it returns is called when the client closed the line."""
    keeps: bool = False
    """Whether the connection stands for the next request after this answer."""
    until: threading.Event | None = None
    """Set when the connection was closed behind an answer that promised to keep it."""
    drops: bool = False
    """Whether the connection is closed instead of an answer."""


@dataclass
class Seen:
    """A request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Provider:
    """Answers requests with the replies it was given, one after another; the last one repeats."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.seen: list[Seen] = []
        self.connections = 0
        self.closing = threading.Event()
        self._idle = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._accept = threading.Thread(target=self._serve, daemon=True)
        self._accept.start()

    @property
    def port(self) -> int:
        return int(self._socket.getsockname()[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def close(self) -> None:
        self.closing.set()
        self._socket.shutdown(socket.SHUT_RDWR)  # wakes the accepting thread
        self._accept.join(5)
        self._socket.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            thread = threading.Thread(target=self._answer, args=(connection,), daemon=True)
            thread.start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):  # the client may go away
            while self._answered(connection):
                pass

    def _answered(self, connection: socket.socket) -> bool:
        """Answer one request; return whether another may follow on this connection."""
        seen = _read_request(connection)
        if seen is None:
            return False
        self.seen.append(seen)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if reply.before:
            reply.before()
        if reply.drops:
            return False
        self._send_head(connection, reply)
        for chunk in reply.chunks:
            connection.sendall(_chunked(chunk) if reply.keeps else chunk)
            if reply.pause_s and self.closing.wait(reply.pause_s):
                return False
        if reply.keeps:
            connection.sendall(_chunked(b""))
        if reply.until is not None:
            connection.shutdown(socket.SHUT_RDWR)
            reply.until.set()
            return False
        if reply.then:
            self._until_closed(connection, reply.then())
        if reply.hang:
            self.closing.wait(30)
        return reply.keeps

    def _send_head(self, connection: socket.socket, reply: Reply) -> None:
        head = _head(reply)
        if not reply.head_pause_s:
            connection.sendall(head)
            return
        for place in range(len(head)):
            connection.sendall(head[place : place + 1])
            if self.closing.wait(reply.head_pause_s):
                return

    def _until_closed(self, connection: socket.socket, closed: Callable[[], None]) -> None:
        connection.settimeout(30)
        with suppress(ConnectionError):
            while connection.recv(65536):
                pass
        closed()
        self._idle.set()

    def idle(self, timeout_s: float) -> None:
        """Wait until the client closed the line."""
        assert self._idle.wait(timeout_s), "the client keeps the line open"


def _chunked(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def _head(reply: Reply) -> bytes:
    ending = {"transfer-encoding": "chunked"} if reply.keeps else {"connection": "close"}
    headers = {"content-type": reply.content_type, **ending, **reply.headers}
    lines = [f"HTTP/1.1 {reply.status} Status", *(f"{k}: {v}" for k, v in headers.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


def _read_request(connection: socket.socket) -> Seen | None:
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            return None
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", "0")):
        body += connection.recv(65536)
    method, path, _ = first.split(" ")
    return Seen(method, path, headers, body)


@contextmanager
def serving(*replies: Reply) -> Iterator[Provider]:
    provider = Provider(*replies)
    try:
        yield provider
    finally:
        provider.close()


def sse(*events: dict[str, Any] | str, named: bool = False) -> list[bytes]:
    """Return one chunk per event."""
    chunks = []
    for event in events:
        data = event if isinstance(event, str) else json.dumps(event, ensure_ascii=False)
        name = f"event: {event['type']}\n" if named and isinstance(event, dict) else ""
        chunks.append(f"{name}data: {data}\n\n".encode())
    return chunks


# --- the three protocols, in the shapes their services send today ---


def responses(
    *texts: str,
    calls: tuple[tuple[str, str, str], ...] = (),
    reasoning: str | None = None,
    usage: dict[str, Any] | None = None,
    final: str = "response.completed",
    incomplete: str | None = None,
) -> list[bytes]:
    """A Responses stream: `calls` are (call_id, name, arguments)."""
    events: list[dict[str, Any]] = [{"type": "response.created", "response": {"id": "resp_1"}}]
    output: list[dict[str, Any]] = []
    if reasoning:
        item = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": reasoning}
        events += [
            {"type": "response.output_item.added", "output_index": 0, "item": {**item}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
        ]
        output.append(item)
    if texts:
        place = len(output)
        message = {"type": "message", "id": "msg_1", "role": "assistant", "content": []}
        events.append(
            {"type": "response.output_item.added", "output_index": place, "item": message}
        )
        for text in texts:
            events.append(
                {
                    "type": "response.output_text.delta",
                    "item_id": "msg_1",
                    "output_index": place,
                    "content_index": 0,
                    "delta": text,
                }
            )
        content = [{"type": "output_text", "text": "".join(texts), "annotations": []}]
        done = {**message, "content": content, "status": "completed"}
        events.append({"type": "response.output_item.done", "output_index": place, "item": done})
        output.append(done)
    for number, (call_id, name, arguments) in enumerate(calls):
        place, item_id = len(output), f"fc_{number}"
        item = {"type": "function_call", "id": item_id, "call_id": call_id, "name": name}
        begun = {**item, "arguments": ""}
        events.append({"type": "response.output_item.added", "output_index": place, "item": begun})
        half = len(arguments) // 2
        for piece in (arguments[:half], arguments[half:]):
            events.append(
                {
                    "type": "response.function_call_arguments.delta",
                    "item_id": item_id,
                    "output_index": place,
                    "delta": piece,
                }
            )
        ended = {**item, "arguments": arguments, "status": "completed"}
        events.append({"type": "response.output_item.done", "output_index": place, "item": ended})
        output.append(ended)
    counted = usage or {
        "input_tokens": 11,
        "input_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 0},
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 2},
        "total_tokens": 18,
    }
    response: dict[str, Any] = {"id": "resp_1", "output": output, "usage": counted}
    if incomplete:
        response["incomplete_details"] = {"reason": incomplete}
    events.append({"type": final, "response": response})
    return sse(*events, named=True)


def chat(
    *texts: str,
    calls: tuple[tuple[str, str, str], ...] = (),
    finish: str | None = None,
    usage: bool = True,
    extra: dict[str, Any] | None = None,
    done: bool = True,
) -> list[bytes]:
    """A Chat Completions stream."""

    def chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {"id": "c1", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}

    events: list[dict[str, Any] | str] = [chunk({"role": "assistant", "content": ""})]
    events += [chunk({"content": text}) for text in texts]
    for index, (call_id, name, arguments) in enumerate(calls):
        function = {"name": name, "arguments": ""}
        call = {"index": index, "id": call_id, "type": "function", "function": function}
        events.append(chunk({"tool_calls": [{**call, **(extra or {})}]}))
        half = len(arguments) // 2
        for piece in (arguments[:half], arguments[half:]):
            part = {"index": index, "function": {"arguments": piece}}
            events.append(chunk({"tool_calls": [part]}))
    events.append(chunk({}, finish or ("tool_calls" if calls else "stop")))
    if usage:
        counted = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
        events.append(
            {"id": "c1", "object": "chat.completion.chunk", "choices": [], "usage": counted}
        )
    if done:
        events.append("[DONE]")
    return sse(*events)


def messages(
    *texts: str,
    calls: tuple[tuple[str, str, str], ...] = (),
    thinking: str | None = None,
    stop: str | None = None,
) -> list[bytes]:
    """A Messages stream."""
    started = {"id": "msg_1", "type": "message", "role": "assistant", "content": []}
    usage = {"input_tokens": 8, "cache_read_input_tokens": 3, "output_tokens": 1}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**started, "usage": usage}}
    ]
    index = 0

    def block(start: dict[str, Any], *deltas: dict[str, Any]) -> None:
        nonlocal index
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        for delta in deltas:
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
        index += 1

    if thinking:
        block(
            {"type": "thinking", "thinking": "", "signature": ""},
            {"type": "thinking_delta", "thinking": "hm"},
            {"type": "signature_delta", "signature": thinking},
        )
    if texts:
        block(
            {"type": "text", "text": ""}, *({"type": "text_delta", "text": text} for text in texts)
        )
    for call_id, name, arguments in calls:
        half = len(arguments) // 2
        block(
            {"type": "tool_use", "id": call_id, "name": name, "input": {}},
            *(
                {"type": "input_json_delta", "partial_json": piece}
                for piece in (arguments[:half], arguments[half:])
            ),
        )
    events.append({"type": "ping"})
    reason = stop or ("tool_use" if calls else "end_turn")
    events.append(
        {
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": None},
            "usage": {"output_tokens": 7},
        }
    )
    events.append({"type": "message_stop"})
    return sse(*events, named=True)
