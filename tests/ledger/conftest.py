"""A place for every test of the ledger, in both kinds of database."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.ledger.databases import KINDS, Place, new_place

from pigou.ledger import Ledger


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return new_place(request.param, tmp_path)


@pytest.fixture
def ledger(place: Place) -> Iterator[Ledger]:
    with Ledger(place.url, place.key) as opened:
        yield opened
