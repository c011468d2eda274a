"""The server's side: a Flower strategy around a Flower strategy, which prices what it aggregates.

It drives the same coordinator as the local engine. Each round is billed and booked before anybody
is told; statements travel with the next round's message, the last ones in a closing query.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Self

from flwr.app import ArrayRecord, ConfigRecord, Message, MetricRecord
from flwr.serverapp import Grid
from flwr.serverapp.strategy import Result, Strategy

from pigou.errors import require
from pigou.federation.audit import AuditRule
from pigou.federation.coordinator import Coordinator, Phase
from pigou.federation.flower import signing
from pigou.federation.flower.grid import MembersOnly
from pigou.federation.flower.inner import require_weighted
from pigou.federation.flower.keeping import Closing, Ledger, Watch
from pigou.federation.flower.members import Members, Registered
from pigou.federation.flower.metrics import comparable
from pigou.federation.flower.pricing import WAIT, Pricing
from pigou.federation.plan import Limits, Plan
from pigou.game import Setting
from pigou.mechanisms.base import Mechanism

Evaluate = Callable[[int, ArrayRecord], MetricRecord | None]


class PricedStrategy(Strategy):
    """Prices, bills and statements around any strategy that averages by weights."""

    def __init__(
        self,
        inner: Strategy,
        *,
        mechanism: Mechanism,
        setting: Setting,
        members: Members,
        run: str,
        consortium: str,
        ledger: Ledger | None = None,
        currency: str = "EUR",
        limits: Limits | None = None,
        audit: AuditRule | None = None,
        key: Path | None = None,
        watch: Watch | None = None,
    ) -> None:
        """``members`` are the setting's clients, in its order. ``key``, the file of the server's
        own signing key, may be left out in simulations only. Without a ledger nothing is kept, and
        a run that was interrupted cannot go on. ``watch`` sees each round before it is booked."""
        plan = Plan(
            consortium=consortium,
            run=run,
            clients=members.names,
            setting=setting,
            mechanism=mechanism,
            currency=currency,
            limits=limits or Limits(),
            audit=audit or AuditRule(),
        )
        self._set_up(plan, inner, members, ledger, key, watch or _nothing)

    @classmethod
    def of(cls, plan: Plan, inner: Strategy, members: Members) -> Self:
        """The strategy of a plan, for a simulation: nothing is signed, nothing kept."""
        self = cls.__new__(cls)
        self._set_up(plan, inner, members, None, None, _nothing)
        return self

    def _set_up(
        self,
        plan: Plan,
        inner: Strategy,
        members: Members,
        ledger: Ledger | None,
        key: Path | None,
        watch: Watch,
    ) -> None:
        self.inner = require_weighted(inner)
        needed = key is not None or not isinstance(members, Registered)
        require(needed, "key", "must be given for registered members", None)
        secret = None if key is None else signing.load_key(key)
        self._pricing = Pricing(plan, members, ledger=ledger, key=secret, watch=watch)

    @property
    def coordinator(self) -> Coordinator:
        """The run's coordinator, once it has begun."""
        return self._pricing.coordinator

    @property
    def model(self) -> ArrayRecord:
        """The model as it stands."""
        return self._pricing.model

    def summary(self) -> None:
        """What the inner strategy says of itself."""
        self.inner.summary()

    def start(
        self,
        grid: Grid,
        initial_arrays: ArrayRecord,
        num_rounds: int | None = None,
        timeout: float = WAIT,
        train_config: ConfigRecord | None = None,
        evaluate_config: ConfigRecord | None = None,
        evaluate_fn: Evaluate | None = None,
    ) -> Result:
        """Run all rounds of the mechanism's contract, or go on after the last one booked."""
        rounds = self._pricing.plan.mechanism.rounds
        same = num_rounds is None or num_rounds == rounds
        require(same, "num_rounds", f"must be the mechanism's {rounds}, or be left out", num_rounds)
        self.summary()
        self.open(grid, initial_arrays, timeout)
        result = self.rounds(grid, timeout, train_config, evaluate_config, evaluate_fn)
        self.close(grid, timeout)
        return result

    def watch(self, watch: Watch) -> None:
        """Show every round from now on."""
        self._pricing.watch = watch

    def open(self, grid: Grid, initial_arrays: ArrayRecord, timeout: float = WAIT) -> None:
        """The query before round 1: announcement out, reports in, terms made."""
        self._pricing.open(grid, initial_arrays, self.inner, timeout)

    def go_on(self, grid: Grid, arrays: ArrayRecord, coordinator: Coordinator) -> None:
        """Go on with a coordinator that has been at work already."""
        self._pricing.go_on(grid, arrays, coordinator, self.inner)

    def close(self, grid: Grid, timeout: float = WAIT) -> None:
        """The closing query, with the last statements."""
        self._pricing.close(grid, timeout)

    def rounds(
        self,
        grid: Grid,
        timeout: float = WAIT,
        train_config: ConfigRecord | None = None,
        evaluate_config: ConfigRecord | None = None,
        evaluate_fn: Evaluate | None = None,
    ) -> Result:
        """All rounds that are left, each as Flower has it: train, and evaluate where asked."""
        train, evaluate = train_config or ConfigRecord(), evaluate_config or ConfigRecord()
        result = Result(arrays=self.model)
        if self._now == 1:
            _evaluated(result, 0, evaluate_fn, self.model)
        while self.coordinator.phase is Phase.ROUND:
            now = self._now
            letters = self.configure_train(now, self.model, train, grid)
            replies = grid.send_and_receive(letters, timeout=timeout)
            new, metrics = self.aggregate_train(now, replies)
            if new is None:
                continue
            result.arrays = new
            if metrics is not None:
                result.train_metrics_clientapp[now] = metrics
            questions = self.configure_evaluate(now, new, evaluate, grid)
            answers = grid.send_and_receive(questions, timeout=timeout)
            found = self.aggregate_evaluate(now, answers)
            if found is not None:
                result.evaluate_metrics_clientapp[now] = found
            _evaluated(result, now, evaluate_fn, new)
        return result

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """The inner strategy's messages, with announcement and statements for each client."""
        members = MembersOnly(grid, self._pricing.taking_part)
        messages = self.inner.configure_train(server_round, arrays, config, members)
        return self._pricing.letters(messages)

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """Close the round and bill it; the inner strategy averages by the committed weights."""
        pricing, said = self._pricing, self.coordinator.announcement()
        closed, taken = pricing.collect(replies, self.inner.weighted_by_key)
        new, metrics = self.inner.aggregate_train(server_round, taken) if taken else (None, None)
        pricing.settle(said, closed, new, self.inner)
        return (None if closed.void else self.model), metrics

    def configure_evaluate(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """As the inner strategy, among members."""
        members = MembersOnly(grid, self._pricing.taking_part)
        return self.inner.configure_evaluate(server_round, arrays, config, members)

    def aggregate_evaluate(
        self, server_round: int, replies: Iterable[Message]
    ) -> MetricRecord | None:
        """As the inner strategy, of the replies that can be averaged."""
        usable = comparable(replies, self.inner.weighted_by_key)
        return self.inner.aggregate_evaluate(server_round, usable)

    @property
    def _now(self) -> int:
        return self.coordinator.announcement().round


def _evaluated(result: Result, now: int, evaluate: Evaluate | None, model: ArrayRecord) -> None:
    found = None if evaluate is None else evaluate(now, model)
    if found is not None:
        result.evaluate_metrics_serverapp[now] = found


def _nothing(_: Closing) -> None:
    """Nobody watches."""
