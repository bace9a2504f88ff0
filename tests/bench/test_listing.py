"""What a prompt lists of a bench's files, and whose content it holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backshop.bench import (
    Content,
    FileFact,
    Listing,
    choose_contents,
    choose_lines,
    contents_room,
    named_paths,
    spoken_of,
)

WINDOW = 200_000


def file(path: str, size: int = 10, change: str | None = None) -> FileFact:
    return FileFact(path=path, kind="csv", size_bytes=size, sha256="0" * 64, change=change)


@pytest.mark.rule("W6.7", "W23.9")
def test_500_files_are_all_listed():
    files = [file(f"d/{n:03}.csv") for n in range(500)]

    assert choose_lines(files, window_tokens=WINDOW).files == tuple(files)


def represented(found: Listing) -> int:
    return len(found.files) + sum(one.files for one in found.folders)


@pytest.mark.rule("W6.7", "W23.9")
def test_of_20000_files_the_named_the_changed_and_the_top_have_lines():
    files = [file(f"d{n % 40:02}/sub/{n:05}.csv") for n in range(20_000)]
    files += [file("top.csv"), file("d07/sub/new.csv", change="added")]

    found = choose_lines(files, window_tokens=WINDOW, named={"d03/sub/00003.csv"})

    assert [one.path for one in found.files] == ["d03/sub/00003.csv", "d07/sub/new.csv", "top.csv"]
    assert len(found.folders) == 40
    assert found.folders[0].line == "- d00/sub/ (500 files, 5000 bytes: csv)"
    assert represented(found) == 20_002


@pytest.mark.rule("W6.7")
def test_a_small_window_is_kept_too():
    files = [file(f"folder-{n}/{'x' * 80}.csv") for n in range(300)]

    found = choose_lines(files, window_tokens=8_000)

    lines = [*(one.line for one in found.files), *(one.line for one in found.folders)]
    assert sum(len(line) + 1 for line in lines) <= 8_000 * 4 * 0.1
    assert represented(found) == 300


SEGMENT = st.text(st.sampled_from("abc"), min_size=1, max_size=3)
PATHS = st.lists(st.lists(SEGMENT, min_size=1, max_size=5).map("/".join), unique=True, max_size=60)


@given(paths=PATHS, window=st.integers(1_024, 40_000), changed=st.booleans())
def test_every_file_is_represented_once_within_the_budget(paths, window, changed):
    files = [file(path, change="added" if changed else None) for path in paths]

    found = choose_lines(files, window_tokens=window)

    assert represented(found) == len(files)
    own = sum(one.size_bytes for one in found.files)
    assert own + sum(one.size_bytes for one in found.folders) == 10 * len(files)
    assert len(found.files) + len(found.folders) <= 500


@pytest.mark.rule("W6.8")
def test_names_are_found_whole_or_by_their_last_part():
    paths = ["a/Budget 2025.xlsx", "data.txt", "x/a.txt", "b.md"]

    found = named_paths(
        paths, ["Look into budget 2025.xlsx, please.", 'and "x/a.txt".', "mydata.txt"]
    )

    assert found == {"a/Budget 2025.xlsx", "x/a.txt"}


@pytest.mark.rule("W6.8")
def test_files_are_spoken_of_by_name_or_by_a_word_that_few_names_have():
    paths = ["q3/Umsatz-Prognose.xlsx", "notes.md", "a1.txt", *(f"report {n}.md" for n in range(6))]

    assert spoken_of(paths, ["Was sagt die prognose?"]) == {"q3/Umsatz-Prognose.xlsx"}
    assert spoken_of(paths, ["Read my NOTES and a1.txt"]) == {"notes.md", "a1.txt"}
    assert spoken_of(paths, ["Sum up each report"]) == frozenset()  # six names have the word
    assert spoken_of(paths, ["Look into q3"]) == frozenset()  # of the folder, and too short
    assert spoken_of(paths, ["txt, xlsx"]) == frozenset()  # an ending is no word of a name
    assert spoken_of(paths[:8], ["Sum up each report"]) == set(paths[3:8])


@pytest.mark.rule("W6.8", "W23.8")
def test_contents_of_files_spoken_of_take_a_quarter_of_the_window_and_no_others():
    contents = [Content(f"{n:02}.xlsx", "m" * 4_000) for n in range(100)]
    room = contents_room(100_000)
    assert room == 25_000

    one = choose_contents(contents, room_tokens=room, spoken={"99.xlsx", "98.xlsx"})
    assert [found.path for found in one] == ["98.xlsx", "99.xlsx"]

    every = choose_contents(contents, room_tokens=room, spoken=[found.path for found in contents])
    assert [found.path for found in every] == [f"{n:02}.xlsx" for n in range(25)]


@pytest.mark.rule("W6.8")
@pytest.mark.parametrize(("window", "shown"), [(200_000, 20), (8_000, 4)])
def test_where_nobody_spoke_of_a_file_small_ones_give_an_overview(window: int, shown: int):
    contents = [Content(f"{n:03}.csv", "m" * 400) for n in range(40)]
    contents.append(Content("000-large.csv", "m" * 9_000))

    found = choose_contents(contents, room_tokens=contents_room(window))

    assert [one.path for one in found] == [f"{n:03}.csv" for n in range(shown)]


@pytest.mark.rule("W6.8")
def test_at_most_60_contents_the_smaller_first():
    contents = [Content(f"{n:03}.csv", "m" * (200 - n)) for n in range(100)]
    paths = {one.path for one in contents}

    found = choose_contents(contents, room_tokens=contents_room(WINDOW), spoken=paths)

    assert [one.path for one in found] == [f"{n:03}.csv" for n in range(40, 100)]
