"""Has a local LibreOffice write an office file as PDF, and lets it do nothing else (F29.7).

It runs once per call with a profile of its own that forbids macros, updates and links, without a
network and among no processes but its own where the system allows that, under limits of memory,
time and output, and ends with all its children.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from backshop.base import limits as numbers
from backshop.base.system.child import end_group

from ..errors import fail
from ..package.guard import scan
from ..protocol import Source

_NAMES = ("soffice", "libreoffice", "/Applications/LibreOffice.app/Contents/MacOS/soffice")
_SETTINGS = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Common/Security/Scripting">
<prop oor:name="MacroSecurityLevel" oor:op="fuse"><value>3</value></prop>
<prop oor:name="DisableMacrosExecution" oor:op="fuse"><value>true</value></prop>
<prop oor:name="DisableActiveContent" oor:op="fuse"><value>true</value></prop>
<prop oor:name="BlockUntrustedRefererLinks" oor:op="fuse"><value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Writer/Content/Update">
<prop oor:name="Link" oor:op="fuse"><value>0</value></prop></item>
<item oor:path="/org.openoffice.Office.Jobs/Jobs/org.openoffice.Office.Jobs:Job['UpdateCheck']">
<prop oor:name="Enabled" oor:op="fuse"><value>false</value></prop></item>
</oor:items>
"""
_SLIDES = 'pdf:impress_pdf_Export:{"ExportHiddenSlides":{"type":"boolean","value":"true"}}'
_SHEETS = 'pdf:calc_pdf_Export:{"SinglePageSheets":{"type":"boolean","value":"true"}}'
_PAPER = (
    'pdf:writer_pdf_Export:{"ExportBookmarksToPDFDestination":{"type":"boolean","value":"true"}}'
)
_LIMITED = 'ulimit -c 0; ulimit -v "$1"; ulimit -f "$2"; shift 2; exec "$@"'
_ALONE = (  # the strictest way a system allows is used
    ("-rn", "--pid", "--fork", "--kill-child", "--mount-proc"),
    ("-rn",),
)


def find_program(wanted: str | None) -> str | None:
    """Return the LibreOffice that is used: the one asked for, else one on the search path."""
    names = (wanted,) if wanted else _NAMES
    return next((found for name in names if (found := shutil.which(name))), None)


def check(source: Source) -> None:
    """Scan a package before another program sees it (F4.1); runs in a worker.

    Raises:
        FormatError: whatever the guard finds.
    """
    scan(source)


def to_pdf(program: str, source: Source, folder: Path, timeout_s: float) -> Path:
    """Return the PDF that LibreOffice makes of a checked file, inside `folder`.

    Raises:
        FormatError: `timeout`; `corrupt_file` when it could not or would not.
    """
    profile = folder / "profile"
    (profile / "user").mkdir(parents=True)
    (profile / "user" / "registrymodifications.xcu").write_text(_SETTINGS, "utf-8")
    given = folder / f"page{source.extension}"
    shutil.copyfile(source.path, given)
    form = {".p": _SLIDES, ".x": _SHEETS, ".d": _PAPER}.get(source.extension[:2], "pdf")
    command = [
        *alone(),
        *("sh", "-c", _LIMITED, "sh"),
        *(str(numbers.RENDERER_MEMORY_BYTES // 1024), str(numbers.RENDERER_FILE_BYTES // 512)),
        program,
        f"-env:UserInstallation={profile.as_uri()}",
        *("--headless", "--invisible", "--norestore", "--nologo", "--nodefault"),
        *("--convert-to", form, "--outdir", str(folder), str(given)),
    ]
    environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(folder)}
    environment |= {"TMPDIR": str(folder), "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    _run(command, environment, folder, timeout_s)
    made = folder / "page.pdf"
    if not made.exists():
        raise fail("corrupt_file", "the page could not be drawn")
    return made


def alone() -> tuple[str, ...]:
    """Return how a program is started without a network, as strictly as the system lets us."""
    unshare = shutil.which("unshare")
    for flags in _ALONE if unshare else ():
        probe = subprocess.run([str(unshare), *flags, "true"], capture_output=True, check=False)
        if probe.returncode == 0:
            return (str(unshare), *flags)
    return ()


def _run(command: list[str], environment: dict[str, str], folder: Path, timeout_s: float) -> None:
    """Run a program; when its time is up, it and all its children are killed."""
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        cwd=folder,
        start_new_session=True,
    )
    try:
        code = child.wait(timeout_s)
    except subprocess.TimeoutExpired as error:
        raise fail("timeout", "drawing the page took too long") from error
    finally:
        end_group(child.pid)
        child.wait()
    if code != 0:
        raise fail("corrupt_file", "the page could not be drawn", detail=f"exit {code}")
