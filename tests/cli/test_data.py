"""``pigou data fetch``: what it says; the sources themselves are tested in unit/test_mnist.py."""

import hashlib
from pathlib import Path

import pytest
from tests.cli.conftest import Run
from tests.small_runs import changed

from pigou.federation.mnist import SHA256


def test_only_known_data_sets(run: Run, tmp_path: Path) -> None:
    result = run("data", "fetch", "cifar", "--to", str(tmp_path / "data"))
    assert (result.status, result.out) == (2, "")
    assert result.err == "pigou: name must be \"mnist\"; received 'cifar'\n"
    assert not (tmp_path / "data").exists()


def test_wrong_bytes_are_named_with_both_hashes_and_kept_out(run: Run, tmp_path: Path) -> None:
    given = tmp_path / "given"
    given.mkdir()
    for name in SHA256:
        (given / name).write_bytes(b"not the digits")
    result = run("data", "fetch", "mnist", "--from", str(given), "--to", str(tmp_path / "data"))
    assert result.status == 2
    assert result.err.count("\n") == 1
    first = next(iter(SHA256))
    assert first in result.err
    assert SHA256[first] in result.err
    assert hashlib.sha256(b"not the digits").hexdigest() in result.err
    assert not list((tmp_path / "data").glob("*"))


def test_a_folder_without_the_files(run: Run, tmp_path: Path) -> None:
    result = run("data", "fetch", "mnist", "--from", str(tmp_path / "absent"))
    assert result.status == 2
    assert result.err.count("\n") == 1
    assert str(tmp_path / "absent") in result.err


def test_a_run_on_mnist_says_how_to_get_it(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIGOU_DATA", str(tmp_path / "empty"))
    file = tmp_path / "small.toml"
    file.write_text(changed(("train = 60", 'data = "mnist"')), encoding="utf-8")
    out = str(tmp_path / "out")
    for words in (("run", str(file), "--out", out), ("scenario", "check", str(file))):
        result = run(*words)
        assert (result.status, result.out) == (2, "")
        assert "pigou data fetch mnist" in result.err
    assert not (tmp_path / "out").exists()
