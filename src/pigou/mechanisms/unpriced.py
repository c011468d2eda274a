"""No prices: what selfish clients do when nobody charges them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pigou.game import Setting
from pigou.mechanisms.base import Contract, arrived
from pigou.terms import Terms


@dataclass(frozen=True, kw_only=True)
class Unpriced(Contract):
    """The benchmark: committed weights, no charge, no refund, no target."""

    name = "unpriced"
    report_space = None

    def terms(
        self,
        setting: Setting,
        reports: ArrayLike | None = None,
        present: ArrayLike | None = None,
    ) -> Terms:
        """Terms with all prices 0; reports are not used."""
        here = arrived(setting, present)
        return Terms(
            mechanism=self.name,
            weights=here.weights,
            unit_price=np.zeros(setting.n),
            rounds=self.rounds,
            money=self.money,
            refund=self.refund,
        )
