"""Templates: one Jinja environment with escaping on, and the few words pages need in them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Undefined
from markupsafe import Markup, escape

from backshop.base.acting import AGENT
from backshop.base.codec import encode
from backshop.base.labels import count_text, size_text
from backshop.base.usage import doubt, money, used_line
from backshop.formats import faces_folder, kind_of_name, part_words

from .markdown import rendered
from .sentences import as_sentence, explained
from .timeline import between, lasted

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
    made.globals["may"] = lambda name: _may.get()(name)
    made.globals["static"] = lambda name: f"/static/{version()}/{name}"
    made.filters.update(
        size=size_text,
        moment=moment,
        lasted=lasted,
        between=between,
        agent=agent_name,
        counted=counted,
        markdown=prose,
        count=count_text,
        jsonish=as_json,
        data_block=data_block,
        used_line=used_line,
        money=money,
        doubt=doubt,
        maker=maker,
        ticked=ticked,
        visible=visible,
        as_sent=as_sent,
        kind_by_name=kind_by_name,
        part_words=part_words,
        duration=duration,
        explained=explained,
        sentence=as_sentence,
    )
    return made


def page(template: str, context: dict[str, Any]) -> str:
    """Return a page or a fragment as text; forms of commands its reader may not run are left out.

    `may` of the context says which those are. Pieces that templates import do not see the context.
    """
    asked = _may.set(context.get("may", _anything))
    try:
        return environment().get_template(template).render(context)
    finally:
        _may.reset(asked)


def _anything(_: str) -> bool:
    return True


_may: ContextVar[Callable[[str], bool]] = ContextVar("backshop_may", default=_anything)


def kind_by_name(path: str) -> str:
    """Return what kind of file a name promises, for the sign beside it."""
    kind = kind_of_name(path)
    return kind.value if kind else "other"


def duration(seconds: float) -> str:
    """Return a time as people say it: 0.4 s, 14 s, 2 min 5 s."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60} s"


def maker(source: str | None) -> str:
    """Return who made a Draft, in words; `workshop:` is followed by the run or by `mcp`."""
    kind, _, ref = (source or "").partition(":")
    if kind == "workshop":
        return "an outside agent" if ref == "mcp" else "the Workshop"
    return {"mcp": "an outside agent", "rescan": "edits from outside"}.get(kind, "you")


def agent_name(agent: str | None) -> str:
    """Return what people call an agent; events name it by what its client called itself (T1.6)."""
    if agent is None:
        return "not said"
    return "Built-in agent" if agent == AGENT else agent.removeprefix("mcp:")


def counted(counts: Mapping[str, int], sort: str = "") -> list[tuple[str, str]]:
    """Return what can be chosen, each with how often it is there; `sort` "agent" names agents."""
    named = agent_name if sort == "agent" else str
    return [(one, f"{named(one)} ({number:,})") for one, number in counts.items()]


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


def as_sent(value: object) -> Markup:
    """Return a value of a form that goes back as it is, also where all of a page is `visible`."""
    made = _TURNING.sub(lambda sign: f"&#{ord(sign[0])};", escape(value))
    return Markup(made)  # noqa: S704  # it is escaped


def prose(text: str) -> Markup:
    """Return Markdown as safe HTML that reads as what it is."""
    found: Markup = visible(rendered(text))
    return found


def data_block(value: Any) -> Markup:
    """Return data for a `<script type="application/json">`: nothing in it ends the element."""
    return Markup(as_json(value).replace("<", "\\u003c"))  # noqa: S704  # it cannot end here


def as_json(value: Any) -> str:
    """Return a value as JSON text for a `data-` attribute, where it is escaped like any other."""
    return json.dumps(value, default=encode, ensure_ascii=False, separators=(",", ":"))
