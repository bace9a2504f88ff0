"""Random conversations against plain lists: chat, Draft and Published go back and forth together.

Two programs talk on one bench. After every step the active line, the Draft with the rounds on it
and Published are compared with a reference that knows nothing of revisions, heads or checkpoints.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from tests.bench.conftest import AGENT
from tests.bench.test_machine import refusal
from tests.conftest import PROOF
from tests.histories import Histories

from backshop.app import Backshop
from backshop.bench import Put

STEPS = settings(max_examples=200 if PROOF else 8, stateful_step_count=40)
WHICH = st.integers(0, 1)
CHOICE = st.integers(0, 99)
TEXTS = st.sampled_from(["one", "two", "three"])
MODES = st.sampled_from([None, "chat_only", "discard_draft", "restore_published"])
Files = dict[str, str]
PRUNED = "pruned"


@dataclass(frozen=True)
class Told:
    """A record: its id, and what Published was before it if it changed Published."""

    own: str
    before: tuple[tuple[str, str], ...] | None = None


@dataclass(frozen=True)
class World:
    """Everything a rewind can bring back."""

    line: tuple[Told, ...] = ()
    draft: tuple[tuple[str, str], ...] | None = None
    published: tuple[tuple[str, str], ...] = ()
    rounds: tuple[object, ...] = ()
    """What the Draft held each time changes of it were asked for."""

    @property
    def drafted(self) -> object:
        """What belongs to a record: the Draft and its rounds, or that there is none."""
        return None if self.draft is None else (self.draft, self.rounds)


@dataclass
class Reference:
    """A conversation as a person would explain it."""

    now: World = World()
    states: list[tuple[str | None, object]] = field(default_factory=list)
    """Which Draft belonged to which record, oldest first; `pruned` once it was closed."""
    undos: list[World] = field(default_factory=list)

    def drawn(self, draft: Files | None) -> None:
        rounds = () if self.now.draft is None else self.now.rounds
        self.now = replace(self.now, draft=frozen(draft), rounds=rounds)
        head = self.now.line[-1].own if self.now.line else None
        self.states.append((head, self.now.drafted))

    def closed(self, card: Told) -> None:
        self.states = [(own, s if s is None else PRUNED) for own, s in self.states]
        self.now = replace(self.now, line=(*self.now.line, card), draft=None, rounds=())
        self.states.append((card.own, None))
        self.undos = []

    def state_at(self, place: int) -> object:
        newest = dict(self.states)  # the last of each record
        line = (None, *(one.own for one in self.now.line[: place + 1]))
        return next((newest[own] for own in reversed(line) if own in newest), None)


def frozen(files: Files | None) -> tuple[tuple[str, str], ...] | None:
    return None if files is None else tuple(sorted(files.items()))


class ChatMachine(RuleBasedStateMachine):
    """Two programs in one conversation against `ref`."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="bs-chat-"))
        options = {"model.default": "scripted:demo"}
        self.shops = [Backshop.open(self.folder / "home", settings=options) for _ in range(2)]
        self.id = self.shops[0].call("WorkbenchCreate", {"name": "Machine"})["workbench_id"]
        self.ref = Reference()
        self.count = 0

    def teardown(self) -> None:
        for shop in self.shops:
            shop.close()
        shutil.rmtree(self.folder)
        Histories.ended += 1

    def call(self, which: int, name: str, /, **request):
        return self.shops[which].call(name, {"workbench_id": self.id, **request})

    def head(self, which: int) -> str:
        return str(self.call(which, "WorkshopGetState")["conversation_head_id"])

    # ---------------------------------------------------------------- what happens

    @rule(which=WHICH)
    def send(self, which):
        answer = refusal(self.call, which, "WorkshopSendUserMessage", text="Hello")

        if self.ref.now.draft is not None:
            assert answer == ("DRAFT_EXISTS", "draft_exists")
            return
        assert answer is None
        told = Told(self.head(which))
        self.ref.now = replace(self.ref.now, line=(*self.ref.now.line, told))
        self.ref.undos = []

    @rule(which=WHICH)
    def ask(self, which):
        answer = refusal(self.call, which, "WorkshopRequestChanges", text="Otherwise")

        now = self.ref.now
        if now.draft is None:
            assert answer == ("NOT_FOUND", "no_draft")
            return
        assert answer is None
        told = Told(self.head(which))
        self.ref.now = replace(now, line=(*now.line, told), rounds=(*now.rounds, now.draft))
        self.ref.states.append((told.own, self.ref.now.drafted))
        self.ref.undos = []

    @rule(which=WHICH, path=st.sampled_from(["a.txt", "b.txt"]), text=TEXTS)
    def write(self, which, path, text):
        shop, now = self.shops[which], self.ref.now
        put = Put(path=path, blob=shop.store.blobs.put(text.encode()), size=len(text))
        start = dict(now.published if now.draft is None else now.draft)

        shop.benches.apply_batch(self.id, [put], AGENT)

        if {**start, path: text} != start:
            self.ref.drawn({**start, path: text})
            self.ref.undos = []

    @rule(which=WHICH, text=TEXTS)
    def add(self, which, text):
        self.count += 1
        source = self.folder / f"{self.count}.txt"
        source.write_text(text)
        answer = refusal(self.call, which, "WorkbenchFilesAdd", source_paths=[str(source)])

        if self.ref.now.draft is not None:
            assert answer == ("DRAFT_EXISTS", "draft_exists")
            return
        files = {**dict(self.ref.now.published), source.name: text}
        self.ref.now = replace(self.ref.now, published=frozen(files) or ())
        self.ref.undos = []

    @precondition(lambda self: self.ref.now.draft is not None)
    @rule(which=WHICH)
    def publish(self, which):
        now = self.ref.now
        assert now.draft is not None
        self.call(which, "DraftPublish")
        changed = now.draft != now.published
        self.ref.closed(Told(self.head(which), now.published if changed else None))
        self.ref.now = replace(self.ref.now, published=now.draft)

    @precondition(lambda self: self.ref.now.draft is not None)
    @rule(which=WHICH)
    def discard(self, which):
        self.call(which, "DraftDiscard")
        self.ref.closed(Told(self.head(which)))

    @precondition(lambda self: self.ref.now.line)
    @rule(which=WHICH, choice=CHOICE, mode=MODES, dry=st.booleans())
    def rewind(self, which, choice, mode, dry):
        now = self.ref.now
        place = choice % len(now.line)
        target, after = now.line[place], now.line[place + 1 :]
        request = {"message_id": target.own, **({"mode": mode} if mode else {})}
        crossed = next((one for one in after if one.before is not None), None)
        state = self.ref.state_at(place)
        offered = self.offered(crossed, state)
        if dry:
            effects = self.call(which, "WorkshopUndoToMessage", **request, dry_run=True)["effects"]
            assert (effects["discarded_count"], effects["choices"]) == (len(after), offered)
            return

        answer = refusal(self.call, which, "WorkshopUndoToMessage", **request)

        if not after:
            assert answer is None
            return
        if mode is None and offered:
            words = ("CONFLICT_PUBLISHED_CHANGED", "published_changed")
            assert answer == (words if crossed else ("REVISION_PRUNED", "revision_pruned"))
            return
        if mode is not None and mode not in offered:
            assert answer == ("VALIDATION_FAILED", "bad_mode")
            return
        assert answer is None
        self.ref.undos.append(now)
        drafted = {None: state, "chat_only": now.drafted}.get(mode)
        draft: Any = None
        rounds: Any = ()
        if isinstance(drafted, tuple):
            draft, rounds = drafted
        published = now.published
        if mode == "restore_published":
            assert crossed is not None
            assert crossed.before is not None
            published = crossed.before
        self.ref.now = World(now.line[: place + 1], draft, published, rounds)
        self.ref.states.append((target.own, drafted))

    def offered(self, crossed: Told | None, state: object) -> list[str]:
        if crossed is not None:
            drop = ["discard_draft"] if self.ref.now.draft is not None else []
            return ["chat_only", "restore_published", *drop]
        return ["chat_only", "discard_draft"] if state == PRUNED else []

    @rule(which=WHICH)
    def redo(self, which):
        answer = refusal(self.call, which, "WorkshopRedo")

        if not self.ref.undos:
            assert answer == ("VALIDATION_FAILED", "nothing_to_redo")
            return
        assert answer is None
        self.ref.now = self.ref.undos.pop()
        self.ref.states.append((self.ref.now.line[-1].own, self.ref.now.drafted))

    # ---------------------------------------------------------------- what always holds

    @invariant()
    def agrees(self):
        for shop in self.shops:
            page = shop.call("WorkshopGetConversation", {"workbench_id": self.id, "limit": 1000})
            line = [m["message_id"] for m in page["messages"] if m["advances_head"]]
            assert line == [one.own for one in self.ref.now.line]
            state = shop.benches.desk.state(self.id)
            assert self.files(shop, state.published) == dict(self.ref.now.published)
            draft = None if state.draft is None else self.files(shop, state.draft.tree)
            assert frozen(draft) == self.ref.now.draft
            looks = () if state.draft is None else [one.tree for one in state.draft.rounds]
            seen = tuple(frozen(self.files(shop, tree_id)) for tree_id in looks)
            assert seen == self.ref.now.rounds

    @invariant()
    def tells_what_changed_since_the_last_look(self):
        now = self.ref.now
        if now.draft is None or not now.rounds:
            return
        shown = self.call(0, "ReviewGetChangeSet", since="last_look")["entries"]
        then, files = dict(now.rounds[-1]), dict(now.draft)  # type: ignore[call-overload]
        touched = {path for path in {*then, *files} if then.get(path) != files.get(path)}
        assert {one["path"] for one in shown} == touched

    def files(self, shop, tree_id) -> Files:
        desk = shop.benches.desk
        entries = desk.entries(tree_id).items()
        return {path: desk.store.blobs.read(file.sha256).decode() for path, file in entries}


@pytest.mark.rule("W15.1", "W15.3", "W15.4", "W15.12", "W2.7", "B8.14", "B8.19", "B10.13", "W24.5")
@pytest.mark.timeout(900)
def test_random_conversations_agree_with_the_reference():
    ChatMachine.TestCase.settings = STEPS
    ChatMachine.TestCase("runTest").runTest()
