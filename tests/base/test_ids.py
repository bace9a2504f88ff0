"""Ids: checked whole before they are part of a path or a query, and growing (B1.3)."""

from __future__ import annotations

import pytest

from backshop.base.ambient import Mint
from backshop.base.errors import ValidationFailed
from backshop.base.ids import check_id, check_sha256
from backshop.testing.ambient import FixedClock

ID = "wb_01ARZ3NDEKTSV4RRFFQ69G5FAV"
SHA256 = "0123456789abcdef" * 4


@pytest.mark.rule("B1.3")
@pytest.mark.parametrize(
    "text", [f"{ID}/../..", f"{ID}\n", f" {ID}", ID.lower(), ID[:-1], "cp" + ID[2:], "wb_", ""]
)
def test_an_id_is_one_from_its_first_character_to_its_last(text):
    assert check_id(ID, "wb") == ID
    with pytest.raises(ValidationFailed) as refused:
        check_id(text, "wb")
    assert refused.value.reason == "bad_id"
    assert refused.value.message.endswith("is not the id of a workbench")


@pytest.mark.rule("B1.3")
@pytest.mark.parametrize("text", [f"{SHA256}/x", f"{SHA256}\n", SHA256.upper(), SHA256[:-1], ""])
def test_the_id_of_a_content_is_one_from_its_first_character_to_its_last(text):
    assert check_sha256(SHA256) == SHA256
    with pytest.raises(ValidationFailed):
        check_sha256(text)


@pytest.mark.rule("B1.3")
def test_ids_grow_although_the_clock_stands_still_goes_back_or_randomness_runs_out():
    clock = FixedClock()
    mint = Mint(clock, random=lambda bits: 2**bits - 2)
    made = []

    for delta_ms in (0, 0, 0, -5000, -5000, 1, 20_000, 0):
        clock.move(delta_ms)
        made.append(mint.new("wb"))

    assert sorted(set(made)) == made
    assert [check_id(one) for one in made] == made
