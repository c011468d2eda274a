"""Through the server: the noise audit over rounds and dropouts, and the paper's weights."""

import numpy as np
import pytest
from tests.coordinators import ALPHA, NAMES, D, opened, plan, play, update

from pigou.federation.audit import AuditRule
from pigou.federation.bills import bill
from pigou.federation.coordinator import Coordinator
from pigou.federation.state import STATE_CODEC
from pigou.mechanisms import Pigouvian, PostedPrice
from pigou.paper.pricing import PaperPricing


def test_clients_failing_the_audit_lose_their_refund_and_the_sum_stays_zero() -> None:
    rules = plan(Pigouvian(), audit=AuditRule(family_error=0.01, bar_refund=True))
    coordinator = opened(rules)
    assert coordinator.terms is not None
    assert coordinator.terms.sigma is not None
    for name, sigma in zip(NAMES, coordinator.terms.sigma, strict=True):
        scale = 0.0 if name == "c" else float(sigma)
        coordinator.receive(update(coordinator, name, 0, scale))
    statements = bill(coordinator.close_round()).statements
    by_name = {s.client: s for s in statements}
    assert by_name["c"].refund == 0
    assert not by_name["c"].refundable
    assert sum(s.net for s in statements) == 0
    assert all(by_name[name].refund > 0 for name in "abde")


def test_nobody_is_barred_where_no_target_was_announced() -> None:
    """The comparison with the bulk is a heuristic: it flags, and costs nobody a refund."""
    coordinator = opened(plan(PostedPrice(), audit=AuditRule(bar_refund=True)))
    for name in NAMES:
        coordinator.receive(update(coordinator, name, 0, 0.0 if name == "c" else 0.2))
    closed = coordinator.close_round()
    assert closed.judgement is not None
    assert closed.judgement.audit.failing() == [2]
    assert all(statement.refundable for statement in bill(closed).statements)
    assert all(statement.refund > 0 for statement in bill(closed).statements)


def test_those_who_arrive_are_audited_against_what_they_had_been_told() -> None:
    coordinator = opened(plan(Pigouvian(), audit=AuditRule(family_error=0.01)))
    assert coordinator.terms is not None
    told = coordinator.terms.sigma
    assert told is not None
    for name in NAMES[:3]:
        scale = float(told[NAMES.index(name)])
        assert coordinator.receive(update(coordinator, name, 0, scale)) is None
    closed = coordinator.close_round()
    assert closed.terms.sigma is not None
    assert closed.judgement is not None
    moved = closed.terms.sigma[:3] / told[:3]
    assert (moved < 0.8).all()  # targets for three: noise would be far too much for these
    assert closed.judgement.audit.failing() == []


def test_what_one_round_cannot_show_is_found_over_rounds_and_over_a_resumption() -> None:
    """A fifth less variance is 3.5 standard deviations of one round, and 15 of twenty."""
    rounds = 20
    coordinator = opened(plan(Pigouvian(rounds=rounds), audit=AuditRule(family_error=0.01)))
    assert coordinator.terms is not None
    assert coordinator.terms.sigma is not None
    levels = dict(zip(NAMES, coordinator.terms.sigma.tolist(), strict=True))
    levels["c"] *= 0.8**0.5
    seen = []
    for seed in range(rounds):
        for name in NAMES:
            coordinator.receive(update(coordinator, name, seed, levels[name]))
        judged = coordinator.close_round().judgement
        assert judged is not None
        seen.append([flag.value for flag in judged.audit.flags])
        state = STATE_CODEC.decode(STATE_CODEC.encode(coordinator.state()))
        coordinator = Coordinator.resume(coordinator.plan, coordinator.shapes, state)
    assert seen[0] == ["as announced"] * 5
    assert seen[-1] == ["as announced"] * 2 + ["too little noise"] + ["as announced"] * 2


def test_the_papers_weights_are_made_anew_for_those_who_arrive() -> None:
    coordinator = opened(plan(PaperPricing()))
    closed = play(coordinator, NAMES[:4])
    assert closed.terms == PaperPricing().terms(coordinator.plan.setting, ALPHA, [0, 1, 2, 3])
    assert closed.terms.sigma is not None
    precision = closed.terms.sigma[:4] ** -2
    np.testing.assert_allclose(closed.terms.weights[:4], precision / precision.sum(), rtol=1e-12)
    uploads = np.stack([update(opened(plan(PaperPricing())), name, 0).arrays[0] for name in NAMES])  # type: ignore[index]
    np.testing.assert_allclose(
        closed.aggregate()[0], closed.terms.weights[:4] @ uploads[:4], rtol=1e-12, atol=1e-15
    )


def test_the_papers_weights_are_the_committed_inverse_squares() -> None:
    coordinator = opened(plan(PaperPricing()))
    terms = coordinator.terms
    assert terms is not None
    assert terms.sigma is not None
    precision = terms.sigma**-2
    np.testing.assert_allclose(terms.weights, precision / precision.sum(), rtol=1e-12)
    uploads = np.stack([update(coordinator, name, 0).arrays[0] for name in NAMES])  # type: ignore[index]
    closed = play(coordinator)
    np.testing.assert_allclose(closed.aggregate()[0], terms.weights @ uploads, rtol=1e-12)
    error = closed.judgement.error if closed.judgement else None
    sampling = 4 * np.sqrt(2 / D)  # four standard deviations of one client's, more than the mean's
    assert error == pytest.approx(0.2 * np.sqrt(np.square(terms.weights).sum()), rel=sampling)
