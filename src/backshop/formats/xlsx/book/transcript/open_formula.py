"""Formulas of OpenDocument in the words that workbooks of Excel have for them."""

from __future__ import annotations

import re

from ...syntax.formula import quote_sheet

_PREFIX = re.compile(r"(?:([A-Za-z][\w.\-]*):)?=")
_PIECE = re.compile(
    r"""(?P<text>"(?:[^"]|"")*")"""
    r"""|(?P<ref>\[(?:'(?:[^']|'')*'|[^\]'])*\])"""
    r"|(?P<error>#[A-Z/0]+[!?])"
    r"|(?P<array>\{(?:\"(?:[^\"]|\"\")*\"|[^}\"])*\})"
    r"|(?P<origin>(?:COM\.MICROSOFT|LEGACY|ORG\.OPENOFFICE|ORG\.LIBREOFFICE)\.(?=[A-Z][\w.]*\())"
    r"|(?P<sign>[;~!])",
    re.I,
)
_SIDE = re.compile(r"(?:(?P<sheet>\$?(?:'(?:[^']|'')*'|[^.'#:]*))\.)?(?P<cell>[^.]*)")
_SPLIT = re.compile(r":(?=(?:[^']*'[^']*')*[^']*$)")
_IN_ARRAY = re.compile(r'"(?:[^"]|"")*"|[;|]')
_SIGNS = {";": ",", "~": ",", "!": " "}
_EXCEL = "msoxl"  # the formula is written in Excel's own words


def plain_formula(written: str) -> str:
    """Return a formula without `=`, as a workbook of Excel would say it.

    What is not understood stays as it is written: it is shown, never computed.
    """
    begin = _PREFIX.match(written)
    if begin is None:
        return written
    body = written[begin.end() :]
    if begin[1] and begin[1].lower() == _EXCEL:
        return body
    return _PIECE.sub(_said, body)


def _said(found: re.Match[str]) -> str:
    match found.lastgroup:
        case "ref":
            return plain_reference(found[0][1:-1])
        case "array":
            return _IN_ARRAY.sub(lambda one: {";": ",", "|": ";"}.get(one[0], one[0]), found[0])
        case "origin":
            return ""
        case "sign":
            return _SIGNS[found[0]]
    return found[0]


def plain_reference(written: str) -> str:
    """Return `$Sheet1.$A$1:.B2` as `Sheet1!$A$1:B2`."""
    if "#" in written and not written.endswith("#REF!"):
        return f"[{written}]"  # of another file
    sides = _SPLIT.split(written)
    found = [_SIDE.fullmatch(side) for side in sides]
    if len(sides) > 2 or not all(found):
        return written
    sheets = [_sheet(side["sheet"]) for side in found if side]
    cells = [side["cell"] for side in found if side]
    first, last = sheets[0], sheets[-1]
    if first is None:
        return ":".join(cells)
    if last is not None and last != first:
        return f"{quote_sheet(f'{first}:{last}')}!{':'.join(cells)}"
    return f"{quote_sheet(first)}!{':'.join(cells)}"


def _sheet(written: str | None) -> str | None:
    if not written:
        return None
    bare = written.removeprefix("$")
    if bare.startswith("'"):
        bare = bare[1:-1].replace("''", "'")
    return bare or None
