"""What can go wrong between a round and its place in the book."""

from typing import Any

from pigou.errors import PigouError
from pigou.terms import Round


class LedgerError(PigouError):
    """Base of what a ledger refuses or cannot do."""


class NotALedger(LedgerError):  # noqa: N818
    """Nothing at this URL, or something else than a ledger of the version known here."""


class MissingDriver(LedgerError):  # noqa: N818
    """The database's driver is not installed."""


class LedgerUnavailable(LedgerError):  # noqa: N818
    """The database cannot be read or written now: full, read-only, locked, gone or damaged."""


class LedgerRefused(LedgerError):  # noqa: N818
    """The database's own rules refuse what was to be written."""


class KeyRefused(LedgerError):  # noqa: N818
    """A key file that is missing, unreadable, open to others, or of another ledger."""


class UnknownRun(LedgerError):  # noqa: N818
    """No entry of this run, or none of this round."""


class UnknownClient(LedgerError):  # noqa: N818
    """No account, or more than one, of this client."""


class UnreadableDocument(LedgerError):  # noqa: N818
    """A file that is not the signed statement, head or arrays that it should be."""


class RoundAlreadySettled(LedgerError):  # noqa: N818
    """The round is in the book with other content; both are kept here to be compared."""

    def __init__(self, settled: Round, offered: Round) -> None:
        self.settled, self.offered = settled, offered
        shown = differences(settled, offered)
        more = f"; and {len(shown) - MOST_SHOWN} more" if len(shown) > MOST_SHOWN else ""
        super().__init__(
            f"round {settled.round} of run {settled.run!r} is settled already, with other content "
            f"(settled against offered): {'; '.join(shown[:MOST_SHOWN])}{more}"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.settled, self.offered)


MOST_SHOWN = 5


def differences(settled: Round, offered: Round) -> list[str]:
    """Where two rounds differ, field by field."""
    found = _fields(settled, offered, "", ("statements",))
    ours = {statement.client: statement for statement in settled.statements}
    theirs = {statement.client: statement for statement in offered.statements}
    for client in sorted(ours.keys() | theirs.keys()):
        if client in ours and client in theirs:
            found += _fields(ours[client], theirs[client], f"client {client!r} ")
        else:
            found.append(
                f"client {client!r} only in the one {'settled' if client in ours else 'offered'}"
            )
    return found


def _fields(ours: object, theirs: object, who: str, apart: tuple[str, ...] = ()) -> list[str]:
    return [
        f"{who}{name} {value!r} against {vars(theirs)[name]!r}"
        for name, value in vars(ours).items()
        if name not in apart and value != vars(theirs)[name]
    ]
