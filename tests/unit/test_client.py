"""The clients' side: uploads are made as stated, and accounts add up what uploads reveal."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pigou import AccuracyLoss, InvalidArgument, Setting
from pigou.federation.audit import AuditRule
from pigou.federation.client import BLOCK, Cohort, Plays, uploads
from pigou.federation.conduct import Copycat, Dropout, Obedient, Outcome, Play, Silent, View
from pigou.federation.protocol import Announcement
from pigou.mechanisms import Pigouvian
from pigou.mechanisms.base import Mechanism
from pigou.mechanisms.billing import settle
from pigou.privacy import PrivacyAccount
from pigou.terms import MICRO

N, D = 6, 50
ALPHA = np.linspace(0.2, 0.8, N)


def announced(mechanism: Mechanism | None = None, round_: int = 1) -> Announcement:
    setting = Setting(N, AccuracyLoss.bound(16.0, 2.0), 0.5)
    rule = Pigouvian(rounds=10, money=100.0) if mechanism is None else mechanism
    terms = rule.terms(setting, None if rule.report_space is None else ALPHA)
    return Announcement(
        consortium="c",
        run="r",
        round=round_,
        attempt=1,
        rounds=rule.rounds,
        clients=tuple("abcdef"),
        mechanism=rule.name,
        report_space=rule.report_space,
        loss=setting.loss,
        privacy_scale=setting.privacy_scale,
        spread=setting.spread,
        divergence=setting.divergence,
        currency="EUR",
        largest=1e6,
        audit=AuditRule(),
        terms=terms,
        error=terms.error,
    )


def plays(sigma: Any, **parts: Any) -> Plays:
    levels = np.asarray(sigma, np.float64)
    n = levels.size
    given: dict[str, Any] = {
        "copies": np.zeros(n, np.bool_),
        "absent": np.zeros(n, np.bool_),
        "noise_of": np.arange(n),
        **parts,
    }
    return Plays(levels, **given)


def ones(out: NDArray[np.float32], clients: NDArray[np.intp]) -> None:
    """Noise that names its client: its number, plus one."""
    out[:] = clients[:, None] + 1.0


def test_uploads_are_the_clipped_update_and_the_clients_own_noise() -> None:
    rng = np.random.default_rng(0)
    model = rng.normal(size=D).astype(np.float32)
    trained = model + rng.normal(size=(N, D)).astype(np.float32) * np.linspace(0.01, 1, N)[
        :, None
    ].astype(np.float32)
    before = trained.copy()
    sigma = np.array([0.5, 0.0, 2.0, 1.0, 3.0, np.inf])
    absent = np.array([False] * 5 + [True])
    copies = np.array([False] * 4 + [True, False])
    shared = np.array([0, 1, 0, 3, 4, 5])
    made = uploads(
        model, trained, plays(sigma, absent=absent, copies=copies, noise_of=shared), ones, 1.5
    )
    update = trained.astype(np.float64) - model
    length = np.linalg.norm(update, axis=1, keepdims=True)
    clipped = np.where(length > 1.5, 1.5 * update / length, update)
    expected = model + np.where(copies[:, None], 0.0, clipped)
    expected[:5] += (sigma * (shared + 1))[:5, None]
    # float32 sums of three numbers below 16, and a clip that errs to the short side
    np.testing.assert_allclose(made, expected, rtol=0, atol=2e-5)
    np.testing.assert_array_equal(trained, before)


def test_blocks_of_clients_make_no_difference() -> None:
    n = 2 * BLOCK + 3
    trained = np.random.default_rng(1).normal(size=(n, 4)).astype(np.float32)
    sigma = np.where(np.arange(n) % 3 == 0, 0.0, 1.0)
    made = uploads(np.zeros(4, np.float32), trained, plays(sigma), ones, 1e3)
    expected = trained + (sigma * (np.arange(n) + 1)).astype(np.float32)[:, None]
    np.testing.assert_allclose(made, expected, rtol=1e-6)


def test_noise_beyond_float32_becomes_an_upload_that_is_refused_not_a_warning() -> None:
    made = uploads(np.zeros(D, np.float32), np.zeros((1, D), np.float32), plays([1e60]), ones, 1.0)
    assert np.isinf(made).all()


def test_a_view_is_what_is_announced_and_oneself() -> None:
    said = announced()
    assert said.terms is not None
    view = View(said, np.array([1, 4]), ALPHA[[1, 4]])
    np.testing.assert_array_equal(view.setting.weights, said.terms.weights)
    assert not hasattr(view, "game")


def test_the_account_is_the_exact_composition() -> None:
    said = announced()
    cohort = Cohort.of(np.arange(N), ALPHA, Obedient())
    for _ in range(7):
        play = cohort.decide(said)
        cohort = cohort.after(said, play, None)
    assert said.terms is not None
    assert said.terms.sigma is not None
    for i, sigma in enumerate(said.terms.sigma.tolist()):
        account = PrivacyAccount(clip=0.3).after(sigma, times=7)
        mu = 0.3 * np.sqrt(cohort.precision[i])
        assert mu == pytest.approx(account.mu, rel=1e-12)


def test_copies_and_absence_reveal_nothing_and_silence_everything() -> None:
    said, members = announced(), np.arange(N)
    for conduct, revealed in ((Copycat(), 0.0), (Dropout(rate=1.0), 0.0), (Silent(), np.inf)):
        cohort = Cohort.of(members, ALPHA, conduct)
        after = cohort.after(said, cohort.decide(said), None)
        assert (after.precision == revealed).all()


def test_no_release_goes_beyond_the_cap() -> None:
    said = announced()
    assert said.terms is not None
    assert said.terms.sigma is not None
    each = said.terms.sigma**-2
    cohort = Cohort.of(np.arange(N), ALPHA, Obedient(), cap=float(2.5 * each.max()))
    present = []
    for _ in range(6):
        play = cohort.decide(said)
        present.append(~play.absent)
        cohort = cohort.after(said, play, None)
    assert (cohort.precision <= cohort.cap).all()
    releases = np.sum(present, axis=0)
    np.testing.assert_array_equal(releases, np.minimum(6, np.floor(cohort.cap / each)))
    assert releases.min() == 2  # the tightest one stopped after 2 of the 2.5 that it may have


@pytest.mark.parametrize("conduct", [Silent(), Obedient()])
def test_a_cap_holds_without_noise_too(conduct: Any) -> None:
    said = announced()
    cohort = Cohort.of(np.arange(N), ALPHA, conduct, cap=0.0)
    assert cohort.decide(said).absent.all()


def test_members_learn_their_own_bills_in_units_of_cost() -> None:
    seen: list[Outcome] = []

    class Watching(Obedient):
        name = "watching"

        def learn(self, view: View, play: Play, outcome: Outcome) -> "Watching":
            seen.append(outcome)
            return self

    said = announced()
    assert said.terms is not None
    settled = settle(np.linspace(0.1, 0.6, N), said.terms)
    members = np.array([4, 2])
    cohort = Cohort.of(members, ALPHA[members], Watching())
    cohort.after(said, cohort.decide(said), settled)
    np.testing.assert_allclose(seen[0].net, settled.net[members] / (MICRO * 100.0), rtol=1e-15)
    cohort.after(said, cohort.decide(said), None)
    assert np.isnan(seen[1].net).all()


def test_plays_are_put_in_their_members_places() -> None:
    cohorts = (
        Cohort.of(np.array([3, 0]), ALPHA[:2], Silent()),
        Cohort.of(np.array([1, 2]), ALPHA[:2], Copycat()),
    )
    chosen = [
        Play(
            np.array([3.0, 0.5]),
            np.zeros(2, np.bool_),
            np.array([True, False]),
            np.array([3, 3]),
        ),
        Play(np.array([1.0, 2.0]), np.ones(2, np.bool_), np.zeros(2, np.bool_), np.array([1, 2])),
    ]
    gathered = Plays.gather(5, cohorts, chosen)
    assert gathered.sigma[:4].tolist() == [0.5, 1.0, 2.0, 3.0]
    assert gathered.copies.tolist() == [False, True, True, False, False]
    assert gathered.absent.tolist() == [False, False, False, True, True]
    assert gathered.noise_of[:4].tolist() == [3, 1, 2, 3]


def test_a_type_for_each_member() -> None:
    with pytest.raises(InvalidArgument, match="alpha must hold 3 types"):
        Cohort.of(np.arange(3), ALPHA, Obedient())
