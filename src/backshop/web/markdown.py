"""Markdown and code → HTML that runs nothing and loads nothing (U1.2, W20.6).

A maintained parser makes the HTML, a maintained sanitiser has the last word. Links are inert: the
text and the address are shown and can be copied. Pictures are named, never loaded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markupsafe import Markup, escape

TEXT_MAX_CHARS = 400_000  # longer texts are shown as they are
CODE_MAX_CHARS = 60_000  # longer blocks are shown without colours

_BOX = re.compile(r"\[([ xX!])\] +")
_STATES = {" ": ("open", "○", "to do"), "x": ("done", "✓", "done"), "!": ("failed", "!", "failed")}
_TAGS = {
    *("p", "br", "hr", "em", "strong", "s", "del", "code", "pre", "blockquote", "ul", "ol", "li"),
    *("span", "div", "h1", "h2", "h3", "h4", "h5", "h6"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
_CLASSES = {"span", "code", "pre", "div", "table"}
_ATTRIBUTES = {tag: {"class"} for tag in _CLASSES} | {"ol": {"start"}, "td": set(), "th": set()}


def rendered(text: str) -> Markup:
    """Return Markdown as safe HTML."""
    if len(text) > TEXT_MAX_CHARS:
        return Markup('<pre class="plain">{}</pre>').format(text)
    made = _parser().render(text)
    safe = nh3.clean(made, tags=_TAGS, attributes=_ATTRIBUTES, url_schemes=set(), link_rel=None)
    return Markup(safe)  # noqa: S704  # the sanitiser has just had the last word


def highlighted(code: str, language: str) -> Markup:
    """Return code as spans with classes; the stylesheet has the colours."""
    if not language or len(code) > CODE_MAX_CHARS:
        return escape(code)
    from pygments import highlight  # loaded with the first piece of code
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        return escape(code)
    made = highlight(code, lexer, HtmlFormatter(nowrap=True))
    return Markup(made)  # noqa: S704  # Pygments escapes; `rendered` cleans it once more


@cache
def _parser() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(
        ["table", "strikethrough"]
    )
    made.add_render_rule("link_open", _link_open)
    made.add_render_rule("link_close", _link_close)
    made.add_render_rule("image", _image)
    made.add_render_rule("fence", _fence)
    made.add_render_rule("box", _box)
    made.core.ruler.push("boxes", _boxes)
    return made


def _boxes(state: StateCore) -> None:
    """Let the box that an item of a list begins with be drawn (U3.32)."""
    for item, _, inline in zip(state.tokens, state.tokens[1:], state.tokens[2:], strict=False):
        children = inline.children
        if item.type != "list_item_open" or not children:
            continue
        found = _BOX.match(children[0].content) if children[0].type == "text" else None
        if found is not None:
            words = children[0].copy(content=children[0].content[found.end() :])
            children[:1] = [Token("box", "", 0, content=found[1]), words]


def _box(self: RendererHTML, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
    name, sign, word = _STATES[tokens[idx].content.lower()]
    return f'<span class="to-do {name}">{sign}</span><span class="unseen">{word}: </span>'


def _link_open(
    self: RendererHTML, tokens: Sequence[Token], idx: int, options: Any, env: Any
) -> str:
    return '<span class="link">'


def _link_close(
    self: RendererHTML, tokens: Sequence[Token], idx: int, options: Any, env: Any
) -> str:
    opening, depth = idx - 1, 1
    while depth:
        depth += {"link_close": 1, "link_open": -1}.get(tokens[opening].type, 0)
        opening -= 1
    address = str(tokens[opening + 1].attrs.get("href", ""))
    return f' <span class="link-address">({escape(address)})</span></span>'


def _image(self: RendererHTML, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
    token = tokens[idx]
    words = escape(f"picture: {token.content} ({token.attrs.get('src', '')})")
    return f'<span class="link">{words}</span>'


def _fence(self: RendererHTML, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
    token = tokens[idx]
    language = token.info.split(maxsplit=1)[0] if token.info.strip() else ""
    return f'<pre class="code"><code>{highlighted(token.content, language)}</code></pre>\n'
