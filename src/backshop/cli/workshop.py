"""Talking with the built-in agent in the terminal."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from backshop.base.acting import who
from backshop.base.codec import encode
from backshop.base.errors import BackshopError, NotFound
from backshop.base.labels import (
    ENDED,
    MODEL_STATES,
    NOTES,
    PHASES,
    PROPOSALS,
    headline,
    published_line,
    record_line,
)
from backshop.base.system.interrupt import interrupts

from .bench import BENCH, FLOWS
from .bench import ask as ask_about
from .door import Door, DoorCommand, clean, clean_lines, fact_lines, pass_door, word, write_lines
from .draft.review import changed_lines, proof_lines
from .folder import offer

if TYPE_CHECKING:
    from backshop.app import Answer, Backshop, BenchWorkshop
    from backshop.workshop.answers import (
        Conversation,
        Message,
        PlanView,
        RedoDone,
        ToolLogEntry,
        Undone,
    )

ENDED_WELL = ("complete", "canceled")  # what such a turn changed can be looked at
INPUTS = click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="NAME=PATH",
    help="A file that the workflow asks for; once for each.",
)
_WAIT_S = 0.2
_RECORDS_SHOWN, _TITLE_CHARS = 8, 72
_MODES = {  # of a rewind, as a person chooses between them (W15.4)
    "chat_only": "the conversation goes back; all files stay as they are now",
    "discard_draft": "the conversation goes back, and the Draft is thrown away",
    "restore_published": "the conversation goes back, and Published with it to what it was then;"
    " what is there now is kept as a checkpoint",
}


@click.command(cls=DoorCommand)
@BENCH
@click.argument("text")
@click.option("--ask", is_flag=True, help="Only answer; change nothing.")
@click.option("--workflow", help="Let this workflow of the catalogue drive the turn.")
@INPUTS
@click.option(
    "--flow",
    type=click.Choice(FLOWS),
    help="How this one message is worked on; `backshop bench flow` is for all.",
)
@click.pass_context
@pass_door
def send(
    door: Door,
    ctx: click.Context,
    bench: str,
    text: str,
    ask: bool,
    workflow: str | None,
    inputs: tuple[str, ...],
    flow: str | None,
) -> None:
    """Ask the agent to do something in BENCH; what it changes waits in a Draft."""
    named = named_inputs(inputs, workflow)
    say = partial(_say, text, ask=ask, workflow=workflow, flow=flow, inputs=named)
    with door.shop() as shop:
        done = _turn(door, shop, shop.workshop(bench), bench, say)
    if done.status != "complete":
        ctx.exit(1)


@click.command(cls=DoorCommand)
@BENCH
@pass_door
def chat(door: Door, bench: str) -> None:
    """Talk with the agent about BENCH, a line at a time; an empty line or Ctrl-D ends."""
    if door.as_json:
        raise click.UsageError("a conversation has no JSON document; use `send`")
    with door.shop() as shop:
        at = shop.workshop(bench)  # once: the name may be another workbench's by the next line
        while text := _line():
            try:
                _turn(door, shop, at, bench, partial(_say, text))
            except BackshopError as error:
                click.echo(f"{error.message} ({error.reason or error.code.lower()})", err=True)


@click.command(cls=DoorCommand)
@BENCH
@click.option("--limit", default=50, help="How many records at most.")
@click.option(
    "--jsonl",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write every record, inactive ones too, one JSON object a line.",
)
@click.option("--tools", is_flag=True, help="With --jsonl: the agent's tool calls too.")
@pass_door
def history(door: Door, bench: str, limit: int, jsonl: Path | None, tools: bool) -> None:
    """Show the conversation of BENCH."""
    if tools and jsonl is None:
        raise click.UsageError("--tools goes with --jsonl")
    with door.shop() as shop:
        at = shop.workshop(bench)
        if jsonl is not None:
            count = _export(shop, at.id, jsonl, with_tools=tools)
            door.show({"records": count, "path": str(jsonl)}, lambda v: f"{v['records']} records")
            return
        door.show(at.history(limit=limit), _transcript)


@click.command(cls=DoorCommand)
@BENCH
@click.option("--turn", help="Of this turn; without it, of the last one.")
@pass_door
def plan(door: Door, bench: str, turn: str | None) -> None:
    """Show what the agent found out, planned and reported in BENCH."""
    from backshop.workshop import Workshop, requests  # loaded when needed (S2.4)

    wish = partial(requests.GetPlan, turn_id=turn or None)
    door.show(ask_about(door, bench, Workshop.get_plan, wish), _planned)


@click.command(cls=DoorCommand)
@BENCH
@click.argument("text")
@pass_door
def note(door: Door, bench: str, text: str) -> None:
    """Write TEXT to the agent at work on BENCH; it reads it before its next step."""
    from backshop.workshop import Workshop, requests  # loaded when needed (S2.4)

    wish = partial(requests.AddNote, text=text, origin="cli")
    done = ask_about(door, bench, Workshop.add_note, wish)
    door.show(done, lambda _: "noted; the agent reads it before its next step")


@click.command(cls=DoorCommand)
@BENCH
@pass_door
def cancel(door: Door, bench: str) -> None:
    """Stop the agent at work on BENCH."""
    from backshop.workshop import Workshop, requests  # loaded when needed (S2.4)

    done = ask_about(door, bench, Workshop.cancel_run, requests.CancelRun)
    door.show(done, lambda v: "stopping" if v.cancel_requested else "nothing runs")


@click.command(cls=DoorCommand, context_settings={"ignore_unknown_options": True})
@BENCH
@click.argument("message")
@click.option(
    "--mode",
    type=click.Choice(["chat_only", "discard_draft", "restore_published"]),
    help="What becomes of the files, where that has to be chosen.",
)
@click.option("--dry-run", is_flag=True, help="Only say what would happen.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_door
def rewind(
    door: Door, bench: str, message: str, mode: str | None, dry_run: bool, yes: bool
) -> None:
    """Go back to MESSAGE, files included: an id of `history`, or -1, -2 … the numbers it shows.

    Where files were published since, a person is asked what becomes of them; a program says --mode.
    """
    with door.shop() as shop:
        at = shop.workshop(bench)
        message_id = _message(at, message)
        shown = at.rewind(message_id, mode=mode, dry_run=True)
        if dry_run:
            door.show(shown, lambda value: _effects(at, value))
            return
        effects = shown.effects
        must_choose = mode is None and effects and effects.choices  # refused, with the choices
        if not yes and must_choose and effects and door.has_person:
            click.echo(_effects(at, shown), err=True)
            mode = _chosen(effects.choices)
        elif not yes and not must_choose and effects and effects.discarded_count:
            click.echo(_effects(at, shown), err=True)
            door.confirm("Go back?", "going back")
        done = at.rewind(message_id, mode=mode)
        door.show(done, lambda v: _proved(f"went back over {_records(v.discarded_count)}", v))
        offer(door, shop, at.id, done.folder_behind if done.restored_checkpoint_id else 0)


@click.command(cls=DoorCommand)
@BENCH
@pass_door
def redo(door: Door, bench: str) -> None:
    """Take the last rewind of BENCH back; after `regenerate`, go to the other answer."""
    with door.shop() as shop:
        done = shop.workshop(bench).redo()
        said = f"the conversation ends at {done.conversation_head_id} again"
        door.show(done, lambda v: _proved(said, v))


@click.command(cls=DoorCommand)
@BENCH
@click.argument("text", default="")
@click.option("--ask", is_flag=True, help="Only a question about the Draft; change nothing.")
@click.option("--model", help="Let this model answer, this once.")
@click.option(
    "--for-agent", is_flag=True, help="Leave it to your agent over MCP; nothing answers it here."
)
@click.pass_context
@pass_door
def revise(
    door: Door,
    ctx: click.Context,
    bench: str,
    text: str,
    ask: bool,
    model: str | None,
    for_agent: bool,
) -> None:
    """Ask for changes of the Draft that waits in BENCH; the agent makes them in it."""
    if for_agent:
        _leave(door, bench, text, is_alone=not ask and model is None)
        return

    def say(at: BenchWorkshop) -> Answer:
        return at.request_changes(text, ask=ask, model=model, origin="cli")

    with door.shop() as shop:
        done = _turn(door, shop, shop.workshop(bench), bench, say, is_round=not ask)
    if done.status != "complete":
        ctx.exit(1)


def _leave(door: Door, bench: str, text: str, *, is_alone: bool) -> None:
    """Record a request for changes for an agent outside, who finds it in review_draft (S6.27)."""
    if not is_alone:
        raise click.UsageError("--for-agent asks no model here; leave --ask and --model out")
    from backshop.workshop import Workshop, requests  # loaded when needed (S2.4)

    with door.shop() as shop:
        wish = requests.RequestChanges(
            workbench_id=shop.bench_id(bench), text=text, mode="agent", origin="cli"
        )
        sent = shop.ask(Workshop.request_changes, wish)
        said = "recorded; tell your agent to call review_draft and take the request up"
        door.show(sent, lambda _: said)


@click.command(cls=DoorCommand)
@BENCH
@click.option("--note", help="What to add to the message this time.")
@click.option("--model", help="Let this model answer, this once.")
@click.pass_context
@pass_door
def regenerate(
    door: Door, ctx: click.Context, bench: str, note: str | None, model: str | None
) -> None:
    """Let the agent answer the last message of BENCH again."""

    def again(at: BenchWorkshop) -> Answer:
        return at.regenerate(note=note, model=model)

    with door.shop() as shop:
        done = _turn(door, shop, shop.workshop(bench), bench, again)
    if done.status != "complete":
        ctx.exit(1)


@click.command(cls=DoorCommand)
@BENCH
@click.pass_context
@pass_door
def retry(door: Door, ctx: click.Context, bench: str) -> None:
    """Go on with the turn of BENCH that stopped, or try the one that failed again."""
    with door.shop() as shop:
        done = _turn(door, shop, shop.workshop(bench), bench, lambda at: at.retry())
    if done.status != "complete":
        ctx.exit(1)


# ---------------------------------------------------------------- turns


def _say(
    text: str,
    at: BenchWorkshop,
    *,
    ask: bool = False,
    workflow: str | None = None,
    flow: str | None = None,
    inputs: dict[str, str] | None = None,
) -> Answer:
    return at.send(text, ask=ask, workflow=workflow, flow=flow, inputs=inputs, origin="cli")


def named_inputs(given: tuple[str, ...], workflow: str | None) -> dict[str, str]:
    """Return what `--input NAME=PATH` said."""
    if given and workflow is None:
        raise click.UsageError("--input goes with --workflow")
    found: dict[str, str] = {}
    for one in given:
        name, sign, path = one.partition("=")
        if not (name and sign and path):
            raise click.UsageError("--input takes NAME=PATH")
        if name in found:
            raise click.UsageError(f"--input {clean(name)} is given twice")
        found[name] = path
    return found


def _turn(
    door: Door,
    shop: Backshop,
    at: BenchWorkshop,
    called: str,
    run: Callable[[BenchWorkshop], Answer],
    *,
    is_round: bool = False,
) -> Answer:
    """Run a turn, show how it goes and what to do next.

    `called` is the workbench in the words of the person, for what is shown alone. After a round on
    a Draft the review can be of what it changed.
    """
    done, streamed = watched_turn(door, shop, at, run)
    _show(door, done, streamed, called, is_round=is_round)
    return done


def watched_turn(
    door: Door, shop: Backshop, at: BenchWorkshop, run: Callable[[BenchWorkshop], Answer]
) -> tuple[Answer, str]:
    """Run a turn in a thread and show how it goes; Ctrl-C asks it to stop.

    Returns the answer, and how much of its text was shown.
    """
    from backshop.app import About  # loaded when a turn runs (S2.4)

    done: list[Answer] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            done.append(run(at))
        except BaseException as error:  # the caller raises it
            failed.append(error)

    worker = threading.Thread(target=work, name="backshop-turn")
    shown = _Shown(door)
    with shop.hub.subscribe(About(workbench_id=at.id)) as news, interrupts() as asked:
        worker.start()
        while worker.is_alive():
            if asked.is_set():
                asked.clear()
                at.cancel()
            for note in news.wait(_WAIT_S):
                shown.see(note.name, note.payload)
        for note in news.take():
            shown.see(note.name, note.payload)
    shown.end()
    if failed:
        raise failed[0]
    return done[0], shown.text


class _Shown:
    """What a person sees of a turn: a line for each phase, the answer as it comes."""

    def __init__(self, door: Door) -> None:
        self._is_quiet = door.as_json
        self._has_person = sys.stderr.isatty()
        self._is_direct = False
        self.text = ""

    @property
    def _is_shown(self) -> bool:
        """Whether text is shown while it comes: what may be no answer only to a person."""
        return sys.stdout.isatty() or not self._is_direct

    def _begin_anew(self) -> None:
        """Leave what was said on the way behind; the answer begins on a line of its own."""
        if self.text:
            click.echo()
        self.text = ""

    def see(self, name: str, payload: Any) -> None:
        """Show a notification."""
        if self._is_quiet:
            return
        match name:
            case "WorkshopPhaseStarted":
                self._status(PHASES.get(payload["phase"], payload["phase"]))
            case "WorkshopImplementProgress":
                number, total = payload["current_item"], payload["total_items"]
                label = clean(payload["item_label"])
                about = f"Working on item {number} of {total}: {label}"
                self._is_direct = not label
                self._status(about if label else PHASES["direct"])
            case "WorkshopAgentProgress":
                self._begin_anew()
                self._status(clean(payload["text"]))
            case "WorkshopProposalProgress" if payload["phase"] in PROPOSALS:
                self._status(PROPOSALS[payload["phase"]])
            case "WorkshopToolExecuting" if payload.get("writes"):
                self._status(f"{PROPOSALS['applying']} {clean(payload.get('path', ''))}".rstrip())
            case "WorkshopModelProgress" if payload["state"] in MODEL_STATES:
                seconds = round(payload["waited_ms"] / 1000)
                self._status(f"{MODEL_STATES[payload['state']]} ({seconds} s)")
            case "WorkshopRunCancelRequested":
                self._status("Stopping…")
            case "WorkshopAssistantStream" if self._is_shown:
                if payload["delta_seq"] == 0:
                    self._begin_anew()
                self.text += payload["token_delta"]
                click.echo(clean_lines(payload["token_delta"]), nl=False)

    def end(self) -> None:
        """End the line of a streamed answer."""
        if self.text:
            click.echo()

    def _status(self, line: str) -> None:
        if self._has_person:
            click.echo(line, err=True)


def _show(door: Door, done: Answer, streamed: str, bench: str, *, is_round: bool) -> None:
    """Show the answer, and what to do next if files were changed."""
    if door.as_json:
        door.show(encode(done), str)
        return
    show_answer(done, streamed)
    if done.status in ("paused", "canceled"):
        click.echo(f"\nIt can go on: backshop retry {word(bench)}", err=True)
    if done.status != "paused" and done.has_draft:
        click.echo(f"\nThe changes wait in a Draft: backshop review {word(bench)}", err=True)
        is_changed = done.facts is None or done.facts.files is None or bool(done.facts.files)
        if is_round and is_changed:
            click.echo(
                f"What this changed in it: backshop review {word(bench)} --since last", err=True
            )


def show_answer(done: Answer, streamed: str, *, with_facts: bool = True) -> None:
    """Show what was not shown while it came, and what is true of the turn."""
    if done.text != streamed:
        click.echo(clean_lines(done.text))
    if with_facts:
        _facts(done)


def _facts(done: Answer) -> None:
    """Show what is true of the turn, apart from what was said (W11.20)."""
    if done.facts_lines:
        click.echo()
    for line in fact_lines(done.facts_lines, done.facts_first):
        click.echo(line)
    for one in done.warnings:
        click.echo(f"note: {clean(one)}")


def _line() -> str:
    try:
        return str(click.prompt("", prompt_suffix="> ", default="", show_default=False)).strip()
    except (click.Abort, EOFError):
        return ""


# ---------------------------------------------------------------- records


def _message(at: BenchWorkshop, text: str) -> str:
    """Return the id that MESSAGE stands for (S4.3)."""
    if not text.removeprefix("-").isdigit() or not text.startswith("-"):
        return text
    line = [m.message_id for m in at.history(limit=1000).messages if m.advances_head]
    place = int(text)
    if not -len(line) <= place < 0:
        raise NotFound(_too_far(place, len(line)), reason="message_not_found")
    return str(line[place])


def _too_far(place: int, count: int) -> str:
    if place == 0 or count == 0:
        return "count from the end: -1 is the last record" if count else "nothing was said yet"
    last = "its only record is -1" if count == 1 else f"it has -1 to -{count}"
    return f"the conversation does not go back as far as {place}; {last}"


def _chosen(choices: Sequence[str]) -> str:
    """Ask what becomes of the files (W15); whoever says no goes nowhere."""
    offered = f"{', '.join(choices)}, or n to leave all as it is"
    while True:
        said = str(click.prompt(f"Go back? ({offered})", default="n", err=True)).strip()
        if said.lower() in ("n", "no"):
            raise click.Abort
        meant = [one for one in choices if said and one.startswith(said.lower())]
        if len(meant) == 1:
            return meant[0]
        click.echo(f"There is more than one way back. Type one of: {offered}.", err=True)


def _proved(said: str, done: Undone | RedoDone) -> str:
    changed = done.changed
    return "\n".join([said, *changed_lines(changed), *proof_lines(changed, "as it was")])


def _records(count: int) -> str:
    return "1 record" if count == 1 else f"{count} records"


def _discarded(at: BenchWorkshop, count: int) -> list[str]:
    """Name the records at the end of the conversation by how they begin."""
    if not count:
        return [f"{_records(0)} are discarded"]
    line = [one for one in at.history(limit=1000).messages if one.advances_head][-count:]
    named = [f"  {_spoken(one)}" for one in line[:_RECORDS_SHOWN]]
    more = [f"  and {count - len(named)} more"] if count > len(named) else []
    return [f"{_records(count)} {'is' if count == 1 else 'are'} discarded:", *named, *more]


def _spoken(one: Message) -> str:
    """Return a record in one line: whose it is, and how it begins."""
    whose = {"user": "you", "assistant": "the agent"}.get(one.role or "", "Backshop")
    what = _event(one.event_kind, one.metadata) if one.event_kind else whose
    said = clean(headline(one.text, _TITLE_CHARS)) if one.text.strip() else ""
    return f"{what}: {said}" if said else what


def _effects(at: BenchWorkshop, shown: Undone) -> str:
    effects = shown.effects
    assert effects is not None
    drafts = {
        "none": "there is no Draft",
        "keep": "the Draft stays as it is",
        "restore": "the Draft becomes what it was then",
        "discard": "the Draft goes",
    }
    lines = [*_discarded(at, effects.discarded_count), drafts[effects.draft]]
    if effects.published_changed:
        lines.append("files were published or restored since then")
        lines += [f"would disappear: {clean(path)}" for path in effects.files_lost]
    lines += changed_lines(shown.changed)
    if effects.choices:
        lines.append("what becomes of the files has to be chosen (--mode):")
        lines += [f"  {one}: {_MODES[one]}" for one in effects.choices]
    return "\n".join(lines)


def _transcript(page: Conversation) -> str:
    lines = []
    place = -sum(1 for one in page.messages if one.advances_head)  # the page ends at the head
    for one in page.messages:
        note = "" if one.event_kind or one.status == "complete" else f" ({one.status})"
        count = f"  ({place})" if one.advances_head else ""
        place += bool(one.advances_head)
        lines.append(f"[{one.created_at}] {clean(_headed(one))}{note}  {one.message_id}{count}")
        if one.text:
            lines.append(clean_lines(one.text))
        if became := NOTES.get(str(one.metadata.get("became"))):
            lines.append(f"({became})")
        if one.type == "assistant_message" and one.metadata.get("note"):
            lines.append(f"(asked again: {clean_lines(str(one.metadata['note']))})")
        lines += fact_lines(one.facts_lines or (), one.facts_first)
    return "\n".join(lines) or "nothing was said yet"


def _headed(one: Message) -> str:
    """Return what a record is and whose."""
    name = who(one.by)
    if one.event_kind:
        told = _event(one.event_kind, one.metadata)
        return told if name is None else f"{told} ({name})"
    what = "request for changes" if one.metadata.get("on_draft") else str(one.role)
    return what if name is None else name if what == "user" else f"{what} by {name}"


def _event(kind: str, data: Mapping[str, Any]) -> str:
    """Return what an event of the conversation tells, as the pages say it (U3.1)."""
    if kind == "checkpoint_published":
        return published_line(data)
    return record_line(kind, data) or ENDED.get(kind) or kind.replace("_", " ")


def _planned(shown: PlanView) -> str:
    parts = [shown.research_md, shown.plan_md]
    for one in shown.items:
        why = f": {one.reason}" if one.reason else ""
        parts.append(f"{one.number}. {one.label} ({one.status}{why})")
        parts += [report.text for report in shown.reports if report.number == one.number]
    return "\n\n".join(clean_lines(part) for part in parts if part) or "no turn made a plan yet"


def _export(shop: Backshop, bench_id: str, path: Path, *, with_tools: bool) -> int:
    """Write every record in commit order (W2.1), tool calls where they began; return how many."""
    from backshop.workshop import Workshop, requests  # loaded when needed (S2.4)

    said: list[Message] = []
    wish = requests.GetConversation(workbench_id=bench_id, limit=1000, include_inactive=True)
    while True:
        page = shop.ask(Workshop.get_conversation, wish)
        said[:0] = page.messages
        if not page.has_more:
            break
        wish = replace(wish, before=said[0].message_id)
    records = [encode(one) for one in said]
    if with_tools:
        calls = [{"type": "tool_call", **encode(one)} for one in _tool_log(shop, bench_id)]
        records = sorted([*records, *calls], key=lambda one: one.get("created_at") or one["ts"])
    lines = (json.dumps(one, ensure_ascii=False, sort_keys=True) + "\n" for one in records)
    write_lines(path, lines)
    return len(records)


def _tool_log(shop: Backshop, bench_id: str) -> list[ToolLogEntry]:
    from backshop.workshop import Workshop, requests  # loaded when needed (S2.4)

    found: list[ToolLogEntry] = []
    while True:
        after = found[-1].id if found else 0
        wish = requests.GetToolLog(workbench_id=bench_id, limit=1000, after=after)
        page = shop.ask(Workshop.get_tool_log, wish)
        found += page.entries
        if not page.has_more:
            return found
