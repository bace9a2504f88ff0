"""Provider addresses that lead inward: refused unless the person set them so (M4.14)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backshop.base.ambient import SystemClock
from backshop.base.errors import ValidationFailed
from backshop.models.catalog.catalog import builtin
from backshop.models.egress.gate import Egress, EgressKind, Errand
from backshop.models.egress.policy import allows
from backshop.models.errors import EgressBlocked
from backshop.models.providers.provider import LocalServer, check_base_url, local_record
from backshop.prompts import CancelToken

from .calling import WIRES, OpenGate, call, record
from .provider import Reply, chat, serving

PUBLIC = ["93.184.216.34", "2606:2800:220:1::1", "::ffff:93.184.216.34", "64:ff9b::5db8:d822"]
LOOPBACK = ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "::ffff:7f00:1", "2002:7f00:1::"]
PRIVATE = [
    *("10.0.0.1", "172.16.0.1", "172.31.255.254", "192.168.1.7", "100.64.0.1", "100.127.1.1"),
    *("fc00::1", "fd12:3456::1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::", "::10.0.0.1"),
]
NEVER = [
    *("169.254.169.254", "169.254.0.1", "fe80::1", "fe80::1%eth0", "::ffff:169.254.169.254"),
    *("64:ff9b::a9fe:a9fe", "fd00:ec2::254", "100.100.100.200", "168.63.129.16", "192.0.0.192"),
    *("0.0.0.0", "::", "::ffff:0.0.0.0", "224.0.0.1", "ff02::1", "255.255.255.255", "240.0.0.1"),
    *("192.0.2.1", "198.18.0.1", "2001:db8::1", "not an address", ""),
]


def server(url: str, *, private: bool = False):
    return local_record(
        "local-x", LocalServer(preset="custom", base_url=url, allow_private_host=private)
    )


NAMED = server("https://models.example/v1")
ALLOWED = server("https://models.example/v1", private=True)
PLAIN = server("http://10.0.0.1/v1", private=True)
HERE = server("http://localhost:1/v1")
BUILT_IN = builtin().provider("openai")


@pytest.mark.rule("M4.14", "M4.3")
@pytest.mark.parametrize(
    ("addresses", "who"),
    [
        (PUBLIC, (NAMED, ALLOWED, BUILT_IN)),
        (LOOPBACK, (ALLOWED, PLAIN, HERE)),
        (PRIVATE, (ALLOWED, PLAIN)),
        (NEVER, ()),
    ],
    ids=["public", "loopback", "private", "never"],
)
def test_who_may_be_where(addresses, who):
    everybody = (NAMED, ALLOWED, PLAIN, HERE, BUILT_IN)

    for address in addresses:
        found = [one for one in everybody if allows(one, address)]
        assert found == [one for one in everybody if one in who], address


@pytest.mark.rule("M4.14", "M17")
@pytest.mark.parametrize(
    "host",
    [
        *("2130706433", "0x7f000001", "0x7f.1", "127.1", "0177.0.0.1", "0x7f.0x0.0x0.0x1", "10.1"),
        *("localhost.", "models.example.", "0.0.0.0", "[::]", "0", "0x0", "[::ffff:0.0.0.0]"),
        *("169.254.169.254", "[fe80::1]", "[::ffff:169.254.169.254]", "[64:ff9b::a9fe:a9fe]"),
        *("[fd00:ec2::254]", "100.100.100.200", "168.63.129.16", "8.8.8.8", "[2606::1]"),
        *("224.0.0.1", "255.255.255.255", "1.2.3", "1.2.3.4.5", "256.1.1.1"),
    ],
)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_base_url_is_no_number_and_no_trap_even_where_private_ones_are_allowed(scheme, host):
    for private in (False, True):
        with pytest.raises(ValidationFailed) as caught:
            check_base_url(f"{scheme}://{host}:8000/v1", allow_private_host=private)
        assert caught.value.reason == "bad_base_url"


@pytest.mark.rule("M4.14", "M4.3")
@pytest.mark.parametrize("host", ["10.0.0.1", "192.168.1.7", "100.64.0.9", "[fd12::1]"])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_private_address_has_to_be_allowed(scheme, host):
    url = f"{scheme}://{host}:8000/v1"

    assert check_base_url(url, allow_private_host=True) == url
    with pytest.raises(ValidationFailed):
        check_base_url(url, allow_private_host=False)


@pytest.mark.rule("M4.14")
@pytest.mark.parametrize("inward", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "0.0.0.0"])
def test_a_name_that_leads_inward_is_not_connected_to(inward):
    asked: list[str] = []

    def lead(host: str, port: int) -> list[tuple[str, int]]:
        asked.append(host)
        return [("93.184.216.34", port), (inward, port)]  # one good address changes nothing

    way = Egress(clock=SystemClock(), gate=OpenGate(), resolver=lead)
    channel = way.open(NAMED, None, Errand(kind=EgressKind.VALIDATION), CancelToken())
    with channel.client() as client, pytest.raises(EgressBlocked) as caught:
        client.get("https://models.example/v1/models")

    assert caught.value.reason == "address"
    assert asked == ["models.example"]


@pytest.mark.rule("M4.14")
def test_a_name_is_asked_once_per_connection_so_that_it_cannot_turn_meanwhile():
    answers = iter(["127.0.0.1", "10.0.0.1"])
    with serving(Reply(chat("Hello"))) as provider:

        def rebind(host: str, port: int) -> list[tuple[str, int]]:
            return [(next(answers), provider.port)]

        done = call(WIRES["chat"][0], provider.url, resolver=rebind)

    assert done.text == "Hello"
    assert next(answers) == "10.0.0.1"


@pytest.mark.rule("M4.1", "M4.14", "M19.27")
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_inward_is_not_followed(status):
    with serving(Reply(chat("secret"))) as inside:
        away = Reply([b""], status=status, headers={"location": f"{inside.url}/chat/completions"})
        with serving(away) as provider:
            failure = call(WIRES["chat"][0], provider.url).failure

    assert failure == ("EGRESS_BLOCKED_BY_POLICY", "redirect")
    assert inside.seen == []


@pytest.mark.rule("M4.14")
def test_a_record_from_elsewhere_is_not_private_by_itself():
    assert not record("https://models.example/v1").allows_private
    assert not allows(replace(record("https://models.example/v1"), provider_id="far"), "10.0.0.1")
