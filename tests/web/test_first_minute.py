"""The first minute: an empty bench, no model yet, and what there is to ask about new files."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.models.provider import Reply, chat, serving
from tests.web.accessible import violations
from tests.web.browsing import serving as web

from backshop.bench import Bench
from backshop.bench.requests import WorkbenchFilesList
from backshop.models.providers import listening, provider
from backshop.web.pages.suggestion import suggested

SALES = "day,region,amount\n2025-01-02,north,12.5\n2025-02-03,south,9\n"
LISTED = json.dumps({"object": "list", "data": [{"id": "qwen", "max_model_len": 8192}]}).encode()


@pytest.mark.needs("browser")
@pytest.mark.timeout(180)
@pytest.mark.rule("U3.22", "U3.23", "M2.6", "M6.11")
def test_an_empty_bench_takes_files_says_what_to_ask_and_finds_a_model(
    served, new_page, files, monkeypatch
):
    bench = served.bench("New")
    page = new_page(f"/bench/{bench}")
    page.get_by_role("heading", name="Drop files or a folder here").wait_for()
    found = violations(page)
    shown = page.locator("#model").evaluate("one => one.selectedOptions[0].textContent")
    (files / "sales.csv").write_text(SALES, encoding="utf-8")
    page.set_input_files("#pick-files", [files / "sales.csv", files / "notes.md"])
    asked = page.locator("[data-suggest]")
    asked.first.wait_for(timeout=30_000)
    suggestions = asked.all_inner_texts()
    asked.first.click()
    page.locator("#message").press("Enter")  # nobody can answer: nothing is sent, nothing is lost
    page.wait_for_function("() => document.activeElement?.id === 'model-ways'")
    kept = page.locator("#message").input_value()
    said = served.call("WorkshopGetConversation", workbench_id=bench)["messages"]

    told = Reply([LISTED], content_type="application/json")
    with serving(told, Reply(chat("yes"))) as server:
        here = {"vllm": server.url, "custom": ""}
        monkeypatch.setattr(listening, "PRESETS", here)
        monkeypatch.setattr(provider, "PRESETS", here)
        page.get_by_role("button", name="Look for one").click()
        page.locator("#found-servers", has_text="vLLM").wait_for()
        page.get_by_role("button", name="Use it").click()
        page.locator("#model-ways").wait_for(state="detached", timeout=30_000)
        page.wait_for_function("() => document.querySelector('#message')?.value")
    state = served.call("WorkshopGetState", workbench_id=bench)

    assert found == []
    assert (shown, page.locator("#message").input_value()) == ("No model yet", kept)
    assert suggestions == [
        "Make a workbook with a chart of amount by month from sales.csv",
        "Correct the spelling in notes.md and change nothing else",
    ]
    assert (kept, said) == (suggestions[0], [])
    assert state["model_id"] == "local-vllm:qwen"


@pytest.mark.rule("U3.22", "U1.4")
def test_the_ways_to_a_model_work_without_scripts_and_nothing_is_asked_unasked(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("HOME", str(tmp_path))
    looked: list[bool] = []

    def look() -> list[tuple[str, str]]:
        looked.append(True)
        return []

    monkeypatch.setattr("backshop.models.providers.setup.listening", look)
    with web(tmp_path / "home") as served, served.client() as client:
        bench = served.bench("New")
        page = client.get(f"/bench/{bench}").text
        before = list(looked)
        found = client.post(f"/bench/{bench}/look", data={}, headers={"origin": served.address})
        chosen = {"workbench_id": bench, "model_id": "scripted:demo", "next": f"/bench/{bench}"}
        client.post("/do/WorkshopSwitchModel", data=chosen, headers={"origin": served.address})
        after = client.get(f"/bench/{bench}").text

    assert (before, looked) == ([], [True])
    assert 'id="model-ways"' in page
    assert "Nothing answered at the usual addresses" in found.text
    assert 'id="model-ways"' not in after


@pytest.mark.rule("U3.23")
def test_suggestions_name_what_is_in_the_files_and_repeat_no_strange_names(served):
    bench = served.bench(
        "Told",
        {"a.csv": "id,kind,n\n1,x,2\n", "b.md": "# B", "c.bin": b"\x00\x01"},
    )
    listed = served.shop.ask(Bench.files_list, WorkbenchFilesList(workbench_id=bench)).files
    maps = {"columns": [{"inferred_type": "string", "name": "x\u202ey"}], "has_header": True}
    typed = [{"inferred_type": "date", "name": "d"}, {"inferred_type": "float", "name": "n"}]
    dated = {"columns": typed, "has_header": True}
    sheet = {"name": "Plan", "state": "visible", "islands": [{"headers": ["a"], "row_count": 5}]}

    def of(kind: str, **seen: object) -> list[str]:
        file = replace(listed[0], kind=kind, path="f")
        return suggested([file], lambda _: dict(seen))

    assert suggested(listed, lambda _: None)[0] == (
        "What is in a.csv? Describe its columns in a few lines"
    )
    assert of("csv", **maps) == ["What is in f? Describe its columns in a few lines"]
    assert of("csv", **dated, row_count=1) == of("csv", **maps)  # nothing to draw
    assert of("csv", **dated, row_count=2) == ["Make a workbook with a chart of n by month from f"]
    assert of("xlsx", sheets=[sheet]) == [
        "Add a total to each column of numbers on sheet Plan of f"
    ]
    assert of("docx", warnings=[{"code": "tracked_changes_present"}]) == [
        "List the tracked changes of f and what each one means"
    ]
    assert of("pptx", slide_count=4) == ["Add a slide at the end of f that sums up the others"]
    assert of("binary") == []


@pytest.mark.rule("U3.29")
def test_the_offline_model_offers_no_task_whose_files_are_missing(served, new_page):
    bench = served.bench("Own files", {"budget-2025.xlsx": "x", "a.txt": "a"})
    served.call("WorkshopSwitchModel", workbench_id=bench, model_id="scripted:demo")
    page = new_page(f"/bench/{bench}")
    some = page.locator("#welcome [data-suggest]").count()
    served.call("WorkbenchFilesRemove", workbench_id=bench, workbench_paths=["budget-2025.xlsx"])
    page.locator("#welcome", has_text="works on its sample files").wait_for()

    assert some == 2  # of eight: they need the budget and nothing else
    assert page.locator("[data-suggest]").count() == 0
    assert page.locator("#welcome").get_by_role("link", name="set up a model").count() == 1
