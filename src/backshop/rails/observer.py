"""Who may stand beside the runs that somebody else drives (W13.7)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from .repository import Located
from .requests import ContinueWorkflow, StartWorkflow
from .run.answer import Answer
from .run.inputs import Request
from .run.joint_append import Beside


class RunObserver(Protocol):
    """Somebody whose own record follows the runs an agent drives (W13.7)."""

    def start(self, request: StartWorkflow, plainly: Callable[[], Answer]) -> Answer:
        """Begin a run in a way of one's own, or plainly."""
        ...

    def go_on(self, request: ContinueWorkflow, plainly: Callable[[], Answer]) -> Answer:
        """Let a call go on; what belongs around it is done here."""
        ...

    def beside(self, located: Located, request: Request) -> Beside | None:
        """Return what is appended with the acknowledgement of a node, if anything."""
        ...
