"""``pigou certify``: the certificate's verdict, in words, as JSON and as exit status."""

import json
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest
from numpy.typing import ArrayLike
from tests.cli.conftest import HOSPITALS, Run

from pigou import Setting, certify
from pigou.mechanisms import Pigouvian
from pigou.scenario import MECHANISMS, load
from pigou.terms import Terms


class Overpriced(Pigouvian):
    """A planted fault: the price of the last client is wrong by a tenth."""

    def terms(
        self,
        setting: Setting,
        reports: ArrayLike | None = None,
        present: ArrayLike | None = None,
    ) -> Terms:
        terms = super().terms(setting, reports, present)
        return replace(terms, unit_price=terms.unit_price * np.array([1.0, 1.0, 1.1]))


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> None:
    faulty = replace(MECHANISMS["pigouvian"], make=Overpriced)
    faults = MappingProxyType({**MECHANISMS, "pigouvian": faulty})
    monkeypatch.setattr("pigou.scenario.registry.MECHANISMS", faults)


def test_a_certificate_that_holds(run: Run) -> None:
    result = run("certify", HOSPITALS)
    assert (result.status, result.err) == (0, "")
    assert result.out.startswith("Three hospitals · mechanism: pigouvian · certificate holds\n")
    game = load(HOSPITALS).game()
    terms = Pigouvian().terms(game.setting, reports=game.alpha)
    assert certify(game, terms).explain() in result.out


@pytest.mark.usefixtures("faulty")
def test_a_certificate_that_fails(run: Run) -> None:
    result = run("certify", HOSPITALS)
    assert (result.status, result.err) == (1, "")
    assert "certificate FAILS" in result.out
    assert "FAILS: client 2 plays noise" in result.out
    assert "Clients are counted from 0: client 2 is Children's." in result.out


@pytest.mark.usefixtures("faulty")
def test_the_failure_as_json(run: Run) -> None:
    result = run("certify", HOSPITALS, "--json")
    assert result.status == 1
    found = json.loads(result.out)
    game = load(HOSPITALS).game()
    terms = Overpriced().terms(game.setting, reports=game.alpha)
    certificate = certify(game, terms)
    assert terms.sigma is not None
    assert found["ok"] is False
    assert found["worst"]["client"] == "Children's"
    assert found["max_gain"] == certificate.max_gain > 1e-6
    assert found["worst"]["noise"] == certificate.worst.sigma < terms.sigma[2]  # it is dearer
    assert found["curvature"] == certificate.curvature.tolist()
    assert found["budget"]["promise"] == "zero every round"


@pytest.mark.parametrize("mechanism", ["unpriced", "pigouvian"])
def test_equilibria_hold(run: Run, mechanism: str) -> None:
    words = ("certify", "--alpha", "0.1,0.5,0.6,0.9", "--weights", "0.1,0.2,0.3,0.4")
    result = run(*words, "--spread", "0.2", "--mechanism", mechanism, "--json")
    found = json.loads(result.out)
    assert (result.status, found["ok"]) == (0, True)
    assert found["ratio_to_optimum"] >= 1.0 - 1e-9
    assert found["best_weights"] <= found["social_cost"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--alpha", "1,1,1"), "alpha must not be 1 for every client"),
        (("--alpha", "0.5,0.6"), "weights must be positive for 3 clients or more"),
        ((), "give a scenario file"),
        (("absent.toml",), "absent.toml: cannot be read"),
    ],
)
def test_refusals_are_not_verdicts(run: Run, words: tuple[str, ...], message: str) -> None:
    result = run("certify", *words)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith("pigou: ")
    assert message in result.err
