"""The command line described for shells and for `man`, from the commands themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click
from click.shell_completion import get_completion_class

from backshop import __version__

from .door import DoorCommand

_VARIABLE = "_BACKSHOP_COMPLETE"
_SHARED = {"--json", "--home", "--help"}  # said once for all commands


@click.command(cls=DoorCommand)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print what a shell needs to complete commands.

    \b
    bash:  eval "$(backshop completion bash)"      in ~/.bashrc
    zsh:   eval "$(backshop completion zsh)"       in ~/.zshrc
    fish:  backshop completion fish | source       in ~/.config/fish/config.fish
    """
    made = get_completion_class(shell)
    assert made is not None
    click.echo(made(ctx.find_root().command, {}, "backshop", _VARIABLE).source())


@click.command(cls=DoorCommand)
@click.pass_context
def man(ctx: click.Context) -> None:
    """Print the manual page: `backshop man | man -l -`."""
    root = ctx.find_root()
    click.echo("\n".join(page(root.command)))


def page(command: click.Command) -> Iterator[str]:
    """Yield the manual page of a command and everything below it, in roff."""
    top = click.Context(command, info_name="backshop")
    yield f'.TH BACKSHOP 1 "" "backshop {__version__}" "User Commands"'
    yield ".ad l"  # long choices cannot be stretched to both margins
    yield ".SH NAME"
    yield rf"backshop \- {_escaped(command.get_short_help_str(200))}"
    yield ".SH SYNOPSIS"
    yield rf".B backshop\fR {_escaped(' '.join(command.collect_usage_pieces(top)))}"
    yield ".SH DESCRIPTION"
    yield from _text(command.help or "")
    yield from _text(
        "Every command takes --json (print one JSON document and nothing else), --home PATH (the "
        "folder everything is kept in) and --help."
    )
    yield ".SH COMMANDS"
    for context in _below(top):
        pieces = " ".join(context.command.collect_usage_pieces(context))
        yield ".TP"
        yield rf".B {_escaped(context.command_path)}\fR {_escaped(pieces)}"
        yield from _text(context.command.help or "")
        yield from _options(context)
    yield ".SH ENVIRONMENT"
    yield from _text("See `backshop config show`: every setting, its value and where it is from.")
    yield ".SH EXIT STATUS"
    yield from _text("0 done, 1 refused or failed, 2 wrong usage.")


def _below(context: click.Context) -> Iterator[click.Context]:
    """Yield the contexts of all commands under a group, groups left out, in their order."""
    command = context.command
    if not isinstance(command, click.Group):
        return
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        if found is None or found.hidden:
            continue
        child = click.Context(found, info_name=name, parent=context)
        if isinstance(found, click.Group):
            yield from _below(child)
        else:
            yield child


def _options(context: click.Context) -> Iterator[str]:
    for option in context.command.get_params(context):
        record = option.get_help_record(context)
        if isinstance(option, click.Argument) or record is None or _SHARED & {*option.opts}:
            continue
        yield ".br"
        yield rf"\fB{_escaped(record[0])}\fR  {_escaped(record[1])}"


def _text(text: str) -> Iterator[str]:
    """Yield prose; a paragraph marked by click's escape keeps its lines."""
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        lines = [line.strip() for line in paragraph.splitlines()]
        kept = lines[:1] == ["\b"]
        if kept:
            yield ".nf"
            yield from map(_escaped, lines[1:])
            yield ".fi"
        else:
            yield _escaped(" ".join(lines))
        yield ".sp 0.5"


def _escaped(text: str) -> str:
    """Return text that roff shows as it is."""
    plain = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{plain}" if plain.startswith((".", "'")) else plain
