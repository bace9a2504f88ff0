"""The pure rules: frames, retries, error mapping, consent, repetition."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backshop.base.errors import CODES
from backshop.base.limits import BUDGET_MARGIN_TOKENS
from backshop.base.usage import Used
from backshop.models.catalog.catalog import Price, builtin
from backshop.models.egress.fault import from_code, from_status, retry_after_ms, said
from backshop.models.egress.policy import policy
from backshop.models.egress.retry import Cause, Schedule
from backshop.models.egress.sse import Frames
from backshop.models.errors import (
    AuthFailed,
    BadResponse,
    BudgetReached,
    ModelError,
    NetworkUnavailable,
    ProviderUnavailable,
    RateLimited,
)
from backshop.models.ledger.consent import (
    Consent,
    Destination,
    Scope,
    ScopeFile,
    ScopeText,
    covering,
)
from backshop.models.ledger.usage import Budget, check_budget, estimated, text_tokens, usd
from backshop.models.loop.repetition import LoopGuard, Verdict, fingerprint
from backshop.models.messages import Message, ModelRequest, Role, Usage

EVENTS = st.lists(
    st.dictionaries(st.text(max_size=5), st.text(max_size=20), max_size=3), min_size=1, max_size=6
)


@pytest.mark.rule("M8.7")
@given(
    events=EVENTS,
    cuts=st.lists(st.integers(0, 400), max_size=6),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_frames_come_out_whole_however_the_bytes_are_cut(events, cuts, end):
    whole = "".join(
        f"event: x{end}data: {json.dumps(event)}{end}{end}" for event in events
    ).encode()
    places = sorted({min(cut, len(whole)) for cut in cuts})
    frames, seen = Frames(), b""

    for start, stop in zip([0, *places], [*places, len(whole)], strict=True):
        seen += frames.feed(whole[start:stop])

    assert seen + frames.flush() == whole
    assert frames.events == len(events)


@given(data=st.binary(max_size=300), cut=st.integers(0, 300))
def test_frames_of_garbage_never_break_out(data, cut):
    whole, pieces = Frames(max_bad=10**6), Frames(max_bad=10**6)

    at_once = whole.feed(data) + whole.flush()
    in_two = pieces.feed(data[:cut]) + pieces.feed(data[cut:]) + pieces.flush()

    assert in_two == at_once
    assert pieces.events == whole.events


def test_a_frame_that_is_too_large_is_refused_whole_or_in_pieces():
    for pieces in ([b"data: " + b"x" * 200 + b"\n\n"], [b"data: ", b"x" * 200]):
        frames = Frames(max_bytes=100)
        for piece in pieces[:-1]:
            frames.feed(piece)
        with pytest.raises(BadResponse):
            frames.feed(pieces[-1])


@pytest.mark.rule("M11.6")
@given(
    status=st.integers(100, 999),
    body=st.text(max_size=200),
    headers=st.dictionaries(
        st.sampled_from(["Retry-After", "retry-after-ms", "x-ratelimit-reset-requests", "X"]),
        st.text(max_size=30),
    ),
)
def test_every_answer_has_an_error_of_the_closed_set(status, body, headers):
    error = from_status(status, headers, body, now_ms=0)

    assert error.code in CODES
    assert error.info("workshop").detail is not None
    assert from_code(body, body).code in CODES


@pytest.mark.rule("M10.2")
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2", 2000),
        ("1.5", 1500),
        ("Wed, 21 Oct 2026 07:28:10 GMT", 10_000),
        ("Wed, 21 Oct 2026 07:00:00 GMT", 0),
        ("-1", None),
        ("nan", None),
        ("", None),
        ("99999999999", None),
    ],
)
def test_retry_after_is_read_as_seconds_or_as_a_date(value, expected):
    now = 1_792_567_680_000  # 2026-10-21T07:28:00Z

    assert retry_after_ms({"Retry-After": value}, now_ms=now) == expected


def half(bits: int) -> int:
    return 1 << (bits - 1)


@pytest.mark.rule("M10.1", "M10.7")
def test_transient_errors_are_tried_three_times_again():
    schedule = Schedule(random=half)
    error = ProviderUnavailable("x").info("workshop")

    waits = [schedule.after(error) for _ in range(4)]

    assert [wait.seconds if wait else None for wait in waits] == [0.5, 2.0, 8.0, None]
    assert [wait.is_announced for wait in waits if wait] == [False, True, True]


@pytest.mark.rule("M10.1")
@given(random=st.integers(0, 2**16 - 1))
def test_jitter_is_at_most_a_fifth(random):
    wait = Schedule(random=lambda bits: random).after(NetworkUnavailable("x").info("workshop"))

    assert wait is not None
    assert 0.4 <= wait.seconds <= 0.6


@pytest.mark.rule("M10.2")
def test_a_rate_limit_doubles_and_is_capped():
    schedule = Schedule(random=half)
    error = RateLimited("x", reason="rate_limit").info("workshop")

    waits = [schedule.after(error) for _ in range(6)]

    assert [wait.seconds if wait else None for wait in waits] == [10, 20, 40, 80, 160, None]
    assert {wait.cause for wait in waits if wait} == {Cause.RATE_LIMIT}


@pytest.mark.rule("M10.4")
def test_all_waits_together_stay_within_ten_minutes():
    schedule = Schedule(random=half)
    slow = from_status(429, {"retry-after": "240"}, "").info("workshop")

    waits = [schedule.after(slow) for _ in range(4)]

    assert [wait is not None for wait in waits] == [True, True, False, False]
    assert schedule.after(AuthFailed("x").info("workshop")) is None


FILES = st.builds(
    ScopeFile, st.sampled_from(["a", "b", "c"]), st.sampled_from(["0" * 64, "1" * 64]), st.just(3)
)
SCOPES = st.builds(
    Scope,
    st.lists(FILES, max_size=4).map(tuple),
    st.lists(
        st.builds(ScopeText, st.sampled_from(["company", "style"]), st.just("2" * 64)), max_size=2
    ).map(tuple),
)


@pytest.mark.rule("M4.6", "M4.7")
@given(given_scope=SCOPES, wanted=SCOPES)
def test_consent_covers_what_it_was_given_for_and_anything_less(given_scope, wanted):
    consent = Consent(
        workbench_id="wb",
        provider_id="p",
        model_id="p:m",
        host="h",
        scope=given_scope,
        granted_at="",
        persisted=True,
    )
    there = Destination("wb", "p", "p:m", "h")

    covers = covering([consent], there, wanted) is not None

    assert covers == (wanted.new_items(given_scope) == () and wanted.within(given_scope))
    assert covering([consent], there, given_scope) is consent
    for part in fields(Destination):
        elsewhere = replace(there, **{part.name: "other"})
        assert covering([consent], elsewhere, Scope()) is None
    joined = given_scope.joined(wanted)
    assert given_scope.within(joined)
    assert wanted.within(joined)


@pytest.mark.rule("M4.6", "M4.7")
def test_consent_is_for_contents_whatever_they_are_called():
    allowed = Scope((ScopeFile("a", "0" * 64, 3),), (ScopeText("style", "2" * 64),))

    assert Scope((ScopeFile("renamed", "0" * 64, 3),)).new_items(allowed) == ()
    assert Scope((ScopeFile("a", "1" * 64, 3),)).new_items(allowed) == ("a",)
    assert Scope((), (ScopeText("style", "3" * 64),)).new_items(allowed) == ("style",)


@pytest.mark.rule("M4.1", "M4.2", "M4.12")
@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("{base}/models", None),
        ("https://{host}:443/v1/models", None),
        ("https://{host}:8443/v1/models", "host"),
        ("https://evil.example/v1/models", "host"),
        ("https://{host}.evil.example/v1/models", "host"),
        ("http://{host}/v1/models", "scheme"),
        ("ftp://{host}/v1/models", "scheme"),
    ],
)
def test_a_request_goes_to_the_host_and_port_of_its_provider_or_stays_here(url, why):
    provider = builtin().provider("openai")
    wanted = url.format(base=provider.base_url, host=provider.hosts[0])

    assert policy(provider, wanted, offline=False) == why
    assert policy(provider, wanted, offline=True) == "offline"


@pytest.mark.rule("M4.6")
@given(scope=SCOPES, random=st.randoms())
def test_the_scope_hash_knows_no_order(scope, random):
    files, context = list(scope.files), list(scope.context)
    random.shuffle(files)
    random.shuffle(context)

    assert Scope(tuple(files), tuple(context)).hash() == scope.hash()


@pytest.mark.rule("W9.1", "W9.2")
def test_the_same_call_again_and_again_is_noticed():
    guard, verdicts = LoopGuard(), []
    for number in range(5):
        spaces = {"query": f"SELECT  *\nfrom t where a = 'X  y'{' ' * number}", "limit": None}
        guard, verdict = guard.see("table_query", spaces)
        verdicts.append(verdict)

    assert verdicts == [Verdict.RUN, Verdict.RUN, Verdict.WARN, Verdict.WARN, Verdict.STOP]
    assert guard.see("table_query", {"query": "select 1"})[1] is Verdict.RUN


@pytest.mark.rule("W9.1")
def test_a_read_after_a_write_is_another_call():
    read = {"path": "a"}

    assert fingerprint("read", read, "tree1") != fingerprint("read", read, "tree2")
    assert fingerprint("read", {"path": " a ", "x": None}) == fingerprint("read", read)
    assert fingerprint("q", {"query": "a 'X'"}) != fingerprint("q", {"query": "a 'x'"})
    assert fingerprint("q", {"n": 2**80}) != fingerprint("q", {"n": 2**81})


@pytest.mark.rule("M13.3")
def test_a_budget_counts_what_the_next_call_will_bring():
    request = ModelRequest(model_id="p:m", messages=(Message(role=Role.USER, text="x" * 400),))
    spent = Used(usage=Usage(input_tokens=50), usd_estimate=0.5)
    next_usd = (100 + BUDGET_MARGIN_TOKENS) / 1_000_000
    price = Price(input=1.0, output=1.0)

    check_budget(Budget(tokens=150 + BUDGET_MARGIN_TOKENS), spent, request, None)
    check_budget(Budget(usd=0.5 + next_usd), spent, request, price)

    for budget in (Budget(tokens=149 + BUDGET_MARGIN_TOKENS), Budget(usd=0.4999 + next_usd)):
        with pytest.raises(BudgetReached):
            check_budget(budget, spent, request, price)


@pytest.mark.rule("M13.1", "M13.2")
def test_tokens_are_estimated_and_priced():
    request = ModelRequest(model_id="scripted:x", messages=(Message(role=Role.USER, text="x" * 9),))

    assert text_tokens("x" * 9) == 3
    assert estimated(request, "abcd") == Usage(input_tokens=3, output_tokens=1, estimated=True)
    used = Usage(input_tokens=1_000_000, cached_input_tokens=400_000, output_tokens=100_000)
    assert usd(used, Price(input=2, cached_input=1, output=10)) == pytest.approx(1.2 + 0.4 + 1)
    written = Usage(input_tokens=1_000_000, cached_input_tokens=400_000, cache_write_tokens=200_000)
    price = Price(input=2, cached_input=1, cache_write=2.5, output=10)
    assert usd(written, price) == pytest.approx(0.8 + 0.4 + 0.5)
    assert usd(written, Price(input=2, output=10)) == pytest.approx(2.0)
    assert usd(used, None) is None


@pytest.mark.rule("M1.3", "M1.5", "M4.2")
def test_the_catalog_is_the_one_of_the_rules():
    catalog = builtin()

    assert {one.provider_id: one.hosts for one in catalog.providers.values()} == {
        "openai": ("api.openai.com",),
        "openai-codex": ("api.openai.com",),
        "anthropic": ("api.anthropic.com",),
        "google": ("generativelanguage.googleapis.com",),
        "mistral": ("api.mistral.ai",),
        "scripted": (),
    }
    rows = [
        f"| `{one.model_id}` | {one.wire_name} | {one.context_tokens_estimate:,} |"
        f" {one.max_output_tokens:,} | {' '.join(one.efforts) or '–'} | {one.sampling} |"
        for one in catalog.models.values()
        if one.provider_id != "scripted"
    ]
    written = Path("docs/spec/models.md").read_text(encoding="utf-8")
    table = written.partition("- M1.5 ")[2].partition("| `scripted:demo`")[0]
    assert table.partition("|---|---|---|---|---|---|\n")[2].splitlines() == rows


@pytest.mark.rule("M11.1")
def test_an_error_says_which_provider_and_model():
    error = ModelError("x", provider_id="p", model_id="p:m", scope_hash="h")

    info = error.info("workshop", subphase="stream")

    assert (info.provider_id, info.model_id, info.scope_hash) == ("p", "p:m", "h")
    assert replace(info, provider_id=None).provider_id is None


@pytest.mark.rule("M11.6", "M3.12")
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"error": {"message": "model x  is\nunknown."}}, "model x is unknown"),
        ({"type": "error", "error": {"type": "t", "message": "no"}}, "no"),
        ({"error": "pull it first"}, "pull it first"),
        ({"message": "bad field"}, "bad field"),
        ({"error": {"message": "Incorrect API key provided: sk-ab**yz."}}, "Incorrect API key: _"),
        ({"error": {"message": "key secret-of-mine is off"}}, "key _ is off"),
        ({"error": {"message": "Bearer abcdefghijkl"}}, "Bearer _"),
        ({"error": {"message": "in " + "'" + "prompt " * 20 + "'"}}, "in …"),
        ({"error": {"message": "Abc123Def456Ghi789Jkl012Mno345 is no key"}}, "_ is no key"),
        ({"error": {"message": "x" * 400}}, "x" * 299 + "…"),
        ({"error": {"code": 7}}, ""),
        ([1], ""),
    ],
)
def test_a_providers_reason_is_told_in_one_line_and_without_keys(body, expected):
    told = said(json.dumps(body), "secret-of-mine").replace("[secret]", "_")

    assert told.replace("API key provided: _", "API key: _") == expected
    assert said("<html>no</html>") == ""
