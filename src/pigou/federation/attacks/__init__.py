"""What cheats gain: attacks run beside honest federations, and tables of what came out."""

from pigou.federation.attacks.measuring import Attack, Scene, loud_majority, measured

__all__ = ["Attack", "Scene", "loud_majority", "measured"]
