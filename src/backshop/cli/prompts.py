"""`backshop prompts`: what models are told, and the words people put in its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from backshop.base.canon import parse

from .door import Door, DoorGroup, clean, clean_lines, given, pass_door, read_text, table

Rows = list[tuple[str, ...]]


@click.group(cls=DoorGroup)
def prompts() -> None:
    """Show, render and check prompts, and override their words."""


@prompts.command("list")
@pass_door
def list_(door: Door) -> None:
    """List the prompts that are bundled or installed."""
    door.call("PromptsList", {}, _listed)


def _listed(value: Any) -> str:
    if not value["prompts"]:
        return "no prompts are bundled or installed"
    return table(
        [
            (one["namespace"], one["key"], str(one["sections"]), ", ".join(one["tags"]))
            for one in value["prompts"]
        ],
        ("namespace", "key", "sections", "tags"),
    )


@prompts.command()
@click.argument("namespace")
@click.argument("key")
@pass_door
def show(door: Door, namespace: str, key: str) -> None:
    """Show the sections of a prompt and what of it can be overridden."""

    def human(value: Any) -> str:
        hashes = {one["path"]: one["content_hash"] for one in value["descriptor"]["sections"]}
        rows: Rows = [
            (
                one["number"],
                one["path"],
                one["title"],
                one["stability"],
                hashes[one["path"]][:12] if one["path"] in hashes else "fixed",
            )
            for one in value["sections"]
        ]
        return table(rows, ("number", "path", "title", "stability", "override hash"))

    door.call("PromptsGet", {"namespace": namespace, "key": key}, human)


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
    request: dict[str, Any] = {
        "namespace": namespace,
        "key": key,
        "params": parse(read_text(params)) if params else {},
        "response_format": response_format,
    }
    if tag is not None:
        request["tag"] = tag
    if budget is not None:
        request["budget_tokens"] = budget

    def human(value: Any) -> str:
        rows: Rows = [
            (one["number"], one["path"], one["source"], str(one["tokens"]))
            for one in value["parts"]
        ]
        notes = [f"{one['code']}: {clean(one['message'])}" for one in value["diagnostics"]]
        tools = ", ".join(one["name"] for one in value["tools"]) or "none"
        summary = table(rows, ("part", "path", "source", "tokens"))
        click.echo(
            "\n".join([summary, f"tokens: {value['tokens']}, tools: {tools}", *notes, ""]), err=True
        )
        return clean_lines(value["text"])

    door.call("PromptsRender", request, human)


@prompts.command()
@click.argument("namespace", required=False)
@click.argument("key", required=False)
@pass_door
def lint(door: Door, namespace: str | None, key: str | None) -> None:
    """Find what is legal in prompts and still not wise; exit 1 if there is anything."""
    with door.shop() as shop:
        value = shop.call("PromptsLint", given(namespace=namespace, key=key))
    rows: Rows = [
        (one["code"], one["namespace"], one["key"], one["message"]) for one in value["findings"]
    ]
    door.show(
        value,
        lambda _: table(rows, ("code", "namespace", "key", "finding")) if rows else "nothing found",
    )
    if rows:
        raise click.exceptions.Exit(1)


@click.group(cls=DoorGroup)
def override() -> None:
    """The words stored in place of a prompt's own."""


prompts.add_command(override)


def _numbers(tag: Any) -> tuple[str, str]:
    return str(tag["revision"]), str(len(tag["entries"]))


@override.command("list")
@click.argument("namespace", required=False)
@click.argument("key", required=False)
@pass_door
def override_list(door: Door, namespace: str | None, key: str | None) -> None:
    """List the stored tags."""

    def human(value: Any) -> str:
        rows: Rows = [
            (
                one["namespace"],
                one["key"],
                one["tag"],
                str(one["revision"]),
                str(len(one["entries"])),
            )
            for one in value["tags"]
        ]
        head = ("namespace", "key", "tag", "revision", "entries")
        return table(rows, head) if rows else "nothing is overridden"

    door.call("PromptOverridesList", given(namespace=namespace, key=key), human)


@override.command("show")
@click.argument("namespace")
@click.argument("key")
@click.option("--tag", default="latest", show_default=True)
@pass_door
def override_show(door: Door, namespace: str, key: str, tag: str) -> None:
    """Show a tag as it is stored."""
    door.call(
        "PromptOverridesGet",
        {"namespace": namespace, "key": key, "tag": tag},
        lambda value: clean_lines(json.dumps(value["document"], ensure_ascii=False, indent=2)),
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
    mode: str | None,
    if_revision: int | None,
) -> None:
    """Store BODY, or the content of --file, for ENTRY: a section path or `tool:NAME`."""
    if (body is None) == (file is None):
        raise click.UsageError("give the text or --file")
    text = read_text(file) if file else body
    request = given(
        namespace=namespace, key=key, tag=tag, body=text, mode=mode, if_revision=if_revision
    )
    door.call(
        "PromptOverridesSet",
        request | _entry(entry),
        lambda value: f"stored as revision {value['revision']}",
    )


def _entry(entry: str) -> dict[str, str]:
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
    request = {"namespace": namespace, "key": key, "tag": tag} | _entry(entry)
    door.call("PromptOverridesUnset", request, lambda value: f"now at revision {value['revision']}")


@override.command("delete")
@click.argument("namespace")
@click.argument("key")
@click.option("--tag", default="latest", show_default=True)
@pass_door
def override_delete(door: Door, namespace: str, key: str, tag: str) -> None:
    """Remove a tag."""
    request = {"namespace": namespace, "key": key, "tag": tag}
    door.call("PromptOverridesDelete", request, lambda _: f"{tag} is gone")


@override.command("seed")
@click.argument("namespace")
@click.argument("key")
@click.option("--tag", default="latest", show_default=True)
@pass_door
def override_seed(door: Door, namespace: str, key: str, tag: str) -> None:
    """Create a tag from the prompt's own words, to be edited."""

    def human(value: Any) -> str:
        document = value["document"]
        count = len(document["sections"]) + len(document["tools"])
        return f"{count} entries, revision {document['revision']}"

    door.call("PromptOverridesSeed", {"namespace": namespace, "key": key, "tag": tag}, human)


@override.command("export")
@click.argument("namespace", required=False)
@click.argument("key", required=False)
@click.option("--tag")
@pass_door
def override_export(door: Door, namespace: str | None, key: str | None, tag: str | None) -> None:
    """Print overrides as one JSON bundle."""
    with door.shop() as shop:
        request = given(namespace=namespace, key=key, tag=tag)
        bundle = shop.call("PromptOverridesExport", request)["bundle"]
    door.show(bundle, lambda value: json.dumps(value, ensure_ascii=True, indent=2))


@override.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--on-conflict", type=click.Choice(["fail", "skip", "replace"]), default="fail")
@pass_door
def override_import(door: Door, file: Path, on_conflict: str) -> None:
    """Store a bundle; all of it is checked before any of it is written."""
    request = {"bundle": parse(read_text(file)), "on_conflict": on_conflict}
    door.call(
        "PromptOverridesImport",
        request,
        lambda value: "\n".join(clean(one) for one in value["written"]) or "nothing was written",
    )


@override.command("doctor")
@click.argument("namespace", required=False)
@click.argument("key", required=False)
@click.option("--tag")
@pass_door
def override_doctor(door: Door, namespace: str | None, key: str | None, tag: str | None) -> None:
    """Say of every stored text whether it applies; exit 1 if one does not."""
    with door.shop() as shop:
        request = given(namespace=namespace, key=key, tag=tag)
        value = shop.call("PromptOverridesDoctor", request)
    rows: Rows = [
        (
            one["state"],
            one["namespace"],
            one["key"],
            one["tag"],
            one["entry"],
            one.get("provenance", {}).get("source", ""),
        )
        for one in value["entries"]
    ]
    head = ("state", "namespace", "key", "tag", "entry", "by")
    door.show(value, lambda _: table(rows, head) if rows else "nothing is overridden")
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

    def human(value: Any) -> str:
        done = value.get("revision")
        last = f"kept as revision {done}" if done else "say --yes to keep the stored text"
        return f"{clean_lines(value['diff'])}\n{last}"

    request = {"namespace": namespace, "key": key, "tag": tag, "section": path, "confirm": yes}
    door.call("PromptOverridesRebase", request, human)
