"""What the names in a record mean, in words for people outside of this field."""

from collections.abc import Mapping
from types import MappingProxyType

MECHANISMS: Mapping[str, str] = MappingProxyType(
    {
        "unpriced": "no prices: everybody adds what noise it likes",
        "pigouvian": "each pays the harm that its noise does to the others",
        "posted": "a price set anew every round from what the uploads show; nobody reports",
        "groves": "each pays the harm that its noise does to the others, and a transfer that makes "
        "a true report the best one",
        "paper": "the paper's prices, as printed or with its formulas corrected",
        "paper-two-types": "the paper's prices and rewards for two types",
        "menu": "each chooses from a menu of noise, price and payment announced in advance",
    }
)
CONDUCTS: Mapping[str, str] = MappingProxyType(
    {
        "obedient": "adds the noise that was announced for it",
        "selfish": "adds the noise that is best for itself under the announced prices",
        "learning": "finds the noise that is best for itself from its own bills, round by round",
        "lying": "reports another type than its own and adds noise to match, or a multiple of it",
        "silent": "trains honestly and adds no noise at all",
        "copycat": "sends the shared model back instead of training",
        "ring": "shares one and the same noise with others of its ring, so that they look alike",
        "dropout": "adds the announced noise, but stays away from some rounds",
    }
)
BY_THE_RULES = ("obedient", "selfish", "learning", "dropout")
ATTACKS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "stays away": ("staying away", "uploads nothing: no cheat, but what anybody can save"),
        "copycat": ("a copy of the model", "sends the shared model back instead of training"),
        "copycat with noise": ("a copy with noise", "the same, with the announced noise on top"),
        "ring sharing its noise": ("a ring", "all of its members add one and the same noise"),
        "ring of more than half": ("a ring of more than half", "the same, of most clients"),
        "Sybils that copy": ("Sybils", "one client, with more accounts that send the model back"),
    }
)
ADJACENCY: Mapping[str, str] = MappingProxyType(
    {
        "zero-out": "whether a client's update was there at all or was left out (“zero-out”; "
        "sensitivity S = C, the clipping norm)",
        "replace": "which of any two updates a client sent (“replace”; sensitivity S = 2C, twice "
        "the clipping norm)",
    }
)


def explained(words: Mapping[str, str], name: str) -> str:
    """name (what it means), or the name alone where this page knows no more."""
    return f"{name} ({words[name]})" if name in words else name


def attack_name(name: str) -> str:
    """An attack as sentences and charts call it."""
    return ATTACKS[name][0] if name in ATTACKS else name
