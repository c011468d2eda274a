"""Privacy of a client's uploads: clipping, Gaussian noise, what they reveal (section 8)."""

from pigou.privacy.account import Adjacency, PaperBound, PrivacyAccount
from pigou.privacy.caps import precision_cap
from pigou.privacy.gaussian import gaussian_delta, gaussian_epsilon
from pigou.privacy.release import add_noise, clip, clip_rows

__all__ = [
    "Adjacency",
    "PaperBound",
    "PrivacyAccount",
    "add_noise",
    "clip",
    "clip_rows",
    "gaussian_delta",
    "gaussian_epsilon",
    "precision_cap",
]
