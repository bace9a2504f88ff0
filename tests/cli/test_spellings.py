"""The commands of the terminal are those that S4.2 writes down, no more and no fewer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from backshop.cli.door import BEGINNING
from backshop.cli.main import cli

RULES = Path(__file__).resolve().parents[2] / "docs" / "spec" / "surface.md"
TOP = click.Context(cli)


def of_program(group: click.Group, words: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield every command of the program, as a person types it."""
    for name in group.list_commands(TOP):
        command = group.get_command(TOP, name)
        if isinstance(command, click.Group):
            yield from of_program(command, (*words, name))
        else:
            yield " ".join((*words, name))


def of_rule() -> Iterator[tuple[set[str], set[str]]]:
    """Yield what every spelling of S4.2 stands for: commands, and options it shows."""
    text = RULES.read_text(encoding="utf-8")
    rule = text.partition("- S4.2 ")[2].partition("- S4.3 ")[0]
    for span in re.findall(r"`([^`]+)`", rule):
        if not re.match(r"--|\w+:|[A-Z]", span):  # an option, a model or a command's own name
            yield spelled(span)


def spelled(span: str) -> tuple[set[str], set[str]]:
    options = set(re.findall(r"--[a-z][a-z-]*", span))
    plain = span.replace("\\|", "/")
    while "[" in plain:  # brackets hold options and arguments, also inside each other
        plain = re.sub(r"\s*\[[^\[\]]*\]", "", plain)
    words = [word for word in plain.split() if word != "backshop"]
    return set(followed(cli, words)), options


def followed(command: click.Command, words: list[str], said: str = "") -> Iterator[str]:
    """Walk down the program along the words; where it ends, the rest are arguments."""
    if not isinstance(command, click.Group):
        yield said.strip()
        return
    for name in words[0].split("|") if words else ():
        found = command.get_command(TOP, name)
        assert found is not None, f"S4.2 has `{said} {name}`, the program has not"
        yield from followed(found, words[1:], f"{said} {name}")


def named(spelling: str) -> click.Command:
    command: click.Command = cli
    for word in spelling.split():
        assert isinstance(command, click.Group)
        found = command.get_command(TOP, word)
        assert found is not None
        command = found
    return command


@pytest.mark.rule("S4.2")
def test_the_program_has_the_commands_of_the_rule_and_no_others():
    written = {command for commands, _ in of_rule() for command in commands}

    assert sorted(written) == sorted(of_program(cli))
    assert len(written) > 100


@pytest.mark.rule("S4.16")
def test_what_makes_a_home_is_a_command_of_the_program():
    assert set(of_program(cli)) >= BEGINNING


@pytest.mark.rule("S4.2")
def test_the_options_that_the_rule_shows_exist():
    for commands, options in of_rule():
        taken = {name for one in commands for option in named(one).params for name in option.opts}

        assert options - taken == set(), commands
