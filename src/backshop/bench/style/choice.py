"""Which style skills a call is told, and how the person's own style joins them (B15).

Pure but for loading the bundled skills, which are package data. Nothing here asks a model: the
same files, conversation and style item give the same text (W6.13).
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

from backshop.base.canon import canonical, sha256_hex

from . import skill
from .merge import MergeFailed, merged

FORMATS = ("xlsx", "docx", "pptx")
MESSAGES_MAX = 40  # B15.4: how far back the conversation counts
SECTIONS = ("Tool Capability Catalog", "Formatting Principles", "Worked Examples")
KEYWORDS: Mapping[str, tuple[str, ...]] = {
    "xlsx": ("spreadsheet", "spreadsheets", "excel", "workbook", "workbooks", "worksheet"),
    "docx": ("docx", "word document", "word documents", "word doc", "ms word"),
    "pptx": ("pptx", "powerpoint", "presentation", "presentations", "slide deck", "slides"),
}
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StyleSkill:
    """The one style skill of a format that a call is told."""

    format: str
    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something a call had to do without; announced once for the same content (W6.12)."""

    reason: str
    content_hash: str
    text: str
    format: str | None = None
    category: str | None = None


@dataclass(frozen=True, slots=True)
class Styling:
    """The style skills of one call, in order, and what went wrong on the way."""

    skills: tuple[StyleSkill, ...] = ()
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class Bundled:
    """A bundled skill; `problems` say why it cannot be used."""

    text: str
    problems: tuple[str, ...] = ()


def for_prompt(
    *,
    paths: Iterable[str],
    texts: Sequence[str],
    document_style: Mapping[str, str] | None = None,
    skills: Mapping[str, Bundled] | None = None,
    keywords: Mapping[str, Sequence[str]] = KEYWORDS,
) -> Styling:
    """Return what a call is told about style.

    `paths` are the files of the manifest, `texts` the messages of the conversation with the
    current request last, `document_style` the files of that context item if there is one.
    Without a relevant format `skills` is empty and the document-style item stands alone (B15.5).
    """
    bundled_skills = bundled() if skills is None else skills
    found: list[StyleSkill] = []
    notices: list[Notice] = []
    for kind in relevant(paths, texts, keywords):
        one = bundled_skills.get(kind, Bundled("", ("it is not there",)))
        if one.problems:
            notices.append(_notice("style_skill_load_failed", kind, one.text))
            continue
        name, text = f"{kind}-style-skill", one.text
        if document_style is not None:
            try:
                name, text = f"{kind}-style-custom", merged(kind, one.text, document_style)
            except MergeFailed:
                said = canonical(dict(document_style)).decode()
                notices.append(_notice("style_merge_failed", kind, said))
        found.append(StyleSkill(kind, name, text))
    return Styling(tuple(found), tuple(notices))


def relevant(
    paths: Iterable[str],
    texts: Sequence[str],
    keywords: Mapping[str, Sequence[str]] = KEYWORDS,
) -> tuple[str, ...]:
    """Return the formats a call may have to do with (B15.4)."""
    endings = {path.rpartition(".")[2].lower() for path in paths if "." in path}
    said = "\n".join(texts[-MESSAGES_MAX - 1 :])
    return tuple(
        kind for kind in FORMATS if kind in endings or _mentions(kind, keywords[kind], said)
    )


def _mentions(kind: str, keywords: Sequence[str], said: str) -> bool:
    words = "|".join(
        r"\s+".join(re.escape(part) for part in keyword.split()) for keyword in keywords
    )
    either = rf"\.{kind}(?!\w)" + (rf"|(?<!\w)(?:{words})(?!\w)" if words else "")
    return re.search(either, said, re.IGNORECASE) is not None


@cache
def bundled() -> Mapping[str, Bundled]:
    """Return the bundled skills; one that cannot be used is logged and says why (B15.2)."""
    return load(resources.files("backshop.bench.style") / "skills")


def load(folder: Traversable) -> Mapping[str, Bundled]:
    """Read and check the skills of a folder."""
    found = {}
    for kind in FORMATS:
        name = f"{kind}-style-skill"
        try:
            text = (folder / name / skill.MAIN).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            found[kind] = Bundled("", (str(error),))
        else:
            found[kind] = Bundled(text, tuple(_problems(name, text)))
        if found[kind].problems:
            _log.warning("style skill %s cannot be used: %s", name, found[kind].problems[0])
    return found


def _problems(name: str, text: str) -> Iterable[str]:
    yield from skill.problems({skill.MAIN: text}, name)
    titles = [one.title for one in skill.sections(text)]
    yield from (f"the section {title!r} is missing" for title in SECTIONS if title not in titles)


def _notice(reason: str, kind: str, content: str) -> Notice:
    words = {
        "style_skill_load_failed": f"The style guide for {kind} files could not be used.",
        "style_merge_failed": f"Your document style could not be joined with the one for {kind} "
        "files; the general one is used.",
    }
    return Notice(
        reason=reason, format=kind, content_hash=sha256_hex(content.encode()), text=words[reason]
    )
