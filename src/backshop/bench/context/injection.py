"""What every call of a bench is told beside its files: context items and style skills (B14.15).

Texts come out ready to stand in a prompt, between delimiters they cannot end themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from backshop.base.canon import sha256_hex
from backshop.base.errors import BackshopError
from backshop.base.ids import TreeId

from ..repository import BenchRepository
from ..style import choice
from ..style.choice import Notice
from ..style.skill import MAIN
from ..tree.soundness import UNREADABLE
from . import item

SKILLS = ("company-context", "department-context", "document-style")
_DELIMITER = re.compile(r"<(?=\s*/?\s*workbench-(?:situation|skill))", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ContextText:
    """One delimited text: `key` is its category or format, `name` what the skill is called."""

    key: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Injected:
    """All that goes into one call, in the order of B14.15, and what it had to do without."""

    situation: ContextText | None
    skills: tuple[ContextText, ...]
    styles: tuple[ContextText, ...]
    notices: tuple[Notice, ...] = ()

    @property
    def chars(self) -> int:
        """How much text it is, for the clutter bar (B16.4)."""
        parts = (*self.skills, *self.styles, *([self.situation] if self.situation else []))
        return sum(len(one.text) for one in parts)


def inject(
    desk: BenchRepository,
    bench_id: str,
    *,
    paths: Iterable[str],
    texts: Sequence[str],
    keywords: Mapping[str, Sequence[str]] = choice.KEYWORDS,
) -> Injected:
    """Return what a call about these files and this conversation is told.

    An item that cannot be read is left out with a notice; the call goes on (B14.17).
    """
    head = desk.state(bench_id).context_tree
    items: dict[str, dict[str, str]] = {}
    notices: list[Notice] = []
    for category in item.CATEGORIES:
        try:
            items[category] = item.artifact(desk, head, category)
        except (BackshopError, ValueError):
            notices.append(_unavailable(desk, head, category))
    own = items.get("document-style") or None
    styles = choice.for_prompt(paths=paths, texts=texts, document_style=own, keywords=keywords)
    alone = not styles.skills
    shown = [name for name in SKILLS if items.get(name) and (alone or name != "document-style")]
    situation = items.get("situation")
    return Injected(
        situation=ContextText("situation", "situation", _situation(situation))
        if situation
        else None,
        skills=tuple(ContextText(name, name, _skill(name, items[name])) for name in shown),
        styles=tuple(
            ContextText(one.format, one.name, _skill(one.name, {MAIN: one.text}))
            for one in styles.skills
        ),
        notices=(*notices, *styles.notices),
    )


def _situation(files: Mapping[str, str]) -> str:
    body = "\n\n".join(text.strip("\n") for text in files.values())
    return f"<workbench-situation>\n{_safe(body)}\n</workbench-situation>"


def _skill(name: str, files: Mapping[str, str]) -> str:
    others = sorted(path for path in files if path != MAIN)
    parts = [files.get(MAIN, "").strip("\n")]
    parts += [f"## {path}\n\n" + files[path].strip("\n") for path in others]
    body = _safe("\n\n".join(parts))
    return f'<workbench-skill name="{name}">\n{body}\n</workbench-skill>'


def _safe(text: str) -> str:
    """Keep a text from ending its own section or beginning another (B14.16)."""
    return _DELIMITER.sub("&lt;", text)


def _unavailable(desk: BenchRepository, head: TreeId, category: str) -> Notice:
    try:
        files = item.files_of(desk, head, category)
        names = "\n".join(f"{path} {file.sha256}" for path, file in sorted(files.items()))
    except UNREADABLE:  # not even the list of its files is there
        names = head
    return Notice(
        reason="context_item_unavailable",
        category=category,
        content_hash=sha256_hex(names.encode()),
        text=f"The context item {category} cannot be read; calls go on without it.",
    )
