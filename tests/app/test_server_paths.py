"""People who share a home never make the server open a path of its own disk (T6.4, S7.5)."""

from __future__ import annotations

import json
import typing
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from backshop.app import Backshop
from backshop.base.command import Command
from backshop.base.errors import AccessDenied

SOUNDS_LIKE_A_PLACE = (
    *("path", "dir", "folder", "file", "root", "dest", "home", "output", "location", "place"),
    *("source", "target", "workspace", "bundle", "repository", "url", "project", "archive"),
)
# What sounds like a place and is none on the server's disk, field by field.
OF_THE_BENCH = {"path", "paths", "new_path", "workbench_paths", "dest_dir", "files"}
NO_PLACE = {
    ("*", "profile"),  # a name of limits
    ("ProvidersUpsertLocal", "base_url"),  # an address, guarded by M4
    ("PromptOverridesImport", "bundle"),  # the content itself
    ("RailsSessionImport", "bundle"),
    ("ReviewAddComment", "place"),  # in a file of the Draft
    ("RailsRunsList", "workspace"),
    ("RailsSessionsList", "workspace"),  # compared with what sessions noted, never opened
    ("RailsWorkflowCopy", "target"),  # user or project
    ("RailsWorkflowDelete", "target"),
    ("RailsWorkflowNew", "target"),
    ("RailsWorkflowSave", "target"),
    ("RailsWorkflowSave", "source"),  # the text itself
    ("RailsWorkflowValidate", "source"),
    ("WorkbenchSetLimits", "max_files"),
    ("WorkbenchSetLimits", "max_file_bytes"),
    ("checkpoint_workflow", "output"),  # what an agent hands in
    ("continue_workflow", "output"),
}


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Backshop]:
    with Backshop.open(tmp_path / "home") as opened:
        yield opened


def names_of(kind: Any) -> Iterator[tuple[str, Any]]:
    """Yield every field of a request, however deep, with its type."""
    if is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        for one in fields(kind):
            yield one.name, hints[one.name]
            yield from names_of(hints[one.name])
    for part in typing.get_args(kind):
        yield from names_of(part)


def is_known(command: Command[Any, Any, Any], name: str, *, about_a_bench: bool) -> bool:
    return (
        name in command.server_paths
        or (about_a_bench and name in OF_THE_BENCH)
        or (command.name, name) in NO_PLACE
        or ("*", name) in NO_PLACE
    )


@pytest.mark.rule("S7.5", "T6.4")
def test_every_field_that_could_be_a_path_of_the_server_is_known_to_be_one_or_not(shop):
    unknown, seen, declared = set(), set(), set()
    for bound in shop.commands:
        command, found = bound.command, list(names_of(bound.command.request))
        declared |= {(command.name, one) for one in command.server_paths}
        about_a_bench = "workbench_id" in {name for name, _ in found}
        for name, kind in found:
            seen.add((command.name, name))
            sounds = kind is not bool and any(one in name for one in SOUNDS_LIKE_A_PLACE)
            known = is_known(command, name, about_a_bench=about_a_bench)
            if (sounds or "pathlib" in repr(kind)) and not known:
                unknown.add((command.name, name))

    assert unknown == set()
    assert seen >= declared, "a field that no request has any more"
    assert {name for _, name in declared} >= {"source_path", "workspace_path", "destination_dir"}
    assert {one for one in NO_PLACE if one[0] != "*"} <= seen


@pytest.mark.rule("T6.4", "S7.5", "B14.4")
def test_no_role_lets_a_person_name_a_path_of_the_server(shop, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("the owner's own", encoding="utf-8")
    ada = shop.call("UserAdd", {"name": "Ada"})["user_id"]
    bench = shop.call("WorkbenchCreate", {"name": "Hers"}, user=ada)["workbench_id"]
    source, place = str(secret), str(tmp_path)
    on_bench = {"workbench_id": bench}
    calls: list[tuple[str, dict[str, Any]]] = [
        (
            "ContextProcess",
            {
                **on_bench,
                "category": "situation",
                "input": {"mode": "file", "source_path": source},
            },
        ),
        ("RailsWorkflowValidate", {"path": source}),
        ("RailsWorkflowValidate", {"path": ""}),  # the folder the server runs in
        ("RailsWorkflowValidate", {"source": "{}", "workspacePath": place}),
        ("RailsWorkflowSource", {"workflowId": "wr.rpi", "workspacePath": place}),
        ("WorkbenchFilesAdd", {**on_bench, "source_paths": [source]}),
        ("WorkbenchFilesExtract", {**on_bench, "destination_dir": place}),
        ("inspect_workflow", {"workflowId": "wr.rpi", "workspacePath": place}),
        ("list_workflows", {"workspacePath": place}),
        ("resume_session", {"workspacePath": place}),
        ("start_session", {"workspacePath": place}),
        ("start_workflow", {"workflowId": "wr.rpi", "goal": "x", "workspacePath": place}),
    ]

    refused = {}
    for name, request in calls:
        with pytest.raises(AccessDenied) as caught:
            shop.call(name, request, user=ada)
        refused[name] = caught.value.reason

    assert refused == {name: "paths" for name, _ in calls}


@pytest.mark.rule("T6.4")
def test_words_in_the_context_of_a_run_are_no_paths(shop):
    ada = shop.call("UserAdd", {"name": "Ada"})["user_id"]
    context = {"source_path": "docs/a.md", "workspacePath": "here"}
    request = {"workflowId": "wr.rpi", "goal": "x", "context": context}

    assert shop.call("start_workflow", request, user=ada)["stateToken"]


@pytest.mark.rule("T6.4", "S7.5")
def test_a_person_is_told_no_path_of_the_server(shop, tmp_path):
    ada = shop.call("UserAdd", {"name": "Ada"})["user_id"]
    bench = shop.call("WorkbenchCreate", {"name": "Hers"}, user=ada)["workbench_id"]
    asked = {"workbench_id": bench}
    shop.call("DraftCreate", asked, user=ada)

    own = [shop.call(name, asked) for name in ("WorkbenchGetScope", "DraftFolder")]
    hers = [shop.call(name, asked, user=ada) for name in ("WorkbenchGetScope", "DraftFolder")]

    assert all(str(shop.config.home) in json.dumps(one) for one in own)
    assert not any(str(shop.config.home) in json.dumps(one) for one in hers)
