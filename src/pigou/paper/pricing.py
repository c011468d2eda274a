"""The paper's pricing mechanism under complete information, as a mechanism like the others."""

from dataclasses import dataclass

from numpy.typing import ArrayLike

from pigou.checks import FloatArray, sensitivities
from pigou.errors import InvalidArgument, require
from pigou.game import Game, Setting
from pigou.mechanisms.base import Contract, arrived
from pigou.paper import complete
from pigou.solve import Solution
from pigou.terms import Interval, RefundRule, Terms


@dataclass(frozen=True, kw_only=True)
class PaperPricing(Contract):
    """MLE weights committed at sigma**, a charge on deviations and a constant refund q (section 6).

    ``verbatim`` keeps beta and q as the paper prints them; without it they are corrected (E4, E5).
    The paper knows no spread: sigma**, beta and q are computed as if it were 0, whatever it is. It
    sets the weights itself: the setting's say who is there, and nothing else.
    """

    refund: RefundRule = "constant"
    verbatim: bool = False

    name = "paper"
    report_space = Interval(0.0, 1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        constant = self.refund == "constant"
        require(constant, "refund", 'must be "constant": the paper pays q', self.refund)

    def terms(
        self,
        setting: Setting,
        reports: ArrayLike | None = None,
        present: ArrayLike | None = None,
    ) -> Terms:
        """Terms for the reported types, which are taken to be true."""
        if reports is None:
            raise InvalidArgument("reports", "must hold one type per client", reports)
        types = sensitivities("reports", reports, setting.n)
        here = arrived(setting, present)
        model = Setting(here.n, here.loss, here.privacy_scale, here.weights)
        optimum = complete.stationary(Game(model, types))
        beta, q = self._prices(optimum)
        active = optimum.game.setting.n_active
        return Terms(
            mechanism=self.name,
            weights=optimum.game.setting.weights,
            unit_price=complete.unit_price(beta, active),
            sigma=optimum.sigma,
            rounds=self.rounds,
            money=self.money,
            refund=self.refund,
            constant_refund=q,
            error=optimum.error,
        )

    def _prices(self, optimum: Solution) -> tuple[FloatArray, float]:
        if self.verbatim:
            beta = complete.beta_as_printed(optimum)
            return beta, complete.q_as_printed(optimum, beta)
        beta = complete.beta_corrected(optimum)
        return beta, complete.q_balanced(optimum, beta)
