"""The tasks of `scripted:demo` on the sample workbench: real tools, right numbers, nothing else
touched. Expected values are computed here from the files, without the product."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections import defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from docx import Document
from openpyxl import load_workbook
from pptx import Presentation

from backshop.app import Backshop
from backshop.base.paths import BenchPath
from backshop.models.wires.scripted import bundled

from .turns import Turn, play

TASKS = {task.id: task.prompt for task in bundled("demo").script.tasks if not task.follows}
FOLLOW_UPS = {task.follows: task.prompt for task in bundled("demo").script.tasks if task.follows}


class Sample:
    """A sample workbench, and both sides of its Draft."""

    def __init__(self, shop: Backshop) -> None:
        self.shop = shop
        self.id: str = shop.call("WorkbenchCreateSample", {})["workbench_id"]

    def play(self, text: str, mode: str = "agent") -> Turn:
        return play(self.shop, self.id, text, mode)

    def before(self, path: str) -> bytes:
        return self._read(self._state().published, path)

    def after(self, path: str) -> bytes:
        draft = self._state().draft
        assert draft is not None
        return self._read(draft.tree, path)

    def changes(self) -> dict[str, tuple[str, int]]:
        review = self.shop.call("ReviewGetChangeSet", {"workbench_id": self.id})
        return {one["path"]: (one["kind"], one["collateral"]) for one in review["entries"]}

    def rows(self, path: str) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(self.before(path).decode())))

    def has_draft(self) -> bool:
        return self._state().draft is not None

    def _state(self) -> Any:
        return self.shop.benches.desk.state(self.id)

    def _read(self, tree: Any, path: str) -> bytes:
        desk = self.shop.benches.desk
        return desk.store.blobs.read(desk.find(tree, BenchPath(path)).sha256)


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    with Backshop.open(tmp_path_factory.mktemp("demo") / "home") as opened:
        yield opened


@pytest.fixture
def sample(shop):
    return Sample(shop)


def members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def revenue(rows, key) -> dict[Any, Decimal]:
    found: dict[Any, Decimal] = defaultdict(Decimal)
    for row in rows:
        found[key(row)] += Decimal(row["amount"])
    return dict(found)


def euros(value: Decimal, digits: int = 2) -> str:
    return f"{round(value, digits):,}" if digits else f"{value:,.0f}"


@pytest.mark.rule("M15.6", "M19.45")
def test_totals_reach_a_new_sheet_and_the_charts_stay(sample):
    turn = sample.play(TASKS["totals"])

    assert sample.changes() == {"budget-2025.xlsx": ("MODIFIED", 0)}
    book: Any = load_workbook(io.BytesIO(sample.after("budget-2025.xlsx")), data_only=True)
    sheet = book["Sales 2025"]
    written = {(row[0], row[1]): row[4] for row in sheet.iter_rows(2, 49, 1, 5, values_only=True)}
    sales = sample.rows("sales-2025.csv")
    wanted = revenue(sales, lambda row: (row["region"], row["sale_date"][:7]))
    assert {key: Decimal(str(value)) for key, value in written.items()} == wanted
    total = sum(wanted.values(), Decimal())
    assert sheet["H6"].value == pytest.approx(float(total))
    assert sheet["J6"].value == pytest.approx(float(total) - book["Overview"]["B9"].value)
    before, after = (members(data("budget-2025.xlsx")) for data in (sample.before, sample.after))
    charts = [name for name in before if "/charts/" in name or "/drawings/" in name]
    sheets = [f"xl/worksheets/sheet{number}.xml" for number in (1, 2, 3, 4)]
    assert len(charts) >= 5
    assert {name: after[name] for name in charts + sheets} == {
        name: before[name] for name in charts + sheets
    }
    assert f"**{euros(total)}**" in turn.answer
    assert "50,000" in turn.answer


@pytest.mark.rule("M15.6", "F35.1")
def test_an_inserted_region_takes_sums_shares_and_charts_along(sample):
    turn = sample.play(TASKS["region"])

    assert sample.changes() == {"budget-2025.xlsx": ("MODIFIED", 0)}
    old, new = (
        load_workbook(io.BytesIO(data("budget-2025.xlsx")), data_only=True)
        for data in (sample.before, sample.after)
    )
    year = old["Plan"]["N8"].value + 240_000
    assert [new["Plan"].cell(7, col).value for col in (1, 2, 13, 14)] == [
        *("Export", 20_000, 20_000, 240_000)
    ]
    assert [new[sheet][cell].value for sheet, cell in (("Plan", "N9"), ("Overview", "B10"))] == [
        *(year, year)
    ]
    assert new["Overview"]["C8"].value == pytest.approx(240_000 / year)
    goods = new["Costs"]["C4"].value
    assert goods == round(year * 0.54)
    after = members(sample.after("budget-2025.xlsx"))
    refs = {ref for name in after if "/charts/" in name for ref in _refs(after[name])}
    assert {"Overview!$A$5:$A$9", "Overview!$B$5:$B$9", "Plan!$B$9:$M$9"} <= refs
    assert f"**{year:,}**" in turn.answer


def _refs(chart: bytes) -> list[str]:
    return re.findall(r"<c:f>(.*?)</c:f>", chart.decode())


@pytest.mark.rule("M15.6", "F36.1")
def test_a_chart_of_the_plan_is_drawn_and_no_cell_changes(sample):
    turn = sample.play(TASKS["chart"])

    assert sample.changes() == {"budget-2025.xlsx": ("MODIFIED", 0)}
    book: Any = load_workbook(io.BytesIO(sample.after("budget-2025.xlsx")))
    (chart,) = book["Plan"]._charts
    assert (type(chart).__name__, chart.grouping) == ("BarChart", "stacked")
    assert [one.val.numRef.f for one in chart.series] == [
        f"Plan!$B${row}:$M${row}" for row in (4, 5, 6, 7)
    ]
    before, after = (members(data("budget-2025.xlsx")) for data in (sample.before, sample.after))
    rows = re.compile(rb"<sheetData>.*</sheetData>", re.DOTALL)
    sheets = [name for name in before if "/worksheets/sheet" in name and name.endswith(".xml")]
    assert [rows.findall(after[name]) for name in sheets] == [
        rows.findall(before[name]) for name in sheets
    ]
    assert "**Plan by month**" in turn.answer


@pytest.mark.rule("M19.45", "B9.6", "B10.10", "W15.1")
def test_a_task_can_be_published_taken_back_or_rewound(sample):
    here = {"workbench_id": sample.id}
    first = sample.before("customer-feedback.xlsx")
    turn = sample.play(TASKS["translate"])
    written = sample.after("customer-feedback.xlsx")
    review = sample.shop.call("ReviewGetChangeSet", here)

    done = sample.shop.call("DraftPublish", {**here, "reviewed_tree": review["tree"]})
    published = sample.before("customer-feedback.xlsx")
    back = {**here, "checkpoint_id": done["checkpoint_id"]}
    sample.shop.call("CheckpointRestore", back)
    restored = sample.before("customer-feedback.xlsx")
    sample.play(TASKS["translate"])
    asked = sample.shop.call("WorkshopGetConversation", here)["messages"]
    question = [one["message_id"] for one in asked if one["type"] == "user_message"][-1]
    sample.shop.call("WorkshopUndoToMessage", {**here, "message_id": question})

    assert (turn.status, turn.has_draft) == ("complete", True)
    assert published == written != first
    assert restored == first
    assert not sample.has_draft()
    assert sample.before("customer-feedback.xlsx") == first
    assert sample.shop.call("EgressListEvents", here)["events"] == []


@pytest.mark.rule("M15.6")
def test_every_comment_is_translated_beside_the_german(sample):
    turn = sample.play(TASKS["translate"])

    assert sample.changes() == {"customer-feedback.xlsx": ("MODIFIED", 0)}
    old, new = (
        load_workbook(io.BytesIO(data("customer-feedback.xlsx")))["Answers"]
        for data in (sample.before, sample.after)
    )
    left = [[cell.value for cell in row] for row in old.iter_rows(1, 61, 1, 5)]
    assert [[cell.value for cell in row] for row in new.iter_rows(1, 61, 1, 5)] == left
    pairs = {(new.cell(row, 5).value, new.cell(row, 6).value) for row in range(2, 62)}
    assert len(pairs) == 12
    assert ("Der Reißverschluss klemmt.", "The zip gets stuck.") in pairs
    assert new["F1"].value == "comment_english"
    assert "60 of 60" in turn.answer


@pytest.mark.rule("M15.6")
def test_a_section_is_rewritten_and_tracked_changes_survive(sample):
    sample.play(TASKS["outlook"])

    assert sample.changes() == {"annual-report.docx": ("MODIFIED", 0)}
    before, after = (members(data("annual-report.docx")) for data in (sample.before, sample.after))
    assert {name for name in before if before[name] != after[name]} == {"word/document.xml"}
    old, new = (parts["word/document.xml"].decode() for parts in (before, after))
    tracked = re.compile(r"<w:(ins|del) .*?</w:\1>", re.DOTALL)
    assert [one[0] for one in tracked.finditer(new)] == [one[0] for one in tracked.finditer(old)]
    assert len(tracked.findall(new)) == 6
    start, end = ">Outlook<", ">Thanks<"
    assert new[: new.index(start)] == old[: old.index(start)]
    assert new[new.index(end) :] == old[old.index(end) :]
    text = "\n".join(
        one.text for one in Document(io.BytesIO(sample.after("annual-report.docx"))).paragraphs
    )
    sales = sample.rows("sales-2025.csv")
    total = revenue(sales, lambda row: "all")["all"]
    late = revenue(sales, lambda row: row["sale_date"][5:7] > "06")[True]
    assert f"{euros(total, 0)} euros with 50,000 sales" in text
    assert f"{late / total * 100:.0f} % of it came in the second half" in text
    assert "more or less" not in text


@pytest.mark.rule("M15.6")
def test_slides_carry_the_figures_of_the_table(sample):
    turn = sample.play(TASKS["slides"])

    assert sample.changes() == {"board-deck.pptx": ("MODIFIED", 0)}
    deck: Any = Presentation(io.BytesIO(sample.after("board-deck.pptx")))
    slides = [[shape.text_frame.text for shape in slide.placeholders] for slide in deck.slides]
    sales = sample.rows("sales-2025.csv")
    regions = revenue(sales, lambda row: row["region"])
    categories = revenue(sales, lambda row: row["category"])
    ranked = sorted(regions, key=lambda one: -regions[one])
    assert slides[2] == [
        "2025 by region",
        "\n".join(f"{one}: {euros(regions[one], 0)} euros" for one in ranked),
    ]
    best = max(categories, key=lambda one: categories[one])
    assert slides[3][1].startswith(f"{best}: {euros(categories[best], 0)} euros")
    assert [slide[0] for slide in slides] == [
        *("Board meeting", "Agenda", "2025 by region", "2025 by category", "Shops"),
        "What we decide today",
    ]
    assert best in turn.answer


@pytest.mark.rule("M15.6")
def test_orders_and_payments_are_reconciled_into_a_report(sample):
    turn = sample.play(TASKS["reconcile"])

    added = {"reconciliation.docx": ("ADDED", 0), "reconciliation.xlsx": ("ADDED", 0)}
    assert sample.changes() == added
    ordered = {row["order_id"]: Decimal(row["amount"]) for row in sample.rows("orders.csv")}
    paid = revenue(sample.rows("payments.csv"), lambda row: row["order_id"])
    off = {
        one: ordered.get(one, Decimal()) - paid.get(one, Decimal())
        for one in ordered.keys() | paid.keys()
        if ordered.get(one) != paid.get(one)
    }
    report: Any = Document(io.BytesIO(sample.after("reconciliation.docx")))
    table = [[cell.text for cell in row.cells] for row in report.tables[0].rows]
    assert {row[0]: Decimal(row[4].replace(",", "")) for row in table[1:]} == off
    assert f"**{len(off)}** do not agree: 7 not paid, 7 with another amount, 7 paid" in turn.answer
    assert euros(sum(off.values(), Decimal())) in turn.answer
    book: Any = load_workbook(io.BytesIO(sample.after("reconciliation.xlsx")))
    assert book.sheetnames == ["Ledger", "Differences"]
    assert book["Ledger"].max_row == 1 + 420 + 423


@pytest.mark.rule("M15.6", "W11.9")
def test_a_question_is_answered_from_the_files_and_nothing_is_written(sample):
    turn = sample.play(TASKS["question"])

    late = [row for row in sample.rows("sales-2025.csv") if row["sale_date"] >= "2025-07"]
    categories = revenue(late, lambda row: row["category"])
    best = max(categories, key=lambda one: categories[one])
    assert f"**{best}** earned most: {euros(categories[best])} euros" in turn.answer
    assert "deduct 2 percent of the price of the late goods, up to 10 percent" in turn.answer
    assert not sample.has_draft()
    assert {phase for phase, _ in turn.tools} == {"research"}


@pytest.mark.rule("M15.6")
@pytest.mark.parametrize("text", ["Tell me a joke", "Translate the report into French"])
def test_anything_else_is_answered_by_saying_what_this_is(sample, text):
    turn = sample.play(text)

    assert "I am the offline demo: a script, not a model." in turn.answer
    assert all(prompt in turn.answer for prompt in TASKS.values())
    assert "backshop provider set-key" in turn.answer
    assert turn.tools == ()
    assert not sample.has_draft()


@pytest.mark.rule("M15.6", "W1.5")
def test_in_ask_mode_questions_are_answered_and_nothing_is_written(sample):
    answers = {name: sample.play(prompt, "ask").answer for name, prompt in TASKS.items()}

    assert "**Jackets** earned most" in answers.pop("question")
    assert all("nothing is changed in Ask mode" in text for text in answers.values())
    assert not sample.has_draft()


@pytest.mark.rule("M15.6")
def test_a_task_on_other_files_says_that_it_is_not_possible(shop):
    bench = shop.call("WorkbenchCreate", {"name": "Mine"})["workbench_id"]

    for prompt in TASKS.values():
        turn = play(shop, bench, prompt)

        assert "needs the files of the sample workbench" in turn.answer
        assert {phase for phase, _ in turn.tools} == {"research"}
    assert not shop.call("DraftGetState", {"workbench_id": bench})["has_draft"]


@pytest.mark.rule("M15.9", "W24.1", "W24.6", "B24.5")
def test_a_round_of_comments_changes_the_draft_of_the_demo(sample):
    shop, about = sample.shop, {"workbench_id": sample.id}
    sample.play(TASKS["totals"])
    wish = {"path": "budget-2025.xlsx", "text": "Bold, please.", "at": "'Sales 2025'!G2:G5"}
    shop.call("ReviewAddComment", {**about, **wish})

    asked = shop.call("WorkshopRequestChanges", {**about, "text": FOLLOW_UPS["totals"]})
    done = shop.call("WorkshopRunAgent", {**about, "message_id": asked["message_id"]})

    book = openpyxl.load_workbook(io.BytesIO(sample.after("budget-2025.xlsx")))
    sheet = book["Sales 2025"]
    assert (done["status"], done["has_draft"]) == ("complete", True)
    assert [sheet[f"K{row}"].value for row in (1, 2, 6)] == ["Per cent", "=J2/I2", "=J6/I6"]
    assert sheet["G3"].font.bold
    (comment,) = shop.call("ReviewListComments", about)["comments"]
    assert (comment["quote"], comment["is_touched"]) == ("North · South · East · West", True)
    cells = shop.call(
        "ReviewGetXlsxCellDiff", {**about, "path": "budget-2025.xlsx", "since": "last_look"}
    )["body"]["sheets"]
    changed = {one["cell"] for sheet in cells for one in sheet["cells"]}
    assert changed == {*(f"K{row}" for row in range(1, 7)), *(f"G{row}" for row in range(2, 6))}


@pytest.mark.rule("M15.6")
def test_tasks_follow_one_another_and_what_is_there_is_left_alone(sample):
    here = {"workbench_id": sample.id}
    for task in ("region", "totals", "chart", "outlook"):
        sample.play(TASKS[task])
        sample.shop.call("DraftPublish", here)
    files = sample.before("budget-2025.xlsx"), sample.before("annual-report.docx")

    again = [sample.play(TASKS[task]) for task in ("region", "totals", "chart", "outlook")]

    book: Any = load_workbook(io.BytesIO(files[0]), data_only=True)
    plan = {row[0].value: row[13].value for row in book["Plan"]["A4:N9"]}
    compared = {row[0].value: row[2].value for row in book["Sales 2025"]["G2:I5"]}
    assert compared == {name: plan[name] for name in ("North", "South", "East", "West")}
    assert len(book["Plan"]._charts[0].series) == 5
    assert all(turn.answer.startswith("Nothing is left to do: ") for turn in again)
    assert not sample.has_draft()
    wish = {**here, "path": "budget-2025.xlsx", "new_path": "plan.xlsx"}
    sample.shop.call("WorkbenchFileRename", wish)
    missing = sample.play(TASKS["region"]).answer
    assert "one of them is missing or has changed" in missing
    assert TASKS["slides"] in missing
    assert TASKS["region"] not in missing


@pytest.mark.rule("M15.6", "W25.3")
def test_a_workflow_saved_from_a_task_runs_on_another_file(shop, tmp_path):
    first = Sample(shop)
    first.play(TASKS["translate"])
    saved = shop.workshop(first.id).save_workflow("English")
    (tmp_path / "may answers.xlsx").write_bytes(first.before("customer-feedback.xlsx"))
    bench = shop.workshop(shop.call("WorkbenchCreate", {"name": "May"})["workbench_id"])
    bench.add(tmp_path / "may answers.xlsx")
    bench.use_model("scripted:demo")

    inputs = {"customer_feedback": "may answers.xlsx"}
    done = bench.send("The answers of May", workflow=saved.workflow_id, inputs=inputs)

    assert (done.status, [one.path for one in bench.review().entries]) == (
        "complete",
        ["may answers.xlsx"],
    )
    assert "- Written: 60" in done.text
    bench.discard()


def test_the_same_message_twice_does_the_same(shop):
    turns = [Sample(shop).play(TASKS["reconcile"]) for _ in range(2)]

    assert turns[0] == turns[1]


def test_the_page_for_beginners_has_the_sentences_of_the_script():
    page = (Path(__file__).parents[2] / "docs" / "start" / "documents.md").read_text()

    assert [prompt for prompt in TASKS.values() if f"| {prompt} |" not in page] == []
