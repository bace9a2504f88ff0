"""Builds the documentation site from `docs/`: one HTML page for each page, every link checked.

    python tools/site.py build/site

Strict: a link to what the site does not have, be it a page, a heading or a file, ends with an error
and no site. A file of the repository that a page links to is copied; a folder that is linked to and
has no page of its own gets one that lists its pages. The site needs nothing from elsewhere and no script.
"""

from __future__ import annotations

import html
import os
import re
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parents[1]
BESIDE = ("README.md", "SECURITY.md", "CHANGELOG.md", "CONTRIBUTING.md", "examples/README.md")
FIRST = ("README.md", "index.md")  # the page that stands for its folder
SHELL = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><link rel="stylesheet" href="{up}site.css"></head>
<body><header><a href="{up}docs/index.html">Backshop</a></header>
<main>{body}</main></body></html>
"""
STYLE = """:root { color-scheme: light dark; }
body { font: 16px/1.6 system-ui, sans-serif; margin: 0 auto; max-width: 52rem; padding: 1rem; }
header { border-bottom: 1px solid; padding-bottom: .5rem; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
td, th { border: 1px solid; padding: .25rem .5rem; text-align: left; vertical-align: top; }
pre { overflow-x: auto; padding: .75rem; border: 1px solid; }
img { max-width: 100%; }
"""


@dataclass(slots=True)
class Page:
    """One page: its tokens, headings and links."""

    path: Path
    tokens: list[Token]
    title: str = ""
    anchors: set[str] = field(default_factory=set)


def build(root: Path, target: Path) -> list[str]:
    """Write the site; return what is wrong instead if something is."""
    parser = MarkdownIt("commonmark").enable("table")
    pages = {path: _read(parser, path, path.read_text(encoding="utf-8")) for path in _paths(root)}
    indexes = {one.path: one for one in _indexes(parser, pages)}
    known, aims = pages | indexes, set[Path]()
    problems = [found for page in known.values() for found in _check(root, page, known, aims)]
    if problems:
        return problems
    fresh = target.with_name(f"{target.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    for page in [*pages.values(), *(one for path, one in indexes.items() if path in aims)]:
        place = _placed(fresh, page.path.relative_to(root).with_suffix(".html"))
        up = "../" * (len(place.relative_to(fresh).parts) - 1)
        body = parser.renderer.render(page.tokens, parser.options, {})
        place.write_text(SHELL.format(title=html.escape(page.title), up=up, body=body))
    for file in aims - known.keys():
        shutil.copyfile(file, _placed(fresh, file.relative_to(root)))
    (fresh / "site.css").write_text(STYLE)
    shutil.rmtree(target, ignore_errors=True)
    fresh.rename(target)
    return []


def _placed(site: Path, relative: Path) -> Path:
    place = site / relative
    place.parent.mkdir(parents=True, exist_ok=True)
    return place


def _paths(root: Path) -> list[Path]:
    beside = [root / name for name in BESIDE if (root / name).is_file()]
    return [*sorted((root / "docs").rglob("*.md")), *beside]


def _read(parser: MarkdownIt, path: Path, text: str) -> Page:
    page = Page(path, parser.parse(text))
    for token, inline in zip(page.tokens, page.tokens[1:], strict=False):
        if token.type == "heading_open":
            anchor = _anchor(inline.content, page.anchors)
            page.anchors.add(anchor)
            token.attrSet("id", anchor)
            page.title = page.title or inline.content
    return page


def _indexes(parser: MarkdownIt, pages: dict[Path, Page]) -> list[Page]:
    """Return a page that lists the others for each folder that has none of its own."""
    made = []
    for folder in sorted({path.parent for path in pages}):
        if not any(folder / name in pages for name in FIRST):
            inside = [page for path, page in pages.items() if path.parent == folder]
            lines = [f"- [{page.title}]({page.path.name})" for page in inside]
            text = "\n".join([f"# {folder.name.capitalize()}", "", *lines])
            made.append(_read(parser, folder / "index.md", text))
    return made


def _anchor(text: str, taken: set[str]) -> str:
    words = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
    return words if words not in taken else f"{words}-{sum(t.startswith(words) for t in taken)}"


def _check(root: Path, page: Page, pages: dict[Path, Page], aims: set[Path]) -> list[str]:
    """Return what is wrong with a page's links; those that are right come to lead into the site.

    What they lead to is put among `aims`.
    """
    problems = []
    for token in _links(page.tokens):
        name = "href" if token.type == "link_open" else "src"
        link = str(token.attrGet(name))
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        aim = _aim(page, unquote(parts.path), pages)
        aims.add(aim)
        if aim in pages:
            if parts.fragment and unquote(parts.fragment) not in pages[aim].anchors:
                problems.append(f"{page.path.relative_to(root)}: {link} names no heading")
            elif parts.path:
                to = os.path.relpath(aim.with_suffix(".html"), page.path.parent)
                token.attrSet(name, to + (f"#{parts.fragment}" if parts.fragment else ""))
        elif not aim.is_file() or not aim.is_relative_to(root):
            problems.append(f"{page.path.relative_to(root)}: {link} leads nowhere")
    return problems


def _aim(page: Page, path: str, pages: dict[Path, Page]) -> Path:
    """Return the page or the file that a link of a page is about."""
    if not path:
        return page.path
    aim = Path(os.path.normpath(page.path.parent / path))
    return next((aim / name for name in FIRST if aim / name in pages), aim)


def _links(tokens: list[Token]) -> list[Token]:
    inside = [child for token in tokens for child in token.children or ()]
    return [one for one in inside if one.type in ("link_open", "image")]


def main() -> int:
    """Build into the folder that was named."""
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "build/site").resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    problems = build(ROOT, target)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
