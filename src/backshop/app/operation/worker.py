"""`backshop worker`: takes turns from the queue, walks them, and rescues those of dead workers.

What makes this safe is not the queue: whoever walks holds the run lease, and a lease passes from
one holder to one other. A job that comes twice, late or never costs time only (T6.2).
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from procrastinate import App, PsycopgConnector, RetryDecision
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException
from procrastinate.retry import BaseRetryStrategy

from backshop.base.errors import PASSING, BackshopError
from backshop.base.system.interrupt import stop_on_signals
from backshop.store import StoreBusy, StoreUnavailable
from backshop.workshop import OlderWorker, TurnActive, Workshop

from .queue import LATER, QUEUE, SCHEMA, TASK, WORKER_CONNECTIONS, arguments, pool_settings

if TYPE_CHECKING:
    from procrastinate.jobs import Job

AGAIN_S = 2.0  # before a turn that somebody holds is looked at again
STORE_TRIES = 9  # a store that is away is waited for, two minutes a worker
STORE_FIRST_S, STORE_WAIT_S = 0.5, 30.0
_QUIET = {"procrastinate": logging.CRITICAL, "psycopg.pool": logging.ERROR}
_LATELY = datetime(2020, 1, 1, tzinfo=UTC)  # "at once", whatever this machine's clock says
_LOG = logging.getLogger("backshop")


class _Again(BaseRetryStrategy):
    """A turn that somebody still holds, or a store that is away: the job goes back."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        if isinstance(exception, OlderWorker):  # out of the way of what this worker can do
            return RetryDecision(retry_at=_LATELY, queue=LATER)
        passing = (TurnActive, StoreBusy, StoreUnavailable, asyncio.CancelledError)
        return RetryDecision(retry_at=_LATELY) if isinstance(exception, passing) else None


class Worker:
    """Walks turns of one team until it is told to stop."""

    def __init__(self, workshop: Workshop, url: str, *, turns: int, grace_s: float) -> None:
        self._workshop = workshop
        self._url = url
        self._lease_s = workshop.book.lease_s
        self._turns = turns
        self._grace_s = grace_s
        self._threads = ThreadPoolExecutor(turns * 2, thread_name_prefix="backshop-turn")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ends = asyncio.Event()
        self._stopping = threading.Event()
        self._guard = threading.Lock()
        self._at_work: set[str] = set()
        """Turns that a thread of ours is at, also while the queue is lost."""
        self._later: set[str] = set()
        """Versions whose turns are left to others."""
        self._is_lost = False
        """Whether the queue went away and did not come back yet."""
        self._taking: asyncio.Task[None] | None = None
        """What takes turns that an older worker would not have."""

    def run(self, ready: Callable[[], None]) -> None:
        """Work until `stop`; `ready` is called when turns can be taken."""
        for name, level in _QUIET.items():  # each would say with a traceback what we say once
            logging.getLogger(name).setLevel(level)
        try:
            asyncio.run(self._until_stopped(ready))
        finally:
            self._stopping.set()
            self._workshop.let_go()
            self._threads.shutdown(wait=True)

    def stop(self) -> None:
        """Take nothing more; turns get their grace, then others go on with them."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._ends.set)

    # ------------------------------------------------------------ private

    async def _until_stopped(self, ready: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        stop_on_signals(self._loop, self._ends.set)
        while not self._ends.is_set():
            serving = asyncio.create_task(self._serve(ready))
            ending = asyncio.create_task(self._ends.wait())
            await asyncio.wait({serving, ending}, return_when=asyncio.FIRST_COMPLETED)
            for one in (serving, ending):
                one.cancel()
            (ended, _) = await asyncio.gather(serving, ending, return_exceptions=True)
            if not self._ends.is_set():  # the database was away: begin again
                if not self._is_lost:
                    _LOG.warning("the worker lost its queue and begins again: %s", _why(ended))
                self._is_lost = True
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._ends.wait(), 1.0)
        await self._drained()

    async def _drained(self) -> None:
        """Wait for the turns at work, as long as the grace lasts."""
        ends = asyncio.get_running_loop().time() + self._grace_s
        while self._workshop.is_walking and asyncio.get_running_loop().time() < ends:
            await asyncio.sleep(0.1)

    async def _serve(self, ready: Callable[[], None]) -> None:
        app = App(
            connector=PsycopgConnector(
                **pool_settings(self._url, WORKER_CONNECTIONS), configure=_configure
            )
        )
        app.task(name=TASK, queue=QUEUE, retry=_Again())(self._turn)
        async with app.open_async():
            ready()
            self._is_lost = False
            rescuing = asyncio.create_task(self._rescue(app))
            self._take_later(app)
            try:
                await self._take(app, QUEUE, turns=self._turns)
            finally:  # all of it ends before the app is closed under it
                beside = [one for one in (rescuing, self._taking) if one is not None]
                for one in beside:
                    one.cancel()
                await asyncio.gather(*beside, return_exceptions=True)

    def _take_later(self, app: App) -> None:
        """Take what an older worker would not have, unless we are one; one turn at a time."""
        if not self._later and (self._taking is None or self._taking.done()):
            self._taking = asyncio.create_task(self._take(app, LATER, turns=1))

    async def _take(self, app: App, queue: str, *, turns: int) -> None:
        """Take turns from a queue as they come; what was put back there is looked for."""
        await app.run_worker_async(
            queues=[queue],
            concurrency=turns,
            install_signal_handlers=False,
            listen_notify=queue == QUEUE,
            delete_jobs="always",
            fetch_job_polling_interval=min(1.0, self._lease_s / 8),
            update_heartbeat_interval=self._lease_s / 6,
            stalled_worker_timeout=self._lease_s / 2,
            shutdown_graceful_timeout=0.2,  # the threads go on; see `_drained`
        )

    async def _turn(self, bench_id: str, turn_id: str, ticket: str, version: str) -> None:
        """Walk one turn; what cannot be done now goes back to the queue."""
        loop = asyncio.get_running_loop()
        try:
            self._workshop.require_program(version)
            await loop.run_in_executor(self._threads, self._walked, bench_id, turn_id, ticket)
        except OlderWorker as refusal:
            self._leave(refusal)
            raise
        except (TurnActive, StoreBusy):
            await asyncio.sleep(min(AGAIN_S, self._lease_s / 8))
            raise
        except StoreUnavailable:  # told to stop meanwhile
            raise
        except BackshopError as error:
            _LOG.warning("a turn could not be gone on with: %s", error.message)

    def _leave(self, refusal: OlderWorker) -> None:
        """Leave turns of later programs to others from now on, and go on with our own."""
        version = refusal.version or "a later one"
        if version not in self._later:
            _LOG.warning(
                "%s; such turns wait for a newer worker, others go on here", refusal.message
            )
        self._later.add(version)
        if self._taking is not None and self._loop is not None:
            self._loop.call_soon(self._taking.cancel)

    def _walked(self, bench_id: str, turn_id: str, ticket: str) -> None:
        """Walk one turn; a store that is away is waited for here, where its lease is ours."""
        with self._guard:
            if turn_id in self._at_work:
                raise TurnActive("this worker is at work on the turn", reason="turn_active")
            self._at_work.add(turn_id)
        try:
            for tries in range(STORE_TRIES + 1):
                away = self._carried_on(bench_id, turn_id, ticket)
                if away is None:
                    return
                if tries == STORE_TRIES or away.reason not in PASSING:
                    _LOG.warning("a turn is left to its person: %s", away.message)
                    return
                self._workshop.book.absence.begin(away)
                if self._stopping.wait(min(STORE_FIRST_S * 2**tries, STORE_WAIT_S)):
                    raise away
        finally:
            with self._guard:
                self._at_work.discard(turn_id)

    def _carried_on(self, bench_id: str, turn_id: str, ticket: str) -> StoreUnavailable | None:
        """Go on with a turn; return why not, where that is the store."""
        try:
            self._workshop.carry_on(bench_id, turn_id, ticket)
        except OlderWorker:
            raise
        except StoreUnavailable as error:
            return error
        return None

    async def _rescue(self, app: App) -> None:
        """Look again and again for turns whose worker is gone."""
        while True:
            await asyncio.sleep(self._lease_s / 12)
            try:
                stalled = await app.job_manager.get_stalled_jobs(
                    seconds_since_heartbeat=self._lease_s / 2
                )
                for job in stalled:
                    await app.job_manager.retry_job(job, retry_at=_LATELY)
                await self._queue_orphans(app)
                self._take_later(app)
                self._workshop.book.absence.end()
            except BackshopError as error:  # a worker's loop: the next look tells
                self._workshop.book.absence.begin(error)
            except ConnectorException as error:
                self._workshop.book.absence.begin(StoreUnavailable(str(error)))

    async def _queue_orphans(self, app: App) -> None:
        """Queue turns that stand still without a job: their server died, or the queue was lost."""
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(None, self._workshop.orphans)
        for bench_id, turn_id in found:
            task = app.configure_task(TASK, queue=QUEUE, queueing_lock=bench_id)
            with suppress(AlreadyEnqueued):
                await task.defer_async(**arguments(bench_id, turn_id, ""))


def _why(ended: object) -> str:
    """Return in one line why something ended."""
    cause = ended.__cause__ if isinstance(ended, BaseException) and ended.__cause__ else ended
    return " ".join(str(cause or "it ended").split())


async def _configure(connection: Any) -> None:
    await connection.execute(f"SET search_path TO {SCHEMA}")
    await connection.commit()
