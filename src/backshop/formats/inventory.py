"""What a file holds, counted, and which hosts it names: for telling what is new and what is gone.

Text, Office and OpenDocument files are looked into; of other kinds nothing is known. A host is
named by an address in any text, attribute, formula, field or relationship; runs of one paragraph
are one text, so that an address cannot hide in several of them. What is inside an embedded file is
not looked at.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from .errors import fail
from .package.guard import Archive, Element, parse_xml, scan
from .protocol import JsonObject, Kind, Source
from .text.encoding import decode, detect
from .xlsx.syntax.function import UNSAFE

FETCHED, LINK, TEXT = "fetched", "link", "text"
"""How a host is named: what programs fetch on opening, what a click follows, and plain text."""
HOSTS_MAX = 1000
_HOST_MAX_CHARS = 253
_NAMES_MAX = 1000
_SHORTEST = len("www.a.b")
_NAME_MAX_CHARS = 60
_LARGE_PART_BYTES = 256 * 1024  # above it these are parsed only where they may name a host
_MAY_BE_LARGE = ("xl/worksheets/", "xl/sharedStrings")

_ADDRESS = re.compile(
    r"(?<![a-z0-9+.-])(?P<scheme>[a-z][a-z0-9+.-]{1,20}):(?P<slashes>[\\/]{2,6})"
    r"(?:[^\s/\\?#@\"'<>]{0,256}@)?(?P<host>\[[0-9a-f:.]{2,45}\]|[\w.-]{1,253})?"
    r"|(?<![\w@./-])(?P<www>www\.[\w-]+(?:\.[\w-]+)+)"
    r"|mailto:[^\s\"'<>?]{0,256}@(?P<mail>[\w.-]{1,253})"
    r"|(?<![\\\w:])\\\\(?P<share>[\w-]+(?:\.[\w-]+)+)(?:@\w+){0,2}\\"
    r"|(?<=[\"'(=])\s{0,8}//(?P<relative>[\w-]+(?:\.[\w-]+)+)",
    re.IGNORECASE,
)
_SIGNS = ("//", "\\\\", "\\/", "/\\")
_WORDS = re.compile(r"[wW]{3}\.|[mM][aA][iI][lL][tT][oO]:")
_SHARE = re.compile(r"\\\\(?:[?.]\\UNC\\)?([\w.-]{1,253})(?:@\w+){0,2}\\")
_NAMESPACE = re.compile(r"xmlns(?::[\w.-]+)?\s*=\s*[\"']$")
_SHOWN = re.compile(
    r"(?:!\[[^\]\n]*\]\(\s*<?|\b(?:src|srcset|poster|data)\s*=\s*[\"']?|\burl\(\s*[\"']?"
    r"|@import\s+[\"']?)$",
    re.IGNORECASE,
)
_FOLLOWED = re.compile(r"(?:\]\(\s*<?|\b(?:href|action)\s*=\s*[\"']?)$", re.IGNORECASE)
_AHEAD_CHARS = 256
_WORD = re.compile(r"[A-Z_][A-Z0-9_.]*(?=\s*\()", re.IGNORECASE)
_STRING = re.compile(r'"(?:[^"]|"")*"')
_PROGRAM = re.compile(r"(?<![\w'\"])[A-Za-z]\w*\|'?[^'!|]*'?!")  # DDE: cmd|'/c calc'!A1
_TYPED = re.compile(r"(?:^|[,;\t|])\s{0,8}\"?\s{0,8}[=+@-]([^\n]{1,2000})", re.MULTILINE)
_DECLARED = re.compile(rb"xmlns(?::[\w.-]+)?\s*=\s*(?:\"[^\"]*\"|'[^']*')")
_CALLS = b"|".join(re.escape(one.encode()) for one in sorted(UNSAFE))
_HINTS = (b"//", b"\\\\", b"\\/", b"WWW.", b"MAILTO:", b"&#", b"|")
_CALLED = re.compile(rb"(?:" + _CALLS + rb")\s*\(")
_CELL = re.compile(rb"<(?:\w+:)?c(?:\s[^<>]*)?(?<!/)>(?!</)")
_LINE = re.compile(rb"<(?:\w+:)?(row|col)(\s[^<>]*)>")  # no sign of `<`: a look is as long as a tag
_HIDDEN_LINE = re.compile(rb"""\shidden\s*=\s*["'](?:1|true)["']""")
_END = re.compile(rb"""\s(min|max)\s*=\s*["'](\d{1,5})["']""")
_NAMING_HOSTS = frozenset(
    (
        "docs.oasis-open.org",
        "ns.adobe.com",
        "openoffice.org",
        "purl.oclc.org",
        "purl.org",
        "schemas.apple.com",
        "schemas.microsoft.com",
        "schemas.openxmlformats.org",
        "www.w3.org",
    )
)
"""Whose addresses are names of formats in attributes; nobody goes there."""
_FIELDS_FETCHED = re.compile(
    r"(?i)\b(?:INCLUDEPICTURE|INCLUDETEXT|INCLUDE|IMPORT|DDEAUTO|DDE|DATABASE|LINK|RD)\b"
)
_ATTRIBUTES_FETCHED = frozenset(("src", "url", "connection", "sourcefile"))
_ATTRIBUTES_FOLLOWED = frozenset(("href", "location", "target", "action"))
_BLOCKS = frozenset(("p", "h", "si", "is"))
_FORMULAS = frozenset(("f", "formula", "formula1", "formula2", "definedname"))
_TEXT_PARTS = frozenset((".svg", ".htm", ".html", ".mht", ".rtf", ".txt", ".css", ".json"))
_PACKAGES = frozenset((Kind.XLSX, Kind.DOCX, Kind.PPTX, Kind.ODT))

_BINARY = frozenset((".xls", ".xlt", ".xlsb"))

Hosts = Counter[tuple[str, str]]
"""How often a host is named in which way; an address whose host cannot be read has none."""


def get_inventory(source: Source, kind: str) -> JsonObject:
    """Return the hosts a file names, how many things of a kind it holds, and its sheets or slides.

    `{"hosts": [[host, way, count], …], "units": {kind: count}, "named": [[kind, id, name], …]}`
    """
    what = Kind(kind)
    if source.extension in _BINARY:
        raise fail("unsupported_format", f"{source.name!r} is not looked into for hosts")
    if what in _PACKAGES:
        hosts, units, named = _package(scan(source), what)
    elif what in (Kind.TEXT, Kind.CSV):
        text = decode(source.path.read_bytes(), detect(source))
        hosts = in_text(text)
        if what is Kind.CSV:
            hosts.update(_in_typed(text))
        units, named = Counter({"line": sum(1 for one in text.splitlines() if one.strip())}), []
    else:
        raise fail("unsupported_format", f"{source.name!r} is not looked into for hosts")
    listed = sorted(hosts.items())[:HOSTS_MAX]
    return {
        "hosts": [[host, way, count] for (host, way), count in listed],
        "hosts_left_out": len(hosts) - len(listed),
        "units": dict(units),
        "named": [list(one) for one in named[:_NAMES_MAX]],
    }


# ---------------------------------------------------------------- text


def in_text(text: str, way: str | None = None) -> Hosts:
    """Return the hosts that a text names; `way` where it is known, else by what stands before."""
    found: Hosts = Counter()
    if not _may_name(text):
        return found
    for line in text.splitlines():
        for match in _ADDRESS.finditer(line) if _may_name(line) else ():
            host = _host(match)
            ahead = line[max(0, match.start() - _AHEAD_CHARS) : match.start()]
            if not host or (match["scheme"] and _NAMESPACE.search(ahead)):
                continue
            found[host, way or _way(ahead, is_mail=bool(match["mail"]))] += 1
    return found


def _may_name(text: str) -> bool:
    """Whether a text may hold an address; most do not, and are told fast."""
    return any(one in text for one in _SIGNS) or bool(_WORDS.search(text))


def _host(match: re.Match[str]) -> str:
    if match["scheme"]:
        is_here = match["scheme"].lower() == "file" and len(match["slashes"]) > 2
        return "" if is_here else _plain(match["host"] or "")
    return _plain(match["www"] or match["mail"] or match["share"] or match["relative"] or "")


def _plain(host: str) -> str:
    """Return a host as it is compared: one spelling for all that lead to the same place."""
    folded = unicodedata.normalize("NFKC", host).casefold().strip(".-_[]")
    return folded[:_HOST_MAX_CHARS] if any(one.isalnum() for one in folded) else ""


def _way(ahead: str, *, is_mail: bool) -> str:
    if _SHOWN.search(ahead):
        return FETCHED
    return LINK if is_mail or _FOLLOWED.search(ahead) else TEXT


def _in_typed(text: str) -> Hosts:
    """Return what cells of a delimited file do that a spreadsheet program takes for formulas."""
    found: Hosts = Counter()
    if "(" not in text and "|" not in text:
        return found
    for match in _TYPED.finditer(text):
        found.update({key: 1 for key in in_formula(match[1]) if key[1] == FETCHED})
    return found


def in_formula(formula: str) -> Hosts:
    """Return the hosts a formula leads to; one it puts together is told without its name."""
    bare = _STRING.sub('""', formula)
    words = {
        one.upper().removeprefix("_XLFN.").removeprefix("_XLWS.") for one in _WORD.findall(bare)
    }
    fetches = bool(words & UNSAFE - {"FILTERXML", "PY"}) or bool(_PROGRAM.search(bare))
    way = FETCHED if fetches else LINK if "HYPERLINK" in words else TEXT
    found = in_text(formula, way)
    return found if found or not fetches else Counter({("", FETCHED): 1})


# ---------------------------------------------------------------- packages


def _package(
    archive: Archive, kind: Kind
) -> tuple[Hosts, Counter[str], list[tuple[str, str, str]]]:
    hosts: Hosts = Counter()
    units: Counter[str] = Counter()
    named: list[tuple[str, str, str]] = []
    for member in archive.members:
        name = member.name
        ending = PurePosixPath(name).suffix.lower()
        if ending in _TEXT_PARTS:
            hosts.update(in_text(archive.read(name).decode("utf-8", "replace")))
        if ending not in (".xml", ".rels", ".vml") or name == "[Content_Types].xml":
            continue
        data = archive.read(name)
        if kind is Kind.XLSX and name.startswith("xl/worksheets/") and ending == ".xml":
            units["cell"] += sum(1 for _ in _CELL.finditer(data))
            units.update(_hidden_lines(data))
        if name.startswith(_MAY_BE_LARGE) and _is_harmless(data):
            continue
        root = parse_xml(data)
        if ending == ".rels":
            hosts.update(_outside(root))
            continue
        hosts.update(_in_part(root))
        units.update(_units(name, root, kind))
        named += _named(name, root)
    return hosts, units, named


def _is_harmless(data: bytes) -> bool:
    """Whether a large part certainly names no host; that is told without parsing it."""
    if len(data) <= _LARGE_PART_BYTES:
        return False
    plain = _DECLARED.sub(b"", data).upper()
    return not any(one in plain for one in _HINTS) and not _CALLED.search(plain)


def _outside(root: Element) -> Hosts:
    """Return the hosts that relationships of a part lead to."""
    found: Hosts = Counter()
    for line in root.iterchildren("*"):
        if line.get("TargetMode") != "External":
            continue
        is_link = (line.get("Type") or "").endswith("/hyperlink")
        way, target = LINK if is_link else FETCHED, line.get("Target") or ""
        here = in_text(target, way)
        share = _SHARE.match(target.replace("/", "\\").removeprefix("file:"))
        if not here and share and (host := _plain(share[1])):
            here[host, way] += 1
        found.update(here)
    return found


def _in_part(root: Element) -> Hosts:
    found: Hosts = Counter()
    blocks: list[Element] = []
    for element in root.iter("*"):
        name = _local(element)
        for key, value in element.items():
            found.update(_in_attribute(name, str(key), str(value)))
        if name in _BLOCKS:
            blocks.append(element)
            text = "".join(_own(element))
            fields = "".join(_own(element, fields=True))
            found.update(in_text(text))
            found.update(in_text(fields, FETCHED if _FIELDS_FETCHED.search(fields) else LINK))
        elif element.text and not element.text.isspace() and not _is_in_block(element):
            is_formula = name in _FORMULAS
            found.update(in_formula(element.text) if is_formula else in_text(element.text))
    return found


def _own(block: Element, *, fields: bool = False) -> Iterator[str]:
    """Yield the text of a block without that of blocks in it; `fields`: that of its fields."""
    for element in block.iter("*"):
        if element is not block and _local(element) in _BLOCKS:
            continue
        if (_local(element) == "instrText") is fields and _block_of(element) is block:
            yield element.text or ""
        if element is not block and not fields and _block_of(element.getparent()) is block:
            yield element.tail or ""


def _block_of(element: Element | None) -> Element | None:
    while element is not None and _local(element) not in _BLOCKS:
        element = element.getparent()
    return element


def _is_in_block(element: Element) -> bool:
    return _block_of(element) is not None


def _in_attribute(element: str, key: str, value: str) -> Hosts:
    if len(value) < _SHORTEST:
        return Counter()
    name = key.rpartition("}")[2].lower()
    if name == "instr":
        return in_text(value, FETCHED if _FIELDS_FETCHED.search(value) else LINK)
    is_shown = name in _ATTRIBUTES_FETCHED or (name == "href" and element == "image")
    way = FETCHED if is_shown else LINK if name in _ATTRIBUTES_FOLLOWED else TEXT
    found = in_text(value, way)
    for host in [one for one in found if one[0] in _NAMING_HOSTS]:
        del found[host]
    return found


def _local(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]


# ---------------------------------------------------------------- what there is


def _units(name: str, root: Element, kind: Kind) -> Counter[str]:
    """Return how many things of which kind a part holds."""
    found: Counter[str] = Counter()
    if kind is Kind.XLSX:
        found["table"] = int(name.startswith("xl/tables/"))
        found["chart"] = int(_local(root) == "chartSpace")
        found["comment"] = _count(root, ("comment", "threadedComment"))
        found["name"] = _count(root, ("definedName",))
    elif kind is Kind.PPTX and name.startswith("ppt/notesSlides/"):
        found["line of notes"] = _filled(root)
    elif kind is Kind.PPTX and name.startswith("ppt/slides/"):
        found["paragraph"] = _filled(root)
        found["table"], found["picture"] = _count(root, ("tbl",)), _count(root, ("pic",))
        found["hidden slide"] = int(root.get("show") in ("0", "false"))
    elif kind is Kind.DOCX and name.startswith("word/") and _local(root) in _STORIES:
        found["paragraph"] = _filled(root)
        found["table"] = _count(root, ("tbl",))
        found["picture"] = _count(root, ("pic", "imagedata"))
    elif kind is Kind.DOCX and _local(root) == "comments":
        found["comment"] = _count(root, ("comment",))
    return +found


def _hidden_lines(data: bytes) -> Counter[str]:
    """Return how many rows and columns of a sheet nobody sees."""
    found: Counter[str] = Counter()
    for line in _LINE.finditer(data) if _HIDDEN_LINE.search(data) else ():
        if not _HIDDEN_LINE.search(line[2]):
            continue
        if line[1] == b"row":
            found["hidden row"] += 1
            continue
        ends = {end[1]: int(end[2]) for end in _END.finditer(line[2])}
        found["hidden column"] += max(1, ends.get(b"max", 0) - ends.get(b"min", 0) + 1)
    return found


_STORIES = frozenset(("document", "hdr", "ftr", "footnotes", "endnotes"))


def _count(root: Element, names: Iterable[str]) -> int:
    return sum(1 for one in root.iter("*") if _local(one) in names)


def _filled(root: Element) -> int:
    """Return how many paragraphs have text."""
    return sum(
        1
        for one in root.iter("*")
        if _local(one) == "p" and any(part.strip() for part in _own(one))
    )


def _named(name: str, root: Element) -> list[tuple[str, str, str]]:
    """Return the sheets of a workbook, or the slides of a deck, by ids that renaming keeps."""
    found: list[tuple[str, str, str]] = []
    if name == "xl/workbook.xml":
        sheets = (one for one in root.iter("*") if _local(one) == "sheet" and one.get("sheetId"))
        for one in sheets:
            shown = "".join(sign for sign in one.get("name") or "" if sign.isprintable())
            found.append(("sheet", str(one.get("sheetId")), shown[:_NAME_MAX_CHARS]))
            if one.get("state", "visible") != "visible":
                found.append(("hidden sheet", str(one.get("sheetId")), shown[:_NAME_MAX_CHARS]))
    elif name == "ppt/presentation.xml":
        slides = (one for one in root.iter("*") if _local(one) == "sldId" and one.get("id"))
        found += [("slide", str(one.get("id")), str(at)) for at, one in enumerate(slides, 1)]
    return found
