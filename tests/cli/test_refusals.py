"""Bad input on the command line: one line on stderr that names it, status 2, no traceback."""

from pathlib import Path

import pytest
from tests.cli.conftest import HOSPITALS, Run

from pigou.cli.app import INTERRUPTED

SOLVE = ("solve", "--alpha", "0.2,0.5,0.8")

OPTIONS = [
    (("solve", "--alpha", "nan,0.5,0.8"), "alpha must be finite"),
    (("solve", "--alpha", "inf,0.5,0.8"), "alpha must be finite"),
    (("solve", "--alpha", ""), "--alpha must be numbers separated by commas; received ''"),
    (("solve", "--alpha", "0.2;0.5"), "--alpha must be numbers separated by commas"),
    (("solve", "--alpha", "0.2,0.5,1.8"), "alpha must lie in [0, 1]; received 1.8"),
    (("solve", "--alpha", "-0.2,0.5,0.8"), "alpha must lie in [0, 1]; received -0.2"),
    (("solve", HOSPITALS, "--alpha", "0.2,0.5"), "alpha must hold 3 values, one per client"),
    ((*SOLVE, "--weights", "0.5,0.5"), "weights must hold 3 values, one per client"),
    ((*SOLVE, "--weights", "0.5,0.6,0.1"), "weights must sum to 1 within 1e-09; received sum 1.2"),
    ((*SOLVE, "--weights", "0.5,0.7,-0.2"), "weights must not be negative; received -0.2"),
    ((*SOLVE, "--weights", "median"), "--weights must be numbers separated by commas"),
    ((*SOLVE, "--spread", "-1"), "spread must be a finite number >= 0; received -1"),
    ((*SOLVE, "--spread", "0,0,-1"), "spread must not be negative; received -1"),
    ((*SOLVE, "--spread", "0,1"), "spread must hold 3 values, one per client"),
    ((*SOLVE, "--spread", "nan"), "spread must be a finite number >= 0; received nan"),
    ((*SOLVE, "--privacy-scale", "0"), "privacy_scale must be a finite number > 0; received 0"),
    ((*SOLVE, "--privacy-scale", "inf"), "privacy_scale must be a finite number > 0"),
    ((*SOLVE, "--kappa", "0"), "kappa must be a finite number > 0; received 0"),
    ((*SOLVE, "--kappa", "-3"), "kappa must be a finite number > 0; received -3"),
    ((*SOLVE, "--smoothness", "nan"), "smoothness must be a finite number > 0; received nan"),
    ((*SOLVE, "--mechanism", "magic"), "mechanism must be one of unpriced, pigouvian"),
    (("solve", "--alpha", "0.5"), "weights must be positive for"),
    (
        ("solve", "--alpha", "0.5,0.6"),
        "weights must be positive for 3 clients or more with zero-sum",
    ),
    ((*SOLVE, "--weights", "0,0.5,0.5"), "weights must be positive for 3 clients or more"),
    (("solve", "--alpha", "1,1,1"), "alpha must not be 1 for every client: no finite optimum"),
    (("solve", "--alpha", "0,0,0"), "alpha must not be 0 for every client when spread is 0"),
    (("anarchy", "--n", "10,,100"), "--n must be whole numbers separated by commas"),
    (("anarchy", "--n", "10,1e3"), "--n must be whole numbers separated by commas"),
    (("anarchy", "--n", "100,10"), "n must increase strictly"),
    (("anarchy", "--n", "0"), "n must be a whole number >= 1; received 0"),
    (("anarchy", "--n", "99999999999"), "--n must be at most 10,000,000"),
    (("anarchy", "--n", "10", "--alpha", "1"), "alpha must not be 1 for every client"),
]

WORDS = [
    (("slove",), "No such command 'slove'. Did you mean 'solve'?"),
    (("solve",), "give a scenario file, or the clients' types with --alpha"),
    (("solve", "absent.toml"), "absent.toml: cannot be read: No such file or directory"),
    (("solve", "two\nlines.toml"), "two lines.toml: cannot be read: No such file or directory"),
    (("solve", "."), ".: cannot be read: Is a directory"),
    (("solve", HOSPITALS, HOSPITALS), "unexpected extra argument"),
    ((*SOLVE, "--kappa", "much"), "Invalid value for '--kappa'"),
    ((*SOLVE, "--kappa"), "'--kappa' requires an argument"),
    ((*SOLVE, "--colour"), "No such option"),
    (("solv",), "No such command 'solv'"),
    (("anarchy",), "Missing option '--n'"),
]


def is_refused(run: Run, words: tuple[str, ...], message: str) -> None:
    result = run(*words)
    assert result.status == 2
    assert result.out == ""
    assert result.err.startswith("pigou: ")
    assert result.err.count("\n") == 1
    assert message.lower() in result.err.lower()


@pytest.mark.parametrize(("words", "message"), OPTIONS + WORDS)
def test_what_is_wrong_is_named(run: Run, words: tuple[str, ...], message: str) -> None:
    is_refused(run, words, message)


FILES = [
    ("not TOML", "run.toml: is not valid TOML"),
    ("", "run.toml: name must be given; loss must be given; privacy must be given"),
    ("kappa = 16.0 -> kappa = 0", "run.toml: loss.kappa must be greater than 0; received 0"),
    ("kappa = 16.0 -> kapa = 1", "run.toml: loss.kapa is not a known key; allowed here: kappa"),
    ("alpha = 0.5 -> alpha = true", "run.toml: client[1].alpha must be a number; received True"),
    ("alpha = 0.5 -> alpha = 7", "run.toml: client[1].alpha must be less than or equal to 1"),
    ('"mean" -> [0.5, 0.5, 0.5]', "run.toml: federation.weights must sum to 1 within 1e-09"),
    ('"pigouvian" -> "magic"', "run.toml: mechanism.name must be one of unpriced, pigouvian"),
]


@pytest.mark.parametrize(("change", "message"), FILES)
def test_scenario_files(run: Run, tmp_path: Path, change: str, message: str) -> None:
    old, arrow, new = change.partition(" -> ")
    text = Path(HOSPITALS).read_text().replace(old, new) if arrow else change
    path = tmp_path / "run.toml"
    path.write_text(text)
    is_refused(run, ("solve", str(path)), message)


def test_one_option_of_the_bound_needs_the_other(run: Run, tmp_path: Path) -> None:
    text = Path(HOSPITALS).read_text()
    path = tmp_path / "run.toml"
    path.write_text(text.replace("kappa", "linear").replace("smoothness", "quadratic"))
    assert run("solve", str(path)).status == 0
    assert run("solve", str(path), "--kappa", "16", "--smoothness", "2").status == 0
    is_refused(run, ("solve", str(path), "--kappa", "16"), "--smoothness must be given too")
    is_refused(run, ("solve", str(path), "--smoothness", "2"), "--kappa must be given too")


@pytest.mark.parametrize("error", [MemoryError(), ValueError("a defect")])
def test_only_mistakes_of_the_user_are_refusals(
    run: Run, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("pigou.cli.anarchy.scan_clients", fail)
    if isinstance(error, MemoryError):
        is_refused(run, ("anarchy", "--n", "10"), "there is not enough memory")
    else:
        with pytest.raises(ValueError, match="a defect"):
            run("anarchy", "--n", "10")


def test_an_interrupt_is_no_refusal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pigou.cli.anarchy.scan_clients", interrupt)
    assert run("anarchy", "--n", "10").status == INTERRUPTED
