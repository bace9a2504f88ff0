"""`backshop file`: readable for people, one JSON document for programs, nothing created."""

from __future__ import annotations

import json

import pytest
import xlsxwriter

from backshop.cli import main


@pytest.mark.rule("S4.2")
def test_a_map_reads_well_and_is_json_on_request(tmp_path, capsys):
    path = tmp_path / "notes.md"
    path.write_text("# One\n\ntext\n\n## Two\n", encoding="utf-8")

    assert main(["file", "map", str(path), "--home", str(tmp_path / "none")]) == 0
    people = capsys.readouterr().out
    assert main(["file", "map", str(path), "--json", "--home", str(tmp_path / "none")]) == 0
    program = json.loads(capsys.readouterr().out)

    assert "line_count           5" in people
    assert program["structure"]["headings"][1] == {"level": 2, "text": "Two", "line": 5}
    assert not (tmp_path / "none").exists()


@pytest.mark.rule("S4.2", "F5.3")
def test_reading_tells_how_to_go_on(tmp_path, capsys):
    path = tmp_path / "a.txt"
    path.write_text("".join(f"{n}\x1b[31m\n" for n in range(1, 9)), encoding="utf-8")

    assert main(["file", "read", str(path), "--line", "2", "--lines", "2"]) == 0

    shown = capsys.readouterr()
    assert shown.out == "2\ufffd[31m\n3\ufffd[31m\n"
    assert "go on with: --line 4 --lines 2" in shown.err


@pytest.mark.rule("S4.1", "F3")
def test_a_refusal_has_its_reason_and_hints(tmp_path, capsys):
    path = tmp_path / "a.txt"
    path.write_text("a\n", encoding="utf-8")

    assert main(["file", "read", str(path), "--sheet", "Q1", "--json"]) == 1
    envelope = json.loads(capsys.readouterr().out)
    assert main(["file", "map", str(tmp_path / "absent.txt")]) == 1

    assert envelope["reason"] == "bad_selector"
    assert "not_found" in capsys.readouterr().err


@pytest.mark.rule("F2.5", "S3.1")
def test_the_size_of_files_is_what_the_home_allows(tmp_path, capsys):
    home, path = tmp_path / "home", tmp_path / "a.txt"
    home.mkdir()
    path.write_text("four words stand here\n", encoding="utf-8")
    arguments = ["file", "map", str(path), "--json", "--home", str(home)]

    answers = []
    for limit in (10, 1000):
        (home / "settings.json").write_text(json.dumps({"formats.max_text_bytes": limit}))
        answers.append((main(arguments), json.loads(capsys.readouterr().out)))

    (refused, why), (read, found) = answers
    assert (refused, why["reason"]) == (1, "too_large")
    assert (read, found["line_count"]) == (0, 1)


@pytest.mark.rule("S4.2", "B12.1")
def test_two_files_are_compared_by_lines(tmp_path, capsys):
    old, new = tmp_path / "a.txt", tmp_path / "b.txt"
    old.write_text("one\ntwo\n", encoding="utf-8")
    new.write_text("one\nzwei", encoding="utf-8")

    assert main(["file", "diff", str(old), str(new)]) == 0
    people = capsys.readouterr().out
    assert main(["file", "diff", str(old), str(new), "--json"]) == 0
    program = json.loads(capsys.readouterr().out)

    assert people == "--- a.txt\n+++ b.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n"
    assert program["stats"] == {"added": 1, "removed": 1}
    assert program["flags"] == ["no_newline_new"]


@pytest.mark.rule("S4.2", "F29.5")
def test_two_workbooks_are_compared_by_cells(tmp_path, capsys):
    old, new = tmp_path / "a.xlsx", tmp_path / "b.xlsx"
    for path, names, value in ((old, ("Q1", "Gone"), 1), (new, ("First",), 2)):
        with xlsxwriter.Workbook(str(path)) as file:
            for name in names:
                file.add_worksheet(name).write(0, 0, value)

    assert main(["file", "diff", str(old), str(new)]) == 0

    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[:3] == ["First (was Q1)", "cell what before after", "A1 value 1 2"]
    assert "Gone removed" in lines


@pytest.mark.rule("S4.2", "F27.5")
def test_a_table_is_asked_with_sql(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_text("town,people\nOslo,7\nRome,3\nOslo,1\n", encoding="utf-8")
    sql = "SELECT town, sum(people) AS n FROM data GROUP BY town ORDER BY town"

    assert main(["file", "query", str(path), sql]) == 0
    people = capsys.readouterr().out
    assert main(["file", "query", str(path), "SELECT\npeopel FROM data"]) == 1
    refused = capsys.readouterr().err.splitlines()
    assert main(["file", "query", str(path), "DROP TABLE data", "--json"]) == 1

    assert people == "town  n\nOslo  8\nRome  3\n(2 of 2 rows)\n"
    assert refused[-3:-1] == ["    LINE 2: peopel FROM data", "            ^^^^^^"]
    assert json.loads(capsys.readouterr().out)["reason"] == "sql_not_select"
