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

    text = text_of(room, request="Compare book, bad.xlsx, small, large, tiny and blob")

    assert "book.xlsx (xlsx" in text
    assert '<map name="book.xlsx"' in text
    assert '<file name="small.md"' in text
    assert '<map name="large.md"' in text
    assert '<map name="tiny.csv"' in text
    line = next(one for one in text.splitlines() if one.startswith("- bad.xlsx (xlsx, 19 bytes)"))
    assert "unavailable" in line
    tool = next(one for one in TOOLS if one.name == "get_file_map")
    context = ToolContext(workspace=Workspace(room.shop.benches, room.id, AGENT))
    asked = invoke(tool, tool.decode({"path": "bad.xlsx"}), context=context)
    assert (asked.ok, asked.code) == (False, "corrupt_file")  # who asks for the map gets the error
    line = next(one for one in text.splitlines() if one.startswith("- blob.bin"))
    assert "content unavailable: opaque" in line


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


def sent(room: Room, key="research", **fields) -> tuple[str, ...]:  # noqa: F811
    """Return the texts of a call: the system's, that of the turn, that of the phase."""
    call = {"request": "Go on", "window_tokens": WINDOW, **fields}
    gathered = gatherer(room).gather(Call(key=key, bench_id=room.id, **call))
    rendered = build_prompt(key, gathered.facts).render(session=Session())
    return (rendered.system_text, *rendered.user_texts)


@pytest.mark.rule("W6.2", "W6.4", "W6.16")
def test_each_phase_sees_the_turns_files_alike_and_then_what_it_needs(room):  # noqa: F811
    room.add({"one.csv": "a\n1\n", "two.csv": "a\n1\n", "three.csv": "a\n1\n"})
    room.add({f"x{n}.csv": f"a\n{n}\n" for n in range(9)})
    room.write({"two.csv": "a,b\n2,3\n", "new.md": "hello"})
    research = Artifacts(research="Only one.csv matters.")

    asked = {"request": "Look into three.csv"}
    whole = sent(room, "implement", **asked)
    plan = sent(room, "plan", artifacts=research, **asked)
    summary = sent(room, "summary", **asked)
    none = sent(room, "compression", **asked)

    assert whole[:2] == plan[:2] == summary[:2]
    assert "- two.csv (csv)" in whole[0]
    assert "new.md" not in whole[0] + whole[1]  # the turn did not begin with it
    assert ('<map name="three.csv"' in whole[1], whole[1].count("<map ")) == (True, 1)
    for text in (whole[2], plan[2], summary[2], none[-1]):
        assert ("two.csv" in text) is (text is not none[-1])
    assert ('<map name="two.csv"' in whole[2], '<file name="new.md"' in whole[2]) == (True, True)
    assert ('<map name="one.csv"' in plan[2], plan[2].count("<map ")) == (True, 2)
    assert "- two.csv (csv, 8 bytes, modified in the Draft)" in summary[2]
    assert "- new.md (text, 5 bytes, added in the Draft)" in summary[2]
    assert summary[2].count("<map ") == "".join(none).count("<map ") == 0


@pytest.mark.rule("W6.8")
def test_of_few_files_all_are_at_hand_of_many_those_spoken_of(room):  # noqa: F811
    room.add({f"t{n}.csv": "a\n1\n" for n in range(3)})
    assert sent(room)[1].count("<map ") == 3

    room.add({f"u{n}.csv": "a,b\n1,2\n" for n in range(9)})
    said = Excerpt((Line("m1", "user", "What is in u3.csv?"), Line("m2", "assistant", "u4.csv")))
    texts = sent(room, excerpt=said, request="And in t1.csv?")
    assert sorted(re.findall(r'<map name="(\w+)', texts[1])) == ["t1", "u3"]

    long_ago = Excerpt((*said.lines, *(Line(f"m{n}", "user", "Yes") for n in range(3, 6))))
    texts = sent(room, excerpt=long_ago, request="And in t1.csv?")
    assert re.findall(r'<map name="(\w+)', texts[1]) == ["t1"]


@pytest.mark.rule("M14.3", "W6.8", "W6.14")
def test_a_map_of_a_file_at_hand_stands_whole_or_is_pointed_at(room):  # noqa: F811
    rows = "".join(f"{n},{n}\n" for n in range(50))
    room.add({f"t{n}.csv": ",".join(f"c{m}" for m in range(n + 2)) + f"\n{rows}" for n in range(9)})
    asked = " ".join(f"t{n}.csv" for n in range(9))

    def maps(window: int) -> tuple[set[str], str]:
        texts = sent(room, window_tokens=window, request=asked)
        return set(re.findall(r"<map .*?</map", texts[1], re.DOTALL)), texts[1]

    whole, _ = maps(200_000)
    some, text = maps(6_000)

    assert len(whole) == 9
    assert some < whole
    assert some != set()
    assert text.count("map: use get_file_map") == 9 - len(some)
    assert all(f"- t{n}.csv" in text for n in range(9))


@pytest.mark.rule("B15.4", "W6.11")
def test_guides_and_operations_are_those_of_the_kinds_in_question(room):  # noqa: F811
    room.add({"plan.xlsx": book(), **{f"n{n}.md": "x" for n in range(5)}})

    for key in ("work", "implement", "proposal"):
        assert "xlsx_operations, each" not in "".join(sent(room, key, request="Sum up n1.md"))
        asked = sent(room, key, request="Sum up the plan")[2]
        assert '<workbench-skill name="xlsx-style-skill">' in asked
        assert asked.count("Operations of xlsx_operations") == 1  # the guide holds them
        assert "docx-style" not in asked
    for key, mode in (("research", "agent"), ("summary", "agent"), ("work", "ask")):
        reading = "".join(sent(room, key, request="Sum up the plan", mode=mode))
        assert "xlsx-style" not in reading  # nothing is written there
    wished = sent(room, "work", request="Write a Word document from n1.md")[2]
    assert '<workbench-skill name="docx-style-skill">' in wished
    assert "xlsx-style" not in wished


@pytest.mark.rule("W6.11", "W6.14")
def test_a_small_window_is_told_what_is_left_out_and_keeps_the_persons_style(room):  # noqa: F811
    head = "---\nname: document-style\ndescription: d\n---\n"
    files = [{"path": "SKILL.md", "content": f"{head}## Formatting Rules\n- MARK-STYLE\n"}]
    room.call("ContextUpdateDirect", category="document-style", files=files, create=True)
    room.add({"plan.xlsx": book(), **{f"n{n}.md": "x" for n in range(5)}})

    large = sent(room, "work", request="Sum up the plan")
    assert ("MARK-STYLE" in large[0], "MARK-STYLE" in large[2]) == (False, True)
    assert "left out here" not in large[2]

    middle = sent(room, "work", request="Sum up the plan", window_tokens=5_500)
    assert "Operations of xlsx_operations" in middle[2]
    assert "The style guide of xlsx files is left out here" in middle[2]
    assert ("MARK-STYLE" in middle[0], "MARK-STYLE" in middle[2]) == (True, False)

    small = sent(room, "work", request="Sum up the plan", window_tokens=2_000)
    assert "The style guide and the operations of xlsx files are left out here" in small[2]
    assert "describe_operations" in small[2]
    assert "MARK-STYLE" in small[0]
    for key in ("research", "summary"):
        assert sent(room, key, request="Sum up the plan", window_tokens=2_000)[0] == small[0]


@pytest.mark.rule("B14.15", "B15.4", "B15.5", "W6.9", "W6.11", "W23.10", "W23.11", "P11.76")
@pytest.mark.parametrize(
    ("key", "guides"),
    [
        *(("research", 0), ("plan", 0), ("implement", 1), ("summary", 0)),
        *(("work", 1), ("reply", 0), ("proposal", 1)),
    ],
)
def test_context_items_are_in_every_phase_in_order(room, key, guides):  # noqa: F811
    def item(category, files):
        files = [{"path": path, "content": content} for path, content in files.items()]
        room.call("ContextUpdateDirect", category=category, files=files, create=True)

    item("situation", {"context.md": "MARK-SITUATION"})
    for name in ("company-context", "department-context", "document-style"):
        head = f"---\nname: {name}\ndescription: d\n---\n"
        item(name, {"SKILL.md": f"{head}## Formatting Rules\n- MARK-{name}\n"})

    plain = text_of(room, key)
    styled = text_of(room, key, request="Make a spreadsheet")  # of a kind nobody has yet

    marks = ["MARK-SITUATION", "MARK-company", "MARK-department", "MARK-document-style"]
    places = [plain.index(mark) for mark in marks]
    assert places == sorted(places)
    assert "xlsx-style" not in plain
    assert '<workbench-skill name="document-style">' not in styled
    assert styled.count('<workbench-skill name="xlsx-style-custom">') == guides


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

    said = adapter.requests[0].dialogue
    assert [one.text for one in said[:3]] == ["first", "done", "now"]
    assert [one.is_context for one in said] == [False, False, False, True, True]


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
    said = "\n".join(one.text for one in request.messages)
    assert "Person: text 0" in said
    assert "- a.csv" in request.system_text
    assert "<map " not in said
    assert "text 12" not in said


@pytest.mark.rule("M14.4", "W17.3", "M19.38")
@pytest.mark.parametrize("error", ["auth", "empty", "context_length", "refusal"])
def test_a_failing_call_leaves_them_out_and_says_so(room, error):  # noqa: F811
    steps = [{"respond": {"error": error}}] * (2 if error == "empty" else 1)

    _, found = compressed(room, *steps)

    assert found is not None
    assert (found.fallback, found.text) == ("omitted", "")
    assert "12 earlier messages are left out" in found.excerpt.lines[0].text
    assert "left out" in found.said
