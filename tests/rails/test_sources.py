"""Sources: what is found where, who answers to an id, and what a broken file gets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backshop.app import Backshop
from backshop.base.errors import ValidationFailed
from backshop.rails.catalog.catalog import Catalog
from backshop.rails.catalog.source import Places, Source
from backshop.rails.definition.identity import SourceKind, WorkflowKind, id_status, suggested_id
from backshop.rails.errors import RailsError

BROKEN = '{"id": "project.broken", "steps": [}'


def workflow(workflow_id, **fields):
    return {
        "id": workflow_id,
        "name": workflow_id.title(),
        "description": "For tests.",
        "version": "1.0.0",
        "steps": [{"id": "a", "title": "A", "prompt": "Do it."}],
        **fields,
    }


def put(folder: Path, name: str, content) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home" / "workflows"


@pytest.fixture
def project(tmp_path):
    return tmp_path / "project" / ".backshop" / "workflows"


@pytest.fixture
def catalog(home):
    return Catalog(Places(user_dirs=(home,)))


def look(catalog, project):
    return catalog.look(project.parent.parent)


def ids(listing, **filters):
    return [one.entry.workflow_id for one in listing.workflows(**filters) if not _ours(one)]


def _ours(one):
    return one.entry.source.kind is SourceKind.BUNDLED


@pytest.mark.rule("R3.1")
def test_workflows_come_from_four_kinds_of_places():
    assert {str(kind) for kind in SourceKind} == {"bundled", "user", "project", "git"}


@pytest.mark.rule("R3.1", "S3.3")
@pytest.mark.parametrize("name", ["remote", "plugin"])
def test_other_kinds_of_places_cannot_be_configured(tmp_path, name):
    home = tmp_path / "home"
    home.mkdir()
    entry = {"url": "https://example.org/a.git", "ref": "main", "kind": name}
    both: tuple[dict[str, list[object]], ...] = (
        {f"rails.{name}_sources": []},
        {"rails.git_sources": [entry]},
    )
    for settings in both:
        (home / "settings.json").write_text(json.dumps(settings))
        with pytest.raises(ValidationFailed) as caught, Backshop.open(home) as shop:
            shop.call("list_workflows", {})

        assert "rails." in caught.value.message


@pytest.mark.rule("R3.5")
def test_a_project_wins_over_the_user_and_says_so(catalog, home, project):
    put(home, "a.json", workflow("team.review", name="User's"))
    put(project, "b.json", workflow("team.review", name="Project's"))

    listing = look(catalog, project)

    assert listing.load("team.review").compiled.name == "Project's"
    assert [(one.code, one.message) for one in listing.warnings] == [
        ("WW_SHADOWED", "user:a.json is not used: project:b.json has the same id")
    ]


@pytest.mark.rule("R3.5")
def test_two_files_with_one_id_in_one_source_are_both_errors(catalog, home, project):
    put(project, "a.json", workflow("project.twin"))
    put(project, "sub/b.json", workflow("project.twin"))
    put(home, "c.json", workflow("project.twin"))

    listing = look(catalog, project)

    assert [(one.file, [f.code for f in one.findings]) for one in listing.invalid] == [
        ("project:a.json", ["WF_ID_DUPLICATE"]),
        ("project:sub/b.json", ["WF_ID_DUPLICATE"]),
    ]
    with pytest.raises(RailsError) as caught:
        listing.load("project.twin")
    assert caught.value.rails_code == "WORKFLOW_INVALID"


@pytest.mark.rule("R1.6", "C3")
def test_a_reserved_id_from_a_project_never_shadows_the_bundled_one(tmp_path, project):
    bundled = tmp_path / "bundled"
    put(bundled, "x.json", workflow("wr.x", name="Bundled"))
    put(project, "x.json", workflow("wr.x", name="Impostor"))

    listing = look(Catalog(Places(bundled_dirs=(bundled,))), project)

    assert listing.load("wr.x").compiled.name == "Bundled"
    (invalid,) = listing.invalid
    (finding,) = invalid.findings
    assert (invalid.file, finding.code, finding.fix) == (
        "project:x.json",
        "WF_ID_RESERVED",
        "project.x",
    )


@pytest.mark.rule("R1.5", "R1.7", "C4", "C5")
def test_legacy_ids_run_and_get_stable_suggestions(catalog, home, project):
    put(home, "a.json", workflow("my-flow"))
    put(home, "b.json", workflow("my_flow"))
    put(home, "c.json", workflow("9lives"))

    listing = look(catalog, project)

    suggestions = {
        one: listing.suggestion(listing.entries[one]) for one in ("my-flow", "my_flow", "9lives")
    }
    assert suggestions["my-flow"] == "user.my_flow"
    assert suggestions["my_flow"].startswith("user.my_flow_")
    assert len(suggestions["my_flow"]) == len("user.my_flow_") + 4
    assert suggestions["9lives"] == "user.w_9lives"
    assert [one.code for one in listing.load("my-flow").findings] == ["WW_LEGACY_ID"]
    again = look(Catalog(Places(user_dirs=(home,))), project)
    assert {one: again.suggestion(again.entries[one]) for one in suggestions} == suggestions


@pytest.mark.rule("R3.6")
def test_a_bundled_workflow_answers_to_its_bare_name(tmp_path, home, project):
    bundled = tmp_path / "bundled"
    put(bundled, "x.json", workflow("wr.helper-flow"))
    catalog = Catalog(Places(bundled_dirs=(bundled,), user_dirs=(home,)))

    found = look(catalog, project).find("helper-flow")
    assert found.workflow_id == "wr.helper-flow"

    put(home, "own.json", workflow("helper-flow"))
    found = look(catalog, project).find("helper-flow")
    assert (found.workflow_id, found.source.kind) == ("helper-flow", SourceKind.USER)


@pytest.mark.rule("R3.9", "C98")
def test_broken_files_are_reported_and_hide_nothing(catalog, home, project):
    put(project, "bad.json", BROKEN)
    put(project, "worse.json", "\ud800".encode("utf-16", "surrogatepass").hex())
    put(project, "list.json", [1])
    put(project, "step.json", workflow("project.step", steps=[{"id": "A b", "title": "A"}]))
    put(
        project,
        "good.yaml",
        "id: project.good\nname: G\ndescription: D\nversion: 1.0.0\n"
        "steps:\n- id: a\n  title: A\n  prompt: |\n    Do it.\n",
    )
    (project / "deep").mkdir()
    (project / "deep" / "not-a-workflow.txt").write_text("no")
    put(project, "a/b/c/d/too-deep.json", workflow("project.deep"))
    (project / "link.json").symlink_to(project / "good.yaml")

    listing = look(catalog, project)

    assert ids(listing) == ["project.good"]
    assert {one.file: [f.code for f in one.findings] for one in listing.invalid} == {
        "project:bad.json": ["WF_PARSE"],
        "project:worse.json": ["WF_PARSE"],
        "project:list.json": ["WF_SCHEMA"],
        "project:step.json": ["WF_PROMPT_SOURCE", "WF_STEP_ID_INVALID"],
    }


@pytest.mark.rule("R3.7", "R1.8")
def test_the_order_and_the_filters(catalog, home, project):
    put(home, "z.json", workflow("zeta-flow"))
    put(home, "r.json", workflow("team.routine-a"))
    put(home, "routines/b.json", workflow("team.b"))
    put(home, "c.json", workflow("team.c", tags=["Ünïcode", "review"]))
    put(home, "a.json", workflow("acme.a", description="Reviews a spreadsheet."))

    listing = look(catalog, project)

    assert ids(listing) == ["zeta-flow", "acme.a", "team.c", "team.b", "team.routine-a"]
    assert ids(listing, kind=WorkflowKind.ROUTINE) == ["team.b", "team.routine-a"]
    assert ids(listing, query="REVIEW") == ["acme.a", "team.c"]
    assert ids(listing, query="review spread") == ["acme.a"]


@pytest.mark.rule("R3.3")
def test_what_changes_on_disk_is_seen_at_the_next_look(catalog, home, project):
    file = put(home, "a.json", workflow("team.a", name="One"))
    first = look(catalog, project).load("team.a")

    put(home, "a.json", workflow("team.a", name="Another"))
    second = look(catalog, project).load("team.a")
    file.unlink()

    assert (first.compiled.name, second.compiled.name) == ("One", "Another")
    assert first.workflow_hash != second.workflow_hash
    with pytest.raises(RailsError) as caught:
        look(catalog, project).find("team.a")
    assert caught.value.rails_code == "WORKFLOW_NOT_FOUND"


@pytest.mark.rule("R7.3")
def test_an_unknown_id_names_the_nearest(catalog, home, project):
    put(home, "a.json", workflow("team.invoice-check"))

    with pytest.raises(RailsError) as caught:
        look(catalog, project).find("team.invoice-chek")

    assert caught.value.details == {"nearest": ["team.invoice-check"]}


@pytest.mark.rule("R1.38")
def test_bindings_of_the_workspace_fill_the_slots(catalog, project):
    put(
        project,
        "a.json",
        workflow(
            "project.slots",
            extensionPoints=[{"slotId": "review", "purpose": "Who reviews", "default": "wr.rpi"}],
            steps=[{"id": "a", "title": "A", "prompt": "Start {{wr.bindings.review}}."}],
        ),
    )
    plain = look(catalog, project).load("project.slots")
    put(project.parent, "bindings.json", {"project.slots": {"review": "team.own", "other": 3}})

    bound = look(catalog, project).load("project.slots")

    assert plain.compiled.steps[0].prompt == "Start wr.rpi."
    assert bound.compiled.steps[0].prompt == "Start team.own."
    assert bound.compiled.bindings == {"review": "team.own"}
    assert bound.workflow_hash != plain.workflow_hash


@pytest.mark.rule("R3.3")
def test_an_unreadable_source_warns_and_leaves_the_others(tmp_path, home, project):
    put(home, "a.json", workflow("team.a"))
    put(project.parent, "bindings.json", "[")
    git = Source(kind=SourceKind.GIT, root=tmp_path / "missing", name="git", namespace="acme")

    listing = look(Catalog(Places(user_dirs=(home,), git=(git,))), project)

    assert ids(listing) == ["team.a"]
    assert [one.code for one in listing.warnings] == ["WW_SOURCE_UNREADABLE"]


@pytest.mark.rule("R1.4", "R1.5")
@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("wr.rpi", "namespaced"),
        ("a.b", "namespaced"),
        ("project.auth_review-2", "namespaced"),
        ("my-flow", "legacy"),
        ("9ab", "legacy"),
        ("a.b.c", None),
        ("A.b", None),
        ("a.9", None),
        (".a", None),
        ("ab", None),
        ("", None),
        ("a" * 65, None),
        ("a." + "b" * 63, None),
        ("../etc", None),
        ("a b", None),
        ("é.a", None),
    ],
)
def test_ids(text, status):
    assert id_status(text) == status


@pytest.mark.rule("R1.7")
def test_suggestions_follow_the_source():
    assert suggested_id("My Flow!", SourceKind.PROJECT, "a.json") == "project.my_flow_"
    assert suggested_id("x" * 60, SourceKind.USER, "a.json") == "user." + "x" * 40
    assert suggested_id("flow", SourceKind.GIT, "a.json", namespace="acme") == "acme.flow"
    assert suggested_id("flow", SourceKind.GIT, "a.json") == "repo.flow"


@pytest.mark.rule("R3.3")
def test_a_source_with_too_many_files_is_read_in_part(catalog, home, project):
    home.mkdir(parents=True)
    for number in range(2001):
        (home / f"{number:04}.json").write_text("{}")
    put(project, "a.json", workflow("project.a"))

    listing = look(catalog, project)

    assert ids(listing) == ["project.a"]
    assert len(listing.invalid) == 2000
    assert [one.code for one in listing.warnings] == ["WW_SOURCE_UNREADABLE"]


@pytest.mark.rule("R1.27")
def test_a_broken_routine_cannot_be_called(tmp_path, project):
    bundled = tmp_path / "bundled"
    call = {"templateId": "wr.templates.routine.bad"}
    put(bundled, "routines/bad.json", workflow("wr.routine-bad", steps=[{"id": "a"}]))
    put(
        project,
        "a.json",
        workflow("project.a", steps=[{"id": "c", "title": "C", "templateCall": call}]),
    )

    listing = look(Catalog(Places(bundled_dirs=(bundled,))), project)

    codes = {one.file: {finding.code for finding in one.findings} for one in listing.invalid}
    assert codes["project:a.json"] == {"WF_TEMPLATE_UNKNOWN"}
    assert codes["bundled-2:routines/bad.json"] == {"WF_PROMPT_SOURCE", "WF_SCHEMA"}
