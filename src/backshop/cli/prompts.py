"""`backshop prompts`: what models are told, and the words people put in its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict

import click

from backshop.base.canon import parse
from backshop.base.codec import decode
from backshop.base.command import NOTHING

from .door import Door, DoorGroup, clean, clean_lines, pass_door, read_text, table

if TYPE_CHECKING:
    from backshop.prompts.answers import (
        PromptList,
        PromptRender,
        PromptShown,
        Rebased,
        Stored,
        TagList,
    )

Rows = list[tuple[str, ...]]


@click.group(cls=DoorGroup)
def prompts() -> None:
    """Show, render and check prompts, and override their words."""


@prompts.command("list")
@pass_door
def list_(door: Door) -> None:
    """List the prompts that are bundled or installed."""
    from backshop.prompts import Prompts  # loaded when needed (S2.4)

    door.ask(Prompts.list, NOTHING, _listed)


def _listed(found: PromptList) -> str:
    if not found.prompts:
        return "no prompts are bundled or installed"
    rows: Rows = [
        (one.namespace, one.key, str(one.sections), ", ".join(one.tags)) for one in found.prompts
    ]
    return table(rows, ("namespace", "key", "sections", "tags"))


@prompts.command()
@click.argument("namespace")
@click.argument("key")
@pass_door
def show(door: Door, namespace: str, key: str) -> None:
    """Show the sections of a prompt and what of it can be overridden."""
    from backshop.prompts import Prompts, requests  # loaded when needed (S2.4)

    door.ask(Prompts.get, requests.PromptName(namespace=namespace, key=key), _shown)


def _shown(found: PromptShown) -> str:
    hashes = {one.path: one.content_hash[:12] for one in found.descriptor.sections}
    rows: Rows = [
        (one.number, one.path, one.title, one.stability, hashes.get(one.path, "fixed"))
        for one in found.sections
    ]
    return table(rows, ("number", "path", "title", "stability", "override hash"))


@prompts.command()
@click.argument("namespace")
@click.argument("key")
@click.option(
    "--params",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="JSON file: values by the name of each params type.",
)
@click.option("--tag", help="Tag of overrides to apply (default: latest).")
@click.option("--response-format", is_flag=True, help="With the section that asks for the output.")
@click.option("--budget", type=int, help="Shorten to this many tokens.")
@pass_door
def render(
    door: Door,
    namespace: str,
    key: str,
    params: Path | None,
    tag: str | None,
    response_format: bool,
    budget: int | None,
) -> None:
    """Print exactly what a model would receive; no model is called."""
    from backshop.prompts import Prompts, requests  # loaded when needed (S2.4)

    wish = {
        "namespace": namespace,
        "key": key,
        "params": parse(read_text(params)) if params else {},
        "tag": tag,
        "response_format": response_format,
        "budget_tokens": budget,
    }
    door.ask(Prompts.render, decode(requests.RenderRequest, wish), _rendered)


def _rendered(found: PromptRender) -> str:
    rows: Rows = [(one.number, one.path, one.source, str(one.tokens)) for one in found.parts]
    notes = [f"{one.code}: {clean(one.message)}" for one in found.diagnostics]
    tools = ", ".join(one["name"] for one in found.tools) or "none"
    summary = table(rows, ("part", "path", "source", "tokens"))
    click.echo(
        "\n".join([summary, f"tokens: {found.tokens}, tools: {tools}", *notes, ""]), err=True
    )
    return clean_lines(found.text)


@prompts.command()
@click.argument("namespace", required=False)
@click.argument("key", required=False)
@pass_door
def lint(door: Door, namespace: str | None, key: str | None) -> None:
    """Find what is legal in prompts and still not wise; exit 1 if there is anything."""
    from backshop.prompts import Prompts, requests  # loaded when needed (S2.4)

    with door.shop() as shop:
        found = shop.ask(Prompts.lint, requests.PromptFilter(namespace=namespace, key=key))
    rows: Rows = [(one.code, one.namespace, one.key, one.message) for one in found.findings]
    door.show(
        found,
        lambda _: table(rows, ("code", "namespace", "key", "finding")) if rows else "nothing found",
    )
    if rows:
        raise click.exceptions.Exit(1)


@click.group(cls=DoorGroup)
def override() -> None:
    """The words stored in place of a prompt's own."""


prompts.add_command(override)


@override.command("list")
@click.argument("namespace", required=False)
@click.argument("key", required=False)
@pass_door
def override_list(door: Door, namespace: str | None, key: str | None) -> None:
    """List the stored tags."""
    from backshop.prompts import Prompts, requests  # loaded when needed (S2.4)

    door.ask(Prompts.overrides_list, requests.PromptFilter(namespace=namespace, key=key), _tags)


def _tags(found: TagList) -> str:
    rows: Rows = [
        (one.namespace, one.key, one.tag, str(one.revision), str(len(one.entries)))
        for one in found.tags
    ]
    head = ("namespace", "key", "tag", "revision", "entries")
    return table(rows, head) if rows else "nothing is overridden"


@override.command("show")
@click.argument("namespace")
@click.argument("key")
@click.option("--tag", default="latest", show_default=True)
@pass_door
def override_show(door: Door, namespace: str, key: str, tag: str) -> None:
    """Show a tag as it is stored."""
    from backshop.prompts import Prompts, requests  # loaded when needed (S2.4)

    door.ask(
        Prompts.overrides_get,
        requests.TaggedPrompt(namespace=namespace, key=key, tag=tag),
        lambda found: clean_lines(json.dumps(found.document, ensure_ascii=False, indent=2)),
    )


@override.command("set")
@click.argument("namespace")
@click.argument("key")
@click.argument("entry")
@click.argument("body", required=False)
@click.option("--file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--tag", default="latest", show_default=True)
@click.option("--mode", type=click.Choice(["template", "literal"]))
@click.option("--if-revision", type=int, help="Only if the tag is at this revision.")
@pass_door
def override_set(
    door: Door,
    namespace: str,
    key: str,
    entry: str,
    body: str | None,
    file: Path | None,
    tag: str,
    mode: Literal["template", "literal"] | None,
    if_revision: int | None,
) -> None:
    """Store BODY, or the content of --file, for ENTRY: a section path or `tool:NAME`."""
    from backshop.prompts import Prompts, requests  # loaded when needed (S2.4)

    if (body is None) == (file is None):
        raise click.UsageError("give the text or --file")
    wish = requests.SetRequest(
        namespace=namespace,
        key=key,
        tag=tag,
        body=read_text(file) if file else body or "",
        mode=mode,
        if_revision=if_revision,
        **_entry(entry),
    )
    door.ask(Prompts.overrides_set, wish, lambda done: f"stored as revision {done.revision}")


class _Entry(TypedDict, total=False):
    section: str
    tool: str


def _entry(entry: str) -> _Entry:
    name = entry.removeprefix("tool:")
    return {"tool": name} if name != entry else {"section": entry}


@override.command("unset")
@click.argument("namespace")
@click.argument("key")
@click.argument("entry")
@click.option("--tag", default="latest", show_default=True)
@pass_door
def override_unset(door: Door, namespace: str, key: str, entry: str, tag: str) -> None:
    """Remove one stored text."""
    from backshop.prompts import Prompts, requests  # loaded when needed (S2.4)

    wish = requests.UnsetRequest(namespace=namespace, key=key, tag=tag, **_entry(entry))
    door.ask(Prompts.overrides_unset, wish, lambda done: f"now at revision {done.revision}")


@override.command("delete")
@click.argument("namespace")
@click.argument("key")
@click.option("--tag", default="latest", show_default=True)
@pass_door
def override_delete(door: Door, namespace: str, key: str, tag: str) -> None:
    """Remove a tag."""
    from backshop.prompts import Prompts, requests  # loaded when needed (S2.4)

    wish = requests.TaggedPrompt(namespace=namespace, key=key, tag=tag)
    door.ask(Prompts.overrides_delete, wish, lambda _: f"{tag} is gone")


@override.command("seed")
@click.argument("namespace")
@click.argument("key")
@click.option("--tag", default="latest", show_default=True)
@pass_door
def override_seed(door: Door, namespace: str, key: str, tag: str) -> None:
    """Create a tag from the prompt's own words, to be edited."""
    from backshop.prompts import Prompts, requests  # loaded when needed (S2.4)

    wish = requests.TaggedPrompt(namespace=namespace, key=key, tag=tag)
    door.ask(Prompts.overrides_seed, wish, _seeded)


def _seeded(made: Stored) -> str:
    document = made.document
    count = len(document["sections"]) + len(document["tools"])
    return f"{count} entries, revision {document['revision']}"


@override.command("export")
@click.argument("namespace", required=False)
@click.argument("key", required=False)
@click.option("--tag")
@pass_door
def override_export(door: Door, namespace: str | None, key: str | None, tag: str | None) -> None:
    """Print overrides as one JSON bundle."""
    from backshop.prompts import Prompts, requests  # loaded when needed (S2.4)

    with door.shop() as shop:
        wish = requests.PromptFilter(namespace=namespace, key=key, tag=tag)
        bundle = shop.ask(Prompts.overrides_export, wish).bundle
    door.show(bundle, lambda value: json.dumps(value, ensure_ascii=True, indent=2))


@override.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--on-conflict", type=click.Choice(["fail", "skip", "replace"]), default="fail")
@pass_door
def override_import(door: Door, file: Path, on_conflict: str) -> None:
    """Store a bundle; all of it is checked before any of it is written."""
    from backshop.prompts import Prompts, requests  # loaded when needed (S2.4)

    wish = {"bundle": parse(read_text(file)), "on_conflict": on_conflict}
    door.ask(
        Prompts.overrides_import,
        decode(requests.ImportRequest, wish),
        lambda done: "\n".join(clean(one) for one in done.written) or "nothing was written",
    )


@override.command("doctor")
@click.argument("namespace", required=False)
@click.argument("key", required=False)
@click.option("--tag")
@pass_door
def override_doctor(door: Door, namespace: str | None, key: str | None, tag: str | None) -> None:
    """Say of every stored text whether it applies; exit 1 if one does not."""
    from backshop.prompts import Prompts, requests  # loaded when needed (S2.4)

    with door.shop() as shop:
        wish = requests.PromptFilter(namespace=namespace, key=key, tag=tag)
        found = shop.ask(Prompts.overrides_doctor, wish)
    rows: Rows = [
        (
            *(one.state, one.namespace, one.key, one.tag, one.entry),
            one.provenance.get("source", ""),
        )
        for one in found.entries
    ]
    head = ("state", "namespace", "key", "tag", "entry", "by")
    door.show(found, lambda _: table(rows, head) if rows else "nothing is overridden")
    if any(row[0] != "ok" for row in rows):
        raise click.exceptions.Exit(1)


@override.command("rebase")
@click.argument("namespace")
@click.argument("key")
@click.argument("path")
@click.option("--tag", default="latest", show_default=True)
@click.option("--yes", is_flag=True, help="Keep the stored text for today's wording.")
@pass_door
def override_rebase(door: Door, namespace: str, key: str, path: str, tag: str, yes: bool) -> None:
    """Show how a stored text differs from today's wording and, with --yes, keep it."""
    from backshop.prompts import Prompts, requests  # loaded when needed (S2.4)

    wish = requests.RebaseRequest(namespace=namespace, key=key, tag=tag, section=path, confirm=yes)
    door.ask(Prompts.overrides_rebase, wish, _rebased)


def _rebased(shown: Rebased) -> str:
    done = shown.revision
    last = f"kept as revision {done}" if done else "say --yes to keep the stored text"
    return f"{clean_lines(shown.diff)}\n{last}"
