"""The model sees each result once and for all, long ones as receipts; the journal gets all."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from itertools import pairwise

import pytest

from backshop.base.media.image import PNG, Image
from backshop.models import WINDOW_FULL, scripted
from backshop.models.messages import Role
from backshop.prompts import MarkdownSection, Prompt, Session, Tool, ToolResult
from backshop.workshop.tool.allowance import Allowance
from backshop.workshop.tool.declaration import Declared
from backshop.workshop.tool.phase import PHASES, PhaseKey
from backshop.workshop.tool.tool_result import Manner, ToolAttendant


@dataclass(frozen=True)
class Size:
    path: str
    size: int = 0


def read(params, *, context):
    return ToolResult(ok=True, message=f"{params.path[0] * params.size}")


READ = Tool("read_file", "Read.", Size, read, effects="read")
PROMPT: Prompt[None] = Prompt(
    "tests/x",
    "y",
    sections=[MarkdownSection("Do", "It.", key="do", tools=(READ,))],
    purpose="research",
)


class Journal:
    def __init__(self):
        self.entries = []

    def tree_id(self):
        return ""

    def give_up(self, call):
        return True

    def calling(self, call):
        self.entries.append(call.name)

    def recorded(self, call):
        return None

    def called(self, called):
        number = len(self.entries) + 40
        self.entries[-1] = (number, called.ok, len(called.text))
        return number

    def warned(self, call, count):
        raise AssertionError

    def said(self, text):
        raise AssertionError

    def progressed(self, text):
        pass


@dataclass
class Space:
    declared: Declared = field(default_factory=Declared)


def attendant(journal, window=200_000):
    return ToolAttendant(
        journal,
        Allowance(PHASES[PhaseKey.RESEARCH]),
        workspace=Space(),  # type: ignore[arg-type]  # tools of these tests use none
        manner=Manner(window_tokens=window),
    )


def reads(*sizes):
    return [
        {
            "respond": {
                "tool_calls": [{"name": "read_file", "arguments": {"path": name, "size": size}}]
            }
        }
        for name, size in zip(("a.txt", "b.txt", "c.txt", "d.txt", "e.txt"), sizes, strict=False)
    ]


@pytest.mark.rule("W8.5", "W6.16", "W23.19")
def test_results_are_cut_when_they_are_first_sent_and_never_later():
    steps = [*reads(15_000, 15_000, 17_000, 15_000, 2_000), {"respond": {"text": "done"}}]
    adapter, journal = scripted(steps), Journal()

    adapter.attended(PROMPT, attendant=attendant(journal), session=Session(), parse_output=False)

    *_, last = adapter.requests
    shown = [one.text for one in last.messages if one.role is Role.TOOL]
    assert shown[2].startswith('<data name="read_file c.txt #43" id="')
    assert "Receipt of read_file, entry 43, 17000 bytes." in shown[2]
    assert [len(text) > 15_000 for text in shown] == [True, True, False, True, False]
    for before, after in pairwise(adapter.requests):
        assert after.messages[: len(before.messages)] == before.messages
    sizes = (15_000, 15_000, 17_000, 15_000, 2_000)
    assert journal.entries == [(41 + n, True, size) for n, size in enumerate(sizes)]


@pytest.mark.rule("W8.5")
def test_a_small_window_gets_receipts_of_what_a_large_one_gets_whole():
    adapter, journal = scripted([*reads(2_000, 4_000), {"respond": {"text": "done"}}]), Journal()

    adapter.attended(
        PROMPT, attendant=attendant(journal, 8_192), session=Session(), parse_output=False
    )

    *_, last = adapter.requests
    shown = [one.text for one in last.messages if one.role is Role.TOOL]
    assert ["Receipt of read_file" in one for one in shown] == [False, True]


@pytest.mark.rule("W26.4", "M16.4", "W8.5")
@pytest.mark.parametrize(("is_shown", "requests", "finish"), [(0, 6, "stop"), (1, 4, WINDOW_FULL)])
def test_pictures_count_in_the_window(is_shown, requests, finish):
    head = struct.pack(">I4sII", 13, b"IHDR", 1_200, 1_200)
    picture = Image(PNG, b"\x89PNG\r\n\x1a\n" + head) if is_shown else None

    def view(params, *, context):
        return ToolResult(ok=True, message="a page", image=picture)

    shows = Tool("read_file", "Show.", Size, view, effects="read")
    prompt: Prompt[None] = Prompt(
        "tests/x",
        "v",
        sections=[MarkdownSection("Do", "It.", key="do", tools=(shows,))],
        purpose="research",
    )
    adapter = scripted([*reads(1, 2, 3, 4, 5), {"respond": {"text": "done"}}])

    answer = adapter.attended(
        prompt, attendant=attendant(Journal(), 10_000), session=Session(), parse_output=False
    )

    assert (len(adapter.requests), answer.finish_reason) == (requests, finish)


@pytest.mark.rule("W7.1", "W8.3", "W23.14")
def test_a_tool_that_is_offered_and_not_of_the_phase_is_refused_with_the_phases_sentence():
    calls = [{"name": "write_text_file", "arguments": {"path": "a.txt"}}]
    adapter = scripted([{"respond": {"tool_calls": calls}}, {"respond": {"text": "done"}}])
    journal, ran = Journal(), []

    def write(params, *, context):
        ran.append(params)
        return ToolResult(ok=True, message="ok")

    wrote = Tool("write_text_file", "Write.", Size, write, effects="write")
    prompt: Prompt[None] = Prompt(
        "tests/x",
        "z",
        sections=[MarkdownSection("Do", "It.", key="do", tools=(READ, wrote))],
        purpose="research",
    )

    adapter.attended(prompt, attendant=attendant(journal), session=Session(), parse_output=False)

    told = adapter.requests[-1].messages[-1].text
    assert "tool_not_available" in told
    assert PHASES[PhaseKey.RESEARCH].why in told
    assert (ran, journal.entries[0][1]) == ([], False)
