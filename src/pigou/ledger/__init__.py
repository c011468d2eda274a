"""The book."""

from pigou.ledger.accounting import Balance
from pigou.ledger.ledger import Ledger, Line
from pigou.ledger.states import RunState
from pigou.ledger.verification import Verification

__all__ = ["Balance", "Ledger", "Line", "RunState", "Verification"]
