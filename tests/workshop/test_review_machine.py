"""Random histories of a review against a plain model: whatever two people do, both agree.

Comments, requests for changes, changes taken and left, corrections, undo, rewinds, redo, publishing
and discarding, by two people in two programs on one home, one of which is opened anew at times. An
agent outside writes the Draft, and takes up what is asked for. After every step files, comments,
choices and rounds are compared with the model.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import PROOF
from tests.histories import Histories

from backshop.app import Backshop
from backshop.base.acting import By, acting_as
from backshop.base.errors import BackshopError
from backshop.bench import Author, Put, Source

pytestmark = pytest.mark.timeout(7200 if PROOF else 600)
BLOCKS, EACH, STEPS = 4, 500 if PROOF else 50, 14 if PROOF else 9
PEOPLE = ("owner", "user_" + "1" * 26)
PATHS = ("a.txt", "d/b.txt")
NUMBER = 15
OPEN = range(2, NUMBER, 3)  # lines an agent changes: never two beside each other
AGENT = Author(source=Source(kind="workshop", ref="mcp"), actor="mcp:test")
Lines = tuple[str, ...]
START: dict[str, Lines] = {
    path: tuple(f"{path} line {n}" for n in range(1, NUMBER + 1)) for path in PATHS
}


@dataclass
class Remark:
    """A comment as a person would explain it."""

    number: int
    path: str
    line: int | None
    text: str
    by: str
    was: Lines | None
    answers: list[str] = field(default_factory=list)
    is_resolved: bool = False


@dataclass
class Sketch:
    """The Draft as a person would explain it."""

    base: dict[str, Lines]
    files: dict[str, Lines]
    whole: dict[str, Lines] = field(default_factory=dict)
    left: dict[str, frozenset[int]] = field(default_factory=dict)
    remarks: list[Remark] = field(default_factory=list)
    made: int = 0
    rounds: int = 0
    before: tuple[Any, ...] | None = None
    """What a correction by hand replaced: files, whole, left, and what that one replaced."""

    def correct(self) -> None:
        """Remember what is about to be corrected."""
        now = (dict(self.files), dict(self.whole), dict(self.left), self.before)
        self.before = now

    def write(self, path: str, lines: Lines | None) -> None:
        """Give a file other lines, or none; what was left out of it is forgotten."""
        self.whole.pop(path, None)
        self.left.pop(path, None)
        if lines is None:
            self.files.pop(path, None)
        else:
            self.files[path] = lines

    def changed(self) -> list[str]:
        """Return the files that are others than when the Draft began."""
        every = {*self.base, *self.files}
        return sorted(path for path in every if self.base.get(path) != self.files.get(path))


@dataclass
class Model:
    """A workbench and its conversation."""

    published: dict[str, Lines]
    draft: Sketch | None = None
    line: list[str] = field(default_factory=list)
    states: dict[str, Sketch | None] = field(default_factory=dict)
    undone: list[tuple[list[str], Sketch | None]] = field(default_factory=list)

    def keep(self) -> None:
        """Remember the Draft as it is at the newest message."""
        if self.line:
            self.states[self.line[-1]] = deepcopy(self.draft)

    def wrote(self) -> None:
        """Nothing that was rewound can be taken back any more."""
        self.undone.clear()


class Story:
    """One workbench, two people, two programs, and the model."""

    def __init__(self, shops: list[Backshop], folder: Path, seed: int) -> None:
        self.shops = shops
        self.rng = random.Random(seed)
        self.seen: list[str] = []
        self.bench = shops[0].call("WorkbenchCreate", {"name": str(seed)})["workbench_id"]
        self.model = Model(dict(START))
        for path, lines in START.items():
            source = folder / path
            source.parent.mkdir(parents=True, exist_ok=True)
            source.write_text(text_of(lines))
            where = {"dest_dir": "d"} if "/" in path else {}
            self.call("WorkbenchFilesAdd", source_paths=[str(source)], **where)

    def call(self, name: str, /, **request: Any) -> Any:
        shop = self.rng.choice(self.shops)
        return shop.call(name, {"workbench_id": self.bench, **request})

    def refused(self, name: str, /, **request: Any) -> str | None:
        try:
            self.call(name, **request)
        except BackshopError as error:
            return error.reason
        return None

    # ------------------------------------------------------------ what happens

    def step(self) -> None:
        person = self.rng.choice(PEOPLE)
        what: Callable[[str], None] = (
            BEGIN[len(self.seen)](self)
            if len(self.seen) < len(BEGIN)
            else self.rng.choice(self.offered())
        )
        self.seen.append(what.__name__)
        with acting_as(By(person=person)):
            what(person)
        self.model.keep()

    def offered(self) -> list[Callable[[str], None]]:
        model = self.model
        if model.draft is None:
            return [self.write, self.write, self.say, self.rewind, self.redo]
        return [
            *(self.write, self.answer, self.resolve, self.withdraw, self.undo),
            *(self.leave, self.leave, self.take, self.revert, self.delete),
            *(self.publish, self.discard, self.redo, self.redo),
            *(self.comment, self.ask, self.rewind) * 3,
        ]

    def say(self, person: str) -> None:
        """Send a message that nobody answers."""
        self.head(self.call("WorkshopSendUserMessage", text="please")["message_id"])
        self.model.undone.clear()

    def head(self, message_id: str) -> None:
        self.model.line.append(message_id)

    def write(self, person: str) -> None:
        """Let the agent outside change lines of a file."""
        model = self.model
        if model.draft is None:
            model.draft = Sketch(base=dict(model.published), files=dict(model.published))
        path = self.rng.choice(PATHS)
        old = model.draft.files.get(path) or model.draft.base.get(path) or START[path]
        wanted = self.rng.sample(OPEN, self.rng.randint(1, 3))
        mark = self.rng.randint(0, 10**9)
        new = tuple(f"{one} {mark}" if n in wanted else one for n, one in enumerate(old))
        text = text_of(new).encode()
        shop = self.rng.choice(self.shops)
        put = Put(path=path, blob=shop.store.blobs.put(text), size=len(text))
        shop.benches.apply_batch(self.bench, [put], AGENT)
        model.draft.write(path, new)
        model.draft.before = None
        model.wrote()

    def comment(self, person: str) -> None:
        draft = self.draft
        path = self.rng.choice(sorted(draft.files))
        line = self.rng.choice([None, self.rng.randint(1, NUMBER)])
        at = {} if line is None else {"at": f"line {line}"}
        text = f"remark {self.rng.random()}"
        made = self.call("ReviewAddComment", path=path, text=text, **at)
        draft.made += 1
        assert made["number"] == draft.made
        draft.remarks.append(Remark(draft.made, path, line, text, person, draft.files[path]))

    def remark(self) -> tuple[Remark, str] | None:
        if not self.draft.remarks:
            return None
        one = self.rng.choice(self.draft.remarks)
        listed = self.call("ReviewListComments")["comments"]
        return one, next(c["comment_id"] for c in listed if c["number"] == one.number)

    def answer(self, person: str) -> None:
        if (found := self.remark()) is not None:
            found[0].answers.append(f"by {person}")
            self.call("ReviewAnswerComment", comment_id=found[1], text=f"by {person}")

    def resolve(self, person: str) -> None:
        if (found := self.remark()) is not None:
            found[0].is_resolved = self.rng.random() < 0.7
            is_so = found[0].is_resolved
            self.call("ReviewResolveComment", comment_id=found[1], resolved=is_so)

    def withdraw(self, person: str) -> None:
        if (found := self.remark()) is not None:
            refused = self.refused("ReviewWithdrawComment", comment_id=found[1])
            assert refused == (None if found[0].by == person else "role")
            if refused is None:
                self.draft.remarks.remove(found[0])

    def units(self, path: str) -> dict[int, str]:
        """Return the ids of changes of a file by the line they are on, from 0."""
        found = self.call("ReviewListChanges", path=path)["changes"]
        return {one["place"]["line_start"] - 1: one["id"] for one in found}

    def _choose(self, name: str, *, is_leaving: bool) -> None:
        draft = self.draft
        both = [p for p in {*draft.changed(), *draft.left} if p in draft.base and p in draft.files]
        if not both:
            return
        path = self.rng.choice(sorted(both))
        whole = draft.whole.get(path, draft.files[path])
        every = {n for n, one in enumerate(whole) if one != draft.base[path][n]}
        units = self.units(path)
        assert set(units) == every
        some = set(self.rng.sample(sorted(every), self.rng.randint(1, len(every))))
        left = draft.left.get(path, frozenset())
        now = left | some if is_leaving else left - some
        self.call(name, path=path, ids=[units[n] for n in some])
        if now == left:
            return
        draft.correct()
        lines = tuple(draft.base[path][n] if n in now else one for n, one in enumerate(whole))
        draft.write(path, lines)
        if now:
            draft.whole[path], draft.left[path] = whole, frozenset(now)
        self.model.wrote()

    def leave(self, person: str) -> None:
        self._choose("DraftLeaveChanges", is_leaving=True)

    def take(self, person: str) -> None:
        self._choose("DraftTakeChanges", is_leaving=False)

    def undo(self, person: str) -> None:
        draft = self.draft
        refused = self.refused("DraftUndo")
        assert refused == (None if draft.before else "nothing_to_undo")
        if draft.before:
            files, whole, left, before = draft.before
            draft.files, draft.whole, draft.left = dict(files), dict(whole), dict(left)
            draft.before = before
            self.model.wrote()

    def revert(self, person: str) -> None:
        draft = self.draft
        if draft.changed():
            path = self.rng.choice(draft.changed())
            self.call("DraftRevertPath", path=path)
            draft.correct()
            draft.write(path, draft.base.get(path))
            self.model.wrote()

    def delete(self, person: str) -> None:
        draft = self.draft
        if len(draft.files) > 1 and self.rng.random() < 0.3:
            path = self.rng.choice(sorted(draft.files))
            self.call("DraftDeletePath", path=path)
            draft.correct()
            draft.write(path, None)
            self.model.wrote()

    def ask(self, person: str) -> None:
        """Ask for changes; whoever works on it does so in later steps."""
        draft = self.draft
        text = f"another round {self.rng.random()}"
        self.head(self.call("WorkshopRequestChanges", text=text)["message_id"])
        said = self.call("WorkshopGetConversation")["messages"][-1]["text"]
        assert said.startswith(text)
        assert [one.text for one in draft.remarks if not one.is_resolved and one.text in said] == [
            one.text for one in draft.remarks if not one.is_resolved
        ]
        assert not any(one.text in said for one in draft.remarks if one.is_resolved)
        draft.rounds += 1
        draft.before = None
        self.model.undone.clear()

    def rewind(self, person: str) -> None:
        model = self.model
        if len(model.line) < 2:
            return
        at = self.rng.randrange(len(model.line) - 1)
        self.call("WorkshopUndoToMessage", message_id=model.line[at])
        model.undone.append((list(model.line), deepcopy(model.draft)))
        model.line = model.line[: at + 1]
        model.draft = deepcopy(model.states[model.line[-1]])

    def redo(self, person: str) -> None:
        model = self.model
        refused = self.refused("WorkshopRedo")
        assert refused == (None if model.undone else "nothing_to_redo")
        if model.undone:
            model.line, model.draft = model.undone.pop()
            model.draft = deepcopy(model.draft)

    def publish(self, person: str) -> None:
        draft = self.draft
        if self.rng.random() < 0.6:
            return
        gone = sorted(set(draft.base) - set(draft.files))
        if gone:
            self.call("ReviewSetDeletionConfirmations", paths=gone)
        tree = self.call("ReviewGetChangeSet")["tree"]
        self.call("DraftPublish", reviewed_tree=tree)
        self.model.published = dict(draft.files)
        self.ended()

    def discard(self, person: str) -> None:
        if self.rng.random() < 0.5:
            return
        draft = self.draft
        self.call("DraftDiscard")
        is_back = self.rng.random() < 0.5
        if is_back:
            refused = self.refused("DraftBringBack")
            assert refused == (None if draft.changed() else "no_discarded_draft")
        self.ended()
        if is_back and draft.changed():
            draft.before = None
            self.model.draft = draft

    def ended(self) -> None:
        """Begin anew after the card: what was before it is another choice of the person's."""
        model = self.model
        model.draft, model.undone, model.states = None, [], {}
        model.line = [self.call("WorkshopGetState")["conversation_head_id"]]

    # ------------------------------------------------------------ what is so

    @property
    def draft(self) -> Sketch:
        assert self.model.draft is not None
        return self.model.draft

    def check(self) -> None:
        model = self.model
        state = self.call("DraftGetState")
        assert state["has_draft"] == (model.draft is not None)
        assert self.tree("published") == model.published
        if model.draft is None:
            return
        draft = model.draft
        assert self.tree("draft") == draft.files
        assert state.get("rounds", 0) == draft.rounds
        assert self.comments() == [self.expected(one) for one in draft.remarks]
        found = self.call("ReviewGetChangeSet")
        entries = {one["path"]: one["left_out"] for one in found["entries"]}
        assert entries == {path: len(draft.left.get(path, ())) for path in draft.changed()}
        assert found["open_comments"] == sum(not one.is_resolved for one in draft.remarks)
        same = {path for path in draft.left if draft.files.get(path) == draft.base.get(path)}
        assert set(found.get("left_whole", ())) == same

    def tree(self, view: str) -> dict[str, Lines]:
        desk = self.rng.choice(self.shops).benches.desk
        state = desk.state(self.bench)
        draft = state.draft
        tree = state.published if view == "published" or draft is None else draft.tree
        return {
            path: tuple(desk.store.blobs.read(file.sha256).decode().splitlines())
            for path, file in desk.entries(tree).items()
        }

    def comments(self) -> list[tuple[Any, ...]]:
        found = self.call("ReviewListComments")["comments"]
        return [
            (
                *(one["number"], one["path"], one["text"], one["by"]["person"]),
                *(one["is_resolved"], one["is_gone"], one["is_touched"]),
                *(one.get("place_text"), [answer["text"] for answer in one.get("answers", ())]),
            )
            for one in found
        ]

    def expected(self, one: Remark) -> tuple[Any, ...]:
        now = self.draft.files.get(one.path)
        place = "" if one.line is None else f"line {one.line}"
        is_touched = now != one.was
        if one.line is not None and now is not None and one.was is not None:
            is_touched = now[one.line - 1] != one.was[one.line - 1]
        return (
            *(one.number, one.path, one.text, one.by),
            *(one.is_resolved, now is None, is_touched),
            *(None if now is None else place, one.answers),
        )


BEGIN: tuple[Callable[[Story], Callable[[str], None]], ...] = (
    lambda story: story.say,
    lambda story: story.write,
    lambda story: story.comment,
)
"""How every history begins: without a Draft there is nothing to review."""


def text_of(lines: Lines) -> str:
    return "".join(f"{line}\n" for line in lines)


@pytest.mark.rule("B24.3", "B25.3", "B25.5", "W24.1", "W15.12")
@pytest.mark.parametrize("block", range(BLOCKS))
def test_histories_of_a_review_agree_with_a_plain_model(tmp_path, block, record_property):
    shops = [Backshop.open(tmp_path / "home") for _ in range(2)]
    try:
        for number in range(EACH):
            seed = block * EACH + number
            story = Story(shops, tmp_path / "outside", seed)
            if number % 10 == 9:  # one of the programs begins anew
                shops[number % 2].close()
                shops[number % 2] = Backshop.open(tmp_path / "home")
            for _ in range(STEPS):
                story.step()
                try:
                    story.check()
                except (AssertionError, BackshopError) as error:
                    raise AssertionError(f"seed {seed}: {story.seen}") from error
            Histories.ended += 1
        record_property("histories", EACH)
    finally:
        for shop in shops:
            shop.close()
