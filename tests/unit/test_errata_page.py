"""docs/errata.md is what the package computes, and its evidence holds the numbers of the theory."""

# ruff: noqa: RUF001
# The page's Greek letters and signs are meant.

import re
import runpy
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import pytest

from pigou import InvalidArgument
from pigou.paper.errata import ERRATA, Erratum, evidence
from pigou.paper.errata.page import markdown
from pigou.paper.errata.record import Cell, Table, percent, shown

PAGE = Path(__file__).parents[2] / "docs" / "errata.md"


@pytest.fixture(scope="module")
def computed() -> dict[str, Erratum]:
    return {number: evidence(number) for number in ERRATA}


def order(number: str) -> tuple[int, str]:
    found = re.fullmatch(r"E(\d+)([a-z]?)", number)
    assert found is not None
    return int(found[1]), found[2]


def value(cell: Cell) -> float:
    assert isinstance(cell, int | float)
    return float(cell)


def test_the_page_is_what_the_package_computes(computed: dict[str, Erratum]) -> None:
    """Byte for byte; if it differs: python -m pigou.paper.errata > docs/errata.md."""
    assert PAGE.read_bytes() == markdown(computed.values()).encode("utf-8")


def test_the_command_prints_the_page(
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
    computed: dict[str, Erratum],
) -> None:
    monkeypatch.setattr("pigou.paper.errata.evidence", computed.__getitem__)
    runpy.run_module("pigou.paper.errata", run_name="__main__")
    assert capsysbinary.readouterr().out == PAGE.read_bytes()


def test_numbers_name_their_errata_and_are_in_order(computed: dict[str, Erratum]) -> None:
    assert list(ERRATA) == sorted(ERRATA, key=order)
    assert {f"E{k}" for k in (*range(1, 6), *range(10, 14))} <= set(ERRATA)
    assert all(erratum.number == number for number, erratum in computed.items())


def test_tables_are_rectangular_and_no_cell_is_nan(computed: dict[str, Erratum]) -> None:
    for erratum in computed.values():
        assert erratum.evidence
        for table in erratum.evidence:
            assert table.rows
            for row in table.rows:
                assert len(row) == len(table.columns)
                assert all(cell == cell for cell in row)


def test_markdown_has_a_section_for_each_and_no_stray_emphasis() -> None:
    table = Table("σ* over σ**", ("σ**", "n"), ((0.25, 3),))
    erratum = Erratum("E99", "A title*", "There", "Claim", "Finding", (table,), "Fair")
    page = markdown([erratum])
    assert "## E99. A title\\*\n" in page
    assert "| σ\\*\\* | n |\n| --- | --- |\n| 0.25 | 3 |" in page
    body = page[page.index("## E99") :]
    bold = re.findall(r"\*\*([^*]+)\*\*", body.replace("\\*", ""))
    assert bold == ["Where.", "The paper.", "What is found.", "In fairness."]


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (0.0, "0"),
        (88.0231, "88.02"),
        (664.66, "664.7"),
        (1.0, "1"),
        (-0.00686, "-0.00686"),
        (2.4390e-4, "2.439e-04"),
        (12, "12"),
        (float("inf"), "∞"),
        (float("-inf"), "-∞"),
        ("as it is", "as it is"),
    ],
)
def test_cells_show_four_digits(cell: Any, text: str) -> None:
    assert shown(cell) == text


def test_percent() -> None:
    assert [percent(share) for share in (0.0, 0.01, 0.7714, 1.0)] == [
        "0 %",
        "1 %",
        "77.1 %",
        "100 %",
    ]


def test_an_unknown_number_is_named() -> None:
    with pytest.raises(InvalidArgument, match=r"number must be one of E1, .*received 'E77'"):
        evidence("E77")


def test_errata_are_frozen(computed: dict[str, Erratum]) -> None:
    with pytest.raises(FrozenInstanceError):
        computed["E1"].title = "other"  # type: ignore[misc]  # that it is frozen is the point
    with pytest.raises(TypeError):
        ERRATA["E1"] = ERRATA["E2"]  # type: ignore[index]  # that it is read-only is the point


def test_e1_evidence(computed: dict[str, Erratum]) -> None:
    (table,) = computed["E1"].evidence
    for n, positive, negative, committed, *_, gamma in table.rows:
        assert (positive, negative, committed) == (1, value(n) - 1, 0)
        assert value(gamma) > 1.5


def test_e2_evidence(computed: dict[str, Erratum]) -> None:
    leaving, again = computed["E2"].evidence
    for share, stay, leave, kind in zip(
        *(leaving.column(c) for c in leaving.columns[2:]), strict=True
    ):
        assert (value(leave) < value(stay)) == (value(share) <= 0.5)
        assert (kind == "the minimum") == (value(leave) > value(stay))
    factors = again.column("factor since the time before")
    assert all(value(factor) == pytest.approx(4.0 / 3.0, rel=1e-9) for factor in factors)
    assert value(again.column("largest weight")[-1]) > 0.999


def test_e3_evidence(computed: dict[str, Erratum]) -> None:
    costs, draws, exceptions, bounds = computed["E3"].evidence
    assert [shown(cell) for cell in costs.rows[-1]] == ["100", "88.02", "95.26", "547", "664.7"]
    for n, at_optimum, _, unpriced, _ in draws.rows:
        assert at_optimum == 1000
        assert unpriced == 1000 or value(n) < 5
    assert all(value(row[-1]) < 0 for row in exceptions.rows)
    assert all(value(mle) < value(mean) for _, mean, mle in bounds.rows)


def test_e4_and_e5_evidence(computed: dict[str, Erratum]) -> None:
    per_type, totals = computed["E4"].evidence
    for types, _, printed, corrected, noise, right in per_type.rows:
        equal = types == "10 × 0.5"
        assert (value(printed) == pytest.approx(value(corrected), rel=1e-9)) == equal
        assert (value(noise) == pytest.approx(1.0, rel=1e-9)) == equal
        assert right == pytest.approx(1.0, rel=1e-9)
    assert value(totals.rows[-1][1]) > 1.8 * value(totals.rows[-1][3])
    (payments,) = computed["E5"].evidence
    for _, charge, printed, balanced, surplus in payments.rows:
        assert value(charge) == pytest.approx(value(balanced), rel=0.02)
        assert abs(value(surplus)) > 0.5 * value(charge)
        assert value(charge) - value(printed) == pytest.approx(value(surplus))


def test_e10_and_e13_evidence(computed: dict[str, Erratum]) -> None:
    (table,) = computed["E10"].evidence
    assert any(value(row[3]) > 1.0 for row in table.rows)
    assert all(value(row[6]) > value(row[4]) for row in table.rows)
    (rounds,) = computed["E13"].evidence
    assert min(value(row[2]) for row in rounds.rows) < 1.0


def test_e11_and_e12_evidence(computed: dict[str, Erratum]) -> None:
    dimensions, bills = computed["E11"].evidence
    assert [value(row[-1]) for row in dimensions.rows] == sorted(
        value(row[-1]) for row in dimensions.rows
    )
    assert all(value(row[2]) == pytest.approx(1.0, rel=1e-9) for row in bills.rows)
    assert bills.rows[0][-1] == "0 %"
    (ladder,) = computed["E12"].evidence
    for k, sign in ((1, -1), (2, -1), (4, 1), (5, 1)):
        noise = [sign * value(row[k]) for row in ladder.rows]
        assert noise == sorted(noise)
