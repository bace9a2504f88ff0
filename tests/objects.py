"""A private S3 server for the tests of one process, and a bucket for each of them."""

from __future__ import annotations

import atexit
import logging
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from unittest.mock import patch
from urllib.request import Request, urlopen

KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1"}


@cache
def server() -> str:
    """Start the server once on loopback; it ends with the process."""
    logging.getLogger("werkzeug").disabled = True
    with patch.dict(os.environ, {**KEYS, "MOTO_S3_CUSTOM_ENDPOINTS": ""}):
        from moto.server import ThreadedMotoServer

        running = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        running.start()
    atexit.register(running.stop)
    return f"http://127.0.0.1:{running.get_host_and_port()[1]}"


@contextmanager
def fresh_bucket() -> Iterator[str]:
    """Give the URL of an empty bucket; credentials and endpoint are in the environment."""
    name = f"t{uuid.uuid4().hex}"
    request(server(), "PUT", name)
    with patch.dict(os.environ, {**KEYS, "AWS_ENDPOINT_URL": server()}):
        yield f"s3://{name}/some/prefix"


def request(endpoint: str, method: str, path: str, data: bytes | None = None) -> bytes:
    """Ask the server itself, past everything under test."""
    signed = "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request"
    headers = {"Authorization": f"{signed}, SignedHeaders=host, Signature=0"}
    asked = Request(f"{endpoint}/{path}", method=method, data=data, headers=headers)
    with urlopen(asked, timeout=60) as answer:
        return bytes(answer.read())
