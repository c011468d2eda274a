"""Amounts as people read them: units with six places, and the sign in words."""

from pigou.terms import MICRO

PLACES = len(str(MICRO)) - 1


def units(micro: int) -> str:
    """Micro-units as units of currency, exactly."""
    whole, part = divmod(abs(micro), MICRO)
    return f"{'-' if micro < 0 else ''}{whole}.{part:0{PLACES}}"


def in_words(micro: int, currency: str) -> str:
    """What the owner of an account owes or is owed."""
    if micro == 0:
        return f"is even (0 {currency})"
    return f"{'owes' if micro > 0 else 'is owed'} {units(abs(micro))} {currency}"
