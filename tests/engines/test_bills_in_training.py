"""Section 3 on real training: bills sum to zero, are what is expected, and rise by the price."""

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.federations import DIGITS_LOSS, DIGITS_SCALE, Halfway, digits_task, plan

from pigou import Game, Setting, optimum
from pigou.federation.bills import bill
from pigou.federation.client import Cohort
from pigou.federation.conduct import Conduct, Lying, Obedient
from pigou.federation.local import Passed, Task, begin, simulate
from pigou.federation.replica import Replica
from pigou.mechanisms import Pigouvian, billing
from pigou.terms import MICRO

N, ROUNDS, SEEDS, MONEY = 20, 30, 10, 100.0
DEVIATIONS = 6.0  # standard deviations: one false alarm in 5e8 draws
ALPHA = np.linspace(0.2, 0.8, N)
TASKS = [
    (Halfway(N, 65), Setting(N, DIGITS_LOSS, DIGITS_SCALE), 0.0),
    # what is stated of digits' spread and divergence is a mean over rounds and clients; all of
    # it is a hundredth of the noise's variance
    (
        digits_task(),
        Setting(N, DIGITS_LOSS, DIGITS_SCALE, spread=2e-5, divergence=6e-6),
        0.01,
    ),
]
Floats = NDArray[np.float64]


def net_bills(task: Task, setting: Setting, loud: int | None = None, factor: float = 1.0) -> Floats:
    """Net bills in currency, (seeds, rounds, clients); one client may play its target times this.

    The same seeds are the same noise, but for its size.
    """
    rules = plan(setting, Pigouvian(rounds=ROUNDS, money=MONEY))
    everyone = np.arange(N)
    groups: list[tuple[NDArray[np.intp], Conduct]] = [(everyone, Obedient())]
    if loud is not None:
        alone = Lying(claim=float(ALPHA[loud]), noise_factor=factor)
        groups = [(everyone[loud : loud + 1], alone), (np.delete(everyone, loud), Obedient())]
    cohorts = tuple(Cohort.of(who, ALPHA[who], conduct) for who, conduct in groups)
    bills = np.zeros((SEEDS, ROUNDS, N))

    def watch(passed: Passed) -> None:
        statements = bill(passed.closed).statements
        assert sum(statement.net for statement in statements) == 0
        amounts = [statement.net / MICRO for statement in statements]
        bills[passed.replica, passed.announcement.round - 1] = amounts

    replicas = [Replica(plan=rules, cohorts=cohorts, seed=seed) for seed in range(SEEDS)]
    simulate(task, [begin(task, each) for each in replicas], watch)
    return bills


@pytest.mark.parametrize(("task", "setting", "slack"), TASKS, ids=["halfway", "digits"])
def test_bills_are_what_is_expected_on_average(task: Task, setting: Setting, slack: float) -> None:
    """Over all rounds a charge is known to sqrt(2 / (d T)), and a refund is a mean of others."""
    terms = Pigouvian(rounds=ROUNDS, money=MONEY).terms(setting, ALPHA)
    sigma = optimum(Game(setting, ALPHA)).sigma
    expected = billing.expected_bills(setting, terms, sigma)
    paid = net_bills(task, setting).sum(axis=1)
    charge = expected.charge
    others = np.square(charge).sum() - np.square(charge)
    one = np.sqrt(2.0 / (task.dim * ROUNDS)) * np.sqrt(np.square(charge) + others / (N - 1) ** 2)
    rounding = 2e-6 * ROUNDS
    bound = DEVIATIONS * one / np.sqrt(SEEDS) + slack * charge.mean() + rounding
    assert (np.abs(paid.mean(axis=0) - expected.net) <= bound).all()
    assert bound.max() < 0.2 * charge.mean()
    # and what it is known to, is what single runs scatter by
    assert 0.8 < paid.std(axis=0, ddof=1).mean() / one.mean() < 1.25  # 10 runs of 20: 1/sqrt(360)


@pytest.mark.parametrize(("task", "setting", "_"), TASKS, ids=["halfway", "digits"])
@pytest.mark.parametrize("factor", [0.5, 1.5])
def test_another_noise_moves_the_own_bill_by_the_price_of_its_variance(
    task: Task, setting: Setting, factor: float, _: float
) -> None:
    i = 7
    terms = Pigouvian(rounds=ROUNDS, money=MONEY).terms(setting, ALPHA)
    assert terms.sigma is not None
    sigma = float(terms.sigma[i])
    more = (factor**2 - 1.0) * sigma**2
    moved = net_bills(task, setting, i, factor) - net_bills(task, setting)
    rise = moved[..., i].sum(axis=1).mean()
    price = MONEY * float(terms.unit_price[i])
    # the same noise z at two sizes, against m, the mean of the others' noise:
    # D - D' = more |z|^2 / d - 2 (factor - 1) sigma z.m / d
    background = np.sqrt(np.square(np.delete(terms.sigma, i)).sum()) / (N - 1)
    alone = abs(more) * np.sqrt(2.0) + 2.0 * abs(factor - 1.0) * sigma * background
    known = alone / np.sqrt(task.dim * ROUNDS * SEEDS)
    assert abs(rise - price * more) <= price * DEVIATIONS * known
    assert DEVIATIONS * known < 0.1 * abs(more)
