"""What the trained figures hang on: not their shape."""

import pytest
from tests.reproduce.trained import QUICK, on_digits

from pigou.reproduce.training_sensitivity import COLUMNS, cases, make
from pigou.reproduce.training_task import scenario


def test_each_case_changes_one_quantity() -> None:
    base = scenario(QUICK)
    changed = list(cases(on_digits()))
    assert changed[0].tables == {}
    for case in changed[1:]:
        (table,) = case.tables.values()
        assert len(table) == 1, case.changed
        assert scenario(QUICK, case.tables) != base
    assert len({case.changed for case in changed}) == len(changed)


@pytest.mark.long
def test_the_conclusions_hang_on_none_of_them() -> None:
    (sheet,) = make(QUICK).sheets
    assert len(sheet.table.rows) == len(list(cases(on_digits())))
    for row in sheet.table.rows:
        of = dict(zip(COLUMNS, row, strict=True))
        numbers = {name: float(value) for name, value in of.items() if name != "changed"}
        assert numbers["unpriced over priced, least"] > 4.0, of
        assert numbers["unpriced, 0.5 over 0.1"] > 1.0, of
        quiet, priced, unpriced = (
            numbers[f"accuracy, {name}"] for name in ("no noise", "priced", "unpriced")
        )
        assert quiet > priced > unpriced, of
