"""The queue of turns that wait for a worker, kept by procrastinate in the same PostgreSQL (T6.2).

It holds no truth: what is lost here is found again by the run leases and the log.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from backshop import __version__
from backshop.base.errors import ValidationFailed
from backshop.store import (
    IDLE_S,
    QUEUE_LOCK,
    StoreUnavailable,
    driver_errors,
    is_shared,
    why_refused,
)

if TYPE_CHECKING:
    from procrastinate import App

T = TypeVar("T")

QUEUE, TASK = "turns", "backshop.turn"
LATER = "turns-later"  # what an older worker would not have; who has all it needs takes from both
SCHEMA = "backshop_queue"  # a schema of its own: its tables are none of ours
SERVER_CONNECTIONS, WORKER_CONNECTIONS = 2, 3  # T2.8; a worker has one more, which listens
_WAIT_S = 5.0


def require_shared(url: str | None) -> str:
    """Return the URL of a database that several machines can share.

    Raises:
        ValidationFailed: it is SQLite.
    """
    if url is None or not is_shared(url):
        raise ValidationFailed(
            "workers need a PostgreSQL database",
            reason="bad_setting",
            hints=("set BACKSHOP_DATABASE_URL=postgresql://…",),
        )
    return url


def arguments(bench_id: str, turn_id: str, ticket: str) -> dict[str, Any]:
    """Return what a job says: ids, who held the lease, and the version that wrote it."""
    return {"bench_id": bench_id, "turn_id": turn_id, "ticket": ticket, "version": __version__}


def pool_settings(url: str, most: int) -> dict[str, Any]:
    """Return what both sides connect with; what nobody uses is given back but for one."""
    sizes = {"min_size": 1, "max_size": most, "max_idle": IDLE_S}
    return {"conninfo": url, "timeout": _WAIT_S, **sizes}


def away(url: str, error: BaseException) -> StoreUnavailable:
    """Return why the queue could not be asked: as the database server says it, if it says so."""
    detail = f"queue: {type(error.__cause__ or error).__name__}"
    return why_refused(url) or StoreUnavailable("the queue cannot be reached", detail=detail)


class TurnQueue:
    """What a server does with the queue; workers have `app.worker`. Safe for threads."""

    def __init__(self, url: str | None) -> None:
        self._url = require_shared(url)
        self._app: App | None = None
        self._opening = threading.Lock()

    def give(self, bench_id: str, turn_id: str, ticket: str) -> int:
        """Queue a turn whose lease `ticket` holds; return the number of the job."""
        wish = arguments(bench_id, turn_id, ticket)
        return self._asked(lambda app: app.configure_task(TASK, queue=QUEUE).defer(**wish))

    def is_pending(self, job: int) -> bool:
        """Say whether a worker has the job, or is still to get it."""
        from procrastinate.exceptions import NoResult

        try:
            status = self._asked(lambda app: app.job_manager.get_job_status(job))
        except NoResult:  # finished jobs are not kept
            return False
        return status.value in ("todo", "doing", "aborting")

    def withdraw(self, job: int) -> bool:
        """Take a job back that no worker has taken up; False if it is too late."""
        return self._asked(lambda app: app.job_manager.cancel_job_by_id(job, delete_job=True))

    def close(self) -> None:
        """Give the connections back."""
        with self._opening:
            if self._app is not None:
                self._app.close()
                self._app = None

    def _asked(self, ask: Callable[[App], T]) -> T:
        app = self._opened()
        from procrastinate.exceptions import ConnectorException, NoResult

        known: tuple[type[BaseException], ...] = (ConnectorException, *driver_errors())
        try:
            return ask(app)
        except NoResult:
            raise
        except known as error:
            raise away(self._url, error) from error

    def _opened(self) -> App:
        """Return the app, its tables made if they are not there."""
        with self._opening:
            if self._app is None:
                try:
                    from procrastinate import App, SyncPsycopgConnector
                except ImportError as error:
                    raise StoreUnavailable(
                        "workers need the extra backshop[postgres]", reason="driver_missing"
                    ) from error
                refused = why_refused(self._url)
                if refused is not None:  # the pool would try for half a minute, and not say why
                    raise refused
                connector = SyncPsycopgConnector(
                    **pool_settings(self._url, SERVER_CONNECTIONS), configure=_configure
                )
                made = App(connector=connector).open()
                try:
                    _make_tables(connector, made)
                except BaseException:
                    made.close()
                    raise
                self._app = made
            return self._app

    def prepare(self) -> None:
        """Make the tables if they are not there."""
        self._asked(lambda app: None)


def _configure(connection: Any) -> None:
    connection.execute(f"SET search_path TO {SCHEMA}")
    connection.commit()


def _make_tables(connector: Any, app: App) -> None:
    with connector.pool.connection() as connection:  # one transaction: all of them or none
        if _has_tables(connection):
            return
        connection.execute(f"SELECT pg_advisory_xact_lock({QUEUE_LOCK})")
        if not _has_tables(connection):  # another process may have been first
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
            connection.execute(app.schema_manager.get_schema())


def _has_tables(connection: Any) -> bool:
    # not to_regclass: what it did not find once it may go on not to find in the same connection
    found = connection.execute(
        "SELECT 1 FROM pg_tables WHERE schemaname = %s AND tablename = 'procrastinate_jobs'",
        (SCHEMA,),
    )
    return found.fetchone() is not None
