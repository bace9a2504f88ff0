"""Workflow repositories: synced on request, read from the clone, kept when a sync fails."""

from __future__ import annotations

import json
import subprocess

import pytest

from backshop.base.errors import ValidationFailed
from backshop.rails.catalog import git
from backshop.rails.catalog.catalog import Catalog
from backshop.rails.catalog.source import GitSource, Places
from backshop.rails.definition.identity import SourceKind


def workflow(workflow_id, name):
    return {
        "id": workflow_id,
        "name": name,
        "description": "For tests.",
        "version": "1.0.0",
        "steps": [{"id": "a", "title": "A", "prompt": "Do it."}],
    }


def run(folder, *args):
    subprocess.run(
        ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", *args],
        cwd=folder,
        check=True,
        capture_output=True,
    )


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "repository"
    (folder / "flows").mkdir(parents=True)
    run(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder, "One")
    return folder


def commit(folder, name):
    (folder / "flows" / "a.json").write_text(json.dumps(workflow("acme.a", name)))
    (folder / "flows" / "old.json").write_text(json.dumps(workflow("my-old", name)))
    (folder / "outside.json").write_text(json.dumps(workflow("acme.outside", name)))
    run(folder, "add", ".")
    run(folder, "commit", "--quiet", "-m", name)


@pytest.mark.rule("R3.2", "R1.7")
def test_a_repository_is_read_after_a_sync_and_only_then(tmp_path, repository):
    one = GitSource(url=f"file://{repository}", ref="main", path="flows", namespace="acme")
    clones = tmp_path / "clones"
    catalog = Catalog(Places(git=git.sources([one], clones)))

    def names():
        listing = catalog.look()
        return {
            entry.workflow_id: listing.load(entry.workflow_id).compiled.name
            for entry in listing.entries.values()
            if entry.source.kind is SourceKind.GIT
        }

    assert names() == {}
    (first,) = git.sync([one], clones)
    assert names() == {"acme.a": "One", "my-old": "One"}
    commit(repository, "Two")
    assert names() == {"acme.a": "One", "my-old": "One"}
    (second,) = git.sync([one], clones)
    assert names() == {"acme.a": "Two", "my-old": "Two"}

    listing = catalog.look()
    assert listing.suggestion(listing.entries["my-old"]) == "acme.my_old"
    assert first.error is second.error is None
    assert first.commit != second.commit
    assert len(list(clones.iterdir())) == 1


@pytest.mark.rule("R3.3")
def test_a_failed_sync_keeps_the_last_clone(tmp_path, repository):
    one = GitSource(url=f"file://{repository}", ref="main")
    clones = tmp_path / "clones"
    git.sync([one], clones)
    repository.rename(tmp_path / "gone")

    (failed,) = git.sync([one], clones)

    assert failed.commit is None
    assert failed.error
    listing = Catalog(Places(git=git.sources([one], clones))).look()
    assert listing.load("acme.outside").compiled.name == "One"
    assert len(list(clones.iterdir())) == 1


def test_a_ref_that_does_not_exist_is_an_error_and_leaves_nothing(tmp_path, repository):
    one = GitSource(url=f"file://{repository}", ref="nope")

    (failed,) = git.sync([one], tmp_path / "clones")

    assert failed.error is not None
    assert "nope" in failed.error
    assert list((tmp_path / "clones").iterdir()) == []


@pytest.mark.rule("S3.3")
@pytest.mark.parametrize(
    "entry",
    [
        {"url": "ext::sh -c id", "ref": "main"},
        {"url": "--upload-pack=x", "ref": "main"},
        {"url": "https://example.org/a.git", "ref": "--all"},
        {"url": "https://example.org/a.git"},
        {"url": "https://example.org/a.git", "ref": "main", "path": "../x"},
        {"url": "https://example.org/a.git", "ref": "main", "path": "/x"},
        {"url": "https://example.org/a.git", "ref": "main", "namespace": "wr"},
        {"url": "https://example.org/a.git", "ref": "main", "branch": "x"},
        {"url": 3, "ref": "main"},
    ],
)
def test_a_bad_setting_is_refused_by_place(entry):
    with pytest.raises(ValidationFailed, match=r"rails\.git_sources\[1\]") as caught:
        git.read_sources([{"url": "https://example.org/a.git", "ref": "main"}, entry])

    assert caught.value.reason == "bad_setting"


def test_links_and_hooks_of_a_repository_do_nothing(tmp_path, repository):
    secret = tmp_path / "secret.json"
    secret.write_text(json.dumps(workflow("acme.secret", "S")))
    (repository / "flows" / "link.json").symlink_to(secret)
    (repository / "linked").symlink_to(tmp_path)
    run(repository, "add", ".")
    run(repository, "commit", "--quiet", "-m", "links")
    one = GitSource(url=f"file://{repository}", ref="main")

    git.sync([one], tmp_path / "clones")

    listing = Catalog(Places(git=git.sources([one], tmp_path / "clones"))).look()
    assert "acme.secret" not in listing.entries
    assert not any(path.is_symlink() for path in (tmp_path / "clones").rglob("*"))
