"""Who owes whom, and whether the budget balances."""

from collections.abc import Iterator

import numpy as np

from pigou.checks import FloatArray
from pigou.report.charts import money as charts
from pigou.report.markup import Html, chart, paragraph
from pigou.report.reading import billed, client_name, find
from pigou.report.section import Section
from pigou.report.sections.people import people
from pigou.report.words import amount, counted, listed, money, net, places
from pigou.runs import RunRecord, TreatmentRecord
from pigou.runs.record import exact_sum

NO_PRICES = "This run had no prices, so nobody was billed."
NO_BILLS = "There were prices, but nobody was billed in any round."


def bills(record: RunRecord) -> Section:
    """Charges, refunds and net, per client."""
    priced, title = find(record, "priced"), "Bills and refunds"
    if priced is None or not billed(priced):
        return Section.of("bills", title, paragraph(NO_PRICES if priced is None else NO_BILLS))
    intro = (
        "Each round, a client is charged for how far its upload lies from the mean of the others', "
        "which grows with its noise, one for one on average. The charges go back to the clients as "
        "refunds, so that whoever adds less noise than usual earns money."
    )
    return Section.of(
        "bills",
        title,
        paragraph(intro),
        paragraph(_extremes(record, priced)),
        chart(
            "bills",
            charts.bills(record, priced),
            f"Charges, refunds and what remains, for the whole run, in {record.currency}.",
        ),
        _table(record, priced),
    )


def budget(record: RunRecord) -> Section:
    """What the reserve holds."""
    priced, title = find(record, "priced"), "Budget"
    if priced is None or not billed(priced):
        return Section.of("budget", title, paragraph(NO_PRICES if priced is None else NO_BILLS))
    return Section.of(
        "budget",
        title,
        paragraph(_balance(record, priced)),
        chart(
            "budget",
            charts.budget(record, priced),
            f"Money moved in each round, and what the reserve then holds, in {record.currency}.",
        ),
    )


def _extremes(record: RunRecord, priced: TreatmentRecord) -> str:
    total = priced.total
    decimals = places(total)
    most, least = int(total.argmax()), int(total.argmin())
    told = [
        f"{client_name(record, i)} {net(total[i], decimals, record.currency)}"
        for i in (most, least)
    ]
    owing, owed = int((total > 0).sum()), int((total < 0).sum())
    return (
        f"After the run, {counted(owing, 'client')} {_verb(owing, 'owe')} money and {owed:,} "
        f"{_verb(owed, 'be')} owed some. At the two ends, {told[0]} and {told[1]}."
    )


def _verb(many: int, verb: str) -> str:
    one, more = {"owe": ("owes", "owe"), "be": ("is", "are")}[verb]
    return one if many == 1 else more


def _table(record: RunRecord, priced: TreatmentRecord) -> Html:
    charged, refunded = _whole(priced.charge), _whole(priced.refund)
    columns = [charged, refunded]
    headers = ["client", "charged", "refunded"]
    if priced.transfers.any():
        columns.append(priced.transfers)
        headers.append("transfer")
    decimals = places(np.concatenate([*columns, priced.total]))
    headers = [headers[0], *(f"{header}, {record.currency}" for header in headers[1:]), "net"]

    def row(i: int) -> list[object]:
        cells = [amount(float(column[i]), decimals) for column in columns]
        return [*cells, net(float(priced.total[i]), decimals, record.currency)]

    return people(record, headers, row, priced.total, words=(len(headers) - 1,))


def _whole(amounts: FloatArray) -> FloatArray:
    return exact_sum(np.nan_to_num(amounts), 0)


def _balance(record: RunRecord, priced: TreatmentRecord) -> str:
    return " ".join(_balance_sentences(record, priced))


def _balance_sentences(record: RunRecord, priced: TreatmentRecord) -> Iterator[str]:
    rounds = exact_sum(np.nan_to_num(priced.net), 1)
    uneven = np.flatnonzero(rounds) + 1
    if uneven.size == 0:
        yield "The bills of every round sum to exactly zero, to the millionth."
    else:
        worst = money(float(np.abs(rounds).max()), record.currency)
        which = counted(uneven.size, "round")
        yield f"The bills of {which} do not sum to zero (by {worst} at most)."
    if priced.transfers.any():
        sum_ = money(float(exact_sum(priced.transfers, 0)), record.currency)
        yield f"Reports were charged {sum_} in all, once, before the first round."
    yield f"At the end the reserve holds {money(float(priced.reserve[-1]), record.currency)}."
    empty = np.flatnonzero(np.isnan(priced.charge).all(axis=1)) + 1
    if empty.size:
        which = listed([str(t) for t in empty])
        yield f"Nobody was billed in {'round' if empty.size == 1 else 'rounds'} {which}."
