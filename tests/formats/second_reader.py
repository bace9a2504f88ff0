"""LibreOffice as the second reader: what it shows of a file we wrote."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

_ALWAYS_CALCULATE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Calc/Formula/Load">
<prop oor:name="OOXMLRecalcMode" oor:op="fuse"><value>0</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Security/Scripting">
<prop oor:name="DisableMacrosExecution" oor:op="fuse"><value>true</value></prop></item>
</oor:items>
"""


def convert(files: Sequence[Path], into: Path, form: str, *, timeout_s: float = 600) -> list[Path]:
    """Have LibreOffice open files, calculate all formulas and write them as `form`.

    Files it cannot open give no result; the answer lists the others.
    """
    profile = into / "profile"
    settings = profile / "user" / "registrymodifications.xcu"
    if not settings.exists():
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.write_text(_ALWAYS_CALCULATE, "utf-8")
    out = into / "converted"
    subprocess.run(
        [
            "soffice",
            f"-env:UserInstallation={profile.as_uri()}",
            *("--headless", "--norestore", "--nologo", "--nodefault"),
            *("--convert-to", form, "--outdir", str(out), *map(str, files)),
        ],
        env={"PATH": os.environ.get("PATH", os.defpath), "HOME": str(into), "LC_ALL": "C.UTF-8"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=timeout_s,
        check=False,
    )
    suffix = form.partition(":")[0]
    made = [out / f"{path.stem}.{suffix}" for path in files]
    return [path for path in made if path.exists()]
