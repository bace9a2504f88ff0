"""Make the home that version 0.1.0 left behind, with everything that leaves events in it.

It runs under the code of 0.1.0 (commit 3b4cce3), which alone can write what 0.1.0 wrote:

    PYTHONPATH=<checkout of 0.1.0>/src python tests/data/make_home_0_1_0.py tests/data

It writes `home-0.1.0.tar.xz`: `home`, without its cache, and `answers.jsonl`, what 0.1.0 itself
answered about that home, a line for each question. Clock, ids and randomness are fixed.
"""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import sys
import tarfile
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from typing import Any

from backshop import __version__
from backshop.app import Backshop
from backshop.base.ambient import Mint
from backshop.base.errors import BackshopError
from backshop.testing.ambient import FixedClock

Json = dict[str, Any]
HOME = "{home}"  # stands for the home's folder in what is kept
MINUTE_MS = 60_000
DAY_MS = 24 * 60 * MINUTE_MS
PORT = 18_911
SKILL = "---\nname: company-context\ndescription: We make boats.\n---\n# Us\nBoats.\n"
FLOW: Json = {
    "id": "user.flow",
    "name": "Flow",
    "description": "A workflow with all there is to record.",
    "version": "1.0.0",
    "capabilities": {"web_browsing": "preferred"},
    "assessments": [
        {
            "id": "sure",
            "purpose": "How sure?",
            "dimensions": [{"id": "d", "purpose": "p", "levels": ["low", "high"]}],
        }
    ],
    "steps": [
        {
            "id": "one",
            "title": "One",
            "prompt": "Do one.",
            "userInputs": [{"id": "ok", "reason": "needs_user_approval", "prompt": "Ok?"}],
            "assessmentRefs": ["sure"],
            "outputContract": {"contractRef": "wr.contracts.loop_control"},
        },
        {"id": "two", "title": "Two", "prompt": "Do two.", "runCondition": {"var": "never"}},
        {"id": "three", "title": "Three", "prompt": "Do three."},
        {"id": "four", "title": "Four", "prompt": "Do four."},
    ],
}
SENT: list[Json] = [
    {"kind": "wr.loop_control", "decision": "stop"},
    {"kind": "wr.user_input", "inputId": "ok", "decision": "approved"},
    {"kind": "wr.assessment", "dimensions": {"d": "High"}},
    {"kind": "wr.capability_observation", "capability": "web_browsing", "status": "unavailable"},
    {"kind": "wr.workflow_divergence", "reason": "safety_stop", "summary": "Stopped."},
    {"kind": "wr.gap", "severity": "info", "summary": "Missing."},
]


# --- what the offline model says ---


def says(purpose: str, text: str, **more: Any) -> Json:
    return {"when": {"purpose": purpose}, "times": 0, "respond": {"text": text, **more}}


def calls(purpose: str, turn: int, *wanted: tuple[str, Json], **when: Any) -> Json:
    made = [{"name": name, "arguments": arguments} for name, arguments in wanted]
    where = {"purpose": purpose, "turn": turn, **when}
    return {"when": where, "times": 0, "respond": {"tool_calls": made}}


def write(path: str, content: str) -> tuple[str, Json]:
    return "write_text_file", {"path": path, "content": content, "change_note": f"wrote {path}"}


def plan(*labels: str) -> str:
    lines = [f"- [ ] {number}. {label}" for number, label in enumerate(labels, 1)]
    return "\n".join(("# Execution Plan", "", "## Task", "Do it.", "", "## Items", *lines))


def story(*items: tuple[str, str], answer: str = "All done.") -> list[Json]:
    """Return a script that writes one file for each item."""
    return [
        calls("research", 1, ("list_files", {})),
        says("research", "# Research\n\nFound what is there."),
        says("plan", plan(*(f"Write {path}" for path, _ in items))),
        *(calls("implement", 1, write(*one), item=n) for n, one in enumerate(items, 1)),
        says("implement", "Wrote it."),
        says("summary", answer),
    ]


def five_calls() -> list[Json]:
    """Return a script of two items, three tool calls that read and two that write."""
    return [
        calls("research", 1, ("list_files", {}), ("read_file", {"path": "notes.md"})),
        calls("research", 2, ("get_file_map", {"path": "rates.csv"})),
        says("research", "# Research\n\nTwo files."),
        says("plan", plan("Write the letter", "Write the summary")),
        calls("implement", 1, write("letter.md", "# Letter\n\nDear all.\n"), item=1),
        calls("implement", 1, write("summary.md", "# Summary\n\nShort.\n"), item=2),
        says("implement", "Wrote it."),
        says("summary", "The letter and the summary are there."),
    ]


class Bench:
    """One workbench, through the commands everybody has."""

    def __init__(self, shop: Backshop, folder: Path, name: str) -> None:
        self.shop = shop
        self.folder = folder
        self.id: str = shop.call("WorkbenchCreate", {"name": name})["workbench_id"]

    def call(self, command: str, /, **request: Any) -> Json:
        found: Json = self.shop.call(command, {"workbench_id": self.id, **request})
        return found

    def refused(self, command: str, /, **request: Any) -> None:
        try:
            self.call(command, **request)
        except BackshopError:
            return
        raise AssertionError(f"{command} was not refused")

    def add(self, files: Json, **options: Any) -> None:
        for name, content in files.items():
            path = self.folder / self.id / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
            self.call("WorkbenchFilesAdd", source_paths=[str(path)], **options)

    def play(self, steps: list[Json], name: str) -> Any:
        wire = self.shop.models.play(name, steps)
        self.call("WorkshopSwitchModel", model_id=f"scripted:{name}")
        return wire

    def send(self, text: str, **more: Any) -> str:
        return str(self.call("WorkshopSendUserMessage", text=text, **more)["message_id"])

    def run(self, message_id: str, **more: Any) -> Json:
        return self.call("WorkshopRunAgent", message_id=message_id, **more)

    def ask(self, text: str, **more: Any) -> Json:
        return self.run(self.send(text, **more))

    def view(self, name: str) -> Path:
        return self.shop.config.home / "benches" / self.id / name


# --- the parts of the story ---


def files_and_drafts(shop: Backshop, folder: Path, clock: FixedClock) -> Bench:
    """Files that come and go, Drafts by hand, checkpoints, context, a digest, outside edits."""
    bench = Bench(shop, folder, "Accounts")
    bench.add(
        {"notes.md": "# Notes\n\nRates are net.\n", "rates.csv": "a,b\n1,2\n", "old.txt": "x"}
    )
    bench.call("WorkbenchRename", new_name="Accounts 2025")
    bench.call("WorkbenchFileRename", path="old.txt", new_path="kept/old.txt")
    bench.call("WorkbenchSetLimits", profile="large")
    bench.call("WorkbenchSetDefaultModel", model_id="scripted:echo")
    (folder / "out").mkdir()
    bench.call("WorkbenchFilesExtract", destination_dir=str(folder / "out"))
    files = [{"path": "SKILL.md", "content": SKILL}]
    bench.call("ContextUpdateDirect", category="company-context", files=files, create=True)
    files = [{"path": "context.md", "content": "The deadline is Friday."}]
    bench.call("ContextUpdateDirect", category="situation", files=files, create=True)
    bench.call("ContextDelete", category="situation")
    made = bench.call("CheckpointCreate", description="before the edits")
    bench.call("CheckpointPin", checkpoint_id=made["checkpoint_id"])
    clock.move(MINUTE_MS)

    bench.call("DraftCreate")
    first = bench.call("DraftRenamePath", path="notes.md", new_path="remarks.md")
    bench.call("DraftDeletePath", path="kept/old.txt")
    bench.call("ReviewSetDeletionConfirmations", paths=["kept/old.txt"])
    bench.call("DraftRestoreRevision", revision_id=first["draft_revision_id"])
    state = bench.call("DraftGetState")
    clock.move(2 * DAY_MS)
    bench.call("WorkshopDismissReminder", draft_id=state["draft_id"])
    (bench.view("draft") / "beside.txt").write_text("of another program\n")
    bench.call("DraftRescan", mode="adopt")
    bench.call("DraftPublish")
    clock.move(MINUTE_MS)
    bench.call("DraftCreate")
    bench.call("DraftDeletePath", path="beside.txt")
    bench.call("DraftDiscard")

    (bench.view("published") / "typed.txt").write_text("typed outside\n")
    bench.call("PublishedRepair", mode="adopt")
    (bench.view("published") / "typed.txt").unlink()  # as editors do; one name, two files
    (bench.view("published") / "typed.txt").write_text("typed again\n")
    bench.call("PublishedRepair", mode="restore")
    bench.call("WorkbenchFilesRemove", workbench_paths=["typed.txt"])
    bench.call("CheckpointRestore", checkpoint_id=made["checkpoint_id"])
    bench.refused("CheckpointRestore", checkpoint_id="cp_00000000000000000000000000")
    bench.refused("DraftPublish")
    return bench


def digests(bench: Bench) -> None:
    """Digests by hand, built and cleared; the last one is pinned."""
    bench.call("DigestRefresh", mode="builder")
    bench.call("DigestSet", body="Rates are net.")
    bench.call("DigestClear")
    steps = [
        calls("digest", 1, ("read_file", {"path": "notes.md"})),
        says("digest", '```json\n{"digest": "Rates are net, see notes.md."}\n```'),
    ]
    bench.play(steps, "digest")
    bench.call("DigestRefresh", mode="model", focus="rates")
    bench.play([says("digest", "", error="auth")], "nodigest")
    bench.refused("DigestRefresh", mode="model")
    bench.call("DigestSet", body="All rates are net.", pin=True)


def turns(shop: Backshop, folder: Path, clock: FixedClock) -> Bench:
    """A conversation: published, regenerated, rewound, redone, failed, discarded, forked."""
    bench = Bench(shop, folder, "Letters")
    bench.add({"notes.md": "# Notes\n\nRates are net.\n", "rates.csv": "a,b\n1,2\n"})
    bench.play(five_calls(), "five")
    first = bench.ask("Write a letter and a summary")
    assert first["status"] == "complete", first
    bench.call("DraftPublish")
    clock.move(MINUTE_MS)

    bench.play(story(("third.md", "3\n"), answer="third.md is there."), "third")
    question = bench.send("Write a third file")
    bench.run(question)
    bench.call("WorkshopRegenerate")
    bench.call("WorkshopUndoToMessage", message_id=question)
    bench.call("WorkshopRedo")
    clock.move(MINUTE_MS)
    bench.call("DraftDiscard")
    bench.call("WorkshopUndoToMessage", message_id=question)

    bad = {
        "tool_calls": [{"name": "write_text_file", "arguments": {"path": "../x", "content": "x"}}]
    }
    broken = [
        calls("implement", 1, write("half.md", "half\n"), item=1),
        {"when": {"purpose": "implement", "item": 1}, "times": 0, "respond": bad},
        *story(("fourth.md", "4\n"), ("fifth.md", "5\n"), answer="One of two."),
    ]
    bench.play(broken, "broken")
    bench.ask("Write two more")
    if bench.call("WorkshopGetState")["has_draft"]:
        bench.call("DraftDiscard")
    bench.play([says("research", "r"), says("summary", "It is short.")], "ask")
    bench.ask("How long is it?", mode="ask")
    bench.call("WorkbenchFork", mode="clone_all", name="Letters, again")
    bench.call("WorkshopUndoToMessage", message_id=first["message_id"], mode="chat_only")
    return bench


def stopped_and_resumed(shop: Backshop, folder: Path) -> Bench:
    """A turn that was stopped and went on, and one that was stopped and waits."""
    bench = Bench(shop, folder, "Stopped")
    bench.add({"a.txt": "one\n"})
    steps = story(("b.txt", "b\n"), ("c.txt", "c\n"), answer="b.txt and c.txt are there.")
    question = bench.send("Write b and c")
    _stop(bench, steps, "stop", question)
    bench.play(steps, "go")
    done = bench.run(question)
    assert done["status"] == "complete", done
    bench.call("DraftPublish")
    failing = {"when": {"purpose": "plan"}, "times": 0, "respond": {"error": "auth"}}
    steps = story(("d.txt", "d\n"), ("e.txt", "e\n"), answer="d.txt and e.txt are there.")
    bench.play([failing, *steps], "locked")
    assert bench.ask("Write nothing")["status"] == "paused"
    _stop(bench, steps, "wait", bench.send("Write d and e"))
    return bench


def _stop(bench: Bench, steps: list[Json], name: str, question: str) -> None:
    wire = bench.play(steps, name)
    original, seen = wire.complete, []

    def complete(request: Any, model: Any, channel: Any) -> Iterator[Any]:
        seen.append(request.purpose.value)
        if seen.count("implement") == 3:  # the first item is done, the second begins
            bench.call("WorkshopCancelRun")
        yield from original(request, model, channel)

    wire.complete = complete
    assert bench.run(question)["status"] == "canceled"


def compat(shop: Backshop, folder: Path) -> Bench:
    """The other flow: an answer with its changes, a proposal that is dismissed, an open Draft."""
    bench = Bench(shop, folder, "Compat")
    bench.add({"a.md": "old\n"})
    bench.call("WorkshopSetFlow", flow="compat")
    changes = {"schema_version": 2, "summary": "what changes"}
    writes = [{"path": "a.md", "content": "new\n", "summary": "new text"}]
    text = json.dumps({**changes, "writes": writes})
    script = [says("reply", "I will change a.md."), says("proposal", text)]
    nothing = json.dumps({"schema_version": 2, "summary": "Nothing.", "no_changes": True})
    once = {"when": {"purpose": "proposal"}, "respond": {"text": nothing}}
    bench.play([once, *script], "first")
    message = bench.send("Change it")
    bench.call("WorkshopStreamAssistantReply", message_id=message)
    bench.call("WorkshopProposeChanges")
    bench.call("WorkshopDismissProposal")
    bench.play([says("reply", "I will change a.md."), says("proposal", "no")], "unusable")
    bench.ask("Change it somehow")
    bench.play(script, "compat")
    bench.ask("Change it now")
    return bench


def driven(shop: Backshop, folder: Path) -> Bench:
    """A turn driven by a workflow of the catalogue, and one of an agent outside that goes back."""
    bench = Bench(shop, folder, "Driven")
    bench.add({"report.md": "# Intro\n\nText.\n"})
    parts = {"context": {"parts": [{"name": "1 Intro", "place": "page 1"}]}}
    block = f"Read it.\n```json\n{json.dumps(parts)}\n```"
    begins = {"purpose": "implement", "prompt": "Know what the document must achieve"}
    bench.play(
        [
            {"when": begins, "times": 0, "respond": {"text": block}},
            calls("implement", 1, write("findings.md", "# Findings\n"), prompt="1 Intro"),
            says("implement", "Nothing more to say."),
            says("summary", "Reviewed; see findings.md."),
        ],
        "review",
    )
    bench.run(bench.send("Review report.md"), workflow_id="wr.document_review")
    bench.call("DraftPublish")
    _outside(bench)
    return bench


def _outside(bench: Bench) -> None:
    offering = import_module("backshop.mcp.toolbox").Offering(
        bench.shop.config.home, tool_sets=("rails", "bench"), bench_id=bench.id
    )
    offering._shop = bench.shop  # on this clock
    tools = offering.tools()

    def call(tool: str, **arguments: Any) -> Json:
        answer = tools[tool].call(arguments, None)
        assert not answer.is_error, answer
        return dict(answer.structured)

    def hand(at: Json, artifact: Json, **more: Any) -> Json:
        output = {"notesMarkdown": "done", "artifacts": [artifact]}
        return call("continue_workflow", ackToken=at["ackToken"], output=output, **more)

    def item(at: Json, number: int) -> Json:
        done = {"kind": "workshop.item_result", "item_number": number, "status": "done"}
        rest = {"report_markdown": "Wrote it.", "amendments": [], "batch_ids": []}
        return hand(at, {**done, **rest, "no_effect": False})

    items = [{"number": 1, "label": "First"}, {"number": 2, "label": "Second"}]
    made = {"kind": "workshop.plan", "markdown": plan("First", "Second"), "items": items}
    at = call("start_workflow", workflowId="wr.rpi", context={"prompt": "Write two notes"})
    at = hand(at, {"kind": "workshop.research", "markdown": "Nothing there yet."})
    begun = hand(at, {**made, "answer_only": False}, context={"plan_items": items})
    call("write_text_file", path="one.txt", content="one\n")
    item(begun, 1)
    back = call("continue_workflow", stateToken=begun["stateToken"])
    call("write_text_file", path="first.txt", content="first\n")
    at = item(back, 1)
    call("write_text_file", path="second.txt", content="second\n")
    at = item(at, 2)
    answer = {"kind": "workshop.summary", "markdown": "Both are there.", "source": "model"}
    hand(at, {**answer, "changed_paths": []})
    offering.close()


def long_talk(shop: Backshop, folder: Path) -> None:
    """A conversation that is summed up."""
    bench = Bench(shop, folder, "Talk")
    bench.add({"a.txt": "x\n"})
    steps = [
        says("research", "# Research\n\nr"),
        says("plan", "# Execution Plan\n\n## Task\nSay it.\n\n## Items\nnone"),
        says("summary", "y" * 9_000),
        says("compression", "In short."),
    ]
    bench.play(steps, "talk")
    for number in range(7):
        bench.ask(f"Question {number}")


def reconciled(shop: Backshop, folder: Path) -> None:
    """A Draft brought onto what others made of Published, and more checkpoints than kept."""
    bench = Bench(shop, folder, "Reconciled")
    bench.add({"a.txt": "one\n", "b.txt": "two\n"})
    bench.call("DraftCreate")
    bench.call("DraftRenamePath", path="a.txt", new_path="c.txt")
    (bench.view("published") / "b.txt").unlink()
    (bench.view("published") / "b.txt").write_text("two, changed\n")
    bench.call("PublishedRepair", mode="adopt")
    bench.refused("DraftPublish")
    bench.call("PublishedReconcile", keep="theirs")
    bench.call("DraftPublish")
    bench.call("DraftCreate")
    for number in range(14):
        names = ("c.txt", "d.txt") if number % 2 == 0 else ("d.txt", "c.txt")
        bench.call("DraftRenamePath", path=names[0], new_path=names[1])
    bench.call("DraftDiscard")
    for number in range(3):
        bench.call("CheckpointCreate", description=f"number {number}")


def trash(shop: Backshop, folder: Path, clock: FixedClock) -> None:
    """Benches thrown away: one came back, one is in the trash, one is gone for good."""
    back, gone = (Bench(shop, folder, name) for name in ("Back", "Gone"))
    for one in (back, gone):
        one.call("WorkbenchDelete", confirm=one.id)
    back.call("WorkbenchUndelete")
    clock.move(40 * DAY_MS)
    shop.call("WorkbenchList", {})
    thrown = Bench(shop, folder, "Thrown away")
    thrown.call("WorkbenchDelete", confirm=thrown.id)


def recovered(bench: Bench) -> None:
    """A folder another program broke, found when the bench is opened."""
    shutil.rmtree(bench.view("published"))
    bench.call("WorkbenchOpen")


def team(shop: Backshop, folder: Path, bench: Bench, session_id: str) -> None:
    """People with roles and shares; one was removed. A login link used, a piece uploaded."""
    people = [shop.call("UserAdd", {"name": name})["user_id"] for name in ("Ada", "Ben", "Cleo")]
    for user, role in zip(people, ("publish", "write", "read"), strict=True):
        shop.call("AccessSet", {"user_id": user, "role": role, "workbench_id": bench.id})
    shop.call("AccessSet", {"user_id": people[0], "role": "read", "session_id": session_id})
    shop.call("WorkbenchCreate", {"name": "Ada's own"}, user=people[0])
    shop.call("UserRemove", {"user_id": people[2]})
    links = import_module("backshop.app.loginlinks").Links(shop.store, "secret", shop.clock)
    assert links.spend(links.new())
    parcels = import_module("backshop.app.parcels").Parcels(shop.store, shop.clock, lambda *_: None)
    limits = shop.call("WorkbenchGetScope", {"workbench_id": bench.id})["limits"]
    given = [(io.BytesIO(b"half of it"), "large.bin")]
    parcels.keep("0" * 32, bench.id, None, given, limits)


def workflows(shop: Backshop) -> None:
    """Workflows saved in the store, as a team has them, and one that was taken away again."""
    for name in ("user.flow", "user.gone"):
        source = json.dumps({**FLOW, "id": name})
        shop.call("RailsWorkflowSave", {"source": source, "target": "user"})
    shop.call("RailsWorkflowDelete", {"workflowId": "user.gone", "target": "user"})


def overrides(shop: Backshop) -> None:
    """Texts of prompts that people replaced."""
    plan_of = {"namespace": "backshop/workshop", "key": "plan"}
    shop.call("PromptOverridesSeed", {**plan_of, "tag": "short"})
    shop.call("PromptOverridesSet", {**plan_of, "section": "tools", "body": "Use exact paths."})
    shop.call("PromptOverridesDelete", {**plan_of, "tag": "short"})


@contextmanager
def serving() -> Iterator[str]:
    """A server of one's own, which speaks the words of a provider."""

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # named by the library
            self._send({"object": "list", "data": [{"id": "m", "object": "model"}]})

        def do_POST(self) -> None:  # named by the library
            self.rfile.read(int(self.headers["content-length"]))
            skill = SKILL + "See [more](references/summary.md).\n"
            named = {"SKILL.md": skill, "references/summary.md": "A shipyard."}
            files = [{"path": path, "content": content} for path, content in named.items()]
            text = json.dumps({"files": files})
            first = {"index": 0, "delta": {"role": "assistant", "content": text}}
            last = {"index": 0, "delta": {}, "finish_reason": "stop"}
            used = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
            head = {"id": "c", "object": "chat.completion.chunk", "model": "m"}
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            for one in ({"choices": [first]}, {"choices": [last]}, {"choices": [], "usage": used}):
                self.wfile.write(f"data: {json.dumps({**head, **one})}\n\n".encode())
            self.wfile.write(b"data: [DONE]\n\n")

        def _send(self, body: Json) -> None:
            data = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", PORT), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{PORT}/v1"
    finally:
        server.shutdown()
        server.server_close()


def egress(shop: Backshop, folder: Path) -> None:
    """Calls to a server of one's own: refused without consent, made with it, taken back."""
    bench = Bench(shop, folder, "Connected")
    bench.add({"a.txt": "one\n"})
    with serving() as url:
        local = {"provider_id": "local-x", "preset": "custom", "base_url": url, "models": ["m"]}
        shop.call("ProvidersUpsertLocal", local)
        bench.call("WorkshopSwitchModel", model_id="local-x:m")
        given = {"mode": "text", "text": "We are a shipyard."}
        bench.refused("ContextProcess", category="company-context", input=given)
        status = bench.call("EgressGetConsentStatus")
        wanted = {name: status[name] for name in ("provider_id", "model_id", "scope_hash")}
        bench.call("EgressGrantWorkshopConsent", **wanted, persist=True)
        bench.call("ContextProcess", category="company-context", input=given)
        bench.call("EgressRevokeConsent", provider_id="local-x")
        status = bench.call("EgressGetConsentStatus")
        wanted = {name: status[name] for name in ("provider_id", "model_id", "scope_hash")}
        bench.call("EgressGrantWorkshopConsent", **wanted, persist=True)
    shop.call("ProvidersSetEnabled", {"provider_id": "local-x", "enabled": False})


def kept_offline(shop: Backshop) -> None:
    """A request that may not leave."""
    with suppress(BackshopError):
        shop.call("ProvidersSetApiKey", {"provider_id": "openai", "api_key": "sk-" + "0" * 40})


def prompt_session(shop: Backshop, clock: FixedClock) -> None:
    """A session of prompts as programs have it: slices, and what evaluations say beside them."""
    prompts = import_module("backshop.prompts")

    @prompts.slice_type("kept-note", 1, prompts.STATE)
    @dataclass(frozen=True)
    class Note:
        text: str

    session = prompts.Session(log=shop.store, clock=clock, session_id="ps_" + "0" * 26)
    for text in ("one", "two"):
        session[Note].append(Note(text))
    session[Note].clear()
    session[Note].replace([Note("three")])
    session.dispatch(prompts.DigestMissing(section_key="d"))
    session.dispatch(prompts.DigestStale(section_key="d", digest_fingerprint="a", fingerprint="b"))
    session.dispatch(prompts.LimitReached(limit="max_turns", value="3"))
    session.dispatch(prompts.SandboxUnavailable(reason="no_bubblewrap"))
    where = {"namespace": "n", "prompt_key": "k", "tag": "latest", "revision": 1}
    session.dispatch(prompts.OverrideIgnored(**where, entry="section:a", reason="stale"))


def sessions(shop: Backshop, folder: Path, clock: FixedClock) -> Json:
    """Sessions over the tools of rails; return tokens that are still good."""
    workspace = folder / "workspace"
    workspace.mkdir()

    def call(tool: str, **arguments: Any) -> Json:
        found: Json = shop.call(tool, arguments)
        return found

    def go(at: Json, notes: str = "done", **more: Any) -> Json:
        artifacts = more.pop("artifacts", None)
        output = {"notesMarkdown": notes, **({"artifacts": artifacts} if artifacts else {})}
        given = {"stateToken": at["stateToken"], "ackToken": at["ackToken"], "output": output}
        return call("continue_workflow", **given, **more)

    wish = {"workflowId": "user.flow", "goal": "Record it all", "context": {"a": 1}}
    first = call("start_workflow", **wish, workspacePath=str(workspace))
    auto = {"autonomy": "full_auto_stop_on_user_deps"}
    third = go(first, "n", artifacts=SENT, context={"b": 2}, preferences=auto)
    tokens = {name: third[name] for name in ("stateToken", "checkpointToken")}
    call("checkpoint_workflow", **tokens, output={"notesMarkdown": "half way"})
    clock.move(MINUTE_MS)
    fourth = go(third)
    fork = go(call("continue_workflow", stateToken=third["stateToken"]), "another way")
    go(fourth)
    run_id, session_id = first["session"]["runId"], first["session"]["sessionId"]
    shop.call("RailsRunSetContext", {"runId": run_id, "set": {"c": 3}, "removed": ["a"]})
    shop.call("RailsSessionSetKeep", {"sessionId": session_id, "keep": True})
    call("resume_session", query="Record it all", workspacePath=str(workspace))

    asked = call("start_workflow", **wish)
    blocked = go(asked, "nothing of what is asked")  # waits for its contract
    call("continue_workflow", stateToken=blocked["stateToken"])
    node = shop.call("RailsRunGet", {"runId": asked["session"]["runId"]})["nodes"][0]["nodeId"]
    given = {"nodeId": node, "inputId": "ok", "decision": "approved", "summary": "Yes."}
    shop.call("RailsUserInputRecord", given)
    beside = call("start_session", title="By hand")
    tokens = {name: beside[name] for name in ("sessionToken", "checkpointToken")}
    call("checkpoint_workflow", **tokens, output={"notesMarkdown": "a note of the session"})
    imported(shop, asked["session"]["sessionId"])
    return {"session": session_id, "fork": fork, "first": first, "third": third}


def imported(shop: Backshop, session_id: str) -> None:
    """A session that was exported, deleted, and came back from its bundle; and one deleted."""
    about = {"sessionId": session_id}
    bundle = shop.call("RailsSessionExport", about)["text"]
    shop.call("RailsSessionDelete", {**about, "confirm": session_id})
    shop.call("RailsSessionImport", {"bundle": bundle})


# --- what 0.1.0 answers about it ---

OF_A_BENCH = (
    *(
        "AuditList",
        "WorkbenchOpen",
        "WorkbenchFilesList",
        "WorkbenchGetScope",
        "WorkbenchGetDefaultModel",
    ),
    *("ContextList", "DraftGetState", "AccessList"),
    *("EgressGetConsentStatus", "EgressListEvents", "UsageGet", "EngineGetLastError"),
    *("WorkshopGetState", "WorkshopGetMetrics", "DigestGet", "WorkbenchGetClutter"),
)
OF_THE_HOME = (
    *("WorkbenchList", "UserList", "AccessList", "SettingsGet", "ProvidersGetStatus"),
    *("PromptOverridesList", "RailsSessionsList", "UserGetDefaultModel", "UserGetConsentMode"),
    *("EgressListEvents", "UsageGet", "StoreDoctor"),
)


class Told:
    """Questions and the answers to them."""

    def __init__(self, shop: Backshop) -> None:
        self.shop = shop
        self.lines: list[Json] = []

    def ask(self, command: str, **request: Any) -> Any:
        try:
            answer = self.shop.call(command, request)
        except BackshopError as error:
            answer = {"refused": [error.code, error.reason]}
        text = json.dumps(answer).replace(str(self.shop.config.home), HOME)
        self.lines.append({"ask": command, "request": request, "answer": json.loads(text)})
        return answer

    def everything(self) -> list[Json]:
        for command in OF_THE_HOME:
            if command == "WorkbenchList":
                benches = self.ask(command, include_trash=True)["workbenches"]
            elif command == "StoreDoctor":
                self.ask(command, full=True)
            else:
                self.ask(command)
        for one in benches:
            self._bench(one["workbench_id"])
        for one in self.shop.call("RailsSessionsList", {"limit": 100})["sessions"]:
            self._session(one["sessionId"])
        for one in self.shop.call("PromptOverridesList", {})["tags"]:
            self.ask("PromptOverridesGet", **{n: one[n] for n in ("namespace", "key", "tag")})
        return self.lines

    def _bench(self, bench_id: str) -> None:
        about = {"workbench_id": bench_id}
        for command in OF_A_BENCH:
            self.ask(command, **about)
        every = {"limit": 200, "include_inactive": True, "include_tools": True}
        talk = self.ask("WorkshopGetConversation", **about, **every)
        self.ask("WorkshopGetConversation", **about, limit=200)
        for category in ("company-context", "situation"):
            self.ask("ContextGetArtifact", **about, category=category)
        turns = {m["turn_id"]: None for m in talk.get("messages", ()) if m.get("turn_id")}
        for turn_id in turns:
            self.ask("WorkshopGetPlan", **about, turn_id=turn_id)
        log = self.ask("WorkshopGetToolLog", **about, limit=200)
        for entry in log.get("entries", ()):
            self.ask("WorkshopGetToolLogEntry", **about, entry_id=entry["id"])
        changes = self.ask("ReviewGetChangeSet", **about)
        for entry in changes.get("entries", ()):
            self.ask("ReviewGetDiff", **about, path=entry["path"])
        self.ask("ReviewGetDeletionConfirmations", **about)
        for one in self.ask("CheckpointsList", **about).get("checkpoints", ()):
            self.ask("CheckpointCompare", **about, checkpoint_id=one["checkpoint_id"])

    def _session(self, session_id: str) -> None:
        found = self.ask("RailsSessionGet", sessionId=session_id, timeline=True)
        self.ask("RailsSessionExport", sessionId=session_id, format="markdown")
        for run in found.get("runList", ()):
            shown = self.ask("RailsRunGet", runId=run["runId"])
            for node in shown.get("nodes", ())[:6]:
                self.ask("RailsNodeGet", nodeId=node["nodeId"])


# --- making and packing ---


def make(folder: Path) -> tuple[Path, list[Json]]:
    """Make the home in an empty folder; return it and what is told of it."""
    home, clock, dice = folder / "home", FixedClock(), random.Random(1)
    os.urandom = dice.randbytes
    mint = Mint(clock, dice.getrandbits)
    written: Any = import_module("backshop.app.written")
    written.is_shared = lambda _: True  # as a team's home keeps workflows and overrides
    basic: Json = {"model.default": "scripted:demo"}

    @contextmanager
    def opened(**more: Any) -> Iterator[Backshop]:
        clock.move(MINUTE_MS)
        options = {**basic, **{k.replace("__", "."): v for k, v in more.items()}}
        with Backshop.open(home, settings=options, clock=clock, mint=mint) as shop:
            yield shop

    with opened() as shop:
        trash(shop, folder, clock)
        workflows(shop)
        overrides(shop)
        bench = files_and_drafts(shop, folder, clock)
        digests(bench)
        recovered(bench)
        turns(shop, folder, clock)
        stopped_and_resumed(shop, folder)
        compat(shop, folder)
        driven(shop, folder)
        tokens = sessions(shop, folder, clock)
        team(shop, folder, bench, tokens["session"])
        shop.call("SettingsSet", {"key": "model.default", "value": "scripted:demo"})
        shop.call("SettingsSetOnboarding", {"completed": True})
    with opened() as shop:
        long_talk(shop, folder)
    with opened(bench__checkpoint_max_bytes=1, workshop__max_revisions=10) as shop:
        reconciled(shop, folder)
    with opened(consent__for_local=True, model__default="local-x:m") as shop:
        egress(shop, folder)
    with opened(offline=True) as shop:
        kept_offline(shop)
        prompt_session(shop, clock)
    with opened() as shop:
        told = Told(shop).everything()
    kinds = sorted(_kinds(home))
    facts = {"tokens": tokens, "kinds": kinds, "clock_ms": clock.now_ms()}
    return home, [{"ask": "facts", "answer": facts}, *told]


def _kinds(home: Path) -> set[str]:
    with Backshop.open(home) as shop:
        heads = shop.store.streams()
        return {event.kind for head in heads for event in shop.store.read(head.stream)}


def main(target: Path) -> None:
    """Write the archive and the answers."""
    assert __version__ == "0.1.0"
    with tempfile.TemporaryDirectory() as scratch:
        home, told = make(Path(scratch))
        lines = [json.dumps(one, ensure_ascii=False, sort_keys=True) for one in told]
        answers = home.with_name("answers.jsonl")
        answers.write_text("\n".join(lines) + "\n", encoding="utf-8")
        with tarfile.open(target / "home-0.1.0.tar.xz", "w:xz", preset=9) as archive:
            archive.add(home, "home", filter=_plain)
            archive.add(answers, "answers.jsonl", filter=_plain)


def _plain(one: tarfile.TarInfo) -> tarfile.TarInfo | None:
    if one.name in ("home/cache", "home/logs"):
        return None
    one.mtime, one.uid, one.gid, one.uname, one.gname = 0, 0, 0, "", ""
    return one


if __name__ == "__main__":
    main(Path(sys.argv[1]))
