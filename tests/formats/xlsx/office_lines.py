"""Lets LibreOffice insert or delete lines by itself, compute, and save; run by a python with uno.

    python3 office_lines.py <folder of the profile> <jobs.json>

A job is [workbook, result, shift]: shift is null, or the sheet's name, row or column, the first
line counted from 0, and how many lines come (or, below zero, go).
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any


def main(profile: str, jobs: str) -> None:
    """Do all jobs in one office; say which failed."""
    pipe = f"lines{abs(hash(profile))}"
    office = subprocess.Popen(
        [
            "soffice",
            f"-env:UserInstallation={Path(profile).as_uri()}",
            "--headless",
            "--norestore",
            "--nologo",
            f"--accept=pipe,name={pipe};urp;",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        desktop = _desktop(pipe)
        given = json.loads(Path(jobs).read_text())
        failed = [job[1] for job in given if not (_done(desktop, *job) or _done(desktop, *job))]
        print(json.dumps(failed))
        desktop.terminate()
        office.wait(60)
    finally:
        office.kill()


def _desktop(pipe: str) -> Any:
    uno = import_module("uno")  # only the system's python has it
    here = uno.getComponentContext()
    name = "com.sun.star.bridge.UnoUrlResolver"
    resolver = here.ServiceManager.createInstanceWithContext(name, here)
    for _ in range(240):
        try:
            there = resolver.resolve(f"uno:pipe,name={pipe};urp;StarOffice.ComponentContext")
            name = "com.sun.star.frame.Desktop"
            return there.ServiceManager.createInstanceWithContext(name, there)
        except Exception:  # it is not up yet
            time.sleep(0.5)
    raise SystemExit("the office did not start")


def _done(desktop: Any, path: str, result: str, shift: list[Any] | None) -> bool:
    try:
        book = desktop.loadComponentFromURL(
            Path(path).as_uri(), "_blank", 0, (_property("Hidden", True),)
        )
        if shift is not None:
            sheet, axis, at, by = shift
            found = book.Sheets.getByName(sheet)
            lines = found.Rows if axis == "row" else found.Columns
            if by > 0:
                lines.insertByIndex(at, by)
            else:
                lines.removeByIndex(at, -by)
        book.calculateAll()
        filter_ = _property("FilterName", "Calc MS Excel 2007 XML")
        book.storeToURL(Path(result).as_uri(), (filter_,))
        book.close(True)
    except Exception:
        return False
    return True


def _property(name: str, value: object) -> Any:
    made = import_module("uno").createUnoStruct("com.sun.star.beans.PropertyValue")
    made.Name, made.Value = name, value
    return made


if __name__ == "__main__":
    main(*sys.argv[1:3])
