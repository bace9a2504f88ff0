"""The composition root: configuration, wiring, the command registry, and errors as data."""

from .aio import AsyncBackshop
from .command.bench_name import every_bench
from .command.registry import Registry
from .command.rpc import answer, discover
from .fault import Fault, fault_of
from .handle import Answer, BenchWorkshop
from .notice.hub import About, Hub, Subscription
from .notice.table import Notification
from .operation.doctor import examine
from .operation.engine import Engine, Onboarding, SettingInfo, SettingsSet
from .operation.log import attach, begin, layout_of
from .operation.secret_file import secret_of
from .operation.server import Server, running, servers, web_address
from .operation.upload import Parcels
from .people import people as sharing
from .people.invitation import INVITE_DAYS, UserInvite, UserInviteWithdraw
from .people.login_link import COOKIE_DAYS, OWNER, Links
from .people.people import People, Role
from .people.quota import one_request
from .people.token_throttle import TokenThrottle, wait_s
from .rpc_line import RpcLine
from .settings.parser import Setting
from .settings.resolution import (
    Config,
    Effective,
    check_setting,
    find_home,
    load,
    save,
    unknown_environment,
)
from .settings.table import SETTINGS
from .shop import Backshop
from .wiring.formats import open_formats

__all__ = [
    "COOKIE_DAYS",
    "INVITE_DAYS",
    "OWNER",
    "SETTINGS",
    "About",
    "Answer",
    "AsyncBackshop",
    "Backshop",
    "BenchWorkshop",
    "Config",
    "Effective",
    "Engine",
    "Fault",
    "Hub",
    "Links",
    "Notification",
    "Onboarding",
    "Parcels",
    "People",
    "Registry",
    "Role",
    "RpcLine",
    "Server",
    "Setting",
    "SettingInfo",
    "SettingsSet",
    "Subscription",
    "TokenThrottle",
    "UserInvite",
    "UserInviteWithdraw",
    "answer",
    "attach",
    "begin",
    "check_setting",
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
    "servers",
    "sharing",
    "unknown_environment",
    "wait_s",
    "web_address",
]
