"""The registry: one name, one command; strict requests; errors as data."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from backshop.app import Backshop, People, Registry, fault_of, sharing
from backshop.base.codec import encode, schema
from backshop.base.command import Command, Nothing, method_command
from backshop.base.errors import AccessDenied, NotFound, ValidationFailed
from backshop.base.ids import UserId
from backshop.store import COMMANDS

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.rule("S5.1")
def test_a_name_is_registered_once():
    registry = Registry()
    registry.add(COMMANDS, None)

    with pytest.raises(ValueError, match="twice"):
        registry.add(COMMANDS, None)


@pytest.mark.rule("T6.6")
def test_a_command_without_a_role_cannot_be_made():
    told: dict[str, Any] = {
        "request": Nothing,
        "response": Nothing,
        "run": lambda facade, request: None,
    }

    with pytest.raises(TypeError, match="role"):
        Command(name="NewThing", summary="Do a new thing.", **told)
    with pytest.raises(TypeError, match="role"):
        method_command("NewThing", "Do a new thing.", People.user_list)
    wrong: tuple[Any, ...] = (None, "", "admin", "none")
    for role in wrong:
        with pytest.raises(ValueError, match="NewThing needs a role"):
            Command(name="NewThing", summary="Do a new thing.", role=role, **told)
    beyond: tuple[dict[str, Any], ...] = ({"anybody": True}, {"makes": "session"})
    for more in beyond:
        with pytest.raises(ValueError, match="for the home's owner"):
            Command(
                name="NewThing",
                summary="Do a new thing.",
                role="owner",
                for_caller=True,
                **more,
                **told,
            )
    with pytest.raises(ValueError, match="takes none"):
        Command(name="NewThing", summary="Do a new thing.", role="write", makes="session", **told)


@pytest.mark.rule("T6.6")
def test_what_a_plugin_registers_is_a_command_with_a_role():
    class Likeness:
        name = "NewThing"

    with pytest.raises(ValueError, match="is no command"):
        Registry().add(cast("Any", [Likeness()]), None)


@pytest.mark.rule("T6.4", "T6.6")
def test_the_policy_of_every_command_is_the_one_that_was_agreed(tmp_path):
    golden = json.loads((ROOT / "tests" / "golden" / "policy.json").read_text(encoding="utf-8"))
    with Backshop.open(tmp_path / "home") as shop:
        held = {
            one.name: {
                "role": one.role,
                "anybody": one.anybody,
                "makes": one.makes,
                "server_paths": sorted(one.server_paths),
                "writes": one.writes,
            }
            for one in (bound.command for bound in shop.commands)
        }

    assert held == golden


@pytest.mark.rule("S5.1", "S2.4")
def test_a_room_on_offer_is_loaded_for_its_names_only():
    loaded = []

    def offer(name):
        def load():
            loaded.append(name)
            return [([replace(COMMANDS[0], name=name)], None)]

        return load

    registry = Registry()
    for name in ("BenchList", "RailsList", "ModelsList"):
        registry.offer((name[:5],), offer(name))

    assert registry.find("RailsList").command.name == "RailsList"
    assert loaded == ["RailsList"]
    assert "BenchList" in registry
    assert loaded == ["RailsList", "BenchList"]
    with pytest.raises(NotFound) as missing:
        registry.find("ModelsLst")
    assert missing.value.hints[0] == "ModelsList"  # nobody is forgotten when it matters
    assert [bound.command.name for bound in registry] == ["BenchList", "ModelsList", "RailsList"]


@pytest.mark.rule("S5.1")
def test_a_room_that_cannot_be_loaded_says_so_every_time():
    def broken():
        raise ValidationFailed("a setting is wrong", reason="bad_setting")

    registry = Registry()
    registry.offer(("Rails",), broken)

    for _ in range(2):
        with pytest.raises(ValidationFailed):
            registry.find("RailsList")


@pytest.mark.rule("S2.4")
def test_a_command_of_one_room_leaves_the_others_alone(tmp_path):
    script = (
        "import sys; from backshop.cli import main; code = main(['bench', 'list', '--json']);"
        "heavy = {'backshop.rails', 'backshop.models', 'backshop.web', 'duckdb', 'openai',"
        " 'anthropic', 'asyncio', 'jsonschema'};"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr); sys.exit(code)"
    )
    env = {"PYTHONPATH": str(ROOT / "src"), "BACKSHOP_HOME": str(tmp_path), "PATH": os.defpath}

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=env)

    assert done.stderr.strip() == "[]"


@pytest.mark.rule("T5.1", "S2.4")
def test_the_store_knows_the_facts_of_rooms_nobody_has_asked_for(tmp_path):
    with Backshop.open(tmp_path / "home") as shop:
        shop.call("WorkbenchCreate", {"name": "Mine"})
        shop.call("start_workflow", {"workflowId": "wr.rpi", "goal": "look"})
    script = (
        "import sys; from backshop.cli import main; code = main(['doctor', '--json']);"
        "sys.exit(code)"
    )
    env = {
        "PYTHONPATH": str(ROOT / "src"),
        "BACKSHOP_HOME": str(tmp_path / "home"),
        "PATH": os.defpath,
    }

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=env)

    found = {one["subject"]: one for one in json.loads(done.stdout)["findings"]}
    assert found["streams"] == {"level": "ok", "subject": "streams", "message": "2 healthy"}


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


@pytest.mark.rule("S5.4")
def test_a_caller_in_this_process_gets_the_typed_answer_of_a_method(tmp_path):
    with Backshop.open(tmp_path / "home") as shop:
        ada = shop.ask(People.user_add, sharing.UserAdd(name="Ada")).user_id
        listed = shop.ask(People.user_list, Nothing())
        benches = shop.commands.run("WorkbenchList", {})

        assert isinstance(listed, sharing.Users)
        assert [one.name for one in listed.users] == ["Ada"]
        assert (type(benches).__name__, benches.workbenches) == ("BenchList", ())
        assert shop.call("UserList", {}) == encode(listed)  # JSON is made where it leaves
        with pytest.raises(AccessDenied) as refused:
            shop.ask(People.user_list, Nothing(), user=UserId(ada))
        with pytest.raises(ValueError, match="is no command"):
            shop.ask(People.who, "bsu_")
    assert refused.value.reason == "owner_only"
