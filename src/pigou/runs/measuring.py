"""Everything that calibration finds about a scenario's task, whatever the scenario states."""

from dataclasses import dataclass

import numpy as np

from pigou.checks import FloatArray
from pigou.federation.calibration import Calibration
from pigou.federation.heterogeneity import Heterogeneity
from pigou.runs.preparing import Ready, Say, prepare, quiet
from pigou.scenario import Scenario
from pigou.scenario.table import MEASURED
from pigou.scenario.tables import LossTable


@dataclass(frozen=True, kw_only=True, eq=False)
class Measured:
    """A task's measurements."""

    ready: Ready
    calibration: Calibration
    heterogeneity: Heterogeneity
    norms: FloatArray  # (N,) of honest updates in round 1, before clipping


def measure(scenario: Scenario, say: Say = quiet) -> Measured:
    """Calibrate the loss and measure spread and divergence, also where the file states them."""
    both = {"spread": MEASURED, "divergence": MEASURED}
    asked = {
        "loss": LossTable(calibrate=True),
        "federation": scenario.federation.model_copy(update=both),
    }
    ready = prepare(scenario.model_copy(update=asked), say)
    assert ready.calibration is not None
    assert ready.heterogeneity is not None
    start = ready.task.initial()
    trained, _ = ready.task.train(start[np.newaxis])
    norms = np.linalg.norm((trained[0] - start).astype(np.float64), axis=1)
    return Measured(
        ready=ready,
        calibration=ready.calibration,
        heterogeneity=ready.heterogeneity,
        norms=norms,
    )
