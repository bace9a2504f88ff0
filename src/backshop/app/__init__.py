"""The composition root: configuration, wiring, the command registry, and errors as data."""

from .aio import AsyncBackshop
from .commands import Registry
from .config import Config, Effective, find_home, load, save, unknown_environment
from .doctor import examine
from .faults import Fault, fault_of
from .filing import open_formats
from .guessing import Guesses, wait_s
from .handle import Answer, BenchWorkshop
from .hub import About, Hub, Subscription
from .limiting import one_request
from .loginlinks import COOKIE_DAYS, OWNER, Links
from .logs import attach, begin, layout_of
from .naming import every_bench
from .notices import Notification
from .parcels import Parcels
from .parsing import Setting
from .people import (
    AccessGrants,
    AccessList,
    AccessSet,
    People,
    Role,
    UserAdd,
    UserLogout,
    UserMade,
    UserRemove,
    Users,
)
from .rpc import answer, discover
from .rpcline import RpcLine
from .secretfile import secret_of
from .servers import running
from .settings import SETTINGS
from .shop import Backshop

__all__ = [
    "COOKIE_DAYS",
    "OWNER",
    "SETTINGS",
    "About",
    "AccessGrants",
    "AccessList",
    "AccessSet",
    "Answer",
    "AsyncBackshop",
    "Backshop",
    "BenchWorkshop",
    "Config",
    "Effective",
    "Fault",
    "Guesses",
    "Hub",
    "Links",
    "Notification",
    "Parcels",
    "People",
    "Registry",
    "Role",
    "RpcLine",
    "Setting",
    "Subscription",
    "UserAdd",
    "UserLogout",
    "UserMade",
    "UserRemove",
    "Users",
    "answer",
    "attach",
    "begin",
    "discover",
    "every_bench",
    "examine",
    "fault_of",
    "find_home",
    "layout_of",
    "load",
    "one_request",
    "open_formats",
    "running",
    "save",
    "secret_of",
    "unknown_environment",
    "wait_s",
]
