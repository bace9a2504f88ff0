"""What kind of address a host has: this machine, a private network, link-local."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable

Address = tuple[str, int]
Resolver = Callable[[str, int], list[Address]]


def resolve(host: str, port: int) -> list[Address]:
    """Return the addresses of a host, as the system knows them."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys((str(one[4][0]), int(one[4][1])) for one in found))


def is_loopback(address: str) -> bool:
    """Return whether an address is this machine."""
    parsed = _parsed(address)
    return parsed is not None and parsed.is_loopback


def is_private(address: str) -> bool:
    """Return whether an address is of a private network (RFC 1918, RFC 4193)."""
    parsed = _parsed(address)
    return parsed is not None and any(parsed in net for net in _PRIVATE)


def is_link_local(address: str) -> bool:
    """Return whether an address is link-local, where metadata services live."""
    parsed = _parsed(address)
    return parsed is not None and parsed.is_link_local


_PRIVATE = tuple(
    ipaddress.ip_network(net)
    for net in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")
)


def _parsed(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is not None:
        return parsed.ipv4_mapped
    return parsed
