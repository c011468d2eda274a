"""One run from scenario to record."""

from collections.abc import Sequence

from pigou.federation.calibration import Calibration
from pigou.runs.arms import arms
from pigou.runs.engines import EngineName
from pigou.runs.execution import Keep, Kept, Watch, execute
from pigou.runs.preparing import Ready
from pigou.runs.record import CalibrationRecord, HeterogeneityRecord, RunRecord
from pigou.scenario import to_plain


def run(
    ready: Ready,
    only: Sequence[str] = (),
    watch: Watch | None = None,
    keep: Keep | None = None,
    kept: Kept | None = None,
    engine: EngineName = "local",
) -> RunRecord:
    """Execute a prepared run; ``only`` leaves treatments out, ``kept`` goes on with a run."""
    chosen = arms(ready, only)
    treatments = execute(ready, chosen, watch, keep, kept, engine)
    scenario, fitted, measured = ready.scenario, ready.calibration, ready.heterogeneity
    loss = ready.setting.loss
    return RunRecord(
        scenario=to_plain(scenario),
        run=ready.run,
        currency=scenario.mechanism.currency,
        money=scenario.mechanism.money,
        rounds=scenario.federation.rounds,
        clients=scenario.clients,
        alpha=ready.game.alpha,
        dim=ready.task.dim,
        clip=ready.task.clip,
        delta=scenario.privacy.delta,
        adjacency=scenario.privacy.adjacency,
        linear=loss.linear,
        quadratic=loss.quadratic,
        bound=None if fitted is None else (fitted.bound.linear, fitted.bound.quadratic),
        calibration=None if fitted is None else calibration_record(fitted),
        heterogeneity=None
        if measured is None
        else HeterogeneityRecord(spread=measured.spread, divergence=measured.divergence),
        split=ready.split,
        family_error=scenario.audit.family_error,
        treatments=treatments,
    )


def calibration_record(found: Calibration) -> CalibrationRecord:
    """The calibration as it is kept and shown."""
    return CalibrationRecord(
        rounds=found.rounds,
        levels=found.levels,
        excess=found.excess,
        excess_error=found.excess_error,
        fitted=found.fitted,
        bounded=found.bounded,
        linear=found.loss.linear,
        quadratic=found.loss.quadratic,
        linear_error=found.loss_error[0],
        quadratic_error=found.loss_error[1],
        smoothness=found.smoothness,
        distance=found.distance,
    )
