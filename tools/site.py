"""Builds the documentation site from `docs/`: one HTML page for each page, every link checked.

    python tools/site.py build/site

Strict: a link to a page, heading or picture that is not there ends with an error and no site. The
site needs nothing from elsewhere and no script.
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
BESIDE = ("README.md", "SECURITY.md", "CHANGELOG.md", "CONTRIBUTING.md")
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
    pages = {path: _read(parser, path) for path in _paths(root)}
    problems = [problem for page in pages.values() for problem in _check(root, page, pages)]
    if problems:
        return problems
    fresh = target.with_name(f"{target.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    for page in pages.values():
        place = fresh / page.path.relative_to(root).with_suffix(".html")
        place.parent.mkdir(parents=True, exist_ok=True)
        up = "../" * (len(place.relative_to(fresh).parts) - 1)
        body = parser.renderer.render(page.tokens, parser.options, {})
        place.write_text(SHELL.format(title=html.escape(page.title), up=up, body=body))
    shutil.copytree(root / "docs" / "images", fresh / "docs" / "images", dirs_exist_ok=True)
    (fresh / "site.css").write_text(STYLE)
    shutil.rmtree(target, ignore_errors=True)
    fresh.rename(target)
    return []


def _paths(root: Path) -> list[Path]:
    beside = [root / name for name in BESIDE if (root / name).is_file()]
    return [*sorted((root / "docs").rglob("*.md")), *beside]


def _read(parser: MarkdownIt, path: Path) -> Page:
    page = Page(path, parser.parse(path.read_text(encoding="utf-8")))
    for token, inline in zip(page.tokens, page.tokens[1:], strict=False):
        if token.type == "heading_open":
            anchor = _anchor(inline.content, page.anchors)
            page.anchors.add(anchor)
            token.attrSet("id", anchor)
            page.title = page.title or inline.content
    return page


def _anchor(text: str, taken: set[str]) -> str:
    words = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
    return words if words not in taken else f"{words}-{sum(t.startswith(words) for t in taken)}"


def _check(root: Path, page: Page, pages: dict[Path, Page]) -> list[str]:
    """Return what is wrong with a page's links; those that are right come to lead to HTML."""
    problems = []
    for token in _links(page.tokens):
        name = "href" if token.type == "link_open" else "src"
        link = str(token.attrGet(name))
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        aim = page.path
        if parts.path:
            aim = Path(os.path.normpath(page.path.parent / unquote(parts.path)))
        if not aim.exists() or not aim.is_relative_to(root):
            problems.append(f"{page.path.relative_to(root)}: {link} leads nowhere")
        elif parts.fragment and aim in pages and unquote(parts.fragment) not in pages[aim].anchors:
            problems.append(f"{page.path.relative_to(root)}: {link} names no heading")
        elif aim in pages and parts.path:
            token.attrSet(name, link.replace(".md", ".html", 1))
    return problems


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
