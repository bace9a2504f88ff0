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
    """Return whether an address is of a private or shared network (RFC 1918, 4193, 6598)."""
    parsed = _parsed(address)
    return parsed is not None and any(parsed in net for net in _PRIVATE)


def is_public(address: str) -> bool:
    """Return whether an address is one that the whole world reaches."""
    parsed = _parsed(address)
    return parsed is not None and parsed.is_global and not is_no_host(address)


def is_no_host(address: str) -> bool:
    """Return whether no server of a person's lives there: link-local, metadata, any, many."""
    parsed = _parsed(address)
    if parsed is None or str(parsed) in _METADATA:
        return True
    return parsed.is_link_local or parsed.is_unspecified or parsed.is_multicast


_PRIVATE = tuple(
    ipaddress.ip_network(net)
    for net in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")
)
_METADATA = frozenset(  # where clouds tell their machines secrets, besides link-local addresses
    ("100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254")
)
_TRANSLATED = ipaddress.ip_network("64:ff9b::/96")  # an IPv4 address behind a translator (NAT64)


def _parsed(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None
    return _within(parsed) or parsed if isinstance(parsed, ipaddress.IPv6Address) else parsed


def _within(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """Return the IPv4 address that an IPv6 address leads to, if it does."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if address in _TRANSLATED or 1 < int(address) < 2**32:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return None
