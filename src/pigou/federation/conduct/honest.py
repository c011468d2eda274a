"""Conducts that follow rules or interest: obedient, and selfish."""

from dataclasses import dataclass

from pigou.federation.conduct.base import Play, Truthful, View, best_response, targets


@dataclass(frozen=True, eq=False)
class Obedient(Truthful):
    """Plays the announced target; where there is none, the best response."""

    name = "obedient"

    def play(self, view: View) -> Play:
        """The target."""
        return Play.honest(view, targets(view, self.belief))


@dataclass(frozen=True, eq=False)
class Selfish(Truthful):
    """Best-responds to the announced prices and the announced error, whatever the target."""

    name = "selfish"

    def play(self, view: View) -> Play:
        """The best response."""
        return Play.honest(view, best_response(view, self.belief))
