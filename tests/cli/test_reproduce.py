"""``pigou reproduce``: what it writes, says and refuses."""

from pathlib import Path

import pytest
from tests.cli.conftest import Run

from pigou.reproduce.parts import GROUPS, PARTS


def test_one_part(run: Run, tmp_path: Path) -> None:
    result = run("reproduce", "anarchy", "--quick", "--out", str(tmp_path / "out"))
    assert (result.status, result.err) == (0, "")
    assert "The price of anarchy." in result.out
    assert "1 statement: 1 reproduced" in result.out
    assert result.out.rstrip().endswith(f"Read: {tmp_path / 'out' / 'index.html'}")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"index.html", "anarchy_clients.csv", "anarchy_clients.svg", "claims.csv"} <= names


def test_unknown_names_are_refused_before_anything_is_computed(run: Run, tmp_path: Path) -> None:
    result = run("reproduce", "fig3", "--out", str(tmp_path / "out"))
    assert result.status == 2
    assert result.err.startswith("pigou: what must be one of ")
    assert result.err.rstrip().endswith("received 'fig3'")
    assert not (tmp_path / "out").exists()


def test_a_file_in_the_way_is_one_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    result = run("reproduce", "anarchy", "--quick", "--out", str(tmp_path / "out"))
    assert result.status == 2
    assert len(result.err.splitlines()) == 1
    assert "cannot be written" in result.err


@pytest.mark.parametrize("group", GROUPS)
def test_groups_stand_for_parts_that_exist(group: str) -> None:
    names = [part.name for part in PARTS]
    assert len(set(names)) == len(names)
    assert GROUPS[group]
    assert set(GROUPS[group]) <= set(names)


def test_all_is_everything() -> None:
    assert GROUPS["all"] == tuple(part.name for part in PARTS)
