"""A play's certificate, and how far lies were searched for.

A search over every lie of every client takes long where there are many. It is bounded beforehand,
by counting, and what was left out is said.
"""

from dataclasses import dataclass, replace

import numpy as np

from pigou.certificate import Certificate, certify
from pigou.certificate.lies import Rule, Truthful, worst_of
from pigou.checks import FloatArray
from pigou.comparison.play import Play, is_menu
from pigou.errors import NotApplicable
from pigou.game import Game
from pigou.population import Finite
from pigou.scenario import Kind
from pigou.scenario.registry import MOST_CASES, cases
from pigou.terms import Interval, Terms

SOME = 8  # clients searched where not all are
PAIRS = 5  # lies about two numbers take so many times as long
LARGEST = 100_000  # clients searched times clients there are, where not all are


@dataclass(frozen=True)
class Effort:
    """How much is searched."""

    everyone: int  # all clients, where there are at most so many
    cases: int  # terms made for a search on average over the others' types, at most


QUICK = Effort(everyone=40, cases=MOST_CASES)
THOROUGH = Effort(everyone=100, cases=20_000)


@dataclass(frozen=True, eq=False)
class Judged:
    """A certificate, and what it rests on."""

    certificate: Certificate
    searched: tuple[int, ...] = ()  # the clients whose lies were searched for
    on_average: Finite | None = None  # the types whose lies were, the others' drawn from them


def judge(play: Play, kind: Kind, effort: Effort, *, lies: bool) -> Judged:
    """The play's certificate; with ``lies``, misreports are searched for too.

    A mechanism made for a population is judged on average over it, with lies in any case.
    """
    if kind.drawn_from is not None:
        types = kind.drawn_from(play.mechanism)
        require_few(play.given.setting.n, types, effort)
        return Judged(_on_average(play, types), on_average=types)
    certificate = certify(play.given, play.terms, sigma=_expected(play))
    space = play.mechanism.report_space
    if space is None or not lies:
        return Judged(certificate)
    chosen = whom(play.given, effort, pairs=not isinstance(space, Interval))
    if not chosen:
        return Judged(certificate)
    truth = Truthful.of(play.given, rule_of(play), space)
    found = [truth.best_lie(client) for client in chosen]
    rows = list(chosen)
    worst = worst_of(found, truth.own[rows], truth.reports[rows])
    report = replace(worst, client=chosen[worst.client])
    return Judged(replace(certificate, report=report), searched=chosen)


def whom(game: Game, effort: Effort, *, pairs: bool) -> tuple[int, ...]:
    """Whose lies are searched for: everyone's, or the heaviest client's and some at even ranks of
    sensitivity; nobody's where there are too many clients."""
    n, weight = game.setting.n, PAIRS if pairs else 1
    if n <= effort.everyone // weight:
        return tuple(range(n))
    some = min(SOME, LARGEST // n) // weight
    heaviest = int(np.argmax(game.setting.weights))
    ranks = np.linspace(0, n - 1, max(some, 2)).astype(int)
    by_type: list[int] = np.argsort(game.alpha, kind="stable")[ranks].tolist()
    others = [client for client in by_type if client != heaviest]
    return tuple(sorted([heaviest, *others][:some]))


def require_few(n: int, types: Finite, effort: Effort) -> None:
    """Refuse a search on average that would make terms for too many cases."""
    kinds = types.types.size
    there = cases(n, kinds)
    if there > effort.cases:
        what = f"cases of what {n} clients of {kinds} types may be: give fewer types"
        raise NotApplicable("population", f"must leave at most {effort.cases:,} {what}", there)


def rule_of(play: Play) -> Rule:
    """The mechanism as a certificate sees it."""

    def terms(reports: FloatArray) -> Terms:
        return play.mechanism.terms(play.given.setting, reports=reports)

    return terms


def _on_average(play: Play, types: Finite) -> Certificate:
    space = play.mechanism.report_space
    assert is_menu(space)
    return certify(
        play.given,
        play.terms,
        sigma=play.sigma,
        rule=rule_of(play),
        report_space=space,
        population=types,
    )


def _expected(play: Play) -> FloatArray:
    """What the terms ask for; where they ask nothing, what is played."""
    return play.sigma if play.terms.sigma is None else play.terms.sigma
