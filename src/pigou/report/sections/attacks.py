"""What cheating would bring on this run's task: pays or is paid, gains, caught or not."""

from collections.abc import Iterator

from pigou.federation.attacks import Attack
from pigou.report.charts.attacks import COVERED, beyond, gains, reach
from pigou.report.glossary import ATTACKS, attack_name
from pigou.report.markup import Html, bullets, chart, element, paragraph, table
from pigou.report.section import Section
from pigou.report.words import MINUS, amount, counted, listed, net, percent, places
from pigou.runs import RunRecord
from pigou.runs.record import AttacksRecord

TITLE = "What cheating would bring"
ABSENT = "stays away"


def attacks(record: RunRecord) -> Section:
    """Each attack, with refunds for all and without refunds for who fails the audit."""
    found = record.attacks
    if found is None:
        return Section.of("attacks", TITLE, _why_not(record))
    intro = (
        "On this run's task and prices, the first clients were made to cheat, while everybody "
        "else was honest and added the announced noise; each time, the same run with these "
        f"clients honest too was its twin. Means of {counted(found.seeds, 'run')} with different "
        "noise, for the whole run. A gain counts everything: bills, privacy, and the accuracy of "
        "the model that was really reached. Privacy is saved by whoever sends nothing of its own."
    )
    return Section.of(
        "attacks",
        TITLE,
        paragraph(intro),
        bullets(_found(found)),
        chart(
            "attacks",
            gains(found, record),
            f"What the cheats gain together, in {record.currency}, against being honest. Bars: "
            f"{100 * COVERED:g} % intervals. Right of 0, cheating pays.{_hidden(found)}",
        ),
        _table(record, found),
        paragraph(
            "Gain and cost: mean ± standard error. Cost to the others: all of them together."
        ),
    )


def _why_not(record: RunRecord) -> Html:
    ask = element("code", "pigou run … --attacks")
    return paragraph(
        "Not measured for this run. ", ask, " measures it: what copies of the model, shared noise "
        "and several accounts of one client pay and gain here, and whether the audit finds them. "
        "It takes five clients or more, and prices that come without a menu.",
    )  # fmt: skip


def _hidden(found: AttacksRecord) -> str:
    names = dict.fromkeys(attack_name(each.name) for each in found.found if beyond(found, each))
    return f" Far off the chart, and in the table: {listed(list(names))}." if names else ""


def _found(found: AttacksRecord) -> Iterator[str]:
    sure = reach(found)
    for rule in sorted({each.refund_rule for each in found.found}):
        here = [each for each in found.found if each.refund_rule == rule]
        paying = [attack_name(each.name) for each in here if each.gain > sure * each.gain_error]
        losing = [attack_name(each.name) for each in here if each.gain < -sure * each.gain_error]
        first = "Where failing the audit costs the refund" if rule else "With refunds for everybody"
        told = f"these pay: {listed(paying, 9)}." if paying else "none of this clearly pays."
        if losing:
            told += f" These cost more than they bring: {listed(losing, 9)}."
        yield f"{first}, {told}"
    missed = dict.fromkeys(attack_name(each.name) for each in found.found if _could_be_caught(each))
    if missed:
        yield f"Not found by the audit in most rounds: {listed(list(missed), 9)}."


def _could_be_caught(attack: Attack) -> bool:
    """Whether the audit misses it in most rounds; who stays away uploads nothing to judge."""
    return attack.name != ABSENT and attack.caught < 0.5


def _table(record: RunRecord, found: AttacksRecord) -> Html:
    headers = [
        "attack",
        "who fails the audit",
        "net bill, together",
        "if honest",
        f"gain, {record.currency}",
        f"cost to the others, {record.currency}",
        "caught",
    ]
    decimals = places(record.money * each.gain for each in found.found)
    names = list(dict.fromkeys(each.name for each in found.found))
    first = [next(each for each in found.found if each.name == name) for name in names]

    def bill(value: float) -> str:
        return net(round(record.money * value, decimals), decimals, record.currency)

    def sure(value: float, error: float) -> str:
        shown = amount(round(record.money * value, decimals), decimals).replace("-", MINUS)
        return f"{shown} ± {amount(record.money * error, decimals)}"

    def row(each: Attack) -> list[object]:
        caught = "—" if each.name == ABSENT else f"{percent(each.caught)} of rounds"
        if each.others_flagged:
            caught += f"; honest ones: {percent(each.others_flagged)}"
        return [
            _what(each) if each in first else attack_name(each.name),
            "gets no refund" if each.refund_rule else "keeps its refund",
            bill(each.bill),
            bill(each.honest_bill),
            sure(each.gain, each.gain_error),
            sure(each.harm, each.harm_error),
            caught,
        ]

    ordered = sorted(found.found, key=lambda each: names.index(each.name))
    return table(headers, map(row, ordered), (0, 1, 2, 3, 6))


def _what(attack: Attack) -> str:
    what = ATTACKS.get(attack.name, ("", "not described here"))[1]
    return f"{attack_name(attack.name)} ({counted(attack.clients, 'account')}): {what}"
