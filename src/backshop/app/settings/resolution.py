"""Settings: what there is, where each value comes from, and a clear refusal of anything else (S3).

Precedence: command line > environment > `<home>/settings.json` > default. A setting is added by
one entry in `settings.SETTINGS`; its name is its key in `settings.json`.
"""

from __future__ import annotations

import json
import os
import re
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import SequenceMatcher, get_close_matches
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from backshop.base.canon import parse
from backshop.base.errors import BackshopError, ValidationFailed
from backshop.base.system import durability, lock

from .parser import Setting
from .table import SETTINGS

ENV_PREFIX = "BACKSHOP_"
_FILE_MAX_BYTES = 1024 * 1024
# What only a home has, also where its database is elsewhere; and what may lie in one before that.
_OF_A_HOME = frozenset(
    (
        *("store.db", "store.db-mark", "store.db-wal", "store.db-shm", "settings.json"),
        *("benches", "blobs", "running", "workflow-sources"),
        *("secrets.enc", "secrets.lock", "master.key", "web.key", "mcp.token", "login.link"),
    )
)
_BESIDE_A_HOME = frozenset(("cache", "logs", "lost+found", "prompts", "trash", "workflows"))
_SLIP = 0.75  # how alike two words are that one takes for a slip: HOM, BLOB; not HOST, USER for URL
_JOINED = 0.9  # the same for whole names whose words are put together otherwise: DATABASEURL
_SECRET_NAME = re.compile(
    r"passw|passphrase|^pass$|pwd|secret|token|credential|signature|api[_-]?key|access[_-]?key",
    re.IGNORECASE,
)
_USERINFO = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<who>[^\s/?#]*)@")
_ASSIGNED = re.compile(r"(?P<before>^|[?&;\s])(?P<name>[^\s?&;=#]+)=(?:'[^']*'|[^\s&;#]*)")


@dataclass(frozen=True, slots=True)
class Effective:
    """A value in force and where it comes from."""

    setting: Setting
    value: Any
    source: str

    @property
    def shown(self) -> Any:
        """The value as `config show` prints it: passwords and secrets masked."""
        if self.value is None:
            return None
        if self.setting.secret:
            return "***"
        return _masked(self.value)


class ConfigUnreadable(BackshopError):
    """The settings file is there and cannot be read."""

    code = "FILE_READ_FAILED"


@dataclass(frozen=True, slots=True)
class Config:
    """All settings in force for one home."""

    home: Path
    home_source: str
    values: Mapping[str, Effective]

    def __getitem__(self, name: str) -> Any:
        return self.values[name].value

    def is_default(self, name: str) -> bool:
        """Say whether nobody set a setting."""
        return self.values[name].source == "default"


_BY_NAME = {setting.name: setting for setting in SETTINGS}
_ENV_NAMES = {"BACKSHOP_HOME", *(setting.env for setting in SETTINGS if setting.env)}
# Environment names that are no settings: the home itself, keys of providers and the passphrase
# they are stored under, and our own tests.
_OTHER_ENV = {
    "BACKSHOP_HOME",
    "BACKSHOP_SECRETS_PASSPHRASE",
    "BACKSHOP_PROOF",
    "BACKSHOP_CORPORA",
    "BACKSHOP_REQUIRE",
}


def default_home() -> Path:
    """Return the platform's folder for user data, with our name."""
    from platformdirs import user_data_path  # loaded on first use

    return user_data_path("backshop", appauthor=False)


def find_home(given: Path | None) -> Path:
    """Return the folder everything is kept in: the one given, or that of the environment.

    Raises:
        ValidationFailed: `bad_setting`; it begins with a person this machine does not know.
    """
    return _home(given, os.environ)[0]


def load(
    *,
    home: Path | None = None,
    overrides: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Config:
    """Return the settings in force.

    Raises:
        ValidationFailed: `bad_setting`; names the setting, the value and what is allowed.
    """
    return _loaded(home, overrides or {}, os.environ if environ is None else environ, None)


def load_in_part(home: Path | None) -> tuple[Config, list[str]]:
    """Return the settings that can be used, and what is wrong with the others.

    Raises:
        ValidationFailed: `bad_setting`; the home itself is no folder.
    """
    wrong: list[str] = []
    return _loaded(home, {}, os.environ, wrong), wrong


def _loaded(
    home: Path | None,
    overrides: Mapping[str, Any],
    env: Mapping[str, str],
    wrong: list[str] | None,
) -> Config:
    """Gather the settings; with `wrong` what cannot be used is noted there and left out."""
    folder, source = _home(home, env)
    _refuse_home_that_is_no_folder(folder, source)
    _refuse_folder_of_other_things(folder, source)
    values = {s.name: Effective(s, s.default, "default") for s in SETTINGS}
    stored: dict[str, Any] = {}
    with _noted(wrong):
        stored = _parsed_file(folder)
    for name, raw in stored.items():
        with _noted(wrong):
            _known(name, _file(folder))
            values[name] = Effective(_BY_NAME[name], _checked(name, raw, _file(folder)), "file")
    with _noted(wrong):
        _refuse_mistyped_environment(env)
    for setting in SETTINGS:
        if setting.env and setting.env in env:
            with _noted(wrong):
                value = _checked(setting.name, env[setting.env], setting.env)
                values[setting.name] = Effective(setting, value, f"environment {setting.env}")
    for name, raw in overrides.items():
        _known(name, "the command line")
        values[name] = Effective(_BY_NAME[name], _checked(name, raw, name), "command line")
    return Config(folder, source, values)


@contextmanager
def _noted(wrong: list[str] | None) -> Iterator[None]:
    """Note what is refused in the block, where there is somebody to note it for."""
    try:
        yield
    except (ValidationFailed, ConfigUnreadable) as error:
        if wrong is None:
            raise
        hints = [one if " " in one else f"did you mean {one}?" for one in error.hints]
        wrong.append(f"{error.message} ({'; '.join(hints)})" if hints else error.message)


def read_file(home: Path) -> dict[str, Any]:
    """Return what `settings.json` holds, every name known; empty if there is no file."""
    value = _parsed_file(home)
    for name in value:
        _known(name, _file(home))
    return value


def _file(home: Path) -> str:
    """Return how messages name the file of the settings."""
    return repr(str(home / "settings.json"))


def _parsed_file(home: Path) -> dict[str, Any]:
    path = home / "settings.json"
    try:
        data = path.read_bytes()[: _FILE_MAX_BYTES + 1]
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise ConfigUnreadable(
            f"{_file(home)} cannot be read", reason="bad_setting", detail=error.strerror
        ) from error
    if len(data) > _FILE_MAX_BYTES:
        raise ValidationFailed(f"{_file(home)} is larger than 1 MiB", reason="bad_setting")
    try:
        value = parse(data)
    except ValidationFailed as error:
        raise ValidationFailed(f"{_file(home)}: {error.message}", reason="bad_setting") from error
    if not isinstance(value, dict):
        raise ValidationFailed(f"{_file(home)} is not a JSON object", reason="bad_setting")
    return value


def check_setting(name: str, value: Any) -> None:
    """Say whether a value could be kept, without keeping it; None takes it out and always can.

    Raises:
        ValidationFailed: `bad_setting`.
    """
    _known(name)
    if value is not None:
        _checked(name, value, name)


def save(home: Path, name: str, value: Any) -> Any:
    """Set one value in `settings.json`, or remove it with None; the file is replaced whole.

    Returns what is kept: a text that stands for a number or a flag is kept as one (S3.4).
    """
    _known(name)
    kept = None if value is None else _checked(name, value, name)
    return _written(home, name, lambda: kept)


def update(home: Path, name: str, change: Callable[[], Any]) -> Any:
    """Set one value to what `change` returns while nobody else writes; return what is kept."""
    _known(name)

    def checked() -> Any:
        value = change()
        return None if value is None else _checked(name, value, name)

    return _written(home, name, checked)


def _written(home: Path, name: str, make: Callable[[], Any]) -> Any:
    from backshop.store import file_error  # the store room owns the errors of writing

    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        with lock.held_folder(home):
            kept = make()
            _replace_file(home, name, kept)
    except OSError as error:
        raise file_error(error, home / "settings.json") from error
    return kept


def _replace_file(home: Path, name: str, value: Any) -> None:
    values = read_file(home)
    values[name] = value
    kept = {key: item for key, item in sorted(values.items()) if item is not None}
    handle, temp = tempfile.mkstemp(prefix=".settings-", dir=home)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(kept, file, indent=2)
            file.flush()
            durability.sync(file.fileno())
        Path(temp).replace(home / "settings.json")
    finally:
        Path(temp).unlink(missing_ok=True)  # a disk that is full keeps nothing half of it


def _home(given: Path | None, env: Mapping[str, str]) -> tuple[Path, str]:
    if given is not None:
        return _expanded(given), "command line"
    if env.get("BACKSHOP_HOME"):
        return _expanded(Path(env["BACKSHOP_HOME"])), "environment BACKSHOP_HOME"
    return default_home(), "default"


def _expanded(home: Path) -> Path:
    try:
        return home.expanduser().absolute()
    except RuntimeError as error:  # ~somebody, of whom nobody knows where they are at home
        raise ValidationFailed(f"there is no home {str(home)!r}", reason="bad_setting") from error


def _refuse_home_that_is_no_folder(home: Path, source: str) -> None:
    try:
        is_folder = stat.S_ISDIR(home.stat().st_mode)
    except OSError:  # not there yet, or not reachable: whoever opens it says so
        return
    if not is_folder:
        raise ValidationFailed(
            f"{source}: {str(home)!r} is not a value of home; allowed: a folder",
            reason="bad_setting",
            detail="setting: home",
        )


def _refuse_folder_of_other_things(home: Path, source: str) -> None:
    """Refuse to make a home among somebody's files; hidden ones are no reason (S3.6)."""
    try:
        names = {one.name for one in home.iterdir()}
    except OSError:  # not there yet, or closed to us: whoever opens it says so
        return
    strange = {one for one in names - _BESIDE_A_HOME if not one.startswith(".")}
    if strange and names.isdisjoint(_OF_A_HOME):
        raise ValidationFailed(
            f"{source}: {str(home)!r} holds other files and no home of Backshop; allowed: a home,"
            " an empty folder, or one that is not there yet",
            reason="bad_setting",
            detail="setting: home",
            hints=("`--home` names another folder; without it your own home is used",),
        )


def in_force(config: Config, name: str) -> Any:
    """Return a setting as it stands now: the file may have changed since it was read.

    Raises:
        ValidationFailed: `bad_setting`; the file was changed to what is not allowed.
    """
    effective = config.values[name]
    if effective.source not in ("file", "default"):
        return effective.value
    stored = read_file(config.home)
    if name not in stored:
        return effective.setting.default
    return _checked(name, stored[name], _file(config.home))


def _known(name: str, where: str | None = None) -> None:
    """Refuse a name that no setting has; `where` is what names it, if not whoever asks."""
    if name not in _BY_NAME:
        told = f"there is no setting {name!r}"
        if where is not None:
            told = f"{where} names the setting {name!r}, which does not exist"
        near = tuple(get_close_matches(name, _BY_NAME, n=3)) or (
            "`backshop config show` names all",
        )
        raise ValidationFailed(told, reason="bad_setting", hints=near)


def _checked(name: str, raw: Any, where: str) -> Any:
    setting = _BY_NAME[name]
    try:
        return setting.parse(raw)
    except ValueError as error:
        shown = "a secret" if setting.secret else repr(_without_secrets(str(raw)))
        raise ValidationFailed(
            f"{where}: {shown} is not a value of {name}; allowed: {setting.allowed}",
            reason="bad_setting",
            detail=f"setting: {name}",
        ) from error


def _refuse_mistyped_environment(env: Mapping[str, str]) -> None:
    """Refuse a name that comes near a setting: somebody meant it. Others are not ours (S3.3)."""
    for name in unknown_environment(env):
        near = _near(name.removeprefix(ENV_PREFIX))
        if near:
            raise ValidationFailed(
                f"the environment names {name}, which is not a setting",
                reason="bad_setting",
                hints=near,
            )


def _near(rest: str) -> tuple[str, ...]:
    """Return what somebody who wrote this name may have meant; empty if it is nothing of ours."""
    spelled = {one.name.replace(".", "_").upper(): one.name for one in SETTINGS if not one.env}
    if rest in spelled:
        return (f"{spelled[rest]} is set with `backshop config set`, not in the environment",)
    names = {name.removeprefix(ENV_PREFIX) for name in _ENV_NAMES}
    return tuple(f"{ENV_PREFIX}{name}" for name in sorted(names) if _is_slip(rest, name))


def _is_slip(written: str, name: str) -> bool:
    """Whether a name is another one mistyped: as a whole, or every word of it alone.

    One word that means something else makes it another name: DATABASE_PASSWORD is no DATABASE_URL.
    """
    pair = (written.replace("_", ""), name.replace("_", ""))
    if f"{written}_URL" == name or _alike(*pair) >= _JOINED:
        return True
    words, wanted = written.split("_"), name.split("_")
    return len(words) == len(wanted) and all(map(_is_word, words, wanted))


def _is_word(written: str, wanted: str) -> bool:
    """Whether a word is mistyped or cut short: DB is DATABASE."""
    letters = iter(wanted)
    is_short = written[:1] == wanted[:1] and all(one in letters for one in written)
    return (is_short and len(written) > 1) or _alike(written, wanted) >= _SLIP


def _alike(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other).ratio()


def unknown_environment(env: Mapping[str, str]) -> list[str]:
    """Return the names that begin like ours and mean nothing here."""
    known = _ENV_NAMES | _OTHER_ENV
    return [
        name
        for name in sorted(env)
        if name.startswith(ENV_PREFIX) and name not in known and not name.endswith("_API_KEY")
    ]


def _masked(value: Any) -> Any:
    """Return a value with every secret in it masked, however deep."""
    if isinstance(value, str):
        return _without_secrets(value)
    if isinstance(value, Mapping):
        return {
            key: "***" if isinstance(part, str) and _SECRET_NAME.search(key) else _masked(part)
            for key, part in value.items()
        }
    return tuple(map(_masked, value)) if isinstance(value, list | tuple) else value


def _without_secrets(text: str) -> str:
    return _ASSIGNED.sub(_hide_assigned, _USERINFO.sub(_hide_userinfo, text))


def _hide_userinfo(found: re.Match[str]) -> str:
    """Hide the password; of a web address all before the host, where a token is often the name."""
    scheme = found["scheme"]
    name, has_password, _ = found["who"].partition(":")
    if "http" in scheme.lower():
        return f"{scheme}://***@"
    return f"{scheme}://{name}:***@" if has_password else found[0]


def _hide_assigned(found: re.Match[str]) -> str:
    secret = _SECRET_NAME.search(unquote(found["name"]))
    return f"{found['before']}{found['name']}=***" if secret else found[0]
