"""Tokens say what they were minted for, and nothing else is ever taken for one."""

from __future__ import annotations

import base64
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backshop.base.ids import did
from backshop.rails.errors import RailsError
from backshop.rails.token.token import (
    Keys,
    Kind,
    Token,
    ack_token,
    checkpoint_token,
    session_checkpoint_token,
    session_token,
    state_token,
    verify,
)

KEYS = Keys(b"k" * 32)
NODE, ATTEMPT, SESSION = did("node", "n"), did("att", "a"), did("sess", "s")
HASH = "sha256:" + "ab" * 32
MINTED = {
    Kind.STATE: state_token(KEYS, NODE, HASH),
    Kind.ACK: ack_token(KEYS, NODE, ATTEMPT),
    Kind.CHECKPOINT: checkpoint_token(KEYS, NODE, ATTEMPT),
    Kind.SESSION: session_token(KEYS, SESSION),
}
GOLDEN = (
    "st.v1.4A5xwWw211qz0PAMNkesFaurq6urq6urKuEXJV23npNf-nJ8xH73nA",
    "ack.v1.4A5xwWw211qz0PAMNkesFQ61uNb4G8Z32ooIVnzE-potTvQ6sktiipwc6UBtkM5k",
    "chk.v1.AOAOccFsNtdas9DwDDZHrBUOtbjW-BvGd9qKCFZ8xPqabeit7dtRRhYYTIWjaWzSkw",
    "ses.v1.21vaDFDZTB7_hb9sA-ZwhqJWGF02olhIGY_Sl2Dr5nY",
)
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."


def code_of(text: object, kind: Kind = Kind.STATE, keys: Keys = KEYS) -> str:
    with pytest.raises(RailsError) as caught:
        verify(keys, text, kind)
    return caught.value.rails_code


@pytest.mark.rule("R6.1", "R6.2")
def test_a_token_says_what_it_was_minted_for():
    assert verify(KEYS, MINTED[Kind.STATE], Kind.STATE) == Token(
        Kind.STATE, node_id=NODE, workflow_prefix="ab" * 8
    )
    assert verify(KEYS, MINTED[Kind.ACK], Kind.ACK) == Token(
        Kind.ACK, node_id=NODE, attempt_id=ATTEMPT
    )
    assert verify(KEYS, MINTED[Kind.CHECKPOINT], Kind.CHECKPOINT) == Token(
        Kind.CHECKPOINT, node_id=NODE, attempt_id=ATTEMPT
    )
    assert verify(KEYS, session_checkpoint_token(KEYS, SESSION, ATTEMPT), Kind.CHECKPOINT) == Token(
        Kind.CHECKPOINT, session_id=SESSION, attempt_id=ATTEMPT
    )
    assert verify(KEYS, MINTED[Kind.SESSION], Kind.SESSION) == Token(
        Kind.SESSION, session_id=SESSION
    )
    assert [len(token) for token in MINTED.values()] == [60, 71, 73, 50]


@pytest.mark.rule("R6.2")
def test_the_wire_form_never_changes():
    assert {
        Kind.STATE: GOLDEN[0],
        Kind.ACK: GOLDEN[1],
        Kind.CHECKPOINT: GOLDEN[2],
        Kind.SESSION: GOLDEN[3],
    } == MINTED


@pytest.mark.rule("C46", "C47", "C48", "C51", "R6.8", "R6.9")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "TOKEN_INVALID_FORMAT"),
        (None, "TOKEN_INVALID_FORMAT"),
        (7, "TOKEN_INVALID_FORMAT"),
        ("x" * 10_000, "TOKEN_INVALID_FORMAT"),
        ("st.v1." + "A" * 10_000, "TOKEN_INVALID_FORMAT"),
        ("st.v1.é", "TOKEN_INVALID_FORMAT"),
        ("ST" + MINTED[Kind.STATE][2:], "TOKEN_INVALID_FORMAT"),
        (MINTED[Kind.STATE].replace("v1", "v2"), "TOKEN_UNSUPPORTED_VERSION"),
        (MINTED[Kind.STATE].replace("v1", "x1"), "TOKEN_INVALID_FORMAT"),
        (MINTED[Kind.STATE][:-1], "TOKEN_INVALID_FORMAT"),
        (MINTED[Kind.STATE] + "A", "TOKEN_INVALID_FORMAT"),
        (MINTED[Kind.STATE][:-2] + "==", "TOKEN_INVALID_FORMAT"),
        (MINTED[Kind.ACK], "TOKEN_INVALID_FORMAT"),
        (
            "st.v1." + base64.urlsafe_b64encode(bytes(40)).decode().rstrip("="),
            "TOKEN_BAD_SIGNATURE",
        ),
    ],
)
def test_what_is_no_token_is_refused_by_the_first_check_it_fails(text, code):
    assert code_of(text) == code


@pytest.mark.rule("C47")
def test_a_token_of_another_kind_is_named():
    with pytest.raises(RailsError) as caught:
        verify(KEYS, MINTED[Kind.ACK], Kind.STATE)

    assert caught.value.details == {"expectedKind": "stateToken"}


@pytest.mark.rule("C48")
@pytest.mark.parametrize("wrap", ["`{}`", '"{}"', "'{}'", "  {}\n", " `{}` "])
def test_quotes_and_spaces_around_a_token_are_forgiven(wrap):
    token = MINTED[Kind.STATE]

    assert verify(KEYS, wrap.format(token), Kind.STATE).node_id == NODE


@pytest.mark.rule("C51")
def test_another_spelling_of_the_same_bytes_is_refused():
    token = session_checkpoint_token(KEYS, SESSION, ATTEMPT)  # 49 bytes: spare bits at the end
    last = ALPHABET.index(token[-1])
    twin = token[:-1] + ALPHABET[last ^ 1]

    assert code_of(twin, Kind.CHECKPOINT) == "TOKEN_INVALID_FORMAT"


@pytest.mark.rule("C50", "R6.3")
def test_one_rotation_keeps_tokens_two_do_not():
    token = MINTED[Kind.STATE]

    assert verify(Keys(b"n" * 32, KEYS.current), token, Kind.STATE).node_id == NODE
    assert code_of(token, keys=Keys(b"m" * 32, b"n" * 32)) == "TOKEN_BAD_SIGNATURE"


def mutated(token: str, source: random.Random) -> str:
    at = source.randrange(len(token))
    match source.randrange(6):
        case 0:
            return token[:at] + source.choice(ALPHABET) + token[at + 1 :]
        case 1:
            return token[:at] + token[at].swapcase() + token[at + 1 :]
        case 2:
            return token[:at] + token[at + 1 :]
        case 3:
            return token[:at] + source.choice(ALPHABET) + token[at:]
        case 4:
            return token[:at]
        case _:
            other = source.randrange(len(token))
            chars = list(token)
            chars[at], chars[other] = chars[other], chars[at]
            return "".join(chars)


@pytest.mark.rule("R6.9", "C46")
def test_ten_thousand_mutated_tokens_are_all_refused(record_property):
    source = random.Random(20)
    codes = set()
    for _ in range(10_000):
        kind = source.choice(list(Kind))
        text = mutated(MINTED[kind], source)
        if text != MINTED[kind]:
            codes.add(code_of(text, kind))

    record_property("mutated tokens", 10_000)
    assert codes == {"TOKEN_INVALID_FORMAT", "TOKEN_UNSUPPORTED_VERSION", "TOKEN_BAD_SIGNATURE"}


@given(st.one_of(st.text(), st.from_regex(r"(st|ack|chk|ses)\.v[0-9]+\.[A-Za-z0-9_-]*")))
def test_no_text_crashes_or_passes(text):
    for kind in Kind:
        assert code_of(text, kind).startswith("TOKEN_")
