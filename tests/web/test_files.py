"""Files come and go by their routes (S7.5, B6.17)."""

from __future__ import annotations

import io
import zipfile

import pytest


@pytest.mark.rule("S7.5", "B6.17")
def test_uploads_are_added_with_the_results_of_any_other_add(served, tmp_path_factory):
    bench = served.bench()
    files = [
        ("files", ("notes.md", b"# Notes")),
        ("files", ("x", b"deep")),
        ("files", ("y", b"bad")),
    ]
    data = {"paths": ["notes.md", "a/b/deep.txt", "../../out.txt"]}
    with served.client() as client:
        answer = client.post(f"/bench/{bench}/files", files=files, data=data).json()
        again = client.post(f"/bench/{bench}/files", files=files[:1]).json()
        twice = client.post(f"/bench/{bench}/files", files=[files[1], files[1]]).json()

    shown = {one["source_path"]: one["status"] for one in answer["add_results"]}
    listed = served.call("WorkbenchFilesList", workbench_id=bench)["files"]
    assert shown == {"notes.md": "added", "a/b/deep.txt": "added", "../../out.txt": "failed"}
    assert sorted(one["path"] for one in listed) == ["a/b/deep.txt", "notes.md", "x"]
    refused = next(one for one in answer["add_results"] if one["status"] == "failed")
    assert refused["reason"] == "invalid_path"  # it was never laid down, there or anywhere else
    assert list(tmp_path_factory.getbasetemp().rglob("out.txt")) == []
    assert again["error"]["error_code"] == "VALIDATION_FAILED"
    assert [(one["status"], one.get("reason")) for one in twice["add_results"]] == [
        ("added", None),
        ("failed", "duplicate"),
    ]


@pytest.mark.rule("S7.5")
def test_a_file_and_all_files_are_sent_as_attachments(served):
    bench = served.bench(files={"a & b's.html": "<script>alert(1)</script>", "d/x.csv": "a,b\n"})
    with served.client() as client:
        one = client.get(f"/bench/{bench}/files/a%20%26%20b%27s.html")
        whole = client.get(f"/bench/{bench}/files.zip")

    assert one.content == b"<script>alert(1)</script>"
    assert one.headers["content-type"] == "application/octet-stream"
    assert one.headers["content-disposition"].startswith("attachment;")
    with zipfile.ZipFile(io.BytesIO(whole.content)) as archive:
        assert {n: archive.read(n) for n in archive.namelist()} == {
            "a & b's.html": b"<script>alert(1)</script>",
            "d/x.csv": b"a,b\n",
        }


@pytest.mark.rule("S7.5")
def test_both_views_can_be_read_while_there_is_a_draft(served):
    bench = served.bench(files={"a.txt": "a", "b.txt": "b"})
    served.call("DraftCreate", workbench_id=bench)
    served.call("DraftDeletePath", workbench_id=bench, path="a.txt")
    with served.client() as client:
        published = client.get(f"/bench/{bench}/files/a.txt")
        draft = client.get(f"/bench/{bench}/files/a.txt?view=draft")
        archive = client.get(f"/bench/{bench}/files.zip")

    assert published.content == b"a"
    assert draft.status_code == 404
    assert archive.status_code == 200


def test_a_file_beyond_the_limit_is_refused_and_nothing_of_it_kept(served):
    bench = served.bench()
    limits = {"max_files": 10, "max_file_bytes": 10, "max_total_bytes": 100, "max_depth": 5}
    served.call("WorkbenchSetLimits", workbench_id=bench, limits=limits)
    with served.client() as client:
        files = [("files", ("big.txt", b"x" * 50)), ("files", ("small.txt", b"x"))]
        answer = client.post(f"/bench/{bench}/files", files=files).json()

    results = answer.get("add_results", [])
    assert {one["source_path"]: one["status"] for one in results}.get("big.txt") != "added"
    assert served.call("WorkbenchFilesList", workbench_id=bench)["total"] <= 1


@pytest.mark.rule("B9.5")
def test_an_edit_in_place_of_a_published_file_is_told_on_the_page_and_put_back(served):
    bench = served.bench(files={"a.txt": "a\n", "b.txt": "b\n"})
    shown = served.shop.config.home / "benches" / bench / "published" / "a.txt"
    shown.chmod(0o644)
    with shown.open("a") as file:
        file.write("more\n")
    with served.client() as client:
        told = client.get(f"/bench/{bench}?stay=1", headers={"accept": "text/html"}).text
        served.call("PublishedRepair", workbench_id=bench, mode="restore")
        after = client.get(f"/bench/{bench}?stay=1", headers={"accept": "text/html"}).text

    assert "Another program changed 1 file in Published's folder: a.txt" in told
    assert "Another program" not in after
    assert shown.read_text() == "a\n"
