"""Trainings as scenarios describe them: treatments, bills, resuming, and what is kept when."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.small_runs import ready_small, small
from tests.unit.test_runs_folder import same

from pigou import InvalidArgument, NotApplicable, PigouError, equilibrium, optimum
from pigou.federation.client import Plays
from pigou.federation.local import Passed, begin, simulate
from pigou.federation.randomness import fill_with_noise
from pigou.game import Game
from pigou.mechanisms import Unpriced
from pigou.privacy import PrivacyAccount, gaussian_epsilon, precision_cap
from pigou.runs import Kept, Ready, RunRecord, Step, arms, prepare, run
from pigou.runs.history import played
from pigou.scenario import parse, to_toml
from pigou.terms import MICRO, Round

Floats = NDArray[np.float64]


def conduct(client: str, name: str, options: str = "{}") -> tuple[str, str]:
    line = f'name = "{client}"\n'
    return line, f'{line}conduct = "{name}"\noptions = {options}\n'


def with_rounds(ready: Ready, **options: Any) -> tuple[RunRecord, list[tuple[Round, bytes, bytes]]]:
    kept: list[tuple[Round, bytes, bytes]] = []
    return run(ready, keep=lambda *each: kept.append(each), **options), kept


def test_selfish_clients_play_the_unpriced_equilibrium_and_the_optimum() -> None:
    """What the engine plays is what section 2 says, up to the error that deviations show."""
    ready = ready_small()
    record = run(ready)
    unpriced, priced = record.treatment("unpriced"), record.treatment("priced")
    best, selfish = optimum(ready.game), equilibrium(ready.game)
    assert priced.optimum == best.social_cost
    # 65 numbers: an estimated error is off by about 1 / sqrt(2 * 65) = 9 %, noise by a third of it.
    np.testing.assert_allclose(priced.sigma[-1], best.sigma, rtol=0.1)
    np.testing.assert_allclose(unpriced.sigma[-1], selfish.sigma, rtol=0.1)
    assert (priced.ratio < 1.01).all()
    assert (unpriced.ratio > 1.2).all()
    assert priced.target is not None
    np.testing.assert_allclose(priced.target[0], best.sigma, rtol=1e-12)
    assert unpriced.target is None


def test_no_noise_is_the_same_training_without_any() -> None:
    ready = ready_small()
    bare = run(ready).treatment("no noise")
    model, losses = ready.task.initial()[np.newaxis], []
    for _ in range(4):
        trained, loss = ready.task.train(model)
        losses.append(float(loss[0]))
        model = trained.mean(axis=1)
    np.testing.assert_allclose(bare.loss[:-1], losses, rtol=1e-5)  # float32
    assert (bare.sigma == 0).all()
    assert (bare.error_true == 0).all()
    assert np.isinf(bare.epsilon).all()
    assert np.isinf(bare.social_cost).all()


def test_costs_and_errors_are_the_models() -> None:
    """Delta and social cost of each round, against the game's own formulas."""
    ready = ready_small(("spread = 0.0", "spread = 1e-3"))
    for each in run(ready, only=["unpriced", "priced"]).treatments:
        for t in range(each.rounds):
            assert each.error_true[t] == pytest.approx(ready.game.error(each.sigma[t]), rel=1e-12)
            cost = ready.game.social_cost(each.sigma[t])
            assert each.social_cost[t] == pytest.approx(cost, rel=1e-12)


def test_those_who_upload_nothing_neither_err_nor_pay_for_privacy() -> None:
    ready = ready_small(conduct("West", "dropout", "{ rate = 1.0 }"))
    each = run(ready).treatment("priced")
    assert np.isnan(each.sigma[:, 3]).all()
    assert np.isnan(each.net[:, 3]).all()
    here = ready.setting.restricted([0, 1, 2])
    three = Game(here, ready.game.alpha)
    sigma = np.where(np.isnan(each.sigma[0]), np.inf, each.sigma[0])
    assert each.error_true[0] == pytest.approx(three.error(sigma), rel=1e-12)
    assert each.social_cost[0] == pytest.approx(three.social_cost(sigma), rel=1e-12)
    assert each.epsilon[3] == 0


def test_a_copycat_has_no_privacy_cost() -> None:
    ready = ready_small(conduct("West", "copycat", "{ noise_factor = 1.0 }"))
    each = run(ready).treatment("priced")
    assert each.epsilon[3] == 0
    assert (each.epsilon[:3] > 0).all()
    own = ready.setting.privacy_scale * ready.game.alpha[3] / each.sigma[:, 3]
    whole = [ready.game.social_cost(sigma) for sigma in each.sigma]
    np.testing.assert_allclose(each.social_cost, whole - own, rtol=1e-12)


def test_the_error_of_shared_noise_is_that_of_the_sum() -> None:
    """Delta of a ring against the measured spread of the aggregate of such uploads."""
    ready = ready_small(conduct("South", "ring"), conduct("West", "ring"))
    arm = arms(ready)[-1]
    found: list[tuple[float, Plays, Floats]] = []

    def watch(passed: Passed) -> None:
        error, _ = played(arm.game, passed.closed, passed.plays)
        found.append((error, passed.plays, passed.closed.terms.weights))

    simulate(ready.task, [begin(ready.task, arm.replica)], watch)
    error, plays, weights = found[0]
    assert plays.noise_of[2] == plays.noise_of[3]
    noise = np.empty((4, 200_000), np.float32)
    fill_with_noise(noise, 99, plays.noise_of.tolist(), 1)
    aggregate = (weights * plays.sigma) @ noise
    assert aggregate.std() == pytest.approx(error, rel=0.01)  # 6 standard errors of 1/sqrt(4e5)
    assert error > 1.05 * ready.game.error(plays.sigma)


def test_bills_sum_to_zero_and_are_the_statements() -> None:
    record, kept = with_rounds(ready_small())
    priced = record.treatment("priced")
    assert [settled.round for settled, *_ in kept] == [1, 2, 3, 4]
    for settled, *_ in kept:
        row = settled.round - 1
        for i, statement in enumerate(settled.statements):
            assert statement.client == record.clients[i]
            assert round(priced.charge[row, i] * MICRO) == statement.charge
            assert round(priced.net[row, i] * MICRO) == statement.net
    assert (priced.reserve == 0).all()
    assert np.abs(priced.net).max() > 0
    assert priced.total.sum() == pytest.approx(0, abs=1e-9)
    assert (record.treatment("unpriced").charge == 0).all()


def test_privacy_is_that_of_all_uploads() -> None:
    """mu = S sqrt(sum 1 / sigma^2): exact GDP composition (section 8)."""
    record = run(ready_small(("clip = 0.2", 'clip = 0.2\nadjacency = "replace"\ndelta = 1e-6')))
    priced = record.treatment("priced")
    for i in range(4):
        mu = 0.4 * math.sqrt((priced.sigma[:, i] ** -2).sum())
        assert priced.epsilon[i] == pytest.approx(gaussian_epsilon(mu, 1e-6), rel=1e-9)
        c = math.sqrt(2 * math.log(1.25 / 1e-6))
        assert priced.paper_epsilon[i] == pytest.approx(c * 0.4 / priced.sigma[:, i].min())
    assert record.adjacency == "replace"
    assert (priced.paper_condition == (priced.paper_epsilon < 1)).all()


def test_the_default_privacy_scale_is_the_papers() -> None:
    setting = ready_small().setting
    assert setting.privacy_scale == pytest.approx(math.sqrt(2 * math.log(1.25e5)) * 0.2, rel=1e-12)
    stated = ready_small(("clip = 0.2", "clip = 0.2\nscale = 7.0"))
    assert stated.setting.privacy_scale == 7.0


def test_the_same_seed_is_the_same_run_to_the_byte() -> None:
    (one, first), (other, second) = (with_rounds(prepare(small())) for _ in range(2))
    assert same(one, other)
    assert first == second
    third = with_rounds(prepare(small(("seed = 3", "seed = 4"))))[1]
    assert [settled.statements for settled, *_ in third] != [s.statements for s, *_ in first]


def test_treatments_do_not_disturb_each_other() -> None:
    whole = run(ready_small())
    for name in ("no noise", "unpriced", "priced"):
        alone = run(ready_small(), only=[name]).treatments
        assert [each.name for each in alone] == [name]
        # models of a batch and of a single run differ by the rounding of float32 products
        np.testing.assert_allclose(alone[0].loss, whole.treatment(name).loss, rtol=1e-4)


def test_a_run_goes_on_from_any_round_to_the_bit() -> None:
    ready = ready_small(
        conduct("West", "dropout", "{ rate = 0.5 }"),
        ("max_attempts = 2", "min_clients = 4\nmax_attempts = 9"),
    )
    record, kept = with_rounds(ready)
    assert any("void" in note for note in record.treatment("priced").notes)
    for k, (settled, state, _) in enumerate(kept):
        parts = tuple(new for _, _, new in kept[: k + 1])
        again, rest = with_rounds(ready, kept=Kept(state, parts))
        assert same(again, record)
        assert [s.round for s, _, _ in rest] == list(range(settled.round + 1, 5))
        assert rest == kept[settled.round :]
        with pytest.raises(PigouError, match="history must hold"):
            run(ready, kept=Kept(state, parts[1:]))
    _, state, new = kept[0]
    with pytest.raises(PigouError, match="must be as when the run began"):
        run(ready, only=["priced"], kept=Kept(state, (new,)))
    others = with_rounds(ready, only=["priced"])[1][0][2]  # posted by a run of fewer treatments
    with pytest.raises(PigouError, match="history must hold"):
        run(ready, kept=Kept(state, (others,)))
    for broken in (Kept(b"nothing", (new,)), Kept(state, (b"nothing",))):
        with pytest.raises(PigouError, match="must be readable"):
            run(ready, kept=broken)


def test_what_is_kept_does_not_grow_with_the_rounds() -> None:
    """A run of T rounds writes O(T), not O(T^2): the record so far is kept once."""
    _, kept = with_rounds(ready_small(("rounds = 4", "rounds = 40")))
    states, news = [len(state) for _, state, _ in kept], [len(new) for _, _, new in kept]
    assert max(states) < 1.1 * min(states)
    assert max(news) < 1.1 * min(news)


def test_nothing_is_told_before_it_is_kept() -> None:
    order: list[tuple[str, int]] = []

    def watch(step: Step) -> None:
        if step.treatment == "priced":
            order.append(("told", step.round))

    run(ready_small(), watch=watch, keep=lambda settled, *_: order.append(("kept", settled.round)))
    assert order == [(what, t) for t in range(1, 5) for what in ("kept", "told")]


def test_a_book_that_refuses_ends_the_run() -> None:
    told: list[int] = []

    def keep(settled: Round, *_: bytes) -> None:
        if settled.round == 3:
            raise PigouError("the book is full")

    with pytest.raises(PigouError, match="the book is full"):
        run(ready_small(), only=["priced"], watch=lambda s: told.append(s.round), keep=keep)
    assert told == [1, 2]


def test_what_is_resolved_runs_the_same() -> None:
    """Measured values are written out with all their digits."""
    text = to_toml(small()).replace("spread = 0.0", 'spread = "measured"')
    text = text.replace("linear = 0.0\nquadratic = 30.0", "calibrate = true")
    ready = prepare(parse(text))
    assert ready.calibration is not None
    assert ready.heterogeneity is not None
    again = prepare(parse(to_toml(ready.scenario)))
    assert (again.calibration, again.heterogeneity) == (None, None)
    assert to_toml(again.scenario) == to_toml(ready.scenario)
    assert again.run == ready.run
    first, second = with_rounds(ready)[1], with_rounds(again)[1]
    assert [settled for settled, *_ in first] == [settled for settled, *_ in second]
    found = run(ready)
    assert found.calibration is not None
    assert (found.linear, found.quadratic) == (
        ready.setting.loss.linear,
        ready.setting.loss.quadratic,
    )
    assert found.heterogeneity is not None
    np.testing.assert_array_equal(found.heterogeneity.spread, ready.setting.spread)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("adjacency", ["zero-out", "replace"])
def test_a_cap_on_epsilon_is_never_passed_and_nearly_reached(
    epsilon: float, adjacency: Any
) -> None:
    empty = PrivacyAccount(0.3, adjacency)
    cap = precision_cap(empty, 1e-5, epsilon)
    sigma = math.sqrt(7 / cap)  # of each of 7 releases that reach the cap
    assert empty.after(sigma, 7).epsilon(1e-5) <= epsilon
    assert empty.after(sigma * 0.999999, 7).epsilon(1e-5) > epsilon


def test_a_client_stays_away_rather_than_pass_its_cap() -> None:
    free = run(ready_small()).treatment("priced")
    cap = float(np.median(free.epsilon))
    record = run(ready_small(("clip = 0.2", f"clip = 0.2\nepsilon_cap = {cap}")))
    priced = record.treatment("priced")
    assert (priced.epsilon <= cap).all()
    assert any("privacy budget is used up" in note for note in priced.notes)
    assert np.isnan(priced.sigma[-1]).any()
    assert not np.isnan(priced.sigma[0]).any()
    assert not np.isnan(record.treatment("no noise").sigma).any()  # a benchmark: no cap


def test_a_run_without_enough_clients_stops_and_says_so() -> None:
    ready = ready_small(
        conduct("West", "dropout", "{ rate = 1.0 }"),
        ("max_attempts = 2", "min_clients = 4\nmax_attempts = 2"),
    )
    record = run(ready)
    assert record.treatment("no noise").stopped == ""
    priced = record.treatment("priced")
    assert "void 2 times" in priced.stopped
    assert priced.rounds == 0
    assert priced.loss.shape == (1,)
    assert priced.epsilon[3] == 0
    assert (priced.epsilon[:3] > 0).all()  # they had uploaded, to rounds that did not count


def test_too_few_to_compare_are_not_billed() -> None:
    away = [conduct(name, "dropout", "{ rate = 1.0 }") for name in ("South", "West")]
    priced = run(ready_small(*away)).treatment("priced")
    assert np.isnan(priced.net).all()
    assert all("nobody is billed" in note for note in priced.notes)
    assert priced.rounds == 4


def test_the_certificate_is_of_the_priced_terms() -> None:
    record = run(ready_small())
    certificate = record.treatment("priced").certificate
    assert certificate is not None
    assert certificate.ok
    assert certificate.ratio_to_optimum == pytest.approx(1, rel=1e-9)
    assert record.treatment("unpriced").certificate is None


def test_which_treatments() -> None:
    ready = ready_small()
    assert [arm.name for arm in arms(ready)] == ["no noise", "unpriced", "priced"]
    assert [arm.name for arm in arms(ready, ["priced", "no noise"])] == ["no noise", "priced"]
    with pytest.raises(InvalidArgument, match="only must be one of no noise, unpriced, priced"):
        arms(ready, ["pricey"])
    free = ready_small(("money = 100.0", f'money = 100.0\nname = "{Unpriced.name}"'))
    assert [arm.name for arm in arms(free)] == ["no noise", "unpriced"]
    with pytest.raises(InvalidArgument, match="must leave a treatment"):
        arms(free, ["priced"])


def test_the_server_holds_no_types() -> None:
    for arm in arms(ready_small()):
        assert type(arm.replica.plan.setting).__name__ == "Setting"
        assert {cohort.alpha.size for cohort in arm.replica.cohorts} == {4}


def test_groups_of_a_population() -> None:
    clients = small().model_dump()["client"]
    text = to_toml(small())
    text = text[: text.index("[[client]]")] + (
        '[population]\nn = 6\nkind = "uniform"\n[[group]]\ncount = 2\nconduct = "copycat"\n'
        '[[group]]\ncount = 1\nconduct = "lying"\noptions = { claim = 0.3 }\n'
    )
    assert len(clients) == 4
    conducts = arms(prepare(parse(text)))[-1].conducts
    assert conducts == ("copycat", "copycat", "lying", "selfish", "selfish", "selfish")


def test_a_run_needs_a_training() -> None:
    text = to_toml(small())
    without = text.replace(text[text.index("[training]") : text.index("[audit]")], "")
    with pytest.raises(NotApplicable, match="training must be given"):
        prepare(parse(without))


@pytest.mark.parametrize("learner", ["svm", "logistic"])
@pytest.mark.parametrize(
    "split", ['split = "iid"', 'split = "dirichlet"\nconcentration = 0.5', 'split = "size"']
)
def test_every_learner_and_split_runs(learner: str, split: str) -> None:
    table = f'[training]\nlearner = "{learner}"\n{split}\n'
    changes = [("[training]\n", table)]
    if "size" in split:
        changes.append(("train = 60\n", ""))
        changes += [(f"alpha = 0.{k}\n", f"alpha = 0.{k}\nsamples = {k}0\n") for k in (2, 4, 6, 8)]
        changes.append(("rounds = 4\n", 'rounds = 4\nweights = "data_size"\n'))
    ready = ready_small(*changes)
    priced = run(ready, only=["priced"]).treatment("priced")
    assert priced.rounds == 4
    assert np.isfinite(priced.loss).all()
    if "size" in split:
        np.testing.assert_array_equal(ready.task.shards.sizes, [20, 40, 60, 80])
        np.testing.assert_allclose(ready.setting.weights, [0.1, 0.2, 0.3, 0.4])


def test_the_name_of_a_run_depends_on_all_of_the_scenario() -> None:
    seed, alpha = ("seed = 3", "seed = 4"), ("alpha = 0.2", "alpha = 0.21")
    names = [ready_small(*changes).run for changes in ((), (seed,), (alpha,), (seed, alpha))]
    assert len(set(names)) == 4
    assert all(name.startswith("small-") for name in names)
    odd = ready_small(('name = "Small"', 'name = "  ééé / 7 %"')).run
    assert odd.isprintable()
    assert odd.startswith("ééé-7-")
