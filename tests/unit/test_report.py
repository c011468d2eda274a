"""The report's page: what it says is in the record, whatever the record holds."""

import html
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.reported_runs import KINDS, NASTY, record_of

from pigou import PigouError
from pigou.federation.attacks import Attack
from pigou.federation.conduct import CONDUCTS
from pigou.report import page, write
from pigou.report.glossary import ADJACENCY, ATTACKS
from pigou.report.glossary import CONDUCTS as EXPLAINED
from pigou.report.glossary import MECHANISMS as MECHANISMS_EXPLAINED
from pigou.report.words import (
    MINUS,
    amount,
    counted,
    listed,
    money,
    net,
    number,
    over_least,
    places,
    span,
)
from pigou.runs import RunRecord, read
from pigou.runs import write as write_folder
from pigou.runs.record import AttacksRecord
from pigou.scenario import MECHANISMS

SECTIONS = [
    *("outcome", "setup", "training", "cost", "noise", "bills", "budget", "privacy", "audit"),
    *("faults", "conducts", "attacks", "certificate", "calibration", "limits", "scenario"),
]
SECTION = re.compile(r'<section id="([a-z]+)">(.*?)</section>', re.DOTALL)
DATA = re.compile(r"<script[^>]*>.*?</script>", re.DOTALL)


def sections(record: RunRecord) -> dict[str, str]:
    """What a reader sees of each section, without its charts' data."""
    return {name: text_of(body) for name, body in SECTION.findall(page(record))}


def text_of(body: str) -> str:
    words = re.sub(r"<[^>]+>", " ", DATA.sub("", body))
    return html.unescape(re.sub(r"\s+", " ", words))


@pytest.mark.parametrize("kind", [k for k in KINDS if k not in ("hospitals", "groups")])
def test_every_kind_of_run_has_every_section_with_something_in_it(kind: str) -> None:
    found = sections(record_of(kind))
    assert list(found) == SECTIONS
    for name, words in found.items():
        assert len(words.split()) > 5, name
        assert not re.search(r"\b(nan|None|inf)\b", words), name


def test_the_outcome_is_the_records() -> None:
    record = record_of("hospitals")
    told = sections(record)["outcome"]
    for each in record.treatments:
        assert f"{100 * each.accuracy[-1]:.1f} %" in told
        assert number(float(each.loss[-1])) in told
    unpriced, priced = record.treatment("unpriced"), record.treatment("priced")
    assert f"{number(float(unpriced.ratio[-1]))} times the least possible without prices" in told
    charged = float(np.nansum(priced.charge))
    assert f"charged {money(charged, 'EUR')} and refunded {money(charged, 'EUR')}" in told
    assert "nothing is left over" in told


def test_the_least_is_called_the_least() -> None:
    assert over_least(1.0 + 1e-9) == "the least possible"
    assert over_least(1.305) == "1.305 times the least possible"
    assert over_least(0.988) == "0.988 times the least that honest clients can reach"
    assert "the least possible with prices" in sections(record_of("hospitals"))["outcome"]


def test_every_bill_stands_in_its_table() -> None:
    record = record_of("hospitals")
    priced = record.treatment("priced")
    told = sections(record)["bills"]
    charged, refunded = (np.nansum(each, axis=0) for each in (priced.charge, priced.refund))
    decimals = places([*charged, *refunded, *priced.total])
    for i, client in enumerate(record.clients):
        row = f"{client} {amount(charged[i], decimals)} {amount(refunded[i], decimals)}"
        assert f"{row} {net(priced.total[i], decimals, 'EUR')}" in told
    assert "sum to exactly zero" in sections(record)["budget"]


def test_privacy_and_the_certificate_stand_as_recorded() -> None:
    record = record_of("hospitals")
    told, priced = sections(record), record.treatment("priced")
    for i, client in enumerate(record.clients):
        exact = [number(record.treatment(name).epsilon[i]) for name in ("unpriced", "priced")]
        assert " ".join([client, *exact, number(priced.paper_epsilon[i])]) in told["privacy"]
    assert priced.certificate is not None
    assert "the certificate holds" in told["certificate"]
    assert " ".join(priced.certificate.text.split()) in told["certificate"]


def test_what_went_wrong_is_told_first() -> None:
    told = sections(record_of("refused"))
    assert "Look at this first" in told["outcome"]
    assert "4 messages refused" in told["outcome"]
    assert "with NaN or infinite numbers" in told["faults"]
    assert "Look at this first" not in sections(record_of("hospitals"))["outcome"]
    told = sections(record_of("stopped"))
    assert "The run with prices ended early: round 1 was void 2 times" in told["outcome"]
    told = sections(record_of("capped"))
    assert re.search(r"clients? stays? away: (its|their) privacy budget is used up", told["faults"])


def test_flags_of_the_audit_are_named() -> None:
    record = record_of("attacked")
    assert record.treatment("priced").conducts[0] == "copycat"
    told = sections(record)["audit"]
    assert "Flagged at least once: client 0 (1 of 6 clients), first in round 1." in told


def test_attacks_stand_as_measured() -> None:
    record = record_of("attacked")
    assert record.attacks is not None
    told = sections(record)["attacks"]
    assert "Means of 2 runs" in told
    decimals = places(record.money * each.gain for each in record.attacks.found)
    for each in record.attacks.found:
        gain = amount(record.money * each.gain, decimals).replace("-", MINUS)
        assert f"{gain} ± {amount(record.money * each.gain_error, decimals)}" in told
        assert net(round(record.money * each.bill, decimals), decimals, record.currency) in told
    assert "pigou run … --attacks" in sections(record_of("hospitals"))["attacks"]


def attack(name: str, gain: float, caught: float, *, rule: bool) -> Attack:
    return Attack(
        name=name,
        clients=1,
        refund_rule=rule,
        bill=-gain,
        honest_bill=0.0,
        gain=gain,
        gain_error=0.1,
        harm=0.0,
        harm_error=0.1,
        caught=caught,
        others_flagged=0.0,
        accuracy=0.9,
        honest_accuracy=0.9,
    )


def test_who_gains_and_who_is_caught_is_said_as_it_is() -> None:
    """Of three runs a mean is known to 4.303 standard errors (95 %); caught: in most rounds."""
    found = (
        attack("copycat", 0.5, 1.0, rule=False),
        attack("copycat with noise", 0.43, 0.0, rule=False),
        attack("copycat", -0.5, 1.0, rule=True),
        attack("copycat with noise", 0.431, 0.0, rule=True),
    )
    record = replace(record_of("unpriced"), attacks=AttacksRecord(seeds=3, found=found))
    told = sections(record)["attacks"]
    assert "With refunds for everybody, these pay: a copy of the model." in told
    assert "costs the refund, these pay: a copy with noise. These cost more" in told
    assert "than they bring: a copy of the model." in told
    assert "Not found by the audit in most rounds: a copy with noise." in told


def test_everything_that_has_a_name_is_explained() -> None:
    found = record_of("attacked").attacks
    assert found is not None
    assert {each.name for each in found.found} <= set(ATTACKS)
    assert set(EXPLAINED) == set(CONDUCTS)
    assert set(MECHANISMS_EXPLAINED) == set(MECHANISMS)
    assert set(ADJACENCY) == {"zero-out", "replace"}


def test_names_cannot_become_markup() -> None:
    text = page(record_of("nasty"))
    assert NASTY not in text
    assert "<i>€" not in text
    assert html.escape(NASTY) in text
    plain = replace(record_of("nasty"), clients=("a", "b", "c", "d"), scenario={}, currency="€")
    assert text.count("</script>") == page(plain).count("</script>")


def test_the_page_asks_for_nothing_from_elsewhere() -> None:
    text = page(record_of("hospitals"))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert html.unescape(policy[1]).startswith("default-src 'none'")
    assert "connect-src" not in policy[1]
    own = DATA.sub("", text)
    assert not re.findall(r'(?:src|href)="(?!#)', own)
    assert "url(" not in own


def test_the_same_page_from_the_folder(tmp_path: Path) -> None:
    """What is written down is enough for the report, to the byte."""
    record = record_of("attacked")
    write_folder(record, tmp_path)
    write(record, tmp_path / "one.html")
    write(read(tmp_path), tmp_path / "two.html")
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(PigouError, match="cannot be written"):
        write(record_of("hospitals"), tmp_path / "absent" / "report.html")


def test_numbers_as_people_read_them() -> None:
    assert [number(x) for x in (0.0, 1.0, 0.12345, 1234.5, 12345678.0, -0.5)] == (
        ["0", "1", "0.1235", "1,234", "1.235e+07", "-0.5"]
    )
    assert [number(x) for x in (np.nan, np.inf)] == ["unknown", "infinite"]
    assert money(0.000004, "EUR") == "0.000004 EUR"
    assert money(-1e-16, "EUR") == "0 EUR"
    assert net(-2.5, 2, "EUR") == "is owed 2.50 EUR"
    assert net(0.0, 2, "EUR") == "neither owes nor is owed"
    assert counted(1, "client") == "1 client"
    assert counted(1200, "client") == "1,200 clients"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed(list("abcdefgh")) == "a, b, c, d, e and 3 more"
    assert span(np.array([np.inf, np.inf])) == "infinite"
    assert span(np.array([1.0, 2.0, np.nan, 4.0])) == "2 (median; 1 to 4)"
