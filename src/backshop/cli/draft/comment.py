"""Comments on a Draft in the terminal: `backshop comment …` (B24)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from backshop.base.acting import who
from backshop.base.codec import encode
from backshop.base.errors import NotFound

from ..bench import BENCH
from ..door import Door, DoorGroup, clean, clean_lines, pass_door

if TYPE_CHECKING:
    from backshop.app import BenchWorkshop
    from backshop.bench import CommentInfo

COMMENT = click.argument("comment", metavar="COMMENT")
"""A comment by its number, or by its id."""


@click.group(cls=DoorGroup)
def comment() -> None:
    """Remark on what a Draft changes; agents read and answer."""


@comment.command("add")
@BENCH
@click.argument("path")
@click.argument("text")
@click.option(
    "--at",
    metavar="PLACE",
    help="Sheet1!B4:C9, line 12, row 3, paragraph 7 (from 0), slide 2, page 4, '\"words\"'.",
)
@pass_door
def add(door: Door, bench: str, path: str, text: str, at: str | None) -> None:
    """Say TEXT about PATH of the Draft, or about a place of it."""
    with door.shop() as shop:
        made = shop.workshop(bench).comment(path, text, at=at)
    place = f" {made.place_text}" if made.place_text else ""
    door.show(made, lambda one: f"comment {one.number} on {clean(path)}{clean(place)}")


@comment.command("list")
@BENCH
@click.argument("path", required=False)
@click.option("--open", "only_open", is_flag=True, help="Only those that nobody called done.")
@pass_door
def list_(door: Door, bench: str, path: str | None, only_open: bool) -> None:
    """Show the comments on the Draft, and where their places are now."""
    with door.shop() as shop:
        found = shop.workshop(bench).comments(path, state="open" if only_open else "all")
    door.show(
        {"comments": encode(list(found))},
        lambda _: "\n".join(map(comment_text, found)) or "there are no comments",
    )


@comment.command("answer")
@BENCH
@COMMENT
@click.argument("text")
@pass_door
def answer(door: Door, bench: str, comment: str, text: str) -> None:
    """Say TEXT under a comment."""
    _about(door, bench, comment, "answered", lambda at, one: at.answer_comment(one, text))


@comment.command("resolve")
@BENCH
@COMMENT
@click.option("--reopen", is_flag=True, help="It is open again.")
@pass_door
def resolve(door: Door, bench: str, comment: str, reopen: bool) -> None:
    """Call a comment done."""
    _about(
        door,
        bench,
        comment,
        "open again" if reopen else "resolved",
        lambda at, one: at.resolve_comment(one, resolved=not reopen),
    )


@comment.command("withdraw")
@BENCH
@COMMENT
@pass_door
def withdraw(door: Door, bench: str, comment: str) -> None:
    """Take back a comment you made."""
    _about(door, bench, comment, "withdrawn", lambda at, one: at.withdraw_comment(one))


def _about(
    door: Door,
    bench: str,
    comment: str,
    said: str,
    do: Callable[[BenchWorkshop, str], None],
) -> None:
    """Do something about one comment."""
    with door.shop() as shop:
        at = shop.workshop(bench)
        found = meant(at.comments(state="all"), comment)
        do(at, found.comment_id)
    door.show({"comment_id": found.comment_id}, lambda _: f"comment {found.number} is {said}")


def meant(comments: tuple[CommentInfo, ...], said: str) -> CommentInfo:
    """Return the comment somebody means by its number or its id."""
    for one in comments:
        if said in (str(one.number), f"#{one.number}", one.comment_id):
            return one
    numbers = tuple(str(one.number) for one in comments[:20])
    raise NotFound(f"the Draft has no comment {said!r}", reason="comment_not_found", hints=numbers)


def comment_text(one: CommentInfo) -> str:
    """Return a comment for people."""
    place = one.place_text if one.place_text is not None else one.made_at_place
    marks = [
        *(["resolved"] if one.is_resolved else []),
        *(["its place is gone"] if one.is_gone else ["touched since"] if one.is_touched else []),
    ]
    head = f"{one.number}. {clean(one.path)}{f' {clean(place)}' if place else ''}"
    lines = [head + (f"  ({', '.join(marks)})" if marks else "")]
    if one.quote:
        lines.append(f"    | {clean(one.quote)}")
    by = who(one.by)
    lines += [f"    {clean_lines(line)}" for line in one.text.splitlines()]
    lines[-1] += f"  — {clean(by)}" if by else ""
    for answer in one.answers:
        name = who(answer.by) or ("agent" if answer.is_agent else "")
        told = " ".join(answer.text.split())
        lines.append(f"    ↳ {clean(told)}" + (f"  — {clean(name)}" if name else ""))
    return "\n".join(lines)
