"""Many runs of one task in one batch, and what noise cost in each of them, measured.

    SC = M (F(w_T) - F(w_T without noise)) + mean over rounds of sum_i alpha_i a / sigma_i

is the social cost of section 1 with the excess loss as training shows it in place of psi(Delta).
All clients are selfish: they choose their noise for themselves, under the prices that are posted.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from pigou.checks import FloatArray
from pigou.federation.client import Cohort
from pigou.federation.conduct import Conduct, Selfish, Silent
from pigou.federation.local import Passed, begin, simulate
from pigou.federation.plan import Plan
from pigou.federation.replica import Replica
from pigou.federation.task import Supervised
from pigou.game import Game, Setting
from pigou.mechanisms import Mechanism, PostedPrice, Unpriced
from pigou.mechanisms.groves import Groves
from pigou.paper import PaperPricing, complete
from pigou.reproduce import treatments
from pigou.runs.history import played

Tell = Callable[[int], None]  # of the rounds that are done


def unheard(_: int) -> None:
    """Nobody listens."""


@dataclass(frozen=True, eq=False)
class Trial:
    """One run to make: these types under this mechanism, with the noise of this seed."""

    game: Game  # its setting holds the weights that are committed
    mechanism: Mechanism
    seed: int


@dataclass(frozen=True, eq=False)
class Measured:
    """What each trial of a batch came to; arrays in the order of the trials."""

    excess: FloatArray  # F(w_T) with noise minus without
    accuracy: FloatArray  # share of test samples got right
    privacy: FloatArray  # mean over rounds of sum alpha_i a / sigma_i
    social_cost: FloatArray
    predicted: FloatArray  # social cost by the calibrated loss, for the noise played
    quiet_accuracy: float  # without noise
    seconds: float  # for the whole batch

    def per_trial(self) -> float:
        """Seconds per run."""
        return self.seconds / (self.excess.size + 1)


def trial(treatment: str, game: Game, rounds: int, seed: int) -> Trial:
    """The trial of a treatment of known types; ``game`` has mean weights and what was measured."""
    here = game.setting
    plain = Game(Setting(here.n, here.loss, here.privacy_scale), game.alpha)
    if treatment == treatments.UNPRICED:  # weights committed at sigma*, in the paper's model
        return Trial(complete.equilibrium(plain).game, Unpriced(rounds=rounds), seed)
    if treatment == treatments.PRINTED:
        return Trial(plain, PaperPricing(rounds=rounds, verbatim=True), seed)
    if treatment == treatments.CORRECTED:
        return Trial(plain, PaperPricing(rounds=rounds), seed)
    mechanisms: dict[str, Mechanism] = {
        treatments.MEAN_UNPRICED: Unpriced(rounds=rounds),
        treatments.GROVES: Groves(rounds=rounds),
        treatments.POSTED: PostedPrice(rounds=rounds),
    }
    return Trial(game, mechanisms[treatment], seed)


def measure(task: Supervised, trials: Sequence[Trial], tell: Tell = unheard) -> Measured:
    """Run all trials, and one run without noise, in one batch; ``tell`` hears of each round."""
    start = perf_counter()
    rounds = trials[0].mechanism.rounds
    quiet = Trial(_alike(task, trials[0].game), Unpriced(rounds=rounds), seed=0)
    running = [begin(task, _replica(each, Selfish())) for each in trials]
    running.append(begin(task, _replica(quiet, Silent())))
    cost, privacy = np.zeros(len(trials)), np.zeros(len(trials))

    def watch(passed: Passed) -> None:
        k = passed.replica
        if k == len(trials):
            tell(passed.announcement.round)
            return
        game = trials[k].game
        error, predicted = played(game, passed.closed, passed.plays)
        cost[k] += predicted / rounds
        privacy[k] += (predicted - game.accuracy_weight * game.setting.loss(error)) / rounds

    *ended, calm = simulate(task, running, watch)
    excess = np.array([end.loss - calm.loss for end in ended])
    weight = np.array([each.game.accuracy_weight for each in trials])
    return Measured(
        excess=excess,
        accuracy=np.array([end.accuracy for end in ended]),
        privacy=privacy,
        social_cost=weight * excess + privacy,
        predicted=cost,
        quiet_accuracy=calm.accuracy,
        seconds=perf_counter() - start,
    )


def seconds_alone(task: Supervised, trials: Sequence[Trial]) -> float:
    """Seconds per run when trials run one at a time."""
    start = perf_counter()
    for each in trials:
        simulate(task, [begin(task, _replica(each, Selfish()))], lambda _: None)
    return (perf_counter() - start) / len(trials)


def _alike(task: Supervised, game: Game) -> Game:
    """The game with the weights of the training loss."""
    here = game.setting
    return Game(Setting(here.n, here.loss, here.privacy_scale, task.weights), game.alpha)


def _replica(given: Trial, conduct: Conduct) -> Replica:
    n = given.game.setting.n
    plan = Plan(
        consortium="reproduction",
        run=f"{given.mechanism.name} {given.seed}",
        clients=tuple(map(str, range(n))),
        setting=given.game.setting,
        mechanism=given.mechanism,
    )
    cohort = Cohort.of(np.arange(n), given.game.alpha, conduct, seed=given.seed)
    return Replica(plan=plan, cohorts=(cohort,), seed=given.seed)
