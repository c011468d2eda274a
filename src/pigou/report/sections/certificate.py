"""What an independent check says of the announced terms."""

from pigou.report.markup import Html, element, facts, paragraph
from pigou.report.reading import called, find
from pigou.report.section import Section
from pigou.report.words import money, number, over_least, percent
from pigou.runs import RunRecord
from pigou.runs.record import CertificateRecord


def certificate(record: RunRecord) -> Section:
    """The certificate's verdict and text."""
    title, priced = "Certificate", find(record, "priced")
    if priced is None:
        told = "Certificates are made for terms with prices; this run had no round with any."
        return Section.of("certificate", title, paragraph(told))
    if priced.certificate is None:
        return Section.of("certificate", title, paragraph("No certificate was made for this run."))
    intro = (
        "Code that shares nothing with the solver took the terms of round 1 and searched for any "
        "client that would gain by reporting something else, or by adding other noise, while the "
        "others play by the rules."
    )
    return Section.of("certificate", title, paragraph(intro), *_verdict(record, priced.certificate))


def _verdict(record: RunRecord, found: CertificateRecord) -> tuple[Html, ...]:
    verdict = "It found none: the certificate holds." if found.ok else "The certificate FAILS."
    gain = f"{100.0 * found.max_gain:.2g} % of its own cost, by {called(found.worst_client)}"
    reserve = money(found.budget_residual * record.money, record.currency)
    return (
        element("p", verdict, class_="good" if found.ok else "notice"),
        facts(
            [
                ("Largest gain found", gain if found.max_gain > 0 else "none"),
                ("Social cost", over_least(found.ratio_to_optimum)),
                (
                    "With any weights",
                    f"{number(found.ratio_to_best_weights)} times the best found, were uploads "
                    "weighted differently",
                ),
                ("The reserve expects", reserve),
                ("Better off than without prices", f"{percent(found.better_off)} of the clients"),
            ]
        ),
        element("pre", found.text),
        paragraph("In that text clients are counted from 0, in the order of the scenario."),
        paragraph(
            "It supposes independent noise and honest training. Copied models, shared noise and "
            "one client posing as several are outside of what it checks."
        ),
    )
