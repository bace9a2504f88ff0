"""What one person may use at once: turns, and bytes in the workbenches they made (T6.5)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from backshop.app import Backshop
from backshop.app.people.quota import LoggedUsage
from backshop.base.acting import acting
from backshop.base.errors import AccessDenied, LimitExceeded
from backshop.base.ids import UserId
from backshop.bench import TOOLS

SLOW = [{"when": {}, "times": 0, "respond": {"text": "…", "delay_ms": 60_000}}]
ADA = UserId("ada")  # stands for hers, which is known once she is there
MOST = 60  # bytes Ada's workbenches may hold
LARGE = "more than Ada may store, " * 4


class Home:
    """A home where Ada made a workbench that held a large file once, and Ben may publish in it."""

    def __init__(self, home: Any, folder: Any) -> None:
        self.folder = folder
        with Backshop.open(home) as self.shop:
            self.ada, self.ben = (self.shop.call("UserAdd", {"name": n})["user_id"] for n in "AB")
            self.bench = self.call("WorkbenchCreate", name="Hers")["workbench_id"]
            share = {"workbench_id": self.bench, "user_id": self.ben, "role": "publish"}
            self.shop.call("AccessSet", share)
            self.add("a.txt", LARGE)
            self.said = self.call("WorkshopSendUserMessage", text="Shorter")["message_id"]
            self.kept = self.call("CheckpointCreate")["checkpoint_id"]
            self.write(a="small")
            self.call("DraftPublish")
        self.shop = Backshop.open(home, settings={"team.stored_bytes": MOST})

    def call(self, name: str, user: UserId | None = ADA, /, **request: Any) -> Any:
        """Run a command about the workbench, for Ada unless said otherwise."""
        about = {"workbench_id": self.bench} if hasattr(self, "bench") else {}
        return self.shop.call(name, {**about, **request}, user=self.ada if user == ADA else user)

    def add(self, name: str, text: str) -> None:
        """Add a file, as the home's owner does, for whom uploads are added too."""
        (self.folder / name).write_text(text)
        self.call("WorkbenchFilesAdd", None, source_paths=[str(self.folder / name)])

    def write(self, **files: str) -> None:
        """Write into the Draft as an agent outside does."""
        seat = self.shop.workshops.outside(self.bench)
        tool = next(one for one in TOOLS if one.name == "write_text_file")
        for name, text in files.items():
            with acting(self.ada):
                result, _ = seat.call(tool, {"path": f"{name}.txt", "content": text})
            assert result.ok, result
        seat.close()

    def state(self) -> Any:
        """Return the workbenches there are, and how hers is; refusals are noted beside that."""
        names = [one.stream for one in self.shop.store.streams("bench")]
        desk = self.shop.benches.desk
        return (
            names,
            desk.state(self.bench),
            desk.views.outside(desk.state(self.bench), "published"),
        )


@pytest.fixture
def home(tmp_path) -> Iterator[Home]:
    made = Home(tmp_path / "home", tmp_path)
    yield made
    made.shop.close()


def edit(home: Home) -> None:
    view = home.shop.benches.desk.views.folder(home.bench) / "published" / "a.txt"
    view.chmod(0o644)
    view.unlink()
    view.write_text(LARGE)


def nothing(_: Home) -> None:
    pass


def overtake(home: Home) -> None:
    home.write(b="little")
    edit(home)


WAYS: dict[str, tuple[Callable[[Home], None], Callable[[Home], object]]] = {
    "publish": (lambda h: h.write(b=LARGE), lambda h: h.call("DraftPublish")),
    "publish by another": (lambda h: h.write(b=LARGE), lambda h: h.call("DraftPublish", h.ben)),
    "add": (nothing, lambda h: h.add("b.txt", LARGE)),
    "restore": (nothing, lambda h: h.call("CheckpointRestore", checkpoint_id=h.kept)),
    "adopt": (edit, lambda h: h.call("PublishedRepair", mode="adopt")),
    "reconcile": (overtake, lambda h: h.call("PublishedReconcile", keep="theirs")),
    "rewind": (
        nothing,
        lambda h: h.call("WorkshopUndoToMessage", message_id=h.said, mode="restore_published"),
    ),
    "sample": (nothing, lambda h: h.shop.call("WorkbenchCreateSample", {}, user=h.ada)),
}


@pytest.mark.rule("T6.5")
@pytest.mark.parametrize("way", WAYS)
def test_whatever_brings_bytes_into_published_counts_for_who_made_the_workbench(home, way):
    before, act = WAYS[way]
    before(home)
    known = home.state()

    with pytest.raises(LimitExceeded) as refused:
        act(home)

    assert (refused.value.reason, refused.value.detail) == ("user_limit", "team.stored_bytes")
    assert home.state() == known


@pytest.mark.rule("T6.5")
def test_what_fits_or_makes_less_is_done_and_a_copy_counts_for_who_makes_it(home):
    home.write(b="x" * (MOST - len("small")))
    home.call("DraftPublish")
    home.call("WorkbenchFork", home.ben, name="Ben's")

    with pytest.raises(LimitExceeded):
        home.call("WorkbenchFork", name="Another of hers")
    home.call("WorkbenchDelete", confirm=home.bench)
    with pytest.raises(LimitExceeded):  # what lies in the trash is stored still
        home.shop.call("WorkbenchCreateSample", {}, user=home.ada)
    home.call("WorkbenchUndelete")
    home.call("WorkbenchFilesRemove", workbench_paths=["b.txt"])
    home.call("WorkbenchFork", name="Another of hers")
    home.shop.call("WorkbenchCreateSample", {})  # the home's owner has no limit


@pytest.mark.rule("T6.5", "B6.9")
def test_files_that_are_too_much_for_their_owner_leave_no_content_behind(home):
    blobs = home.shop.store.blobs
    known = set(blobs.names())

    for number in range(2):
        with pytest.raises(LimitExceeded):
            home.add(f"{number}.txt", f"{LARGE} {number}")

    assert (set(blobs.names()), list(blobs.folder.glob("tmp-*"))) == (known, [])


@pytest.mark.rule("T6.5", "B6.8")
def test_files_that_only_swap_their_sizes_are_taken_at_the_limit(home):
    home.add("b.txt", "x" * (MOST - len("small")))
    for name, text in {"a.txt": "y" * (MOST - len("small")), "b.txt": "small"}.items():
        (home.folder / name).write_text(text)
    paths = [str(home.folder / name) for name in ("a.txt", "b.txt")]

    done = home.call("WorkbenchFilesAdd", None, source_paths=paths, on_conflict="replace")

    assert [one["status"] for one in done["add_results"]] == ["updated", "updated"]


@pytest.mark.rule("T6.5", "T6.4")
@pytest.mark.parametrize("by", ["themself", "the home's owner"])
def test_a_workbench_counts_for_its_maker_also_without_a_role(home, by):
    def give(role: str, user: UserId | None) -> None:
        home.call("AccessSet", user, user_id=home.ada, role=role)

    give("none", home.ada if by == "themself" else None)
    with pytest.raises(AccessDenied):
        home.call("WorkbenchOpen")
    with pytest.raises(LimitExceeded):
        home.add("b.txt", LARGE)
    give("publish", home.ben)
    with pytest.raises(LimitExceeded):
        home.add("b.txt", LARGE)


class Turns:
    """Two workbenches of Ada's in a home where she may have one turn, and Ben shares both."""

    def __init__(self, home: Any, flow: str) -> None:
        settings = {"model.default": "scripted:slow", "team.turns": 1, "workshop.flow": flow}
        self.shop = Backshop.open(home, settings=settings)
        self.shop.models.play("slow", SLOW)
        self.ada, self.ben = (self.shop.call("UserAdd", {"name": n})["user_id"] for n in "AB")
        self.wishes = [self._asked(name) for name in ("One", "Two")]
        self._working: list[threading.Thread] = []

    def _asked(self, name: str) -> dict[str, str]:
        made = self.shop.call("WorkbenchCreate", {"name": name}, user=self.ada)
        about = {"workbench_id": made["workbench_id"]}
        self.shop.call("AccessSet", {**about, "user_id": self.ben, "role": "write"})
        sent = self.shop.call("WorkshopSendUserMessage", {**about, "text": "Work"}, user=self.ada)
        return {**about, "message_id": sent["message_id"]}

    def begin(
        self,
        number: int,
        user: UserId | None,
        command: str = "WorkshopRunAgent",
    ) -> None:
        """Begin a turn, or go on with it, and wait until it counts for somebody."""
        wish, book = self.wishes[number], self.shop.workshops.book
        before = book.state(wish["workbench_id"]).turn
        work = threading.Thread(target=lambda: self.shop.call(command, wish, user=user))
        work.start()
        self._working.append(work)
        while True:
            assert work.is_alive()
            turn = book.state(wish["workbench_id"]).running
            if turn is not None and (before is None or before.message_id != turn.message_id):
                assert turn.user_id == user
                return

    def let_go(self) -> None:
        """Leave every turn where it is, as a program does that ends."""
        while any(one.is_alive() for one in self._working):
            self.shop.workshops.let_go()
        self._join()

    def stop(self) -> None:
        """End every turn that goes on."""
        for wish in self.wishes:
            self.shop.call("WorkshopCancelRun", {"workbench_id": wish["workbench_id"]})
        self._join()

    def _join(self) -> None:
        for work in self._working:
            work.join(30)
        self._working.clear()


@pytest.fixture
def turns(tmp_path, request) -> Iterator[Turns]:
    made = Turns(tmp_path / "home", getattr(request, "param", "rpi"))
    yield made
    made.stop()
    made.shop.close()


@pytest.mark.rule("T6.5", "W14.2")
@pytest.mark.parametrize(
    ("turns", "command"),
    [
        ("rpi", "WorkshopRunAgent"),
        ("rpi", "WorkshopRegenerate"),
        ("compat", "WorkshopRunAgent"),
        ("compat", "WorkshopStreamAssistantReply"),
    ],
    indirect=["turns"],
)
def test_no_command_begins_a_turn_beyond_the_limit(turns, command):
    turns.begin(0, turns.ada, command)
    store, other = turns.shop.store, f"bench:{turns.wishes[1]['workbench_id']}"
    head = store.position(other)

    with pytest.raises(LimitExceeded) as refused:
        turns.shop.call(command, turns.wishes[1], user=turns.ada)

    assert (refused.value.reason, refused.value.detail) == ("user_limit", "team.turns")
    assert (refused.value.retry.after_ms, store.position(other)) == (5000, head)


@pytest.mark.rule("T6.5")
@pytest.mark.parametrize(("running", "is_refused"), [(0, False), (1, False), (2, True)])
def test_a_turn_is_refused_to_who_has_as_many_running_as_they_may(
    tmp_path, monkeypatch, running, is_refused
):
    monkeypatch.setattr(LoggedUsage, "turns_of", lambda *_: running)
    settings = {"model.default": "scripted:quick", "team.turns": 2, "workshop.flow": "compat"}
    with Backshop.open(tmp_path / "home", settings=settings) as shop:
        shop.models.play("quick", [{"when": {}, "times": 0, "respond": {"text": "Done."}}])
        ada = shop.call("UserAdd", {"name": "Ada"})["user_id"]
        made = shop.call("WorkbenchCreate", {"name": "One"}, user=ada)
        wish = {"workbench_id": made["workbench_id"], "text": "Work"}
        wish["message_id"] = shop.call("WorkshopSendUserMessage", wish, user=ada)["message_id"]
        del wish["text"]

        if is_refused:
            with pytest.raises(LimitExceeded) as refused:
                shop.call("WorkshopRunAgent", wish, user=ada)
            assert (refused.value.reason, refused.value.detail) == ("user_limit", "team.turns")
        done = shop.call("WorkshopRunAgent", wish, user=None if is_refused else ada)

        assert done["status"] == "complete"  # the home's owner is not counted


@pytest.mark.rule("T6.5", "W12.1")
def test_a_turn_that_goes_on_counts_for_who_goes_on_with_it(turns):
    turns.begin(0, turns.ada)
    turns.let_go()

    turns.begin(0, turns.ben)
    turns.begin(1, turns.ada)
    turns.let_go()
    turns.begin(0, None)  # the home's owner has it now, and is not counted
    turns.begin(1, turns.ada)

    assert [len(turns.shop.workshops.turns_of(one)) for one in (turns.ada, turns.ben)] == [1, 0]
    turns.let_go()
    turns.begin(0, turns.ada)
    with pytest.raises(LimitExceeded):
        turns.shop.call("WorkshopRunAgent", turns.wishes[1], user=turns.ada)
