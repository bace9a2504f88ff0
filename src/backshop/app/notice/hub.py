"""`Hub`: committed facts and signals → subscribers, in order, resumable by position (S5.2).

One thread follows the log, so that what another process commits (the command line, an agent over
MCP) is announced like what this one does (T3.1). Signals of other processes come by the database
where it carries them (T6.3). A signal is sent after everything committed
before it, so that nobody sees an answer grow before the message that it answers.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from backshop.base.ambient import Clock, timestamp
from backshop.base.errors import BackshopError
from backshop.base.ids import UserId
from backshop.store import Event, Store

from ..fault import fault_of
from ..people.people import PeopleState, Role
from .table import CLUTTER, ONCE_A_SECOND, PER_FACT, Fact, Look, Notification, notifications

WEIGH_S = 60  # how long closing waits for a bench that is just being weighed
FOLLOW_S = 0.5  # how long the follower waits before it looks whether it is to end
ACCESS, PEOPLE = "AccessChanged", "PeopleChanged"
PENDING_MAX = 10_000  # notifications a slow subscriber may be behind; then it has to resume
_PAGE = 500
_LOG = logging.getLogger("backshop")

Wake = Callable[[], None]
Heard = Callable[[Notification], None]


@dataclass(frozen=True, slots=True)
class Listener:
    """Somebody with a token who follows: what they may hear of is asked anew each time (T6.4)."""

    user: UserId
    people: Callable[[], PeopleState]

    def sees(self, subject: str) -> bool:
        """Say whether they may read a bench or session now."""
        return self.people().role(self.user, subject).includes(Role.READ)

    def is_here(self) -> bool:
        """Say whether their token is still good."""
        return self.user in self.people().users

    def is_told(self, note: Notification) -> bool:
        """Say whether it is their own access that changed; they hear that it was taken, too."""
        return note.name == ACCESS and note.payload.get("user_id") == self.user


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """Which notifications somebody wants: of a bench, of a session, or all."""

    workbench_id: str | None = None
    session_id: str | None = None
    listener: Listener | None = None
    """Who asks; None is the home's owner, who may hear everything."""

    def wants(self, note: Notification) -> bool:
        """Say whether this one is meant; what belongs to nobody goes to everybody."""
        subject = note.workbench_id or note.session_id
        if subject is None:
            return True
        if self.subjects and subject not in self.subjects:
            return False
        who = self.listener
        return who is None or who.is_told(note) or who.sees(subject)

    def is_allowed(self) -> bool:
        """Say whether whoever asks may follow this now."""
        who = self.listener
        return who is None or (who.is_here() and all(map(who.sees, self.subjects)))

    @property
    def subjects(self) -> tuple[str, ...]:
        """The bench or session that is followed; none means all of them."""
        return tuple(one for one in (self.workbench_id, self.session_id) if one is not None)


class Subscription:
    """What one client still has to be sent. `wake` is called, from any thread, when it grows."""

    def __init__(self, about: About, wake: Wake | None = None) -> None:
        self._about = about
        self._wake = wake
        self._pending: deque[Notification] = deque()
        self._reached = -1
        self._news = threading.Condition()
        self.lagged = False
        """It fell too far behind; the client re-subscribes from its last position."""
        self.ended = False
        """Access was taken, and nothing is queued any more after what is."""
        self.closed = False

    def offer(self, note: Notification) -> None:
        """Queue a notification if it is wanted and was not offered before."""
        place = note.position
        if self.ended or (place is not None and place <= self._reached):
            return
        is_wanted = self._about.wants(note)
        if place is not None:
            self._reached = place
        if not is_wanted:
            return
        with self._news:
            if note.name in (ACCESS, PEOPLE):
                self._withdraw()
            if len(self._pending) >= PENDING_MAX:
                self.lagged = True
            elif not self.lagged:
                self._pending.append(note)
            self._news.notify_all()
        if self._wake is not None:
            self._wake()

    def _withdraw(self) -> None:
        """Take back what is queued and may not be heard any more; the lock is held."""
        self._pending = deque(filter(self._about.wants, self._pending))
        self.ended = not self._about.is_allowed()

    def take(self) -> list[Notification]:
        """Return what is queued, at once."""
        with self._news:
            taken = list(self._pending)
            self._pending.clear()
        return taken

    def wait(self, timeout_s: float) -> list[Notification]:
        """Return what is queued, waiting for the first if there is none."""
        with self._news:
            if not self._pending and not (self.closed or self.lagged or self.ended):
                self._news.wait(timeout_s)
        return self.take()

    def close(self) -> None:
        """Let nobody wait any longer."""
        with self._news:
            self.closed = True
            self._news.notify_all()
        if self._wake is not None:
            self._wake()


class Signals:
    """Signals on their way to whoever follows, here and in other processes (W4.1, T6.3)."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._listeners: list[Heard] = []

    def listen(self, heard: Heard) -> None:
        """Hear every signal that this process sends."""
        self._listeners.append(heard)

    def send(
        self,
        name: str,
        payload: Mapping[str, Any],
        *,
        workbench_id: str | None = None,
        session_id: str | None = None,
    ) -> None:
        """Send a signal: it has no position and is not replayed (W4.1)."""
        note = Notification(
            name=name, payload=payload, workbench_id=workbench_id, session_id=session_id
        )
        if self._store.bulletin is not None:
            about = {"workbench_id": workbench_id, "session_id": session_id}
            self._store.bulletin.send({"name": name, "payload": dict(payload), **about})
        for heard in self._listeners:
            heard(note)

    def announce(self, bench_id: str, name: str, payload: Mapping[str, Any]) -> None:
        """Send a signal about a bench."""
        self.send(name, payload, workbench_id=bench_id)


class Hub:
    """The one place notifications come from. Threads start with the first subscriber."""

    def __init__(self, store: Store, look: Look, clock: Clock, signals: Signals) -> None:
        self._store = store
        self.signals = signals
        signals.listen(self._signal)
        self._look = look
        self._clock = clock
        self._last: dict[tuple[str, str | None], float] = {}
        """When each notification that comes once a second was sent last, bench by bench."""
        self._held: dict[tuple[str, str | None], Notification] = {}
        self._crowded: set[str] = set()
        """Benches whose clutter may be another one now."""
        self._lock = threading.Lock()  # held while notifications are sent: their order is its order
        self._subscribers: set[Subscription] = set()
        self._seq: int | None = None
        self._thread: threading.Thread | None = None
        self._weigher = threading.Thread(
            target=self._weigh_often, name="backshop-clutter", daemon=True
        )
        self._ends = threading.Event()

    @property
    def position(self) -> int:
        """The position a subscriber that begins now begins after."""
        return (self._store.last_seq() + 1) * PER_FACT - 1

    @contextmanager
    def subscribe(
        self, about: About | None = None, *, after: int | None = None, wake: Wake | None = None
    ) -> Iterator[Subscription]:
        """Follow notifications after a position, or from now on.

        Between what is replayed and what is new nothing is lost and nothing comes twice.
        """
        made = Subscription(about or About(), wake)
        seq = None if after is None else self._replay(made, after, max(after // PER_FACT - 1, 0))
        with self._lock:
            self._start()
            self._catch_up()  # what was committed before is not news to who comes now
            if after is not None and seq is not None:
                self._replay(made, after, seq)  # only what came since: nobody waits for the rest
            self._subscribers.add(made)
        try:
            yield made
        finally:
            with self._lock:
                self._subscribers.discard(made)
            made.close()

    def _signal(self, note: Notification) -> None:
        with self._lock:
            if not self._subscribers:
                return
            self._catch_up()
            self._send(note)

    def disconnect(self) -> None:
        """End every subscription; whoever wants more comes back with a position."""
        with self._lock:
            open_ones = list(self._subscribers)
        for one in open_ones:
            one.close()

    def close(self) -> None:
        """End the follower and every subscription."""
        self._ends.set()
        self.disconnect()
        if self._thread is not None:
            self._thread.join(FOLLOW_S * 4)
            self._weigher.join(WEIGH_S)

    # ------------------------------------------------------------ private

    def _start(self) -> None:
        """Begin to follow, once; the lock is held."""
        if self._thread is not None:
            return
        if self._store.bulletin is not None:
            self._store.bulletin.listen(lambda said: self._signal(Notification(**said)))
        self._seq = self._store.last_seq()
        self._thread = threading.Thread(target=self._follow, name="backshop-hub", daemon=True)
        self._thread.start()
        self._weigher.start()  # apart, because a large bench takes a while to weigh

    def _follow(self) -> None:
        while not self._ends.is_set():
            try:
                has_news = self._store.wait(self._seq or 0, FOLLOW_S)
                with self._lock:
                    if has_news:
                        self._catch_up()
                    self._release()
            except BackshopError as error:  # a worker's loop: the store may come back
                if not self._ends.is_set():
                    _LOG.warning("the log could not be followed: %s", error.message)
                self._ends.wait(FOLLOW_S)
            except Exception as error:  # a worker's loop: news of everything else goes on
                fault_of(error)
                self._ends.wait(FOLLOW_S)

    def _catch_up(self) -> None:
        assert self._seq is not None
        while page := self._store.tail(self._seq, _PAGE):
            for event in page:
                self._announce(event, self._send)
                self._seq = event.seq

    def _send(self, note: Notification) -> None:
        if note.name == CLUTTER:
            if note.workbench_id is not None:
                self._crowded.add(note.workbench_id)
            return
        if note.name in ONCE_A_SECOND and not self._is_due(note):
            return
        for one in self._subscribers:
            one.offer(note)

    def _weigh_often(self) -> None:
        while not self._ends.wait(FOLLOW_S):
            try:
                self._weigh()
            except BackshopError as error:  # a worker's loop: the store may come back
                _LOG.warning("clutter could not be weighed: %s", error.message)
            except Exception as error:  # a worker's loop: other benches are weighed
                fault_of(error)

    def _weigh(self) -> None:
        """Say how crowded benches are now, where that is news (B16.8)."""
        now = self._clock.monotonic()
        with self._lock:
            due = [one for one in self._crowded if now - self._last.get((CLUTTER, one), -1.0) >= 1]
            self._crowded.difference_update(due)
            is_wanted = bool(self._subscribers)
        for own in due if is_wanted else ():
            if self._ends.is_set():
                return
            self._last[CLUTTER, own] = now
            bar = self._look.clutter(own)
            if bar is not None:
                note = Notification(name=CLUTTER, payload=bar, workbench_id=own)
                with self._lock:
                    for one in self._subscribers:
                        one.offer(note)

    def _is_due(self, note: Notification) -> bool:
        """Say whether a second has passed since the last of its kind; if not, hold it back."""
        key, now = (note.name, note.workbench_id), self._clock.monotonic()
        if now - self._last.get(key, -1.0) < 1.0:
            self._held[key] = note
            return False
        self._last[key] = now
        self._held.pop(key, None)
        return True

    def _release(self) -> None:
        """Send what was held back for long enough; of each kind only the newest."""
        for note in tuple(self._held.values()):
            self._send(note)

    def _replay(self, made: Subscription, after: int, seq: int) -> int:
        """Offer what the log holds after a position; return the event it came to."""

        def offer(note: Notification) -> None:
            if note.position is not None and note.position > after:
                made.offer(note)

        while not made.lagged and (page := self._store.tail(seq, _PAGE)):
            for event in page:
                self._announce(event, offer)
            seq = page[-1].seq
        return seq

    def _announce(self, event: Event, send: Callable[[Notification], None]) -> None:
        """Send what an event is announced by; one that cannot be is logged and left out."""
        try:
            for note in self._announced(event):
                send(note)
        except BackshopError:  # the store: whoever asked tries again
            raise
        except Exception as error:  # a worker's loop: one event must not end the news of the others
            reference = fault_of(error).envelope.get("detail_ref")
            _LOG.error("event %d is not announced: %s", event.seq, reference)

    def _announced(self, event: Event) -> list[Notification]:
        fact = Fact(
            seq=event.seq,
            stream=event.stream,
            kind=event.kind,
            scope_a=event.scope_a,
            scope_b=event.scope_b,
            at=timestamp(event.at_ms),
            data=event.data,
            look=self._look,
        )
        return notifications(fact)
