"""The model sees results whole while fresh, then receipts; the journal gets every call."""

from __future__ import annotations

from dataclasses import dataclass

from backshop.models import scripted
from backshop.models.messages import Role
from backshop.prompts import MarkdownSection, Prompt, Session, Tool, ToolResult
from backshop.workshop.tool.tool_result import ToolAttendant


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

    def called(self, called, receipt):
        number = len(self.entries) + 40
        self.entries[-1] = (number, called.ok, len(called.text), receipt(number))
        return number

    def warned(self, call, count):
        raise AssertionError

    def said(self, text):
        raise AssertionError


def test_results_age_from_request_to_request():
    names = ["a.txt", "b.txt", "c.txt", "d.txt", "e.txt"]
    reads = [
        {
            "respond": {
                "tool_calls": [{"name": "read_file", "arguments": {"path": name, "size": 15_000}}]
            }
        }
        for name in names
    ]
    adapter, journal = scripted([*reads, {"respond": {"text": "done"}}]), Journal()

    adapter.attended(
        PROMPT, attendant=ToolAttendant(journal), session=Session(), parse_output=False
    )

    *_, last = adapter.requests
    shown = [one.text for one in last.messages if one.role is Role.TOOL]
    assert shown[0].startswith('<data name="read_file a.txt #41" id="')
    assert "Receipt of read_file, entry 41, 15000 bytes." in shown[0]
    assert [len(text) > 15_000 for text in shown] == [False, False, True, True, True]
    assert [entry[:3] for entry in journal.entries] == [(41 + n, True, 15_000) for n in range(5)]
    assert "entry 43" in journal.entries[2][3]
