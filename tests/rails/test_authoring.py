"""Writing workflows: nothing broken is saved, nothing is lost, what is new runs."""

from __future__ import annotations

import fcntl
import json
import os

import pytest

from backshop.rails.catalog.authoring import Authoring, starting_point
from backshop.rails.catalog.catalog import Catalog
from backshop.rails.catalog.folder import put_file
from backshop.rails.catalog.placement import Removed
from backshop.rails.catalog.source import Places, Source
from backshop.rails.definition.identity import SourceKind
from backshop.rails.errors import RailsError
from backshop.store import WriteFailed

GOOD = {
    "id": "team.good",
    "name": "Good",
    "description": "For tests.",
    "version": "1.0.0",
    "steps": [{"id": "a", "title": "A", "prompt": "Do it."}],
}


@pytest.fixture
def places(tmp_path):
    return Places(user_dirs=(tmp_path / "home" / "workflows",))


@pytest.fixture
def catalog(places):
    return Catalog(places)


@pytest.fixture
def authoring(catalog, places):
    return Authoring(catalog, places)


def codes(checked):
    return [one.code for one in checked.findings]


@pytest.mark.rule("R3.10")
def test_a_saved_workflow_is_found_and_saved_over_in_place(authoring, catalog, places):
    first = authoring.save(json.dumps(GOOD), target=SourceKind.USER)
    renamed = first.path.rename(first.path.with_name("other.json"))

    again = authoring.save(json.dumps({**GOOD, "name": "Better"}), target=SourceKind.USER)

    assert (first.replaced, again.replaced, again.path) == (False, True, renamed)
    assert catalog.look().load("team.good").compiled.name == "Better"
    assert [one.name for one in places.user_dirs[0].iterdir()] == ["other.json"]


@pytest.mark.rule("R3.10")
def test_a_file_that_is_another_by_now_is_replaced_only_by_who_has_seen_it(authoring, places):
    texts = [json.dumps({**GOOD, "name": name}) for name in ("One", "Two", "Three")]
    first = authoring.save(texts[0], target=SourceKind.USER, expected="")
    seen = authoring.source("team.good")
    assert seen.source_hash == first.source_hash
    second = authoring.save(texts[1], target=SourceKind.USER, expected=seen.source_hash)

    for late in ("", seen.source_hash, "no hash"):
        with pytest.raises(RailsError) as caught:
            authoring.save(texts[2], target=SourceKind.USER, expected=late)
        assert caught.value.rails_code == "PRECONDITION_FAILED"
        assert caught.value.details == {
            "workflowId": "team.good",
            "sourceHash": second.source_hash,
        }

    assert second.path.read_text() == texts[1]
    again = authoring.save(texts[1], target=SourceKind.USER, expected=seen.source_hash)
    assert again.source_hash == second.source_hash  # what is there is what was meant
    second.path.write_bytes(b"\xff another program wrote this")
    second.path.rename(places.user_dirs[0] / "aside.txt")
    assert not authoring.save(texts[2], target=SourceKind.USER, expected="x").replaced


@pytest.mark.rule("R3.10", "R1.5", "C4")
@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"id": "legacy-id"}, "WF_ID_LEGACY_SAVE"),
        ({"id": "wr.mine"}, "WF_ID_RESERVED"),
        ({"id": "No Good"}, "WF_ID_INVALID"),
        ({"steps": []}, "WF_SCHEMA"),
        ({"unknown": 1}, "WF_SCHEMA"),
    ],
)
def test_what_has_an_error_is_not_written(authoring, places, fields, code):
    with pytest.raises(RailsError) as caught:
        authoring.save(json.dumps({**GOOD, **fields}), target=SourceKind.USER)

    assert caught.value.rails_code == "WORKFLOW_INVALID"
    assert code in str(caught.value.details)
    assert not places.user_dirs[0].exists()


@pytest.mark.rule("R3.10")
@pytest.mark.parametrize("target", [SourceKind.BUNDLED, SourceKind.GIT, SourceKind.PROJECT])
def test_read_only_places_are_refused(authoring, target):
    with pytest.raises(RailsError) as caught:
        authoring.save(json.dumps(GOOD), target=target)

    assert caught.value.rails_code == "VALIDATION_ERROR"


@pytest.mark.rule("R3.10")
def test_a_copy_keeps_the_text_and_gets_its_own_id(authoring, catalog, tmp_path):
    saved = authoring.copy(
        "rpi", new_id="project.my_rpi", target=SourceKind.PROJECT, workspace=tmp_path
    )

    original = authoring.source("wr.rpi")
    assert saved.path == tmp_path / ".backshop" / "workflows" / "project.my_rpi.yaml"
    assert saved.path.read_text() == original.text.replace("id: wr.rpi\n", "id: project.my_rpi\n")
    workflow = catalog.look(tmp_path).load("project.my_rpi")
    assert workflow.compiled.steps == catalog.look().load("wr.rpi").compiled.steps
    with pytest.raises(RailsError, match="exists already"):
        authoring.copy(
            "rpi", new_id="project.my_rpi", target=SourceKind.PROJECT, workspace=tmp_path
        )


def test_a_json_workflow_is_copied_as_json(authoring, catalog):
    authoring.save(json.dumps(GOOD), target=SourceKind.USER)

    saved = authoring.copy("team.good", new_id="team.copy", target=SourceKind.USER)

    assert json.loads(saved.path.read_text()) == {**GOOD, "id": "team.copy"}


@pytest.mark.rule("R3.10", "R3.5")
def test_a_deleted_workflow_is_gone_and_what_it_covered_answers(catalog, tmp_path):
    places = Places(user_dirs=(tmp_path / "own", tmp_path / "lent"))
    authoring = Authoring(Catalog(places), places)
    saved = authoring.save(json.dumps(GOOD), target=SourceKind.USER)
    (tmp_path / "lent").mkdir()
    (tmp_path / "lent" / "good.json").write_text(json.dumps({**GOOD, "name": "Lent"}))

    gone = authoring.delete("team.good", target=SourceKind.USER)

    assert gone == Removed(workflow_id="team.good", path=saved.path, uncovered="user-2:good.json")
    assert not saved.path.exists()
    assert json.loads(authoring.source("team.good").text)["name"] == "Lent"
    with pytest.raises(RailsError) as lent:
        authoring.delete("team.good", target=SourceKind.USER)
    assert lent.value.rails_code == "VALIDATION_ERROR"
    assert str(tmp_path / "lent" / "good.json") in lent.value.suggestion


@pytest.mark.rule("R3.10")
def test_a_file_that_is_another_by_now_is_deleted_only_by_who_has_seen_it(authoring, catalog):
    first = authoring.save(json.dumps(GOOD), target=SourceKind.USER)
    again = authoring.save(json.dumps({**GOOD, "name": "Better"}), target=SourceKind.USER)

    with pytest.raises(RailsError) as caught:
        authoring.delete("team.good", target=SourceKind.USER, expected=first.source_hash)

    assert caught.value.rails_code == "PRECONDITION_FAILED"
    assert caught.value.details["sourceHash"] == again.source_hash
    assert again.path.exists()
    authoring.delete("team.good", target=SourceKind.USER, expected=again.source_hash)
    assert "team.good" not in catalog.look().entries


@pytest.mark.rule("R3.10")
@pytest.mark.parametrize(
    ("workflow_id", "code", "said"),
    [
        ("wr.rpi", "VALIDATION_ERROR", "comes with Backshop"),
        ("rpi", "VALIDATION_ERROR", "comes with Backshop"),
        ("from.git", "VALIDATION_ERROR", "comes from a repository"),
        ("team.good", "VALIDATION_ERROR", "of the project"),
        ("team.nothing", "WORKFLOW_NOT_FOUND", "no workflow"),
    ],
)
def test_what_is_not_the_users_stays_and_is_called_by_its_place(tmp_path, workflow_id, code, said):
    clone = tmp_path / "clone"
    clone.mkdir()
    (clone / "git.json").write_text(json.dumps({**GOOD, "id": "from.git"}))
    git = Source(kind=SourceKind.GIT, root=clone, name="git")
    places = Places(user_dirs=(tmp_path / "own",), git=(git,))
    authoring = Authoring(Catalog(places), places)
    authoring.save(json.dumps(GOOD), target=SourceKind.PROJECT, workspace=tmp_path)

    with pytest.raises(RailsError) as caught:
        authoring.delete(workflow_id, target=SourceKind.USER, workspace=tmp_path)

    assert caught.value.rails_code == code
    assert said in caught.value.message
    assert not (tmp_path / "own").exists()


def test_the_starting_point_is_clean_and_runs(authoring, catalog):
    saved = authoring.new("user.invoice_check", target=SourceKind.USER)

    assert saved.checked.findings == ()
    workflow = catalog.look().load("user.invoice_check")
    assert workflow.compiled.name == "Invoice check"
    assert [step.step_id for step in workflow.compiled.walk()] == [
        *("understand", "prepare", "passes", "work", "good-enough", "check.check", "report")
    ]
    assert 'name: "A \\"b\\": c"' in starting_point("user.x", 'A "b": c')
    with pytest.raises(RailsError, match="exists already"):
        authoring.new("user.invoice_check", target=SourceKind.USER)


@pytest.mark.rule("R1.3", "C12")
def test_validation_tells_what_a_text_would_be(authoring, tmp_path):
    loose = authoring.validate(json.dumps({**GOOD, "tipps": 1}))
    strict = authoring.validate(json.dumps({**GOOD, "tipps": 1}), strict=True)

    assert (loose.is_valid, codes(loose)) == (True, ["WW_UNKNOWN_FIELD"])
    assert (strict.is_valid, codes(strict)) == (False, ["WF_SCHEMA"])
    assert codes(authoring.validate(json.dumps({**GOOD, "id": "old-id"}))) == ["WW_LEGACY_ID"]
    assert codes(authoring.validate("{")) == ["WF_PARSE"]
    assert codes(authoring.validate("a: [", is_yaml=True)) == ["WF_PARSE"]
    assert codes(authoring.validate('{"id": "\ud800"}')) == ["WF_PARSE"]


def test_a_file_is_judged_by_where_it_lies(authoring, tmp_path):
    (tmp_path / "workflows").mkdir()
    inside = tmp_path / "workflows" / "a.json"
    inside.write_text(json.dumps({**GOOD, "id": "wr.mine"}))

    checked = authoring.validate_file(inside, workspace=tmp_path)

    assert [(one.code, one.fix) for one in checked.findings] == [("WF_ID_RESERVED", "project.mine")]
    with pytest.raises(RailsError, match="cannot be read"):
        authoring.validate_file(tmp_path / "missing.json")


def test_an_interrupted_save_leaves_the_old_file(authoring, catalog, places, monkeypatch):
    saved = authoring.save(json.dumps(GOOD), target=SourceKind.USER)
    before = saved.path.read_bytes()
    monkeypatch.setattr("os.fsync", _fail)

    with pytest.raises(WriteFailed):
        authoring.save(json.dumps({**GOOD, "name": "New"}), target=SourceKind.USER)

    assert [one.read_bytes() for one in places.user_dirs[0].iterdir()] == [before]


@pytest.mark.rule("R3.10")
def test_nobody_else_writes_into_a_folder_of_workflows_during_a_save(
    authoring, places, monkeypatch
):
    def while_others_try(path, text):
        handle = os.open(path.parent, os.O_RDONLY)
        try:
            with pytest.raises(BlockingIOError):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        finally:
            os.close(handle)
        put_file(path, text)

    monkeypatch.setattr("backshop.rails.catalog.placement.put_file", while_others_try)
    saved = authoring.save(json.dumps(GOOD), target=SourceKind.USER)

    assert json.loads(saved.path.read_text()) == GOOD


def _fail(_handle):
    raise OSError("disk gone")


@pytest.mark.rule("R3.10")
def test_a_folder_that_takes_no_file_is_an_error_of_ours(authoring, places):
    folder = places.user_dirs[0]
    folder.parent.mkdir(parents=True)
    folder.write_text("a file where the folder should be")

    with pytest.raises(WriteFailed):
        authoring.save(json.dumps(GOOD), target=SourceKind.USER)

    assert folder.read_text() == "a file where the folder should be"
