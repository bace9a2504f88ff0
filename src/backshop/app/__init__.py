"""The composition root: configuration, wiring, the command registry, and errors as data."""

from .commands import Registry
from .config import Config, Effective, default_home, load, save
from .doctor import examine
from .faults import Fault, fault_of
from .logs import attach
from .rpc import answer, discover
from .settings import SETTINGS, Setting
from .shop import Backshop

__all__ = [
    "SETTINGS",
    "Backshop",
    "Config",
    "Effective",
    "Fault",
    "Registry",
    "Setting",
    "answer",
    "attach",
    "default_home",
    "discover",
    "examine",
    "fault_of",
    "load",
    "save",
]
