"""`backshop do`: files copied in, a turn, what changed, a word of the person, results back (S4.6).

A fixed sequence of commands on a workbench of its own. Whoever is killed on the way leaves the
person's files old or new, and the workbench, which says what happened.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from backshop.base.codec import encode
from backshop.base.errors import BackshopError, ValidationFailed
from backshop.base.labels import headline
from backshop.base.paths import UNUSABLE, bench_path
from backshop.bench import Bench, Differ, requests, views
from backshop.bench.answers import AddResult, WroteBack
from backshop.formats import TableDiff, TextDiff

from ..bench import written_lines
from ..door import Door, DoorCommand, clean, pass_door, word
from ..draft.review import change_lines, diff_text, whole_diff
from ..workshop import ENDED_WELL, INPUTS, named_inputs, show_answer, watched_turn
from .model_way import require_model

if TYPE_CHECKING:
    from backshop.app import Answer, Backshop, BenchWorkshop
    from backshop.bench import ChangeSet, Diff

NAME_MAX_CHARS = 60
_FILES_SHOWN, _LINES_SHOWN = 20, 80
_COPYING = {  # why a file is passed over (B6.7)
    "unreadable": "it cannot be read",
    "read_failed": "it cannot be read to its end",
    "symlink": "it is a link",
    "not_regular": "it is no plain file",
    "size_limit": "it is too large",
}
_ASKED = "Write this back? y, n, or say what to change"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How it ended: `written`, `unchanged`, `discarded`, `waiting`, `paused`, `conflict`, `failed`.

    Of a workbench that is kept, `next` says how to go on.
    """

    status: str
    workbench_id: str
    is_kept: bool
    answer: str = ""
    turn_status: str = ""
    changed: tuple[str, ...] = ()
    files: tuple[WroteBack, ...] = ()
    next: tuple[str, ...] = ()

    @property
    def is_well(self) -> bool:
        """Whether it ended as somebody wanted it to."""
        return self.status in ("written", "unchanged", "discarded")


@dataclass(frozen=True, kw_only=True)
class Job:
    """One line at work: whose door, which workbench, what may be done unasked."""

    door: Door
    shop: Backshop
    at: BenchWorkshop
    yes: bool
    keep: bool
    said: list[Answer] = field(default_factory=list)

    def ended(self, status: str, *, files: tuple[WroteBack, ...] = ()) -> Outcome:
        """Return how it ended; a workbench that nobody needs any more goes to the trash."""
        last = self.said[-1] if self.said else None
        is_over = status in ("written", "unchanged", "discarded", "failed")
        is_kept = self.keep or not is_over
        has_draft = status == "waiting" or (status == "paused" and last and last.has_draft)
        changed = tuple(one.path for one in self.at.review().entries) if has_draft else ()
        if not is_kept:
            remove(self.shop, self.at.id)
        return Outcome(
            status=status,
            workbench_id=self.at.id,
            is_kept=is_kept,
            answer=last.text if last else "",
            turn_status=last.status if last else "",
            changed=changed,
            files=files,
            next=_next(status, self.at.id) if is_kept else (),
        )


@click.command("do", cls=DoorCommand)
@click.argument("text")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--model", "model_id", help="Which model; without it, your own choice.")
@click.option("--workflow", help="Let this workflow of the catalogue drive the turn.")
@INPUTS
@click.option("--yes", is_flag=True, help="Publish and write back without asking.")
@click.option("--keep", is_flag=True, help="Keep the workbench afterwards.")
@click.pass_context
@pass_door
def do(
    door: Door,
    ctx: click.Context,
    text: str,
    files: tuple[Path, ...],
    model_id: str | None,
    workflow: str | None,
    inputs: tuple[str, ...],
    yes: bool,
    keep: bool,
) -> None:
    """Let the agent do TEXT to copies of FILES, show what changed, and write it back.

    You say y, n, or what to change. A file that somebody changed meanwhile stays as it is; new
    files go beside the first of FILES and replace nothing.
    """
    named = named_inputs(inputs, workflow)
    sources = _sources(files)
    with door.shop() as shop:
        model = require_model(shop, model_id)
        created = shop.ask(Bench.create, requests.WorkbenchCreate(name=_name(text)))
        at = shop.workshop(created.workbench_id)
        job = Job(door=door, shop=shop, at=at, yes=yes, keep=keep)
        try:
            copied = _copied(shop, at, sources)
            at.use_model(model)
            _require_consent(job)
            given = _inputs(at, workflow, named, files, copied)
        except BaseException:
            remove(shop, at.id)  # nothing has happened yet
            raise
        first = partial(_first, text, workflow=workflow, inputs=given)
        try:
            outcome = _rounds(job, first)
        except BackshopError:
            _leave(job)
            raise
    door.show(encode(outcome), lambda _: _told(outcome))
    if not outcome.is_well:
        ctx.exit(1)


def remove(shop: Backshop, bench_id: str) -> None:
    """Throw the workbench away; it stays in the trash for a while."""
    own = requests.BenchRequest(workbench_id=bench_id)
    if shop.ask(Bench.draft_get_state, own).has_draft:
        shop.ask(Bench.draft_discard, own)
    shop.ask(Bench.delete, requests.WorkbenchDelete(workbench_id=bench_id, confirm=bench_id))


def _leave(job: Job) -> None:
    """Keep a workbench that holds something, and say where; one that holds nothing goes."""
    if not any(one.has_draft for one in job.said):
        remove(job.shop, job.at.id)
        return
    job.door.tell(f"the result waits in workbench {job.at.id}: backshop review {job.at.id}")


# ---------------------------------------------------------------- in


def _sources(files: tuple[Path, ...]) -> list[Path]:
    """Return whole paths, each once; links on the way to a file are followed, the last is not."""
    found: dict[Path, None] = {}
    for one in files:
        path = one.expanduser().absolute()
        try:
            path = path.parent.resolve(strict=True) / path.name if path.name != ".." else path
        except (OSError, RuntimeError) as error:
            said = f"there is no file {one}"
            raise ValidationFailed(said, reason="bad_params") from error
        found[path.resolve() if path.name in ("", "..") else path] = None
    return list(found)


def _copied(shop: Backshop, at: BenchWorkshop, sources: list[Path]) -> dict[str, str]:
    """Copy the files in and remember where they are from; return their paths in the workbench.

    Raises:
        ValidationFailed: `bad_params`, one that was named cannot be copied, or there is none.
    """
    wish = requests.WorkbenchFilesAdd(
        workbench_id=at.id,
        source_paths=tuple(map(str, sources)),
        recursive=True,
        on_conflict="keep_both",
    )
    results = shop.ask(Bench.files_add, wish).add_results
    copied = {one.source_path: one.path for one in results if one.path is not None}
    named = {str(path) for path in sources}
    for one in results:
        if one.path is None and one.source_path in named:
            raise ValidationFailed(_why_not_copied(one), reason="bad_params")
    if not copied:
        raise ValidationFailed(
            f"no file that can be worked on is in {', '.join(map(str, sources))}",
            reason="bad_params",
            hints=("name files, or a folder that holds some",),
        )
    originals = tuple(
        requests.OriginalPath(path=path, target=source) for source, path in copied.items()
    )
    bound = requests.WorkbenchBindOriginals(workbench_id=at.id, originals=originals)
    shop.ask(Bench.bind_originals, bound)
    return copied


def _why_not_copied(one: AddResult) -> str:
    """Say why a file that was named cannot be worked on."""
    source = Path(one.source_path)
    if one.reason == "unreadable" and not os.path.lexists(source):
        return f"there is no file {source}"
    why = _COPYING.get(one.reason or "", one.reason or "it cannot be read")
    if one.reason == "invalid_name":
        try:
            bench_path(source.name)
        except ValidationFailed as error:
            why = error.message.removeprefix(UNUSABLE)
        why = f"its name is none in a workbench ({why})"
    return f"{source.name} cannot be copied: {why}"


def _name(text: str) -> str:
    return headline("".join(c if c.isprintable() else " " for c in text), NAME_MAX_CHARS)


def _require_consent(job: Job) -> None:
    """Ask whether the content may go to the model, where that is not settled (M4).

    Raises:
        BackshopError: nobody can be asked, or they said no; nothing was sent.
    """
    from backshop.models import ConsentRequired, Permissions  # loaded when needed (S2.4)
    from backshop.models import requests as models

    status = job.shop.ask(Permissions.status, models.ConsentQuery(workbench_id=job.at.id))
    if status.consented or not status.asked:
        return
    where = f"{status.model_id} at {clean(status.host)}"
    if not job.door.has_person:
        raise ConsentRequired(
            f"these files would go to {where}, and nobody can be asked",
            hints=("`backshop consent mode allow_all --yes` agrees for all of them",),
        )
    names = ", ".join(clean(one.path) for one in status.files[:_FILES_SHOWN])
    job.door.confirm(f"{names} would go to {where}. Agree?", "sending files")
    agreed = models.GrantConsent(
        workbench_id=job.at.id,
        provider_id=status.provider_id,
        model_id=status.model_id,
        scope_hash=status.scope_hash,
        persist=True,
    )
    job.shop.ask(Permissions.grant, agreed)


def _inputs(
    at: BenchWorkshop,
    workflow: str | None,
    named: dict[str, str],
    files: tuple[Path, ...],
    copied: dict[str, str],
) -> dict[str, str]:
    """Return the inputs of a workflow as paths of the workbench; files that are left go in order.

    Raises:
        BackshopError: they do not fit what the workflow asks for.
    """
    if workflow is None:
        return {}
    known = {str(one): copied.get(str(path)) for one in files for path in _sources((one,))}
    given = {name: known.get(path) or path for name, path in named.items()}
    (asking,) = at.workflow_inputs(workflow).workflows
    open_ = [one.name for one in asking.inputs if one.is_file and one.name not in given]
    left = [path for path in copied.values() if path not in given.values()]
    if len(open_) == len(left):
        given |= dict(zip(open_, left, strict=True))
    at.workflow_inputs(workflow, given)
    return given


# ---------------------------------------------------------------- work


def _first(text: str, at: BenchWorkshop, *, workflow: str | None, inputs: dict[str, str]) -> Answer:
    return at.send(text, workflow=workflow, inputs=inputs, origin="cli")


def _rounds(job: Job, ask: Callable[[BenchWorkshop], Answer]) -> Outcome:
    """Let the agent work until the person is content, or has had enough."""
    while True:
        done, streamed = watched_turn(job.door, job.shop, job.at, ask)
        job.said.append(done)
        if not job.door.as_json:
            show_answer(done, streamed, with_facts=not done.has_draft)  # else the review has them
        if done.status not in ENDED_WELL:
            return job.ended("paused" if done.status == "paused" else "failed")
        if not done.has_draft:
            is_well = done.status == "complete" and not (done.facts and done.facts.notes)
            return job.ended("unchanged" if is_well else "failed")
        found = job.at.review()
        if not job.door.as_json:
            click.echo("\n".join(_shown(job, found)))
        if job.yes:
            return _finished(job, found)
        if not job.door.has_person:
            return job.ended("waiting")
        try:
            word = _asked()
        except click.Abort:
            return job.ended("waiting")
        if word.lower() in ("y", "yes"):
            return _finished(job, found)
        if word.lower() in ("n", "no"):
            return job.ended("discarded")
        ask = partial(_again, word)


def _again(text: str, at: BenchWorkshop) -> Answer:
    return at.request_changes(text, origin="cli")


def _asked() -> str:
    word = ""
    while not word:
        word = str(click.prompt(_ASKED, default="", show_default=False, err=True)).strip()
    return word


def _finished(job: Job, found: ChangeSet) -> Outcome:
    """Publish exactly what was shown, and write it back."""
    job.at.publish(found.tree)
    done = job.shop.ask(Bench.write_back, requests.BenchRequest(workbench_id=job.at.id))
    is_whole = all(one.is_done for one in done.files)
    return job.ended("written" if is_whole else "conflict", files=done.files)


# ---------------------------------------------------------------- out


def _shown(job: Job, found: ChangeSet) -> Iterator[str]:
    """Yield what the Draft changes, file by file, as far as a person reads."""
    for one in found.entries[:_FILES_SHOWN]:
        lines = diff_text(_readable(job, one.path)).split("\n")
        yield f"--- {clean(one.path)}"
        yield from lines[:_LINES_SHOWN]
        if len(lines) > _LINES_SHOWN:
            more = len(lines) - _LINES_SHOWN
            yield f"… {more} more lines: backshop review {job.at.id} {word(one.path)}"
    yield from change_lines(found)


def _readable(job: Job, path: str) -> Diff:
    """Return a difference in lines, rows or cells; of a document or slides that of their text."""
    about = views.ReviewPath(workbench_id=job.at.id, path=path)
    whole, _ = whole_diff(job.shop, about)
    if isinstance(whole.body, TextDiff | TableDiff) or whole.file_kind in ("xlsx", "image"):
        return whole
    try:
        return replace(job.shop.ask(Differ.text_diff, about), also=whole.also)
    except BackshopError:
        return whole


def _next(status: str, bench_id: str) -> tuple[str, ...]:
    if status == "waiting":
        return (
            f"backshop review {bench_id}",
            f"backshop publish {bench_id}",
            f"backshop bench write-back {bench_id}",
        )
    if status == "paused":
        return (f"backshop retry {bench_id}", f"backshop review {bench_id}")
    if status == "conflict":
        return (
            f"backshop bench extract {bench_id} FOLDER",
            f"backshop bench write-back {bench_id}",
        )
    return (f"backshop history {bench_id}",)


def _told(outcome: Outcome) -> str:
    lines = list(written_lines(outcome.files))
    if outcome.status == "discarded":
        lines.append("nothing was written")
    if outcome.status == "unchanged":
        lines.append("no file was changed")
    if outcome.status == "waiting":
        lines.append("nothing was written back; the result waits in a workbench:")
    if outcome.status == "paused":
        lines.append("nothing was written back; the work waits in a workbench, unfinished:")
    if outcome.is_kept:
        lines.append(f"kept: workbench {outcome.workbench_id}")
        lines += [f"  {one}" for one in outcome.next]
    return "\n".join(lines)
