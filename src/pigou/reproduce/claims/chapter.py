"""The part that judges the statements which no figure shows."""

from typing import Final

from pigou.paper.errata.cases import half_and_half
from pigou.reproduce import formulas
from pigou.reproduce.claims import known_types, model, private_types
from pigou.reproduce.fig2 import Model
from pigou.reproduce.part import Chapter, Part, Progress, Request

NAME: Final = "statements"
ETAS: Final = (0.3, 0.45, 0.55, 0.7)
FEW: Final = 10  # clients, among whom the slips of the formulas show


def make(request: Request) -> Chapter:
    """Claims only: the page has one table for those of all parts."""
    game = half_and_half(formulas.N)
    found = [*model.claims(game), *known_types.claims(game)]
    request.watch(Progress(NAME, 1, 2, "known types"))
    models = [Model().at(eta) for eta in ETAS]
    found += private_types.claims(models, Model(n=FEW).at(ETAS[0]))
    request.watch(Progress(NAME, 2, 2, "private types"))
    return Chapter(NAME, "", (), claims=tuple(found))


CLAIMS: Final = Part(NAME, make)
