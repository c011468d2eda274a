"""What was run."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from pigou.report import look
from pigou.report.glossary import CONDUCTS, MECHANISMS, explained
from pigou.report.markup import Html, bullets, element, facts, link
from pigou.report.section import Section
from pigou.report.words import counted, money, number, span
from pigou.runs import RunRecord, TreatmentRecord


def setup(record: RunRecord) -> Section:
    """Who trained what, under which rules."""
    return Section.of("setup", "What was run", facts(_facts(record)))


def _facts(record: RunRecord) -> Iterator[tuple[str, object]]:
    yield "Run", element("code", record.run)
    yield "Clients", counted(len(record.clients), "client")
    yield "Data", " · ".join(filter(None, (_training(record.scenario), record.split)))
    yield "Model", f"{record.dim:,} numbers; updates clipped to norm C = {number(record.clip)}"
    yield "Rounds", f"{record.rounds:,} planned{_early(record)}"
    yield "Side by side", bullets(_treatment(each) for each in record.treatments) or "nothing"
    yield "Behaviour", bullets(_behaviour(record)) or "nobody took part"
    yield "Loss of accuracy", _loss(record)
    if record.heterogeneity is not None:
        spread, divergence = record.heterogeneity.spread, record.heterogeneity.divergence
        told = f"measured, per number: spread v = {span(spread)}; divergence u = {span(divergence)}"
        yield "How honest updates differ", told
    yield "Money", f"one unit of cost is {money(record.money, record.currency)}"


def _training(scenario: Mapping[str, Any]) -> str:
    table = scenario.get("training")
    if not isinstance(table, Mapping):
        return ""
    learners = {"svm": "squared support vector machine", "logistic": "logistic regression"}
    learner = str(table.get("learner", ""))
    return ", ".join(filter(None, (str(table.get("data", "")), learners.get(learner, learner))))


def _early(record: RunRecord) -> str:
    done = {each.name: each.rounds for each in record.treatments if each.rounds != record.rounds}
    told = [f"{rounds:,} closed {look.LABELS[name]}" for name, rounds in done.items()]
    return "".join(f"; {part}" for part in told)


def _treatment(treatment: TreatmentRecord) -> str:
    words = look.LABELS[treatment.name]
    if treatment.name != "priced":
        return words
    return f"{words}, mechanism: {explained(MECHANISMS, treatment.mechanism)}"


def _behaviour(record: RunRecord) -> Iterator[str]:
    """Of the last treatment: the one with prices, where there is one."""
    if record.treatments:
        for name, many in Counter(record.treatments[-1].conducts).most_common():
            yield f"{many:,} {explained(CONDUCTS, name)}"


def _loss(record: RunRecord) -> Html | str:
    told = f"{number(record.linear)}·Δ + {number(record.quadratic)}·Δ²"
    if record.calibration is None:
        return f"{told}, as the scenario states it; Δ is the error of the shared model"
    return element(
        "span", f"{told}, fitted to this task (", link("calibration", "calibration"), ")"
    )
