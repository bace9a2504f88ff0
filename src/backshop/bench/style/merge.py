"""Joins a bundled style skill with the person's document style (B15.6–B15.9).

A person's rule takes the place of a general rule that speaks of the same things; other rules
are added. The capability catalog stays byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from . import skill

OVERLAP_MIN = 0.70  # B15.8: of the smaller set of keywords
SHARED_MIN = 3
_RULES = ("formattingrules", "stylerules", "formattingprinciples", "tonevoice")
_EXAMPLES = ("workedexamples", "examples")
_NAMES: Mapping[str, frozenset[str]] = {
    "xlsx": frozenset({"xlsx", "excel", "spreadsheet", "spreadsheets", "workbook", "workbooks"}),
    "docx": frozenset({"docx", "word", "documents"}),
    "pptx": frozenset(
        {"pptx", "powerpoint", "presentation", "presentations", "slides", "deck", "decks"}
    ),
}
_FILLERS = frozenset(
    (
        *("a", "and", "file", "files", "for", "format", "formatting", "in", "ms", "microsoft"),
        *("of", "only", "rules", "slide", "style", "the", "document"),
    )
)
_STOP = frozenset(
    (
        *("about", "after", "also", "always", "before", "below", "cell", "cells", "each"),
        *("every", "from", "have", "into", "keep", "like", "make", "more", "most", "must"),
        *("never", "only", "other", "over", "same", "should", "such", "text", "than", "that"),
        *("their", "them", "then", "there", "these", "they", "this", "used", "uses", "using"),
        *("what", "when", "where", "which", "with", "within", "without", "would", "your"),
    )
)
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]+")
_LEAD = re.compile(r"\**(?P<names>[\w ,/&]{2,40})\**:\**\s+(?=\S)")


class MergeFailed(ValueError):
    """The document style is not a skill that could be joined with another."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One list item or paragraph; `formats` None means it is for all."""

    text: str
    formats: frozenset[str] | None = None

    @property
    def keywords(self) -> frozenset[str]:
        """What the rule speaks of."""
        words = re.findall(r"[^\W_]{4,}", self.text.lower())
        return frozenset(words) - _STOP

    def is_for(self, kind: str) -> bool:
        """Whether the rule concerns a format."""
        return self.formats is None or kind in self.formats


def merged(kind: str, general: str, item: Mapping[str, str]) -> str:
    """Return the skill `{kind}-style-custom`.

    Raises:
        MergeFailed: the item's SKILL.md is missing, blank or has no front matter.
    """
    try:
        own = skill.read(item.get(skill.MAIN, ""))
    except skill.BadSkill as error:
        raise MergeFailed(str(error)) from error
    if not own.body.strip():
        raise MergeFailed(f"{skill.MAIN} has no text")
    front = skill.read(general)
    parts = {one.title: one.text for one in skill.sections(front.body)}
    intro = front.body.partition("\n## ")[0].strip("\n")
    rules, whole, examples = _of_person(kind, own.body, item)
    principles = _joined(list(_blocks(parts["Formatting Principles"])), rules)
    texts = [
        f"---\nname: {kind}-style-custom\ndescription: {front.text('description')} "
        "It includes the person's own rules, which go before general ones.\n---\n",
        f"{intro}\n\n",
        f"## Tool Capability Catalog\n{parts['Tool Capability Catalog']}",
        "## Formatting Principles\n\n" + "\n".join(principles) + "\n\n",
        f"{whole}\n\n" if whole else "",
        f"## Worked Examples\n{parts['Worked Examples'].rstrip()}\n",
        f"\n### The person's own examples\n\n{examples}\n" if examples else "",
    ]
    return "".join(texts)


def _of_person(kind: str, body: str, item: Mapping[str, str]) -> tuple[list[Rule], str | None, str]:
    """Return the person's rules, the whole artefact if it names none, and their examples."""
    found: list[Rule] = []
    examples: list[str] = []
    has_rules = False
    for one in skill.sections(body):
        said = _normal(one.title)
        if any(word in said for word in _EXAMPLES):
            examples.append(one.text.strip())
        elif (formats := _formats(one.title)) or any(word in said for word in _RULES):
            has_rules = True
            found += _blocks(one.text, formats)
    references = {path: text for path, text in item.items() if path != skill.MAIN}
    for path, text in sorted(references.items()):
        if "example" in path.lower():
            examples.append(text.strip())
        elif has_rules:
            found += _blocks(text, _formats(path.rpartition("/")[2].rpartition(".")[0]))
    shown = "\n\n".join(text for text in examples if text)
    if has_rules:
        return [rule for rule in found if rule.is_for(kind)], None, shown
    others = (text for path, text in sorted(references.items()) if "example" not in path.lower())
    whole = "\n\n".join(text.strip() for text in (body, *others) if text.strip())
    return [], f"## The person's own rules\n\n{_demoted(whole)}", shown


def _joined(general: Sequence[Rule], own: Sequence[Rule]) -> list[str]:
    """Return rule texts: a person's rule in place of the general ones it contradicts, once."""
    placed: set[int] = set()
    result = []
    for rule in general:
        instead = [at for at, mine in enumerate(own) if _conflict(rule, mine)]
        if not instead:
            result.append(rule.text)
        result += [own[at].text for at in instead if at not in placed]
        placed.update(instead)
    return [*result, *(rule.text for at, rule in enumerate(own) if at not in placed)]


def _conflict(general: Rule, own: Rule) -> bool:
    one, other = general.keywords, own.keywords
    shared = len(one & other)
    return shared >= SHARED_MIN and shared / min(len(one), len(other)) >= OVERLAP_MIN


def _blocks(text: str, formats: frozenset[str] | None = None) -> Iterator[Rule]:
    """Split prose into list items and paragraphs; a heading that names formats limits them.

    Another heading is kept as the lead of its rules: what "Never" stands above must not lose it.
    """
    path: list[tuple[int, frozenset[str] | None, str]] = []
    block: list[str] = []

    def taken() -> Iterator[Rule]:
        joined = "".join(block).strip("\n")
        block.clear()
        if joined.strip():
            inner = next((f for _, f, _ in reversed(path) if f), formats)
            lead = next((title for _, f, title in reversed(path) if not f), "")
            yield _rule(joined, inner, lead)

    in_code = False
    for line, heading in skill.lines(text):
        if heading is not None:
            yield from taken()
            level, title = heading
            path = [one for one in path if one[0] < level]
            path.append((level, _formats(title), title))
            continue
        if line.lstrip().startswith(("```", "~~~")):
            in_code = not in_code
        elif not in_code and (not line.strip() or _ITEM.match(line)):
            yield from taken()
        block.append(line)
    yield from taken()


def _rule(text: str, formats: frozenset[str] | None, lead: str) -> Rule:
    body = _ITEM.sub("", text, count=1) if _ITEM.match(text) else text
    named = _LEAD.match(body)
    own = _formats(named["names"]) if named else None
    said = f"**{lead}:** {body}" if lead else body
    indented = said.replace("\n", "\n  ") if not _ITEM.match(text) else said
    return Rule(f"- {indented}", own or formats)


def _formats(heading: str) -> frozenset[str] | None:
    """Return the formats a heading is about, None when it is about something else (B15.7)."""
    words = set(re.findall(r"[a-z]+", heading.lower()))
    found = {kind for kind, names in _NAMES.items() if words & names}
    known = _FILLERS.union(*_NAMES.values())
    return frozenset(found) if found and words <= known else None


def _normal(heading: str) -> str:
    return "".join(word for word in re.findall(r"[a-z0-9]+", heading.lower()) if word != "and")


def _demoted(text: str) -> str:
    """Put headings of level 1 and 2 below the section they come to stand in."""
    return "".join(_lower(line, heading) for line, heading in skill.lines(text))


def _lower(line: str, heading: tuple[int, str] | None) -> str:
    if heading is None or heading[0] > 2:
        return line
    return f"### {heading[1]}\n"
