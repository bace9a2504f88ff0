"""A proxy the person set: how it is written, and what it is told (M4.1)."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from backshop.base.errors import ValidationFailed

from ..catalog.catalog import ProviderRecord
from .policy import is_loopback_url

PROXY_HEAD_MAX_BYTES = 8192


@dataclass(frozen=True, slots=True)
class Proxy:
    """Where requests go out by `CONNECT`; it sees the host's name and encrypted bytes."""

    host: str
    port: int
    login: str | None = field(default=None, repr=False)

    @property
    def password(self) -> str | None:
        """What must not be shown anywhere."""
        return self.login.partition(":")[2] or None if self.login else None

    def greeting(self, host: str, port: int) -> bytes:
        """Return what opens the way to a host."""
        place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        lines = [f"CONNECT {place} HTTP/1.1", f"Host: {place}"]
        if self.login is not None:
            secret = b64encode(self.login.encode()).decode()
            lines.append(f"Proxy-Authorization: Basic {secret}")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii")


def read_proxy(text: str | None) -> Proxy | None:
    """Return the proxy a setting names.

    Raises:
        ValidationFailed: `bad_setting`.
    """
    if text is None:
        return None
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    has_more = parts.path not in ("", "/") or parts.query or parts.fragment
    if parts.scheme != "http" or not parts.hostname or port is None or has_more:
        raise ValidationFailed(
            "the proxy is not written as http://host:port",
            reason="bad_setting",
            detail="setting: network.proxy",
        )
    login = None
    if parts.username is not None:
        login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return Proxy(parts.hostname, port, login)


def proxy_for(provider: ProviderRecord, proxy: Proxy | None) -> Proxy | None:
    """Return the proxy for a provider: what is not encrypted never goes through one."""
    is_encrypted = urlsplit(provider.base_url).scheme == "https"
    return proxy if is_encrypted and not is_loopback_url(provider.base_url) else None
