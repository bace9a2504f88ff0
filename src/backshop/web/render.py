"""Templates: one Jinja environment with escaping on, and the few words pages need in them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Undefined
from markupsafe import Markup

from backshop.base.codec import encode
from backshop.base.usage import doubt, money, used_line
from backshop.formats import faces_folder

from .markdown import rendered

HERE = Path(__file__).parent
STATIC = HERE / "static"
_TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@cache
def version() -> str:
    """Return a name for the static files as they are now; it stands in their address."""
    digest = hashlib.sha256()
    for path in (*sorted(STATIC.rglob("*")), *sorted(faces_folder().iterdir())):
        if path.is_file():
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def static_file(name: str) -> Path | None:
    """Return one of our own files by its name: of the pages, or a face of drawn documents."""
    if name != PurePosixPath(name).name:
        return None
    places = (folder / name for folder in (STATIC, faces_folder()))
    return next((one for one in places if one.is_file()), None)


class _Environment(Environment):
    """An unknown name is an error; an absent field of an answer is None, as it is in the answer."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Return a field; optional ones that are None do not stand in answers at all."""
        found = super().getattr(obj, attribute)
        return None if isinstance(found, Undefined) and isinstance(obj, Mapping) else found


@cache
def environment() -> Environment:
    """Return the one environment of all pages."""
    made = _Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["static"] = lambda name: f"/static/{version()}/{name}"
    made.filters.update(
        size=size_text,
        moment=moment,
        markdown=prose,
        count=count_text,
        jsonish=as_json,
        used_line=used_line,
        money=money,
        doubt=doubt,
        maker=maker,
        ticked=ticked,
        visible=visible,
    )
    return made


def page(template: str, context: dict[str, Any]) -> str:
    """Return a page or a fragment as text."""
    return environment().get_template(template).render(context)


def size_text(size: int | None) -> str:
    """Return a size for people: 1.4 MB."""
    if size is None:
        return "–"
    amount = float(size)
    for unit in ("bytes", "KB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            return count_text(size, "byte") if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1024
    raise AssertionError("unreachable")


def count_text(number: int, one: str, many: str | None = None) -> str:
    """Return a counted thing: 1 file, 3 files."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def maker(source: str | None) -> str:
    """Return who made a Draft, in words; `workshop:` is followed by the run or by `mcp`."""
    kind, _, ref = (source or "").partition(":")
    if kind == "workshop":
        return "an outside agent" if ref == "mcp" else "the Workshop"
    return {"mcp": "an outside agent", "rescan": "edits from outside"}.get(kind, "you")


def moment(at: str | None) -> Markup:
    """Return a time as an element; the page turns it into the person's own time zone."""
    if not at:
        return Markup("–")
    shown = at[:16].replace("T", " ") + " UTC"
    return Markup('<time datetime="{}">{}</time>').format(at, shown)


def ticked(text: str) -> Markup:
    """Return a message with what stands between backticks as code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # one is open: it is no mark
        return Markup.escape(text)
    shown = (
        Markup("<code>{}</code>").format(one) if at % 2 else one for at, one in enumerate(parts)
    )
    return Markup("").join(shown)


def visible(text: Any) -> Any:
    """Return a text with the signs that turn the direction of writing as marks to be seen.

    A text that holds them reads as another than it is; what is markup stays so.
    """
    if not isinstance(text, str) or _TURNING.search(text) is None:
        return text
    made = _TURNING.sub(lambda sign: f"⟦U+{ord(sign[0]):04X}⟧", text)
    return Markup(made) if isinstance(text, Markup) else made  # noqa: S704  # as safe as it was


def prose(text: str) -> Markup:
    """Return Markdown as safe HTML that reads as what it is."""
    found: Markup = visible(rendered(text))
    return found


def as_json(value: Any) -> str:
    """Return a value as JSON text for a `data-` attribute, where it is escaped like any other."""
    return json.dumps(value, default=encode, ensure_ascii=False, separators=(",", ":"))
