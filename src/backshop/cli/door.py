"""What every command shares: `--json`, `--home`, opening the shop, and how results are shown."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from shlex import quote
from typing import IO, TYPE_CHECKING, Any, TypeVar

import click

from backshop.base.errors import BackshopError, NotFound, ValidationFailed
from backshop.base.labels import FOLDERS
from backshop.base.system import account

if TYPE_CHECKING:
    from backshop.app import Backshop, Config

OF_PROJECT = "the workflows of this folder count with `--workspace .`"
_FOLDER = click.Path(path_type=Path, file_okay=False, exists=True)
_WORKFLOW = (".json", ".yaml", ".yml")
Facade = TypeVar("Facade")
Asked = TypeVar("Asked")
Shown = TypeVar("Shown")
"""An answer, typed or as parsed JSON."""

BEGINNING = frozenset(  # the commands that need no home yet, or make one (S4.16)
    {
        "bench create",
        "call",
        "completion",
        "config set",
        "config show",
        "consent mode",
        "demo",
        "do",
        "doctor",
        "file diff",
        "file map",
        "file picture",
        "file query",
        "file read",
        "man",
        "mcp",
        "model use",
        "open",
        "prompts lint",
        "prompts override import",
        "prompts override seed",
        "prompts override set",
        "provider add",
        "provider effort",
        "provider set-key",
        "restore",
        "rpc",
        "run start",
        "serve",
        "session import",
        "session start",
        "user add",
        "user invite",
        "worker",
        "workflow copy",
        "workflow new",
        "workflow save",
        "workflow sync",
        "workflow validate",
    }
)


@dataclass
class Door:
    """The options every command takes, and the ways in they lead to."""

    home: Path | None = None
    as_json: bool = False
    bench: str | None = None
    """The workbench as it was typed, for commands that a refusal proposes."""
    project_left_out: bool = False
    """A command that takes `--workspace` got none, and the folder here has workflows of its own."""
    report: Callable[[Exception, Door], None] = lambda error, _: click.echo(error, err=True)
    """Says what failed, for a command that goes on all the same."""
    _told: set[str] = field(default_factory=set)

    def config(self) -> Config:
        """Return the settings in force."""
        from backshop.app import begin, load  # loaded when a command needs it (S2.4)

        config = load(home=self.home)
        begin(config)
        self._tell_strange()
        return config

    def require_home(self) -> None:
        """Refuse a home that somebody named and that is not there (S4.16).

        The default one cannot be mistyped, and of one whose events are elsewhere the folder is a
        cache.

        Raises:
            NotFound: `no_home`.
        """
        from backshop.app import load  # loaded when a command needs it (S2.4)

        config = load(home=self.home)
        is_named = config.home_source != "default" and config["database_url"] is None
        if is_named and not config.home.exists():
            raise NotFound(
                f"there is no home at {config.home}",
                reason="no_home",
                hints=(
                    "name one that is there with --home, or begin one: `backshop demo`,"
                    " `backshop open FOLDER` or `backshop bench create NAME` makes it",
                ),
            )

    @contextmanager
    def shop(
        self, settings: dict[str, Any] | None = None, *, door: str = "cli"
    ) -> Iterator[Backshop]:
        """Open the home for one command; `settings` go before environment and file."""
        from backshop.app import Backshop, begin  # loaded when a command needs it (S2.4)

        with Backshop.open(self.home, settings=settings, door=door) as shop:
            begin(shop.config)
            self._tell_strange()
            if shop.store.is_read_only:
                home = clean(str(shop.config.home))
                self.tell(f"{home} is read-only: it can be read, and nothing in it changed")
            _warn_of_root(shop.config.home)
            yield shop

    def _tell_strange(self) -> None:
        """Name what in the environment begins like a setting and is none."""
        from backshop.app import unknown_environment  # loaded when a command needs it (S2.4)

        for name in unknown_environment(os.environ):
            self.tell(f"{clean(name)} in the environment is no setting: left out")

    def tell(self, text: str) -> None:
        """Say something beside the answer, once; where programs read the answer too."""
        if text not in self._told:
            self._told.add(text)
            click.echo(f"note: {text}", err=True)

    def call(self, name: str, request: dict[str, Any], human: Callable[[Any], str]) -> None:
        """Run one command of the registry and show its answer."""
        with self.shop() as shop:
            self.show(shop.call(name, request), human)

    def ask(
        self,
        method: Callable[[Facade, Asked], Shown],
        request: Asked,
        human: Callable[[Shown], str],
    ) -> None:
        """Run the command that a method of a facade is, and show its answer."""
        with self.shop() as shop:
            self.show(shop.ask(method, request), human)

    @property
    def has_person(self) -> bool:
        """Say whether somebody is there who can be asked."""
        return not self.as_json and sys.stdin.isatty() and sys.stderr.isatty()

    def require_person(self, what: str) -> None:
        """Refuse where nobody can be asked; `what` is what they would agree to.

        Raises:
            NobodyToAsk: there is no terminal, or a program reads the answer.
        """
        if not self.has_person:
            raise NobodyToAsk(f"{what} needs a person who agrees, and nobody can be asked here")

    def confirm(self, question: str, what: str) -> None:
        """Ask a person before something is done; a program has to say `--yes`.

        Raises:
            NobodyToAsk: as `require_person`.
        """
        self.require_person(what)
        click.confirm(question, abort=True, err=True)

    def show(self, value: Shown, human: Callable[[Shown], str]) -> None:
        """Print an answer as one JSON document, or as the text for people."""
        if self.as_json:
            from backshop.base.codec import encode  # loaded when something is shown (S2.4)

            plain = value if isinstance(value, dict | list) else encode(value)
            click.echo(json.dumps(plain, ensure_ascii=False, indent=2))
            return
        click.echo(human(value))
        for one in _warnings(value):
            if isinstance(one, str) and one in FOLDERS:
                self.tell(FOLDERS[one])


def _warnings(value: object) -> Iterable[object]:
    found = value.get("warnings") if isinstance(value, dict) else getattr(value, "warnings", ())
    return found if isinstance(found, list | tuple) else ()


def _warn_of_root(home: Path) -> None:
    """Warn root in somebody else's home: what root makes there, they cannot change."""
    owner = home.stat().st_uid
    if not account.is_root() or owner == 0:
        return
    name = account.account_name(owner)
    click.echo(
        f"warning: {home} belongs to {name}, and what root makes there {name} cannot change;"
        f" run this as {name} (deploy/backshop-team does)",
        err=True,
    )


class DoorCommand(click.Command):
    """A command that takes `--json` and `--home`, wherever they stand (S4.1)."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params += [_json_option(), _home_option()]

    def invoke(self, ctx: click.Context) -> Any:
        """Run it, unless it is about a home that is not there."""
        if ctx.command_path.partition(" ")[2] not in BEGINNING:
            door(ctx).require_home()
        return super().invoke(ctx)


class DoorGroup(click.Group):
    """A group whose commands are all door commands; modules load when they are used.

    `lazy` maps a name to `module:attribute` inside this package, with the help line that shows
    without loading it.
    """

    command_class = DoorCommand
    group_class = type

    def __init__(
        self, *args: Any, lazy: dict[str, tuple[str, str]] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self._lazy = lazy or {}
        self.params += [_json_option(), _home_option()]

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all names, loaded or not."""
        return sorted({*super().list_commands(ctx), *self._lazy})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, loading its module if need be."""
        found = super().get_command(ctx, cmd_name)
        if found is not None or cmd_name not in self._lazy:
            return found
        from importlib import import_module

        module, _, attribute = self._lazy[cmd_name][0].partition(":")
        command = getattr(import_module(f".{module}", __package__), attribute)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that was typed; of one that is not there say what comes near."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = get_close_matches(args[0], self.list_commands(ctx), n=3)
            if not near:
                raise
            told = f"{error.message} Did you mean {' or '.join(near)}?"
            raise click.UsageError(told, ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without loading any."""
        rows = []
        for name in self.list_commands(ctx):
            if name in self._lazy:
                rows.append((name, self._lazy[name][1]))
            else:
                command = self.get_command(ctx, name)
                rows.append((name, command.get_short_help_str(80) if command else ""))
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def door(ctx: click.Context) -> Door:
    """Return the door of this invocation."""
    return ctx.ensure_object(Door)


pass_door = click.make_pass_decorator(Door, ensure=True)


def remember_bench(ctx: click.Context, _: click.Parameter, value: str | None) -> str | None:
    """Keep the workbench as it was typed, for commands that a refusal proposes (S4.8)."""
    door(ctx).bench = value
    return value


def workspace_option(says: str) -> Callable[[Any], Any]:
    """Return the option that names a project whose own workflows count (R3.4)."""

    def remember(ctx: click.Context, _: click.Parameter, value: Path | None) -> Path | None:
        door(ctx).project_left_out = value is None and _has_workflows(Path.cwd())
        return value

    return click.option("--workspace", type=_FOLDER, callback=remember, help=says)


def _has_workflows(folder: Path) -> bool:
    """Say whether a folder is a project with workflows of its own (R3.2)."""
    places = (folder / ".backshop" / "workflows", folder / "workflows")
    return any(one.suffix in _WORKFLOW for place in places for one in place.glob("*"))


def is_terminal() -> bool:
    """Say whether a person is watching: colour and progress are for them only."""
    return sys.stdout.isatty()


def coloured(text: str, colour: str | None) -> str:
    """Return text in a colour, for somebody who watches and wants any (`NO_COLOR`)."""
    return (
        click.style(text, fg=colour) if is_terminal() and not os.environ.get("NO_COLOR") else text
    )


def table(rows: Sequence[tuple[str, ...]], headings: tuple[str, ...]) -> str:
    """Return rows as aligned columns; control characters in them are made visible."""
    lines = [headings, *(tuple(clean(cell) for cell in row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(headings))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def clean(text: str) -> str:
    """Return text that cannot move the cursor or colour the terminal."""
    return "".join(char if char.isprintable() else "\ufffd" for char in text)


def one_line(text: str) -> str:
    """Return a text of several lines as one."""
    return " ".join(text.split())


def word(text: str) -> str:
    """Return a name or a path as one word of a command that can be pasted (S4.8)."""
    return quote(clean(text))


def clean_lines(text: str, indent: str = "") -> str:
    """Return a text of several lines that cannot do so either; all but the first are indented."""
    lines = text.replace("\r\n", "\n").split("\n")
    return f"\n{indent}".join("\t".join(map(clean, line.split("\t"))) for line in lines)


def fact_lines(lines: Sequence[str], first: int | None) -> list[str]:
    """Return facts of a turn for people; `!` marks those that want a look before all else."""
    ahead = first or 0
    return [f"{'|' if place >= ahead else '!'} {clean(one)}" for place, one in enumerate(lines)]


def given(**fields: Any) -> dict[str, Any]:
    """Return the fields that have a value."""
    return {name: value for name, value in fields.items() if value is not None}


class NobodyToAsk(BackshopError):
    """A person has to agree, and there is no terminal to ask at."""

    code = "CONFIRMATION_REQUIRED"
    actions = ()

    def __init__(self, message: str) -> None:
        super().__init__(message, reason="no_terminal", hints=("--yes agrees without asking",))


class FileUnreadable(BackshopError):
    """A file the person named cannot be read."""

    code = "FILE_READ_FAILED"


def read_text(source: Path | IO[str]) -> str:
    """Return what a text file holds that a person named, by its path or open already.

    Raises:
        FileUnreadable: the file system refuses.
        ValidationFailed: `bad_params`; it is no UTF-8 text.
    """
    name = Path(source.name).name
    try:
        return source.read_text(encoding="utf-8") if isinstance(source, Path) else source.read()
    except UnicodeDecodeError as error:
        raise ValidationFailed(f"{name} is not UTF-8 text", reason="bad_params") from error
    except OSError as error:
        raise FileUnreadable(f"{name} cannot be read", detail=error.strerror) from error


def write_lines(target: Path, lines: Iterable[str], *, is_new: bool = False) -> None:
    """Write lines to a file that a person named; `is_new`: there must be none yet.

    Raises:
        DiskFull, WriteFailed: the file system refuses.
        ValidationFailed: `bad_destination`, `target_exists`.
    """
    with _writing(target), target.open("x" if is_new else "w", encoding="utf-8") as file:
        file.writelines(lines)


def write_new(target: Path, data: bytes) -> None:
    """Write a file that a person named and that is not there yet; errors as above."""
    with _writing(target), target.open("xb") as file:
        file.write(data)


@contextmanager
def _writing(target: Path) -> Iterator[None]:
    """Say in the product's words why a file cannot be written."""
    from backshop.store import file_error  # loaded when a command needs it (S2.4)

    try:
        yield
    except FileExistsError as error:
        raise ValidationFailed(
            f"{target} exists",
            reason="target_exists",
            hints=("nothing is written over it: choose another name",),
        ) from error
    except FileNotFoundError as error:
        raise ValidationFailed(
            f"there is no folder {target.parent}",
            reason="bad_destination",
            hints=("make it first, or name one that is there",),
        ) from error
    except OSError as error:
        raise file_error(error, target) from error


def _json_option() -> click.Option:
    def remember(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        if value:
            door(ctx).as_json = True

    return click.Option(
        ["--json"],
        is_flag=True,
        expose_value=False,
        callback=remember,
        help="Print one JSON document and nothing else.",
    )


def _home_option() -> click.Option:
    def remember(ctx: click.Context, _: click.Parameter, value: Path | None) -> None:
        if value is not None:
            door(ctx).home = value

    return click.Option(
        ["--home"],
        type=click.Path(path_type=Path, file_okay=False),
        expose_value=False,
        callback=remember,
        help="The folder everything is kept in (default: BACKSHOP_HOME).",
    )
