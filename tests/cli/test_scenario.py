"""``pigou scenario``: a file to begin with, and what is wrong with one."""

from pathlib import Path

import pytest
from tests.cli.conftest import HOSPITALS, Run
from tests.small_runs import changed

from pigou.federation.conduct import CONDUCTS
from pigou.runs import read
from pigou.scenario import load


def test_the_example_is_sound_and_runs(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    result = run("scenario", "new", str(file))
    assert (result.status, result.err) == (0, "")
    assert f"pigou run {file}" in result.out
    assert run("scenario", "check", str(file)).status == 0
    done = run("run", str(file), "--out", str(tmp_path / "out"))
    assert (done.status, done.err) == (0, "")
    record = read(tmp_path / "out")
    ratios = {each.name: each.ratio[-1] for each in record.treatments}
    assert 1.0 - 1e-9 <= ratios["priced"] < 1.01 < ratios["unpriced"]


def test_the_example_explains_itself(run: Run, tmp_path: Path) -> None:
    run("scenario", "new", str(tmp_path / "mine.toml"))
    text = (tmp_path / "mine.toml").read_text(encoding="utf-8")
    assert all(name in text for name in CONDUCTS)
    scenario = load(tmp_path / "mine.toml")
    tables = [name for name in type(scenario).model_fields if name not in ("name", "seed")]
    assert all(f"[{name}]" in text for name in tables)
    values = [line for line in text.splitlines() if " = " in line and not line.startswith("name")]
    assert sum("#" in line for line in values) > len(values) / 2


def test_nothing_is_overwritten(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("mine")
    result = run("scenario", "new", str(file))
    assert (result.status, result.out) == (2, "")
    assert f"FILE must not exist yet; received '{file}'" in result.err
    assert file.read_text() == "mine"


def test_a_folder_that_is_not_there(run: Run, tmp_path: Path) -> None:
    result = run("scenario", "new", str(tmp_path / "absent" / "mine.toml"))
    assert (result.status, result.out) == (2, "")
    assert "cannot be written: No such file or directory" in result.err


def test_what_a_sound_file_describes(run: Run) -> None:
    result = run("scenario", "check", HOSPITALS)
    assert (result.status, result.err) == (0, "")
    assert result.out.splitlines() == [
        f"{HOSPITALS} is sound",
        "Three hospitals: 3 clients, 10 rounds, mechanism pigouvian",
        "training: svm on digits, 65 numbers in a model",
        "data: 3 clients: 1,200 training samples, no two the same; 300 test samples, no two the "
        "same",
    ]


PROBLEMS = [
    (("clip = 0.2", "clipp = 0.2"), "privacy.clipp is not a known key; allowed here: scale, clip"),
    (("clip = 0.2", "clip = true"), "privacy.clip must be a number; received True"),
    (("alpha = 0.4", "alpha = 1.4"), "client[1].alpha must be less than or equal to 1"),
    (('"South"', '"North"'), "client must have distinct names; received ['North']"),
    (
        ("alpha = 0.4", 'alpha = 0.4\nconduct = "angelic"'),
        "client[1].conduct must be one of obedient, selfish, learning, lying",
    ),
    (
        ("alpha = 0.4", 'alpha = 0.4\nconduct = "dropout"\noptions = { rte = 1 }'),
        "client[1].options.rte is no option of dropout; allowed: belief, rate; received 1",
    ),
    (("rounds = 4", 'rounds = 4\nweights = "median"'), 'federation.weights must be "mean"'),
    (("train = 60", 'split = "size"'), "client.samples must be given for every client"),
    (("train = 60", 'data = "absent.npz"'), "absent.npz"),
    (("train = 60", 'data = "data.csv"'), 'training.data must be "digits", "mnist" or the path'),
    (("max_attempts = 2", "min_clients = 9"), "limits.min_clients must be at most the number"),
]


@pytest.mark.parametrize(("change", "message"), PROBLEMS)
def test_problems_are_named(
    run: Run, tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    file = tmp_path / "small.toml"
    file.write_text(changed(change), encoding="utf-8")
    result = run("scenario", "check", str(file))
    assert (result.status, result.out) == (2, "")
    assert result.err.count("\n") == 1
    assert message in result.err


def test_all_problems_are_told_at_once(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    both = (("clip = 0.2", "clip = -1"), ("rounds = 4", "rounds = 0"))
    file.write_text(changed(*both), encoding="utf-8")
    told = run("scenario", "check", str(file)).err
    assert told.startswith(f"pigou: {file}: ")
    assert "privacy.clip must be greater than 0; received -1" in told
    assert "federation.rounds must be greater than or equal to 1; received 0" in told
