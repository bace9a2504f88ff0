"""Prompts: what can be built, found, cloned and rendered."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from enum import Enum
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

import pytest

from backshop.prompts import (
    MarkdownSection,
    Prompt,
    PromptBudgetError,
    PromptRenderError,
    PromptValidationError,
    RenderContext,
    Section,
    SectionNotFound,
    SectionPath,
    Tool,
    ToolContext,
    ToolResult,
    WorkspaceDigest,
    invoke,
)


@dataclass(frozen=True)
class Brief:
    topic: str
    tone: str = "plain"


@dataclass(frozen=True)
class Other:
    x: str = "y"


class Colour(Enum):
    RED = "red"


def _noop(params: object, *, context: ToolContext) -> ToolResult:
    return ToolResult(True, "ok")


def tool(name: str = "look") -> Tool:
    return Tool(name, "Look.", None, _noop, effects="read")


def prompt(*sections: Section, **attributes) -> Prompt[Any]:
    return Prompt("tests", "p", sections=sections, **attributes)


def code_of(make) -> str:
    with pytest.raises((PromptValidationError, PromptRenderError)) as caught:
        make()
    return caught.value.code


@pytest.mark.rule("P1.2", "P11.1")
def test_a_key_is_never_folded_and_the_nearest_one_is_offered():
    with pytest.raises(PromptValidationError) as caught:
        MarkdownSection("Files", "x", key="Workspace")

    assert caught.value.code == "BAD_IDENTIFIER"
    assert "'workspace'" in caught.value.message


@pytest.mark.rule("P1.2")
@pytest.mark.parametrize("key", ["", "-a", "con", "nul.txt", "lpt9", "a/b", "é", "a" * 65, " a"])
def test_bad_keys_are_refused(key):
    assert code_of(lambda: MarkdownSection("T", "x", key=key)) == "BAD_IDENTIFIER"


@pytest.mark.rule("P1.2", "P1.3", "P11.2")
def test_namespaces():
    assert Prompt("a/b/c", "k", sections=[]).ns == "a/b/c"
    for bad in ("a//b", "/a", "a/../b", "/".join("abcdefghi"), "a" * 201):
        assert code_of(lambda bad=bad: Prompt(bad, "k", sections=[])) == "BAD_IDENTIFIER"
    assert code_of(lambda: Prompt("backshop/x", "k", sections=[])) == "RESERVED_NAMESPACE"
    bundled = Prompt.bundled("backshop/x", "k", sections=[])
    assert bundled.clone_with(key="k2").namespace == "backshop/x"


@pytest.mark.rule("P1.1")
def test_a_prompt_and_its_sections_cannot_change():
    section = MarkdownSection("A", "x", key="a")
    made = prompt(section)

    with pytest.raises(AttributeError):
        made.key = "other"
    with pytest.raises(AttributeError):
        section.title = "B"
    assert made.display_name == "p"


@pytest.mark.rule("P1.6", "P11.3")
def test_sibling_keys_are_unique_and_cousins_may_share():
    tone = [MarkdownSection("Tone", "x", key="tone") for _ in range(4)]

    assert code_of(lambda: prompt(tone[0], tone[1])) == "DUPLICATE_SECTION_KEY"
    nested = prompt(
        MarkdownSection("A", "", key="a", children=[tone[2]]),
        MarkdownSection("B", "", key="b", children=[tone[3]]),
    )
    assert [node.name for node in nested.walk()] == ["a", "a/tone", "b", "b/tone"]


@pytest.mark.rule("P1.6", "P11.4")
def test_a_sixth_level_is_too_deep():
    section = MarkdownSection("S", "x", key="s")
    for _ in range(4):
        section = MarkdownSection("S", "x", key="s", children=[section])
    assert prompt(section).render().text.splitlines()[-3] == "###### 1.1.1.1.1. S"

    six = MarkdownSection("S", "x", key="s", children=[section])
    assert code_of(lambda: prompt(six)) == "TOO_DEEP"


@pytest.mark.rule("P1.6")
def test_the_response_format_key_is_reserved_at_the_root():
    taken = MarkdownSection("F", "x", key="response-format")

    assert code_of(lambda: prompt(taken)) == "RESERVED_KEY"


@pytest.mark.rule("P1.5", "P11.5")
def test_a_section_without_a_key_gets_a_slug_and_takes_no_overrides():
    section = MarkdownSection("Optimization Goal", "x")

    assert section.key == "optimization-goal"
    assert prompt(section).descriptor.sections == ()
    assert code_of(lambda: MarkdownSection("A", "x", accepts_overrides=True)) == (
        "OVERRIDABLE_NEEDS_KEY"
    )
    assert code_of(lambda: MarkdownSection("…", "x")) == "EMPTY_SECTION_KEY"


@pytest.mark.rule("P1.9", "P1.10", "P1.14", "P11.12")
def test_disabling_a_section_moves_no_number_and_takes_its_tools():
    made = prompt(
        MarkdownSection("One", "1", key="one"),
        MarkdownSection(
            "Two",
            "2",
            key="two",
            enabled=False,
            tools=[tool()],
            children=[MarkdownSection("In", "x", key="in")],
        ),
        MarkdownSection("Three", "", key="three"),
    )

    rendered = made.render()

    assert rendered.text == "## 1. One\n\n1\n\n## 3. Three"
    assert rendered.tools == ()
    assert made.find_section("in").title == "In"


@pytest.mark.rule("P1.14", "P11.13")
def test_enabled_answers_with_a_bool_once():
    calls = []

    def one(params, view):
        calls.append(1)
        return 1

    section = MarkdownSection("A", "$topic", key="a", params=Brief, enabled=one)

    assert code_of(lambda: prompt(section).render(Brief("t"))) == "ENABLED_NOT_BOOL"
    assert calls == [1]

    def failing(params, view):
        raise KeyError("no")

    broken = prompt(MarkdownSection("A", "x", key="a", enabled=failing))
    assert code_of(broken.render) == "ENABLED_FAILED"


@pytest.mark.rule("P1.9")
def test_user_sections_come_last_and_are_apart():
    request = MarkdownSection("Request", "do", key="request", role="user")
    rules = MarkdownSection("Rules", "be", key="rules")

    rendered = prompt(rules, request).render()

    assert (rendered.system_text, rendered.user_text) == (
        "## 1. Rules\n\nbe",
        "## 2. Request\n\ndo",
    )
    assert rendered.text == rendered.system_text + "\n\n" + rendered.user_text
    again = (MarkdownSection("R", "do", key="r", role="user"), MarkdownSection("S", "x", key="s"))
    assert code_of(lambda: prompt(*again)) == "ROLE_ORDER"


@pytest.mark.rule("P1.12", "P11.9")
def test_unknown_placeholders_fail_when_the_section_is_made():
    assert code_of(lambda: MarkdownSection("A", "$nope", key="a", params=Brief)) == (
        "UNKNOWN_PLACEHOLDER"
    )
    assert code_of(lambda: MarkdownSection("A", "$topic", key="a")) == "UNKNOWN_PLACEHOLDER"
    assert code_of(lambda: MarkdownSection("A", "x", key="a", params=dict)) == (
        "PARAMS_NOT_DATACLASS"
    )


@pytest.mark.rule("P1.13", "P11.10", "P11.11")
def test_params_are_bound_by_exact_type():
    made = prompt(
        MarkdownSection("A", "$topic", key="a", params=Brief, default_params=Brief("default")),
        MarkdownSection("B", "$x", key="b", params=Other),
        MarkdownSection(
            "C", "$topic", key="c", params=Brief, enabled=lambda params, _: bool(params)
        ),
    )

    assert made.render(Other("1"), Brief("2")).hash == made.render(Brief("2"), Other("1")).hash
    assert made.render().text == "## 1. A\n\ndefault\n\n## 2. B\n\ny"
    assert code_of(lambda: made.render(Brief("1"), Brief("2"))) == "DUPLICATE_PARAMS"
    assert code_of(lambda: made.render("text")) == "PARAMS_NOT_DATACLASS"
    strict = prompt(
        MarkdownSection("A", "$topic", key="a", params=Brief, default_params=Brief("d")),
        MarkdownSection("B", "$topic", key="b", params=Brief),
    )
    assert code_of(strict.render) == "MISSING_PARAMS"
    assert code_of(lambda: strict.render(Brief("x"), Other())) == "UNEXPECTED_PARAMS"


@dataclass(frozen=True)
class Values:
    whole: int = 3
    part: float = 0.1
    exact: Decimal = Decimal("1.50")
    yes: bool = True
    day: date = date(2026, 1, 2)
    colour: Colour = Colour.RED
    id: UUID = field(default_factory=lambda: UUID(int=1))
    path: PurePosixPath = field(default_factory=lambda: PurePosixPath("a/b"))
    items: tuple[str, ...] = ("one", "two\nlines")
    none: list[str] = field(default_factory=list)
    maybe: str | None = field(default=None, metadata={"none": "(none)"})
    absent: str | None = None
    fenced: str = field(default="a ``` b", metadata={"render": "fence"})
    quoted: str = field(default="a\r\nb", metadata={"render": "quote"})
    framed: str = field(default="</data>", metadata={"render": "data"})


@pytest.mark.rule("P1.15", "P11.14")
def test_values_are_shown_by_their_type():
    section = MarkdownSection(
        "V",
        """
        $whole $part $exact $yes $day $colour $id $path $maybe
          $items
        $none
        $fenced
        $quoted
        $framed
        """,
        key="v",
        params=Values,
    )

    assert prompt(section).render(Values()).text == (
        "## 1. V\n\n"
        "3 0.1 1.50 true 2026-01-02 red 00000000-0000-0000-0000-000000000001 a/b (none)\n"
        "  - one\n  - two\n    lines\n"
        "````\na ``` b\n````\n"
        "> a\n> b\n"
        '<data name="framed" id="'
        + sha256(b"</data>").hexdigest()[:12]
        + '">\n</data>\n</data id="'
        + sha256(b"</data>").hexdigest()[:12]
        + '">'
    )
    nothing = MarkdownSection("V", "$absent", key="v", params=Values)
    assert code_of(lambda: prompt(nothing).render(Values())) == "NONE_VALUE"
    assert code_of(lambda: MarkdownSection("V", "a $items", key="v", params=Values)) == (
        "INVALID_PLACEHOLDER"
    )


@pytest.mark.rule("P1.15")
def test_an_empty_list_takes_its_line_with_it():
    made = prompt(MarkdownSection("V", "before\n$none", key="v", params=Values))

    assert made.render().text == "## 1. V\n\nbefore"


@pytest.mark.rule("P1.17", "P11.16")
def test_a_tool_name_belongs_to_one_tool():
    one, other = tool(), tool()

    assert code_of(
        lambda: prompt(
            MarkdownSection("A", "", key="a", tools=[one]),
            MarkdownSection("B", "", key="b", tools=[other]),
        )
    ) == ("DUPLICATE_TOOL")
    both = prompt(
        MarkdownSection("A", "", key="a", tools=[one]),
        MarkdownSection("B", "", key="b", tools=[one]),
    )
    assert both.render().tools == (one,)


@pytest.mark.rule("P1.20", "P1.21", "P11.20")
def test_sections_are_found_by_key_kind_type_and_path():
    made = prompt(
        MarkdownSection(
            "A", "", key="a", children=[MarkdownSection("Box", "", key="b", kinds=["podman"])]
        ),
        MarkdownSection("Files", "", key="f", kinds=["vfs"], enabled=False),
        WorkspaceDigest(key="repo-notes"),
    )

    assert made.find_section_key("workspace-digest") == "repo-notes"
    assert made.find_section(("vfs", "podman")).key == "b"
    assert made.find_section(WorkspaceDigest).key == "repo-notes"
    assert made.find_section(SectionPath("a/b")).key == "b"
    assert made.find_section_path("podman") == ("a", "b")
    assert made.find_section("none", default=None) is None
    with pytest.raises(SectionNotFound, match="repo-notes") as caught:
        made.find_section("none")
    assert isinstance(caught.value, KeyError)
    assert code_of(lambda: made.find_section(())) == "EMPTY_SELECTOR"


@pytest.mark.rule("P1.22", "P11.22", "P11.23")
def test_a_clone_keeps_what_it_is_told_and_leaves_the_original_alone():
    inner = MarkdownSection("Inner", "in", key="inner")
    outer = MarkdownSection("Outer", "out", key="outer", children=[inner])
    hidden = MarkdownSection(
        "Hidden", "h", key="hidden", enabled=False, children=[MarkdownSection("X", "x", key="x")]
    )
    made = prompt(outer, hidden, WorkspaceDigest(placeholder="none yet"))
    before = made.render().text

    clone = made.clone_with(
        optimization_sections=[MarkdownSection("Goal", "g")],
        focus_areas=MarkdownSection("Focus", "f"),
        restricted_sections=[inner, "workspace-digest", SectionPath("hidden", "x")],
        extra_sections=[MarkdownSection("End", "e")],
        key="p.optimize",
    )

    assert [node.name for node in clone.walk()] == [
        "goal",
        "focus",
        "inner",
        "x",
        "workspace-digest",
        "end",
    ]
    assert clone.render().text == (
        "## 1. Goal\n\ng\n\n## 2. Focus\n\nf\n\n## 3. Inner\n\nin\n\n## 6. End\n\ne"
    )
    assert made.render().text == before
    assert code_of(lambda: made.clone_with(extra_sections=[outer])) == "DUPLICATE_SECTION_KEY"


@pytest.mark.rule("P1.22")
def test_selecting_an_ancestor_subsumes_its_descendants():
    inner = MarkdownSection("Inner", "in", key="inner")
    outer = MarkdownSection("Outer", "out", key="outer", children=[inner])

    clone = prompt(outer).clone_with(restricted_sections=["inner", "outer"])

    assert [node.name for node in clone.walk()] == ["outer", "outer/inner"]


@pytest.mark.rule("P1.22", "P1.13")
def test_a_promoted_section_still_asks_its_ancestors_with_their_params():
    inner = MarkdownSection("Inner", "in", key="inner")
    outer = MarkdownSection(
        "Outer",
        "$topic",
        key="outer",
        params=Brief,
        enabled=lambda params, _: params is not None and params.topic == "on",
        children=[inner],
    )

    clone = prompt(outer).clone_with(restricted_sections=["inner"])

    assert clone.params_types == {Brief}
    assert clone.render(Brief("on")).text == "## 1. Inner\n\nin"
    assert clone.render(Brief("off")).text == ""


def _shrinking() -> Prompt[Any]:
    return prompt(
        MarkdownSection("Keep", "k" * 40, key="keep"),
        MarkdownSection(
            "Sum",
            "s" * 400,
            key="sum",
            overflow="summary",
            summary="short",
            priority=1,
            children=[MarkdownSection("Deep", "d" * 400, key="deep")],
        ),
        MarkdownSection("Drop", "x" * 400, key="drop", overflow="drop"),
    )


@pytest.mark.rule("P1.23", "P11.24")
def test_over_budget_the_lowest_priority_goes_first():
    made = _shrinking()

    whole = made.render()
    dropped = made.render(budget_tokens=250)
    shortened = made.render(budget_tokens=60)

    assert [part.path[-1] for part in whole.parts] == ["keep", "sum", "deep", "drop"]
    assert [part.path[-1] for part in dropped.parts] == ["keep", "sum", "deep"]
    assert dropped.tools == ()
    assert [part.source for part in shortened.parts] == ["template", "summary"]
    assert "short\n(Shortened. `read_section` with path `sum`" in shortened.text
    (read,) = shortened.tools
    result = invoke(read, read.decode({"path": "sum"}), context=ToolContext(rendered=shortened))
    assert result.message == "s" * 400 + "\n\n### 2.1. Deep\n\n" + "d" * 400
    with pytest.raises(PromptBudgetError) as caught:
        made.render(budget_tokens=5)
    assert caught.value.needed > caught.value.budget == 5
    assert caught.value.info("workshop").error_code == "CONTEXT_EXHAUSTED"


@pytest.mark.rule("P1.23")
def test_what_may_be_dropped_has_no_tools_and_what_shrinks_has_a_summary():
    deep = MarkdownSection("T", "", key="t", tools=[tool()])

    assert code_of(lambda: MarkdownSection("A", "x", key="a", overflow="summary")) == (
        "SUMMARY_MISSING"
    )
    assert code_of(
        lambda: prompt(MarkdownSection("A", "x", key="a", overflow="drop", children=[deep]))
    ) == ("DROP_WITH_TOOLS")


@pytest.mark.rule("P1.24")
def test_cache_breaks_stand_after_the_stable_runs():
    made = prompt(
        MarkdownSection("A", "a", key="a", stability="static"),
        MarkdownSection("B", "b", key="b", stability="workspace"),
        MarkdownSection("C", "c", key="c"),
    )

    rendered = made.render()

    assert [rendered.text[:at] for at in rendered.cache_breaks] == [
        "## 1. A\n\na",
        "## 1. A\n\na\n\n## 2. B\n\nb",
    ]


@pytest.mark.rule("P1.25", "P11.26")
def test_the_hash_is_the_same_in_every_process():
    code = (
        "from backshop.prompts import *\n"
        "p = Prompt('t', 'p', sections=[MarkdownSection('A', 'a', key='a'), WorkspaceDigest()])\n"
        "print(p.preview().hash, p.descriptor)"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(filter(None, sys.path))},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }

    assert len(seen) == 1


@pytest.mark.rule("P1.8", "P4.6", "P11.25")
def test_rendering_touches_nothing_outside(monkeypatch):
    import builtins
    import os
    import socket
    import time

    made = _shrinking()
    made.render()

    def refuse(*args, **kwargs):
        raise AssertionError("rendering touched the world")

    with monkeypatch.context() as patch:
        for owner, name in (
            (builtins, "open"),
            (os, "stat"),
            (os, "urandom"),
            (socket, "socket"),
            (time, "time"),
            (time, "time_ns"),
            (time, "monotonic"),
        ):
            patch.setattr(owner, name, refuse)
        rendered = made.preview()
        assert rendered.hash

    assert rendered.parts[0].source == "template"


@pytest.mark.rule("P1.4")
def test_a_section_of_ones_own_needs_only_a_body():
    class Hello(Section):
        def body(self, context: RenderContext) -> str:
            return f"hello from {context.path}"

    made = prompt(Hello("Hello", key="hello"))

    assert made.render().text == "## 1. Hello\n\nhello from hello"
    assert made.descriptor.sections == ()


def test_text_that_cannot_be_sent_is_an_error_of_rendering():
    made = prompt(MarkdownSection("A", "$topic", key="a", params=Brief))

    assert code_of(lambda: made.render(Brief("\ud800"))) == "BAD_TEXT"
