"""Bars for long work: on a terminal, and nowhere else."""

import pytest

from pigou.cli.progress import counting
from pigou.reproduce.part import Progress


def test_nothing_is_shown_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with counting() as watch:
        watch(Progress("fig1", 1, 2, "some facts"))
    assert capsys.readouterr() == ("", "")


def test_a_terminal_shows_a_bar_per_part(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # which makes rich take any stream for a terminal
    monkeypatch.setenv("COLUMNS", "120")
    with counting() as watch:
        watch(Progress("first", 1, 2, "some [facts]"))
        watch(Progress("first", 2, 2, "other [facts]"))
        watch(Progress("second", 1, 5))
    shown = capsys.readouterr().err
    for each in ("first", "other [facts]", "2/2", "second", "1/5"):
        assert each in shown
