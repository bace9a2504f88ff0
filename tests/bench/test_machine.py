"""Random histories of a workbench against plain dictionaries: whatever happens, both agree.

Two processes work on one home; other programs write into its folders; one process is restarted,
the other killed. After every step Published, Draft, checkpoints, file records and both folders
on disk are compared with the reference, and every byte another program wrote is in the folder or
in salvage.
"""

from __future__ import annotations

import shutil
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from tests.bench.programs import Here, Program, There
from tests.conftest import PROOF
from tests.histories import Histories
from tests.postgres import fresh_database

from backshop.base.errors import BackshopError

pytestmark = pytest.mark.timeout(7200 if PROOF else 900)
STEPS = settings(max_examples=300 if PROOF else 8, stateful_step_count=40)
WHICH = st.integers(0, 1)
PATHS = st.sampled_from(["a.txt", "b.txt", "A.txt", "d/c.txt", "d/e/f.txt", "d", "a.txt/x"])
TEXTS = st.sampled_from(["", "one", "two", "three\n"])
CHOICE = st.integers(0, 99)
VIEWS = st.sampled_from(["published", "draft"])
Files = dict[str, str]


@dataclass
class Model:
    """A bench as a person would explain it."""

    published: Files = field(default_factory=dict)
    generation: int = 0
    draft: Files | None = None
    base: tuple[int, Files] = (0, {})
    revisions: list[tuple[str, Files]] = field(default_factory=list)
    confirmed: set[str] = field(default_factory=set)
    checkpoints: list[tuple[str, str, Files]] = field(default_factory=list)
    edits: dict[str, dict[str, str | None]] = field(
        default_factory=lambda: {"published": {}, "draft": {}}
    )
    """What other programs did to a folder: path → their text, None for a file they took away."""
    discarded: tuple[int, Files, tuple[int, Files], set[str]] | None = None
    """The Draft thrown away last: when, what it held, what it began from, what was agreed to."""
    salvaged: set[tuple[str, str]] = field(default_factory=set)
    full_view_max: int = 10_000

    def head(self, view: str) -> Files | None:
        return self.published if view == "published" else self.draft

    def publish(self, files: Files) -> None:
        self.generation += 1
        self.displace("published", touched(self.published, files))
        self.published = files

    def draw(self, files: Files | None, revision: str = "") -> None:
        """Give the Draft another state, or none."""
        if self.draft is not None:
            self.displace("draft", None if files is None else touched(self.draft, files))
        if files is None:
            self.revisions, self.confirmed = [], set()
        else:
            self.revisions.append((revision, files))
            self.discarded = None
        self.draft = files

    def displace(self, view: str, touched: set[str] | None = None) -> None:
        """Files are replaced (None: all): what others wrote there goes to salvage, not elsewhere.

        A folder in a file's place goes too, and a file where a folder has to be.
        """
        edits = self.edits[view]
        hit = {p for p in edits if touched is None or any(same_place(p, t) for t in touched)}
        self.salvaged |= {(path, text) for path in hit if (text := edits[path]) is not None}
        self.edits[view] = {path: text for path, text in edits.items() if path not in hit}

    def on_disk(self, view: str) -> Files | None:
        head = self.head(view)
        if head is None:
            return None
        is_part = view == "draft" and len(self.published) > self.full_view_max
        base = self.base[1] if is_part else {}
        shown = {p: t for p, t in head.items() if base.get(p) != t}
        return overlaid(shown, self.edits[view])

    def moves(self) -> Files:
        """New name → old name of files the Draft moved; of several the likelier name was it."""
        assert self.draft is not None
        base, found = self.base[1], {}
        left = {path for path in base if path not in self.draft and base[path]}
        for new in sorted(set(self.draft) - set(base)):
            alike = [old for old in left if base[old] == self.draft[new]]
            if alike:
                found[new] = min(alike, key=lambda old: (*unlike(new, old), old))
                left.remove(found[new])
        return found

    def deleted(self) -> set[str]:
        """Paths the Draft takes away for good; a move is not a deletion."""
        assert self.draft is not None
        return set(self.base[1]) - set(self.draft) - set(self.moves().values())


def unlike(one: str, other: str) -> tuple[bool, bool]:
    (folder, _, name), (folder2, _, name2) = one.rpartition("/"), other.rpartition("/")
    return name != name2, folder != folder2


def touched(before: Files, after: Files) -> set[str]:
    return {path for path in {*before, *after} if before.get(path) != after.get(path)}


def same_place(one: str, other: str) -> bool:
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")


def overlaid(files: Files, edits: dict[str, str | None]) -> Files:
    changed = {**files, **edits}
    return {path: text for path, text in changed.items() if text is not None}


def collides(files: Files, path: str) -> bool:
    """Whether a path cannot be added beside these: equal but for case, or a file as a folder."""
    key = path.casefold().split("/")
    for other in files:
        if other == path:
            continue
        theirs = other.casefold().split("/")
        short = min(len(key), len(theirs))
        if key[:short] == theirs[:short]:
            return True
    return False


def valid(files: Files) -> bool:
    return not any(collides(files, path) for path in files)


def refusal(call, *args, **kwargs) -> tuple[str, str | None] | None:
    try:
        call(*args, **kwargs)
    except BackshopError as error:
        return error.code, error.reason
    return None


class BenchMachine(RuleBasedStateMachine):
    """Two processes on one bench against `model`."""

    full_view_max = 10_000
    on_server = False

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="bs-bench-"))
        self.opened = ExitStack()
        settings: dict[str, object] = {"bench.full_view_max": self.full_view_max}
        if self.on_server:
            settings["database_url"] = self.opened.enter_context(fresh_database())
        home = self.folder / "home"
        self.shops: list[Program] = [Here(home, settings), There(home, settings)]
        self.id = self.shops[0].call("WorkbenchCreate", {"name": "Machine"})["workbench_id"]
        self.bench = self.folder / "home" / "benches" / self.id
        self.model = Model(full_view_max=self.full_view_max)
        self.count = 0

    def teardown(self) -> None:
        for shop in self.shops:
            shop.close()
        self.opened.close()
        shutil.rmtree(self.folder)
        Histories.ended += 1

    def call(self, which: int, name: str, /, **request):
        return self.shops[which].call(name, {"workbench_id": self.id, **request})

    def refused(self, which: int, name: str, /, **request) -> tuple[str, str | None] | None:
        return refusal(self.call, which, name, **request)

    # ---------------------------------------------------------------- the person's files

    @rule(
        which=WHICH,
        path=PATHS,
        text=TEXTS,
        on_conflict=st.sampled_from(["reject", "skip", "replace", "keep_both"]),
    )
    def add(self, which, path, text, on_conflict):
        parent, _, name = path.rpartition("/")
        self.count += 1
        source = self.folder / f"outside{self.count}" / name
        source.parent.mkdir()
        source.write_text(text)
        request = {"source_paths": [str(source)], "on_conflict": on_conflict}
        request |= {"dest_dir": parent} if parent else {}
        model = self.model
        taken = next((p for p in model.published if p.casefold() == path.casefold()), None)

        answer = self.refused(which, "WorkbenchFilesAdd", **request)

        if model.draft is not None:
            assert answer == ("DRAFT_EXISTS", "draft_exists")
        elif taken is None and collides(model.published, path):
            assert answer == ("VALIDATION_FAILED", "path_collision")
        elif taken is None:
            assert answer is None
            model.publish({**model.published, path: text})
        elif on_conflict == "reject":
            assert answer == ("VALIDATION_FAILED", "duplicate")
        elif on_conflict == "keep_both":
            assert answer is None
            stem, dot, suffix = name.partition(".")
            below = f"{parent}/" if parent else ""
            free = next(
                found
                for found in (f"{below}{stem}({n}){dot}{suffix}" for n in range(1, 99))
                if found.casefold() not in {p.casefold() for p in model.published}
            )
            model.publish({**model.published, free: text})
        else:
            assert answer is None
            if on_conflict == "replace" and model.published[taken] != text:
                self.kept(which, "auto")
                model.publish({**model.published, taken: text})

    @rule(which=WHICH, paths=st.lists(PATHS, min_size=1, max_size=2))
    def remove(self, which, paths):
        model = self.model
        answer = self.refused(which, "WorkbenchFilesRemove", workbench_paths=paths)

        if model.draft is not None:
            assert answer == ("DRAFT_EXISTS", "draft_exists")
            return
        assert answer is None
        left = {p: t for p, t in model.published.items() if p not in paths}
        if left != model.published:
            self.kept(which, "auto")
            model.publish(left)

    @rule(which=WHICH, path=PATHS, new_path=PATHS)
    def rename(self, which, path, new_path):
        model = self.model
        answer = self.refused(which, "WorkbenchFileRename", path=path, new_path=new_path)

        if model.draft is not None:
            assert answer == ("DRAFT_EXISTS", "draft_exists")
        else:
            moved = self.moved(model.published, path, new_path, answer)
            if moved is not None:
                self.kept(which, "auto")
                model.publish(moved)

    def moved(self, files: Files, path: str, new_path: str, answer) -> Files | None:
        """Return the files after a rename, or None; check that the answer says the same."""
        if path not in files:
            assert answer is not None
            assert answer[0] == "NOT_FOUND"
            return None
        left = {p: t for p, t in files.items() if p != path}
        if path == new_path or new_path in left or collides(left, new_path):
            assert answer == ("VALIDATION_FAILED", "path_collision")
            return None
        assert answer is None
        return {**left, new_path: files[path]}

    # ---------------------------------------------------------------- the Draft

    @rule(which=WHICH, files=st.dictionaries(PATHS, TEXTS, min_size=1, max_size=3))
    def write(self, which, files):
        model = self.model
        start = model.published if model.draft is None else model.draft
        after = {**start, **files}

        answer = refusal(self.shops[which].write, self.id, files)

        if not valid(after):
            assert answer == ("VALIDATION_FAILED", "path_collision")
            return
        assert answer is None
        if after != start:
            self.drawn(which, after, set(files))

    @rule(which=WHICH)
    def begin(self, which):
        known = self.model.draft is not None
        answer = self.call(which, "DraftCreate", reason="asked for")
        if known:
            assert answer["warnings"] == ["draft_exists"]
        else:
            self.began()
            self.model.draw(self.model.published, answer["draft_revision_id"])

    @rule(which=WHICH, path=PATHS)
    def delete_path(self, which, path):
        model = self.model
        answer = self.refused(which, "DraftDeletePath", path=path)
        if model.draft is None or path not in model.draft:
            assert answer is not None
            assert answer[0] == "NOT_FOUND"
        else:
            assert answer is None
            self.drawn(which, {p: t for p, t in model.draft.items() if p != path}, {path})

    @rule(which=WHICH, path=PATHS, new_path=PATHS)
    def rename_path(self, which, path, new_path):
        model = self.model
        answer = self.refused(which, "DraftRenamePath", path=path, new_path=new_path)
        if model.draft is None:
            assert answer == ("NOT_FOUND", "no_draft")
            return
        moved = self.moved(model.draft, path, new_path, answer)
        if moved is not None:
            self.drawn(which, moved, {path, new_path})

    @rule(which=WHICH, path=PATHS)
    def revert_path(self, which, path):
        model = self.model
        answer = self.refused(which, "DraftRevertPath", path=path)
        if model.draft is None:
            assert answer == ("NOT_FOUND", "no_draft")
            return
        base, moves = model.base[1], model.moves()
        names = next((set(pair) for pair in moves.items() if path in pair), {path})
        after = overlaid(model.draft, {name: base.get(name) for name in names})
        if path not in base and path not in model.draft:
            assert answer is not None
            assert answer[0] == "NOT_FOUND"
        elif not valid(after):
            assert answer == ("VALIDATION_FAILED", "path_collision")
        else:
            assert answer is None
            if after != model.draft:
                self.drawn(which, after, names)

    @precondition(lambda self: self.model.draft is not None)
    @rule(which=WHICH)
    def confirm(self, which):
        paths = sorted(self.model.deleted())
        if paths:
            self.call(which, "ReviewSetDeletionConfirmations", paths=paths)
            self.model.confirmed |= set(paths)

    @precondition(lambda self: self.model.revisions)
    @rule(which=WHICH, choice=CHOICE)
    def restore_revision(self, which, choice):
        model = self.model
        wanted, files = model.revisions[choice % len(model.revisions)]
        done = self.call(which, "DraftRestoreRevision", revision_id=wanted)
        model.confirmed = set()
        model.draw(files, done["draft_revision_id"])

    @rule(which=WHICH, reviewed=st.sampled_from(["none", "now", "other"]), dry=st.booleans())
    def publish(self, which, reviewed, dry):
        model = self.model
        seen = self.shops[which].look(self.id)
        request = {"dry_run": dry}
        if reviewed == "now" and seen.draft_tree is not None:
            request["reviewed_tree"] = seen.draft_tree
        elif reviewed == "other":
            request["reviewed_tree"] = "0" * 64

        answer = self.refused(which, "DraftPublish", **request)

        expected = self.publish_refusal(reviewed)
        assert answer == expected
        if expected is None and not dry:
            assert model.draft is not None
            if model.draft != model.published:
                self.kept(which, "publish")
                model.publish(model.draft)
            else:
                model.generation += 0
            model.draw(None)

    def publish_refusal(self, reviewed: str) -> tuple[str, str | None] | None:
        model = self.model
        if model.draft is None:
            return "NOT_FOUND", "no_draft"
        if model.edits["draft"]:
            return "VALIDATION_FAILED", "draft_outside_changes"
        if model.edits["published"]:
            return "CONFLICT_PUBLISHED_CHANGED", "published_changed"
        if reviewed == "other":
            return "CONFIRMATION_REQUIRED", "draft_changed"
        if model.base != (model.generation, model.published):
            return "CONFLICT_PUBLISHED_CHANGED", "published_changed"
        if model.draft != model.published and not model.deleted() <= model.confirmed:
            return "CONFIRMATION_REQUIRED", "confirm_deletions"
        return None

    @rule(which=WHICH)
    def discard(self, which):
        answer = self.refused(which, "DraftDiscard")
        model = self.model
        if model.draft is None:
            assert answer == ("NOT_FOUND", "no_draft")
        else:
            assert answer is None
            gone = (model.generation, model.draft, model.base, model.confirmed)
            model.discarded = gone if model.draft != model.base[1] else None
            model.draw(None)

    @rule(which=WHICH)
    def bring_back(self, which):
        answer = self.refused(which, "DraftBringBack")
        model = self.model
        if model.draft is not None:
            assert answer == ("DRAFT_EXISTS", "draft_exists")
        elif model.discarded is None or model.discarded[0] != model.generation:
            assert answer == ("NOT_FOUND", "no_discarded_draft")
        else:
            assert answer is None
            _, files, model.base, model.confirmed = model.discarded
            seen = self.shops[which].look(self.id)
            assert seen.draft_revision is not None
            model.draw(files, seen.draft_revision)

    def began(self) -> None:
        self.model.base = (self.model.generation, self.model.published)

    def drawn(self, which: int, files: Files, touched: set[str]) -> None:
        """Follow a batch that took effect."""
        model = self.model
        seen = self.shops[which].look(self.id)
        if model.draft is None:
            self.began()
            model.draw(model.published, seen.revisions[-2])
        model.confirmed -= touched
        assert seen.draft_revision is not None
        model.draw(files, seen.draft_revision)

    # ---------------------------------------------------------------- checkpoints

    def kept(self, which: int, reason: str) -> None:
        """Follow a checkpoint of Published as it was before this step."""
        newest = self.call(which, "CheckpointsList", limit=1)["checkpoints"][0]
        assert newest["reason"] == reason
        self.model.checkpoints.append((newest["checkpoint_id"], reason, self.model.published))

    @rule(which=WHICH)
    def checkpoint(self, which):
        answer = self.refused(which, "CheckpointCreate", description="by hand")
        if self.model.draft is not None:
            assert answer == ("DRAFT_EXISTS", "draft_exists")
        else:
            self.kept(which, "manual")

    @precondition(lambda self: self.model.checkpoints)
    @rule(which=WHICH, choice=CHOICE, dry=st.booleans())
    def restore(self, which, choice, dry):
        model = self.model
        wanted, _, files = model.checkpoints[choice % len(model.checkpoints)]
        answer = self.refused(which, "CheckpointRestore", checkpoint_id=wanted, dry_run=dry)
        if model.draft is not None:
            assert answer == ("DRAFT_EXISTS", "draft_exists")
        elif not dry:
            assert answer is None
            self.kept(which, "pre_restore")
            model.publish(files)

    @precondition(lambda self: self.model.checkpoints)
    @rule(which=WHICH, choice=CHOICE, pinned=st.booleans())
    def pin(self, which, choice, pinned):
        wanted, _, _ = self.model.checkpoints[choice % len(self.model.checkpoints)]
        self.call(which, "CheckpointPin", checkpoint_id=wanted, pinned=pinned)

    # ---------------------------------------------------------------- other programs

    @rule(view=VIEWS, path=st.sampled_from(["a.txt", "b.txt", "d/c.txt", "extra.md"]), gone=CHOICE)
    def outside(self, view, path, gone):
        shown = self.model.on_disk(view)
        if shown is None or collides({p: t for p, t in shown.items() if p != path}, path):
            return
        target = self.bench / view / path
        if path in shown and gone < 30:
            target.unlink()
            text = None
        else:
            self.count += 1
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            text = f"theirs {self.count}"
            target.write_text(text)
        edits = self.model.edits[view]
        edits[path] = text
        head = self.model.head(view)
        assert head is not None
        if head.get(path) == text:
            del edits[path]

    @rule(which=WHICH, mode=st.sampled_from(["adopt", "restore"]))
    def repair(self, which, mode):
        model = self.model
        after = overlaid(model.published, model.edits["published"])
        answer = self.refused(which, "PublishedRepair", mode=mode)
        if mode == "adopt" and not valid(after):
            assert answer == ("VALIDATION_FAILED", "path_collision")
            return
        assert answer is None
        if mode == "restore":
            model.displace("published")
        elif model.edits["published"]:
            self.kept(which, "auto")
            model.edits["published"] = {}
            model.publish(after)

    @rule(which=WHICH, mode=st.sampled_from(["adopt", "revert"]))
    def rescan(self, which, mode):
        model = self.model
        answer = self.refused(which, "DraftRescan", mode=mode)
        if model.draft is None:
            assert answer == ("NOT_FOUND", "no_draft")
            return
        after = overlaid(model.draft, model.edits["draft"])
        if mode == "revert":
            assert answer is None
            model.displace("draft")
        elif not valid(after):
            assert answer == ("VALIDATION_FAILED", "path_collision")
        elif model.edits["draft"]:
            assert answer is None
            touched = set(model.edits["draft"])
            model.edits["draft"] = {}
            self.drawn(which, after, touched)

    # ---------------------------------------------------------------- restarts

    @rule(which=WHICH)
    def restart(self, which):
        self.shops[which].restart()

    @rule(which=WHICH)
    def open(self, which):
        opened = self.call(which, "WorkbenchOpen")
        assert (opened["health"], opened["recovery"]) == ("ok", [])
        assert set(opened["draft"].get("outside_changes", ())) == set(self.model.edits["draft"])

    @rule(which=WHICH, view=VIEWS)
    def lose_the_folder(self, which, view):
        if self.model.head(view) is None or self.model.edits[view]:
            return
        shutil.rmtree(self.bench / view)
        opened = self.call(which, "WorkbenchOpen")
        assert opened["recovery"] == [f"{view}_rebuilt"]

    @rule(which=WHICH)
    def throw_away_and_take_back(self, which):
        if self.model.draft is None:
            self.call(which, "WorkbenchDelete", confirm=self.id)
            self.call(1 - which, "WorkbenchUndelete")

    # ---------------------------------------------------------------- what always holds

    @invariant()
    def agrees_with_the_model(self):
        self.heads_agree()
        self.folders_follow()
        self.nothing_of_others_is_lost()
        self.the_review_lists_exactly_the_changes()

    def heads_agree(self):
        model = self.model
        for shop in self.shops:
            seen = shop.look(self.id)
            assert seen.published == model.published
            assert seen.generation == model.generation
            assert seen.draft == model.draft
            assert seen.checkpoints == model.checkpoints
            assert seen.unpinned == set()
            sizes = {path: len(text) for path, text in model.published.items()}
            assert (seen.sizes, seen.total_bytes) == (sizes, sum(sizes.values()))

    def folders_follow(self):
        for view in ("published", "draft"):
            folder = self.bench / view
            found = None
            if folder.exists():
                found = {
                    path.relative_to(folder).as_posix(): path.read_text()
                    for path in folder.rglob("*")
                    if path.is_file()
                }
            assert found == self.model.on_disk(view)

    def nothing_of_others_is_lost(self):
        kept = self.bench / "meta" / "salvage"
        found = {
            (path.relative_to(kept).as_posix().partition("/")[2], path.read_text())
            for path in kept.rglob("*")
            if path.is_file()
        }
        assert self.model.salvaged <= found

    def the_review_lists_exactly_the_changes(self):
        model = self.model
        if model.draft is None:
            return
        entries = self.call(0, "ReviewGetChangeSet")["entries"]
        base = model.base[1]
        touched = {e["path"] for e in entries} | {e["old_path"] for e in entries if "old_path" in e}
        assert touched - {None} == {
            path for path in {*base, *model.draft} if base.get(path) != model.draft.get(path)
        }
        gone = {e["path"]: e["deletion_confirmed"] for e in entries if e["kind"] == "DELETED"}
        assert len(gone) == len(model.deleted())


class LargeMachine(BenchMachine):
    """The same, large from the second file on: the Draft's folder shows its changes only."""

    full_view_max = 0


class ServerMachine(BenchMachine):
    """The same on PostgreSQL."""

    on_server = True


shows_rules = pytest.mark.rule(
    "B1.2", "B1.5", "B1.6", "B2.2", "B2.3", "B3.1", "B3.12", "B8.10", "B9.4", "B9.5"
)
TestBench = shows_rules(BenchMachine.TestCase)
TestBench.settings = STEPS
TestLargeBench = pytest.mark.rule("B2.10")(shows_rules(LargeMachine.TestCase))
TestLargeBench.settings = settings(STEPS, max_examples=300 if PROOF else 4)
TestBenchOnServer = pytest.mark.needs("postgres")(
    pytest.mark.rule("T2.4")(shows_rules(ServerMachine.TestCase))
)
TestBenchOnServer.settings = settings(STEPS, max_examples=100 if PROOF else 2)
