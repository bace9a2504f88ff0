"""Commands over a copy of the workspace: nothing outside, nothing kept that should not be."""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from backshop.base import system
from backshop.models import scripted
from backshop.prompts import (
    CancelToken,
    HostMount,
    MarkdownSection,
    Prompt,
    RunLimits,
    SandboxSection,
    SandboxUnavailable,
    Session,
    ToolContext,
    ToolResult,
    VfsSection,
    invoke,
    open_workspace,
)
from backshop.prompts.workspace import bubble, sandbox
from backshop.prompts.workspace.scan import ScanLimits

WORKS = bubble.probe()
needs_sandbox = pytest.mark.skipif(
    WORKS.reason is not None, reason=f"bubblewrap: {WORKS.reason} {WORKS.detail}"
)


class Place:
    """A folder with a command section over it, opened in a session."""

    def __init__(self, tmp_path: Path, **attributes) -> None:
        self.folder = tmp_path / "work"
        (self.folder / "src").mkdir(parents=True)
        (self.folder / "README.md").write_text("# Hi\n")
        (self.folder / "src" / "a.py").write_text("print('a')\n")
        self.files = VfsSection(HostMount(self.folder, allowed_roots=[tmp_path]))
        self.box = SandboxSection(self.files, **{"switched_on": True, **attributes})
        ask = MarkdownSection("Ask", "Look.", key="ask", role="user")
        self.prompt = Prompt("t", "p", sections=[self.files, self.box, ask])
        self.session = Session()
        workspace = open_workspace(self.session, self.prompt)
        assert workspace is not None
        self.workspace = workspace

    def run(self, *command: str, limits=None, cancel=None, **arguments) -> ToolResult:
        (tool,) = self.box.tools
        params = tool.decode({"command": list(command), **arguments})
        work = self.session.begin()
        context = ToolContext(session=work, limits=limits, cancel=cancel)
        result = invoke(tool, params, context=context)
        if result.ok:
            work.commit()
        else:
            work.discard()
        return result

    def code(self, *command: str, **arguments) -> int:
        code: int = told(self.run(*command, **arguments))["exit_code"]
        return code

    def changes(self) -> dict[str, str]:
        return {one.path: one.kind for one in self.workspace.overlay_changes()}


def told(result: ToolResult) -> dict[str, Any]:
    assert result.ok, result.message
    assert isinstance(result.value, dict)
    return result.value


@pytest.fixture
def failing():
    """A bubblewrap that cannot make namespaces, as on many machines; anybody may run it."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        program = Path(name) / "bwrap"
        program.write_text("#!/bin/sh\necho 'bwrap: No permissions' >&2\nexit 1\n")
        program.chmod(0o755)
        yield str(program)


@pytest.mark.rule("P6.7", "P11.73")
def test_where_it_does_not_work_there_is_no_tool_and_the_reason_is_told(
    tmp_path, failing, monkeypatch
):
    cases: list[tuple[dict[str, Any], str, str]] = [
        ({"switched_on": False}, "DISABLED", ""),
        ({"program": str(tmp_path / "nothing")}, "NOT_INSTALLED", "bwrap is not on the path"),
        ({"program": failing}, "PROBE_FAILED", "bwrap: No permissions"),
    ]
    for number, (attributes, reason, detail) in enumerate(cases):
        place = Place(tmp_path / str(number), **attributes)
        for _ in range(2):
            rendered = place.prompt.render(session=place.session)
            assert "shell_execute" not in [tool.name for tool in rendered.tools]
            assert "Commands" not in rendered.text
        assert place.session[SandboxUnavailable].all() == (
            SandboxUnavailable(reason=reason, detail=detail),
        )
        assert place.run("true").code == "sandbox_unavailable"

    monkeypatch.setattr(system, "IS_LINUX", False)
    elsewhere = Place(tmp_path / "mac")
    elsewhere.prompt.render(session=elsewhere.session)
    (event,) = elsewhere.session[SandboxUnavailable].all()
    assert event.reason == "UNSUPPORTED_PLATFORM"


@pytest.mark.rule("P6.7", "P1.8")
def test_a_workspace_that_was_not_opened_has_no_commands(tmp_path):
    place = Place(tmp_path)

    assert "shell_execute" not in [tool.name for tool in place.prompt.render().tools]
    assert place.prompt.find_section("podman") is place.box
    assert place.prompt.find_section(("podman", "vfs")) is place.files


@needs_sandbox
@pytest.mark.rule("P6.7", "P6.8", "P5.6")
def test_a_model_runs_a_program_on_the_files(tmp_path):
    place = Place(tmp_path)
    command = {"command": ["sh", "-c", "cat README.md; echo new > src/b.txt; rm src/a.py"]}
    model = scripted(
        [
            {"respond": {"tool_calls": [{"name": "shell_execute", "arguments": command}]}},
            {"respond": {"text": "{{last_tool.content}}"}},
        ]
    )

    answer = model.evaluate(place.prompt, session=place.session)

    assert answer.text is not None
    assert answer.text.startswith('exit code 0\n<data name="stdout" id="')
    assert "# Hi" in answer.text
    assert place.changes() == {"src/a.py": "deleted", "src/b.txt": "added"}
    assert place.workspace.read("src/b.txt") == b"new\n"
    assert (place.folder / "src" / "a.py").exists()
    assert not (place.folder / "src" / "b.txt").exists()
    assert place.code("cat", "src/b.txt") == 0  # the next command sees it


@needs_sandbox
@pytest.mark.rule("P6.8", "P11.74")
def test_nothing_of_the_machine_is_in_the_sandbox(tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET_OF_THE_HOST", "x")
    place = Place(tmp_path)
    listed = place.run("sh", "-c", "ls -A / /etc /home /var /root 2>/dev/null; env; id -u")

    assert listed.ok
    for word in ("SECRET_OF_THE_HOST", "passwd", str(tmp_path)):
        assert word not in listed.message
    assert "65534" in listed.message
    assert place.code("cat", "/etc/passwd") != 0
    assert place.code("cat", str(place.folder / "README.md")) != 0
    assert place.code("touch", "/usr/x") != 0
    for setting in ("core_pattern", "hostname", "modprobe"):  # what would let a program out
        assert place.code("test", "-w", f"/proc/sys/kernel/{setting}") == 1
    lines = place.run("cat", "/proc/net/dev").message.splitlines()
    assert [line.split(":")[0].strip() for line in lines if ":" in line] == ["lo"]


@needs_sandbox
@pytest.mark.rule("P6.8", "P6.9", "P11.74")
def test_memory_files_and_time_have_limits(tmp_path):
    place = Place(tmp_path)
    python = shutil.which("python3", path="/usr/bin")
    if python is not None:
        assert place.code("python3", "-c", "x = bytearray(2 * 1024**3)") != 0
    assert place.code("sh", "-c", "head -c 80000000 /dev/zero > big") != 0
    assert place.changes() == {}

    limits = RunLimits(tool_timeout_s=3)  # the command ends before the tool would
    began = time.monotonic()
    ended = place.run("sh", "-c", "echo x > left; while :; do :; done", limits=limits)

    assert ended.ok
    assert time.monotonic() - began < 60
    assert (told(ended)["exit_code"], told(ended)["timed_out"]) == (124, True)
    assert place.changes() == {}


@needs_sandbox
@pytest.mark.rule("P6.9", "P11.74")
def test_output_is_cut_in_the_middle_and_framed(tmp_path):
    place = Place(tmp_path)

    result = place.run("sh", "-c", "echo first; seq 1 100000; echo '</data>' >&2; echo last")

    assert len(result.message) < 2 * bubble.OUTPUT_MAX_BYTES
    assert "first\n1\n2\n" in result.message
    assert "bytes left out]" in result.message
    assert "100000\nlast" in result.message
    assert result.message.count("<data name=") == 2


@needs_sandbox
@pytest.mark.rule("P6.9")
def test_what_a_program_made_is_kept_only_as_far_as_it_can_be(tmp_path):
    place = Place(tmp_path)
    strange = "ln -s /etc/passwd link; mkfifo pipe; echo x > 'a:b'; head -c 9000000 /dev/zero > big"

    result = place.run("sh", "-c", f"{strange}; echo ok > fine.txt; chmod 0 fine.txt src")

    assert told(result)["changed"] == ["fine.txt"] or not told(result)["changed"]
    assert len(told(result)["not_kept"]) >= 4
    assert "src/a.py" not in place.changes()  # a folder that cannot be read lost nothing
    assert set(place.changes()) <= {"fine.txt"}


@needs_sandbox
@pytest.mark.rule("P6.9")
def test_files_beyond_those_that_are_listed_do_not_count_as_deleted(tmp_path, monkeypatch):
    place = Place(tmp_path)
    monkeypatch.setattr(sandbox, "_CHANGES", ScanLimits(max_files=1))

    result = place.run("sh", "-c", "echo x > 0.txt")

    assert place.changes() == {"0.txt": "added"}
    assert told(result)["not_kept"] == ["more files than are kept, or folders that cannot be read"]


@needs_sandbox
@pytest.mark.rule("P6.9", "P6.4")
def test_a_program_that_spells_letters_in_parts_writes_the_file_that_is_meant(tmp_path):
    place = Place(tmp_path)

    result = place.run("sh", "-c", r"printf x > $(printf 'e\314\201').txt")

    assert told(result)["changed"] == ["é.txt"]
    assert place.workspace.read("é.txt") == b"x"
    assert place.code("sh", "-c", "test -e é.txt") == 0


@needs_sandbox
@pytest.mark.rule("P6.9")
def test_without_writing_nothing_is_kept(tmp_path):
    place = Place(tmp_path, allow_write=False)

    assert place.code("sh", "-c", "echo x > new; cat new") == 0
    assert place.changes() == {}
    assert place.code("sh", "-c", "test ! -e new") == 0


@needs_sandbox
@pytest.mark.rule("P6.9")
def test_a_program_gets_its_folder_its_input_and_its_variables(tmp_path):
    place = Place(tmp_path)
    script = 'pwd; cat; echo "$NAME"; exit 3'

    result = place.run("sh", "-c", script, cwd="src", stdin="given\n", env=["NAME=a b"])

    assert told(result)["exit_code"] == 3
    assert "/workspace/src\ngiven\na b" in result.message
    assert place.code("no-such-program") == 127


@needs_sandbox
@pytest.mark.rule("P6.9")
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"command": []}, "bad_arguments"),
        ({"command": ["-x"]}, "bad_arguments"),
        ({"command": ["a\0b"]}, "bad_arguments"),
        ({"command": ["x"] * 65}, "bad_arguments"),
        ({"command": ["x" * 4097]}, "bad_arguments"),
        ({"command": ["true"], "stdin": "x" * 48_001}, "bad_arguments"),
        ({"command": ["true"], "env": ["LD_PRELOAD=/x"]}, "bad_arguments"),
        ({"command": ["true"], "env": ["path=/x"]}, "bad_arguments"),
        ({"command": ["true"], "env": ["NAME"]}, "bad_arguments"),
        ({"command": ["true"], "env": [f"A{n}=1" for n in range(65)]}, "bad_arguments"),
        ({"command": ["true"], "cwd": "../x"}, "bad_path"),
        ({"command": ["true"], "cwd": "/etc"}, "bad_path"),
        ({"command": ["true"], "cwd": "nowhere"}, "not_found"),
    ],
)
def test_what_is_no_command_is_not_run(tmp_path, arguments, code):
    place = Place(tmp_path)

    assert place.run(*arguments.pop("command"), **arguments).code == code
    assert place.changes() == {}


@needs_sandbox
@pytest.mark.rule("P6.9", "M12.1")
def test_a_cancellation_ends_a_command_and_forgets_it(tmp_path):
    place, cancel = Place(tmp_path), CancelToken()
    asked = threading.Timer(0.3, cancel.request)
    asked.start()

    result = place.run("sh", "-c", "echo x > new; exec sleep 60", cancel=cancel)

    assert result.code == "canceled"
    assert place.changes() == {}


@needs_sandbox
@pytest.mark.rule("P6.8")
def test_folders_deeper_than_anybody_walks_leave_nothing_behind(tmp_path, monkeypatch):
    made: list[str] = []
    mkdtemp = tempfile.mkdtemp

    def noted(*args, **kwargs):
        made.append(mkdtemp(*args, **kwargs))
        return made[-1]

    monkeypatch.setattr("tempfile.mkdtemp", noted)
    place = Place(tmp_path)
    deep = "i=0; while [ $i -lt 1500 ]; do mkdir d && cd d || exit 0; i=$((i+1)); done; : > x"

    assert place.code("sh", "-c", deep) == 0

    assert made
    assert not any(Path(one).exists() for one in made)
    assert place.workspace.overlay_changes() == ()
