"""What a prompt lists of a bench's files, and whose content it holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backshop.bench import Content, FileFact, Listing, choose_contents, choose_lines, named_paths

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


@pytest.mark.rule("W6.8", "W23.8")
def test_contents_take_a_quarter_of_the_window_named_ones_first():
    contents = [Content(f"{n:02}.xlsx", "m" * 4_000) for n in range(100)]

    found = choose_contents(contents, window_tokens=100_000, named={"99.xlsx"}, changed={"98.xlsx"})

    assert len(found) == 25
    assert [one.path for one in found][-2:] == ["98.xlsx", "99.xlsx"]
    assert [one.path for one in found][:2] == ["00.xlsx", "01.xlsx"]


@pytest.mark.rule("W6.8")
def test_at_most_60_contents_the_smaller_first():
    contents = [Content(f"{n:03}.csv", "m" * (200 - n)) for n in range(100)]

    found = choose_contents(contents, window_tokens=WINDOW)

    assert [one.path for one in found] == [f"{n:03}.csv" for n in range(40, 100)]
