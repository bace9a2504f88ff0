"""Commands about the running engine and its settings (B18.2, B19)."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from backshop import __version__
from backshop.base.command import Command, Nothing, method_command
from backshop.base.errors import ErrorInfo
from backshop.base.ids import check_id

from ..settings.resolution import Config, load, save
from ..settings.table import SETTINGS
from .server import Server, applied, differing, servers

API_VERSION = 1
ONBOARDING_VERSION = 1
_KEPT_ERRORS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineInfo:
    """What is running."""

    engine_version: str
    api_version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LastErrorRequest:
    """A question about one workbench."""

    workbench_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LastError:
    """The last error a command about a workbench ended with, if there was one."""

    error: ErrorInfo | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingInfo:
    """One setting with the value in force; secrets are masked."""

    name: str
    value: Any
    source: str
    default: Any
    allowed: str
    summary: str
    secret: bool = False
    applied: Any = None
    """What this process goes on with, where that is another value; null elsewhere."""
    restart: bool = False
    """Whether it takes a restart for the value to be the one in force."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Onboarding:
    """How far the first steps were taken, and for which version of them."""

    completed: bool = False
    dismissed: bool = False
    version: int = ONBOARDING_VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class AllSettings:
    """Every setting, and whether to show the first steps."""

    settings: tuple[SettingInfo, ...]
    onboarding: Onboarding
    show_onboarding: bool
    applied: str
    """One digest of all settings this process began with."""
    servers: tuple[Server, ...]
    """Servers that run on this machine, with the settings that changed since they began."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsSet:
    """Keep a value in `settings.json`; null takes it out again."""

    key: str
    value: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingKept:
    """It is kept; a running process takes most settings up when it starts next."""


class LastErrors:
    """The last error of each workbench, as long as this process runs."""

    def __init__(self) -> None:
        self._errors: OrderedDict[str, ErrorInfo] = OrderedDict()
        self._lock = threading.Lock()

    def note(self, request: object, error: ErrorInfo) -> None:
        """Remember an error if the request was about a workbench."""
        bench_id = getattr(request, "workbench_id", None)
        if not isinstance(bench_id, str):
            return
        with self._lock:
            self._errors[bench_id] = error
            self._errors.move_to_end(bench_id)
            while len(self._errors) > _KEPT_ERRORS:
                self._errors.popitem(last=False)

    def of(self, bench_id: str) -> ErrorInfo | None:
        """Return the last one."""
        with self._lock:
            return self._errors.get(bench_id)


class Engine:
    """What is running, and with which settings."""

    def __init__(self, config: Config, errors: LastErrors) -> None:
        self._config = config
        self._errors = errors

    def info(self, _: Nothing) -> EngineInfo:
        """Return the versions."""
        return EngineInfo(engine_version=__version__, api_version=API_VERSION)

    def last_error(self, request: LastErrorRequest) -> LastError:
        """Return the last error of a workbench."""
        return LastError(error=self._errors.of(check_id(request.workbench_id, "wb")))

    def settings(self, _: Nothing) -> AllSettings:
        """Return every setting as it stands: in force here, or kept for the next start."""
        kept = load(home=self._config.home).values
        changed = differing(self._config)
        found = []
        for setting in SETTINGS:
            mine = self._config.values[setting.name]
            shown = mine if mine.source not in ("file", "default") else kept[setting.name]
            found.append(
                SettingInfo(
                    name=setting.name,
                    value=shown.shown,
                    source=shown.source,
                    default=setting.default,
                    allowed=setting.allowed,
                    summary=setting.summary,
                    secret=setting.secret,
                    applied=mine.shown if setting.name in changed else None,
                    restart=setting.name in changed,
                )
            )
        steps = Onboarding(**kept["onboarding"].value)
        seen = (steps.completed or steps.dismissed) and steps.version >= ONBOARDING_VERSION
        return AllSettings(
            settings=tuple(found),
            onboarding=steps,
            show_onboarding=not seen,
            applied=applied(self._config.values),
            servers=servers(self._config),
        )

    def set(self, request: SettingsSet) -> SettingKept:
        """Keep a setting."""
        save(self._config.home, request.key, request.value)
        return SettingKept()

    def set_onboarding(self, request: Onboarding) -> SettingKept:
        """Remember how far the first steps were taken."""
        save(self._config.home, "onboarding", asdict(request))
        return SettingKept()


_own = partial(method_command, phase="settings", role="owner")

COMMANDS: tuple[Command[Engine, Any, Any], ...] = (
    method_command("EngineGetInfo", "Say what is running.", Engine.info, role="read", anybody=True),
    method_command(
        "EngineGetLastError",
        "Return the last error of a workbench.",
        Engine.last_error,
        role="read",
    ),
    _own("SettingsGet", "Return every setting.", Engine.settings),
    _own("SettingsSet", "Keep a setting, or take it out.", Engine.set, writes=True),
    _own(
        "SettingsSetOnboarding",
        "Remember how far the first steps were taken.",
        Engine.set_onboarding,
        writes=True,
    ),
)
