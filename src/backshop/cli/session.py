"""`backshop session`: find, show, export, import and delete what agents left behind (S4.2)."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from backshop.base.codec import decode
from backshop.base.command import Nothing
from backshop.base.labels import RUN_STATES

from .door import (
    Door,
    DoorGroup,
    clean,
    clean_lines,
    given,
    one_line,
    pass_door,
    read_text,
    table,
    write_lines,
)

if TYPE_CHECKING:
    from backshop.rails import Rails, session_view, studio_answers

_BARE = re.compile(r"[a-z2-7]{8,}")
_WHY = {  # why work is meant, as R7.18 names it and as people say it
    "matched_exact_id": "you named it",
    "matched_identity": "words of its title, goal or workflow",
    "matched_notes": "words of its newest notes",
    "matched_deep": "words of its notes",
    "matched_partial": "some words of its notes",
    "matched_head_sha": "same commit",
    "matched_branch": "same branch",
    "matched_repo_root": "same repository",
    "recency_fallback": "only recent",
}
_FOLDER = click.Path(path_type=Path, file_okay=False, exists=True)


@click.group(cls=DoorGroup)
def session() -> None:
    """Find, show, export, import and delete sessions. SESSION is an id or its beginning."""


@session.command("list")
@click.option("--status", type=click.Choice(RUN_STATES), help="Only sessions in this state.")
@click.option("--workflow", "workflow_id", help="Only sessions with a run of this workflow.")
@click.option("--query", help="Words of title, workflow or resume ref.")
@click.option("--limit", default=50, show_default=True)
@pass_door
def list_(
    door: Door, status: str | None, workflow_id: str | None, query: str | None, limit: int
) -> None:
    """List sessions, the most recently used first."""
    from backshop.rails import SessionsList, Studio  # loaded when needed (S2.4)

    request = given(status=status, workflowId=workflow_id, query=query, limit=limit)
    none = "no session is like that" if status or workflow_id or query else "no sessions yet"
    wish = decode(SessionsList, request)
    door.ask(Studio.sessions_list, wish, lambda found: _sessions(found) if found.sessions else none)


@session.command("show")
@click.argument("session_id", metavar="SESSION")
@pass_door
def session_show(door: Door, session_id: str) -> None:
    """Show SESSION: its runs and its own notes."""
    from backshop.rails import SessionGet, Studio  # loaded when needed (S2.4)

    with door.shop() as shop:
        request = SessionGet(session_id=shop.rails.session_id(session_id))
        door.show(shop.ask(Studio.session_get, request), _session)


@session.command("start")
@click.option("--title", help="What the work is about.")
@click.option("--workspace", type=_FOLDER, help="The project it is about.")
@pass_door
def session_start(door: Door, title: str | None, workspace: Path | None) -> None:
    """Make a session for notes outside any run."""
    request = given(title=title, workspacePath=str(workspace.absolute()) if workspace else None)
    door.call("start_session", request, lambda value: value["session"]["sessionId"])


@session.command()
@click.argument("query", required=False)
@click.option("--workspace", type=_FOLDER, help="Prefer work of this project.")
@pass_door
def resume(door: Door, query: str | None, workspace: Path | None) -> None:
    """Find earlier work: by words, by its short ref (r-…), run or session id, or the most recent.

    A ref or an id may be given by its beginning.
    """
    request = given(workspacePath=str(workspace.absolute()) if workspace else None)
    with door.shop() as shop:
        if query is not None:
            request |= _named(shop.rails, query.strip())
        found = shop.call("resume_session", request)
    door.show(found, partial(_candidates, words=request.get("query")))


def _named(rails: Rails, text: str) -> dict[str, str]:
    """Return what a person looks for: one session, one run, or work by words (S4.7)."""
    from backshop.rails import RailsError  # loaded by now (S2.4)

    if text.startswith("sess_"):
        return {"sessionId": rails.session_id(text)}
    if text.startswith(("run_", "r-")):
        return {"runId": rails.run_id(text)}
    if _BARE.fullmatch(text):  # an id without its first letters, or a word
        with suppress(RailsError):
            return {"sessionId": rails.session_id(text)}
        with suppress(RailsError):
            return {"runId": rails.run_id(text)}
    return {"query": text}


@session.command()
@click.argument("session_id", metavar="SESSION")
@click.option(
    "--format",
    "kind",
    type=click.Choice(["bundle", "markdown", "jsonl"]),
    default="bundle",
    show_default=True,
)
@click.option("--run", "run_id", help="Only this run (Markdown).")
@click.option("--salvage", is_flag=True, help="Export a damaged session as far as it is proved.")
@click.option("--times", is_flag=True, help="Show times (Markdown).")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="Write to a file.")
@pass_door
def export(
    door: Door,
    session_id: str,
    kind: str,
    run_id: str | None,
    salvage: bool,
    times: bool,
    output: Path | None,
) -> None:
    """Export SESSION to standard output or to a file."""
    from backshop.rails import SessionExport, Studio  # loaded when needed (S2.4)

    request = given(format=kind, salvage=salvage, times=times)
    with door.shop() as shop:
        request["sessionId"] = shop.rails.session_id(session_id)
        if run_id is not None:
            request["runId"] = shop.rails.run_id(run_id)
        found = shop.ask(Studio.session_export, decode(SessionExport, request))
    if output is None:
        door.show(found, lambda exported: exported.text.rstrip("\n"))
        return
    write_lines(output, [found.text])
    door.show({"path": str(output), "format": kind}, lambda value: f"wrote {value['path']}")


@session.command("import")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@pass_door
def import_(door: Door, file: Path) -> None:
    """Bring in the session of a bundle; under new ids if it is here already."""
    from backshop.rails import SessionImport, Studio  # loaded when needed (S2.4)

    request = SessionImport(bundle=read_text(file))
    door.ask(Studio.session_import, request, lambda imported: imported.session_id)


@session.command()
@click.argument("session_id", metavar="SESSION")
@click.option("--off", is_flag=True, help="Let retention have it again.")
@pass_door
def keep(door: Door, session_id: str, off: bool) -> None:
    """Keep SESSION for good."""
    from backshop.rails import SessionSetKeep, Studio  # loaded when needed (S2.4)

    with door.shop() as shop:
        request = SessionSetKeep(session_id=shop.rails.session_id(session_id), keep=not off)
        kept = shop.ask(Studio.session_set_keep, request)
        door.show(kept, lambda now: "kept" if now.keep else "not kept")


@session.command()
@click.argument("session_id", metavar="SESSION")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_door
def delete(door: Door, session_id: str, yes: bool) -> None:
    """Delete SESSION; its tokens end with it."""
    from backshop.rails import SessionDelete, Studio  # loaded when needed (S2.4)

    with door.shop() as shop:
        found = shop.rails.session_id(session_id)
        if not yes:
            door.confirm(f"Delete {clean(found)} for good?", "deleting a session")
        request = SessionDelete(session_id=found, confirm=found)
        gone = shop.ask(Studio.session_delete, request)
        door.show(gone, lambda deleted: f"deleted {deleted.session_id}")


@session.command("rotate-keys")
@pass_door
def rotate_keys(door: Door) -> None:
    """Sign tokens with a new key; tokens older than the last rotation end."""
    from backshop.rails import Studio  # loaded when needed (S2.4)

    door.ask(Studio.keys_rotate, Nothing(), lambda _: "tokens are signed with a new key")


def _sessions(found: studio_answers.SessionsListed) -> str:
    rows = [
        (
            one.session_id,
            one.status if one.health == "healthy" else one.health,
            one.current_step_id or "",
            one.last_activity or "",
            one_line(one.title or ""),
        )
        for one in found.sessions
    ]
    return table(rows, ("session", "status", "step", "last activity", "title"))


def _session(found: session_view.SessionPage) -> str:
    rows = [
        (one.run_id, one.resume_ref, one.workflow_id, one.status, one_line(one.title or ""))
        for one in found.run_list
    ]
    text = f"{found.session_id}  {clean(one_line(found.title or ''))}  {found.health}"
    if rows:
        text += "\n" + table(rows, ("run", "resume ref", "workflow", "status", "title"))
    for note in found.notes:
        said = str(note.notes_markdown if note.channel == "recap" else note.kind)
        text += f"\nnote: {clean_lines(said[:200], '  ')}"
    return text


def _candidates(value: dict[str, object], words: str | None) -> str:
    from backshop.rails import answers  # loaded by now (S2.4)

    found = decode(answers.Resumed, value)
    if not found.candidates:
        return "no earlier work here"
    rows = [
        (
            one.resume_ref or one.session_id,
            one.status,
            one.pending_step_id or "",
            ", ".join(_WHY[why] for why in one.why_matched),
            one_line(one.title or ""),
        )
        for one in found.candidates
    ]
    shown = table(rows, ("work", "status", "step", "why", "title"))
    nothing = words is not None and not found.matched
    return f"nothing has these words; what is recent:\n{shown}" if nothing else shown
