"""Where a request may go: scheme, host and address (M4.1–M4.3)."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

from ..catalog.catalog import ProviderRecord
from .address import is_loopback, is_no_host, is_private, is_public

LOOPBACK_NAMES = frozenset(("localhost",))


def policy(provider: ProviderRecord, url: str, *, offline: bool) -> str | None:
    """Return why a request may not be sent, or None (M4.1–M4.3, M4.12)."""
    wanted, base = urlsplit(url), urlsplit(provider.base_url)
    host = wanted.hostname or ""
    if offline and not is_loopback_url(provider.base_url):
        return "offline"
    if wanted.scheme != base.scheme or wanted.scheme not in ("https", "http"):
        return "scheme"
    if wanted.scheme == "http" and not provider.is_local:
        return "scheme"
    if host not in provider.hosts or _port(wanted) != _port(base):
        return "host"
    if not provider.is_local and is_ip_literal(host):
        return "host"
    return None


def allows(provider: ProviderRecord, address: str) -> bool:
    """Return whether a provider's host may lead to this address (M4.3, M4.14)."""
    if is_no_host(address):
        return False
    if is_loopback_url(provider.base_url):
        return is_loopback(address)
    if is_loopback(address) or is_private(address):
        return provider.allows_private
    return urlsplit(provider.base_url).scheme == "https" and is_public(address)


def is_loopback_url(url: str) -> bool:
    """Return whether a URL names this machine."""
    host = urlsplit(url).hostname or ""
    return host in LOOPBACK_NAMES or is_loopback(host)


def origin(url: str) -> tuple[str, str, int]:
    """Return scheme, host and port: what makes a server the same one."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", _port(parts)


def _port(parts: SplitResult) -> int:
    return parts.port or (443 if parts.scheme == "https" else 80)


def is_ip_literal(host: str) -> bool:
    """Return whether a host is an address rather than a name, in whatever way it is written."""
    last = host.rstrip(".").rpartition(".")[2]
    return ":" in host or last.isdigit() or re.fullmatch(r"0[xX][0-9a-fA-F]*", last) is not None
