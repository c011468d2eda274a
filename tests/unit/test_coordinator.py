"""The server's state machine: phases, faults, dropouts, and a state that can be resumed."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.coordinators import ALPHA, NAMES, D, opened, plan, play, update

from pigou import AccuracyLoss, InvalidArgument, Setting
from pigou.federation.bills import bill
from pigou.federation.coordinator import Coordinator, OutOfPhase, Phase
from pigou.federation.intake import Reason
from pigou.federation.plan import Limits, Plan
from pigou.federation.protocol import Report, Update
from pigou.federation.state import STATE_CODEC
from pigou.mechanisms import Groves, Pigouvian, PostedPrice, Unpriced, billing


def phase_of(coordinator: Coordinator) -> Phase:
    """The phase now: calls change it, which a type checker does not see."""
    return coordinator.phase


def test_a_run_goes_through_its_phases_and_no_others() -> None:
    coordinator = Coordinator(plan(Unpriced(rounds=2)), ((D,),))
    with pytest.raises(OutOfPhase, match="close_round must not be called while the run is not ope"):
        coordinator.close_round()
    coordinator.open()
    with pytest.raises(OutOfPhase):
        coordinator.open()
    coordinator.close_reports()
    assert phase_of(coordinator) is Phase.ROUND
    play(coordinator)
    play(coordinator, seed=1)
    assert phase_of(coordinator) is Phase.CLOSED
    assert coordinator.stopped == ""
    refusal = coordinator.receive(Update("run", 3, 1, "a", (np.zeros(D),)))
    assert refusal is not None
    assert refusal.reason is Reason.LATE


def test_bills_are_those_of_billing_alone() -> None:
    coordinator = opened(plan(Pigouvian(rounds=3)))
    terms = coordinator.terms
    assert terms is not None
    uploads = np.stack([update(coordinator, name, 0).arrays[0] for name in NAMES])  # type: ignore[index]
    closed = play(coordinator)
    expected = billing.statements(uploads, terms)
    statements = bill(closed).statements
    assert [s.charge for s in statements] == expected.charge.tolist()
    assert [s.refund for s in statements] == expected.refund.tolist()
    assert sum(s.net for s in statements) == 0
    assert all(s.charge == round(s.coefficient * s.deviation * 1e6) for s in statements)
    np.testing.assert_allclose(closed.aggregate()[0], uploads.mean(axis=0), rtol=1e-12)


def test_blocks_and_single_uploads_are_one_and_the_same() -> None:
    one, block = opened(plan(Pigouvian())), opened(plan(Pigouvian()))
    rows = np.stack([update(one, name, 4).arrays[0] for name in NAMES])  # type: ignore[index]
    present = np.array([True, True, False, True, True])
    for name, here, row in zip(NAMES, present, rows, strict=True):
        if here:
            one.receive(Update("run", 1, 1, name, (row,)))
    block.receive_block(rows, present)
    first, second = one.close_round(), block.close_round()
    pairs = list(zip(bill(first).statements, bill(second).statements, strict=True))
    assert len(pairs) == 4
    for mine, theirs in pairs:  # sums in another order: one unit in the last place, one micro-unit
        assert (mine.client, mine.upload, mine.terms) == (
            theirs.client,
            theirs.upload,
            theirs.terms,
        )
        assert abs(mine.charge - theirs.charge) <= 1
        assert abs(mine.refund - theirs.refund) <= 1
    np.testing.assert_allclose(first.aggregate()[0], second.aggregate()[0], rtol=1e-12, atol=1e-15)


def changed(good: Update, **parts: Any) -> Update:
    """With parts of any type, as a careless or hostile client may send them."""
    return replace(good, **parts)


def faulty(name: str, good: Update) -> list[tuple[object, Reason]]:
    array = good.arrays[0]  # type: ignore[index]
    broken, huge = array.copy(), array.copy()
    broken[3], huge[5] = np.nan, -1e9
    return [
        (object(), Reason.NOT_ARRAYS),
        (replace(good, client="stranger"), Reason.UNKNOWN_CLIENT),
        (replace(good, run="other"), Reason.WRONG_RUN),
        (replace(good, round=9), Reason.WRONG_ROUND),
        (replace(good, attempt=2), Reason.WRONG_ROUND),
        (replace(good, arrays=(array[:-1],)), Reason.WRONG_SHAPE),
        (replace(good, arrays=(array.reshape(2, -1),)), Reason.WRONG_SHAPE),
        (replace(good, arrays=()), Reason.WRONG_SHAPE),
        (replace(good, arrays=(array.astype(np.longdouble),)), Reason.WRONG_DTYPE),
        (changed(good, arrays=(array * 1j,)), Reason.WRONG_DTYPE),
        (changed(good, arrays=(array.astype(str),)), Reason.WRONG_DTYPE),
        (replace(good, arrays=(broken,)), Reason.NOT_FINITE),
        (replace(good, arrays=(np.where(array > 0, np.inf, array),)), Reason.NOT_FINITE),
        (replace(good, arrays=(huge,)), Reason.TOO_LARGE),
        (replace(good, arrays=None, note="budget used up"), Reason.WITHDRAWN),
    ]


def test_every_fault_is_refused_with_its_reason_and_costs_only_its_sender() -> None:
    clean = opened(plan(Pigouvian()))
    expected = play(clean, NAMES[1:])
    for k in range(len(faulty("a", update(opened(plan(Pigouvian())), "a", 0)))):
        coordinator = opened(plan(Pigouvian()))
        message, reason = faulty("a", update(coordinator, "a", 0))[k]
        refusal = coordinator.receive(message)
        assert refusal is not None
        assert refusal.reason is reason
        closed = play(coordinator, NAMES[1:])
        assert [r.reason for r in closed.refusals] == [reason]
        assert bill(closed) == bill(expected)


def test_a_second_upload_is_refused_and_the_first_one_counts() -> None:
    coordinator, single = opened(plan(Pigouvian())), opened(plan(Pigouvian()))
    assert coordinator.receive(update(coordinator, "a", 0)) is None
    again = coordinator.receive(update(coordinator, "a", 99))
    assert again is not None
    assert again.reason is Reason.DUPLICATE
    assert bill(play(coordinator, NAMES[1:])) == bill(play(single))


def test_dropouts_get_the_terms_of_those_who_arrived() -> None:
    coordinator = opened(plan(Pigouvian()))
    closed = play(coordinator, NAMES[:4])
    setting = coordinator.plan.setting
    assert closed.terms == Pigouvian().terms(setting, ALPHA, [0, 1, 2, 3])
    assert sum(s.net for s in bill(closed).statements) == 0
    assert {s.client for s in bill(closed).statements} == set(NAMES[:4])


@pytest.mark.parametrize("names", [NAMES[:1], NAMES[:2]])
def test_too_few_to_compare_are_aggregated_and_not_billed(names: tuple[str, ...]) -> None:
    closed = play(opened(plan(Pigouvian())), names)
    assert not closed.void
    assert "nobody is billed" in closed.note
    assert bill(closed).statements == ()
    uploads = [update(opened(plan(Pigouvian())), name, 0).arrays[0] for name in names]  # type: ignore[index]
    np.testing.assert_allclose(closed.aggregate()[0], np.mean(uploads, axis=0))


def test_a_void_round_is_repeated_and_in_the_end_given_up() -> None:
    rules = plan(Pigouvian(), limits=Limits(min_clients=3, max_attempts=2))
    coordinator = opened(rules)
    assert play(coordinator, NAMES[:2]).void
    assert coordinator.announcement().attempt == 2
    late = coordinator.receive(Update("run", 1, 1, "a", (np.zeros(D),)))
    assert late is not None
    assert late.reason is Reason.LATE
    assert play(coordinator, NAMES[:2]).void
    assert coordinator.phase is Phase.CLOSED
    assert "round 1 was void 2 times" in coordinator.stopped


def test_uploads_that_are_refused_until_the_run_ends_are_why_it_ends() -> None:
    """Prices beyond what 64 bits can bill leave no upload small enough: it must not be a riddle."""
    coordinator = opened(plan(Pigouvian(), limits=Limits(min_clients=3, max_attempts=1)))
    for name in NAMES[:3]:
        coordinator.receive(Update("run", 1, 1, name, (np.full(D, 1e300),)))
    assert coordinator.close_round().void
    assert coordinator.stopped.startswith("round 1 was void 1 times; at last 3 uploads were ref")
    assert coordinator.stopped.endswith("with numbers beyond the announced limit")


def test_clients_that_do_not_report_take_no_part() -> None:
    coordinator = Coordinator(plan(Pigouvian()), ((D,),))
    coordinator.open()
    for name, alpha in zip(NAMES[:4], ALPHA, strict=False):
        coordinator.report(Report("run", name, alpha))
    for value, reason in ((1.5, Reason.NOT_ALLOWED), ("x", Reason.NOT_ALLOWED)):
        refusal = coordinator.report(Report("run", "e", value))  # type: ignore[arg-type]
        assert refusal is not None
        assert refusal.reason is reason
    coordinator.close_reports()
    refusal = coordinator.receive(update(coordinator, "e", 0))
    assert refusal is not None
    assert refusal.reason is Reason.NO_REPORT
    closed = play(coordinator, NAMES[:4])
    assert len(bill(closed).statements) == 4


def test_nobody_reporting_ends_the_run_with_a_reason() -> None:
    coordinator = Coordinator(plan(Pigouvian()), ((D,),))
    coordinator.open()
    coordinator.close_reports()
    assert coordinator.phase is Phase.CLOSED
    assert coordinator.stopped == "no client of positive weight reported"


def test_a_resumed_coordinator_bills_like_the_uninterrupted_one() -> None:
    whole = opened(plan(PostedPrice(rounds=4)))
    play(whole, seed=1)
    play(whole, NAMES[:4], seed=2)
    state = STATE_CODEC.decode(STATE_CODEC.encode(whole.state()))
    again = Coordinator.resume(whole.plan, whole.shapes, state)
    for seed in (3, 4):
        assert bill(play(whole, seed=seed)) == bill(play(again, seed=seed))
    assert again.phase is Phase.CLOSED


def test_posted_prices_learn_and_keep_what_they_learnt_over_dropouts() -> None:
    coordinator = opened(plan(PostedPrice(rounds=9)))
    assert coordinator.terms is not None
    first = coordinator.terms.unit_price
    play(coordinator, seed=1)
    assert coordinator.terms.error is not None
    assert np.isclose(coordinator.terms.error, 0.2 / 5**0.5, rtol=0.2)
    second = coordinator.terms.unit_price
    assert not np.allclose(first, second, rtol=0.01)
    play(coordinator, NAMES[:4], seed=2)
    assert coordinator.terms.active.all()


def reported(rules: Plan, reports: dict[str, Any]) -> Coordinator:
    coordinator = Coordinator(rules, ((D,),))
    coordinator.open()
    for name, value in reports.items():
        assert coordinator.report(Report("run", name, value)) is None
    return coordinator


def test_messages_out_of_time_are_refused_and_recorded() -> None:
    coordinator = Coordinator(plan(Pigouvian()), ((D,),))
    early = coordinator.report(Report("run", "a", 0.5))
    assert early is not None
    assert early.reason is Reason.LATE
    coordinator.open()
    soon = coordinator.receive(Update("run", 1, 1, "a", (np.zeros(D),)))
    assert soon is not None
    assert soon.reason is Reason.WRONG_ROUND
    for name, alpha in zip(NAMES, ALPHA, strict=True):
        coordinator.report(Report("run", name, alpha))
    coordinator.close_reports()
    assert coordinator.report(Report("run", "a", 0.1)) is not None
    play(coordinator)
    assert coordinator.receive(object()) is not None
    reasons = [refusal.reason for refusal in coordinator.refusals]
    assert reasons == [Reason.LATE, Reason.LATE, Reason.WRONG_ROUND, Reason.LATE]


@pytest.mark.parametrize("names", [NAMES[:1], NAMES[:2]])
def test_too_few_reports_for_prices_train_without_them(names: tuple[str, ...]) -> None:
    coordinator = reported(plan(Pigouvian()), dict(zip(names, ALPHA, strict=False)))
    assert coordinator.close_reports() is None
    closed = play(coordinator, names)
    assert "nobody is billed" in closed.note
    assert bill(closed).statements == ()
    assert closed.terms.weights.sum() == pytest.approx(1.0)


def test_reports_without_an_optimum_end_the_run_with_a_reason() -> None:
    coordinator = reported(plan(Pigouvian()), dict.fromkeys(NAMES, 1.0))
    assert coordinator.close_reports() is None
    assert coordinator.phase is Phase.CLOSED
    assert "no terms for these reports: alpha must not be 1 for every client" in coordinator.stopped


def test_who_does_not_report_owes_nothing_and_moves_with_nobodys_report() -> None:
    terms = []
    for first in (0.1, 0.9):
        coordinator = reported(plan(Groves()), {"a": first, "b": 0.4, "c": 0.6, "d": 0.7})
        transfers = coordinator.close_reports()
        assert transfers is not None
        assert {s.client for s in transfers.statements} == {"a", "b", "c", "d"}
        assert transfers.reserve == sum(s.net for s in transfers.statements)
        assert coordinator.terms is not None
        terms.append(coordinator.terms)
        stood_in = coordinator._book().reports
        assert stood_in is not None
        assert stood_in[4] == 0.5
    assert terms[0].weights[4] == terms[1].weights[4] == 0.0
    assert np.isinf(terms[0].sigma[4])  # type: ignore[index]


def test_an_upload_at_the_announced_limit_is_billed_whatever_the_prices() -> None:
    coordinator = opened(plan(Pigouvian(money=1e9), limits=Limits(largest=1e9)))
    limit = coordinator.announcement().largest
    assert limit < 1e9  # the prices are so high that a larger number could not be booked
    extreme = np.where(np.arange(D) % 2 == 0, limit, -limit)
    for k, name in enumerate(NAMES):
        assert coordinator.receive(Update("run", 1, 1, name, ((-1) ** k * extreme,))) is None
    statements = bill(coordinator.close_round()).statements
    assert len(statements) == 5
    assert sum(s.net for s in statements) == 0
    beyond = opened(plan(Pigouvian(money=1e9), limits=Limits(largest=1e9)))
    refusal = beyond.receive(Update("run", 1, 1, "a", (1.001 * extreme,)))
    assert refusal is not None
    assert refusal.reason is Reason.TOO_LARGE


def test_clients_of_weight_zero_are_neither_compared_nor_billed() -> None:
    weights = [0.25, 0.25, 0.25, 0.25, 0.0]
    setting = Setting(5, AccuracyLoss.bound(16.0, 2.0), 0.5, weights)
    closed = play(opened(plan(Pigouvian(), setting=setting)))
    assert {s.client for s in bill(closed).statements} == set(NAMES[:4])
    without = play(opened(plan(Pigouvian(), setting=setting)), NAMES[:4])
    assert [s.charge for s in bill(without).statements] == [
        s.charge for s in bill(closed).statements
    ]
    np.testing.assert_array_equal(closed.aggregate()[0], without.aggregate()[0])


def test_layers_of_any_shapes_are_one_upload() -> None:
    shapes = ((20, 25), (), (99,))
    rules = plan(Pigouvian())
    flat = opened(rules)
    layered = Coordinator(rules, shapes)
    layered.open()
    for name, alpha in zip(NAMES, ALPHA, strict=True):
        layered.report(Report("run", name, alpha))
    layered.close_reports()
    for name in NAMES:
        (row,) = update(flat, name, 0).arrays  # type: ignore[misc]
        flat.receive(Update("run", 1, 1, name, (row,)))
        parts = (row[:500].reshape(20, 25), row[500], row[501:])
        assert layered.receive(Update("run", 1, 1, name, tuple(map(np.asarray, parts)))) is None
    one, many = flat.close_round(), layered.close_round()
    assert [s.charge for s in bill(one).statements] == pytest.approx(
        [s.charge for s in bill(many).statements], abs=1
    )
    joined = np.concatenate([part.ravel() for part in many.aggregate()])
    np.testing.assert_allclose(joined, one.aggregate()[0], rtol=1e-12, atol=1e-15)


def test_there_must_be_something_to_upload() -> None:
    with pytest.raises(InvalidArgument, match="shapes must hold at least one number"):
        Coordinator(plan(Pigouvian()), ((0,),))


def test_what_an_engine_could_not_offer_is_recorded_and_changes_nothing_else() -> None:
    """In a round it is in the round's record, outside of one in the run's."""
    coordinator = Coordinator(plan(Unpriced(rounds=1)), ((D,),))
    coordinator.open()
    coordinator.refuse("a", Reason.NOT_SIGNED, "no report")
    coordinator.close_reports()
    for _ in range(2):
        coordinator.refuse("b", Reason.FAILED, "no reply" * 100)
    closed = play(coordinator)
    assert closed.arrived.all()
    early, late = coordinator.refusals, closed.refusals
    assert [(each.round, each.client, each.reason) for each in early] == [
        (0, "a", Reason.NOT_SIGNED)
    ]
    assert [(each.round, each.client) for each in late] == [(1, "b")] * 2
    assert max(len(each.detail) for each in late) <= 200
