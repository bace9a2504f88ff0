"""The registry: one name, one command; strict requests; errors as data."""

from __future__ import annotations

import logging

import pytest

from backshop.app import Backshop, Registry, fault_of
from backshop.base.codec import schema
from backshop.base.errors import NotFound, ValidationFailed
from backshop.store import COMMANDS


@pytest.mark.rule("S5.1")
def test_a_name_is_registered_once():
    registry = Registry()
    registry.add(COMMANDS, None)

    with pytest.raises(ValueError, match="twice"):
        registry.add(COMMANDS, None)


@pytest.mark.rule("S5.1")
def test_requests_are_decoded_strictly(tmp_path):
    with Backshop.open(tmp_path / "home") as shop:
        bad: list[object] = [{"apply": 1}, {"aply": True}, [], "x", None]
        for request in bad:
            with pytest.raises(ValidationFailed) as refused:
                shop.call("StoreGc", request)
            assert refused.value.reason == "bad_request"
        with pytest.raises(NotFound) as missing:
            shop.call("StoreGcc", {})
        assert missing.value.hints[0] == "StoreGc"


@pytest.mark.rule("S5.1")
def test_every_command_has_schemas_for_both_directions(tmp_path):
    with Backshop.open(tmp_path / "home") as shop:
        for bound in shop.commands:
            assert schema(bound.command.request)["type"] == "object"
            assert schema(bound.command.response)
            assert bound.command.summary.endswith(".")


@pytest.mark.rule("S5.3", "M11.1")
def test_a_defect_reaches_the_client_only_as_a_reference(caplog):
    with caplog.at_level(logging.ERROR, "backshop"):
        fault = fault_of(KeyError("/home/somebody/secret"))

    assert fault.envelope["error_code"] == "INTERNAL_ERROR"
    assert "secret" not in str(fault.envelope)
    assert fault.envelope["detail_ref"] in caplog.text
    assert "secret" in caplog.text


@pytest.mark.rule("M11.1")
def test_the_envelope_has_every_fact_a_client_branches_on():
    error = ValidationFailed("no such thing", reason="bad_id", hints=("a",), detail="x: y")

    fault = fault_of(error, "review")

    assert fault.http == 422
    assert fault.envelope == {
        "error_code": "VALIDATION_FAILED",
        "phase": "review",
        "retryable": False,
        "retry": {"kind": "not_retryable"},
        "message": "no such thing",
        "actions": [],
        "reason": "bad_id",
        "hints": ["a"],
        "detail": "x: y",
    }
