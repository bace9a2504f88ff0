"""`backshop`: finds the command, runs it, and turns every error into an exit code (S4.1)."""

from __future__ import annotations

import json
import sys
from contextlib import suppress

import click

from backshop import __version__
from backshop.base.errors import BackshopError, ValidationFailed
from backshop.base.progress import watched

from .door import OF_PROJECT, Door, DoorGroup
from .progress import Bar

LAZY = {
    "backup": ("admin:backup", "Write a consistent copy of the home."),
    "bench": ("bench:bench_group", "Make, fill and look after workbenches."),
    "cancel": ("workshop:cancel", "Stop the agent at work on a workbench."),
    "chat": ("workshop:chat", "Talk with the agent about a workbench."),
    "folder": ("folder:folder", "Look after the folder that a workbench follows."),
    "open": ("folder:open_", "Open the workbench of a folder of yours."),
    "do": (
        "one_line.command:do",
        "Let the agent change files of yours, and write the result back.",
    ),
    "history": ("workshop:history", "Show the conversation of a workbench."),
    "note": ("workshop:note", "Write to the agent at work on a workbench."),
    "plan": ("workshop:plan", "Show what the agent found out and planned."),
    "redo": ("workshop:redo", "Take the last rewind back."),
    "regenerate": ("workshop:regenerate", "Let the agent answer again."),
    "retry": ("workshop:retry", "Go on with a turn that stopped, or try it again."),
    "revise": ("workshop:revise", "Ask for changes of a Draft that waits."),
    "rewind": ("workshop:rewind", "Go back to an earlier message, files included."),
    "search": ("lookup.search:search", "Find workbenches, files and messages by words."),
    "send": ("workshop:send", "Ask the agent to do something in a workbench."),
    "checkpoint": ("checkpoint:checkpoint", "States of Published that can be brought back."),
    "comment": ("draft.comment:comment", "Remark on what a Draft changes."),
    "discard": ("draft.review:discard", "Throw a Draft away."),
    "draft": ("draft.review:draft", "Look at a Draft, or correct it by hand."),
    "publish": ("draft.review:publish", "Make a Draft Published."),
    "review": ("draft.review:review", "Show what a Draft changes."),
    "call": ("admin:call", "Run any command of the product by name."),
    "completion": ("manual:completion", "Complete commands in bash, zsh or fish."),
    "consent": ("models:consent", "What may leave the machine, and what left."),
    "context": ("context:context", "What every call is told besides the files."),
    "digest": ("digest:digest", "What prompts say about the files of a workbench."),
    "config": ("admin:config", "Show or change settings."),
    "demo": ("demo:demo", "See the product at work, offline."),
    "doctor": ("admin:doctor", "Look for damage and for what is missing."),
    "file": ("files:file", "Map, read, query or compare any file."),
    "gc": ("admin:gc", "Remove stored contents that nothing needs."),
    "man": ("manual:man", "Print the manual page."),
    "migrate-store": ("admin:migrate_store", "Copy the store to another database or storage."),
    "mcp": ("serve:mcp", "Serve tools to an agent over MCP."),
    "prompts": ("prompts:prompts", "Show, render and override prompts."),
    "model": ("models:model", "Which models there are, and which one is yours."),
    "provider": ("models:provider", "Keys and servers: who may be called."),
    "rpc": ("serve:rpc", "Answer JSON-RPC on standard input."),
    "restore": ("admin:restore", "Make a home from a backup."),
    "run": ("run:run", "Start, continue and look at runs of workflows."),
    "serve": ("serve:serve", "Run the web app."),
    "session": ("session:session", "Find, export, import and delete sessions."),
    "usage": ("usage:usage", "Show what models used: tokens, and money where a price is known."),
    "worker": ("serve:worker", "Work on turns that a team's servers hand over."),
    "user": ("people:user", "People who share this home."),
    "workflow": ("workflow:workflow", "List, check, write and copy workflows."),
}


WAYS = {  # what a person at a terminal can do, by the action an error offers (M11)
    "confirm_deletions": "`backshop review BENCH --confirm-deletions`",
    "discard_draft": "`backshop discard BENCH`",
    "grant_consent": "`backshop consent grant BENCH`",
    "publish_draft": "`backshop publish BENCH`",
    "repair_published": "`backshop bench repair BENCH`",
    "review_draft": "`backshop review BENCH`",
    "switch_model": "`backshop model use ID --bench BENCH` (`backshop model list`)",
}
SETTINGS = {  # where `open_settings` leads, by the code of the error
    "BUDGET_CAP_REACHED": "`backshop config set budget.tokens N` or `budget.usd N`",
    "PROVIDER_AUTH_FAILED": "`backshop provider set-key PROVIDER`",
    "PROVIDER_NOT_CONFIGURED": "`backshop provider set-key PROVIDER`",
}
_MODES = frozenset(("chat_only", "discard_draft", "restore_published"))  # of a rewind (W15)
_NAMES = frozenset(  # reasons whose hints are names that may have been meant
    (
        "bad_setting",
        "not_found",
        "unknown_command",
        "unknown_model",
        "unknown_provider",
        "unknown_sheet",
    )
)
_LEADS = {  # what hints of other reasons are, where they are no sentences
    "bad_range": "there is",
    "sql_forbidden_table": "the table is called",
}
NEXT = {  # what helps, by the reason of an error that offers no action
    "no_draft": "`backshop send BENCH TEXT` lets the agent begin one",
    "bad_category": "`backshop context list BENCH` names them",
    "unknown_model": "`backshop model list` names them",
    "unknown_provider": "`backshop provider list` names them",
    "duplicate": "`--on-conflict replace` or `keep_both`, or `skip` to leave them",
    "connect": "see that the server there is started, or that this machine is online",
    "read_only": "make that place writable, or name another one (`--home` for the home)",
}
NEXT_OF = {  # the same by code, where a code says it all
    "DISK_FULL": "make room on that disk, then repeat the command",
}
CONFIRMED = {  # how one agrees, by the reason of CONFIRMATION_REQUIRED
    "confirm_deletions": WAYS["confirm_deletions"],
    "confirm_overwrite": "`--overwrite` replaces it",
    "draft_changed": "`backshop review BENCH` shows it as it is now",
}
RECONCILE = "`backshop draft reconcile BENCH --keep theirs|ours|both`"  # B9.16


@click.group(cls=DoorGroup, lazy=LAZY, invoke_without_command=True)
@click.version_option(__version__, prog_name="backshop")
@click.pass_context
def cli(context: click.Context) -> None:
    """Let an AI agent work on your files without ever being able to spoil them.

    Without a command: run the web app, like `backshop serve`.
    """
    if context.invoked_subcommand is None:
        from .serve import serve  # loaded when it is used (S2.4)

        context.invoke(serve)


class Stopped(BackshopError):
    """The person pressed Ctrl-C, or said no."""

    code = "USER_CANCELED"
    actions = ()


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 done, 1 refused or failed, 2 usage."""
    state = Door(report=_report)
    try:
        code = _run(argv, state)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.UsageError as error:
        error.show()
        return 2
    except (click.Abort, KeyboardInterrupt) as end:
        is_no = isinstance(end, click.Abort) and not isinstance(end.__cause__, KeyboardInterrupt)
        if is_no and not state.as_json:  # an answer to a question, and no error (S4.17)
            click.echo("Nothing was done.", err=True)
        else:
            _report(Stopped("stopped"), state)
        return 1
    except BrokenPipeError:  # the reader went away, as with `head`
        sys.stderr.close()
        return 0
    except Exception as error:
        _report(error, state)
        return 1
    return code if isinstance(code, int) else 0  # a command that ended with an exit code


def _run(argv: list[str] | None, state: Door) -> object:
    """Run the command; a person at a terminal sees how far long work has come."""
    if not sys.stderr.isatty():
        return cli.main(args=argv, prog_name="backshop", standalone_mode=False, obj=state)
    bar = Bar()
    with bar.giving_way(), watched(bar):
        return cli.main(args=argv, prog_name="backshop", standalone_mode=False, obj=state)


def _keep_log(state: Door) -> None:
    """Send what fault_of logs to the home's log, whatever the command had opened by then."""
    from backshop.app import attach, find_home, layout_of

    with suppress(ValidationFailed):  # a home that cannot be found has no log
        home = find_home(state.home)
        attach(home, "error", layout_of(home))


def _about(way: str, state: Door) -> str:
    """Return a command with the workbench the person named, ready to be pasted (S4.8)."""
    from .door import word

    return way if state.bench is None else way.replace("BENCH", word(state.bench))


def _report(error: Exception, state: Door) -> None:
    from backshop.app import fault_of  # loaded only when something failed

    _keep_log(state)
    fault = fault_of(error)
    if state.as_json:
        click.echo(json.dumps(fault.envelope, ensure_ascii=False, indent=2))
        return
    from .door import clean
    from .spoken import advice, message

    details = fault.envelope.get("error", fault.envelope)
    suggestion = details.get("suggestion")
    told = message(fault.message) if suggestion else fault.message
    click.echo(f"error: {clean(told)}", err=True)
    if isinstance(detail := details.get("detail"), str):
        lines = [clean(line) for line in detail.splitlines() if line]
        click.echo("  detail: " + "\n    ".join(lines), err=True)
    if hints := details.get("hints"):
        are_names = details.get("reason") in _NAMES and not any("`" in str(one) for one in hints)
        lead = "did you mean" if are_names else _LEADS.get(details.get("reason"), "hint")
        click.echo(f"  {lead}: " + "; ".join(clean(str(hint)) for hint in hints), err=True)
    if choices := details.get("choices"):
        if "keep_theirs" in choices:
            click.echo(f"  choose: {_about(RECONCILE, state)}", err=True)
        elif _MODES.issuperset(choices):
            click.echo("  choose: " + ", or ".join(f"--mode {one}" for one in choices), err=True)
        else:
            click.echo("  choose: " + ", ".join(clean(str(one)) for one in choices), err=True)
    if suggestion:
        click.echo(f"  next: {clean(advice(str(suggestion)))}", err=True)
    code = details.get("error_code") or details.get("code")
    if code == "WORKFLOW_NOT_FOUND" and state.project_left_out:
        click.echo(f"  next: {OF_PROJECT}", err=True)
    reason = details.get("reason")
    known = WAYS | ({"open_settings": SETTINGS[code]} if code in SETTINGS else {})
    if reason in CONFIRMED:  # the code alone stands for several things to agree to
        known = {"confirm_deletions": CONFIRMED[reason]}
    if reason in NEXT:
        click.echo(f"  next: {_about(NEXT[reason], state)}", err=True)
    elif code in NEXT_OF:
        click.echo(f"  next: {NEXT_OF[code]}", err=True)
    if ways := [known[action] for action in details.get("actions", ()) if action in known]:
        click.echo("  next: " + ", or ".join(_about(one, state) for one in ways), err=True)
    click.echo(f"  ({code}{': ' + reason if reason else ''})", err=True)
