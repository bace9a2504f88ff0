"""A home whose database is damaged, gone, old or copied says so; it never looks empty or well."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.conftest import PROOF

from backshop.app import Backshop
from backshop.base.errors import BackshopError
from backshop.base.ids import BenchId
from backshop.bench.lifecycle.trash import BenchPurged
from backshop.cli import main
from backshop.store import DatabaseAway, NewEvent, Part, Plan, Store

PAGE = 4096
COPIES = 60 if PROOF else 4


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with six files, and a home with a workbench of them."""
    folder = tmp_path_factory.mktemp("made")
    for number in range(6):
        (folder / f"{number}.txt").write_text(f"{number}\n" * 50)
    with Backshop.open(folder / "home") as shop:
        bench = shop.call("WorkbenchCreate", {"name": "Mine"})["workbench_id"]
        paths = [str(path) for path in sorted(folder.glob("*.txt"))]
        shop.call("WorkbenchFilesAdd", {"workbench_id": bench, "source_paths": paths})
    return folder


@pytest.fixture
def home(made: Path, tmp_path: Path) -> Path:
    """A home of its own with a workbench of files, opened once since it was copied."""
    shutil.copytree(made, tmp_path, symlinks=True, dirs_exist_ok=True)
    Store.open(tmp_path / "home").close()
    return tmp_path / "home"


def doctor(home: Path, capsys: pytest.CaptureFixture[str], *options: str):
    code = main(["doctor", "--json", "--home", str(home), *options])
    return code, json.loads(capsys.readouterr().out)["findings"]


def problems(found) -> list[str]:
    return [one["message"] for one in found if one["level"] == "problem"]


def names(home: Path) -> list[str]:
    with Backshop.open(home) as shop:
        return [one["name"] for one in shop.call("WorkbenchList", {})["workbenches"]]


def refused(home: Path) -> str | None:
    with pytest.raises(DatabaseAway) as away:
        Backshop.open(home).close()
    return away.value.reason


def freed(path: Path) -> set[int]:
    """Return the pages of the list of free ones that hold nothing at all."""
    data = path.read_bytes()
    trunk, found = int.from_bytes(data[32:36], "big"), set()
    while trunk:
        page = data[(trunk - 1) * PAGE : trunk * PAGE]
        count = int.from_bytes(page[4:8], "big")
        found |= {int.from_bytes(page[8 + 4 * n : 12 + 4 * n], "big") for n in range(count)}
        trunk = int.from_bytes(page[:4], "big")
    return found


# ---------------------------------------------------------------- the database itself


@pytest.mark.rule("T5.6", "S4.2")
def test_every_destroyed_page_of_the_database_is_told_by_the_doctor(home, tmp_path, capsys):
    """Each page that is in use, one at a time, overwritten with random bytes."""
    pages = (home / "store.db").stat().st_size // PAGE
    harmless = freed(home / "store.db")
    silent = []
    for page in range(1, pages + 1):
        copy = tmp_path / f"copy-{page}"
        shutil.copytree(home, copy, symlinks=True)
        with (copy / "store.db").open("r+b") as file:
            file.seek((page - 1) * PAGE)
            file.write(random.Random(page).randbytes(PAGE))
        code, found = doctor(copy, capsys)
        if code == 0 or not problems(found):
            silent.append(page)
        shutil.rmtree(copy)

    assert set(silent) <= harmless
    assert pages > 14


@pytest.mark.rule("T5.6")
def test_a_destroyed_page_that_holds_nothing_does_no_harm_and_none_is_told(home, capsys):
    with closing(sqlite3.connect(home / "store.db")) as database:
        database.execute("CREATE TABLE spare (data BLOB)")
        database.execute("INSERT INTO spare VALUES (randomblob(400000))")
        database.commit()
        database.execute("DROP TABLE spare")
        database.commit()
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    page = max(freed(home / "store.db"))
    with (home / "store.db").open("r+b") as file:
        file.seek((page - 1) * PAGE)
        file.write(os.urandom(PAGE))

    code, found = doctor(home, capsys, "--full")

    assert (code, problems(found)) == (0, [])
    assert names(home) == ["Mine"]


@pytest.mark.rule("T5.6")
def test_an_index_that_misses_a_row_is_told(home, capsys):
    with closing(sqlite3.connect(home / "store.db")) as database:
        database.execute("PRAGMA writable_schema=ON")
        database.execute(
            "UPDATE sqlite_master SET sql = sql || ' WHERE kind IS NULL'"
            " WHERE name = 'event_scope_a'"
        )
        database.commit()
    with closing(sqlite3.connect(home / "store.db")) as database:  # sees an index of no rows
        database.execute("REINDEX event_scope_a")
        database.execute("PRAGMA writable_schema=ON")
        database.execute(
            "UPDATE sqlite_master SET sql = replace(sql, ' WHERE kind IS NULL', '')"
            " WHERE name = 'event_scope_a'"
        )
        database.commit()

    code, found = doctor(home, capsys)

    assert code == 1
    assert any("index event_scope_a" in text for text in problems(found))


@pytest.mark.rule("T5.6", "T5.4")
def test_a_backup_of_a_damaged_database_is_refused_and_not_called_done(home, tmp_path, capsys):
    with closing(sqlite3.connect(home / "store.db")) as database:
        root = database.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'event_scope_b'"
        ).fetchone()[0]
    with (home / "store.db").open("r+b") as file:
        file.seek((root - 1) * PAGE)
        file.write(os.urandom(PAGE))

    code = main(["backup", str(tmp_path / "backup"), "--json", "--home", str(home)])

    told = json.loads(capsys.readouterr().out)
    assert (code, told["error_code"], told["reason"]) == (1, "STORAGE_CORRUPT", "database_damaged")
    assert not (tmp_path / "backup").exists()


@pytest.mark.rule("B2.11", "T5.4")
def test_a_backup_leaves_out_nothing_that_a_folder_still_holds(home, tmp_path, capsys):
    for content in (home / "blobs").glob("??/*"):
        content.unlink()

    code = main(["backup", str(tmp_path / "backup"), "--json", "--home", str(home)])

    assert (code, json.loads(capsys.readouterr().out)["left_out"]) == (0, [])


@pytest.mark.rule("T5.6", "S3.3")
@pytest.mark.parametrize("option", ["--repair", "--accept-database"])
def test_wrong_settings_may_name_another_database_so_nothing_is_changed(
    home, capsys, monkeypatch, option
):
    monkeypatch.setenv("BACKSHOP_DATABASE_URL", "postgers://nowhere/x")
    (home / "store.db").unlink()

    code, found = doctor(home, capsys, option)

    assert code == 1
    assert any("put the settings right first" in text for text in problems(found))
    assert not (home / "store.db").exists()


# ---------------------------------------------------------------- gone, empty, old


@pytest.mark.rule("T5.6", "S4.2")
@pytest.mark.parametrize("was", ["missing", "empty", "without a table"])
@pytest.mark.parametrize("noted", [True, False])
def test_a_database_that_is_gone_beside_files_is_an_alarm_everywhere(home, capsys, was, noted):
    (home / "store.db").unlink()
    if was == "empty":
        (home / "store.db").touch()
    elif was == "without a table":
        with closing(sqlite3.connect(home / "store.db")) as database:
            database.execute("PRAGMA user_version = 1")
    if not noted:  # as a home of 0.1.0 has none
        (home / "store.db-mark").unlink()
    before = sorted(path.name for path in home.iterdir())

    code = main(["bench", "list", "--home", str(home)])

    said = capsys.readouterr()
    assert (code, said.out) == (1, "")
    assert "no workbenches" not in said.err
    word = "database_missing" if was == "missing" else "database_empty"
    assert refused(home) == word
    code, found = doctor(home, capsys)
    assert code == 1
    assert any("folders of workbenches" in text for text in problems(found))
    assert sorted(path.name for path in home.iterdir()) == before  # none was made in its place


@pytest.mark.rule("T5.6")
def test_a_database_that_lost_its_log_of_writes_is_told_to_be_old(home, tmp_path, capsys):
    """Copied without its `-wal` while somebody has it open, and put back later."""
    with Backshop.open(home) as shop:
        shop.call("WorkbenchCreate", {"name": "Later"})
        assert (home / "store.db-wal").stat().st_size
        shutil.copyfile(home / "store.db", tmp_path / "alone.db")
    for path in home.glob("store.db*"):
        if path.name != "store.db-mark":
            path.unlink()
    shutil.copyfile(tmp_path / "alone.db", home / "store.db")

    assert refused(home) == "database_old"
    code, found = doctor(home, capsys)
    assert code == 1
    assert any("older than what was stored here" in text for text in problems(found))


@pytest.mark.rule("T5.6")
def test_an_earlier_copy_of_the_database_is_told_until_somebody_accepts_it(home, tmp_path, capsys):
    shutil.copyfile(home / "store.db", tmp_path / "earlier.db")
    with Backshop.open(home) as shop:
        later = shop.call("WorkbenchCreate", {"name": "Later"})["workbench_id"]
        shop.call(
            "WorkbenchFilesAdd",
            {"workbench_id": later, "source_paths": [str(tmp_path / "0.txt")]},
        )
    shutil.copyfile(tmp_path / "earlier.db", home / "store.db")

    assert refused(home) == "database_old"
    assert refused(home) == "database_old"  # looking changes nothing
    code, found = doctor(home, capsys, "--accept-database")

    assert code == 1  # the folder of the workbench that is not known any more
    assert any("holds files of no workbench" in text for text in problems(found))
    assert names(home) == ["Mine"]
    assert (home / "benches" / later / "published" / "0.txt").exists()


@pytest.mark.rule("T5.6")
def test_an_earlier_database_is_told_by_folders_it_does_not_know_where_nothing_was_noted(
    home, tmp_path
):
    """As in a home of 0.1.0, which is opened for the first time with this program."""
    shutil.copyfile(home / "store.db", tmp_path / "earlier.db")
    with Backshop.open(home) as shop:
        later = shop.call("WorkbenchCreate", {"name": "Later"})["workbench_id"]
        request = {"workbench_id": later, "source_paths": [str(tmp_path / "0.txt")]}
        shop.call("WorkbenchFilesAdd", request)
        shop.call("WorkbenchCreate", {"name": "Empty"})
    (home / "store.db-mark").unlink()
    assert sorted(names(home)) == ["Empty", "Later", "Mine"]
    (home / "store.db-mark").unlink()
    shutil.copyfile(tmp_path / "earlier.db", home / "store.db")

    assert refused(home) == "database_old"


@pytest.mark.rule("T5.6")
def test_folders_of_buried_and_unfinished_workbenches_are_no_alarm(home, capsys):
    with Backshop.open(home) as shop:
        gone = shop.call("WorkbenchCreate", {"name": "Gone"})["workbench_id"]
        fact = BenchPurged(
            bench_id=BenchId(gone), name="Gone", created_at="then", deleted_at="later"
        )
        shop.store.append(Plan((Part("home", (NewEvent(fact, f"purged:{gone}"),)),)))
        shop.store.delete_stream(f"bench:{gone}")
    (home / "benches" / gone / "published").mkdir(exist_ok=True)
    (home / "benches" / gone / "published" / "left.txt").touch()
    (home / "benches" / ("wb_" + "0" * 26) / "meta").mkdir(parents=True)
    (home / "store.db-mark").unlink()

    assert names(home) == ["Mine"]
    assert doctor(home, capsys)[0] == 0


@pytest.mark.rule("T5.6")
def test_a_database_that_went_another_way_is_told_to_be_another(home, tmp_path):
    shutil.copytree(home, tmp_path / "twin", symlinks=True)
    for place, name in ((home, "Here"), (tmp_path / "twin", "There")):
        with Backshop.open(place) as shop:
            shop.call("WorkbenchCreate", {"name": name})
    shutil.copyfile(tmp_path / "twin" / "store.db", home / "store.db")

    assert refused(home) == "database_other"


@pytest.mark.rule("T5.6")
def test_a_missing_database_can_be_begun_anew_on_purpose(home, capsys):
    (home / "store.db").unlink()

    doctor(home, capsys, "--accept-database")

    assert names(home) == []
    folders = list((home / "benches").glob("wb_*/published/*"))
    assert len(folders) == 6  # nothing that was left is touched


@pytest.mark.rule("T5.6")
def test_deleted_streams_at_the_end_do_not_make_a_database_look_old(home):
    with Backshop.open(home) as shop:
        shop.call("WorkbenchCreate", {"name": "Brief"})
        stream = max(shop.store.streams("bench"), key=lambda head: head.last_seq).stream
        shop.store.delete_stream(stream)
    (home / "store.db-mark").unlink()
    assert names(home) == ["Mine"]

    assert names(home) == ["Mine"]


@pytest.mark.rule("T5.6")
@pytest.mark.parametrize("content", [b"", b"{", b"null", b"[1]", b"\xff" * 400, b'{"seq": 9}'])
def test_a_note_that_cannot_be_read_is_made_anew(home, content):
    (home / "store.db-mark").write_bytes(content)

    assert names(home) == ["Mine"]
    assert json.loads((home / "store.db-mark").read_text())["seq"] > 0


@pytest.mark.rule("T5.6")
def test_a_note_that_was_only_half_replaced_raises_no_false_alarm(home):
    noted = json.loads((home / "store.db-mark").read_text())
    (home / "store.db-mark").write_text(json.dumps({**noted, "seq": noted["seq"] + 1000}))

    assert names(home) == ["Mine"]
    assert json.loads((home / "store.db-mark").read_text()) == noted


@pytest.mark.rule("T5.6")
@pytest.mark.parametrize("act", ["removed", "replaced"])
def test_nothing_is_written_to_a_database_that_was_taken_away_meanwhile(home, tmp_path, act):
    with Backshop.open(home) as shop:
        shop.call("WorkbenchCreate", {"name": "Before"})
        if act == "replaced":
            shutil.copyfile(home / "store.db", tmp_path / "other.db")
            (tmp_path / "other.db").rename(home / "store.db")
        else:
            (home / "store.db").unlink()

        with pytest.raises(DatabaseAway):
            shop.call("WorkbenchCreate", {"name": "Into nothing"})


@pytest.mark.rule("T5.6", "T8.3")
def test_a_home_whose_first_opening_was_killed_opens_again(home, tmp_path):
    """The file has its first page; what was to come is in a log that nobody committed."""
    begun = tmp_path / "begun"
    begun.mkdir()
    with closing(sqlite3.connect(begun / "store.db")) as database:
        database.execute("PRAGMA journal_mode=WAL")
        assert (begun / "store.db").stat().st_size
    (begun / "store.db-wal").write_bytes(b"\x37\x7f\x06\x82" + bytes(5000))  # no whole frame

    assert names(begun) == []


# ---------------------------------------------------------------- copies


@pytest.mark.rule("T5.6")
def test_a_copy_of_a_home_is_examined_once_and_works(home, tmp_path):
    shutil.copytree(home, tmp_path / "copy", symlinks=True)

    assert names(tmp_path / "copy") == ["Mine"]
    noted = json.loads((tmp_path / "copy" / "store.db-mark").read_text())
    assert noted["inode"] == (tmp_path / "copy" / "store.db").stat().st_ino


@pytest.mark.rule("T5.6")
@pytest.mark.parametrize("noted", [True, False])
def test_a_copy_that_mixes_two_states_is_refused(home, tmp_path, capsys, noted):
    """The file from before a checkpoint of the log, the log from after it was begun anew."""
    shutil.copyfile(home / "store.db", tmp_path / "early.db")  # closed: there is no log
    with Backshop.open(home) as shop:
        for number in range(40):
            shop.call("WorkbenchCreate", {"name": f"{number} " + "x" * 100})
        begin_log_anew(shop)
        shop.call("WorkbenchCreate", {"name": "Last"})
        copy = tmp_path / "copy"
        shutil.copytree(home, copy, symlinks=True, ignore=shutil.ignore_patterns("*-shm"))
    shutil.copyfile(tmp_path / "early.db", copy / "store.db")

    if not noted:  # as a home of 0.1.0 has none
        (copy / "store.db-mark").unlink()

    assert refused(copy) == "database_damaged"
    code, told = doctor(copy, capsys)
    assert code == 1
    assert problems(told)


@pytest.mark.rule("T5.6")
def test_a_home_copied_while_in_use_works_or_says_that_it_does_not(home, tmp_path):
    """Files are copied one after another, while the log of writes is begun anew in between."""
    outcomes = set()
    with Backshop.open(home) as shop:
        for number in range(COPIES):
            copy = tmp_path / f"copy-{number}"
            copy.mkdir()
            order = ["store.db", "store.db-wal", "store.db-mark", "benches", "blobs"]
            random.Random(number).shuffle(order)
            for name in order:
                made = shop.call("WorkbenchCreate", {"name": f"{number} {name} " + "x" * 99})
                shop.call(
                    "WorkbenchFilesAdd",
                    {
                        "workbench_id": made["workbench_id"],
                        "source_paths": [str(tmp_path / "1.txt")],
                    },
                )
                if number % 2:
                    begin_log_anew(shop)
                source = home / name
                if source.is_dir():
                    shutil.copytree(source, copy / name, symlinks=True)
                else:
                    shutil.copyfile(source, copy / name)
            outcomes.add(told_or_right(copy))

    assert outcomes <= {"told", "right"}


def begin_log_anew(shop: Backshop) -> None:
    """Bring the log of writes into the file, so that the next write begins it from its start."""
    with shop.store.database.reader() as cursor:
        assert cursor.text("PRAGMA wal_checkpoint(RESTART)")[0][0] == 0


def told_or_right(copy: Path) -> str:
    """Say whether a copy was refused, or holds one state of the home, whole."""
    try:
        with Backshop.open(copy) as shop:
            assert all(shop.store.health(head.stream).is_healthy for head in shop.store.streams())
            for one in shop.call("WorkbenchList", {})["workbenches"]:
                bench = {"workbench_id": one["workbench_id"]}
                opened = shop.call("WorkbenchOpen", bench)
                listed = shop.call("WorkbenchFilesList", bench)["files"]
                if opened["health"] == "damaged" or any(not f["readable"] for f in listed):
                    return "told"
    except BackshopError as error:
        assert error.code == "STORAGE_CORRUPT"
        return "told"
    return "right"
