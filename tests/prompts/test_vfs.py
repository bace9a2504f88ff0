"""The virtual file system: pinned reads, an overlay for writes, and nothing outside."""

from __future__ import annotations

import random
import re
import unicodedata
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backshop.base.canon import sha256_hex
from backshop.formats import Formats, write_samples
from backshop.prompts import (
    After,
    BenchMount,
    Change,
    FileProblem,
    HostMount,
    Manifest,
    ManifestEntry,
    Prompt,
    PromptValidationError,
    ReadBeforeWrite,
    Session,
    Tool,
    ToolContext,
    ToolInvoked,
    ToolResult,
    VfsSection,
    Workspace,
    WorkspaceFingerprint,
    invoke,
    open_workspace,
)
from backshop.prompts.workspace.glob import Glob, glob_regex
from backshop.prompts.workspace.workspace import OverlayEntry, PathRead


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "work"
    (root / "src").mkdir(parents=True)
    (root / "README.md").write_text("# Hi\nline two\nline three\n")
    (root / "src" / "a.py").write_text("import os\nprint('a')\n")
    (root / "src" / "b.bin").write_bytes(b"\0\1")
    (root / "big.txt").write_text("x" * 2_000_000)
    (root / "secret.pem").write_text("key")
    (root / ".env").write_text("K=1")
    (root / "link").symlink_to("/etc/passwd")
    (root / "bad:name.txt").write_text("x")
    return root


class Place:
    """A prompt over one folder, opened in a session."""

    def __init__(self, folder, **attributes):
        mount = HostMount(folder, allowed_roots=[folder.parent])
        self.section = VfsSection(mount, **attributes)
        self.prompt = Prompt("t", "p", sections=[self.section])
        self.session = Session()
        workspace = open_workspace(self.session, self.prompt)
        assert workspace is not None
        self.workspace = workspace

    def tool(self, name: str) -> Tool:
        return next(one for one in self.prompt.preview().tools if one.name == name)

    def call(self, name: str, **arguments) -> ToolResult:
        tool = self.tool(name)
        params = tool.decode(arguments)
        for policy in self.prompt.preview().policies[name]:
            denied = policy.check(name, params, self.session.view())
            if denied:
                return ToolResult.failure("policy_denied", denied)
        work = self.session.begin()
        result = invoke(tool, params, context=ToolContext(session=work))
        if result.ok:
            work.commit()
        else:
            work.discard()
        return result

    def value(self, name: str, **arguments):
        result = self.call(name, **arguments)
        assert result.ok, result.message
        return result.value

    def code(self, name: str, **arguments) -> str | None:
        result = self.call(name, **arguments)
        assert not result.ok
        return result.code


@pytest.fixture
def place(folder):
    return Place(folder)


@pytest.mark.rule("P6.1", "P6.6")
def test_the_section_is_found_by_its_kinds_and_shows_the_top(place):
    assert place.prompt.find_section(("podman", "vfs")) is place.section
    assert place.prompt.find_section("workspace") is place.section
    text = place.prompt.preview(session=place.session).text
    assert "- `folder work` at the top\n  - `README.md` — 25 B\n" in text
    assert "`src/` — 2 files" in text
    unopened = place.prompt.preview().text
    assert "README.md" not in unopened


@pytest.mark.rule("P6.2", "P6.4", "P6.5")
def test_files_are_listed_with_what_is_skipped_and_why(place):
    value = place.value("list_files")

    assert {one["path"]: one.get("skipped") for one in value["entries"]} == {
        "README.md": None,
        "bad:name.txt": "name: forbidden character",
        "big.txt": "larger than the limit for one file",
        "link": "link",
        "src/a.py": None,
        "src/b.bin": None,
    }
    first = place.value("list_files", limit=4)
    rest = place.value("list_files", limit=4, cursor=first["next_cursor"])
    assert [one["path"] for one in first["entries"] + rest["entries"]] == [
        one["path"] for one in value["entries"]
    ]
    assert rest["next_cursor"] is None
    assert place.value("list_files", prefix="src")["total"] == 2


@pytest.mark.rule("P6.5")
def test_reading_goes_on_where_it_stopped(place):
    result = place.call("read_file", path="README.md", line_count=2)

    assert result.message.splitlines()[1:-1] == ["# Hi", "line two", ""]
    assert result.message.startswith('<file name="README.md" id="')
    assert result.value["next_line"] == 3
    assert place.value("read_file", path="README.md", line_start=3)["has_more"] is False
    assert place.value("get_file_info", path="README.md")["lines"] == 3
    assert place.value("get_file_info", path="src/b.bin")["type"] == "opaque"
    assert place.code("read_file", path="src/b.bin") == "not_text"
    assert place.code("read_file", path="big.txt") == "too_large"
    assert place.code("read_file", path="src") == "is_directory"
    assert place.code("read_file", path="none") == "not_found"


@pytest.mark.rule("P6.5")
def test_long_files_are_read_in_pieces(folder):
    (folder / "long.txt").write_text("\n".join("x" * 999 for _ in range(200)))
    (folder / "wide.txt").write_text("ü" * 100_000)
    place = Place(folder)

    value = place.value("read_file", path="long.txt")
    assert (value["line_count"], value["has_more"], value["next_line"]) == (65, True, 66)
    wide = place.call("read_file", path="wide.txt")
    assert len(wide.message.encode()) < 66_000
    assert "cut" in wide.data()


@pytest.mark.rule("P6.4", "P6.2", "P11.71")
@pytest.mark.parametrize(
    "path", ["../x", "/etc/passwd", "a\\b", "C:x", "a/../../x", "", "a//b", "nul"]
)
def test_paths_that_lead_elsewhere_are_refused(place, path):
    for tool, more in (
        ("read_file", {}),
        ("get_file_info", {}),
        ("write_text_file", {"content": "x"}),
        ("delete_path", {}),
    ):
        assert place.code(tool, path=path, **more) == "bad_path"


@pytest.mark.rule("P6.2", "P11.71")
def test_links_are_never_followed(folder):
    place = Place(folder)

    assert place.code("read_file", path="link") == "too_large"
    (folder / "src" / "a.py").unlink()
    (folder / "src" / "a.py").symlink_to("/etc/passwd")
    assert place.code("read_file", path="src/a.py") == "file_changed"


@pytest.mark.rule("P6.2")
def test_a_folder_outside_the_allowed_roots_is_not_mounted(folder):
    prompt = Prompt("t", "p", sections=[VfsSection(HostMount(folder))])

    with pytest.raises(PromptValidationError) as caught:
        open_workspace(Session(), prompt)

    assert caught.value.code == "MOUNT_NOT_ALLOWED"
    (folder.parent / "way").symlink_to("/etc")
    sneaky = HostMount(folder.parent / "way", allowed_roots=[folder.parent])
    with pytest.raises(PromptValidationError):
        sneaky.pin()


@pytest.mark.rule("P6.3")
def test_reads_are_held_against_what_was_pinned(folder, place):
    place.call("read_file", path="README.md")
    (folder / "README.md").write_text("changed")
    (folder / "src" / "a.py").write_text("import os\nprint('b')\n")  # as long as before

    assert "# Hi" in place.call("read_file", path="README.md").message
    assert place.code("read_file", path="src/a.py") == "file_changed"
    before = place.session[WorkspaceFingerprint].latest()
    place.workspace.refresh()
    assert "print('b')" in place.call("read_file", path="src/a.py").message
    assert place.session[WorkspaceFingerprint].latest() != before


@pytest.mark.rule("P6.3", "P2.12", "P11.70")
def test_writing_changes_no_byte_outside_the_session(folder, place):
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    place.value("write_text_file", path="new/n.txt", content="new")
    place.call("read_file", path="README.md")
    place.value("write_text_file", path="README.md", content="other")
    place.value("delete_path", path="src", recursive=True)
    assert place.code("edit_text_file", path="README.md", edits=[{"search": "no", "replace": ""}])

    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    assert place.workspace.overlay_changes() == (
        Change("README.md", "modified"),
        Change("new/n.txt", "added"),
        Change("src/a.py", "deleted"),
        Change("src/b.bin", "deleted"),
    )
    assert place.workspace.read("README.md") == b"other"
    assert place.code("read_file", path="src/a.py") == "not_found"
    place.session.rewind_to(2)
    assert place.workspace.overlay_changes() == ()


@pytest.mark.rule("P1.18", "P11.17")
def test_a_file_is_read_before_it_is_written(place):
    place.session.dispatch(PathRead("other", "README.md"))  # another workspace's file
    assert place.code("write_text_file", path="README.md", content="x") == "policy_denied"
    assert place.workspace.overlay_changes() == ()
    assert place.call("write_text_file", path="fresh.txt", content="x").ok
    assert place.call("write_text_file", path="fresh.txt", content="y").ok
    assert ReadBeforeWrite().check("list_files", None, place.session.view()) is None


@pytest.mark.rule("P1.18", "P6.4")
def test_a_file_named_in_another_form_of_its_letters_is_read_before_it_is_written(folder):
    name, parted = (unicodedata.normalize(form, "é.txt") for form in ("NFC", "NFD"))
    (folder / name).write_text("old")
    place = Place(folder)

    assert place.code("write_text_file", path=parted, content="x") == "policy_denied"
    assert "old" in place.call("read_file", path=parted).message
    assert place.value("write_text_file", path=parted, content="x")["path"] == name
    assert place.workspace.overlay_changes() == (Change(name, "modified"),)


@pytest.mark.rule("P6.4", "P6.5")
def test_a_folder_that_spells_letters_in_parts_is_read_by_the_paths_it_is_listed_with(folder):
    folder_name, name = unicodedata.normalize("NFD", "Größe"), unicodedata.normalize("NFD", "é.txt")
    (folder / folder_name).mkdir()
    (folder / folder_name / name).write_text("content")
    (folder / name).write_text("parted")
    (folder / "é.txt").write_text("composed")
    place = Place(folder)

    listed = [one["path"] for one in place.value("list_files")["entries"]]

    assert listed.count("é.txt") == 1
    assert "Größe/é.txt" in listed
    assert "content" in place.call("read_file", path="Größe/é.txt").message
    assert "composed" in place.call("read_file", path=name).message
    assert place.value("glob_files", pattern="é.*", path=folder_name)["paths"] == ["Größe/é.txt"]
    assert place.value("glob_files", pattern="./é.txt", path=folder_name)["paths"] == []


@pytest.mark.rule("P1.18")
def test_a_tool_waits_for_those_before_it():
    session = Session()
    policy = After({"deploy": {"test", "build"}})

    def run(tool, ok):
        session.dispatch(
            ToolInvoked(call_id="c", tool=tool, effects="exec", ok=ok, started_at=datetime.now(UTC))
        )

    run("test", True)
    run("build", False)
    assert policy.check("deploy", None, session.view()) == "call build first"
    run("build", True)
    assert policy.check("deploy", None, session.view()) is None
    assert policy.check("other", None, None) is None


@pytest.mark.rule("P6.5", "P11.72")
def test_edits_are_exact_and_all_or_none(place):
    place.call("read_file", path="README.md")
    edits = [{"search": "Hi", "replace": "Ho"}, {"search": "line", "replace": "row"}]

    assert place.code("edit_text_file", path="README.md", edits=edits) == "ambiguous_match"
    assert place.workspace.read("README.md").startswith(b"# Hi")
    edits[1]["expect"] = 2  # type: ignore[assignment]
    place.value("edit_text_file", path="README.md", edits=edits)
    assert place.workspace.read("README.md") == b"# Ho\nrow two\nrow three\n"
    assert (
        place.code("edit_text_file", path="README.md", edits=[{"search": "absent", "replace": ""}])
        == "no_match"
    )


@pytest.mark.rule("P6.5")
def test_files_and_lines_are_found(place):
    assert place.value("glob_files", pattern="*.py")["paths"] == ["src/a.py"]
    assert place.value("glob_files", pattern="src/**")["total"] == 2
    assert place.value("glob_files", pattern="*.py", path="src")["paths"] == ["src/a.py"]
    value = place.value("grep_files", pattern=r"l.ne t\w+")
    assert [(one["path"], one["line"]) for one in value["matches"]] == [
        ("README.md", 2),
        ("README.md", 3),
    ]
    assert place.value("grep_files", pattern="os", glob="*.py")["total"] == 1
    assert place.code("grep_files", pattern="(") == "bad_pattern"


@pytest.mark.rule("P6.5")
def test_a_pattern_that_backtracks_without_end_is_answered_at_once(folder):
    (folder / "trap.txt").write_text("a" * 40 + "b")

    assert Place(folder).value("grep_files", pattern="(a|a|aa)+$")["total"] == 0


@pytest.mark.rule("P6.5")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("grep_files", {"pattern": "a[ab]{200}c"}),
        ("glob_files", {"pattern": "*a" + "?" * 200 + "c"}),
    ],
)
def test_a_pattern_that_takes_too_many_steps_is_told_as_that_and_not_as_no_match(
    folder, tool, arguments
):
    letters = "".join(random.Random(1).choices("ab", k=20_000))
    (folder / "trap.txt").write_text(letters)
    for start in range(0, len(letters), 200):
        (folder / letters[start : start + 200]).write_text("")

    result = Place(folder).call(tool, **arguments)

    assert result.code == "bad_pattern"
    assert "pattern too costly" in result.message


@pytest.mark.rule("P6.5")
def test_grep_takes_flags_first_and_refuses_what_needs_backtracking(place):
    assert place.value("grep_files", pattern="(?i)LINE TWO")["total"] == 1
    assert place.code("grep_files", pattern=r"(?<=line )two") == "bad_pattern"
    assert place.value("glob_files", pattern="**/" * 133)["total"] == 0


@pytest.mark.rule("P6.5")
@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 15 + "b", "a" * 60),
        ("**a" * 15 + "b", "a" * 60),
        ("**/" * 30 + "x", "d/" * 28 + "y"),
        ("**/*d/" * 15 + "x", "d/" * 28 + "y"),
    ],
)
def test_a_glob_without_end_is_answered_at_once(folder, pattern, path):
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text("text")

    assert Place(folder).value("glob_files", pattern=pattern)["total"] == 0
    assert Place(folder).value("grep_files", pattern="text", glob=pattern)["total"] == 0


@given(
    pattern=st.lists(st.sampled_from(["a", "b", "/", "*", "**", "**/", "?"]), max_size=8),
    text=st.text("ab/\n", max_size=10),
)
def test_a_glob_matches_what_its_regular_expression_matches(pattern, text):
    whole = "".join(pattern)

    assert Glob(whole).matches(text) == (
        re.fullmatch(glob_regex(whole), text, re.DOTALL) is not None
    )


@pytest.mark.rule("P6.5")
def test_without_writing_there_are_no_tools_for_it(folder):
    place = Place(folder, writable=False)

    assert [one.name for one in place.prompt.preview().tools] == [
        "list_files",
        "get_file_info",
        "read_file",
        "glob_files",
        "grep_files",
    ]


def test_more_than_a_mebibyte_is_not_written(place):
    assert place.code("write_text_file", path="x.txt", content="x" * 1_048_577) == "too_large"
    assert place.code("write_text_file", path="README.md/x", content="x") == "bad_path"
    assert place.code("write_text_file", path="src", content="x") == "is_directory"
    assert place.code("delete_path", path="src") == "is_directory"


@pytest.mark.rule("P6.2", "P6.3")
def test_a_bench_is_mounted_through_its_own_words():
    class Bench:
        def manifest(self, view):
            return Manifest((ManifestEntry("a.txt", 1, sha256_hex(b"x")),))

        def open(self, view, path):
            return b"x"

    section = VfsSection([BenchMount(Bench(), "draft", "bench")], writable=False)
    prompt, session = Prompt("t", "p", sections=[section]), Session()
    workspace = open_workspace(session, prompt)

    assert workspace is not None
    assert workspace.read("bench/a.txt") == b"x"


@pytest.mark.rule("P6.5", "P6.4")
def test_with_formats_files_have_maps_and_are_read_by_what_the_map_lists(tmp_path):
    root = tmp_path / "work"
    root.mkdir()
    write_samples(root)
    (root / "odd.bin").write_bytes(b"\0\1\2")
    (root / "broken.xlsx").write_bytes(b"PK no workbook")
    with Formats() as formats:
        place = Place(root, formats=formats)
        names = [one["path"] for one in place.value("list_files")["entries"]]
        book = next(one for one in names if one.endswith(".xlsx") and one != "broken.xlsx")
        info = place.value("get_file_info", path=book)
        sheet = info["map"]["sheets"][0]["name"]
        read = place.call("read_file", path=book, sheet=sheet, range="A1:B2")
        opaque = place.value("get_file_info", path="odd.bin")

        assert info["kind"] == "xlsx"
        assert read.ok
        assert read.message.startswith(place.call("read_file", path=book).message[:4])
        assert isinstance(read.value, dict)
        assert read.value["selector"]["range"] == "A1:B2"
        assert "text" not in read.value
        assert (opaque["map"], opaque["no_map"]) == (None, "unsupported_format")
        assert place.code("read_file", path="odd.bin") == "unsupported_format"
        assert place.code("read_file", path=book, slide_index=1) == "bad_selector"
        assert place.code("read_file", path="broken.xlsx") not in (None, "internal_error")
        assert place.value("get_file_info", path="broken.xlsx")["map"] is None
        for path in ("../x", "/etc/passwd"):
            assert place.code("read_file", path=path) == "bad_path"


def test_mounts_do_not_overlap(folder):
    for paths in (("", ""), ("a", "a/b"), ("a/b", "a"), ("..", "x")):
        with pytest.raises(PromptValidationError) as caught:
            VfsSection([HostMount(folder, path) for path in paths])
        assert caught.value.code == "BAD_MOUNT"


@pytest.mark.rule("P6.3")
def test_a_workspace_reads_the_files_of_every_section(tmp_path):
    session, sections = Session(), []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text(name)
        mount = HostMount(tmp_path / name, mount_path=name, allowed_roots=(tmp_path,))
        sections.append(VfsSection(mount, key=name))
        sections[-1].open(session)
    workspace = Workspace(session, sections)

    found = [workspace.read(f"{name}/a.txt") for name in ("one", "two")]

    assert found == [b"one", b"two"]
    for name in ("one", "two"):
        ref = session.put(name.encode())
        session.dispatch(OverlayEntry(section_key=name, path="new.txt", content_ref=ref))
    assert [section.read(session, "new.txt") for section in sections] == [b"one", b"two"]
    with pytest.raises(FileProblem) as missing:
        workspace.read("three/a.txt")
    assert missing.value.code == "not_found"
