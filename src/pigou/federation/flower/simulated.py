"""Simulated clients: the same conducts, data and counter-based noise as in the local engine."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from flwr.app import Array, ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp

from pigou.errors import require
from pigou.federation.client import Cohort
from pigou.federation.flower.client import client_of
from pigou.federation.flower.mod import mod_of
from pigou.federation.flower.profile import Profile
from pigou.federation.flower.records import Model, field, note_in, only_arrays, views
from pigou.federation.local import release_key
from pigou.federation.randomness import simulated_noise
from pigou.federation.replica import Replica
from pigou.privacy.release import Normals

Trainer = Callable[[int, Model], Model]  # of the client at this place


@dataclass(frozen=True, eq=False)
class World:
    """The clients of one simulated run, as they are when it begins or goes on."""

    clients: tuple[str, ...]
    cohorts: tuple[Cohort, ...]
    seed: int
    clip: float

    @classmethod
    def of(cls, replica: Replica, cohorts: tuple[Cohort, ...], clip: float) -> "World":
        """The clients of a replica, as they are now."""
        return cls(replica.plan.clients, cohorts, replica.seed, clip)

    def profile(self, place: int, run: str) -> Profile:
        """One client: it decides with its whole group, whose members know each other."""
        cohort = next(each for each in self.cohorts if place in each.members)
        row = int(np.flatnonzero(cohort.members == place)[0])
        names = (self.clients[member] for member in cohort.members.tolist())
        return Profile(
            name=self.clients[place],
            clip=self.clip,
            conduct=cohort.conduct,
            group=tuple(zip(names, cohort.alpha.tolist(), strict=True)),
            cap=float(cohort.cap[row]),
            spent=float(cohort.precision[row]),
            seed=cohort.seed,
            noise=self.noise,
            shelf=run,
        )

    def noise(self, place: int, round_: int, attempt: int) -> Normals:
        """The noise that the local engine draws for this client."""
        return simulated_noise(self.seed, place, release_key(round_, attempt))


def simulated_app(worlds: Mapping[str, World], train: Trainer) -> ClientApp:
    """The app of all simulated clients: a node is the client of its partition, in every run."""

    def who(message: Message, context: Context) -> Profile:
        run = field(note_in(message.content), "run", str)
        require(run in worlds, "run", f"must be one of {', '.join(worlds)}", run)
        return worlds[run].profile(_place(context), run)

    def trained(message: Message, context: Context) -> Message:
        name, given = only_arrays(message.content)
        parts = train(_place(context), views(given, given))
        arrays = ArrayRecord({n: Array(part) for n, part in zip(given, parts, strict=True)})
        metrics = MetricRecord({"num-examples": 1})
        return Message(RecordDict({name: arrays, "metrics": metrics}), reply_to=message)

    app = ClientApp()
    app.train(mods=[mod_of(who)])(trained)
    return client_of(app, who)


def _place(context: Context) -> int:
    return int(context.node_config["partition-id"])
