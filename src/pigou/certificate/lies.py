"""Lies that pay: report and noise together, the others truthful and obedient (section 7)."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Self

import numpy as np

from pigou.certificate.facing import Facing, facing
from pigou.certificate.report_search import Lie, best_report, check_truth, is_pair
from pigou.certificate.results import Deviation, Report
from pigou.certificate.search import best_noise
from pigou.certificate.stakes import Stakes
from pigou.certificate.yardsticks import with_weights
from pigou.checks import FloatArray
from pigou.errors import Degenerate, InvalidArgument, TooFewClients, require
from pigou.game import Game, Setting
from pigou.terms import Reports, Terms

Rule = Callable[[FloatArray], Terms]

REFUSED = (Degenerate, TooFewClients)  # reports that make a game without answer are no way to gain
WORTH = 1e-12  # gain, as a share of own cost, above which a lie is followed up


def worst_report(game: Game, rule: Rule, space: Reports) -> Deviation:
    """The client that gains most, in relation to its own cost, by its report and its noise."""
    truthful = Truthful.of(game, rule, space)
    lies = [truthful.best_lie(client) for client in range(game.setting.n)]
    return worst_of(lies, truthful.own, truthful.reports)


@dataclass(frozen=True, eq=False)
class Truthful:
    """What everybody pays when all are truthful and obedient, which lies are measured against."""

    game: Game
    rule: Rule
    space: Reports
    reports: FloatArray  # the true ones, one row per client
    faced: Facing
    own: FloatArray  # each client's cost before money
    total: FloatArray  # and with it

    @classmethod
    def of(cls, game: Game, rule: Rule, space: Reports) -> Self:
        """The rule's terms for the true reports, which must be possible."""
        columns = [game.alpha, game.setting.spread] if is_pair(space) else [game.alpha]
        reports = np.column_stack(columns)
        check_truth(space, reports)
        faced = faced_under(game.setting, rule, reports)
        own = with_weights(game, faced.weight).costs(faced.sigma)
        return cls(game, rule, space, reports, faced, own, own + faced.money)

    def best_lie(self, client: int) -> Lie:
        """The best report and noise of one client."""
        attempt = partial(self.gains, client)
        worth = WORTH * float(self.own[client])
        return best_report(self.space, self.reports[client], self._scale(), attempt, worth)

    def gains(self, client: int, reports: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What each report gains with its best noise, and that noise; never, where refused."""
        gain, sigma = np.full(len(reports), -np.inf), np.full(len(reports), np.nan)
        faced = [self._facing(client, report) for report in reports]
        made = [row for row, case in enumerate(faced) if case is not None]
        if not made:
            return gain, sigma
        rows = Facing.stacked([case for case in faced if case is not None])
        alpha = np.full(rows.sigma.size, self.game.alpha[client])
        setting = self.game.setting
        stakes = Stakes.of(setting.loss, alpha, setting.privacy_scale, rows)
        sigma[made] = best_noise(stakes, rows.sigma)
        gain[made] = saved(self.total[client], stakes.value(sigma[made]) + rows.fixed)
        return gain, sigma

    def _facing(self, client: int, report: FloatArray) -> Facing | None:
        """What the client faces after a report; None where the rule has no terms for it."""
        here = slice(client, client + 1)
        if (report == self.reports[client]).all():
            return self.faced.rows(here)
        reports = self.reports.copy()
        reports[client] = report
        try:
            return faced_under(self.game.setting, self.rule, reports).rows(here)
        except REFUSED:
            return None

    def _scale(self) -> FloatArray:
        """The size of what is reported: types, and variances as found in this game."""
        finite = self.faced.sigma[np.isfinite(self.faced.sigma)]
        variances = np.concatenate([self.game.setting.spread, np.square(finite)])
        return np.array([1.0, variances.max()])[: self.reports.shape[1]]


def faced_under(setting: Setting, rule: Rule, reports: FloatArray) -> Facing:
    """What every client faces when all obey the rule's terms for these reports, one row each."""
    terms = rule((reports if reports.shape[1] > 1 else reports[:, 0]).copy())
    require(isinstance(terms, Terms), "rule", "must return Terms", terms)
    size = terms.weights.size
    require(size == setting.n, "rule", f"must return terms for {setting.n} clients", size)
    if terms.sigma is None:
        raise InvalidArgument("rule", "must return terms that name a target noise", None)
    return facing(setting, terms, terms.sigma)


def worst_of(lies: list[Lie], own: FloatArray, truth: FloatArray) -> Deviation:
    """The lie that gains most in relation to the liar's own cost; one row of truth per liar."""
    relative = relative_gain(np.array([lie.gain for lie in lies]), own)
    k = int(np.argmax(relative))
    told = lies[k].report.tolist()
    lied = told != truth[k].tolist()
    report: Report = told[0] if len(told) == 1 else (told[0], told[1])
    return Deviation(k, lies[k].sigma, lies[k].gain, float(relative[k]), report if lied else None)


def saved(honest: FloatArray, cost: FloatArray) -> FloatArray:
    """honest - cost; 0 where both are infinite."""
    with np.errstate(invalid="ignore"):
        return np.where(honest == cost, 0.0, honest - cost)


def relative_gain(gain: FloatArray, own: FloatArray) -> FloatArray:
    """Each gain as a share of the client's own cost; losses count as 0."""
    gained = np.maximum(gain, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.isinf(gained), gained, np.where(gained > 0, gained / own, 0.0))
