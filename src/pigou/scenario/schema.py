"""A scenario: its tables, and the game that they describe."""

from collections import Counter
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field, model_validator

from pigou.checks import FloatArray
from pigou.errors import InvalidArgument, NotApplicable, require
from pigou.federation.conduct import Conduct
from pigou.game import AccuracyLoss, Game, Setting
from pigou.mechanisms import Mechanism
from pigou.scenario.behaviour import ConductTable, Groups, conduct_named
from pigou.scenario.populations import PopulationTable
from pigou.scenario.registry import MECHANISMS, Details, kind_named
from pigou.scenario.table import MEASURED, Table, Text
from pigou.scenario.tables import (
    ClientTable,
    FederationTable,
    LossTable,
    MechanismTable,
    PrivacyTable,
)
from pigou.scenario.training import AuditTable, LimitsTable, TrainingTable

TYPES_STREAM = 0  # draws of types come from the generator seeded with (seed, TYPES_STREAM)
ANY_LOSS = AccuracyLoss(1.0, 0.0)  # for checks that do not depend on the loss


class Scenario(Table):
    """A run as its file describes it."""

    name: Text
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    loss: LossTable
    privacy: PrivacyTable
    federation: FederationTable = FederationTable()
    mechanism: MechanismTable = MechanismTable()
    training: TrainingTable | None = None
    audit: AuditTable = AuditTable()
    limits: LimitsTable = LimitsTable()
    client: Annotated[tuple[ClientTable, ...], Field(strict=False)] = ()
    population: PopulationTable | None = None
    group: Groups = ()

    @property
    def clients(self) -> tuple[str, ...]:
        """The clients' names; their numbers, from 0, where they are drawn."""
        if self.population is None:
            return tuple(client.name for client in self.client)
        return tuple(map(str, range(self.population.n)))

    @property
    def n(self) -> int:
        """How many clients there are."""
        return len(self.client) if self.population is None else self.population.n

    def setting(
        self,
        loss: AccuracyLoss | None = None,
        spread: ArrayLike | None = None,
        divergence: ArrayLike | None = None,
    ) -> Setting:
        """What the server knows. The arguments are what was measured, where the file asks for it:
        without them a scenario that needs a measurement has no setting yet."""
        federation, scale = self.federation, self.privacy.cost_scale
        known = loss or self.loss.build()
        v = _known("spread", federation.spread, spread)
        u = _known("divergence", federation.divergence, divergence)
        if federation.weights == "data_size":
            sizes = [client.samples or 0 for client in self.client]
            return Setting.data_size(sizes, known, scale, v, u)
        return Setting(self.n, known, scale, federation.weights, v, u)

    @property
    def weights(self) -> FloatArray:
        """The aggregation weights, which no measurement changes."""
        return self.setting(ANY_LOSS, 0.0, 0.0).weights

    def game(self) -> Game:
        """The setting and the clients' types; drawn ones are the same for the same seed."""
        return Game(self.setting(), self.types())

    def types(self) -> FloatArray:
        """The clients' types, which are private: for simulations and the clients' own side."""
        if self.population is None:
            return np.array([client.alpha for client in self.client])
        rng = np.random.default_rng([self.seed, TYPES_STREAM])
        return self.population.build().sample(self.population.n, rng)

    def conducts(self) -> list[tuple[Conduct, list[int]]]:
        """Who behaves how: each conduct and its clients' places; like ones are of one group."""
        behaviours: list[ConductTable] = list(self.client)
        if self.population is not None:
            behaviours = [group for group in self.group for _ in range(group.count)]
            behaviours += [ConductTable()] * (self.n - len(behaviours))
        places: dict[tuple[str, tuple[tuple[str, float], ...]], list[int]] = {}
        for place, each in enumerate(behaviours):
            places.setdefault((each.conduct, tuple(sorted(each.options.items()))), []).append(place)
        return [(conduct_named(name, dict(given)), who) for (name, given), who in places.items()]

    @property
    def details(self) -> Details:
        """What mechanisms take besides the setting, for this run; any of them may be built."""
        table = self.mechanism
        types = table.population or self.population
        return Details(
            rounds=self.federation.rounds,
            money=table.money,
            refund=table.refund,
            mean_alpha=table.mean_alpha,
            report_spread=table.report_spread,
            population=None if types is None else types.build(),
            points=table.points,
            verbatim=table.verbatim,
            rewards=table.rewards,
        )

    def build_mechanism(self, name: str | None = None) -> Mechanism:
        """The mechanism, or the one named, for this run's rounds, money and refunds."""
        return kind_named(name or self.mechanism.name).build(self.setting, self.details)

    @model_validator(mode="before")
    @classmethod
    def _measure_where_trained(cls, given: Any) -> Any:
        """A training measures what its file leaves out."""
        if not isinstance(given, dict) or "training" not in given:
            return given
        federation = given.get("federation", {})
        if isinstance(federation, dict):
            federation = {"spread": MEASURED, "divergence": MEASURED, **federation}
        return {"loss": {"calibrate": True}, **given, "federation": federation}

    @model_validator(mode="after")
    def _describes_a_game(self) -> Self:
        if bool(self.client) == (self.population is not None):
            given = "both" if self.client else "neither"
            raise InvalidArgument("client, population", "must not both be given or absent", given)
        _require_distinct([client.name for client in self.client])
        self._require_samples()
        self._require_groups()
        self._require_training()
        try:
            assert self.weights.size == self.n
        except InvalidArgument as error:
            where = f"federation.{error.argument}"
            raise InvalidArgument(where, error.constraint, error.received) from error
        self._require_mechanism()
        return self

    def _require_mechanism(self) -> None:
        kind, refund = MECHANISMS[self.mechanism.name], self.mechanism.refund
        constant = f'must be "constant" where name = "{self.mechanism.name}"'
        require(not kind.own_refund or refund != "zero-sum", "mechanism.refund", constant, refund)
        try:
            kind.build(lambda: self.setting(ANY_LOSS, 0.0, 0.0), self.details)
        except InvalidArgument as error:
            where = f"mechanism.{error.argument}"
            raise InvalidArgument(where, error.constraint, error.received) from error

    def _require_samples(self) -> None:
        sized = self.training is not None and self.training.split == "size"
        if self.training is not None and not sized:
            given = [client.name for client in self.client if client.samples is not None]
            only = 'must be given only where training.split = "size": others hold training.train'
            require(not given, "client.samples", only, given)
        where = 'training.split = "size"' if sized else 'weights = "data_size"'
        if not sized and self.federation.weights != "data_size":
            return
        without = [client.name for client in self.client if client.samples is None]
        constraint = f"must be given for every client where {where}"
        known = bool(self.client) and not without
        require(known, "client.samples", constraint, f"none for {without or 'a population'}")
        held = [client.samples or 0 for client in self.client]
        require(sum(held) > 0, "client.samples", "must not all be 0", sum(held))
        above = min(held) > 0 or not sized
        require(above, "client.samples", f"must be above 0 where {where}", min(held))

    def _require_groups(self) -> None:
        count = sum(group.count for group in self.group)
        if self.group and self.population is None:
            raise InvalidArgument("group", "must be given only with a population", count)
        most = f"must not hold more clients than the population's {self.n}"
        require(count <= self.n, "group", most, count)

    def _require_training(self) -> None:
        least = self.limits.min_clients
        most = f"must be at most the number of clients, {self.n}"
        require(least <= self.n, "limits.min_clients", most, least)
        if self.training is not None:
            needed = "must be given where there is a training"
            require(self.privacy.clip is not None, "privacy.clip", needed, None)
            return
        for name in ("spread", "divergence"):
            value = getattr(self.federation, name)
            without = "must be numbers where no [training] can measure it"
            require(value != MEASURED, f"federation.{name}", without, value)
        without = "needs a [training] to calibrate on"
        require(self.loss.calibrate is None, "loss.calibrate", without, self.loss.calibrate)


def _known(name: str, stated: object, measured: ArrayLike | None) -> ArrayLike:
    """What the file states, or else what was measured."""
    if stated != MEASURED:
        return stated  # type: ignore[return-value]  # a number or a tuple of them
    if measured is None:
        raise NotApplicable(f"federation.{name}", "must be measured first: pigou calibrate", stated)
    return measured


def _require_distinct(names: list[str]) -> None:
    repeated = [name for name, times in Counter(names).items() if times > 1]
    require(not repeated, "client", "must have distinct names", repeated)
