"""Facts gathered from a real bench become prompts; files that resist do not stop a call."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from openpyxl import Workbook

from backshop.base.errors import BackshopError
from backshop.bench import TOOLS, Manifests, Workspace
from backshop.models import Attendant, scripted
from backshop.prompts import Session, ToolContext, invoke
from backshop.workshop.prompt.bundled import build_prompt
from backshop.workshop.prompt.compression import compress
from backshop.workshop.prompt.excerpt import Excerpt, Line
from backshop.workshop.prompt.gathering import Call, Gatherer
from backshop.workshop.prompt.inputs import Artifacts

from ..bench.conftest import AGENT, Room, room  # noqa: F401

WINDOW = 200_000


def book() -> bytes:
    made = Workbook()
    sheet = made.create_sheet("Data", 0)
    sheet.append(["name", "amount"])
    sheet.append(["a", 1])
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def text_of(room: Room, key="research", **fields) -> str:  # noqa: F811
    gathered = gatherer(room).gather(
        Call(key=key, bench_id=room.id, window_tokens=WINDOW, **{"request": "Go on", **fields})
    )
    return build_prompt(key, gathered.facts).render(session=Session()).text


def gatherer(room: Room) -> Gatherer:  # noqa: F811
    return Gatherer(room.shop.benches, room.shop.clock)


@pytest.mark.rule("W6.4", "W6.5", "W23.6", "W23.7", "F5.10")
def test_files_stand_in_the_prompt_by_map_text_or_placeholder(room):  # noqa: F811
    room.add(
        {
            "book.xlsx": book(),
            "bad.xlsx": b"PK\x03\x04 not a workbook",
            "small.md": "s" * 4_000,
            "large.md": "l" * 4_001,
            "tiny.csv": "a,b\n1,2\n",
            "blob.bin": b"\0\1\2",
        }
    )

    text = text_of(room)

    assert "book.xlsx (xlsx" in text
    assert '<map name="book.xlsx"' in text
    assert '<file name="small.md"' in text
    assert '<map name="large.md"' in text
    assert '<map name="tiny.csv"' in text
    line = next(one for one in text.splitlines() if one.startswith("- bad.xlsx"))
    assert "unavailable" in line
    tool = next(one for one in TOOLS if one.name == "get_file_map")
    context = ToolContext(workspace=Workspace(room.shop.benches, room.id, AGENT))
    asked = invoke(tool, tool.decode({"path": "bad.xlsx"}), context=context)
    assert (asked.ok, asked.code) == (False, "corrupt_file")  # who asks for the map gets the error
    line = next(one for one in text.splitlines() if one.startswith("- blob.bin"))
    assert "content unavailable (opaque)" in line


class NoTree:
    """A bench whose tree cannot be read."""

    published = draft = None

    @property
    def desk(self):
        return self

    def state(self, bench_id):
        return self

    def entries(self, tree_id):
        raise BackshopError("it is gone")


@pytest.mark.rule("W6.6", "P7.4", "W23.5")
def test_a_tree_that_cannot_be_read_is_an_error(room):  # noqa: F811
    broken: Any = NoTree()
    gathering = Gatherer(room.shop.benches, room.shop.clock, manifests=Manifests(broken))

    with pytest.raises(BackshopError) as caught:
        gathering.gather(Call(key="research", bench_id=room.id, window_tokens=WINDOW))

    assert (caught.value.code, caught.value.reason) == ("FILE_READ_FAILED", "manifest_unavailable")


@pytest.mark.rule("W6.2")
def test_each_phase_sees_the_files_it_needs(room):  # noqa: F811
    room.add({"one.csv": "a\n1\n", "two.csv": "a\n1\n", "three.csv": "a\n1\n"})
    room.write({"two.csv": "a\n2\n"})
    research = Artifacts(research="Only one.csv matters.")

    whole = text_of(room, "implement")
    plan = text_of(room, "plan", artifacts=research)
    summary = text_of(room, "summary")
    none = text_of(room, "compression")

    assert whole.count("<map ") == 3
    assert ('<map name="one.csv"' in plan, plan.count("<map ")) == (True, 1)
    assert ('<map name="two.csv"' in summary, summary.count("<map ")) == (True, 1)
    assert none.count("<map ") == 0
    for text in (whole, plan, summary, none):
        assert "modified in the Draft" in text
        assert text.count("\n- ") >= 3


@pytest.mark.rule("M14.3", "W6.8", "W6.14")
def test_a_map_stands_whole_or_is_pointed_at(room):  # noqa: F811
    rows = "".join(f"{n},{n}\n" for n in range(50))
    room.add({f"t{n}.csv": ",".join(f"c{m}" for m in range(n + 2)) + f"\n{rows}" for n in range(9)})

    def maps(window: int) -> tuple[set[str], str]:
        gathered = gatherer(room).gather(
            Call(key="research", bench_id=room.id, window_tokens=window, request="Go on")
        )
        text = build_prompt("research", gathered.facts).render(session=Session()).text
        return set(re.findall(r"<map .*?</map", text, re.DOTALL)), text

    whole, _ = maps(200_000)
    some, text = maps(6_000)

    assert len(whole) == 9
    assert some < whole
    assert some != set()
    assert text.count("map: use get_file_map") == 9 - len(some)
    assert all(f"- t{n}.csv" in text for n in range(9))


@pytest.mark.rule("B14.15", "B15.4", "B15.5", "W6.9", "W6.11", "W23.10", "W23.11", "P11.76")
@pytest.mark.parametrize("key", ["research", "plan", "implement", "summary", "reply", "proposal"])
def test_context_items_are_in_every_phase_in_order(room, key):  # noqa: F811
    def item(category, files):
        files = [{"path": path, "content": content} for path, content in files.items()]
        room.call("ContextUpdateDirect", category=category, files=files, create=True)

    item("situation", {"context.md": "MARK-SITUATION"})
    for name in ("company-context", "department-context", "document-style"):
        head = f"---\nname: {name}\ndescription: d\n---\n"
        item(name, {"SKILL.md": f"{head}## Formatting Rules\n- MARK-{name}\n"})

    plain = text_of(room, key)
    styled = text_of(room, key, request="Make a spreadsheet")

    marks = ["MARK-SITUATION", "MARK-company", "MARK-department", "MARK-document-style"]
    places = [plain.index(mark) for mark in marks]
    assert places == sorted(places)
    assert "xlsx-style" not in plain
    assert '<workbench-skill name="document-style">' not in styled
    assert styled.count('<workbench-skill name="xlsx-style-custom">') == 1


@pytest.mark.rule("W16.3", "W6.7")
def test_an_empty_bench_is_known_to_be_empty(room):  # noqa: F811
    gathered = gatherer(room).gather(Call(key="research", bench_id=room.id, window_tokens=WINDOW))

    assert gathered.is_empty


@pytest.mark.rule("W17.1", "W23.82")
def test_the_conversation_is_told_with_the_request_at_its_end(room):  # noqa: F811
    lines = (
        Line("m1", "user", "first"),
        Line("m2", "assistant", "done"),
        Line("m3", "user", "now"),
    )
    gathered = gatherer(room).gather(
        Call(
            key="research",
            bench_id=room.id,
            window_tokens=WINDOW,
            excerpt=Excerpt(lines),
            request="now",
        )
    )
    adapter = scripted([{"respond": {"text": "ok"}}])

    adapter.attended(
        build_prompt("research", gathered.facts),
        attendant=Attendant(),
        conversation=gathered.facts.conversation,
        session=Session(),
    )

    said = [one.text for one in adapter.requests[0].dialogue]
    assert said == ["first", "done", "now"]


LONG = Excerpt(
    tuple(Line(f"m{n}", "user" if n % 2 == 0 else "assistant", f"text {n}") for n in range(20)),
    "m0",
)


def compressed(room: Room, *steps):  # noqa: F811
    adapter = scripted(steps)
    found = compress(
        LONG,
        bench_id=room.id,
        window_tokens=WINDOW,
        gatherer=gatherer(room),
        adapter=adapter,
        session=Session(),
    )
    return adapter, found


@pytest.mark.rule("M14.2", "W6.15", "M19.37")
def test_older_messages_are_summed_up_by_one_call(room):  # noqa: F811
    room.add({"a.csv": "a\n1\n"})

    adapter, found = compressed(room, {"respond": {"text": " In short. "}})

    (request,) = adapter.requests
    assert found is not None
    assert (found.text, found.fallback, found.count) == ("In short.", None, 12)
    assert (found.first_id, found.last_id) == ("m0", "m11")
    assert [one.text for one in found.excerpt.lines] == [
        "In short.",
        *(f"text {n}" for n in range(12, 20)),
    ]
    assert request.purpose.value == "compression"
    assert request.max_output_tokens == 2_000
    assert "Person: text 0" in request.system_text
    assert "- a.csv" in request.system_text
    assert "<map " not in request.system_text
    assert "text 12" not in request.system_text


@pytest.mark.rule("M14.4", "W17.3", "M19.38")
@pytest.mark.parametrize("error", ["auth", "empty", "context_length", "refusal"])
def test_a_failing_call_leaves_them_out_and_says_so(room, error):  # noqa: F811
    steps = [{"respond": {"error": error}}] * (2 if error == "empty" else 1)

    _, found = compressed(room, *steps)

    assert found is not None
    assert (found.fallback, found.text) == ("omitted", "")
    assert "12 earlier messages are left out" in found.excerpt.lines[0].text
    assert "left out" in found.said
