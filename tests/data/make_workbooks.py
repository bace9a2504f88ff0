"""Make `sheets.ods` and `sheets.xls`, saved by LibreOffice from one workbook of our own.

    python tests/data/make_workbooks.py tests/data

Of the .ods only what holds cells is kept. `sheets.xlsx`, which they are made from, is not: the
tests write it again.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import xlsxwriter

_KEPT = ("mimetype", "content.xml", "META-INF/manifest.xml")
_EPOCH = (1980, 1, 1, 0, 0, 0)


def make_sheets(path: Path) -> None:
    """Write the workbook: kinds of values, formulas, merged cells, a hidden and an empty sheet."""
    with xlsxwriter.Workbook(str(path)) as book:
        day = book.add_format({"num_format": "yyyy-mm-dd"})
        moment = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
        clock = book.add_format({"num_format": "hh:mm:ss"})
        elapsed = book.add_format({"num_format": "[h]:mm:ss"})
        percent = book.add_format({"num_format": "0.0%"})
        sales = book.add_worksheet("Sales")
        sales.write_row(0, 0, ["Day", "Item", "Amount", "Share", "When"])
        for at in range(1, 61):
            sales.write(at, 0, 45000 + at, day)
            sales.write(at, 1, f"Item {at} \u00e9\u4e2d")
            sales.write(at, 2, at * 1.25)
            sales.write(at, 3, at / 100, percent)
            sales.write(at, 4, 45000 + at / 8, moment)
        sales.write_formula("C62", "=SUM(C2:C61)", None, 2287.5)
        sales.write_formula("D62", "=C62/'It''s 2nd'!A1", None, 326.785714285714)
        odd = book.add_worksheet("It's 2nd")
        odd.write(0, 0, 7)
        odd.write(0, 1, 0.25, clock)
        odd.write(0, 2, 1.5, elapsed)
        odd.write_formula("D1", "=1/0", None, "#DIV/0!")
        odd.write_formula("E1", '=IF(B3="a ""b""",1,A1*2)', None, 14)
        odd.write(2, 0, "two\nlines  and blanks ")
        odd.write(2, 1, "00123")
        odd.write(2, 2, -1e-7)
        odd.merge_range("A5:C6", "merged")
        book.add_worksheet("Empty")
        hidden = book.add_worksheet("Hidden")
        hidden.write(3, 2, "secret")
        hidden.hide()


def main(folder: Path) -> None:
    """Have LibreOffice save the workbook in the other formats."""
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        make_sheets(home / "sheets.xlsx")
        for ending in ("ods", "xls"):
            profile = f"-env:UserInstallation=file://{home}/profile"
            command = ["soffice", profile, "--headless", "--convert-to", ending]
            command += ["--outdir", scratch, str(home / "sheets.xlsx")]
            subprocess.run(command, check=True, capture_output=True)
        (folder / "sheets.xls").write_bytes((home / "sheets.xls").read_bytes())
        with (
            zipfile.ZipFile(home / "sheets.ods") as old,
            zipfile.ZipFile(folder / "sheets.ods", "w", zipfile.ZIP_DEFLATED) as new,
        ):
            for name in _KEPT:
                new.writestr(zipfile.ZipInfo(name, _EPOCH), old.read(name), zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
